/* input.h: devices that publish to NATS themselves, or by MQTT through its gateway: NAME.in.ID and NAME.ask.ID. docs/telemetry-nats.md says
 * what is promised when.
 *
 * What is published to NAME.in.ID stands in a stream until a collector has stored it. What is asked at NAME.ask.ID is answered once it is
 * stored. Of all the collectors that look there one takes, so that a device has one clock: it holds a lease, which the others wait for.
 */
#ifndef TT_TELEMETRY_NATS_INPUT_H
#define TT_TELEMETRY_NATS_INPUT_H

#include "telemetry/collector.h"

typedef struct tt_nats_input tt_nats_input;

/** Connects, and starts a thread. Where it can't connect now it goes on trying. TT_INVALID: the URL is none, or the server lets us never
 *  in like that. The collector must outlive it. */
tt_status tt_nats_input_open(const char *url, tt_collector *collector, tt_nats_input **input,
                             tt_error *error);
/** Ends the thread; another collector takes. NULL-safe. */
void tt_nats_input_close(tt_nats_input *input);

#endif
