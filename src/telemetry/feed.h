/* feed.h: samples as they come, for readers of any speed. Each reader has a bounded queue of its own; one that is
 * slow loses the oldest samples and is told how many.
 */
#ifndef TT_TELEMETRY_FEED_H
#define TT_TELEMETRY_FEED_H

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tt_feed_value {
  const char *attribute; /**< identifier; lives as long as the collector */
  const char *text;      /**< NULL: a number */
  double number;
} tt_feed_value;

/** One sample, shared by all readers. Times µs. */
typedef struct tt_feed_sample {
  atomic_int references;
  const char *device; /**< identifier; lives as long as the collector */
  int epoch;
  int64_t device_time, time;
  int count;
  tt_feed_value values[];
} tt_feed_sample;
void tt_feed_sample_unref(tt_feed_sample *sample);

/** What a reader wants; patterns with * and ?, or human names. Empty lists: everything. */
typedef struct tt_feed_filter {
  const char *const *devices; /**< NULL-terminated, or NULL */
  const char *const *fields;
} tt_feed_filter;

typedef struct tt_feed_reader tt_feed_reader;

/** The next sample, to be unreferenced, or NULL when there is none; `lost` counts those dropped just before it.
 *  The reader's thread. */
tt_feed_sample *tt_feed_next(tt_feed_reader *reader, uint64_t *lost);

/** {"device":"ROBO1","epoch":0,"device_time":80000000,"time":"…Z","values":{"Output.drive.velocity":50}} */
void tt_feed_append_json(GString *out, const tt_feed_sample *sample);
/** A MESSAGE of the sample, as robots send it, on one line. */
void tt_feed_append_xml(GString *out, const tt_feed_sample *sample);

#endif
