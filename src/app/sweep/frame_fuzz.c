/* Fuzz target: any bytes as what a worker tells its sweep, as they are and behind the head of a row of the plan. */
#include "app/guests.h"
#include "app/sweep/frame.h"
#include "sweep/rows_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char PLAN[] =
    "scene: sharp\nduration: 1 s\naxes:\n  - {name: gain, value: [1, 2]}\n"
    "metrics:\n  - {name: y, signal: chassis.y, measure: final}\n";

static void take_all(const tt_sweep_plan *plan, const uint8_t *bytes, size_t size) {
  static tt_sweep_frame frame;
  tt_error error;
  for (size_t at = 0, used = 0; at < size; at += used) {
    if (tt_sweep_frame_take(plan, bytes + at, size - at, &frame, &used, &error) != TT_OK) return;
    assert(used > 0 && used <= size - at);
    if (frame.kind == TT_SWEEP_FRAME_ROW) {
      assert(frame.row.run.number < tt_sweep_plan_runs(plan));
      assert(frame.row.status <= TT_SWEEP_LIMIT);
    } else {
      assert(frame.kind == TT_SWEEP_FRAME_END && frame.status != TT_OK);
      assert(memchr(frame.error.text, 0, sizeof frame.error.text));
    }
  }
}

/* Of bytes that say what is in a row a frame is made, which then is taken, also cut and with a byte behind it. */
static void there_and_back(const tt_sweep_plan *plan, const uint8_t *data, size_t size) {
  static tt_sweep_row row;
  static tt_sweep_frame frame;
  tt_bytes bytes = {0};
  size_t used;
  tt_error error;
  row = (tt_sweep_row){.status = size ? data[0] % (TT_SWEEP_LIMIT + 1) : TT_SWEEP_OK};
  tt_sweep_plan_run(plan, size % tt_sweep_plan_runs(plan), &row.run);
  const size_t most = size < sizeof row.error - 1 ? size : sizeof row.error - 1;
  memcpy(row.error, data, most);
  row.error[strlen(row.error)] = 0;
  tt_sweep_frame_put_row(&bytes, plan, &row);
  assert(!bytes.failed);
  assert(tt_sweep_frame_take(plan, bytes.data, bytes.size, &frame, &used, &error) == TT_OK);
  assert(used == bytes.size && frame.row.run.number == row.run.number);
  assert(frame.row.status == row.status && strcmp(frame.row.error, row.error) == 0);
  assert(tt_sweep_frame_take(plan, bytes.data, bytes.size - 1, &frame, &used, &error) == TT_AGAIN);
  tt_bytes_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tt_sweep_plan *plan;
  tt_error error;
  if (!plan && tt_sweep_plan_parse(&tt_program_guests, "/tmp/fuzz.yaml", PLAN, sizeof PLAN - 1,
                                   NULL, 0, &plan, &error) != TT_OK)
    abort();
  take_all(plan, data, size);
  there_and_back(plan, data, size);
  return 0;
}
