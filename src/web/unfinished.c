/* unfinished.c: WebSocket frames that never end.
 *
 * libsoup tells of whole messages only; web/input.h counts what came. Where more came than whole messages
 * account for, either a frame is under way or the client pinged: a ping tells, since its answer can't stand within a frame.
 */
#include "web/internal.h"

#define SECOND 1000000
/** s for a frame, from its first byte. */
#define FRAME_DEADLINE 5
/** s between pings: of a connection at rest, and of one with a frame under way. */
#define PING 20
#define PING_SOON 1

static void ping_every(tt_web_connection *connection, unsigned seconds) {
  soup_websocket_connection_set_keepalive_interval(connection->frames, seconds);
}

static void on_whole(SoupWebsocketConnection *frames, tt_web_connection *connection) {
  (void)frames;
  tt_web_input_whole(connection->input);
  if (!connection->unfinished) return;
  connection->unfinished = 0;
  ping_every(connection, PING);
}

static void on_message(SoupWebsocketConnection *frames, int type, GBytes *message, gpointer data) {
  (void)type, (void)message;
  on_whole(frames, data);
}

static void on_pong(SoupWebsocketConnection *frames, GBytes *message, gpointer data) {
  (void)message;
  on_whole(frames, data);
}

void tt_web_watch_frames(tt_web_connection *connection, SoupWebsocketConnection *frames,
                         size_t message) {
  if (!connection) return;
  connection->frames = frames;
  tt_web_input_expect_frames(connection->input, message);
  g_object_add_weak_pointer(G_OBJECT(frames), (gpointer *)&connection->frames);
  g_signal_connect(frames, "message", G_CALLBACK(on_message), connection);
  g_signal_connect(frames, "pong", G_CALLBACK(on_pong), connection);
  ping_every(connection, PING);
}

void tt_web_unwatch_frames(tt_web_connection *connection) {
  if (!connection->frames) return;
  g_signal_handlers_disconnect_by_data(connection->frames, connection);
  g_object_remove_weak_pointer(G_OBJECT(connection->frames), (gpointer *)&connection->frames);
  connection->frames = NULL;
}

bool tt_web_frame_is_late(tt_web_connection *connection, int64_t now) {
  if (!connection->frames) return false;
  if (connection->unfinished) return now - connection->unfinished > FRAME_DEADLINE * SECOND;
  if (!tt_web_input_unfinished(connection->input)) return false;
  connection->unfinished = now;
  ping_every(connection, PING_SOON);
  return false;
}
