/* versions.h: what computed a run besides its scene: kept in its log, and compared when the run is to be proved. */
#ifndef TT_APP_VERSIONS_H
#define TT_APP_VERSIONS_H

#include "record/run_log.h"

#include <stdbool.h>
#include <stddef.h>

/** Was the log made by what computes other bits than this program? `text` [size] gets what and with which remedy, cut where it is longer. */
bool tt_versions_differ(const tt_run_log *log, char *text, size_t size);

#endif
