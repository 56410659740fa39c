/* Fuzz target: any bytes as a shard's file of rows, as they are and with a head and a sum that are right. */
#include "app/guests.h"
#include "base/hash.h"
#include "sweep/rows_file.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

static const char PLAN[] =
    "scene: sharp\nduration: 1 s\naxes:\n  - {name: gain, value: [1, 2]}\n"
    "metrics:\n  - {name: y, signal: chassis.y, measure: final}\n";

/** Every row is one of the plan's. */
static tt_status check(void *context, const tt_sweep_row *row, tt_error *error) {
  const tt_sweep_plan *plan = context;
  (void)error;
  assert(row->run.number < tt_sweep_plan_runs(plan));
  assert(row->status <= TT_SWEEP_LIMIT);
  assert(memchr(row->error, 0, sizeof row->error) && memchr(row->host, 0, sizeof row->host));
  return TT_OK;
}

static void decode_with_head(const tt_sweep_plan *plan, const uint8_t *data, size_t size) {
  tt_bytes bytes = {0};
  tt_sweep_run run;
  tt_rows_begin(&bytes, plan);
  const size_t head = bytes.size;
  tt_bytes_append(&bytes, data, size);
  // An id is too long to be guessed: where one is expected first, it is put in.
  tt_sweep_plan_run(plan, 0, &run);
  if (size >= 40 && !data[0]) memcpy(bytes.data + head + 8, run.id, 32);
  tt_rows_end(&bytes);
  tt_error error;
  if (!bytes.failed) tt_rows_decode(plan, bytes.data, bytes.size, check, (void *)plan, &error);
  tt_bytes_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tt_sweep_plan *plan;
  tt_error error;
  if (!plan && tt_sweep_plan_parse(&tt_program_guests, "/tmp/fuzz.yaml", PLAN, sizeof PLAN - 1,
                                   NULL, 0, &plan, &error) != TT_OK)
    abort();
  tt_rows_decode(plan, data, size, check, plan, &error);
  decode_with_head(plan, data, size);
  return 0;
}
