/* pages.c: pages come from GResources, so that there is no folder to climb out of. */
#include "web/pages.h"

#include "web_app.h"
#include "web_resources.h"

#include <gio/gio.h>
#include <string.h>

static GResource *bundle(void) {
  static gsize registered = 0;
  if (g_once_init_enter(&registered)) {
    tt_web_app_register_resource();
    g_once_init_leave(&registered, 1);
  }
  return tt_web_app_get_resource();
}

static GBytes *look_up(GResource *in, const char *prefix, const char *name) {
  char *path = g_strconcat(prefix, name, NULL);
  GBytes *bytes = g_resource_lookup_data(in, path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  g_free(path);
  return bytes;
}

static const char *type_of(const char *name) {
  static const struct {
    const char *suffix, *type;
  } types[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".dtd", "application/xml-dtd"},
      {".svg", "image/svg+xml"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (g_str_has_suffix(name, types[i].suffix)) return types[i].type;
  return "application/octet-stream";
}

const char *tt_page(const char *name, size_t *size, const char **content_type) {
  GBytes *bytes = look_up(bundle(), "/tether/web/", name);
  if (!bytes) bytes = look_up(tt_web_resources_get_resource(), "/tether/documents/", name);
  if (!bytes) return NULL;
  *content_type = type_of(name);
  const char *data = g_bytes_get_data(bytes, size);  // lies in the program: outlives the GBytes
  g_bytes_unref(bytes);
  return data;
}

/* `name`.gz where there is one and the browser takes it. */
static const char *compressed(const tt_web_request *request, const char *name, size_t *size) {
  const char *ignored;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers(request->message);
  const char *accepted = soup_message_headers_get_list(headers, "Accept-Encoding");
  if (!accepted || !soup_header_contains(accepted, "gzip")) return NULL;
  char *packed = g_strconcat(name, ".gz", NULL);
  const char *bytes = tt_page(packed, size, &ignored);
  g_free(packed);
  return bytes;
}

static void answer_file(void *context, const tt_web_request *request) {
  (void)context;
  bool index = *request->rest == 0;
  const char *name = index ? "index.html" : request->rest;
  size_t size, packed_size;
  const char *type;
  const char *bytes = tt_page(name, &size, &type);
  if (!bytes) {
    tt_web_respond_error(request, TT_NOT_FOUND, "there is nothing at this path");
    return;
  }
  SoupMessageHeaders *headers = soup_server_message_get_response_headers(request->message);
  /* Names of the bundle's files change with their contents; the page that names them must not be kept. */
  soup_message_headers_replace(headers, "Cache-Control",
                               index ? "no-cache" : "public, max-age=31536000, immutable");
  soup_message_headers_replace(headers, "Vary", "Accept-Encoding");
  const char *packed = compressed(request, name, &packed_size);
  if (packed) soup_message_headers_replace(headers, "Content-Encoding", "gzip");
  tt_web_respond(request, 200, type, packed ? packed : bytes, packed ? packed_size : size);
}

void tt_pages_add(tt_web *web) {
  tt_web_add_route(web, &(tt_web_route){.path = "/", .watch = "GET", .handle = answer_file});
}
