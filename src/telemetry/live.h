/* live.h: samples as they come, for readers of any speed. Each reader has a bounded queue of its own; one that is
 * slow loses the oldest samples and is told how many.
 */
#ifndef TT_TELEMETRY_LIVE_H
#define TT_TELEMETRY_LIVE_H

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tt_live_value {
  const char *attribute; /**< identifier; lives as long as the collector */
  const char *text;      /**< NULL: a number */
  double number;
} tt_live_value;

/** One sample, shared by all readers. Times µs. */
typedef struct tt_live_sample {
  atomic_int references;
  const char *device; /**< identifier; lives as long as the collector */
  int epoch;
  int64_t device_time, time;
  int count;
  tt_live_value values[];
} tt_live_sample;
void tt_live_sample_unref(tt_live_sample *sample);

/** What a reader wants; patterns with * and ?, or human names. Empty lists: everything. */
typedef struct tt_live_filter {
  const char *const *devices; /**< NULL-terminated, or NULL */
  const char *const *fields;
} tt_live_filter;

typedef struct tt_live_reader tt_live_reader;

/** The next sample, to be unreferenced, or NULL when there is none; `lost` counts those dropped just before it.
 *  The reader's thread. */
tt_live_sample *tt_live_next(tt_live_reader *reader, uint64_t *lost);

/** {"device":"ROBO1","epoch":0,"device_time":80000000,"time":"…Z","values":{"Output.drive.velocity":50}} */
void tt_live_append_json(GString *out, const tt_live_sample *sample);
/** A MESSAGE of the sample, as robots send it, on one line. */
void tt_live_append_xml(GString *out, const tt_live_sample *sample);

#endif
