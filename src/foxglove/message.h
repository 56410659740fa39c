/* message.h: what clients and servers of Foxglove's WebSocket protocol say to each other, as bytes. Pure: no I/O.
 *
 * Sources: foxglove/ws-protocol, docs/spec.md (subprotocol foxglove.websocket.v1); the playback messages are those of
 * foxglove-sdk (foxglove.sdk.v1). Text is JSON, one object with the member "op"; binary messages begin with an opcode and are
 * little-endian.
 */
#ifndef TT_FOXGLOVE_MESSAGE_H
#define TT_FOXGLOVE_MESSAGE_H

#include "base/bytes.h"
#include "base/status.h"

#include <json-c/json.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_FOXGLOVE_MOST_ITEMS 4096 /**< of one request */
#define TT_FOXGLOVE_NAME 256        /**< bytes of the longest name, with its end */

/* --- text that a client sends --- */

/** What it asks for. */
typedef enum tt_foxglove_op {
  TT_FOXGLOVE_SUBSCRIBE,
  TT_FOXGLOVE_UNSUBSCRIBE,
  TT_FOXGLOVE_ADVERTISE,
  TT_FOXGLOVE_UNADVERTISE,
  TT_FOXGLOVE_GET_PARAMETERS,
  TT_FOXGLOVE_SET_PARAMETERS,
  TT_FOXGLOVE_FOLLOW_PARAMETERS, /**< subscribeParameterUpdates */
  TT_FOXGLOVE_LEAVE_PARAMETERS,  /**< unsubscribeParameterUpdates */
} tt_foxglove_op;

/** One request. Texts are those of `frame`, which is the reader's to json_object_put(). */
typedef struct tt_foxglove_request {
  tt_foxglove_op op;
  struct json_object *frame;
  struct json_object *items; /**< a list of `count` */
  size_t count;
  const char *id; /**< of parameters: to be repeated in the answer; "": none */
} tt_foxglove_request;

/** TT_BAD_MESSAGE: it is no request, or one that means nothing here; `error` says why, for people. */
tt_status tt_foxglove_read_request(const char *text, size_t size, tt_foxglove_request *request,
                                   tt_error *error);

/* Items of a request. False: this one is malformed, and left out. */

/** The client's number for it, and the channel. */
bool tt_foxglove_read_subscription(const tt_foxglove_request *request, size_t index, uint32_t *id,
                                   uint32_t *channel);
/** Of what is ended: a number. */
bool tt_foxglove_read_id(const tt_foxglove_request *request, size_t index, uint32_t *id);
/** A client's own channel. */
bool tt_foxglove_read_channel(const tt_foxglove_request *request, size_t index, uint32_t *id,
                              const char **topic, const char **encoding);
/** The name of a parameter that is asked for. */
bool tt_foxglove_read_name(const tt_foxglove_request *request, size_t index, const char **name);
/** A parameter that is set, to a finite number. */
bool tt_foxglove_read_parameter(const tt_foxglove_request *request, size_t index, const char **name,
                                double *value);

/** A value as a finite number. False: it is none. */
bool tt_foxglove_number(struct json_object *value, double *number);

/* --- binary messages that a client sends --- */

typedef enum tt_foxglove_kind {
  TT_FOXGLOVE_MESSAGE = 1,  /**< on a channel of its own */
  TT_FOXGLOVE_CALL = 2,     /**< of a service */
  TT_FOXGLOVE_PLAYBACK = 3, /**< of the controls below the picture */
} tt_foxglove_kind;

/** One binary message; pointers are into its bytes. */
typedef struct tt_foxglove_binary {
  tt_foxglove_kind kind;
  uint32_t channel;       /**< MESSAGE */
  uint32_t service, call; /**< CALL */
  const char *encoding;   /**< CALL; not terminated */
  size_t encoding_size;
  bool pause;     /**< PLAYBACK; else play */
  double speed;   /**< PLAYBACK: factor of real time, finite */
  bool seeks;     /**< PLAYBACK */
  uint64_t time;  /**< PLAYBACK, ns: where to */
  const char *id; /**< PLAYBACK: of the request; not terminated */
  size_t id_size;
  const uint8_t *payload; /**< MESSAGE, CALL */
  size_t payload_size;
} tt_foxglove_binary;

/** TT_BAD_MESSAGE: it is none, or cut. */
tt_status tt_foxglove_read_binary(const uint8_t *bytes, size_t size, tt_foxglove_binary *message);

/* --- binary messages that a server sends; out of memory: to->failed --- */

/** A message of `subscription`. */
void tt_foxglove_put_message(tt_bytes *to, uint32_t subscription, uint64_t time_ns,
                             const void *payload, size_t size);
void tt_foxglove_put_time(tt_bytes *to, uint64_t time_ns);
/** The answer to a call, in JSON. */
void tt_foxglove_put_answer(tt_bytes *to, uint32_t service, uint32_t call, const char *json);

/** How a kept run is shown. */
typedef enum tt_foxglove_playing {
  TT_FOXGLOVE_PLAYING = 0,
  TT_FOXGLOVE_PAUSED = 1,
  TT_FOXGLOVE_ENDED = 3,
} tt_foxglove_playing;

/** `id` is that of the request that is answered; NULL: none is. */
void tt_foxglove_put_playback(tt_bytes *to, tt_foxglove_playing playing, uint64_t time_ns,
                              double speed, bool sought, const char *id, size_t id_size);

#endif
