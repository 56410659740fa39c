#include "web/fork_routes.h"

#include "base/json.h"
#include "record/run_folder.h"
#include "web/question.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_SETTINGS 100

/* One request on its way. */
typedef struct job {
  const tt_run_forker *forker;
  char *folder;
  tt_web_question question;
} job;

static void free_job(void *context) {
  job *made = context;
  g_free(made->folder);
  tt_web_question_clear(&made->question);
  g_free(made);
}

static void answer_object(tt_web_answer *answer, struct json_object *object) {
  g_string_assign(answer->body, json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
  json_object_put(object);
}

/* {"gains.p": 3} becomes gains.p=3. */
static bool take_settings(struct json_object *body, GPtrArray *settings) {
  struct json_object *given;
  if (!json_object_object_get_ex(body, "settings", &given)) return true;
  if (!json_object_is_type(given, json_type_object)) return false;
  json_object_object_foreach(given, path, value) {
    bool plain = value && !json_object_is_type(value, json_type_object) &&
                 !json_object_is_type(value, json_type_array);
    if (!plain || !*path || strchr(path, '=') || settings->len == MOST_SETTINGS) return false;
    g_ptr_array_add(settings, g_strdup_printf("%s=%s", path, json_object_get_string(value)));
  }
  return true;
}

static void begin(const job *from, const char *path, struct json_object *body,
                  tt_web_answer *answer) {
  struct json_object *time;
  GPtrArray *settings = g_ptr_array_new_with_free_func(g_free);
  bool timed =
      json_object_object_get_ex(body, "time", &time) &&
      (json_object_is_type(time, json_type_double) || json_object_is_type(time, json_type_int)) &&
      isfinite(json_object_get_double(time)) && json_object_get_double(time) >= 0;
  if (!timed) {
    tt_web_answer_error(answer, TT_INVALID, "time: give a time of the run, in s");
  } else if (!take_settings(body, settings)) {
    tt_web_answer_error(
        answer, TT_INVALID,
        "settings: give an object of at most 100 keys of the scene, each with its value");
  } else {
    uint64_t number = 0;
    tt_fork_wish wish = {.path = path,
                         .time = json_object_get_double(time),
                         .settings = (const char *const *)settings->pdata,
                         .setting_count = (int)settings->len,
                         .administers = from->question.role >= TT_ROLE_ADMINISTER};
    answer->status = from->forker->begin(from->forker->context, &wish, &number, &answer->error);
    struct json_object *made = json_object_new_object();
    tt_json_add_uint(made, "fork", number);
    answer->code = 202;
    answer_object(answer, made);
  }
  g_ptr_array_unref(settings);
}

static void work(void *context, tt_web_answer *answer) {
  const job *from = context;
  struct json_object *body = tt_web_question_json(&from->question, answer);
  tt_kept_run run;
  if (!body) return;
  if (tt_kept_run_find(from->folder, from->question.id, &run))
    begin(from, run.path, body, answer);
  else
    tt_web_answer_error(answer, TT_NOT_FOUND, "there is no such run");
  tt_kept_run_clear(&run);
  json_object_put(body);
}

bool tt_fork_routes_handle(const tt_run_forker *forker, const char *folder,
                           const tt_web_request *request) {
  const char *slash = strchr(request->rest, '/');
  if (!forker || !slash || strcmp(slash, "/fork") != 0 || strcmp(request->method, "POST") != 0)
    return false;
  job *made = g_new0(job, 1);
  made->forker = forker;
  made->folder = g_strdup(folder);
  tt_web_question_keep(&made->question, request);
  tt_web_respond_later(request, work, made, free_job);
  return true;
}

static void handle_fork(void *context, const tt_web_request *request) {
  const tt_run_forker *forker = context;
  guint64 number;
  struct json_object *made = NULL;
  if (g_ascii_string_to_unsigned(request->rest, 10, 1, G_MAXINT64, &number, NULL))
    made = forker->tell(forker->context, number);
  if (!made) {
    tt_web_respond_error(request, TT_NOT_FOUND, "there is no such fork");
    return;
  }
  const char *text = json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN);
  tt_web_respond(request, 200, "application/json", text, strlen(text));
  json_object_put(made);
}

void tt_fork_routes_add(tt_web *web, const tt_run_forker *forker) {
  tt_web_add_route(
      web,
      &(tt_web_route){
          .path = "/api/forks/", .watch = "GET", .handle = handle_fork, .context = (void *)forker});
}
