/* telemetry_tables.c: GET /telemetry.xml, .csv, .json: tables of any size, streamed; and /telemetry/latest.json. */
#include "base/log.h"
#include "web/telemetry_routes_internal.h"

#include <string.h>

/** What writes a document: tt_table_write() or tt_table_write_latest(). */
typedef tt_status write_document(tt_collector *collector, const tt_table_query *query,
                                 const tt_table_sink *sink, tt_error *error);

typedef struct table_job {
  tt_collector *collector;
  tt_table_query query;
  write_document *write;
} table_job;

static void free_job(void *context) {
  table_job *job = context;
  tt_collector_release(job->collector);
  tt_table_query_clear(&job->query);
  g_free(job);
}

static tt_status produce_table(void *context, const tt_web_sink *sink, tt_error *error) {
  table_job *job = context;
  tt_table_sink out = {sink->write, sink->sink};
  tt_status status = job->write(job->collector, &job->query, &out, error);
  if (status != TT_OK && status != TT_CLOSED && status != TT_NOT_FOUND && status != TT_INVALID &&
      status != TT_FULL)
    tt_log_warning("telemetry: a table was cut off: %s", error->text);
  return tt_telemetry_explain_store(status, error);
}

tt_status tt_telemetry_explain_store(tt_status status, tt_error *error) {
  if (status != TT_FAILED) return status;
  const tt_error trouble = *error;
  return tt_fail(error, TT_FULL, "the store can't be asked now: %.900s; try again once it can",
                 trouble.text);
}

/** The query without the token, which is nobody's key but the server's. */
static char *without_token(const char *query) {
  GString *kept = g_string_new(NULL);
  char **pairs = g_strsplit(query ? query : "", "&", -1);
  for (char **pair = pairs; *pair; pair++) {
    if (!g_str_has_prefix(*pair, "token="))
      g_string_append_printf(kept, "%s%s", kept->len ? "&" : "", *pair);
  }
  g_strfreev(pairs);
  return g_string_free(kept, FALSE);
}

tt_status tt_tables_parse_query(const tt_web_request *request, tt_table_query *query,
                                tt_error *error) {
  char *text = without_token(request->query);
  tt_status status = tt_table_query_parse(text, tt_collector_now(), query, error);
  g_free(text);
  return status;
}

/** Answers with a document of what the query asks for. */
static void respond(tt_telemetry_routes *routes, const tt_web_request *request,
                    write_document *write, tt_table_format format) {
  table_job *job = g_new0(table_job, 1);
  job->collector = routes->collector;
  tt_collector_hold(job->collector);  // the thread that writes it may outlive us
  job->write = write;
  tt_error error = {""};
  tt_status status = tt_tables_parse_query(request, &job->query, &error);
  if (status == TT_OK) status = tt_table_check(routes->collector, &job->query, &error);
  if (status != TT_OK) {
    tt_web_respond_error(request, status, error.text);
    free_job(job);
    return;
  }
  job->query.format = format;
  tt_web_respond_streaming(request, tt_table_content_type(format), produce_table, job, free_job);
}

void tt_tables_handle(void *context, const tt_web_request *request) {
  respond(context, request, tt_table_write,
          g_str_has_suffix(request->path, ".xml")   ? TT_TABLE_XML
          : g_str_has_suffix(request->path, ".csv") ? TT_TABLE_CSV
                                                    : TT_TABLE_JSON);
}

void tt_tables_handle_latest(void *context, const tt_web_request *request) {
  respond(context, request, tt_table_write_latest, TT_TABLE_JSON);
}
