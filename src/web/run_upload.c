#include "web/run_upload.h"

#include "base/file.h"
#include "record/foreign.h"
#include "record/run_about.h"
#include "record/run_folder.h"
#include "record/run_json.h"
#include "record/run_log.h"
#include "web/internal.h"

#include <glib/gstdio.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define KEY "tether-run-upload"
#define MOST_TRANSLATED (4ll << 30) /* bytes of what a log of another program becomes */
#define PREFIX ".upload-"           /* no run's name begins with a dot */
#define PATIENCE 30                 /* s for the next piece */
#define FORGOTTEN (60 * 60)         /* s: older than that, its program was killed */

typedef struct upload {
  char *folder, *name; /* the name that it had where it comes from */
  char *part;          /* path; NULL: it has become a run, or was never made */
  int file;            /* -1: closed */
  tt_web *web;
  GSocket *socket; /* not owned */
  tt_status status;
  tt_error error; /* that happened on the way; told behind the last byte */
} upload;

static void free_upload(gpointer data) {
  upload *from = data;
  if (from->file >= 0) close(from->file);
  if (from->part) unlink(from->part);
  g_free(from->part);
  g_free(from->folder);
  g_free(from->name);
  g_free(from);
}

/* What programs that were killed left. */
static void forget_others(const char *folder) {
  GDir *directory = g_dir_open(folder, 0, NULL);
  const char *name;
  while (directory && (name = g_dir_read_name(directory))) {
    GStatBuf about;
    char *path = g_build_filename(folder, name, NULL);
    if (g_str_has_prefix(name, PREFIX) && g_lstat(path, &about) == 0 &&
        about.st_mtime < g_get_real_time() / G_USEC_PER_SEC - FORGOTTEN)
      unlink(path);
    g_free(path);
  }
  if (directory) g_dir_close(directory);
}

/* A file of this folder that nobody lists; -1 where there can't be one. */
static int make_part(const char *folder, char **part) {
  *part = g_build_filename(folder, PREFIX "XXXXXX", NULL);
  int file = g_mkstemp_full(*part, O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) g_clear_pointer(part, g_free);
  return file;
}

/* ---- as it comes ---- */

static void on_chunk(SoupServerMessage *message, GBytes *chunk, gpointer data) {
  (void)message;
  upload *from = data;
  gsize size;
  const char *bytes = g_bytes_get_data(chunk, &size);
  tt_web_set_deadline(tt_web_connection_at(from->web, from->socket), PATIENCE);
  if (from->status == TT_OK && !tt_file_write_all(from->file, bytes, size))
    from->status = tt_fail(&from->error, errno == ENOSPC ? TT_FULL : TT_FAILED,
                           "the log can't be kept: %s", g_strerror(errno));
}

static char *name_of(const tt_web_request *request) {
  GHashTable *query = soup_form_decode(request->query ? request->query : "");
  const char *name = g_hash_table_lookup(query, "name");
  char *made = name && *name && g_utf8_validate(name, -1, NULL) ? g_path_get_basename(name) : NULL;
  g_hash_table_unref(query);
  return made;
}

void tt_run_upload_begin(const char *folder, const tt_web_request *request) {
  upload *from = g_new0(upload, 1);
  from->folder = g_strdup(folder);
  from->name = name_of(request);
  from->web = request->web;
  from->socket = tt_web_socket_of(request->message);
  from->file = -1;
  forget_others(folder);
  if (!from->name) {
    from->status = tt_fail(&from->error, TT_INVALID, "give ?name=FILE" TT_RUN_ENDING);
  } else if (!g_str_has_suffix(from->name, TT_RUN_ENDING)) {
    from->status =
        tt_fail(&from->error, TT_INVALID,
                "%.200s: only logs can be opened, whose names end in " TT_RUN_ENDING, from->name);
  } else {
    from->file = make_part(folder, &from->part);
    if (from->file < 0)
      from->status = tt_fail(&from->error, errno == ENOSPC ? TT_FULL : TT_FAILED,
                             "%s: no log can be kept: %s", folder, g_strerror(errno));
  }
  soup_message_body_set_accumulate(soup_server_message_get_request_body(request->message), FALSE);
  g_object_set_data_full(G_OBJECT(request->message), KEY, from, free_upload);
  g_signal_connect(request->message, "got-chunk", G_CALLBACK(on_chunk), from);
}

/* ---- once it is there ---- */

static char *stem_of(const upload *from) {
  return g_strndup(from->name, strlen(from->name) - strlen(TT_RUN_ENDING));
}

/* "2026-11-20T19-52-07-arm" is called arm: the folder's names begin with the moment from which on it is there. */
static const char *without_date(const char *name) {
  static const char pattern[] = "dddd-dd-ddTdd-dd-dd";
  size_t i = 0;
  while (pattern[i] && (pattern[i] == 'd' ? g_ascii_isdigit(name[i]) : name[i] == pattern[i])) i++;
  if (pattern[i]) return *name ? name : "run";
  name += i;
  if (*name == '-' || *name == ' ') name++;
  return *name ? name : "run";
}

/* ---- logs of other programs ---- */

typedef struct translation {
  int file;
  long long size;
  int reason; /* errno: why it can't be written; 0: it can */
} translation;

static tt_status write_piece(void *context, const void *bytes, size_t size) {
  translation *to = context;
  to->size += (long long)size;
  if (to->size > MOST_TRANSLATED) return TT_INVALID;
  if (tt_file_write_all(to->file, bytes, size)) return TT_OK;
  to->reason = errno;
  return errno == ENOSPC ? TT_FULL : TT_FAILED;
}

/* What it becomes takes the place of what came. */
static tt_status convert(upload *from, GMappedFile *came, tt_error *error) {
  char *part, *stem = stem_of(from);
  translation to = {make_part(from->folder, &part), 0, 0};
  tt_error why;
  tt_status status = TT_FAILED;
  if (to.file < 0) {
    status = tt_fail(&why, errno == ENOSPC ? TT_FULL : TT_FAILED, "can't be kept: %s",
                     g_strerror(errno));
  } else {
    status = tt_foreign_convert((const uint8_t *)g_mapped_file_get_contents(came),
                                g_mapped_file_get_length(came), without_date(stem),
                                g_get_real_time() / G_USEC_PER_SEC,
                                &(tt_export_sink){write_piece, NULL, &to}, &why);
    if (to.size > MOST_TRANSLATED) tt_fail(&why, TT_INVALID, "becomes larger than 4 GB");
    if (close(to.file) != 0 && status == TT_OK)
      to.reason = errno, status = errno == ENOSPC ? TT_FULL : TT_FAILED;
    if (to.reason) tt_fail(&why, status, "can't be kept: %s", g_strerror(to.reason));
  }
  g_free(stem);
  if (status != TT_OK) {
    if (part) unlink(part);
    g_free(part);
    return tt_fail(error, status, "%.200s: is a log of another program, which %s", from->name,
                   why.text);
  }
  unlink(from->part);
  g_free(from->part);
  from->part = part;
  return TT_OK;
}

static tt_status translate(upload *from, tt_error *error) {
  GMappedFile *came = g_mapped_file_new(from->part, FALSE, NULL);
  if (!came) return TT_OK; /* what is wrong with it is told where it is opened */
  tt_status status = TT_OK;
  if (tt_foreign_is((const uint8_t *)g_mapped_file_get_contents(came),
                    g_mapped_file_get_length(came)))
    status = convert(from, came, error);
  g_mapped_file_unref(came);
  return status;
}

/* A run of this name from now on. */
static tt_status enter(upload *from, char path[PATH_MAX], tt_error *error) {
  char *stem = stem_of(from);
  tt_status status;
  bool entered;
  do { /* never in the place of another one, which may have taken the name just now */
    status = tt_kept_runs_new_path(from->folder, without_date(stem), path, PATH_MAX, error);
    entered = status == TT_OK && link(from->part, path) == 0;
  } while (status == TT_OK && !entered && errno == EEXIST);
  g_free(stem);
  TT_TRY(status);
  if (!entered) return tt_fail(error, TT_FAILED, "%s: can't be made: %s", path, g_strerror(errno));
  unlink(from->part);
  g_clear_pointer(&from->part, g_free);
  return TT_OK;
}

/* It is opened under its own name, since an index may be left beside it. */
static tt_status look_into(const upload *from, const char *path, tt_run_facts *facts,
                           tt_error *error) {
  tt_run_log *log;
  tt_error why;
  if (tt_run_log_open(path, &log, &why) != TT_OK)
    return tt_fail(error, TT_INVALID, "%.200s: this is no log that can be read", from->name);
  tt_status status = tt_run_get_facts(log, facts);
  tt_run_log_close(log);
  return status;
}

static void keep_upload(void *context, tt_web_answer *answer) {
  upload *from = context;
  char path[PATH_MAX];
  tt_run_facts facts;
  tt_kept_run run = {0};
  answer->status = from->status;
  answer->error = from->error;
  if (answer->status == TT_OK) answer->status = translate(from, &answer->error);
  if (answer->status == TT_OK) answer->status = enter(from, path, &answer->error);
  if (answer->status != TT_OK) return;
  const char *id = strrchr(path, '/') + 1;
  answer->status = look_into(from, path, &facts, &answer->error);
  if (answer->status != TT_OK) {
    tt_kept_run_remove(from->folder, id, NULL);
  } else if (tt_kept_run_find(from->folder, id, &run)) {
    tt_kept_run_is_newest(from->folder, path);
    struct json_object *made = tt_run_facts_json(&run, &facts);
    g_string_assign(answer->body, json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN));
    json_object_put(made);
    answer->code = 201;
  }
  tt_kept_run_clear(&run);
}

bool tt_run_upload_answer(const tt_web_request *request) {
  upload *from = g_object_steal_data(G_OBJECT(request->message), KEY);
  if (!from) return false;
  g_signal_handlers_disconnect_by_data(request->message, from);
  if (from->file >= 0 && close(from->file) != 0 && from->status == TT_OK)
    from->status = tt_fail(&from->error, errno == ENOSPC ? TT_FULL : TT_FAILED,
                           "the log can't be kept: %s", g_strerror(errno));
  from->file = -1;
  tt_web_respond_later(request, keep_upload, from, free_upload);
  return true;
}
