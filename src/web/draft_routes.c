#include "web/draft_routes.h"

#include "base/json.h"
#include "scene/machine.h"
#include "web/question.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TEXTS 8 /* of a file that may be written over */

struct tt_draft_routes {
  gatomicrefcount references; /* the program's, and one of each answer under way */
  tt_drafts *drafts;
  tt_draft_routes_options options;
  char *scenes;
};

/* One request on its way. `draft` is the one that its path names. */
typedef struct job {
  tt_draft_routes *routes;
  tt_web_question question;
  const char *below; /* the question's; "" */
  tt_draft draft;
} job;

static void unref_routes(tt_draft_routes *routes) {
  if (!g_atomic_ref_count_dec(&routes->references)) return;
  tt_drafts_free(routes->drafts);
  g_free(routes->scenes);
  g_free(routes);
}

static void free_job(void *context) {
  job *made = context;
  unref_routes(made->routes);
  tt_web_question_clear(&made->question);
  g_free(made);
}

/* Where a scene is loaded or compiled no short answer waits for it. */
static void respond_by(tt_draft_routes *routes, const tt_web_request *request, bool at_leisure,
                       tt_web_work *work) {
  job *made = g_new0(job, 1);
  g_atomic_ref_count_inc(&routes->references);
  made->routes = routes;
  tt_web_question_keep(&made->question, request);
  made->below = made->question.below ? made->question.below : "";
  (at_leisure ? tt_web_respond_at_leisure : tt_web_respond_later)(request, work, made, free_job);
}

/* --- answers --- */

/* HEAD is GET, of which libsoup sends the head. */
static bool is(const job *from, const char *method) {
  const char *asked = from->question.method;
  return strcmp(strcmp(asked, "HEAD") == 0 ? "GET" : asked, method) == 0;
}

static bool administers(const job *from) { return from->question.role >= TT_ROLE_ADMINISTER; }

static tt_draft_author author_of(const job *from) {
  return (tt_draft_author){.administers = administers(from)};
}

static void answer_bytes(tt_web_answer *answer, const void *bytes, size_t size) {
  answer->type = "application/octet-stream";
  g_string_append_len(answer->body, bytes, (gssize)size);
}

static void add_moment(struct json_object *to, const char *key, int64_t nanoseconds) {
  GDateTime *moment = g_date_time_new_from_unix_utc(nanoseconds / 1000000000);
  char *text = moment ? g_date_time_format_iso8601(moment) : NULL;
  tt_json_add_text(to, key, text);
  g_free(text);
  if (moment) g_date_time_unref(moment);
}

/* The text under `key`; "" where there is none, or it is none. */
static const char *text_of(struct json_object *body, const char *key) {
  struct json_object *found;
  bool text =
      json_object_object_get_ex(body, key, &found) && json_object_is_type(found, json_type_string);
  return text ? json_object_get_string(found) : "";
}

/* --- all drafts --- */

static void list_drafts(const job *from, tt_web_answer *answer) {
  tt_draft *drafts;
  int count;
  answer->status = tt_drafts_list(from->routes->drafts, &drafts, &count, &answer->error);
  if (answer->status != TT_OK) return;
  struct json_object *list = json_object_new_array();
  for (int i = 0; i < count; i++) {
    struct json_object *made = json_object_new_object();
    tt_json_add_text(made, "draft", drafts[i].id);
    tt_json_add_text(made, "name", drafts[i].name);
    tt_json_add_text(made, "main", drafts[i].main);
    add_moment(made, "changed", drafts[i].changed);
    tt_json_add_bool(made, "untouched", drafts[i].untouched);
    json_object_array_add(list, made);
  }
  free(drafts);
  tt_web_answer_json(answer, list);
}

/* A token that stands in a scene is for none but who administers. */
static bool may_read(const job *from, const char *path, const char *bytes, size_t size,
                     tt_error *error) {
  bool denied = false;
  if (!administers(from) && tt_draft_path_is_yaml(path))
    tt_machine_check_secrets(bytes, size, &denied, error);
  return !denied;
}

static bool may_read_file(const job *from, const char *folder, const char *path, tt_error *error) {
  char *bytes;
  size_t size;
  if (!tt_draft_path_is_yaml(path)) return true;
  if (tt_draft_file_read(folder, path, &bytes, &size, error) != TT_OK) return false;
  const bool may = may_read(from, path, bytes, size, error);
  free(bytes);
  return may;
}

/* Whether it says that its file is not there, which hides nothing. With a line it is of one that was there before. */
static bool is_of_no_file(const job *from, const tt_problem *problem) {
  char *bytes;
  size_t size;
  if (problem->line) return false;
  const tt_status status =
      tt_draft_file_read(from->draft.folder, problem->file, &bytes, &size, NULL);
  if (status == TT_OK) free(bytes);
  return status == TT_NOT_FOUND;
}

static bool may_hear(const job *from, const tt_problem *problem) {
  return administers(from) || may_read_file(from, from->draft.folder, problem->file, NULL) ||
         is_of_no_file(from, problem);
}

static const char *text_for(const job *from, const tt_problem *problem) {
  return may_hear(from, problem) ? problem->text : tt_machine_withheld;
}

/* Another's scene is not opened for who may not read it. */
static bool may_have(const job *from, const tt_draft *draft, tt_error *error) {
  tt_draft_files files;
  if (administers(from)) return true;
  bool may = tt_draft_files_list(draft->folder, &files, error) == TT_OK;
  for (int i = 0; i < files.count && may; i++) {
    tt_error why = {""};
    may = may_read_file(from, draft->folder, files.items[i].path, &why);
    if (!may) tt_fail(error, TT_INVALID, "%s: %s", files.items[i].path, why.text);
  }
  tt_draft_files_free(&files);
  if (!may) tt_drafts_remove(from->routes->drafts, draft->id, NULL, NULL);
  return may;
}

static tt_status begin(const job *from, struct json_object *body, tt_draft *draft, bool *large,
                       tt_draft_author *author, tt_error *error) {
  const tt_draft_routes *routes = from->routes;
  const char *name = text_of(body, "name"), *scene = text_of(body, "scene");
  char *path;
  if (!*name == !*scene)
    return tt_fail(error, TT_INVALID, "give the name of a new scene, or the scene to open");
  const tt_draft_routes_options *options = &routes->options;
  if (*name) return tt_drafts_begin(routes->drafts, name, draft, author, error);
  TT_TRY(options->find(options->context, scene, &path, error));
  tt_status status = tt_drafts_copy(routes->drafts, path, draft, large, author, error);
  if (status != TT_OK && !*large && !author->administers) tt_machine_withhold(path, error);
  free(path);
  return status;
}

static void begin_draft(const job *from, tt_web_answer *answer) {
  struct json_object *body = tt_web_question_json(&from->question, answer);
  tt_draft draft;
  if (!body) return;
  bool large = false;
  tt_draft_author author = author_of(from);
  answer->status = begin(from, body, &draft, &large, &author, &answer->error);
  json_object_put(body);
  if (large || author.denied) {
    tt_web_answer_refusal(answer, large ? 413 : 403);
    return;
  }
  if (answer->status != TT_OK) return;
  if (!may_have(from, &draft, &answer->error)) {
    tt_web_answer_refusal(answer, 403);
    return;
  }
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "draft", draft.id);
  tt_json_add_text(made, "main", draft.main);
  answer->code = 201;
  tt_web_answer_json(answer, made);
}

static void work_on_drafts(void *context, tt_web_answer *answer) {
  const job *from = context;
  if (is(from, "POST"))
    begin_draft(from, answer);
  else
    list_drafts(from, answer);
}

/* --- one draft --- */

static void add_files(struct json_object *to, const tt_draft_files *files) {
  struct json_object *list = tt_json_add_array(to, "files");
  for (int i = 0; i < files->count; i++) {
    struct json_object *made = json_object_new_object();
    tt_json_add_text(made, "path", files->items[i].path);
    tt_json_add_uint(made, "size", files->items[i].size);
    json_object_array_add(list, made);
  }
}

static void add_problems(struct json_object *to, const job *from, const tt_draft_look *look) {
  static const char *const severities[] = {"error", "warning"};
  struct json_object *list = tt_json_add_array(to, "problems");
  bool may = true;
  for (int i = 0; i < look->problem_count; i++) {
    const tt_problem *problem = &look->problems[i];
    struct json_object *made = json_object_new_object();
    if (i == 0 || strcmp(problem->file, problem[-1].file) != 0) may = may_hear(from, problem);
    char *text =
        g_utf8_make_valid(may ? problem->text : tt_machine_withheld, -1); /* it may be cut */
    tt_json_add_text(made, "file", problem->file);
    tt_json_add_int(made, "line", problem->line);
    tt_json_add_int(made, "column", problem->column);
    tt_json_add_text(made, "severity", severities[problem->severity]);
    tt_json_add_text(made, "text", text);
    g_free(text);
    json_object_array_add(list, made);
  }
}

static struct json_object *describe(const job *from, const tt_draft_files *files,
                                    const tt_draft_look *look) {
  static const char *const parts[] = {"robots", "wires", "signals", "commands"};
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "draft", from->draft.id);
  tt_json_add_text(made, "name", from->draft.name);
  tt_json_add_text(made, "main", from->draft.main);
  tt_json_add_uint(made, "revision", look->revision);
  tt_json_add_bool(made, "runs", look->runs);
  add_files(made, files);
  add_problems(made, from, look);
  /* What stands in it now belongs to threads that answer about the same look: a copy. */
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    struct json_object *part = NULL, *copy = NULL;
    if (look->parts && json_object_object_get_ex(look->parts, parts[i], &part))
      json_object_deep_copy(part, &copy, NULL);
    tt_json_add(made, parts[i], copy ? copy : json_object_new_array());
  }
  return made;
}

static void answer_draft(job *from, tt_web_answer *answer) {
  tt_draft_files files;
  tt_draft_look *look;
  answer->status = tt_drafts_look(from->routes->drafts, &from->draft, &look, &answer->error);
  if (answer->status != TT_OK) return;
  answer->status = tt_draft_files_list(from->draft.folder, &files, &answer->error);
  if (answer->status == TT_OK) tt_web_answer_json(answer, describe(from, &files, look));
  tt_draft_files_free(&files);
  tt_draft_look_unref(look);
}

static void remove_draft(job *from, tt_web_answer *answer) {
  tt_draft_author author = author_of(from);
  answer->status = tt_drafts_remove(from->routes->drafts, from->draft.id, &author, &answer->error);
  g_string_assign(answer->body, "{}");
  if (author.denied) tt_web_answer_refusal(answer, 403);
}

/* --- its files --- */

/* What is to be written over. */
typedef struct asked {
  guint64 revision;           /* 0: whichever there is */
  uint32_t texts[MOST_TEXTS]; /* hashes of those that the file may have */
  int count;                  /* 0: whichever */
} asked;

static bool read_texts(const char *text, asked *to) {
  char **words = g_strsplit(text, ",", MOST_TEXTS + 1);
  bool good = *words && g_strv_length(words) <= MOST_TEXTS;
  for (char **word = words; good && *word; word++) {
    guint64 hash;
    good = g_ascii_string_to_unsigned(*word, 10, 0, UINT32_MAX, &hash, NULL);
    if (good) to->texts[to->count++] = (uint32_t)hash;
  }
  g_strfreev(words);
  return good;
}

/* False: what is asked for can't be read, which is not to mean whichever. */
static bool read_asked(const job *from, asked *to) {
  const char *query = from->question.query ? from->question.query : "";
  GHashTable *decoded = soup_form_decode(query);
  const char *revision = g_hash_table_lookup(decoded, "revision"),
             *texts = g_hash_table_lookup(decoded, "over");
  *to = (asked){0};
  bool good =
      !revision || g_ascii_string_to_unsigned(revision, 10, 1, G_MAXUINT64, &to->revision, NULL);
  good = good && (!texts || read_texts(texts, to));
  /* What has no '=' is not decoded. */
  if (!revision && !texts) good = !g_regex_match_simple("(^|&)(revision|over)(&|=|$)", query, 0, 0);
  g_hash_table_unref(decoded);
  return good && !(revision && texts);
}

static void answer_revision(tt_web_answer *answer, uint64_t revision) {
  struct json_object *made = json_object_new_object();
  tt_json_add_uint(made, "revision", revision);
  tt_web_answer_json(answer, made);
}

static void put_file(job *from, const char *path, tt_web_answer *answer) {
  gsize size;
  asked over;
  const void *bytes = g_bytes_get_data(from->question.body, &size);
  if (!read_asked(from, &over)) {
    tt_web_answer_error(answer, TT_INVALID,
                        "revision: give the number that the draft had, or leave it out; over: give "
                        "hashes of texts in its place");
    return;
  }
  tt_drafts *drafts = from->routes->drafts;
  tt_draft_author author = author_of(from);
  uint64_t revision = over.revision;
  if (!bytes) bytes = "";
  /* Who writes it would not read it again. */
  if (!may_read(from, path, bytes, size, &answer->error)) {
    tt_web_answer_refusal(answer, 403);
    return;
  }
  answer->status = over.count
                       ? tt_drafts_write_over(drafts, &from->draft, path, bytes, size, over.texts,
                                              over.count, &revision, &author, &answer->error)
                       : tt_drafts_write(drafts, &from->draft, path, bytes, size, &revision,
                                         &author, &answer->error);
  if (author.denied)
    tt_web_answer_refusal(answer, 403);
  else if (answer->status == TT_FULL)
    tt_web_answer_refusal(answer, 413);
  else if (answer->status == TT_STALE)
    tt_web_answer_refusal(answer, 409);
  else if (answer->status == TT_OK)
    answer_revision(answer, revision);
}

static void delete_file(job *from, const char *path, tt_web_answer *answer) {
  tt_draft_files files;
  tt_draft_author author = author_of(from);
  answer->status =
      tt_drafts_unlink(from->routes->drafts, &from->draft, path, &author, &answer->error);
  if (author.denied) {
    tt_web_answer_refusal(answer, 403);
    return;
  }
  if (answer->status != TT_OK) return;
  answer->status = tt_draft_files_list(from->draft.folder, &files, &answer->error);
  if (answer->status != TT_OK) return;
  answer_revision(answer, files.revision);
  tt_draft_files_free(&files);
}

static void work_on_file(job *from, const char *path, tt_web_answer *answer) {
  if (is(from, "PUT")) {
    put_file(from, path, answer);
  } else if (is(from, "DELETE")) {
    delete_file(from, path, answer);
  } else {
    char *bytes;
    size_t size;
    answer->status = tt_draft_file_read(from->draft.folder, path, &bytes, &size, &answer->error);
    if (answer->status != TT_OK) return;
    if (may_read(from, path, bytes, size, &answer->error))
      answer_bytes(answer, bytes, size);
    else
      tt_web_answer_refusal(answer, 403);
    free(bytes);
  }
}

/* --- what it looks like --- */

/* The number that a path ends in; −1: it doesn't. */
static long number_of(const char *text) {
  char *end;
  long number = g_ascii_isdigit(*text) ? strtol(text, &end, 10) : -1;
  return number >= 0 && *end == 0 ? number : -1;
}

static void answer_model(const job *from, const tt_draft_look *look, tt_web_answer *answer) {
  const tt_problem *error = tt_draft_look_error(look);
  if (look->model)
    g_string_assign(answer->body, look->model);
  else
    tt_web_answer_error(answer, TT_INVALID, error ? text_for(from, error) : "there is no model");
}

static void answer_one(const tt_bytes *items, int count, const char *number,
                       tt_web_answer *answer) {
  const long index = number_of(number);
  if (index < 0 || index >= count)
    tt_web_answer_error(answer, TT_NOT_FOUND, "there is no such thing in this model");
  else
    answer_bytes(answer, items[index].data, items[index].size);
}

static const tt_draft_client *find_client(const tt_draft_look *look, GHashTable *query) {
  const char *wire = g_hash_table_lookup(query, "wire"),
             *language = g_hash_table_lookup(query, "language");
  for (int i = 0; wire && language && i < look->client_count; i++)
    if (strcmp(look->clients[i].wire, wire) == 0 &&
        strcmp(look->clients[i].language, language) == 0)
      return &look->clients[i];
  return NULL;
}

static void answer_client(const job *from, const tt_draft_look *look, tt_web_answer *answer) {
  GHashTable *query = soup_form_decode(from->question.query ? from->question.query : "");
  const tt_draft_client *client = find_client(look, query);
  if (client) {
    struct json_object *made = json_object_new_object();
    tt_json_add_text(made, "file", client->file);
    tt_json_add_text(made, "text", client->text);
    tt_json_add_text(made, "start", client->start);
    tt_web_answer_json(answer, made);
  } else {
    tt_web_answer_error(
        answer, TT_NOT_FOUND,
        "there is no client for this wire in this language: `languages` of the draft's wires says "
        "which there are");
  }
  g_hash_table_unref(query);
}

static void answer_look(job *from, tt_web_answer *answer) {
  tt_draft_look *look;
  answer->status = tt_drafts_look(from->routes->drafts, &from->draft, &look, &answer->error);
  if (answer->status != TT_OK) return;
  if (strcmp(from->below, "model") == 0)
    answer_model(from, look, answer);
  else if (strcmp(from->below, "client") == 0)
    answer_client(from, look, answer);
  else if (g_str_has_prefix(from->below, "meshes/"))
    answer_one(look->meshes, look->mesh_count, from->below + strlen("meshes/"), answer);
  else if (g_str_has_prefix(from->below, "textures/"))
    answer_one(look->textures, look->texture_count, from->below + strlen("textures/"), answer);
  else
    tt_web_answer_error(answer, TT_NOT_FOUND, "there is no such part of a draft");
  tt_draft_look_unref(look);
}

/* --- what becomes of it --- */

/* Whether it is whole, and its asker may have all that it does; else answers why not. */
static bool may_go(job *from, tt_web_answer *answer) {
  tt_draft_look *look;
  answer->status = tt_drafts_look(from->routes->drafts, &from->draft, &look, &answer->error);
  if (answer->status != TT_OK) return false;
  const tt_problem *error = tt_draft_look_error(look);
  const bool runs = look->runs, allowed = !*look->machine || administers(from);
  if (!runs) {
    answer->status =
        tt_fail(&answer->error, TT_INVALID, "%s:%d: %s", error ? error->file : "",
                error ? error->line : 0, error ? text_for(from, error) : "it does not load");
  } else if (!allowed) {
    bool denied;
    tt_machine_check(look->machine, &denied, &answer->error);
    tt_web_answer_refusal(answer, 403);
  }
  tt_draft_look_unref(look);
  return runs && allowed;
}

static void save_draft(job *from, tt_web_answer *answer) {
  const tt_draft_routes *routes = from->routes;
  struct json_object *body = tt_web_question_json(&from->question, answer), *replace;
  if (!body) return;
  char name[TT_DRAFT_MOST_NAME + 1], path[512];
  bool taken = false, denied = false;
  snprintf(name, sizeof name, "%s", text_of(body, "name"));
  const bool over = json_object_object_get_ex(body, "replace", &replace) &&
                    json_object_is_type(replace, json_type_boolean) &&
                    json_object_get_boolean(replace);
  json_object_put(body);
  if (!may_go(from, answer)) return;
  answer->status = tt_drafts_save(routes->drafts, &from->draft, routes->scenes, name, over,
                                  administers(from), path, &taken, &denied, &answer->error);
  if (denied) {
    tt_web_answer_refusal(answer, 403);
  } else if (taken) {
    tt_web_answer_refusal(answer, 409);
  } else if (answer->status == TT_OK) {
    struct json_object *made = json_object_new_object();
    tt_json_add_text(made, "name", name);
    tt_json_add_text(made, "file", path);
    answer->code = 201;
    tt_web_answer_json(answer, made);
  }
}

static void run_draft(job *from, tt_web_answer *answer) {
  const tt_draft_routes_options *options = &from->routes->options;
  char path[640];
  if (!may_go(from, answer)) return;
  snprintf(path, sizeof path, "%s/%s", from->draft.folder, from->draft.main);
  bool denied;
  answer->status = options->run(options->context, path, administers(from), &denied, &answer->error);
  answer->code = 202;
  g_string_assign(answer->body, "{}");
  if (denied) tt_web_answer_refusal(answer, 403);
}

/* --- one request --- */

static void post(job *from, tt_web_answer *answer) {
  const tt_draft_routes *routes = from->routes;
  if (strcmp(from->below, "save") == 0)
    save_draft(from, answer);
  else if (strcmp(from->below, "run") == 0 && routes->options.run)
    run_draft(from, answer);
  else
    tt_web_answer_error(answer, TT_NOT_FOUND, "a draft can be saved (/save) or run (/run)");
}

static void work_on_draft(void *context, tt_web_answer *answer) {
  static const char files[] = "files/";
  job *from = context;
  answer->status =
      tt_drafts_find(from->routes->drafts, from->question.id, &from->draft, &answer->error);
  if (answer->status != TT_OK) return;
  if (g_str_has_prefix(from->below, files))
    work_on_file(from, from->below + strlen(files), answer);
  else if (is(from, "POST"))
    post(from, answer);
  else if (is(from, "GET") && !*from->below)
    answer_draft(from, answer);
  else if (is(from, "GET"))
    answer_look(from, answer);
  else if (is(from, "DELETE") && !*from->below)
    remove_draft(from, answer);
  else
    tt_web_answer_error(answer, TT_NOT_FOUND, "only files of a draft can be put and deleted");
}

static void handle_drafts(void *context, const tt_web_request *request) {
  respond_by(context, request, strcmp(request->method, "POST") == 0, work_on_drafts);
}

static void handle_draft(void *context, const tt_web_request *request) {
  const char *slash = strchr(request->rest, '/');
  const bool file = slash && g_str_has_prefix(slash, "/files/");
  respond_by(context, request, !file,
             work_on_draft); /* to remove one, too, is to wait for a look */
}

tt_draft_routes *tt_draft_routes_new(tt_web *web, tt_drafts *drafts,
                                     const tt_draft_routes_options *options) {
  tt_draft_routes *routes = g_new0(tt_draft_routes, 1);
  g_atomic_ref_count_init(&routes->references);
  routes->drafts = drafts;
  routes->options = *options;
  routes->scenes = g_strdup(options->scenes);
  tt_web_add_route(web, &(tt_web_route){.path = "/api/drafts",
                                        .watch = "GET",
                                        .drive = "POST",
                                        .handle = handle_drafts,
                                        .context = routes});
  tt_web_add_route(web, &(tt_web_route){.path = "/api/drafts/",
                                        .watch = "GET",
                                        .drive = "POST PUT DELETE",
                                        .max_body = TT_DRAFT_MOST_FILE,
                                        .handle = handle_draft,
                                        .context = routes});
  return routes;
}

void tt_draft_routes_free(tt_draft_routes *routes) {
  if (routes) unref_routes(routes);
}
