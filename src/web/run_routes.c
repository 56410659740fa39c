#include "web/run_routes.h"

#include "record/run_json.h"
#include "record/run_picture.h"
#include "web/history_routes.h"
#include "web/layouts.h"
#include "web/run_job.h"
#include "web/trials.h"

#include <glib/gstdio.h>

#include <stdlib.h>
#include <string.h>

#define MOST_FACTS 10000 /* remembered */

/* What is known of a file, as long as it stays as it was. */
typedef struct known_run {
  int64_t size, modified;
  tt_run_facts facts;
} known_run;

struct tt_run_routes {
  gatomicrefcount references; /* the program's, and one of each answer under way */
  char *runs, *trials, *layouts;
  tt_run_library library;
  const tt_run_forker *forker; /* or NULL */
  tt_histories *histories;
  char *(*scenes)(void *context);
  void *scenes_context;
  void (*release)(void *owned);
  void *owned;
  tt_status (*choose)(void *context, const char *name, bool administers, bool *denied,
                      tt_error *error);
  void *choose_context;
  pthread_mutex_t mutex; /* guards known */
  GHashTable *known;     /* path -> known_run */
};

static void unref_routes(tt_run_routes *routes) {
  if (!g_atomic_ref_count_dec(&routes->references)) return;
  tt_histories_free(routes->histories);
  g_hash_table_unref(routes->known);
  pthread_mutex_destroy(&routes->mutex);
  if (routes->release) routes->release(routes->owned);
  g_free(routes->runs);
  g_free(routes->trials);
  g_free(routes->layouts);
  g_free(routes);
}

static void hold(void *routes) { g_atomic_ref_count_inc(&((tt_run_routes *)routes)->references); }

static void let_go(void *routes) { unref_routes(routes); }

static void free_job(void *context) {
  tt_run_job *made = context;
  unref_routes(made->routes);
  tt_web_question_clear(&made->question);
  g_free(made);
}

static tt_run_job *new_job(tt_run_routes *routes, const tt_web_request *request) {
  tt_run_job *made = g_new0(tt_run_job, 1);
  g_atomic_ref_count_inc(&routes->references);
  made->routes = routes;
  made->runs = routes->runs;
  made->histories = routes->histories;
  tt_web_question_keep(&made->question, request);
  return made;
}

static void respond_by(tt_run_routes *routes, const tt_web_request *request, tt_web_work *work) {
  tt_web_respond_later(request, work, new_job(routes, request), free_job);
}

/* ---- kept runs ---- */

static bool recall(tt_run_routes *routes, const char *path, const GStatBuf *about,
                   tt_run_facts *facts) {
  pthread_mutex_lock(&routes->mutex);
  const known_run *known = g_hash_table_lookup(routes->known, path);
  bool same = known && known->size == about->st_size && known->modified == about->st_mtime;
  if (same) *facts = known->facts;
  pthread_mutex_unlock(&routes->mutex);
  return same;
}

static void remember(tt_run_routes *routes, const char *path, const GStatBuf *about,
                     const tt_run_facts *facts) {
  known_run *known = g_new(known_run, 1);
  *known = (known_run){about->st_size, about->st_mtime, *facts};
  pthread_mutex_lock(&routes->mutex);
  if (g_hash_table_size(routes->known) >= MOST_FACTS) g_hash_table_remove_all(routes->known);
  g_hash_table_insert(routes->known, g_strdup(path), known);
  pthread_mutex_unlock(&routes->mutex);
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
  tt_run_routes *routes = ((tt_run_job *)context)->routes;
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
  tt_web_answer_json(answer, list);
}

static void describe_run(void *context, tt_web_answer *answer) {
  const tt_run_job *from = context;
  tt_kept_run run;
  tt_run_facts facts;
  tt_history *history = NULL;
  if (tt_run_job_find(from, &run, answer))
    answer->status = tt_histories_take(from->histories, run.path, &history, &answer->error);
  if (history) {
    const tt_run_log *log = tt_history_log(history);
    answer->status = tt_run_get_facts(log, &facts);
    if (answer->status == TT_OK) {
      struct json_object *made = tt_run_facts_json(&run, &facts);
      tt_run_add_contents(log, made);
      tt_web_answer_json(answer, made);
    }
    tt_history_give(history);
  }
  tt_kept_run_clear(&run);
}

static void draw_run(void *context, tt_web_answer *answer) {
  tt_kept_run run;
  tt_bytes picture = {0};
  if (tt_run_job_find(context, &run, answer))
    answer->status = tt_kept_run_picture(&run, &picture, &answer->error);
  answer->type = "image/svg+xml";
  g_string_append_len(answer->body, (const char *)picture.data, (gssize)picture.size);
  tt_bytes_free(&picture);
  tt_kept_run_clear(&run);
}

static void begin_runs(void *context, const tt_web_request *request) {
  tt_run_library_begin(&((tt_run_routes *)context)->library, request);
}

static void handle_runs(void *context, const tt_web_request *request) {
  if (tt_run_library_handle(&((tt_run_routes *)context)->library, request)) return;
  respond_by(context, request, list_runs);
}

static void handle_run(void *context, const tt_web_request *request) {
  const tt_run_routes *routes = context;
  const char *slash = strchr(request->rest, '/');
  if (tt_run_library_handle(&((tt_run_routes *)context)->library, request)) return;
  if (tt_fork_routes_handle(routes->forker, routes->runs, request)) return;
  if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
    tt_web_respond_error(request, TT_NOT_FOUND, "nothing but GET is known at this path");
    return;
  }
  if (slash && strcmp(slash, "/picture") == 0) {
    tt_web_respond_at_leisure(request, draw_run, new_job(context, request), free_job);
    return;
  }
  tt_web_work *work = slash ? tt_history_work(slash + 1) : describe_run;
  if (work)
    respond_by(context, request, work);
  else
    tt_web_respond_error(request, TT_NOT_FOUND, "there is no such run");
}

/* ---- scenes ---- */

static void list_scenes(void *context, tt_web_answer *answer) {
  const tt_run_routes *routes = ((tt_run_job *)context)->routes;
  char *text = routes->scenes(routes->scenes_context);
  if (text)
    g_string_assign(answer->body, text);
  else
    tt_web_answer_error(answer, TT_NOMEM, "out of memory");
  free(text);
}

static void choose_scene(void *context, tt_web_answer *answer) {
  const tt_run_job *from = context;
  const tt_run_routes *routes = from->routes;
  struct json_object *name, *body = tt_web_question_json(&from->question, answer);
  bool denied = false;
  if (!body) return;
  if (!json_object_object_get_ex(body, "name", &name) ||
      !json_object_is_type(name, json_type_string))
    tt_web_answer_error(answer, TT_INVALID, "name: give the scene's");
  else
    answer->status =
        routes->choose(routes->choose_context, json_object_get_string(name),
                       from->question.role >= TT_ROLE_ADMINISTER, &denied, &answer->error);
  json_object_put(body);
  answer->code = 202;
  g_string_assign(answer->body, "{}");
  if (denied) tt_web_answer_refusal(answer, 403);
}

static void handle_scenes(void *context, const tt_web_request *request) {
  if (strcmp(request->method, "POST") == 0)
    respond_by(context, request, choose_scene);
  else /* all of them are loaded */
    tt_web_respond_at_leisure(request, list_scenes, new_job(context, request), free_job);
}

/* ---- trials ---- */

static void work_on_trials(void *context, tt_web_answer *answer) {
  const tt_run_job *from = context;
  struct json_object *made = NULL, *body = NULL;
  bool post = strcmp(from->question.method, "POST") == 0,
       put = strcmp(from->question.method, "PUT") == 0;
  if ((post || put) && !(body = tt_web_question_json(&from->question, answer))) return;
  tt_trials *trials;
  answer->status = tt_trials_open(from->routes->trials, &trials, &answer->error);
  if (answer->status == TT_OK) {
    if (post)
      answer->status = tt_trials_add(trials, body, &made, &answer->error);
    else if (put)
      answer->status = tt_trials_change(trials, from->question.rest, body, &made, &answer->error);
    else if (strcmp(from->question.method, "DELETE") == 0)
      answer->status = tt_trials_remove(trials, from->question.rest, &made, &answer->error);
    else
      answer->status = tt_trials_list(trials, &made, &answer->error);
    tt_trials_close(trials);
  }
  if (answer->status == TT_OK) tt_web_answer_json(answer, made);
  json_object_put(body);
}

static void handle_trials(void *context, const tt_web_request *request) {
  respond_by(context, request, work_on_trials);
}

/* ---- layouts of plots ---- */

static void work_on_layouts(void *context, tt_web_answer *answer) {
  const tt_run_job *from = context;
  struct json_object *made = NULL, *body = NULL;
  bool put = strcmp(from->question.method, "PUT") == 0;
  if (put && !(body = tt_web_question_json(&from->question, answer))) return;
  tt_layouts *layouts;
  answer->status = tt_layouts_open(from->routes->layouts, &layouts, &answer->error);
  if (answer->status == TT_OK) {
    if (put)
      answer->status = tt_layouts_put(layouts, from->question.rest, body, &made, &answer->error);
    else if (strcmp(from->question.method, "DELETE") == 0)
      answer->status = tt_layouts_remove(layouts, from->question.rest, &made, &answer->error);
    else if (*from->question.rest)
      answer->status = tt_layouts_get(layouts, from->question.rest, &made, &answer->error);
    else
      answer->status = tt_layouts_list(layouts, &made, &answer->error);
    tt_layouts_close(layouts);
  }
  if (answer->status == TT_OK) tt_web_answer_json(answer, made);
  json_object_put(body);
}

static void handle_layouts(void *context, const tt_web_request *request) {
  respond_by(context, request, work_on_layouts);
}

/* ---- all of it ---- */

tt_run_routes *tt_run_routes_new(tt_web *web, const tt_run_routes_options *options) {
  tt_run_routes *routes = g_new0(tt_run_routes, 1);
  g_atomic_ref_count_init(&routes->references);
  routes->runs = g_strdup(options->runs);
  routes->trials = g_strdup(options->trials);
  routes->layouts = g_strdup(options->layouts);
  routes->library = (tt_run_library){routes->runs, options->verifier, routes, hold, let_go};
  routes->release = options->release;
  routes->owned = options->owned;
  routes->forker = options->forker;
  if (options->forker) tt_fork_routes_add(web, options->forker);
  if (options->runs) routes->histories = tt_histories_new(options->recording);
  routes->scenes = options->scenes;
  routes->scenes_context = options->scenes_context;
  routes->choose = options->choose;
  routes->choose_context = options->choose_context;
  routes->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  pthread_mutex_init(&routes->mutex, NULL);
  const struct {
    bool wanted;
    tt_web_route route;
  } all[] = {
      {options->runs,
       {.path = "/api/runs",
        .watch = "GET",
        .drive = "POST",
        .handle = handle_runs,
        .begin = begin_runs,
        .max_body = TT_RUN_MOST_UPLOADED}},
      {options->runs,
       {.path = "/api/runs/",
        .watch = "GET",
        .drive = "POST PUT",
        .administer = "DELETE",
        .handle = handle_run}},
      {options->scenes,
       {.path = "/api/scenes",
        .watch = "GET",
        .drive = options->choose ? "POST" : NULL,
        .handle = handle_scenes}},
      {options->trials,
       {.path = "/api/trials", .watch = "GET", .drive = "POST", .handle = handle_trials}},
      {options->trials,
       {.path = "/api/trials/", .drive = "PUT", .administer = "DELETE", .handle = handle_trials}},
      {options->layouts, {.path = "/api/layouts", .watch = "GET", .handle = handle_layouts}},
      {options->layouts,
       {.path = "/api/layouts/",
        .watch = "GET",
        .drive = "PUT",
        .administer = "DELETE",
        .handle = handle_layouts}},
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
