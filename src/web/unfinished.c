/* unfinished.c: WebSocket frames that never end.
 *
 * libsoup tells of whole messages only, so the kernel is asked how many bytes came. Where more came than whole messages
 * account for, either a frame is under way or the client pinged: a ping tells, since its answer can't stand within a frame.
 */
#include "web/internal.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define SECOND 1000000
/** s for a frame, from its first byte. */
#define FRAME_DEADLINE 5
/** s between pings: of a connection at rest, and of one with a frame under way. */
#define PING 20
#define PING_SOON 1

/** Bytes that came and that libsoup has read. */
static uint64_t bytes_read(const tt_web_connection *connection) {
  int fd = g_socket_get_fd(connection->socket), waiting = 0;
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) || ioctl(fd, SIOCINQ, &waiting)) return 0;
  // An older kernel does not tell: nobody is cut there.
  if (size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
    return 0;
  return (uint64_t)info.tcpi_bytes_received - (unsigned)waiting;
}

static void ping_every(tt_web_connection *connection, unsigned seconds) {
  soup_websocket_connection_set_keepalive_interval(connection->frames, seconds);
}

static void on_whole(SoupWebsocketConnection *frames, tt_web_connection *connection) {
  (void)frames;
  connection->whole = bytes_read(connection);
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

void tt_web_watch_frames(tt_web_connection *connection, SoupWebsocketConnection *frames) {
  if (!connection) return;
  connection->frames = frames;
  connection->whole = bytes_read(connection);
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
  if (bytes_read(connection) <= connection->whole) return false;
  connection->unfinished = now;
  ping_every(connection, PING_SOON);
  return false;
}
