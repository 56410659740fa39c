/* telemetry_removal.c: DELETE of /telemetry/devices and /telemetry/attributes: names that are not used, and, where asked for in so many
 * words, a device's values.
 */
#include "telemetry/text.h"
#include "web/telemetry_routes_internal.h"

#include <stdio.h>
#include <string.h>

/** µs that the removal of a name waits for the store. */
#define STORED_PATIENCE 5000000
/** µs that one request removes values before it says how far it came. */
#define PATIENCE 500000

typedef struct removal_job {
  tt_collector *collector;
  bool device;
  char *name;          /**< "": all that are not used */
  bool data, name_too; /**< a device's values; then itself as well */
  char *attribute;     /**< NULL: all */
  int64_t from, before;
} removal_job;

static void free_job(void *context) {
  removal_job *job = context;
  tt_collector_release(job->collector);
  g_free(job->name);
  g_free(job->attribute);
  g_free(job);
}

/* --- what is asked for --- */

static tt_status take_flag(const char *key, const char *value, bool *flag, tt_error *error) {
  *flag = !strcmp(value, "yes");
  return *flag ? TT_OK : tt_fail(error, TT_INVALID, "%s is to be yes, or left out", key);
}

/** `to` is inclusive, as a table's. */
static tt_status take_end(const char *value, int64_t now, int64_t *before, tt_error *error) {
  TT_TRY(tt_table_time_parse("to", value, now, before, error));
  *before += *before < INT64_MAX;
  return TT_OK;
}

static tt_status take_key(removal_job *job, const char *key, const char *value, tt_error *error) {
  const int64_t now = tt_collector_now();
  if (!strcmp(key, "token")) return TT_OK;  // the server's, and looked at before
  if (!strcmp(key, "data")) return take_flag(key, value, &job->data, error);
  if (!strcmp(key, "name")) return take_flag(key, value, &job->name_too, error);
  if (!strcmp(key, "from")) return tt_table_time_parse(key, value, now, &job->from, error);
  if (!strcmp(key, "to")) return take_end(value, now, &job->before, error);
  if (strcmp(key, "attribute"))
    return tt_fail(error, TT_INVALID,
                   "'%.32s' is no key here; there are data, attribute, from, to, name", key);
  g_free(job->attribute);
  job->attribute = g_strdup(value);
  return TT_OK;
}

/** Whoever mistypes a key removes nothing. */
static tt_status check_job(const removal_job *job, tt_error *error) {
  bool part = job->attribute || job->from > INT64_MIN || job->before < INT64_MAX;
  if ((job->data || job->name_too || part) && (!job->device || !*job->name))
    return tt_fail(error, TT_INVALID,
                   "values are removed of one device: DELETE /telemetry/devices/DEVICE?data=yes");
  if ((part || job->name_too) && !job->data)
    return tt_fail(error, TT_INVALID,
                   "only values have a span or an attribute; data=yes removes them");
  if (job->attribute && job->name_too)
    return tt_fail(error, TT_INVALID, "name=yes removes the whole device; leave attribute out");
  return job->from < job->before ? TT_OK : tt_fail(error, TT_INVALID, "from is after to");
}

static tt_status read_job(const tt_web_request *request, removal_job *job, tt_error *error) {
  TT_TRY(tt_web_check_query(request, error));
  GHashTable *keys = request->query ? soup_form_decode(request->query) : NULL;
  GHashTableIter iterator;
  gpointer key, value;
  tt_status status = TT_OK;
  if (keys) g_hash_table_iter_init(&iterator, keys);
  while (keys && status == TT_OK && g_hash_table_iter_next(&iterator, &key, &value))
    status = take_key(job, key, value, error);
  if (keys) g_hash_table_unref(keys);
  return status == TT_OK ? check_job(job, error) : status;
}

/* --- removing --- */

/** In use: 409. */
static void say_conflict(tt_web_answer *answer) {
  answer->status = TT_OK;
  answer->code = 409;
  g_string_append(answer->body, "{\"error\":");
  tt_append_json(answer->body, answer->error.text);
  g_string_append(answer->body, "}");
}

/** A device or an attribute itself; answered once that is stored. */
static tt_status remove_name(const removal_job *job, bool device, tt_error *error) {
  TT_TRY(tt_collector_remove(job->collector, device, job->name, error));
  return tt_collector_wait_stored(job->collector, STORED_PATIENCE, error);
}

static tt_status remove_all(const removal_job *job, int *removed, tt_error *error) {
  TT_TRY(tt_collector_remove_unused(job->collector, job->device, removed, error));
  return *removed ? tt_collector_wait_stored(job->collector, STORED_PATIENCE, error) : TT_OK;
}

static void remove_unused(const removal_job *job, tt_web_answer *answer) {
  int removed = 1;
  answer->status = *job->name ? remove_name(job, job->device, &answer->error)
                              : remove_all(job, &removed, &answer->error);
  if (answer->status == TT_INVALID)
    say_conflict(answer);
  else
    g_string_append_printf(answer->body, "{\"removed\":%d}", removed);
}

/** 200: all is removed; 202: some, and `to` is what to ask for again. */
static void remove_values(const removal_job *job, tt_web_answer *answer) {
  tt_removal removal = {
      .device = job->name, .attribute = job->attribute, .from = job->from, .before = job->before};
  answer->status = tt_collector_remove_values(job->collector, &removal, PATIENCE, &answer->error);
  bool more = answer->status == TT_AGAIN;
  if (more) answer->status = TT_OK;
  if (answer->status == TT_OK && !more && job->name_too)
    answer->status = remove_name(job, true, &answer->error);
  if (answer->status == TT_INVALID) {
    say_conflict(answer);
    return;
  }
  answer->code = more ? 202 : 200;
  char to[24] = "null";
  if (removal.before < INT64_MAX)
    snprintf(to, sizeof to, "%" G_GINT64_FORMAT, (gint64)removal.before - 1);
  g_string_append_printf(answer->body,
                         "{\"removed_values\":%" G_GUINT64_FORMAT ",\"more\":%s,\"to\":%s}",
                         (guint64)removal.removed, more ? "true" : "false", to);
}

static void work_on(void *context, tt_web_answer *answer) {
  const removal_job *job = context;
  if (job->data)
    remove_values(job, answer);
  else
    remove_unused(job, answer);
  answer->status = tt_telemetry_explain_store(answer->status, &answer->error);
}

bool tt_removal_answer_delete(tt_telemetry_routes *routes, const tt_web_request *request,
                              bool device) {
  if (strcmp(request->method, "DELETE")) return false;
  tt_error error;
  removal_job *job = g_new0(removal_job, 1);
  *job = (removal_job){.collector = routes->collector,
                       .device = device,
                       .name = g_strdup(request->rest),
                       .from = INT64_MIN,
                       .before = INT64_MAX};
  tt_collector_hold(job->collector);  // the thread that works on it may outlive us
  tt_status status = read_job(request, job, &error);
  if (status == TT_OK) {
    tt_web_respond_later(request, work_on, job, free_job);
  } else {
    tt_web_respond_error(request, status, error.text);
    free_job(job);
  }
  return true;
}
