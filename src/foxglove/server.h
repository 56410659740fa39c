/* server.h: a server of Foxglove's WebSocket protocol (both subprotocols): channels, parameters, services, and the controls of
 * a kept run. What they mean is for whoever opens it.
 *
 * All of it belongs to the thread of its tt_net. A client gets of each channel it subscribed to the newest message; one that
 * reads too slowly loses messages, never the rest. What channels keep reaches every subscriber whole.
 */
#ifndef TT_FOXGLOVE_SERVER_H
#define TT_FOXGLOVE_SERVER_H

#include "foxglove/message.h"
#include "net/net.h"

#define TT_FOXGLOVE_MOST_CHANNELS 20000 /**< ours */
#define TT_FOXGLOVE_MOST_OWN 64         /**< channels of a client */

typedef struct tt_foxglove_server tt_foxglove_server;

/** Called in the loop's thread. Who is called with is a program, a page of this machine, or one of `origins`. */
typedef struct tt_foxglove_handler {
  /** Why no parameter is taken now; NULL: they are. */
  const char *(*why_not)(void *context);
  /** A client set a parameter, by a request or by a message {NAME: number} on its own channel "/commands". */
  void (*on_parameter)(void *context, int parameter, double value);
  /** The client that set it last is gone. */
  void (*on_released)(void *context, int parameter);
  /** A client called a service, with JSON, not terminated. False: `text`, terminated by the callee, says why not; true: it
   *  says what was done. */
  bool (*on_call)(void *context, int service, const char *json, size_t size, char *text,
                  size_t text_size);
  /** A client used the controls; the answer is tt_foxglove_server_playback() with the request's id. */
  void (*on_playback)(void *context, const tt_foxglove_binary *request);
} tt_foxglove_handler;

typedef struct tt_foxglove_options {
  const char *address;
  tt_allow allow;
  const char *info;           /**< the message serverInfo, in JSON */
  const char *const *origins; /**< of pages elsewhere that may command, too; outlive it */
  int origin_count;
  bool commands; /**< parameters can be set, and clients' channels are heard */
  bool playback; /**< the controls are heard */
  tt_foxglove_handler handler;
  void *context;
} tt_foxglove_options;

/** Errors are those of tt_websocket_listen(). */
tt_status tt_foxglove_server_open(tt_net *net, const tt_foxglove_options *options,
                                  tt_foxglove_server **server, tt_error *error);
/** NULL-safe. */
void tt_foxglove_server_close(tt_foxglove_server *server);
const char *tt_foxglove_server_address(const tt_foxglove_server *server);

/* --- before the first client. Their numbers; −1: out of memory, or there are too many --- */

/** A channel of JSON messages; `schema` is JSON Schema. */
int tt_foxglove_add_channel(tt_foxglove_server *server, const char *topic, const char *schema_name,
                            const char *schema);
/** A parameter of type float64, 0 at first, which clients may set from `lower` to `upper`. */
int tt_foxglove_add_parameter(tt_foxglove_server *server, const char *name, double lower,
                              double upper);
/** A service of JSON; `schema` is that of its request. */
int tt_foxglove_add_service(tt_foxglove_server *server, const char *name, const char *schema);

/* --- at any time --- */

/** Whether a message of a channel would reach anybody; `news`: one that is not what was said before. */
bool tt_foxglove_is_wanted(const tt_foxglove_server *server, int channel, bool news);
/** Sends a message, in JSON, to who wants it. */
void tt_foxglove_publish(tt_foxglove_server *server, int channel, bool news, const tt_bytes *json);
/** A message that every subscriber gets, also those to come, in the order of these calls. */
tt_status tt_foxglove_keep(tt_foxglove_server *server, int channel, const tt_bytes *json);
/** Clients have forgotten what channels keep: they get it again. */
void tt_foxglove_repeat_kept(tt_foxglove_server *server);
/** A parameter's value; who follows it is told. What a client sets is its value until then. */
void tt_foxglove_set_parameter(tt_foxglove_server *server, int parameter, double value);
/** The time that clients go by, ns, and of messages from now on. */
void tt_foxglove_set_time(tt_foxglove_server *server, uint64_t time_ns);
/** How a kept run is shown; to those that know of such. `id` NULL: nobody asked. */
void tt_foxglove_server_playback(tt_foxglove_server *server, tt_foxglove_playing playing,
                                 uint64_t time_ns, double speed, bool sought, const char *id,
                                 size_t id_size);
/** Sends what waits. Call it at least every 5 ms of interest. */
void tt_foxglove_flush(tt_foxglove_server *server);
/** Clients that are connected. */
int tt_foxglove_client_count(const tt_foxglove_server *server);

#endif
