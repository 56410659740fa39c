/* spool_test.c: what a spool keeps: torn by a crash and grown afterwards, with a bit changed anywhere, left by an older version, removed
 * while it is in use. */
#include "store/spool/spool_testing.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int clean(void **state) {
  (void)state;
  g_unlink(spool_path());
  return 0;
}

static void flip(uint64_t bit) {
  FILE *file = fopen(spool_path(), "r+b");
  assert_int_equal(fseek(file, (long)(bit / 8), SEEK_SET), 0);
  int byte = fgetc(file);
  assert_int_equal(fseek(file, (long)(bit / 8), SEEK_SET), 0);
  fputc(byte ^ 1 << bit % 8, file);
  assert_int_equal(fclose(file), 0);
}

/* --- */

static void test_batches_come_out_as_they_went_in(void **state) {
  (void)state;
  tt_spool *spool = spool_open();
  spool_append(spool, 1, 3);
  spool_assert_holds(spool, "112233");
  spool_append(spool, 4, 5);
  tt_spool_close(spool);
  spool = spool_open();
  spool_append(spool, 6, 6);  // another process's: never one batch with those before
  spool_assert_holds(spool, "445566");
  assert_int_equal(tt_spool_lost(spool).places, 0);
  tt_spool_close(spool);
}

/** A crash may leave any part of what was being written; what comes after the next start is found behind it. */
static void test_torn_and_grown(void **state) {
  (void)state;
  tt_spool *spool = spool_open();
  spool_append(spool, 1, 2);
  uint64_t whole = tt_spool_bytes(spool);
  spool_append(spool, 3, 3);
  uint64_t end = tt_spool_bytes(spool);
  tt_spool_close(spool);
  char *before;
  gsize size;
  assert_true(g_file_get_contents(spool_path(), &before, &size, NULL));
  for (uint64_t torn = whole; torn < end; torn++) {
    assert_true(g_file_set_contents(spool_path(), before, (gssize)torn, NULL));
    spool = spool_open();
    assert_int_equal(tt_spool_bytes(spool), whole);
    assert_int_equal(spool_file_size(), whole);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    spool_append(spool, 4, 5);
    tt_spool_close(spool);
    spool = spool_open();
    spool_assert_holds(spool, "11224455");
    tt_spool_close(spool);
  }
  g_free(before);
}

/** Wherever a bit is changed: what stands before and behind is there, and how much is not is said. */
static void test_a_flipped_bit(void **state) {
  (void)state;
  for (uint64_t bit = 0;; bit += 7) {
    tt_spool *spool = spool_open();
    spool_append(spool, 1, 1);
    uint64_t first = tt_spool_bytes(spool);
    spool_append(spool, 2, 2);
    uint64_t second = tt_spool_bytes(spool);
    spool_append(spool, 3, 3);
    uint64_t third = tt_spool_bytes(spool);
    tt_spool_close(spool);
    if (bit >= 8 * third) break;
    flip(bit);
    spool = spool_open();
    tt_spool_loss lost = tt_spool_lost(spool);
    assert_int_equal(lost.places, 1);
    uint64_t from = bit < 8 * first ? 0 : bit < 8 * second ? first : second;
    uint64_t to = bit < 8 * first ? first : bit < 8 * second ? second : third;
    assert_int_equal(lost.bytes, to - from);
    // A head that is damaged doesn't say how many there were.
    assert_int_equal(lost.samples, bit < 8 * (from + 56) ? 0 : 2);
    spool_append(spool, 4, 4);
    spool_assert_holds(spool, from == 0 ? "223344" : from == first ? "113344" : "112244");
    assert_int_equal(tt_spool_lost(spool).places, 1);  // said once
    tt_spool_close(spool);
  }
  g_unlink(spool_path());
}

/** Bits may change while it is open, too. */
static void test_a_flipped_bit_while_it_is_open(void **state) {
  (void)state;
  tt_spool *spool = spool_open();
  spool_append(spool, 1, 4);
  flip(8 * (tt_spool_bytes(spool) / 2 + 80));
  spool_assert_holds(spool, "112244");
  assert_int_equal(tt_spool_lost(spool).places, 1);
  assert_int_equal(tt_spool_lost(spool).samples, 2);
  spool_append(spool, 5, 5);
  spool_assert_holds(spool, "55");
  tt_spool_close(spool);
}

/** Whole frames that stand where they were not written are none: a file put together by somebody. */
static void test_a_copy_elsewhere_is_no_frame(void **state) {
  (void)state;
  tt_spool *spool = spool_open();
  spool_append(spool, 1, 1);
  tt_spool_close(spool);
  char *frame;
  gsize size;
  assert_true(g_file_get_contents(spool_path(), &frame, &size, NULL));
  FILE *file = fopen(spool_path(), "ab");
  assert_int_equal(fwrite(frame, 1, size, file), size);
  fclose(file);
  g_free(frame);
  spool = spool_open();
  spool_assert_holds(spool, "11");
  tt_spool_close(spool);
}

/** Left by a version before this format: batches 1 to 3, half of 4, torn, and 5 to 7 behind it. */
static void test_the_old_format(void **state) {
  (void)state;
  char *bytes;
  gsize size;
  assert_true(
      g_file_get_contents(TETHER_SOURCE_DIR "/tests/telemetry/old.spool", &bytes, &size, NULL));
  assert_true(g_file_set_contents(spool_path(), bytes, (gssize)size, NULL));
  g_free(bytes);
  tt_spool *spool = spool_open();
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
  spool_append(spool, 8, 8);
  spool_assert_holds(spool, "11223355667788");
  tt_spool_close(spool);
}

/** Of what is gathered from several frames the last that is said of a name counts. */
static void test_names_and_pairs(void **state) {
  (void)state;
  tt_error error;
  static const tt_name_state states[] = {TT_NAME_USED, TT_NAME_KNOWN, TT_NAME_REMOVED,
                                         TT_NAME_KNOWN, TT_NAME_USED};
  tt_spool *spool = spool_open();
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
  tt_spool *spool = spool_open();
  spool_append(spool, 1, 1);
  assert_int_equal(g_unlink(spool_path()), 0);
  tt_store_batch *batch = spool_batch(2);
  assert_int_equal(tt_spool_append(spool, batch, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "removed"));
  spool_assert_holds(spool, "11");
  assert_int_equal(tt_spool_append(spool, batch, &error), TT_OK);  // in a file made anew
  tt_store_batch_free(batch);
  tt_spool_close(spool);
  spool = spool_open();
  spool_assert_holds(spool, "22");
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
  of->spool = spool_open_of(SMALL);
  of->opening++;
  of->popped = 0;  // what was dropped comes back, unless all was
}

static void model_append(model *of) {
  tt_error error;
  tt_store_batch *batch = spool_batch(of->next);
  tt_status status = tt_spool_append(of->spool, batch, &error);
  tt_store_batch_free(batch);
  if (status == TT_FULL) {
    of->times_full++;
    assert_true(spool_file_size() > SMALL / 2);
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
  const uint64_t before = spool_file_size();
  const guint len = of->numbers->len;
  model_append(of);
  const uint64_t after = spool_file_size();
  tt_spool_close(of->spool);
  if (after > before) {
    const gint32 left = g_rand_int_range(chance, (gint32)before, (gint32)after);
    assert_int_equal(truncate(spool_path(), left), 0);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_batches_come_out_as_they_went_in, clean),
      cmocka_unit_test_setup(test_torn_and_grown, clean),
      cmocka_unit_test_setup(test_a_flipped_bit, clean),
      cmocka_unit_test_setup(test_a_flipped_bit_while_it_is_open, clean),
      cmocka_unit_test_setup(test_a_copy_elsewhere_is_no_frame, clean),
      cmocka_unit_test_setup(test_the_old_format, clean),
      cmocka_unit_test_setup(test_names_and_pairs, clean),
      cmocka_unit_test_setup(test_removed, clean),
      cmocka_unit_test_setup(test_what_comes_by_chance, clean),
  };
  return cmocka_run_group_tests(tests, spool_begin, spool_end);
}
