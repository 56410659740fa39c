/* websocket.c: an open connection, whoever made it: bytes to frames to messages and back. */
#include "websocket/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define CHUNK                                                                                      \
  512 /* bytes given to wslay at once: it makes frames of what it has before it asks for more */
#define GOODBYE 1.0      /* s that a peer has to answer a close */
#define LONGEST_WHY 120u /* bytes of a close frame's reason */

tt_websocket_options tt_websocket_options_default(void) {
  return (tt_websocket_options){.max_connections = 16,
                                .max_message = 1 << 20,
                                .max_queued = 1 << 20,
                                .frames_a_turn = 64,
                                .handshake_timeout = 5,
                                .reconnect = 1};
}

/* ---- memory ---- */

static void on_handle_closed(uv_handle_t *handle) {
  tt_websocket *websocket = handle->data;
  if (--websocket->handles > 0) return;
  wslay_event_context_free(websocket->frames);
  tt_bytes_free(&websocket->input);
  tt_bytes_free(&websocket->output);
  free(websocket);
}

/* Its owner, who may go now, knows it no longer. */
static void unlink_connection(tt_websocket *websocket) {
  if (websocket->previous)
    websocket->previous->next = websocket->next;
  else
    websocket->owner->connections = websocket->next;
  if (websocket->next) websocket->next->previous = websocket->previous;
}

/* Frees it with the loop's next turn: who calls may stand in one of its callbacks. */
static void release(tt_websocket *websocket) {
  websocket->dropped = true;
  websocket->net->loop_due = true;
  uv_close((uv_handle_t *)&websocket->timer, on_handle_closed);
  uv_close((uv_handle_t *)&websocket->more, on_handle_closed);
}

void tt_websocket_forget_all(tt_websocket_owner *owner) {
  while (owner->connections) {
    tt_websocket *first = owner->connections;
    unlink_connection(first);
    release(first);
  }
}

/* ---- the end ---- */

/* Closes at once; the handler hears of it with the loop's next turn. The first reason holds. */
static void drop(tt_websocket *websocket, const char *reason) {
  if (websocket->dropped) return;
  if (!websocket->reason[0]) snprintf(websocket->reason, sizeof websocket->reason, "%s", reason);
  websocket->dropped = true;
  tt_tcp_close(websocket->tcp, websocket->reason);
}

void tt_websocket_on_gone(void *context, tt_tcp *tcp, const char *reason) {
  tt_websocket *websocket = context;
  (void)tcp;
  if (!websocket) return;
  if (!websocket->reason[0]) snprintf(websocket->reason, sizeof websocket->reason, "%s", reason);
  unlink_connection(websocket);
  if (websocket->opened)
    websocket->handler.on_close(websocket->context, websocket, websocket->code, websocket->reason);
  else if (!websocket
                ->is_server) /* who came to a server and asked for nothing is nobody's concern */
    websocket->handler.on_close(websocket->context, NULL, 0, websocket->reason);
  release(websocket);
}

/* ---- time ---- */

static void start_timer(tt_websocket *websocket, double seconds, uv_timer_cb callback,
                        bool repeats) {
  uint64_t ms = seconds * 1000 < 1 ? 1 : (uint64_t)(seconds * 1000);
  uv_update_time(&websocket->net->loop);
  uv_timer_start(&websocket->timer, callback, ms, repeats ? ms : 0);
  websocket->net->loop_due = true; /* so that a sleep knows of it */
}

static void on_deadline(uv_timer_t *timer) {
  tt_websocket *websocket = timer->data;
  drop(websocket,
       websocket->opened ? "the peer did not answer our goodbye" : "the handshake took too long");
}

/* ---- out ---- */

static ssize_t give_bytes(wslay_event_context_ptr frames, const uint8_t *bytes, size_t size,
                          int flags, void *context) {
  tt_websocket *websocket = context;
  (void)flags;
  tt_bytes_append(&websocket->output, bytes, size);
  if (!websocket->output.failed) return (ssize_t)size;
  wslay_event_set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
  return -1;
}

/* A mask keeps what a page sends from looking like another protocol to a proxy (RFC 6455, section 10.3). */
static int make_mask(wslay_event_context_ptr frames, uint8_t *mask, size_t size, void *context) {
  (void)context;
  if (getrandom(mask, size, 0) == (ssize_t)size) return 0;
  wslay_event_set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
  return -1;
}

static const char *fault(int code) {
  switch (code) {
    case WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA: return "the peer sent text that is not UTF-8";
    case WSLAY_CODE_MESSAGE_TOO_BIG: return "the peer sent too long a message";
    default: return "the peer broke the protocol";
  }
}

/* Sends the frames that are queued, with one call; ends the connection when both sides have said goodbye. */
static tt_status settle(tt_websocket *websocket) {
  wslay_event_context_ptr frames = websocket->frames;
  if (websocket->dropped) return TT_CLOSED;
  tt_bytes_cut(&websocket->output, 0);
  if (wslay_event_want_write(frames) && wslay_event_send(frames) != 0) {
    drop(websocket, "out of memory");
    return TT_FULL;
  }
  if (websocket->output.size > 0) {
    tt_status sent = tt_tcp_send(websocket->tcp, websocket->output.data, websocket->output.size);
    if (sent != TT_OK) {
      if (sent == TT_FULL) drop(websocket, "too slow a reader");
      websocket->dropped = true; /* tcp closed itself, and tells its reason */
      return sent;
    }
  }
  if (!wslay_event_get_close_sent(frames)) return TT_OK;
  if (wslay_event_get_close_received(frames))
    drop(websocket, "closed by peer");
  else if (!wslay_event_get_read_enabled(frames))
    drop(websocket, fault(wslay_event_get_status_code_sent(frames)));
  return TT_OK;
}

tt_status tt_websocket_send(tt_websocket *websocket, bool text, const void *bytes, size_t size) {
  struct wslay_event_msg message = {
      .opcode = text ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME, .msg = bytes, .msg_length = size};
  if (websocket->dropped || websocket->leaving || !websocket->opened) return TT_CLOSED;
  int queued = wslay_event_queue_msg(websocket->frames, &message);
  if (queued == WSLAY_ERR_NO_MORE_MSG) return TT_CLOSED; /* it said goodbye in this turn */
  if (queued == 0) return settle(websocket);
  drop(websocket, "out of memory");
  return TT_FULL;
}

void tt_websocket_close(tt_websocket *websocket, int code, const char *reason) {
  size_t size = strnlen(reason, LONGEST_WHY);
  if (websocket->dropped || websocket->leaving) return;
  while (size == LONGEST_WHY && size > 0 && ((unsigned char)reason[size] & 0xC0) == 0x80)
    size--; /* no half character */
  websocket->leaving = true;
  snprintf(websocket->reason, sizeof websocket->reason, "%s", reason);
  if (!websocket->opened || wslay_event_queue_close(websocket->frames, (uint16_t)code,
                                                    (const uint8_t *)reason, size) != 0) {
    drop(websocket, reason);
    return;
  }
  start_timer(websocket, GOODBYE, on_deadline, false);
  settle(websocket);
}

/* Pings are counted, not seconds: where this thread stood still for longer, what came meanwhile is read first. */
static void on_ping(uv_timer_t *timer) {
  tt_websocket *websocket = timer->data;
  struct wslay_event_msg ping = {.opcode = WSLAY_PING};
  if (websocket->pings++ == websocket->most_pings) {
    drop(websocket, "no answer to our pings");
    return;
  }
  wslay_event_queue_msg(websocket->frames, &ping);
  settle(websocket);
}

void tt_websocket_ping(tt_websocket *websocket, double period, double timeout) {
  if (websocket->dropped || websocket->leaving) return;
  websocket->most_pings = timeout > period ? (int)(timeout / period) : 1;
  websocket->pings = 0;
  start_timer(websocket, period, on_ping, true);
}

/* ---- in ---- */

static ssize_t take_bytes(wslay_event_context_ptr frames, uint8_t *buffer, size_t size, int flags,
                          void *context) {
  tt_websocket *websocket = context;
  size_t waiting = websocket->input.size - websocket->input_at;
  (void)flags;
  if (waiting == 0 || websocket->budget <= 0 || websocket->dropped) {
    wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
    return -1;
  }
  if (size > waiting) size = waiting;
  if (size > CHUNK) size = CHUNK;
  memcpy(buffer, websocket->input.data + websocket->input_at, size);
  websocket->input_at += size;
  return (ssize_t)size;
}

/* wslay takes codes that are registered later, like 1012, for a fault, and forgets what came with them. */
static void on_frame_start(wslay_event_context_ptr frames,
                           const struct wslay_event_on_frame_recv_start_arg *frame, void *context) {
  tt_websocket *websocket = context;
  (void)frames;
  websocket->in_goodbye = frame->opcode == WSLAY_CONNECTION_CLOSE;
}

static void on_frame_part(wslay_event_context_ptr frames,
                          const struct wslay_event_on_frame_recv_chunk_arg *part, void *context) {
  tt_websocket *websocket = context;
  (void)frames;
  if (!websocket->in_goodbye ||
      part->data_length > sizeof websocket->goodbye - websocket->goodbye_size)
    return;
  memcpy(websocket->goodbye + websocket->goodbye_size, part->data, part->data_length);
  websocket->goodbye_size += part->data_length;
}

static void on_frame_end(wslay_event_context_ptr frames, void *context) {
  tt_websocket *websocket = context;
  (void)frames;
  websocket->budget--;
  if (!websocket->in_goodbye) return;
  const uint8_t *bytes = websocket->goodbye;
  size_t size = websocket->goodbye_size;
  websocket->code = size >= 2 ? bytes[0] << 8 | bytes[1] : WSLAY_CODE_NO_STATUS_RCVD;
  if (size > 2 && !websocket->leaving)
    snprintf(websocket->reason, sizeof websocket->reason, "%.*s", (int)size - 2,
             (const char *)bytes + 2);
}

static void on_whole(wslay_event_context_ptr frames, const struct wslay_event_on_msg_recv_arg *got,
                     void *context) {
  tt_websocket *websocket = context;
  (void)frames;
  if (websocket->dropped || websocket->leaving) return;
  if (got->opcode == WSLAY_TEXT_FRAME || got->opcode == WSLAY_BINARY_FRAME)
    websocket->handler.on_message(websocket->context, websocket, got->opcode == WSLAY_TEXT_FRAME,
                                  got->msg, got->msg_length);
}

static void read_frames(tt_websocket *websocket);

static void on_more(uv_idle_t *more) {
  tt_websocket *websocket = more->data;
  websocket->net->callbacks++;
  read_frames(websocket);
}

/* While frames wait for their turn, TCP reads no more. */
static void let_wait(tt_websocket *websocket, bool waits) {
  websocket->net->loop_due |= waits;
  if (waits == (bool)uv_is_active((uv_handle_t *)&websocket->more)) return;
  if (waits)
    uv_idle_start(&websocket->more, on_more);
  else
    uv_idle_stop(&websocket->more);
  tt_tcp_pause(websocket->tcp, waits);
}

/* Makes messages of what waits, a turn's worth. */
static void read_frames(tt_websocket *websocket) {
  websocket->budget = websocket->frames_a_turn;
  websocket->pings = 0; /* who is still listened to is not silent */
  if (wslay_event_recv(websocket->frames) == WSLAY_ERR_NOMEM) drop(websocket, "out of memory");
  settle(websocket); /* pongs, the answer to a goodbye, and our own to who broke the protocol */
  if (websocket->dropped)
    uv_idle_stop(&websocket->more);
  else
    let_wait(websocket, websocket->input_at < websocket->input.size);
}

static void read_head(tt_websocket *websocket) {
  tt_error why = {""};
  size_t size = tt_handshake_head(websocket->input.data, websocket->input.size);
  if (size == 0 && websocket->input.size <= TT_WEBSOCKET_HEAD) return;
  if (size == 0 || size > TT_WEBSOCKET_HEAD) {
    drop(websocket, "the handshake's head is too long");
    return;
  }
  websocket->input_at = size;
  if (websocket->owner->on_head(websocket->owner, websocket, (const char *)websocket->input.data,
                                size, &why) != TT_OK)
    drop(websocket, why.text);
}

void tt_websocket_on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  tt_websocket *websocket = context;
  (void)tcp;
  if (!websocket || websocket->dropped) return;
  if (websocket->input_at > 0) {
    size_t waiting = websocket->input.size - websocket->input_at;
    memmove(websocket->input.data, websocket->input.data + websocket->input_at, waiting);
    tt_bytes_cut(&websocket->input, waiting);
    websocket->input_at = 0;
  }
  tt_bytes_append(&websocket->input, bytes, size);
  if (websocket->input.failed) {
    drop(websocket, "out of memory");
    return;
  }
  if (!websocket->opened) read_head(websocket);
  if (websocket->opened && !websocket->dropped) read_frames(websocket);
}

void tt_websocket_opened(tt_websocket *websocket) {
  websocket->opened = true;
  uv_timer_stop(&websocket->timer);
  websocket->handler.on_open(websocket->context, websocket);
}

/* ---- the beginning ---- */

static int make_frames(tt_websocket *websocket, const tt_websocket_options *options) {
  static const struct wslay_event_callbacks callbacks = {
      .recv_callback = take_bytes,
      .send_callback = give_bytes,
      .genmask_callback = make_mask,
      .on_frame_recv_start_callback = on_frame_start,
      .on_frame_recv_chunk_callback = on_frame_part,
      .on_frame_recv_end_callback = on_frame_end,
      .on_msg_recv_callback = on_whole};
  int made = websocket->is_server
                 ? wslay_event_context_server_init(&websocket->frames, &callbacks, websocket)
                 : wslay_event_context_client_init(&websocket->frames, &callbacks, websocket);
  if (made == 0)
    wslay_event_config_set_max_recv_msg_length(websocket->frames, options->max_message);
  return made;
}

tt_websocket *tt_websocket_new(tt_net *net, tt_tcp *tcp, const tt_websocket_options *options,
                               tt_websocket_owner *owner, bool is_server) {
  tt_websocket *websocket = calloc(1, sizeof *websocket);
  if (websocket) websocket->is_server = is_server;
  if (!websocket || make_frames(websocket, options) != 0) {
    free(websocket);
    tt_tcp_set_context(tcp, NULL);
    tt_tcp_close(tcp, "out of memory");
    return NULL;
  }
  websocket->net = net;
  websocket->tcp = tcp;
  websocket->owner = owner;
  websocket->next = owner->connections;
  if (websocket->next) websocket->next->previous = websocket;
  owner->connections = websocket;
  websocket->handler = options->handler;
  websocket->context = options->context;
  websocket->frames_a_turn = options->frames_a_turn;
  websocket->code = WSLAY_CODE_ABNORMAL_CLOSURE;
  uv_timer_init(&net->loop, &websocket->timer);
  uv_idle_init(&net->loop, &websocket->more);
  websocket->handles = 2;
  websocket->timer.data = websocket->more.data = websocket;
  start_timer(websocket, options->handshake_timeout, on_deadline, false);
  tt_tcp_set_context(tcp, websocket);
  return websocket;
}

const char *tt_websocket_peer(const tt_websocket *websocket) { return tt_tcp_peer(websocket->tcp); }

const char *tt_websocket_path(const tt_websocket *websocket) { return websocket->path; }

const char *tt_websocket_protocol(const tt_websocket *websocket) { return websocket->protocol; }

const char *tt_websocket_origin(const tt_websocket *websocket) { return websocket->origin; }

bool tt_websocket_is_trusted(const tt_websocket *websocket) { return websocket->trusted; }

size_t tt_websocket_queued(const tt_websocket *websocket) {
  return websocket->dropped ? 0 : tt_tcp_queued(websocket->tcp);
}

void tt_websocket_set_context(tt_websocket *websocket, void *context) {
  websocket->context = context;
}
