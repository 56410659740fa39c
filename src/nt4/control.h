/* control.h: what NetworkTables 4 says in text frames: an array of {"method", "params"}. Pure: no I/O.
 *
 * Source: allwpilib, ntcore/doc/networktables4.adoc, "Text Data Frames". What is malformed is ignored, message by message,
 * as the specification asks.
 */
#ifndef TT_NT4_CONTROL_H
#define TT_NT4_CONTROL_H

#include "base/status.h"

#include <json-c/json.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_NT4_NAME 256            /**< bytes of the longest name of a topic, with its end */
#define TT_NT4_NAMES_A_REQUEST 512 /**< topics or prefixes of one subscription */

/** What a client asks for. */
typedef enum tt_nt4_method {
  TT_NT4_PUBLISH,
  TT_NT4_UNPUBLISH,
  TT_NT4_SET_PROPERTIES,
  TT_NT4_SUBSCRIBE,
  TT_NT4_UNSUBSCRIBE,
} tt_nt4_method;

/** One message of a client. Texts and objects are the frame's. */
typedef struct tt_nt4_request {
  tt_nt4_method method;
  const char *name, *type;        /**< publish, setproperties */
  int64_t uid;                    /**< of a publisher or subscription: the client's choice */
  struct json_object *properties; /**< publish: an object or NULL; setproperties: what changes */
  struct json_object *topics;     /**< subscribe: an array of texts */
  double periodic;                /**< s between values, 0.005 … 3600 */
  bool all, topics_only, prefix;
} tt_nt4_request;

/** Reads a text frame. TT_BAD_MESSAGE: it is no JSON array, or too large; `error` says what is wrong. `frame` is the caller's
 *  to json_object_put(). */
tt_status tt_nt4_read_frame(const char *text, size_t size, struct json_object **frame,
                            tt_error *error);
/** Reads the `index`-th message of a client's frame. TT_BAD_MESSAGE: it is malformed, or means nothing here. */
tt_status tt_nt4_read_request(struct json_object *frame, size_t index, tt_nt4_request *request);
/** What a server says of a topic that a client asked for or publishes. Texts are the frame's. */
typedef struct tt_nt4_announcement {
  bool gone; /**< unannounce */
  const char *name;
  int64_t id; /**< the topic's, in binary frames */
} tt_nt4_announcement;

/** Reads the `index`-th message of a server's frame. TT_BAD_MESSAGE: it is malformed, or no announcement. */
tt_status tt_nt4_read_announcement(struct json_object *frame, size_t index,
                                   tt_nt4_announcement *said);

#endif
