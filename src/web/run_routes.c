#include "web/run_routes.h"

#include "record/export.h"
#include "record/run_folder.h"
#include "record/run_json.h"
#include "record/run_log.h"
#include "web/body.h"
#include "web/trials.h"

#include <glib/gstdio.h>

#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 64
#define MOST_POINTS 20000
#define DEFAULT_POINTS 2000
#define MOST_FACTS 10000 /* remembered */

/* What is known of a file, as long as it stays as it was. */
typedef struct known_run {
  int64_t size, modified;
  tt_run_facts facts;
} known_run;

struct tt_run_routes {
  gatomicrefcount references; /* the program's, and one of each answer under way */
  char *runs, *trials;
  char *(*scenes)(void *context);
  void *scenes_context;
  tt_status (*choose)(void *context, const char *name, tt_error *error);
  void *choose_context;
  GMutex mutex;      /* guards known */
  GHashTable *known; /* path -> known_run */
};

/* One request on its way. */
typedef struct job {
  tt_run_routes *routes;
  char *method, *rest, *query;
  GBytes *body;
} job;

static void unref_routes(tt_run_routes *routes) {
  if (!g_atomic_ref_count_dec(&routes->references)) return;
  g_hash_table_unref(routes->known);
  g_mutex_clear(&routes->mutex);
  g_free(routes->runs);
  g_free(routes->trials);
  g_free(routes);
}

static void free_job(void *context) {
  job *made = context;
  unref_routes(made->routes);
  g_free(made->method);
  g_free(made->rest);
  g_free(made->query);
  g_bytes_unref(made->body);
  g_free(made);
}

static void respond_by(tt_run_routes *routes, const tt_web_request *request, tt_web_work *work) {
  job *made = g_new0(job, 1);
  g_atomic_ref_count_inc(&routes->references);
  made->routes = routes;
  made->method = g_strdup(request->method);
  made->rest = g_strdup(request->rest);
  made->query = g_strdup(request->query);
  made->body = soup_message_body_flatten(soup_server_message_get_request_body(request->message));
  tt_web_respond_later(request, work, made, free_job);
}

static void answer_json(tt_web_answer *answer, struct json_object *object) {
  g_string_assign(answer->body, json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
  json_object_put(object);
}

static void fail(tt_web_answer *answer, tt_status status, const char *text) {
  answer->status = tt_fail(&answer->error, status, "%s", text);
}

static struct json_object *read_body(const job *from, tt_web_answer *answer) {
  struct json_object *object;
  answer->status = tt_web_read_json(from->body, &object, &answer->error);
  return object;
}

/* ---- kept runs ---- */

static bool recall(tt_run_routes *routes, const char *path, const GStatBuf *about,
                   tt_run_facts *facts) {
  g_mutex_lock(&routes->mutex);
  const known_run *known = g_hash_table_lookup(routes->known, path);
  bool same = known && known->size == about->st_size && known->modified == about->st_mtime;
  if (same) *facts = known->facts;
  g_mutex_unlock(&routes->mutex);
  return same;
}

static void remember(tt_run_routes *routes, const char *path, const GStatBuf *about,
                     const tt_run_facts *facts) {
  known_run *known = g_new(known_run, 1);
  *known = (known_run){about->st_size, about->st_mtime, *facts};
  g_mutex_lock(&routes->mutex);
  if (g_hash_table_size(routes->known) >= MOST_FACTS) g_hash_table_remove_all(routes->known);
  g_hash_table_insert(routes->known, g_strdup(path), known);
  g_mutex_unlock(&routes->mutex);
}

static tt_status get_facts(tt_run_routes *routes, const tt_kept_run *run, tt_run_facts *facts) {
  GStatBuf about;
  tt_run_log *log;
  if (g_stat(run->path, &about) != 0) return TT_NOT_FOUND;
  if (recall(routes, run->path, &about, facts)) return TT_OK;
  TT_TRY(tt_run_log_open(run->path, &log, NULL));
  tt_status status = tt_run_get_facts(log, facts);
  tt_run_log_close(log);
  if (status == TT_OK) remember(routes, run->path, &about, facts);
  return status;
}

static void list_runs(void *context, tt_web_answer *answer) {
  tt_run_routes *routes = ((job *)context)->routes;
  tt_kept_runs kept;
  answer->status = tt_kept_runs_list(routes->runs, &kept);
  struct json_object *list = json_object_new_array();
  for (size_t i = 0; i < kept.count; i++) {
    const tt_kept_run *run = &kept.runs[i];
    tt_run_facts facts;
    if (get_facts(routes, run, &facts) == TT_OK)
      json_object_array_add(list, tt_run_facts_json(run, &facts));
  }
  tt_kept_runs_free(&kept);
  answer_json(answer, list);
}

/* The run called `id`, and its log; NULL after answering why not. */
static tt_run_log *open_run(const job *from, const char *id, tt_kept_run *run,
                            tt_web_answer *answer) {
  tt_run_log *log = NULL;
  if (!tt_kept_run_find(from->routes->runs, id, run)) {
    fail(answer, TT_NOT_FOUND, "there is no such run");
    return NULL;
  }
  answer->status = tt_run_log_open(run->path, &log, &answer->error);
  return log;
}

static void describe_run(void *context, tt_web_answer *answer) {
  const job *from = context;
  tt_kept_run run;
  tt_run_facts facts;
  tt_run_log *log = open_run(from, from->rest, &run, answer);
  if (log) {
    answer->status = tt_run_get_facts(log, &facts);
    if (answer->status == TT_OK) {
      struct json_object *made = tt_run_facts_json(&run, &facts);
      tt_run_add_contents(log, made);
      answer_json(answer, made);
    }
    tt_run_log_close(log);
  }
  tt_kept_run_clear(&run);
}

/* name=…&name=…&points=…; false when a value makes no sense. */
static bool read_query(const char *query, GPtrArray *names, unsigned *points) {
  char **pairs = g_strsplit(query ? query : "", "&", -1);
  bool good = true;
  *points = DEFAULT_POINTS;
  for (char **pair = pairs; *pair && good; pair++) {
    char *value = strchr(*pair, '=');
    if (!value) continue;
    *value++ = 0;
    g_strdelimit(value, "+", ' ');
    char *decoded = g_uri_unescape_string(value, NULL);
    guint64 number;
    if (decoded && strcmp(*pair, "name") == 0)
      g_ptr_array_add(names, g_strdup(decoded));
    else if (decoded && strcmp(*pair, "points") == 0)
      good = g_ascii_string_to_unsigned(decoded, 10, 2, MOST_POINTS, &number, NULL),
      *points = good ? (unsigned)number : 2;
    good = good && decoded && names->len <= MOST_NAMES;
    g_free(decoded);
  }
  g_strfreev(pairs);
  return good && names->len > 0;
}

static void plot_run(void *context, tt_web_answer *answer) {
  const job *from = context;
  char *slash = strchr(from->rest, '/');
  tt_kept_run run = {0};
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  unsigned points;
  *slash = 0;
  if (!read_query(from->query, names, &points)) {
    fail(answer, TT_INVALID, "give name=SIGNAL once to 64 times, and points=2 to 20000");
  } else {
    tt_run_log *log = open_run(from, from->rest, &run, answer);
    struct json_object *plot = NULL;
    if (log)
      answer->status = tt_run_plot(log, (const char *const *)names->pdata, (int)names->len, points,
                                   &plot, &answer->error);
    if (plot) answer_json(answer, plot);
    tt_run_log_close(log);
  }
  tt_kept_run_clear(&run);
  g_ptr_array_unref(names);
}

static tt_status append_piece(void *context, const void *bytes, size_t size) {
  g_string_append_len(context, bytes, (gssize)size);
  return TT_OK;
}

static void draw_run(void *context, tt_web_answer *answer) {
  const job *from = context;
  char *slash = strchr(from->rest, '/');
  tt_kept_run run;
  *slash = 0;
  tt_run_log *log = open_run(from, from->rest, &run, answer);
  if (log) {
    answer->type = "image/svg+xml";
    answer->status = tt_export_svg(log, &(tt_export_sink){append_piece, NULL, answer->body});
    tt_run_log_close(log);
  }
  tt_kept_run_clear(&run);
}

static void handle_runs(void *context, const tt_web_request *request) {
  respond_by(context, request, list_runs);
}

static void handle_run(void *context, const tt_web_request *request) {
  const char *slash = strchr(request->rest, '/');
  if (!slash)
    respond_by(context, request, describe_run);
  else if (strcmp(slash, "/signals") == 0)
    respond_by(context, request, plot_run);
  else if (strcmp(slash, "/picture") == 0)
    respond_by(context, request, draw_run);
  else
    tt_web_respond_error(request, TT_NOT_FOUND, "there is no such run");
}

/* ---- scenes ---- */

static void list_scenes(void *context, tt_web_answer *answer) {
  const tt_run_routes *routes = ((job *)context)->routes;
  char *text = routes->scenes(routes->scenes_context);
  if (text)
    g_string_assign(answer->body, text);
  else
    fail(answer, TT_NOMEM, "out of memory");
  free(text);
}

static void choose_scene(void *context, tt_web_answer *answer) {
  const job *from = context;
  const tt_run_routes *routes = from->routes;
  struct json_object *name, *body = read_body(from, answer);
  if (!body) return;
  if (!json_object_object_get_ex(body, "name", &name) ||
      !json_object_is_type(name, json_type_string))
    fail(answer, TT_INVALID, "name: give the scene's");
  else
    answer->status =
        routes->choose(routes->choose_context, json_object_get_string(name), &answer->error);
  json_object_put(body);
  answer->code = 202;
  g_string_assign(answer->body, "{}");
}

static void handle_scenes(void *context, const tt_web_request *request) {
  bool post = strcmp(request->method, "POST") == 0;
  respond_by(context, request, post ? choose_scene : list_scenes);
}

/* ---- trials ---- */

static void work_on_trials(void *context, tt_web_answer *answer) {
  const job *from = context;
  struct json_object *made = NULL, *body = NULL;
  bool post = strcmp(from->method, "POST") == 0, put = strcmp(from->method, "PUT") == 0;
  if ((post || put) && !(body = read_body(from, answer))) return;
  tt_trials *trials;
  answer->status = tt_trials_open(from->routes->trials, &trials, &answer->error);
  if (answer->status == TT_OK) {
    if (post)
      answer->status = tt_trials_add(trials, body, &made, &answer->error);
    else if (put)
      answer->status = tt_trials_change(trials, from->rest, body, &made, &answer->error);
    else if (strcmp(from->method, "DELETE") == 0)
      answer->status = tt_trials_remove(trials, from->rest, &made, &answer->error);
    else
      answer->status = tt_trials_list(trials, &made, &answer->error);
    tt_trials_close(trials);
  }
  if (answer->status == TT_OK) answer_json(answer, made);
  json_object_put(body);
}

static void handle_trials(void *context, const tt_web_request *request) {
  respond_by(context, request, work_on_trials);
}

/* ---- all of it ---- */

tt_run_routes *tt_run_routes_new(tt_web *web, const tt_run_routes_options *options) {
  tt_run_routes *routes = g_new0(tt_run_routes, 1);
  g_atomic_ref_count_init(&routes->references);
  routes->runs = g_strdup(options->runs);
  routes->trials = g_strdup(options->trials);
  routes->scenes = options->scenes;
  routes->scenes_context = options->scenes_context;
  routes->choose = options->choose;
  routes->choose_context = options->choose_context;
  routes->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_mutex_init(&routes->mutex);
  const struct {
    bool wanted;
    tt_web_route route;
  } all[] = {
      {options->runs, {.path = "/api/runs", .methods = "GET", .handle = handle_runs}},
      {options->runs, {.path = "/api/runs/", .methods = "GET", .handle = handle_run}},
      {options->scenes,
       {.path = "/api/scenes",
        .methods = options->choose ? "GET POST" : "GET",
        .handle = handle_scenes}},
      {options->trials, {.path = "/api/trials", .methods = "GET POST", .handle = handle_trials}},
      {options->trials, {.path = "/api/trials/", .methods = "PUT DELETE", .handle = handle_trials}},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    tt_web_route route = all[i].route;
    route.context = routes;
    if (all[i].wanted) tt_web_add_route(web, &route);
  }
  return routes;
}

void tt_run_routes_free(tt_run_routes *routes) {
  if (routes) unref_routes(routes);
}
