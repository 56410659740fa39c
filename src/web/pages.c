/* pages.c: pages come from a GResource, so that there is no folder to climb out of. */
#include "web/pages.h"

#include "web_resources.h"

#include <gio/gio.h>
#include <string.h>

const char *tt_page(const char *name, size_t *size, const char **content_type) {
  static const struct {
    const char *suffix, *type;
  } types[] = {
      {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},   {".json", "application/json"},
      {".dtd", "application/xml-dtd"},
  };
  char *path = g_strconcat("/tether/pages/", name, NULL);
  GBytes *bytes = g_resource_lookup_data(tt_web_resources_get_resource(), path,
                                         G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  g_free(path);
  if (!bytes) return NULL;
  *content_type = "application/octet-stream";
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (g_str_has_suffix(name, types[i].suffix)) *content_type = types[i].type;
  }
  const char *data = g_bytes_get_data(bytes, size);  // lies in the program: outlives the GBytes
  g_bytes_unref(bytes);
  return data;
}
