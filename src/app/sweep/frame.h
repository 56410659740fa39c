/* frame.h: what a worker process tells its sweep through a pipe, frame by frame: a row, or why it can't go on.
 *
 * A frame is u32 size of what follows, u8 kind, and for a row a file of one row (sweep/rows_file.h), which says its version and whose plan it is, and has
 * a sum; for an end u8 status and text. Numbers are little-endian. The bytes of a process that crashes may be anything.
 */
#ifndef TT_APP_SWEEP_FRAME_H
#define TT_APP_SWEEP_FRAME_H

#include "base/bytes.h"
#include "sweep/plan.h"

#include <sys/types.h>

/** Bytes of a frame at most. */
#define TT_SWEEP_FRAME_MOST (64u << 10)

typedef enum tt_sweep_frame_kind {
  TT_SWEEP_FRAME_ROW = 1,
  TT_SWEEP_FRAME_END /**< the worker gives up */
} tt_sweep_frame_kind;

typedef struct tt_sweep_frame {
  tt_sweep_frame_kind kind;
  tt_sweep_row row; /**< of a row: of a run of the plan */
  tt_status status; /**< of an end; not TT_OK */
  tt_error error;
} tt_sweep_frame;

/** Appends a frame. Out of memory: `bytes->failed`. */
void tt_sweep_frame_put_row(tt_bytes *bytes, const tt_sweep_plan *plan, const tt_sweep_row *row);
void tt_sweep_frame_put_end(tt_bytes *bytes, tt_status status, const tt_error *error);
/** Takes the first frame of `size` bytes, and says how many it took. TT_AGAIN: it is not whole yet; TT_BAD_MESSAGE: no frame of
 *  ours. */
tt_status tt_sweep_frame_take(const tt_sweep_plan *plan, const uint8_t *bytes, size_t size,
                              tt_sweep_frame *frame, size_t *used, tt_error *error);

#endif
