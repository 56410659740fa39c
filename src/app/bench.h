/* bench.h: what `tether bench NAME` can measure. Adding one is a line in the table of bench.c. */
#ifndef TT_APP_BENCH_H
#define TT_APP_BENCH_H

#include "base/status.h"

typedef struct tt_bench {
  const char *name;    /**< "lockstep" */
  const char *summary; /**< one line */
  /** `argv[0]` is the bench's name. Prints its figures to standard output. */
  tt_status (*run)(int argc, char **argv, tt_error *error);
} tt_bench;

/** In the file bench_step.c. */
extern const tt_bench tt_bench_step;

#endif
