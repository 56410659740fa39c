/* unpack.h: the scene that a run was made of, taken out of its log into a temporary folder. */
#ifndef TT_RECORD_UNPACK_H
#define TT_RECORD_UNPACK_H

#include "base/scratch.h"
#include "record/run_log.h"

#include <stdbool.h>

typedef struct tt_unpacked {
  tt_scratch scratch;
  char *scene; /**< the scene's file in it */
  char *data;  /**< the data folder in it, for tt_data_set_root(); "" when the scene used none */
  char **settings; /**< PATH=VALUE of the run's command line */
  int setting_count;
  bool lacks_token; /**< its scene had a token, which the log does not keep */
} tt_unpacked;

/** Whether files of a scene are in the log. Its beginning has not said any yet, nor has a log of another program. */
bool tt_unpack_finds_files(const tt_run_log *log);

/** TT_INVALID when the log does not keep its scene. */
tt_status tt_unpack(const tt_run_log *log, tt_unpacked *unpacked, tt_error *error);
void tt_unpacked_remove(tt_unpacked *unpacked);

#endif
