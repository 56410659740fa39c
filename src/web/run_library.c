#include "web/run_library.h"

#include "base/json.h"
#include "record/export.h"
#include "record/run_about.h"
#include "record/run_folder.h"
#include "record/run_log.h"
#include "web/question.h"
#include "web/run_upload.h"

#include <string.h>

#define PIECE 65536u

/* One request on its way. */
typedef struct job {
  char *folder, *format;
  const tt_run_verifier *verifier;
  void *owner; /* of the verifier */
  void (*let_go)(void *owner);
  tt_web_question question; /* whose id is the run's */
} job;

static void free_job(void *context) {
  job *made = context;
  made->let_go(made->owner);
  g_free(made->folder);
  g_free(made->format);
  tt_web_question_clear(&made->question);
  g_free(made);
}

static job *new_job(const tt_run_library *library, const tt_web_request *request) {
  job *made = g_new0(job, 1);
  made->folder = g_strdup(library->folder); /* who asked may still wait when the server has gone */
  made->verifier = library->verifier;
  made->owner = library->owner;
  made->let_go = library->let_go;
  library->hold(library->owner);
  tt_web_question_keep(&made->question, request);
  return made;
}

static bool find_run(const job *from, tt_kept_run *run, tt_error *error, tt_status *status) {
  if (tt_kept_run_find(from->folder, from->question.id, run)) return true;
  *status = tt_fail(error, TT_NOT_FOUND, "there is no such run");
  return false;
}

/* ---- name, tags, note, pin ---- */

/* Whether `changes` has `pinned`, which is no part of what is written of a run. */
static tt_status take_pinned(struct json_object *changes, bool *given, bool *pinned,
                             tt_error *error) {
  struct json_object *value;
  *given = json_object_object_get_ex(changes, "pinned", &value);
  if (!*given) return TT_OK;
  if (!json_object_is_type(value, json_type_boolean))
    return tt_fail(error, TT_INVALID, "pinned: give true or false");
  *pinned = json_object_get_boolean(value);
  json_object_object_del(changes, "pinned");
  return TT_OK;
}

static tt_status change(const job *from, const tt_kept_run *run, struct json_object *changes,
                        tt_error *error) {
  bool given, pinned = false;
  TT_TRY(take_pinned(changes, &given, &pinned, error));
  if (json_object_object_length(changes) > 0)
    TT_TRY(tt_run_about_write(run, changes, TT_ABOUT_MOST_WAIT, error));
  return given ? tt_kept_run_pin(from->folder, from->question.id, pinned, error) : TT_OK;
}

static void change_run(void *context, tt_web_answer *answer) {
  const job *from = context;
  struct json_object *changes = tt_web_question_json(&from->question, answer);
  tt_kept_run run = {0};
  if (!changes) return;
  if (find_run(from, &run, &answer->error, &answer->status))
    answer->status = change(from, &run, changes, &answer->error);
  tt_kept_run_clear(&run);
  if (answer->status == TT_OK && find_run(from, &run, &answer->error, &answer->status)) {
    struct json_object *made = tt_run_about_read(&run);
    tt_json_add_text(made, "id", run.id);
    tt_json_add_bool(made, "pinned", run.pinned);
    tt_web_answer_json(answer, made);
  }
  tt_kept_run_clear(&run);
  json_object_put(changes);
}

static void remove_run(void *context, tt_web_answer *answer) {
  const job *from = context;
  answer->status = tt_kept_run_remove(from->folder, from->question.id, &answer->error);
  g_string_assign(answer->body, "{}");
}

/* ---- verify ---- */

static void verify_run(void *context, tt_web_answer *answer) {
  const job *from = context;
  const tt_run_verifier *verifier = from->verifier;
  tt_kept_run run;
  if (find_run(from, &run, &answer->error, &answer->status))
    answer->status = verifier->begin(verifier->context, run.path, &answer->error);
  tt_kept_run_clear(&run);
  answer->code = 202;
  g_string_assign(answer->body, "{}");
}

static void tell_verified(void *context, tt_web_answer *answer) {
  const job *from = context;
  const tt_run_verifier *verifier = from->verifier;
  tt_kept_run run;
  if (find_run(from, &run, &answer->error, &answer->status)) {
    struct json_object *told = verifier->tell(verifier->context, run.path);
    if (told)
      tt_web_answer_json(answer, told);
    else
      answer->status =
          tt_fail(&answer->error, TT_NOT_FOUND, "nobody asked to verify this run; POST does");
  }
  tt_kept_run_clear(&run);
}

/* ---- download ---- */

typedef tt_status exporter(const tt_run_log *log, const tt_export_sink *sink);

/* The file as it is: the one that can be verified, and brought back. */
static tt_status export_log(const tt_run_log *log, const tt_export_sink *sink) {
  const uint8_t *bytes = tt_run_log_data(log);
  size_t size = tt_run_log_size(log);
  for (size_t at = 0; at < size; at += PIECE)
    TT_TRY(sink->write(sink->context, bytes + at, MIN(PIECE, size - at)));
  return TT_OK;
}

/* `ending` follows the run's name without its own. */
static const struct {
  const char *format, *type, *ending;
  exporter *write;
} formats[] = {
    {"log", "application/octet-stream", ".wpilog", export_log},
    {"wpilog", "application/octet-stream", "-all.wpilog", tt_export_wpilog},
    {"mcap", "application/octet-stream", ".mcap", tt_export_mcap},
    {"csv", "text/csv; charset=utf-8", ".csv", tt_export_csv},
    {"jsonl", "application/x-ndjson", ".jsonl", tt_export_jsonl},
    {"svg", "image/svg+xml", ".svg", tt_export_svg},
    {"summary", "application/yaml", ".yaml", tt_export_summary},
};

static int format_of(const char *name) {
  for (size_t i = 0; name && i < sizeof formats / sizeof *formats; i++)
    if (strcmp(formats[i].format, name) == 0) return (int)i;
  return -1;
}

static tt_status pass_on(void *context, const void *bytes, size_t size) {
  const tt_web_sink *sink = context;
  return sink->write(sink->sink, bytes, size);
}

static tt_status produce_file(void *context, const tt_web_sink *sink, tt_error *error) {
  const job *from = context;
  tt_kept_run run;
  tt_run_log *log;
  tt_status status = TT_OK;
  if (find_run(from, &run, error, &status)) status = tt_run_log_open(run.path, &log, error);
  tt_kept_run_clear(&run);
  if (status != TT_OK) return status;
  status = formats[format_of(from->format)].write(
      log, &(tt_export_sink){pass_on, NULL, (void *)(uintptr_t)sink});
  tt_run_log_close(log);
  return status;
}

/* Its name in the folder of downloads. */
static void name_file(const tt_web_request *request, const char *id, const char *ending) {
  GHashTable *parameters = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  int stem =
      (int)(g_str_has_suffix(id, TT_RUN_ENDING) ? strlen(id) - strlen(TT_RUN_ENDING) : strlen(id));
  g_hash_table_insert(parameters, "filename", g_strdup_printf("%.*s%s", stem, id, ending));
  soup_message_headers_set_content_disposition(
      soup_server_message_get_response_headers(request->message), "attachment", parameters);
  g_hash_table_unref(parameters);
}

static void send_file(const tt_run_library *library, const tt_web_request *request) {
  GHashTable *query = soup_form_decode(request->query ? request->query : "");
  const char *wanted = g_hash_table_lookup(query, "format");
  int format = format_of(wanted ? wanted : "log");
  job *made = new_job(library, request);
  tt_kept_run run;
  bool found = tt_kept_run_find(library->folder, made->question.id, &run);
  tt_kept_run_clear(&run);
  if (format < 0 || !found) {
    if (format < 0)
      tt_web_respond_error(request, TT_INVALID,
                           "format: give log, wpilog, mcap, csv, jsonl, svg or summary");
    else
      tt_web_respond_error(request, TT_NOT_FOUND, "there is no such run");
    free_job(made);
  } else {
    made->format = g_strdup(formats[format].format);
    name_file(request, made->question.id, formats[format].ending);
    tt_web_respond_streaming(request, formats[format].type, produce_file, made, free_job);
  }
  g_hash_table_unref(query);
}

/* ---- which it is ---- */

void tt_run_library_begin(const tt_run_library *library, const tt_web_request *request) {
  if (strcmp(request->method, "POST") == 0) tt_run_upload_begin(library->folder, request);
}

static void later(const tt_run_library *library, const tt_web_request *request, tt_web_work *work) {
  tt_web_respond_later(request, work, new_job(library, request), free_job);
}

bool tt_run_library_handle(const tt_run_library *library, const tt_web_request *request) {
  const char *slash = strchr(request->rest, '/'), *method = request->method;
  bool verify = slash && strcmp(slash, "/verify") == 0 && library->verifier;
  bool post = strcmp(method, "POST") == 0,
       get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
  if (tt_run_upload_answer(request)) return true;
  if (strcmp(method, "PUT") == 0 && !slash)
    later(library, request, change_run);
  else if (strcmp(method, "DELETE") == 0 && !slash)
    later(library, request, remove_run);
  else if (verify && post)
    later(library, request, verify_run);
  else if (verify && get)
    later(library, request, tell_verified);
  else if (slash && strcmp(slash, "/file") == 0 && get)
    send_file(library, request);
  else
    return false;
  return true;
}
