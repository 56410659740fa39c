/* topic_internal.h: a topic with its value, at a server or a client. */
#ifndef TT_NT4_TOPIC_INTERNAL_H
#define TT_NT4_TOPIC_INTERNAL_H

#include "nt4/message.h"

#include <json-c/json.h>

#define NT4_SLOW_AT ((size_t)1 << 20) /**< bytes unsent beyond which values are left out */
#define NT4_FRAME_AT 65536u           /**< bytes of values at which a frame leaves at once */
#define NT4_MESSAGES_A_FRAME 64       /**< of text */

/* Subprotocols. */
#define NT4_PROTOCOL_4_1 "v4.1.networktables.first.wpi.edu"
#define NT4_PROTOCOL_4_0 "networktables.first.wpi.edu"
#define NT4_PROTOCOL_RTT "rtt.networktables.first.wpi.edu"

#define NT4_PING_PERIOD 0.2 /**< s, of 4.1; clients of 4.0 don't stand pings */
#define NT4_PING_TIMEOUT 1.0

/** What has a name and a value. */
typedef struct nt4_topic {
  char *name, *type;
  tt_nt4_type number;
  struct json_object *properties;
  bool own;       /**< ours; else clients' */
  bool writable;  /**< ours, and others may write it */
  bool gone;      /**< no client publishes it any more */
  int publishers; /**< clients */
  tt_bytes value;
  int64_t time;     /**< µs, of the value */
  uint64_t writer;  /**< number of the client who wrote it; 0: ours */
  uint64_t version; /**< of the value; 0: there is none yet */
} nt4_topic;

/** `unit` may be NULL. False: out of memory, and nothing is to be freed. */
bool nt4_topic_init(nt4_topic *topic, const char *name, const char *type, const char *unit);
void nt4_topic_clear(nt4_topic *topic);
/** Whether this is its value already. */
bool nt4_topic_has(const nt4_topic *topic, const tt_bytes *value);
/** Takes a copy as its next version. False: out of memory, and the one before stands. */
bool nt4_topic_keep(nt4_topic *topic, const void *value, size_t size, int64_t time);
/** Appends its value as a message of `id`. False: out of memory, and nothing of it is there. */
bool nt4_topic_put(const nt4_topic *topic, int64_t id, int64_t time, tt_bytes *to);

/** Our clock, µs. */
int64_t nt4_now(void);
/** Appends {"method", "params"} to `*frame`, an array that is made where it is NULL. Takes `params` over. Out of memory:
 *  nothing is said. */
void nt4_say(struct json_object **frame, const char *method, struct json_object *params);

#endif
