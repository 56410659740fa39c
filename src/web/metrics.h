/* metrics.h: figures for Prometheus at GET /metrics, in its text format, version 0.0.4.
 *
 * Rooms that have figures give a function that writes them; it runs in the web's thread for each scrape and must take what it
 * needs from copies, as those that pages are shown: a scrape never makes a world wait. Names are Prometheus': base units,
 * `_total` at the end of counters.
 */
#ifndef TT_WEB_METRICS_H
#define TT_WEB_METRICS_H

#include "web/server.h"

/** A count that only grows; what it is now; a count with a sum. */
typedef enum tt_metric_kind {
  TT_METRIC_COUNTER,
  TT_METRIC_GAUGE,
  TT_METRIC_SUMMARY
} tt_metric_kind;

/** Begins a family; its samples follow. `help` is one line. */
void tt_metric_family(GString *out, const char *name, tt_metric_kind kind, const char *help);

/** A label of a sample. */
typedef struct tt_metric_label {
  const char *name, *value; /**< any text */
} tt_metric_label;
/** A sample of the family last begun, or of a summary's `name`_sum and _count. */
void tt_metric_sample(GString *out, const char *name, const tt_metric_label *labels, int count,
                      double value);
/** A family that has one sample without labels. */
void tt_metric_single(GString *out, const char *name, tt_metric_kind kind, const char *help,
                      double value);

/** `write` appends families at each scrape. Before tt_web_start(); `context` outlives the server. The first call adds the route,
 *  and the figures of program and server. */
void tt_web_add_metrics(tt_web *web, void (*write)(void *context, GString *out), void *context);

#endif
