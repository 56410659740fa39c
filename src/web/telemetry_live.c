/* telemetry_live.c: the WebSocket /telemetry/live: samples as they come, to readers of any speed. */
#include "web/telemetry_routes_internal.h"

/** Samples waiting for one live reader. */
#define LIVE_QUEUE 10000
/** A frame to a live reader is closed at this size. */
#define LIVE_FRAME 16384

typedef struct live_client {
  tt_telemetry_routes *routes;
  tt_feed_reader *reader;
  tt_web_stream *stream;
  bool xml;
} live_client;

/** One sample a line, until the frame is full: {"lost":N} before what follows a gap. */
static bool next_live_frame(void *context, GString *frame, bool *binary) {
  live_client *client = context;
  *binary = false;
  while (frame->len < LIVE_FRAME) {
    uint64_t lost;
    tt_feed_sample *sample = tt_feed_next(client->reader, &lost);
    if (!sample) break;
    if (lost && client->xml)
      g_string_append_printf(frame, "<LOST samples=\"%" G_GUINT64_FORMAT "\"/>\n", lost);
    if (lost && !client->xml)
      g_string_append_printf(frame, "{\"lost\":%" G_GUINT64_FORMAT "}\n", lost);
    if (client->xml) {
      tt_feed_append_xml(frame, sample);
    } else {
      tt_feed_append_json(frame, sample);
    }
    g_string_append_c(frame, '\n');
    tt_feed_sample_unref(sample);
  }
  return frame->len > 0;
}

static void live_closed(void *context) {
  live_client *client = context;
  if (client->reader) tt_collector_unsubscribe(client->routes->collector, client->reader);
  tt_web_stream_unref(client->stream);
  g_free(client);
}

static void wake_live(void *context) {
  live_client *client = context;
  tt_web_stream_wake(client->stream);
}

static void close_socket(SoupWebsocketConnection *connection, const char *reason) {
  char text[124];
  g_strlcpy(text, reason, sizeof text);
  soup_websocket_connection_close(connection, SOUP_WEBSOCKET_CLOSE_POLICY_VIOLATION, text);
}

/** /telemetry/live?device=…&fields=…&format=json (or xml) */
void tt_telemetry_live_open(void *context, const tt_web_request *request,
                            SoupWebsocketConnection *connection) {
  tt_telemetry_routes *routes = context;
  tt_error error = {""};
  tt_table_query query;
  tt_status status = tt_tables_parse_query(request, &query, &error);
  if (status != TT_OK) {
    close_socket(connection, error.text);
    return;
  }
  live_client *client = g_new0(live_client, 1);
  client->routes = routes;
  client->xml = query.format == TT_TABLE_XML;
  static const tt_web_stream_source source = {next_live_frame, live_closed};
  client->stream = tt_web_stream_new(request, connection, &source, client);
  tt_feed_filter filter = {(const char *const *)query.devices, (const char *const *)query.fields};
  client->reader =
      tt_collector_subscribe(routes->collector, &filter, LIVE_QUEUE, wake_live, client);
  tt_table_query_clear(&query);
  if (!client->reader) close_socket(connection, "too many live readers");
}
