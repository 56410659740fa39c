/* telemetry_formats.c */
#include "web/telemetry_formats.h"

#include "telemetry/json_message.h"
#include "telemetry/line_protocol.h"
#include "telemetry/text.h"

#include <string.h>

/* --- MESSAGE --- */

static tt_status open_xml(const tt_telemetry_routes *routes, const tt_web_request *request,
                          const tt_message_handler *handler, void *context, void **decoder,
                          tt_error *error) {
  (void)routes, (void)request;
  tt_message_limits limits = tt_message_limits_default();
  *decoder = tt_message_parser_new(&limits, handler, context);
  return *decoder ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

static void feed_xml(void *decoder, const void *bytes, size_t size) {
  tt_message_parser_feed(decoder, bytes, size);
}

static int64_t xml_begun(const void *decoder) { return tt_message_parser_begun(decoder); }
static void end_xml(void *decoder) { tt_message_parser_end(decoder); }
static void free_xml(void *decoder) { tt_message_parser_free(decoder); }

static unsigned answer_messages(const tt_answer *result, GString *body) {
  tt_answer_append(result, body);
  return result->full ? 503 : result->code ? result->code : result->refused ? 400 : 200;
}

const tt_upload_format tt_upload_xml = {.source = "HTTP",
                                        .open = open_xml,
                                        .feed = feed_xml,
                                        .begun = xml_begun,
                                        .end = end_xml,
                                        .free = free_xml,
                                        .answer = answer_messages};

/* --- JSON --- */

static tt_status open_json(const tt_telemetry_routes *routes, const tt_web_request *request,
                           const tt_message_handler *handler, void *context, void **decoder,
                           tt_error *error) {
  (void)routes, (void)request;
  tt_message_limits limits = tt_message_limits_default();
  *decoder = tt_json_parser_new(&limits, handler, context);
  return *decoder ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

static void feed_json(void *decoder, const void *bytes, size_t size) {
  tt_json_parser_feed(decoder, bytes, size);
}

static int64_t json_begun(const void *decoder) { return tt_json_parser_begun(decoder); }
static void end_json(void *decoder) { tt_json_parser_end(decoder); }
static void free_json(void *decoder) { tt_json_parser_free(decoder); }

const tt_upload_format tt_upload_json = {.source = "HTTP (JSON)",
                                         .open = open_json,
                                         .feed = feed_json,
                                         .begun = json_begun,
                                         .end = end_json,
                                         .free = free_json,
                                         .answer = answer_messages};

/* --- line protocol --- */

/** What decodes a body, and the texts of its request. */
typedef struct lines {
  tt_line_parser *parser;
  GHashTable *query; /**< NULL: there is none */
} lines;

static void free_lines(void *decoder) {
  lines *freed = decoder;
  tt_line_parser_free(freed->parser);
  if (freed->query) g_hash_table_unref(freed->query);
  g_free(freed);
}

static const char *parameter(const lines *of, const char *name) {
  const char *text = of->query ? g_hash_table_lookup(of->query, name) : NULL;
  return text && *text ? text : NULL;
}

/** Of the query: what a timestamp counts, and what the device says of itself. */
static tt_status read_parameters(const lines *from, tt_line_options *options, tt_error *error) {
  const char *precision = parameter(from, "precision"), *time = parameter(from, "time");
  gint64 count;
  options->unit = precision ? tt_line_unit(precision) : 1;
  if (!options->unit)
    return tt_fail(error, TT_INVALID, "precision is one of ns, us, ms, s, m and h");
  options->boot = parameter(from, "boot");
  options->time = TT_MESSAGE_NO_TIME;
  if (!time) return TT_OK;
  if (!g_ascii_string_to_signed(time, 10, G_MININT64, G_MAXINT64, &count, NULL) ||
      !tt_line_time(count, options->unit, &options->time))
    return tt_fail(error, TT_INVALID,
                   "time is the device's clock when this is sent, a whole number as the "
                   "timestamps of the points");
  return TT_OK;
}

/** libsoup takes the end of a connection for the end of such a body. */
static bool is_chunked(const tt_web_request *request) {
  SoupMessageHeaders *headers = soup_server_message_get_request_headers(request->message);
  return soup_message_headers_get_encoding(headers) == SOUP_ENCODING_CHUNKED;
}

static tt_status open_lines(const tt_telemetry_routes *routes, const tt_web_request *request,
                            const tt_message_handler *handler, void *context, void **decoder,
                            tt_error *error) {
  lines *made = g_new0(lines, 1);
  made->query = request->query ? soup_form_decode(request->query) : NULL;
  tt_line_options options = {.limits = tt_message_limits_default(),
                             .device_tags = (const char *const *)routes->device_tags,
                             .ignored_tags = (const char *const *)routes->ignored_tags,
                             .whole_lines = is_chunked(request)};
  tt_status status = tt_web_check_query(request, error);
  if (status == TT_OK) status = read_parameters(made, &options, error);
  if (status == TT_OK) made->parser = tt_line_parser_new(&options, handler, context);
  if (status == TT_OK && !made->parser) status = tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK)
    *decoder = made;
  else
    free_lines(made);
  return status;
}

static void feed_lines(void *decoder, const void *bytes, size_t size) {
  tt_line_parser_feed(((lines *)decoder)->parser, bytes, size);
}

static int64_t lines_begun(const void *decoder) {
  return tt_line_parser_begun(((const lines *)decoder)->parser);
}

static void end_lines(void *decoder) { tt_line_parser_end(((lines *)decoder)->parser); }

/** As InfluxDB answers: clients of 1.x look for `error`, those of 2.x for `code` and `message`, and Telegraf for "partial write",
 *  or else it sends the same again for ever. */
static unsigned answer_lines(const tt_answer *result, GString *body) {
  const unsigned status = result->full                         ? 503
                          : result->code                       ? result->code
                          : result->refused || result->dropped ? 400
                                                               : 204;
  if (status == 204) return status;
  GString *text = g_string_new(NULL);
  if (result->full)
    g_string_assign(text, "the store is behind; send it again");
  else if (result->refused)
    g_string_printf(text,
                    "partial write: line %lu, column %lu: %s; %" G_GUINT64_FORMAT
                    " points kept, dropped=%" G_GUINT64_FORMAT,
                    result->first.line, result->first.column, result->first.text, result->taken,
                    result->refused);
  else
    g_string_printf(text, "partial write: %" G_GUINT64_FORMAT " values don't fit their attributes",
                    result->dropped);
  const char *code = status == 503   ? "unavailable"
                     : status == 413 ? "request too large"
                                     : "invalid";
  g_string_append_printf(body, "{\"code\":\"%s\",\"message\":", code);
  tt_append_json(body, text->str);
  g_string_append(body, ",\"error\":");
  tt_append_json(body, text->str);
  g_string_append_c(body, ',');
  if (result->refused) g_string_append_printf(body, "\"line\":%lu,", result->first.line);
  g_string_free(text, TRUE);
  GString *more = g_string_new(NULL);
  answer_messages(result, more);
  g_string_append(body, more->str + 1);
  g_string_free(more, TRUE);
  return status;
}

const tt_upload_format tt_upload_line = {.source = "HTTP (line protocol)",
                                         .open = open_lines,
                                         .feed = feed_lines,
                                         .begun = lines_begun,
                                         .end = end_lines,
                                         .free = free_lines,
                                         .answer = answer_lines};
