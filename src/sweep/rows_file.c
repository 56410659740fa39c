#include "sweep/rows_file.h"

#include "base/hash.h"

#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char MAGIC[8] = {'T', 'T', 'R', 'O', 'W', 'S', '1', '\n'};
#define IDENTITY 32 /* hexadecimal digits, also of an id */

/* --- to bytes --- */

static void put_byte(tt_bytes *to, uint8_t byte) { tt_bytes_append(to, &byte, 1); }

static void put_word(tt_bytes *to, uint64_t word) {
  word = htole64(word);
  tt_bytes_append(to, &word, sizeof word);
}

static void put_double(tt_bytes *to, double number) {
  uint64_t word;
  memcpy(&word, &number, sizeof word);
  put_word(to, word);
}

/** Its size is known where it is read: it ends with 0. */
static void put_text(tt_bytes *to, const char *text) {
  tt_bytes_append(to, text, strlen(text) + 1);
}

static void put_value(tt_bytes *to, const tt_sweep_value *value) {
  const bool there = value->kind == TT_SWEEP_NUMBER && isfinite(value->number);
  put_byte(to, there);
  if (there) put_double(to, value->number);
}

void tt_rows_begin(tt_bytes *bytes, const tt_sweep_plan *plan) {
  tt_bytes_append(bytes, MAGIC, sizeof MAGIC);
  tt_bytes_append(bytes, plan->runs_identity, IDENTITY);
  tt_bytes_append(bytes, plan->columns_identity, IDENTITY);
}

void tt_rows_add(tt_bytes *bytes, const tt_sweep_plan *plan, const tt_sweep_row *row) {
  put_word(bytes, row->run.number);
  tt_bytes_append(bytes, row->run.id, IDENTITY);
  put_byte(bytes, (uint8_t)row->status);
  put_text(bytes, row->error);
  put_word(bytes, row->hash);
  put_double(bytes, row->simulated_time);
  put_double(bytes, row->wall_time);
  put_text(bytes, row->host);
  for (int i = 0; i < plan->metric_count; i++) put_value(bytes, &row->metrics[i]);
  put_value(bytes, &row->success);
}

void tt_rows_end(tt_bytes *bytes) {
  put_word(bytes, bytes->failed ? 0 : tt_hash_bytes(TT_HASH_START, bytes->data, bytes->size));
}

/* --- from bytes --- */

typedef struct cursor {
  const uint8_t *next, *end;
  bool bad;
} cursor;

static void take(cursor *from, void *to, size_t size) {
  if ((size_t)(from->end - from->next) < size) from->bad = true;
  if (from->bad) {
    memset(to, 0, size);
    return;
  }
  memcpy(to, from->next, size);
  from->next += size;
}

static uint8_t take_byte(cursor *from) {
  uint8_t byte;
  take(from, &byte, 1);
  return byte;
}

static uint64_t take_word(cursor *from) {
  uint64_t word;
  take(from, &word, sizeof word);
  return le64toh(word);
}

static double take_double(cursor *from) {
  const uint64_t word = take_word(from);
  double number;
  memcpy(&number, &word, sizeof number);
  if (!isfinite(number)) from->bad = true;
  return number;
}

static void take_text(cursor *from, char *text, size_t size) {
  const size_t left = (size_t)(from->end - from->next);
  const uint8_t *end = from->bad ? NULL : memchr(from->next, 0, left < size ? left : size);
  if (!end) from->bad = true;
  text[0] = '\0';
  if (end) take(from, text, (size_t)(end - from->next) + 1);
}

static tt_sweep_value take_value(cursor *from) {
  const uint8_t there = take_byte(from);
  if (there > 1) from->bad = true;
  if (there != 1) return (tt_sweep_value){.kind = TT_SWEEP_NULL};
  return (tt_sweep_value){.kind = TT_SWEEP_NUMBER, .number = take_double(from)};
}

/** The row of a run of the plan, which is made of its number and compared with what the bytes say. */
static void take_row(cursor *from, const tt_sweep_plan *plan, tt_sweep_row *row) {
  char id[IDENTITY + 1] = "";
  const uint64_t number = take_word(from);
  take(from, id, IDENTITY);
  if (number >= tt_sweep_plan_runs(plan)) from->bad = true;
  if (from->bad) return;
  tt_sweep_plan_run(plan, number, &row->run);
  if (strcmp(id, row->run.id)) from->bad = true;
  const uint8_t status = take_byte(from);
  if (status > TT_SWEEP_LIMIT) from->bad = true;
  row->status = (tt_sweep_status)status;
  take_text(from, row->error, sizeof row->error);
  row->hash = take_word(from);
  row->simulated_time = take_double(from);
  row->wall_time = take_double(from);
  take_text(from, row->host, sizeof row->host);
  for (int i = 0; i < plan->metric_count; i++) row->metrics[i] = take_value(from);
  row->success = take_value(from);
}

static tt_status check_head(const tt_sweep_plan *plan, cursor *from, tt_error *error) {
  char magic[sizeof MAGIC], runs[IDENTITY], columns[IDENTITY];
  take(from, magic, sizeof magic);
  take(from, runs, IDENTITY);
  take(from, columns, IDENTITY);
  if (from->bad || memcmp(magic, MAGIC, sizeof MAGIC))
    return tt_fail(error, TT_BAD_MESSAGE, "is no file of rows, or torn");
  if (!memcmp(runs, plan->runs_identity, IDENTITY) &&
      !memcmp(columns, plan->columns_identity, IDENTITY))
    return TT_OK;
  return tt_fail(error, TT_VERSION, "is of another plan, or was made by another version");
}

static tt_status walk(const tt_sweep_plan *plan, cursor from, tt_sweep_row *row,
                      tt_status (*visit)(void *, const tt_sweep_row *, tt_error *), void *context,
                      tt_error *error) {
  while (from.next < from.end) {
    take_row(&from, plan, row);
    if (from.bad) return tt_fail(error, TT_BAD_MESSAGE, "has rows that are none of the plan's");
    if (visit) TT_TRY(visit(context, row, error));
  }
  return TT_OK;
}

tt_status tt_rows_decode(const tt_sweep_plan *plan, const void *bytes, size_t size,
                         tt_status (*visit)(void *context, const tt_sweep_row *row,
                                            tt_error *error),
                         void *context, tt_error *error) {
  cursor from = {bytes, (const uint8_t *)bytes + size, false};
  TT_TRY(check_head(plan, &from, error));
  uint64_t sum = 0;
  if ((size_t)(from.end - from.next) >= sizeof sum) {
    from.end -= sizeof sum;
    memcpy(&sum, from.end, sizeof sum);
  }
  if (le64toh(sum) !=
      tt_hash_bytes(TT_HASH_START, bytes, (size_t)(from.end - (const uint8_t *)bytes)))
    return tt_fail(error, TT_BAD_MESSAGE, "is torn: its sum is another");
  tt_sweep_row *row = calloc(1, sizeof *row);
  if (!row) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = walk(plan, from, row, NULL, NULL, error);
  if (status == TT_OK) status = walk(plan, from, row, visit, context, error);
  free(row);
  return status;
}
