/* sink.h: where a world's topics go: a server of ours (server.h), or one that we are a client of (client.h). */
#ifndef TT_NT4_SINK_H
#define TT_NT4_SINK_H

#include "base/bytes.h"

#include <stdbool.h>

#define TT_NT4_MOST_TOPICS 20000 /**< of a server, ours and clients' together */

/** A topic of ours. Texts are copied. */
typedef struct tt_nt4_spec {
  const char *name, *type;
  const char *unit; /**< becomes the property "unit"; NULL: none */
  bool writable;    /**< others may write it: a number that is heard */
} tt_nt4_spec;

/** Filled by server or client, but for who hears. One thread. */
typedef struct tt_nt4_sink {
  /** The topic's number; −1: out of memory, or there are too many. Before the loop's first turn. */
  int (*add)(struct tt_nt4_sink *sink, const tt_nt4_spec *spec);
  /** Whether somebody wants its values: others need not be computed. */
  bool (*is_wanted)(const struct tt_nt4_sink *sink, int topic);
  /** A new value, in MessagePack, now. The same as before is none, and neither is one that failed. */
  void (*set)(struct tt_nt4_sink *sink, int topic, const tt_bytes *value);

  /** `who` wrote a topic that is writable; false: it does not take this, which was logged. Set both and `context` before the
   *  loop's first turn; NULL: nobody hears. */
  bool (*on_written)(void *context, int topic, double value, const char *who);
  /** Who wrote it last is gone. */
  void (*on_released)(void *context, int topic);
  void *context;
} tt_nt4_sink;

#endif
