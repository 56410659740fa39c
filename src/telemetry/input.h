/* input.h: the TCP side of telemetry, in a thread of its own: streams of messages in (robocar-xml), live samples out to
 * external clients that are called.
 */
#ifndef TT_TELEMETRY_INPUT_H
#define TT_TELEMETRY_INPUT_H

#include "net/net.h"
#include "telemetry/collector.h"

/** An external process that gets live samples. */
typedef struct tt_forward {
  const char *to;                             /**< "host:port" */
  bool xml;                                   /**< MESSAGEs; else JSON lines */
  const char *const *devices, *const *fields; /**< as in tt_feed_filter */
} tt_forward;

typedef struct tt_input_options {
  const char *listen;  /**< NULL: takes no messages */
  int max_connections; /**< default 256 */
  tt_allow allow;
  tt_message_limits limits;
  const tt_forward *forwards;
  int forward_count;
} tt_input_options;

typedef struct tt_input tt_input;

/** Listens and starts the thread. Strings must live until tt_input_close(). */
tt_status tt_input_open(const tt_input_options *options, tt_collector *collector, tt_input **input,
                        tt_error *error);
/** The address it really has, or NULL. */
const char *tt_input_address(const tt_input *input);
void tt_input_close(tt_input *input);

#endif
