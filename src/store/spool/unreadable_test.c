/* unreadable_test.c: what a spool keeps whose disk has sectors that can't be read, for a moment or for good. */
#include "store/spool/spool_testing.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

/** Bytes that pread() can't read; it reads up to them, or, where it is coarse, nothing of what they are in. */
static struct {
  off_t from, to;
  bool coarse;
  off_t full;      /**< behind that the disk has no room; 0: it has */
  bool unwritable; /**< nor can anything be written: it is the disk that has gone */
  int trouble;     /**< what pread() says */
  int met, writes;
  int left;          /**< after so many times all is well; −1: never */
  bool well_written; /**< …and once something is written */
} bad;

#define SECOND 1000000
#define HOUR (INT64_C(3600) * SECOND) /* µs */
static int64_t later;                 /**< µs by which the clock is put on */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
  const int failed = __real_clock_gettime(clock, now);
  now->tv_sec += later / SECOND;
  return failed;
}

static int clean(void **state) {
  (void)state;
  g_unlink(spool_path());
  bad.to = 0;
  bad.unwritable = false;
  bad.full = 0;
  bad.trouble = EIO;
  bad.left = -1;
  bad.well_written = false;
  tt_spool_patience = 0;
  return 0;
}

#define BLOCK 4096
#define FRAMES 40

ssize_t __real_pread(int file, void *bytes, size_t size, off_t position);
ssize_t __wrap_pread(int file, void *bytes, size_t size, off_t position);
ssize_t __wrap_pread(int file, void *bytes, size_t size, off_t position) {
  if (position < bad.to && position + (off_t)size > bad.from && !bad.left) bad.to = 0;
  if (position < bad.to && position + (off_t)size > bad.from) {
    bad.met++;
    if (bad.left > 0) bad.left--;
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
  bad.writes++;
  if (bad.well_written) bad.to = 0;
  if (bad.unwritable || is_written_into_bad(size, position)) {
    errno = EIO;
    return -1;
  }
  if (bad.full && position + (off_t)size > bad.full) {
    errno = ENOSPC;
    return -1;
  }
  return __real_pwrite(file, bytes, size, position);
}

static void fail_to_append(tt_spool *spool) {
  tt_error error;
  tt_store_batch *batch = spool_batch(1);
  assert_int_equal(tt_spool_append(spool, batch, &error), TT_FAILED);
  tt_store_batch_free(batch);
}

/** Appends frames, and notes where each ends. */
static void append_noting(tt_spool *spool, uint64_t ends[FRAMES + 1]) {
  ends[0] = 0;
  for (int n = 1; n <= FRAMES; n++) {
    spool_append(spool, n, n);
    ends[n] = spool_file_size();
  }
  assert_true(ends[FRAMES] > 3 * BLOCK);
}

/** A new spool of FRAMES frames, on a good disk. */
static tt_spool *begin_filled(void **state, uint64_t ends[FRAMES + 1]) {
  assert_int_equal(clean(state), 0);
  tt_spool *spool = spool_open();
  append_noting(spool, ends);
  return spool;
}

/** The sector in which the last frame ends can't be read. */
static void make_last_bad(const uint64_t ends[FRAMES + 1]) {
  bad.from = (off_t)(ends[FRAMES] - 1) / BLOCK * BLOCK;
  bad.to = bad.from + BLOCK;
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
    tt_spool *spool = begin_filled(state, ends);
    bad.from = way < 2 ? BLOCK : 0;  // the first one, too
    bad.to = 2 * BLOCK;
    bad.coarse = way % 2;
    bad.met = 0;
    const uint64_t lost = expect(ends, expected);
    if (way < 2) spool_assert_holds(spool, expected);
    if (way >= 2) tt_spool_close(spool);
    if (way >= 2) spool = spool_open();
    if (way >= 2) spool_assert_holds(spool, expected);
    assert_true(bad.met > 0);
    assert_int_equal(tt_spool_lost(spool).places, 1);
    assert_int_equal(tt_spool_lost(spool).bytes, lost);
    bad.to = 0;
    spool_append(spool, 1, 2);
    spool_assert_holds(spool, "1122");
    tt_spool_close(spool);
  }
}

/** What is put there afterwards does not stand next to it. */
static void test_a_last_sector_that_cannot_be_read(void **state) {
  uint64_t ends[FRAMES + 1];
  char expected[2 * FRAMES + 8];
  tt_spool *spool = begin_filled(state, ends);
  tt_spool_close(spool);
  make_last_bad(ends);
  expect(ends, expected);
  spool = spool_open();
  assert_int_equal(tt_spool_lost(spool).places, 0);  // it may be read yet
  spool_assert_holds(spool, expected);
  assert_int_equal(tt_spool_lost(spool).places, 1);
  tt_spool_close(spool);

  assert_int_equal(clean(state), 0);
  bad.to = 0;
  spool = spool_open();
  append_noting(spool, ends);
  tt_spool_close(spool);
  bad.to = bad.from + BLOCK;
  for (int turn = 0; turn < 2; turn++) {
    spool = spool_open();
    spool_append(spool, FRAMES + 1 + turn, FRAMES + 1 + turn);
    tt_spool_close(spool);
    assert_true(spool_file_size() > (uint64_t)bad.to);
  }
  spool = spool_open();
  strcat(expected,
         (char[]){'0' + FRAMES + 1, '0' + FRAMES + 1, '0' + FRAMES + 2, '0' + FRAMES + 2, 0});
  spool_assert_holds(spool, expected);
  assert_int_equal(tt_spool_lost(spool).places, 1);
  tt_spool_close(spool);
  bad.to = 0;
}

/** Where nothing can be read any more it is the disk that has gone: what waits is still there when that is back. */
static void test_a_disk_that_cannot_be_read(void **state) {
  uint64_t ends[FRAMES + 1];
  char expected[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
  tt_error error;
  tt_spool *spool = begin_filled(state, ends);
  bad.from = BLOCK;
  bad.to = (off_t)ends[FRAMES];
  bad.unwritable = true;
  tt_store_batch *batch = tt_store_batch_new();
  assert_int_equal(tt_spool_front(spool, batch, &error), TT_OK);  // what stands before
  spool_count(batch, drained);
  tt_spool_pop(spool);
  expect(ends, expected);
  assert_string_equal(drained, expected);
  assert_int_equal(tt_spool_front(spool, batch, &error), TT_FAILED);
  tt_store_batch_free(batch);
  bad.from = 0;
  tt_spool *other = NULL;
  tt_spool_close(spool);
  assert_int_equal(tt_spool_open(spool_path(), 1 << 20, &other, &error), TT_FAILED);
  bad.to = 0;
  bad.unwritable = false;
  spool = spool_open();
  expect(ends, expected);
  spool_assert_holds(spool, expected);
  assert_int_equal(tt_spool_lost(spool).places, 0);
  tt_spool_close(spool);
}

/** Takes out all that is given, and counts it; how that ended. */
static tt_status drain_now(tt_spool *spool, char *counted) {
  tt_error error;
  tt_status status;
  tt_store_batch *batch = tt_store_batch_new();
  while ((status = tt_spool_front(spool, batch, &error)) == TT_OK) {
    spool_count(batch, counted);
    tt_spool_pop(spool);
  }
  tt_store_batch_free(batch);
  return status;
}

/** All is well again, or will be by the last of so many turns: nothing is lost. */
static void expect_all(tt_spool *spool, int turns, char *drained, const char *all) {
  tt_status status = TT_FAILED;
  for (int i = 0; i < turns && status == TT_FAILED; i++) status = drain_now(spool, drained);
  assert_int_equal(status, TT_NOT_FOUND);
  assert_string_equal(drained, all);
  assert_int_equal(tt_spool_lost(spool).places, 0);
}

/** A disk that is slow to come back, a cable: what can be read a moment later is not lost. */
static void test_what_can_be_read_again(void **state) {
  for (int way = 0; way < 3; way++) {
    uint64_t ends[FRAMES + 1];
    char expected[2 * FRAMES + 1], all[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
    tt_spool *spool = begin_filled(state, ends);
    tt_spool_patience = INT64_MAX;
    bad.from = bad.to = 0;
    expect(ends, all);
    bad.from = way < 2 ? BLOCK : 0;
    bad.to = 2 * BLOCK;
    expect(ends, expected);
    if (way) tt_spool_close(spool);
    if (way) spool = spool_open();
    char looked[2 * FRAMES + 1];
    spool_look(spool, looked);  // passes it
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
  tt_spool *spool = begin_filled(state, ends);
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
    tt_spool *spool = begin_filled(state, ends);
    tt_spool_patience = i ? 0 : INT64_MAX;
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
  for (int way = 0; way < 3; way++) {  // the last one: nothing else is left
    uint64_t ends[FRAMES + 1];
    char all[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
    tt_error error;
    tt_spool *spool = begin_filled(state, ends);
    bad.from = 0;
    expect(ends, all);
    bad.from = way == 1 ? (off_t)(ends[FRAMES] - 1) / BLOCK * BLOCK : 0;
    bad.to = way == 2 ? (off_t)ends[FRAMES] : bad.from + BLOCK;
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
    tt_spool *spool = begin_filled(state, ends);
    tt_spool_patience = INT64_MAX;
    tt_spool_close(spool);
    bad.from = 0;
    expect(ends, all);
    make_last_bad(ends);
    spool = spool_open();
    if (way) spool_append(spool, 1, 1);
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
    tt_spool *spool = begin_filled(state, ends);
    tt_spool_close(spool);
    bad.from = 0;
    expect(ends, all);
    make_last_bad(ends);
    spool = spool_open();
    bad.unwritable = way;
    if (way) fail_to_append(spool);
    bad.unwritable = false;
    if (!way) spool_append(spool, 1, 1);
    if (!way) strcat(all, "11");
    tt_spool_close(spool);
    bad.to = 0;
    spool = spool_open();
    spool_assert_holds(spool, all);
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
    tt_spool *spool = begin_filled(state, ends);
    tt_spool_patience = INT64_MAX;
    make_last_bad(ends);
    const uint64_t lost = expect(ends, expected);
    if (way == 1) spool_append(spool, 1, 1);
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
    spool_append(spool, 1, 2);
    spool_assert_holds(spool, "1122");
    tt_spool_close(spool);
  }
}

/** Nothing else waits: it does not keep the program from starting. */
static void test_an_only_sector_that_cannot_be_read(void **state) {
  (void)state;
  for (int way = 0; way < 2; way++) {
    tt_spool *spool = spool_open();
    spool_append(spool, 1, 2);
    tt_spool_close(spool);
    tt_spool_patience = INT64_MAX;
    bad.from = 0;
    bad.to = BLOCK;
    spool = spool_open();
    spool_append(spool, 3, 3);
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
  tt_spool *spool = begin_filled(state, ends);
  tt_spool_close(spool);
  bad.from = 0;
  expect(ends, all);
  while (ends[whole] < 2 * BLOCK) whole++;  // the last one of them begins in what can't be read
  all[2 * whole] = 0;
  const uint64_t torn = ends[whole] + 10;
  assert_int_equal(truncate(spool_path(), (off_t)torn), 0);
  bad.to = 2 * BLOCK;
  for (int way = 0; way < 2; way++) {
    bad.from = way ? BLOCK : 0;
    spool = spool_open();
    assert_int_equal(spool_file_size(), torn);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    tt_spool_close(spool);
  }
  bad.to = 0;
  spool = spool_open();
  spool_assert_holds(spool, all);
  assert_int_equal(tt_spool_lost(spool).places, 0);
  tt_spool_close(spool);
}

/** It is back in the middle of a turn: what was tried before that says nothing about a place. */
static void test_a_disk_that_is_back_at_any_moment(void **state) {
  for (int left = -1; left < 20; left++) {
    for (int turns = 1; turns < 4; turns++) {
      uint64_t ends[FRAMES + 1];
      char all[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
      tt_spool *spool = begin_filled(state, ends);
      tt_spool_patience = HOUR;
      bad.from = bad.to = 0;
      expect(ends, all);
      bad.to = (off_t)ends[FRAMES];
      bad.unwritable = true;
      for (int i = 0; i < turns; i++, later += HOUR)
        assert_int_equal(drain_now(spool, drained), TT_FAILED);
      bad.unwritable = false;
      bad.well_written = left < 0;
      bad.left = left;
      expect_all(spool, 3, drained, all);
      tt_spool_close(spool);
    }
  }
}

/** Now and then what stands behind it can't be read either: it is given up for itself. */
static void test_a_place_whose_end_changes(void **state) {
  uint64_t ends[FRAMES + 1];
  char expected[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
  tt_spool *spool = begin_filled(state, ends);
  tt_spool_patience = HOUR;
  bad.from = 0;
  for (int turn = 0; turn < 8; turn++, later += HOUR / 4) {
    bad.to = turn % 2 ? 2 * BLOCK : BLOCK;
    const tt_status status = drain_now(spool, drained);
    if (status == TT_NOT_FOUND) break;
    assert_int_equal(status, TT_FAILED);
  }
  expect(ends, expected);
  assert_int_equal(bad.to, BLOCK);
  assert_string_equal(drained, expected);
  assert_int_equal(tt_spool_lost(spool).places, 1);
  tt_spool_close(spool);
}

/** Another trouble says nothing of a place: when it can't be read after that, it is tried for as long as any other. */
static void test_a_sector_that_cannot_be_read_after_other_trouble(void **state) {
  uint64_t ends[FRAMES + 1];
  char all[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
  tt_spool *spool = begin_filled(state, ends);
  tt_spool_patience = HOUR;
  bad.from = bad.to = 0;
  expect(ends, all);
  bad.from = BLOCK;
  bad.to = 2 * BLOCK;
  bad.trouble = ESTALE;
  assert_int_equal(drain_now(spool, drained), TT_FAILED);
  later += HOUR;
  assert_int_equal(drain_now(spool, drained), TT_FAILED);
  bad.trouble = EIO;
  assert_int_equal(drain_now(spool, drained), TT_FAILED);
  bad.to = 0;
  assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
  assert_string_equal(drained, all);
  assert_int_equal(tt_spool_lost(spool).places, 0);
  tt_spool_close(spool);
}

/** The disk is not asked in every turn whether it is there; a kill meanwhile leaves nothing that is taken for damage. */
static void test_a_last_sector_that_stays_bad(void **state) {
  uint64_t ends[FRAMES + 1];
  char all[2 * FRAMES + 1];
  tt_error error;
  tt_spool *spool = begin_filled(state, ends);
  bad.from = bad.to = 0;
  expect(ends, all);
  make_last_bad(ends);
  bad.writes = 0;
  tt_store_batch *batch = tt_store_batch_new();
  for (int turn = 0; turn < 100; turn++)
    assert_int_equal(tt_spool_front(spool, batch, &error), TT_OK);
  tt_store_batch_free(batch);
  assert_int_equal(bad.writes, 1);
  tt_spool_close(spool);
  assert_int_equal(truncate(spool_path(), bad.to + BLOCK), 0);
  for (int way = 0; way < 2; way++) {
    if (way) bad.to = 0;
    spool = spool_open();
    assert_int_equal(tt_spool_lost(spool).places, 0);
    if (way) spool_assert_holds(spool, all);
    assert_int_equal(tt_spool_lost(spool).places, 0);
    tt_spool_close(spool);
  }
}

/** A disk that is full is there, and one that has gone may have been full. */
static void test_a_last_sector_that_goes_bad_on_a_full_disk(void **state) {
  uint64_t ends[FRAMES + 1];
  char expected[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
  tt_spool *spool = begin_filled(state, ends);
  bad.from = (off_t)(ends[FRAMES] - 1) / BLOCK * BLOCK;
  bad.to = bad.full = bad.from + BLOCK;
  const uint64_t lost = expect(ends, expected);
  bad.unwritable = true;
  assert_int_equal(drain_now(spool, drained), TT_FAILED);
  assert_string_equal(drained, expected);
  bad.unwritable = false;
  assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
  assert_string_equal(drained, expected);
  assert_int_equal(tt_spool_lost(spool).places, 1);
  assert_true(tt_spool_lost(spool).bytes >= lost);
  tt_spool_close(spool);
}

/** Nothing was dropped yet from which it could be told that the disk is there. */
static void test_a_first_sector_that_goes_bad_on_a_full_disk(void **state) {
  uint64_t ends[FRAMES + 1];
  char expected[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
  tt_spool *spool = begin_filled(state, ends);
  bad.from = 0;
  bad.to = BLOCK;
  bad.full = (off_t)ends[FRAMES];
  const uint64_t lost = expect(ends, expected);
  bad.unwritable = true;
  assert_int_equal(drain_now(spool, drained), TT_FAILED);
  bad.unwritable = false;
  assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
  assert_string_equal(drained, expected);
  assert_int_equal(tt_spool_lost(spool).bytes, lost);
  tt_spool_close(spool);
}

/** The disk has gone, and what was written last is read from memory: that is no place behind which others can be read. */
static void test_a_disk_that_has_gone_but_for_what_is_in_memory(void **state) {
  for (int way = 0; way < 3; way++) {
    uint64_t ends[FRAMES + 1];
    char all[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
    tt_spool *spool = begin_filled(state, ends);
    tt_spool_patience = HOUR;
    bad.from = bad.to = 0;
    expect(ends, all);
    bad.to = way ? 2 * BLOCK : (off_t)ends[FRAMES] - 1;  // the last one is torn then
    bad.unwritable = true;
    for (int turn = 0; turn < 3; turn++, later += HOUR)
      assert_int_equal(drain_now(spool, drained), TT_FAILED);
    bad.unwritable = false;
    bad.well_written = way == 1;  // it is back just before it is asked
    if (way != 1) bad.to = 0;
    expect_all(spool, 2, drained, all);
    tt_spool_close(spool);
  }
}

/** It is back, and a sector went bad with it: that is tried again for as long as any other, and is asked for once. */
static void test_a_sector_that_cannot_be_read_on_a_disk_that_is_back(void **state) {
  uint64_t ends[FRAMES + 1];
  char expected[2 * FRAMES + 1], drained[2 * FRAMES + 1] = "";
  tt_error error;
  tt_spool *spool = begin_filled(state, ends);
  tt_spool_patience = HOUR;
  bad.from = 0;
  bad.to = BLOCK;
  expect(ends, expected);
  bad.unwritable = true;
  for (int turn = 0; turn < 3; turn++, later += HOUR)
    assert_int_equal(drain_now(spool, drained), TT_FAILED);
  bad.unwritable = false;
  bad.writes = 0;
  later -= HOUR;
  assert_int_equal(drain_now(spool, drained), TT_FAILED);
  later += HOUR;
  tt_store_batch *batch = tt_store_batch_new();
  for (int turn = 0; turn < 100; turn++)
    assert_int_equal(tt_spool_front(spool, batch, &error), TT_OK);
  tt_store_batch_free(batch);
  assert_int_equal(bad.writes, 1);
  assert_int_equal(drain_now(spool, drained), TT_NOT_FOUND);
  assert_string_equal(drained, expected);
  assert_int_equal(tt_spool_lost(spool).places, 1);
  tt_spool_close(spool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
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
      cmocka_unit_test_setup(test_a_disk_that_is_back_at_any_moment, clean),
      cmocka_unit_test_setup(test_a_place_whose_end_changes, clean),
      cmocka_unit_test_setup(test_a_sector_that_cannot_be_read_after_other_trouble, clean),
      cmocka_unit_test_setup(test_a_last_sector_that_stays_bad, clean),
      cmocka_unit_test_setup(test_a_last_sector_that_goes_bad_on_a_full_disk, clean),
      cmocka_unit_test_setup(test_a_first_sector_that_goes_bad_on_a_full_disk, clean),
      cmocka_unit_test_setup(test_a_disk_that_has_gone_but_for_what_is_in_memory, clean),
      cmocka_unit_test_setup(test_a_sector_that_cannot_be_read_on_a_disk_that_is_back, clean),
  };
  return cmocka_run_group_tests(tests, spool_begin, spool_end);
}
