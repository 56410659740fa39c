/* stream_check.h: whether a stream and a bucket that somebody else made keep what a log is to keep. */
#ifndef TT_STORE_JETSTREAM_STREAM_CHECK_H
#define TT_STORE_JETSTREAM_STREAM_CHECK_H

#include "base/status.h"

#include <nats/nats.h>
#include <stdint.h>

/** Warns, once in the life of the program, of a server or stream (`who`) that takes shorter messages than there may be. `most`: bytes that
 *  it takes; 0 or less: any. */
void tt_nats_warn_of_short(const char *who, int64_t most, const char *remedy);
/** TT_INVALID: the stream removes messages that were taken, so that it is no log. Of what else it does not keep as a collector's own does it
 *  warns, once in the life of the program. `replicas`: what the URL says. */
tt_status tt_nats_check_stream(const jsStreamConfig *config, int replicas, tt_error *error);
/** Warns of a bucket's stream in the same way. */
void tt_nats_check_bucket(const jsStreamConfig *config, int replicas);

#endif
