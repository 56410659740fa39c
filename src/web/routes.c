/* routes.c: what is at which path, and who may ask for it. */
#include "base/json.h"
#include "web/internal.h"

#include <string.h>

static bool path_matches(const char *route, const char *path, const char **rest) {
  size_t length = strlen(route);
  bool below = length && route[length - 1] == '/';
  *rest = "";
  if (!below) return !strcmp(route, path);
  if (strncmp(route, path, length)) return false;
  *rest = path + length;
  return true;
}

/** Exact routes before those of whole folders; longer ones first. */
const tt_web_route *tt_web_find_route(const tt_web *web, const char *path, const char **rest) {
  const tt_web_route *best = NULL;
  const char *ignored;
  for (guint i = 0; i < web->routes->len; i++) {
    const tt_web_route *route = &g_array_index(web->routes, tt_web_route, i);
    if (path_matches(route->path, path, &ignored) &&
        (!best || strlen(route->path) > strlen(best->path)))
      best = route;
  }
  if (best) path_matches(best->path, path, rest);
  return best;
}

const tt_web_socket_route *tt_web_find_socket_route(const tt_web *web, const char *path) {
  for (guint i = 0; i < web->sockets->len; i++) {
    const tt_web_socket_route *route = &g_array_index(web->sockets, tt_web_socket_route, i);
    if (!strcmp(route->path, path)) return route;
  }
  return NULL;
}

static bool has_word(const char *list, const char *word) {
  size_t length = strlen(word);
  if (!length) return false;
  for (const char *found = list; found && (found = strstr(found, word)); found += length) {
    bool starts = found == list || found[-1] == ' ', ends = !found[length] || found[length] == ' ';
    if (starts && ends) return true;
  }
  return false;
}

tt_role tt_web_role_needed(const tt_web_route *route, const char *method) {
  if (!strcmp(method, "HEAD")) method = "GET";
  if (has_word(route->administer, method)) return TT_ROLE_ADMINISTER;
  if (has_word(route->drive, method)) return TT_ROLE_DRIVE;
  return has_word(route->watch, method) ? TT_ROLE_WATCH : TT_ROLE_NONE;
}

tt_role tt_web_socket_role(const tt_web_socket_route *route) {
  return route->role == TT_ROLE_NONE ? TT_ROLE_ADMINISTER : route->role;
}

char *tt_web_methods(const tt_web_route *route) {
  const char *const lists[] = {route->watch, route->drive, route->administer};
  GString *all = g_string_new(NULL);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (lists[i] && *lists[i]) g_string_append_printf(all, "%s%s", all->len ? " " : "", lists[i]);
  return g_string_free(all, FALSE);
}

void tt_web_add_route(tt_web *web, const tt_web_route *route) {
  g_array_append_vals(web->routes, route, 1);
}
void tt_web_add_socket(tt_web *web, const tt_web_socket_route *route) {
  g_array_append_vals(web->sockets, route, 1);
}

/* --- what everything needs --- */

static struct json_object *routes_json(const tt_web *web) {
  struct json_object *list = json_object_new_array();
  for (guint i = 0; i < web->routes->len; i++) {
    const tt_web_route *route = &g_array_index(web->routes, tt_web_route, i);
    struct json_object *object = json_object_new_object();
    tt_json_add_text(object, "path", route->path);
    tt_json_add_text(object, "watch", route->watch);
    tt_json_add_text(object, "drive", route->drive);
    tt_json_add_text(object, "administer", route->administer);
    json_object_array_add(list, object);
  }
  return list;
}

static struct json_object *sockets_json(const tt_web *web) {
  struct json_object *list = json_object_new_array();
  for (guint i = 0; i < web->sockets->len; i++) {
    const tt_web_socket_route *route = &g_array_index(web->sockets, tt_web_socket_route, i);
    struct json_object *object = json_object_new_object();
    tt_json_add_text(object, "path", route->path);
    tt_json_add_text(object, "role", tt_role_names[tt_web_socket_role(route)]);
    json_object_array_add(list, object);
  }
  return list;
}

static void answer_access(void *context, const tt_web_request *request) {
  (void)context;
  struct json_object *object = json_object_new_object();
  tt_json_add_text(object, "role", tt_role_names[request->role]);
  tt_json_add(object, "routes", routes_json(request->web));
  tt_json_add(object, "sockets", sockets_json(request->web));
  const char *text = json_object_to_json_string_ext(
      object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
  tt_web_respond(request, 200, "application/json", text, strlen(text));
  json_object_put(object);
}

void tt_web_add_access_route(tt_web *web) {
  tt_web_add_route(web,
                   &(tt_web_route){.path = "/api/access", .watch = "GET", .handle = answer_access});
}

/* --- queries --- */

tt_status tt_web_check_query(const tt_web_request *request, tt_error *error) {
  if (!request->query) return TT_OK;
  tt_status status = TT_OK;
  guint count = 0;
  char **pairs = g_strsplit(request->query, "&", -1);
  for (char **pair = pairs; *pair && status == TT_OK; pair++) {
    if (!**pair) continue;
    count++;
    if (!strchr(*pair, '='))
      status = tt_fail(error, TT_INVALID, "the query's '%.64s' has no value", *pair);
    else if (strstr(*pair, "%00"))  // decoded, a text would end there
      status = tt_fail(error, TT_INVALID, "the query's '%.64s' has a byte of zero", *pair);
  }
  g_strfreev(pairs);
  TT_TRY(status);
  GHashTable *keys = soup_form_decode(request->query);
  if (g_hash_table_size(keys) != count)
    status = tt_fail(error, TT_INVALID, "a key of the query stands there twice, or can't be read");
  g_hash_table_unref(keys);
  return status;
}
