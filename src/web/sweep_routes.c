#include "web/sweep_routes.h"

#include "base/json.h"
#include "sweep/list.h"
#include "sweep/table.h"
#include "web/question.h"

#include <glib/gstdio.h>

#include <stdlib.h>
#include <string.h>

#define MOST_KNOWN 1000

/* What is known of a table, as long as it and what SQLite keeps beside it stay as they were. */
typedef struct known_sweep {
  int64_t sizes[2], modified[2];
  char *text; /* JSON */
} known_sweep;

struct tt_sweep_routes {
  gatomicrefcount references; /* the program's, and one of each answer under way */
  char *folder;
  bool shows;
  tt_sweep_shower shower;
  pthread_mutex_t mutex; /* guards known */
  GHashTable *known;     /* path -> known_sweep */
};

/* One request on its way: ID/WHAT?QUERY. */
typedef struct job {
  tt_sweep_routes *routes;
  tt_web_question question;
} job;

static void unref_routes(tt_sweep_routes *routes) {
  if (!g_atomic_ref_count_dec(&routes->references)) return;
  g_hash_table_unref(routes->known);
  pthread_mutex_destroy(&routes->mutex);
  if (routes->shower.release) routes->shower.release(routes->shower.context);
  g_free(routes->folder);
  g_free(routes);
}

static void free_job(void *context) {
  job *made = context;
  unref_routes(made->routes);
  tt_web_question_clear(&made->question);
  g_free(made);
}

static void respond_by(tt_sweep_routes *routes, const tt_web_request *request, tt_web_work *work) {
  job *made = g_new0(job, 1);
  g_atomic_ref_count_inc(&routes->references);
  made->routes = routes;
  tt_web_question_keep(&made->question, request);
  tt_web_respond_later(request, work, made, free_job);
}

/* ---- the list ---- */

static void free_known(gpointer data) {
  known_sweep *freed = data;
  g_free(freed->text);
  g_free(freed);
}

static void look_at(const char *path, known_sweep *now) {
  char *log = g_strconcat(path, "-wal", NULL);
  const char *const files[] = {path, log};
  *now = (known_sweep){.text = NULL};
  for (int i = 0; i < 2; i++) {
    GStatBuf about;
    if (g_stat(files[i], &about) != 0) continue;
    now->sizes[i] = about.st_size;
    now->modified[i] = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
  }
  g_free(log);
}

static bool is_same(const known_sweep *a, const known_sweep *b) {
  return memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0 &&
         memcmp(a->modified, b->modified, sizeof a->modified) == 0;
}

static struct json_object *recall(tt_sweep_routes *routes, const char *path,
                                  const known_sweep *now) {
  pthread_mutex_lock(&routes->mutex);
  const known_sweep *known = g_hash_table_lookup(routes->known, path);
  struct json_object *made = known && is_same(known, now) ? json_tokener_parse(known->text) : NULL;
  pthread_mutex_unlock(&routes->mutex);
  return made;
}

static void remember(tt_sweep_routes *routes, const char *path, const known_sweep *now,
                     struct json_object *made) {
  known_sweep *known = g_new(known_sweep, 1);
  *known = *now;
  known->text = g_strdup(json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN));
  pthread_mutex_lock(&routes->mutex);
  if (g_hash_table_size(routes->known) >= MOST_KNOWN) g_hash_table_remove_all(routes->known);
  g_hash_table_insert(routes->known, g_strdup(path), known);
  pthread_mutex_unlock(&routes->mutex);
}

/* Without its columns; NULL where it is no table of a sweep any more. */
static struct json_object *sum_up(tt_sweep_routes *routes, const char *path) {
  tt_sweep_table *table;
  known_sweep now;
  look_at(path, &now);
  struct json_object *made = recall(routes, path, &now);
  if (made || tt_sweep_table_open(path, &table, NULL) != TT_OK) return made;
  if (tt_sweep_table_describe(table, &made, NULL) == TT_OK) {
    json_object_object_del(made, "columns");
    remember(routes, path, &now, made);
  }
  tt_sweep_table_close(table);
  return made;
}

static void add_sweep(tt_sweep_routes *routes, struct json_object *list,
                      const tt_noted_sweep *sweep) {
  struct json_object *made = sum_up(routes, sweep->path);
  if (made) {
    tt_json_add_text(made, "id", sweep->id);
    tt_json_add_text(made, "file", sweep->path);
    tt_json_add_int(made, "noted", sweep->noted);
    json_object_array_add(list, made);
  }
}

static void list_sweeps(void *context, tt_web_answer *answer) {
  const job *from = context;
  tt_noted_sweeps sweeps;
  struct json_object *list = json_object_new_array();
  answer->status = tt_sweeps_list(from->routes->folder, &sweeps);
  for (size_t i = 0; i < sweeps.count; i++) add_sweep(from->routes, list, &sweeps.sweeps[i]);
  tt_sweeps_free(&sweeps);
  tt_web_answer_json(answer, list);
}

static void handle_list(void *context, const tt_web_request *request) {
  respond_by(context, request, list_sweeps);
}

/* ---- a table ---- */

/* The table of the sweep that is asked for; NULL after answering why not. */
static tt_sweep_table *open_table(const job *from, tt_web_answer *answer, char **path) {
  tt_sweep_table *table = NULL;
  char *found = tt_sweep_find(from->routes->folder, from->question.id);
  if (found)
    answer->status = tt_sweep_table_open(found, &table, &answer->error);
  else
    tt_web_answer_error(answer, TT_NOT_FOUND, "there is no such sweep");
  if (path)
    *path = found;
  else
    free(found);
  return table;
}

static void describe(void *context, tt_web_answer *answer) {
  const job *from = context;
  struct json_object *made = NULL;
  char *path;
  tt_sweep_table *table = open_table(from, answer, &path);
  if (table) answer->status = tt_sweep_table_describe(table, &made, &answer->error);
  if (made) {
    tt_json_add_text(made, "id", from->question.id);
    tt_json_add_text(made, "file", path);
    tt_json_add_bool(made, "shows", from->routes->shows);
    tt_web_answer_json(answer, made);
  }
  tt_sweep_table_close(table);
  free(path);
}

typedef tt_status asked(const tt_sweep_table *table, const tt_sweep_query *query,
                        struct json_object **made, tt_error *error);

static tt_status read_query(const tt_sweep_table *table, const char *text, tt_sweep_query *query,
                            tt_error *error) {
  int count;
  const tt_sweep_column *columns = tt_sweep_table_columns(table, &count);
  return tt_sweep_query_read(text, columns, count, query, error);
}

static void answer_by(const job *from, tt_web_answer *answer, asked *ask) {
  struct json_object *made = NULL;
  tt_sweep_query query;
  tt_sweep_table *table = open_table(from, answer, NULL);
  if (!table) return;
  answer->status = read_query(table, from->question.query, &query, &answer->error);
  if (answer->status == TT_OK) answer->status = ask(table, &query, &made, &answer->error);
  if (made) tt_web_answer_json(answer, made);
  tt_sweep_table_close(table);
}

static void give_rows(void *context, tt_web_answer *answer) {
  answer_by(context, answer, tt_sweep_table_rows);
}

static void give_groups(void *context, tt_web_answer *answer) {
  answer_by(context, answer, tt_sweep_table_groups);
}

static void give_values(void *context, tt_web_answer *answer) {
  const job *from = context;
  tt_sweep_query query;
  void *bytes = NULL;
  size_t size = 0;
  tt_sweep_table *table = open_table(from, answer, NULL);
  if (!table) return;
  answer->status = read_query(table, from->question.query, &query, &answer->error);
  if (answer->status == TT_OK)
    answer->status = tt_sweep_table_values(table, &query, &bytes, &size, &answer->error);
  if (bytes) g_string_append_len(answer->body, bytes, (gssize)size);
  answer->type = "application/octet-stream";
  free(bytes);
  tt_sweep_table_close(table);
}

/* ---- runs in 3D ---- */

/* The ids in the body, each of a row of the table. Texts are the body's. */
static tt_status read_runs(struct json_object *body, const tt_sweep_table *table,
                           const char *runs[TT_SWEEP_MOST_SHOWN], int *count, tt_error *error) {
  size_t length;
  struct json_object *list = tt_json_list(body, "runs", &length);
  if (length < 1 || length > TT_SWEEP_MOST_SHOWN)
    return tt_fail(error, TT_INVALID, "runs: give one id, or two that race");
  for (size_t i = 0; i < length; i++) {
    struct json_object *one = json_object_array_get_idx(list, i), *rows = NULL;
    const char *id = json_object_is_type(one, json_type_string) ? json_object_get_string(one) : "";
    char text[80];
    tt_sweep_query query;
    if (strlen(id) != 32 || strspn(id, "0123456789abcdef") != 32)
      return tt_fail(error, TT_INVALID, "runs: give ids of rows, 32 hexadecimal digits");
    g_snprintf(text, sizeof text, "filter=id:%%3D%s&limit=1&column=status", id);
    TT_TRY(read_query(table, text, &query, error));
    TT_TRY(tt_sweep_table_rows(table, &query, &rows, error));
    bool there = json_object_get_int64(json_object_object_get(rows, "total")) > 0;
    json_object_put(rows);
    if (!there) return tt_fail(error, TT_NOT_FOUND, "runs: there is no row %s", id);
    runs[i] = id;
  }
  *count = (int)length;
  return TT_OK;
}

static void show(void *context, tt_web_answer *answer) {
  const job *from = context;
  const tt_sweep_shower *shower = &from->routes->shower;
  const char *runs[TT_SWEEP_MOST_SHOWN];
  char *path = NULL, key[17] = "";
  int count = 0;
  struct json_object *body = tt_web_question_json(&from->question, answer);
  if (!body) return;
  tt_sweep_table *table = open_table(from, answer, &path);
  if (table) answer->status = read_runs(body, table, runs, &count, &answer->error);
  tt_sweep_table_close(table);
  if (answer->status == TT_OK)
    answer->status = shower->show(shower->context, path, runs, count, key, &answer->error);
  if (answer->status == TT_OK) {
    g_string_printf(answer->body, "{\"show\": \"%s\"}", key);
    answer->code = 202;
  }
  json_object_put(body);
  free(path);
}

static void handle_table(void *context, const tt_web_request *request) {
  static const struct {
    const char *what;
    tt_web_work *work;
  } parts[] = {{"/rows", give_rows}, {"/groups", give_groups}, {"/values", give_values}};
  const tt_sweep_routes *routes = context;
  const char *slash = strchr(request->rest, '/');
  bool post = strcmp(request->method, "POST") == 0;
  if (post && slash && strcmp(slash, "/show") == 0 && routes->shows) {
    respond_by(context, request, show);
    return;
  }
  if (!post && !slash) {
    respond_by(context, request, describe);
    return;
  }
  for (size_t i = 0; !post && i < sizeof parts / sizeof *parts; i++) {
    if (strcmp(slash, parts[i].what) != 0) continue;
    respond_by(context, request, parts[i].work);
    return;
  }
  tt_web_respond_error(request, TT_NOT_FOUND, "there is nothing at this path");
}

static void tell(void *context, tt_web_answer *answer) {
  const job *from = context;
  const tt_sweep_shower *shower = &from->routes->shower;
  struct json_object *told = shower->tell(shower->context, from->question.id);
  if (told)
    tt_web_answer_json(answer, told);
  else
    tt_web_answer_error(answer, TT_NOT_FOUND, "nothing is shown by that name");
}

static void handle_show(void *context, const tt_web_request *request) {
  respond_by(context, request, tell);
}

/* ---- all of it ---- */

tt_sweep_routes *tt_sweep_routes_new(tt_web *web, const tt_sweep_routes_options *options) {
  tt_sweep_routes *routes = g_new0(tt_sweep_routes, 1);
  g_atomic_ref_count_init(&routes->references);
  routes->folder = g_strdup(options->folder);
  routes->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_known);
  pthread_mutex_init(&routes->mutex, NULL);
  routes->shows = options->shower;
  if (options->shower) routes->shower = *options->shower;
  const tt_web_route all[] = {
      {.path = "/api/sweeps", .watch = "GET", .handle = handle_list},
      {.path = "/api/sweeps/", .watch = "GET", .drive = "POST", .handle = handle_table},
      {.path = "/api/shows/", .watch = "GET", .handle = handle_show},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    tt_web_route route = all[i];
    route.context = routes;
    if (i < 2 || routes->shows) tt_web_add_route(web, &route);
  }
  return routes;
}

void tt_sweep_routes_free(tt_sweep_routes *routes) {
  if (routes) unref_routes(routes);
}
