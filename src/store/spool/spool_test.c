/* What a spool keeps: torn by a crash and grown afterwards, with a bit changed anywhere, on sectors that can't be read, left by an
 * older version, removed while it is in use. Batch n holds two samples whose value is n; they are counted sample by sample. */
#include "store/spool/spool.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define BATCHES 8

static char folder[64], path[80];

static tt_spool *open_spool_of(uint64_t limit) {
  tt_spool *spool;
  tt_error error;
  if (tt_spool_open(path, limit, &spool, &error) != TT_OK) fail_msg("%s", error.text);
  return spool;
}

static tt_spool *open_spool(void) { return open_spool_of(1 << 20); }

static tt_store_batch *batch_of(int number) {
  tt_store_batch *batch = tt_store_batch_new();
  const tt_store_epoch epoch = {
      .anchor = 1000, .offset_low = 900 - number, .offset_high = 1100 + number, .key = 7};
  char text[20];
  int size = snprintf(text, sizeof text, "text %d", number);
  tt_store_add_name(&batch->devices, 0, "ROBO1", NULL, TT_NAME_KNOWN);
  tt_store_add_name(&batch->attributes, 0, "S.d.n", number == 1 ? "Number" : NULL, TT_NAME_KNOWN);
  tt_store_add_name(&batch->attributes, 1, "S.d.t", NULL, TT_NAME_KNOWN);
  tt_list_add(&batch->epochs, &epoch, 1);
  for (int i = 0; i < 2; i++) {
    const tt_store_sample sample = {.device_time = 2 * number + i,
                                    .time = 1000 + 2 * number + i,
                                    .first = batch->values.len,
                                    .count = 2};
    const tt_store_value values[] = {{0, TT_STORE_NUMBER, number}, {1, batch->text.len, 0}};
    tt_list_add(&batch->text, text, (size_t)size + 1);
    tt_list_add(&batch->samples, &sample, 1);
    tt_list_add(&batch->values, values, 2);
  }
  return batch;
}

static void append(tt_spool *spool, int first, int last) {
  for (int n = first; n <= last; n++) {
    tt_error error;
    tt_store_batch *batch = batch_of(n);
    if (tt_spool_append(spool, batch, &error) != TT_OK) fail_msg("%s", error.text);
    tt_store_batch_free(batch);
  }
}

static void fail_to_append(tt_spool *spool) {
  tt_error error;
  tt_store_batch *batch = batch_of(1);
  assert_int_equal(tt_spool_append(spool, batch, &error), TT_FAILED);
  tt_store_batch_free(batch);
}

/** Adds a digit for each sample of a batch to `counted`. */
static void count(const tt_store_batch *batch, char *counted) {
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    assert_int_equal(sample->count, 2);
    const tt_store_value *values = &tt_list_at(&batch->values, tt_store_value, sample->first);
    int number = (int)values[0].number;
    char text[20];
    snprintf(text, sizeof text, "text %d", number);
    assert_string_equal((const char *)batch->text.data + values[1].text, text);
    assert_int_equal(sample->device_time / 2, number);
    size_t end = strlen(counted);
    counted[end] = (char)('0' + number);
    counted[end + 1] = '\0';
  }
}

/** Takes everything out: "1122" is what two whole batches give. */
static void drain(tt_spool *spool, char *counted) {
  tt_error error;
  tt_status status;
  tt_store_batch *batch = tt_store_batch_new();
  *counted = '\0';
  while ((status = tt_spool_front(spool, batch, &error)) == TT_OK) {
    assert_int_equal(batch->devices.len, 1);
    assert_int_equal(batch->epochs.len, 1);
    count(batch, counted);
    tt_spool_pop(spool);
  }
  assert_int_equal(status, TT_NOT_FOUND);
  assert_int_equal(tt_spool_bytes(spool), 0);
  tt_store_batch_free(batch);
}

/** The same as after another start, one batch at a time, taking nothing out. */
static void look(tt_spool *spool, char *counted) {
  tt_error error;
  tt_store_batch *batch = tt_store_batch_new();
  uint64_t position = 0, writer;
  *counted = '\0';
  while (tt_spool_look(spool, &position, &writer, batch, &error) == TT_OK) count(batch, counted);
  tt_store_batch_free(batch);
}

/** Fails unless exactly these are there, whichever way they are read. */
static void assert_holds(tt_spool *spool, const char *expected) {
  char looked[100], drained[100];
  look(spool, looked);
  assert_string_equal(looked, expected);
  drain(spool, drained);
  assert_string_equal(drained, expected);
}

static uint64_t size_of_file(void) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  return (uint64_t)info.st_size;
}

static void flip(uint64_t bit) {
  FILE *file = fopen(path, "r+b");
  assert_int_equal(fseek(file, (long)(bit / 8), SEEK_SET), 0);
  int byte = fgetc(file);
  assert_int_equal(fseek(file, (long)(bit / 8), SEEK_SET), 0);
  fputc(byte ^ 1 << bit % 8, file);
  assert_int_equal(fclose(file), 0);
}

/* --- */

static void test_batches_come_out_as_they_went_in(void **state) {
  (void)state;
  tt_spool *spool = open_spool();
  append(spool, 1, 3);
  assert_holds(spool, "112233");
  append(spool, 4, 5);
  tt_spool_close(spool);
  spool = open_spool();
  append(spool, 6, 6);  // another process's: never one batch with those before
  assert_holds(spool, "445566");
  assert_int_equal(tt_spool_lost(spool).places, 0);
  tt_spool_close(spool);
}

/** A crash may leave any part of what was being written; what comes after the next start is found behind it. */
static void test_torn_and_grown(void **state) {
  (void)state;
  tt_spool *spool = open_spool();
  append(spool, 1, 2);
  uint64_t whole = tt_spool_bytes(spool);
  append(spool, 3, 3);
  uint64_t end = tt_spool_bytes(spool);
  tt_spool_close(spool);
  char *before;
  gsize size;
  assert_true(g_file_get_contents(path, &before, &size, NULL));
  for (uint64_t torn = whole; torn < end; torn++) {
    assert_true(g_file_set_contents(path, before, (gssize)torn, NULL));
    spool = open_spool();
    assert_int_equal(tt_spool_bytes(spool), whole);
    assert_int_equal(size_of_file(), whole);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    append(spool, 4, 5);
    tt_spool_close(spool);
    spool = open_spool();
    assert_holds(spool, "11224455");
    tt_spool_close(spool);
  }
  g_free(before);
}

/** Wherever a bit is changed: what stands before and behind is there, and how much is not is said. */
static void test_a_flipped_bit(void **state) {
  (void)state;
  for (uint64_t bit = 0;; bit += 7) {
    tt_spool *spool = open_spool();
    append(spool, 1, 1);
    uint64_t first = tt_spool_bytes(spool);
    append(spool, 2, 2);
    uint64_t second = tt_spool_bytes(spool);
    append(spool, 3, 3);
    uint64_t third = tt_spool_bytes(spool);
    tt_spool_close(spool);
    if (bit >= 8 * third) break;
    flip(bit);
    spool = open_spool();
    tt_spool_loss lost = tt_spool_lost(spool);
    assert_int_equal(lost.places, 1);
    uint64_t from = bit < 8 * first ? 0 : bit < 8 * second ? first : second;
    uint64_t to = bit < 8 * first ? first : bit < 8 * second ? second : third;
    assert_int_equal(lost.bytes, to - from);
    // A head that is damaged doesn't say how many there were.
    assert_int_equal(lost.samples, bit < 8 * (from + 56) ? 0 : 2);
    append(spool, 4, 4);
    assert_holds(spool, from == 0 ? "223344" : from == first ? "113344" : "112244");
    assert_int_equal(tt_spool_lost(spool).places, 1);  // said once
    tt_spool_close(spool);
  }
  g_unlink(path);
}

/** Bits may change while it is open, too. */
static void test_a_flipped_bit_while_it_is_open(void **state) {
  (void)state;
  tt_spool *spool = open_spool();
  append(spool, 1, 4);
  flip(8 * (tt_spool_bytes(spool) / 2 + 80));
  assert_holds(spool, "112244");
  assert_int_equal(tt_spool_lost(spool).places, 1);
  assert_int_equal(tt_spool_lost(spool).samples, 2);
  append(spool, 5, 5);
  assert_holds(spool, "55");
  tt_spool_close(spool);
}

/** Whole frames that stand where they were not written are none: a file put together by somebody. */
static void test_a_copy_elsewhere_is_no_frame(void **state) {
  (void)state;
  tt_spool *spool = open_spool();
  append(spool, 1, 1);
  tt_spool_close(spool);
  char *frame;
  gsize size;
  assert_true(g_file_get_contents(path, &frame, &size, NULL));
  FILE *file = fopen(path, "ab");
  assert_int_equal(fwrite(frame, 1, size, file), size);
  fclose(file);
  g_free(frame);
  spool = open_spool();
  assert_holds(spool, "11");
  tt_spool_close(spool);
}

/** Left by a version before this format: batches 1 to 3, half of 4, torn, and 5 to 7 behind it. */
static void test_the_old_format(void **state) {
  (void)state;
  char *bytes;
  gsize size;
  assert_true(
      g_file_get_contents(TETHER_SOURCE_DIR "/tests/telemetry/old.spool", &bytes, &size, NULL));
  assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
  g_free(bytes);
  tt_spool *spool = open_spool();
  assert_int_equal(tt_spool_lost(spool).places, 1);
  tt_error error;
  tt_store_batch *batch = tt_store_batch_new();
  assert_int_equal(tt_spool_front(spool, batch, &error), TT_OK);
  assert_int_equal(batch->attributes.len, 2);
  assert_string_equal(tt_list_at(&batch->attributes, tt_store_name, 0).name, "Number");
  assert_int_equal(batch->handlings.len, 1);
  const tt_handling *handling = &tt_list_at(&batch->handlings, tt_handling, 0);
  assert_string_equal(handling->pattern, "S.*");
  assert_string_equal(handling->unit, "V");
  assert_true(handling->scale == 2 && handling->retention == 60);
  assert_int_equal(handling->mode, TT_MODE_STORE);
  const tt_store_epoch *epoch = &tt_list_at(&batch->epochs, tt_store_epoch, 0);
  assert_int_equal(epoch->anchor, 1000);
  assert_int_equal(epoch->offset_low, 897);  // of batches 1 to 3, which are of one process
  assert_int_equal(epoch->offset_high, 1103);
  tt_store_batch_free(batch);
  append(spool, 8, 8);
  assert_holds(spool, "11223355667788");
  tt_spool_close(spool);
}

/** Of what is gathered from several frames the last that is said of a name counts. */
static void test_names_and_pairs(void **state) {
  (void)state;
  tt_error error;
  static const tt_name_state states[] = {TT_NAME_USED, TT_NAME_KNOWN, TT_NAME_REMOVED,
                                         TT_NAME_KNOWN, TT_NAME_USED};
  tt_spool *spool = open_spool();
  for (int i = 0; i < 5; i++) {
    tt_store_batch *batch = tt_store_batch_new();
    const tt_store_pair pair = {i, 2 * i};
    tt_store_add_name(&batch->attributes, 3, "S.d.n", NULL, states[i]);
    tt_list_add(&batch->pairs, &pair, 1);
    assert_int_equal(tt_spool_append(spool, batch, &error), TT_OK);
    tt_store_batch_free(batch);
  }
  tt_store_batch *batch = tt_store_batch_new();
  assert_int_equal(tt_spool_front(spool, batch, &error), TT_OK);
  assert_int_equal(batch->attributes.len, 3);
  for (uint32_t i = 0; i < 3; i++) {
    const tt_store_name *name = &tt_list_at(&batch->attributes, tt_store_name, i);
    assert_int_equal(name->index, 3);
    assert_int_equal(name->state, states[2 * i]);
  }
  assert_int_equal(batch->pairs.len, 5);
  assert_int_equal(tt_list_at(&batch->pairs, tt_store_pair, 4).attribute, 8);
  tt_store_batch_free(batch);
  tt_spool_close(spool);
}

static void test_removed(void **state) {
  (void)state;
  tt_error error;
  tt_spool *spool = open_spool();
  append(spool, 1, 1);
  assert_int_equal(g_unlink(path), 0);
  tt_store_batch *batch = batch_of(2);
  assert_int_equal(tt_spool_append(spool, batch, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "removed"));
  assert_holds(spool, "11");
  assert_int_equal(tt_spool_append(spool, batch, &error), TT_OK);  // in a file made anew
  tt_store_batch_free(batch);
  tt_spool_close(spool);
  spool = open_spool();
  assert_holds(spool, "22");
  tt_spool_close(spool);
}

/* --- by chance --- */

#define TURNS 3000
#define SMALL 8192 /* bytes: some thirty batches */

/** What the file should hold. */
typedef struct model {
  tt_spool *spool;
  GArray *numbers,
      *openings; /**< int: of each batch since it was empty, its number and by which opening it was put there */
  guint popped; /**< of these, dropped by this opening */
  int next, opening;
  int times_full;
} model;

static void model_open(model *of) {
  of->spool = open_spool_of(SMALL);
  of->opening++;
  of->popped = 0;  // what was dropped comes back, unless all was
}

static void model_append(model *of) {
  tt_error error;
  tt_store_batch *batch = batch_of(of->next);
  tt_status status = tt_spool_append(of->spool, batch, &error);
  tt_store_batch_free(batch);
  if (status == TT_FULL) {
    of->times_full++;
    assert_true(size_of_file() > SMALL / 2);
    return;
  }
  assert_int_equal(status, TT_OK);
  g_array_append_val(of->numbers, of->next);
  g_array_append_val(of->openings, of->opening);
  of->next++;
}

/** All that one opening has put there comes as one; `drop`: and goes. */
static void model_front(model *of, bool drop) {
  tt_error error;
  tt_store_batch *batch = tt_store_batch_new();
  tt_status status = tt_spool_front(of->spool, batch, &error);
  guint end = of->popped;
  while (end < of->numbers->len &&
         g_array_index(of->openings, int, end) == g_array_index(of->openings, int, of->popped))
    end++;
  assert_int_equal(status, end > of->popped ? TT_OK : TT_NOT_FOUND);
  assert_int_equal(batch->samples.len, 2 * (end - of->popped));
  for (uint32_t i = 0; i < batch->samples.len; i++)
    assert_int_equal(tt_list_at(&batch->samples, tt_store_sample, i).device_time / 2,
                     g_array_index(of->numbers, int, of->popped + i / 2));
  tt_store_batch_free(batch);
  if (!drop || status != TT_OK) return;
  tt_spool_pop(of->spool);
  of->popped = end;
  if (end < of->numbers->len) return;
  g_array_set_size(of->numbers, 0);
  g_array_set_size(of->openings, 0);
  of->popped = 0;
}

/** A crash while a batch is put there leaves any part of it. */
static void model_tear(model *of, GRand *chance) {
  const uint64_t before = size_of_file();
  const guint len = of->numbers->len;
  model_append(of);
  const uint64_t after = size_of_file();
  tt_spool_close(of->spool);
  if (after > before) {
    const gint32 left = g_rand_int_range(chance, (gint32)before, (gint32)after);
    assert_int_equal(truncate(path, left), 0);
    g_array_set_size(of->numbers, len);
    g_array_set_size(of->openings, len);
  }
  model_open(of);
}

static void test_what_comes_by_chance(void **state) {
  (void)state;
  GRand *chance = g_rand_new_with_seed(18);
  model of = {.numbers = g_array_new(FALSE, FALSE, sizeof(int)),
              .openings = g_array_new(FALSE, FALSE, sizeof(int)),
              .next = 1};
  model_open(&of);
  for (int turn = 0; turn < TURNS; turn++) {
    const gint32 what = g_rand_int_range(chance, 0, 100);
    if (what < 70) {
      model_append(&of);
    } else if (what < 90) {
      model_front(&of, what < 80);
    } else if (what < 95) {
      tt_spool_close(of.spool);
      model_open(&of);
    } else {
      model_tear(&of, chance);
    }
    assert_int_equal(tt_spool_bytes(of.spool) > 0, of.numbers->len > of.popped);
    assert_int_equal(tt_spool_lost(of.spool).places, 0);
  }
  while (of.numbers->len) model_front(&of, true);
  assert_int_equal(tt_spool_bytes(of.spool), 0);
  assert_true(of.times_full > 0 && of.next > TURNS / 10);
  tt_spool_close(of.spool);
  g_array_unref(of.numbers);
  g_array_unref(of.openings);
  g_rand_free(chance);
}

/** Bytes that pread() can't read; it reads up to them, or, where it is coarse, nothing of what they are in. */
static struct {
  off_t from, to;
  bool coarse;
  bool unwritable; /**< nor can anything be written: it is the disk that has gone */
  int trouble;     /**< what pread() says */
  int met;
} bad;

static int clean(void **state) {
  (void)state;
  g_unlink(path);
  bad.to = 0;
  bad.unwritable = false;
  bad.trouble = EIO;
  tt_spool_patience = 0;
  return 0;
}

/* --- sectors that can't be read --- */

#define BLOCK 4096
#define FRAMES 40

ssize_t __real_pread(int file, void *bytes, size_t size, off_t position);
ssize_t __wrap_pread(int file, void *bytes, size_t size, off_t position);
ssize_t __wrap_pread(int file, void *bytes, size_t size, off_t position) {
  if (position < bad.to && position + (off_t)size > bad.from) {
    bad.met++;
    if (position < bad.from && !bad.coarse) size = (size_t)(bad.from - position);
    if (position >= bad.from || bad.coarse) {
      errno = bad.trouble;
      return -1;
    }
  }
  return __real_pread(file, bytes, size, position);
}

/** Part of a block that can't be read can't be written. */
static bool is_written_into_bad(size_t size, off_t position) {
  const off_t end = position + (off_t)size;
  return (position % BLOCK && position >= bad.from && position < bad.to) ||
         (end % BLOCK && end > bad.from && end < bad.to);
}

ssize_t __real_pwrite(int file, const void *bytes, size_t size, off_t position);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t position);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t position) {
  if (bad.unwritable || is_written_into_bad(size, position)) {
    errno = EIO;
    return -1;
  }
  return __real_pwrite(file, bytes, size, position);
}

/** Appends frames, and notes where each ends. */
static void append_noting(tt_spool *spool, uint64_t ends[FRAMES + 1]) {
  ends[0] = 0;
  for (int n = 1; n <= FRAMES; n++) {
    append(spool, n, n);
    ends[n] = size_of_file();
  }
  assert_true(ends[FRAMES] > 3 * BLOCK);
}

/** What is left without the bad bytes, and the bytes of the frames that are not. */
static uint64_t expect(const uint64_t ends[FRAMES + 1], char *expected) {
  uint64_t lost = 0;
  for (int n = 1; n <= FRAMES; n++) {
    if (ends[n - 1] < (uint64_t)bad.to && ends[n] > (uint64_t)bad.from) {
      lost += ends[n] - ends[n - 1];
      continue;
    }
    *expected++ = (char)('0' + n);
    *expected++ = (char)('0' + n);
  }
  *expected = 0;
  return lost;
}

/** What stands before and behind is kept, whether it is met while it is open or at the next start. */
static void test_a_sector_that_cannot_be_read(void **state) {
  for (int way = 0; way < 4; way++) {
    uint64_t ends[FRAMES + 1];
    char expected[2 * FRAMES + 1];
    assert_int_equal(clean(state), 0);
    tt_spool *spool = open_spool();
    append_noting(spool, ends);
    bad.from = way < 2 ? BLOCK : 0;  // the first one, too
    bad.to = 2 * BLOCK;
    bad.coarse = way % 2;
    bad.met = 0;
    const uint64_t lost = expect(ends, expected);
    if (way < 2) assert_holds(spool, expected);
    if (way >= 2) tt_spool_close(spool);
    if (way >= 2) spool = open_spool();
    if (way >= 2) assert_holds(spool, expected);
    assert_true(bad.met > 0);
    assert_int_equal(tt_spool_lost(spool).places, 1);
    assert_int_equal(tt_spool_lost(spool).bytes, lost);
    bad.to = 0;
    append(spool, 1, 2);
    assert_holds(spool, "1122");
    tt_spool_close(spool);
  }
}

/** What is put there afterwards does not stand next to it. */
static void test_a_last_sector_that_cannot_be_read(void **state) {
  uint64_t ends[FRAMES + 1];
  char expected[2 * FRAMES + 8];
  assert_int_equal(clean(state), 0);
  tt_spool *spool = open_spool();
  append_noting(spool, ends);
  tt_spool_close(spool);
  bad.from = (off_t)(ends[FRAMES] - 1) / BLOCK * BLOCK;
  bad.to = bad.from + BLOCK;
  expect(ends, expected);
  spool = open_spool();
  assert_int_equal(tt_spool_lost(spool).places, 0);  // it may be read yet
  assert_holds(spool, expected);
  assert_int_equal(tt_spool_lost(spool).places, 1);
  tt_spool_close(spool);

  assert_int_equal(clean(state), 0);
  bad.to = 0;
  spool = open_spool();
  append_noting(spool, ends);
  tt_spool_close(spool);
  bad.to = bad.from + BLOCK;
  for (int turn = 0; turn < 2; turn++) {
    spool = open_spool();
    append(spool, FRAMES + 1 + turn, FRAMES + 1 + turn);
    tt_spool_close(spool);
    assert_true(size_of_file() > (uint64_t)bad.to);
  }
  spool = open_spool();
  strcat(expected,
         (char[]){'0' + FRAMES + 1, '0' + FRAMES + 1, '0' + FRAMES + 2, '0' + FRAMES + 2, 0});
  assert_holds(spool, expected);
  assert_int_equal(tt_spool_lost(spool).places, 1);
  tt_spool_close(spool);
  bad.to = 0;
}

/** Where nothing can be read any more it is the disk that has gone: what waits is still there when that is back. */
static void test_a_disk_that_cannot_be_read(void **state) {
  uint64_t ends[FRAMES + 1];
  char expected[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
  tt_error error;
  assert_int_equal(clean(state), 0);
  tt_spool *spool = open_spool();
  append_noting(spool, ends);
  bad.from = BLOCK;
  bad.to = (off_t)ends[FRAMES];
  bad.unwritable = true;
  tt_store_batch *batch = tt_store_batch_new();
  assert_int_equal(tt_spool_front(spool, batch, &error), TT_OK);  // what stands before
  count(batch, drained);
  tt_spool_pop(spool);
  expect(ends, expected);
  assert_string_equal(drained, expected);
  assert_int_equal(tt_spool_front(spool, batch, &error), TT_FAILED);
  tt_store_batch_free(batch);
  bad.from = 0;
  tt_spool *other = NULL;
  tt_spool_close(spool);
  assert_int_equal(tt_spool_open(path, 1 << 20, &other, &error), TT_FAILED);
  bad.to = 0;
  bad.unwritable = false;
  spool = open_spool();
  expect(ends, expected);
  assert_holds(spool, expected);
  assert_int_equal(tt_spool_lost(spool).places, 0);
  tt_spool_close(spool);
}

/** Takes out all that is given, and counts it; how that ended. */
static tt_status drain_now(tt_spool *spool, char *counted) {
  tt_error error;
  tt_status status;
  tt_store_batch *batch = tt_store_batch_new();
  while ((status = tt_spool_front(spool, batch, &error)) == TT_OK) {
    count(batch, counted);
    tt_spool_pop(spool);
  }
  tt_store_batch_free(batch);
  return status;
}

/** A disk that is slow to come back, a cable: what can be read a moment later is not lost. */
static void test_what_can_be_read_again(void **state) {
  for (int way = 0; way < 3; way++) {
    uint64_t ends[FRAMES + 1];
    char expected[2 * FRAMES + 1], all[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
    assert_int_equal(clean(state), 0);
    tt_spool_patience = INT64_MAX;
    tt_spool *spool = open_spool();
    append_noting(spool, ends);
    bad.from = bad.to = 0;
    expect(ends, all);
    bad.from = way < 2 ? BLOCK : 0;
    bad.to = 2 * BLOCK;
    expect(ends, expected);
    if (way) tt_spool_close(spool);
    if (way) spool = open_spool();
    char looked[2 * FRAMES + 1];
    look(spool, looked);  // passes it
    assert_string_equal(looked, expected);
    for (int turn = 0; turn < 3; turn++) assert_int_equal(drain_now(spool, drained), TT_FAILED);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    bad.to = 0;
    assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
    assert_string_equal(drained, all);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    assert_int_equal(tt_spool_bytes(spool), 0);
    tt_spool_close(spool);
  }
}

static void test_what_cannot_be_read_is_given_up(void **state) {
  uint64_t ends[FRAMES + 1];
  char expected[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
  assert_int_equal(clean(state), 0);
  tt_spool *spool = open_spool();
  append_noting(spool, ends);
  bad.from = BLOCK;
  bad.to = 2 * BLOCK;
  const uint64_t lost = expect(ends, expected);
  tt_spool_patience = INT64_MAX;
  assert_int_equal(drain_now(spool, drained), TT_FAILED);
  tt_spool_patience = 1000;
  const int64_t begun = tt_monotonic_us();
  int64_t now = begun;
  while (now - begun <= tt_spool_patience) now = tt_monotonic_us();
  assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
  assert_string_equal(drained, expected);
  assert_int_equal(tt_spool_lost(spool).places, 1);
  assert_int_equal(tt_spool_lost(spool).bytes, lost);
  tt_spool_close(spool);
}

static void count_warning(void *context, tt_log_level level, const char *text) {
  int *warnings = context;
  *warnings += level == TT_LOG_WARNING && strstr(text, "tried again");
}

/** Whatever ails the disk is said, once; where it is not a sector, nothing is given up. */
static void test_what_cannot_be_read_is_said(void **state) {
  static const int troubles[] = {EIO, ESTALE, ENXIO};
  for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
    uint64_t ends[FRAMES + 1];
    char drained[2 * FRAMES + 1] = "";
    int warnings = 0;
    assert_int_equal(clean(state), 0);
    tt_spool_patience = i ? 0 : INT64_MAX;
    tt_spool *spool = open_spool();
    append_noting(spool, ends);
    bad.from = BLOCK;
    bad.to = 2 * BLOCK;
    bad.trouble = troubles[i];
    tt_log_divert(count_warning, &warnings);
    for (int turn = 0; turn < 3; turn++) assert_int_equal(drain_now(spool, drained), TT_FAILED);
    tt_log_divert(NULL, NULL);
    assert_int_equal(warnings, 1);
    bad.to = 0;
    assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    tt_spool_close(spool);
  }
}

/** What is given up is lost when it is dropped: as long as the database is away it may be read yet. */
static void test_what_is_given_up_and_read_before_it_is_dropped(void **state) {
  for (int way = 0; way < 2; way++) {
    uint64_t ends[FRAMES + 1];
    char all[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
    tt_error error;
    assert_int_equal(clean(state), 0);
    tt_spool *spool = open_spool();
    append_noting(spool, ends);
    bad.from = 0;
    expect(ends, all);
    bad.from = way ? (off_t)(ends[FRAMES] - 1) / BLOCK * BLOCK : 0;
    bad.to = bad.from + BLOCK;
    tt_store_batch *batch = tt_store_batch_new();
    for (int turn = 0; turn < 3; turn++)
      assert_int_equal(tt_spool_front(spool, batch, &error), TT_OK);
    tt_store_batch_free(batch);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    bad.to = 0;
    assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
    assert_string_equal(drained, all);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    tt_spool_close(spool);
  }
}

/** It was the last sector when it was opened; what is put there meanwhile stands behind. */
static void test_a_last_sector_that_can_be_read_again(void **state) {
  for (int way = 0; way < 2; way++) {
    uint64_t ends[FRAMES + 1];
    char all[2 * FRAMES + 3], drained[2 * FRAMES + 3] = "";
    assert_int_equal(clean(state), 0);
    tt_spool_patience = INT64_MAX;
    tt_spool *spool = open_spool();
    append_noting(spool, ends);
    tt_spool_close(spool);
    bad.from = 0;
    expect(ends, all);
    bad.from = (off_t)(ends[FRAMES] - 1) / BLOCK * BLOCK;
    bad.to = bad.from + BLOCK;
    spool = open_spool();
    if (way) append(spool, 1, 1);
    if (way) strcat(all, "11");
    assert_int_equal(drain_now(spool, drained), TT_FAILED);
    bad.to = 0;
    assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
    assert_string_equal(drained, all);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    assert_int_equal(tt_spool_bytes(spool), 0);
    tt_spool_close(spool);
  }
}

/** The same, read again only at another start: nothing was written into the rest of its block. */
static void test_a_last_sector_that_can_be_read_at_the_next_start(void **state) {
  for (int way = 0; way < 2; way++) {
    uint64_t ends[FRAMES + 1];
    char all[2 * FRAMES + 3];
    assert_int_equal(clean(state), 0);
    tt_spool *spool = open_spool();
    append_noting(spool, ends);
    tt_spool_close(spool);
    bad.from = 0;
    expect(ends, all);
    bad.from = (off_t)(ends[FRAMES] - 1) / BLOCK * BLOCK;
    bad.to = bad.from + BLOCK;
    spool = open_spool();
    bad.unwritable = way;
    if (way) fail_to_append(spool);
    bad.unwritable = false;
    if (!way) append(spool, 1, 1);
    if (!way) strcat(all, "11");
    tt_spool_close(spool);
    bad.to = 0;
    spool = open_spool();
    assert_holds(spool, all);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    tt_spool_close(spool);
  }
}

/** It goes bad while it is open. What comes meanwhile stands behind it, and after a while it is given up, unless nothing can be written
 *  there either. */
static void test_a_last_sector_that_goes_bad(void **state) {
  for (int way = 0; way < 3; way++) {
    uint64_t ends[FRAMES + 1];
    char expected[2 * FRAMES + 3], drained[2 * FRAMES + 3] = "";
    assert_int_equal(clean(state), 0);
    tt_spool_patience = INT64_MAX;
    tt_spool *spool = open_spool();
    append_noting(spool, ends);
    bad.from = (off_t)(ends[FRAMES] - 1) / BLOCK * BLOCK;
    bad.to = bad.from + BLOCK;
    const uint64_t lost = expect(ends, expected);
    if (way == 1) append(spool, 1, 1);
    if (way == 1) strcat(expected, "11");
    assert_int_equal(drain_now(spool, drained), TT_FAILED);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    tt_spool_patience = 0;
    bad.unwritable = true;
    if (way == 2) assert_int_equal(drain_now(spool, drained), TT_FAILED);
    if (way == 2) bad.to = 0;
    if (way == 2) expect(ends, expected);
    bad.unwritable = false;
    assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
    assert_string_equal(drained, expected);
    assert_int_equal(tt_spool_lost(spool).places, way < 2);
    assert_true(tt_spool_lost(spool).bytes >= (way < 2 ? lost : 0));
    assert_int_equal(tt_spool_bytes(spool), 0);
    bad.to = 0;
    append(spool, 1, 2);
    assert_holds(spool, "1122");
    tt_spool_close(spool);
  }
}

/** Nothing else waits: it does not keep the program from starting. */
static void test_an_only_sector_that_cannot_be_read(void **state) {
  (void)state;
  for (int way = 0; way < 2; way++) {
    tt_spool *spool = open_spool();
    append(spool, 1, 2);
    tt_spool_close(spool);
    tt_spool_patience = INT64_MAX;
    bad.from = 0;
    bad.to = BLOCK;
    spool = open_spool();
    append(spool, 3, 3);
    char drained[20] = "";
    assert_int_equal(drain_now(spool, drained), TT_FAILED);
    if (way) bad.to = 0;
    tt_spool_patience = 0;
    assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
    assert_string_equal(drained, way ? "112233" : "33");
    assert_int_equal(tt_spool_lost(spool).places, !way);
    bad.to = 0;
    tt_spool_close(spool);
  }
}

/** A crash tore what stands behind it: what can't be read is not cut off with that. */
static void test_an_end_that_is_torn_behind_what_cannot_be_read(void **state) {
  uint64_t ends[FRAMES + 1];
  char all[2 * FRAMES + 1];
  int whole = 0;
  assert_int_equal(clean(state), 0);
  tt_spool *spool = open_spool();
  append_noting(spool, ends);
  tt_spool_close(spool);
  bad.from = 0;
  expect(ends, all);
  while (ends[whole] < 2 * BLOCK) whole++;  // the last one of them begins in what can't be read
  all[2 * whole] = 0;
  const uint64_t torn = ends[whole] + 10;
  assert_int_equal(truncate(path, (off_t)torn), 0);
  bad.to = 2 * BLOCK;
  for (int way = 0; way < 2; way++) {
    bad.from = way ? BLOCK : 0;
    spool = open_spool();
    assert_int_equal(size_of_file(), torn);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    tt_spool_close(spool);
  }
  bad.to = 0;
  spool = open_spool();
  assert_holds(spool, all);
  assert_int_equal(tt_spool_lost(spool).places, 0);
  tt_spool_close(spool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_batches_come_out_as_they_went_in, clean),
      cmocka_unit_test_setup(test_torn_and_grown, clean),
      cmocka_unit_test_setup(test_a_flipped_bit, clean),
      cmocka_unit_test_setup(test_a_flipped_bit_while_it_is_open, clean),
      cmocka_unit_test_setup(test_a_copy_elsewhere_is_no_frame, clean),
      cmocka_unit_test_setup(test_a_sector_that_cannot_be_read, clean),
      cmocka_unit_test_setup(test_a_last_sector_that_cannot_be_read, clean),
      cmocka_unit_test_setup(test_a_disk_that_cannot_be_read, clean),
      cmocka_unit_test_setup(test_what_can_be_read_again, clean),
      cmocka_unit_test_setup(test_what_cannot_be_read_is_given_up, clean),
      cmocka_unit_test_setup(test_what_cannot_be_read_is_said, clean),
      cmocka_unit_test_setup(test_what_is_given_up_and_read_before_it_is_dropped, clean),
      cmocka_unit_test_setup(test_a_last_sector_that_can_be_read_again, clean),
      cmocka_unit_test_setup(test_a_last_sector_that_can_be_read_at_the_next_start, clean),
      cmocka_unit_test_setup(test_a_last_sector_that_goes_bad, clean),
      cmocka_unit_test_setup(test_an_only_sector_that_cannot_be_read, clean),
      cmocka_unit_test_setup(test_an_end_that_is_torn_behind_what_cannot_be_read, clean),
      cmocka_unit_test_setup(test_the_old_format, clean),
      cmocka_unit_test_setup(test_names_and_pairs, clean),
      cmocka_unit_test_setup(test_removed, clean),
      cmocka_unit_test_setup(test_what_comes_by_chance, clean),
  };
  // In memory, since every batch is synced.
  const char *where = g_access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(folder, sizeof folder, "%s/tether-spool-XXXXXX", where);
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/spool", folder);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  clean(NULL);
  g_rmdir(folder);
  return failed;
}
