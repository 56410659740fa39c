/* The overview of a run against its samples, one by one: while it grows, while parts become fewer, from its file, and in plots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/log_file.h"
#include "record/overview.h"
#include "record/run_log_internal.h"
#include "record/trace.h"

#define SIGNALS 4
#define TICK 10000u /* µs */
#define CHECKSUM 9

static const char *const names[SIGNALS] = {"noise", "constant", "late", "step"};
static char path[64];

/* Values that anybody can compute again. */
static double value_of(int signal, uint64_t sample) {
  uint64_t random = (sample + 1) * 0x9e3779b97f4a7c15u;
  switch (signal) {
    case 0: return (double)((random ^ random >> 29) % 1000003) / 1000;
    case 1: return 4.5;
    case 2: return sample < 777 ? NAN : (double)(sample / 1000);
    default: return (double)(sample > 5000);
  }
}

/* Nothing is sampled for ten seconds in the middle, as where a disk was slow. */
static bool is_gap(uint64_t sample) { return sample >= 3000 && sample < 4000; }

static void write_samples(tt_log_file *file, uint64_t from, uint64_t until) {
  tt_bytes out = {0};
  for (uint64_t i = from; i < until; i++)
    for (int s = 0; s < SIGNALS && !is_gap(i); s++) {
      double value = value_of(s, i);
      if (!isnan(value) && (i == 0 || value != value_of(s, i - 1) || is_gap(i - 1)))
        tt_wpilog_write_double(&out, (uint32_t)s + 1, i * TICK, value);
    }
  assert_true(tt_log_file_write(file, out.data, out.size, until * TICK));
  tt_bytes_free(&out);
}

static tt_log_file *begin_log(void) {
  tt_log_file *file;
  tt_bytes out = {0};
  snprintf(path, sizeof path, "/tmp/tether_overview_%d.wpilog", getpid());
  unlink(path);
  assert_int_equal(tt_log_file_open(path, CHECKSUM, &file, NULL), TT_OK);
  tt_wpilog_write_header(&out, "");
  for (int s = 0; s < SIGNALS; s++) {
    char name[40];
    snprintf(name, sizeof name, "/signals/%s", names[s]);
    tt_wpilog_write_start(&out, (uint32_t)s + 1, name, "double", "", 0);
  }
  tt_wpilog_write_start(&out, CHECKSUM, "/tether/checksum", "raw", "", 0);
  assert_true(tt_log_file_write(file, out.data, out.size, 0));
  tt_bytes_free(&out);
  return file;
}

static void end_log(tt_log_file *file) {
  char overview[80];
  tt_log_file_close(file);
  snprintf(overview, sizeof overview, "%s.overview", path);
  unlink(overview);
  unlink(path);
}

static tt_run_log *open_growing(void) {
  tt_run_log *log;
  tt_error error = {.text = ""};
  if (tt_run_log_open_growing(path, &log, &error) != TT_OK) fail_msg("%s", error.text);
  return log;
}

static void take_all(tt_overview *overview) {
  tt_status status;
  do status = tt_overview_take(overview, 100);
  while (status == TT_OK);
  assert_int_equal(status, TT_END);
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* A part against all samples that are in it. */
static void check_part(const tt_overview *overview, size_t part) {
  uint64_t every = tt_overview_every(overview), first, last, begin = part * every / TICK;
  tt_extremes expected[SIGNALS];
  bool any = tt_overview_times(overview, part, &first, &last), found = false;
  for (int s = 0; s < SIGNALS; s++) expected[s] = (tt_extremes){NAN, NAN};
  if (begin * TICK < part * every) begin++;
  for (uint64_t i = begin; i * TICK < (part + 1) * every; i++) {
    if (is_gap(i)) continue;
    assert_true(any && i * TICK >= first && i * TICK <= last);
    found = true;
    for (int s = 0; s < SIGNALS; s++) {
      double value = value_of(s, i);
      expected[s] = tt_extremes_join(expected[s], (tt_extremes){value, value});
    }
  }
  assert_int_equal(found, any);
  for (int s = 0; s < SIGNALS && found; s++) {
    tt_extremes is = tt_overview_part(overview, (uint32_t)s + 1, part);
    assert_true(same(is.one, expected[s].one) && same(is.other, expected[s].other));
  }
}

static void check(const tt_overview *overview, uint64_t samples) {
  uint64_t every = tt_overview_every(overview);
  assert_int_equal(tt_overview_complete(overview), (samples - 1) * TICK / every);
  for (size_t i = 0; i < tt_overview_complete(overview); i++) check_part(overview, i);
}

static void joined_extremes_keep_their_order(void **state) {
  (void)state;
  tt_extremes up = tt_extremes_join((tt_extremes){1, 2}, (tt_extremes){5, 3});
  assert_true(up.one == 1 && up.other == 5);
  tt_extremes down = tt_extremes_join((tt_extremes){4, 6}, (tt_extremes){2, 3});
  assert_true(down.one == 6 && down.other == 2);
  tt_extremes none = tt_extremes_join((tt_extremes){NAN, NAN}, (tt_extremes){2, 1});
  assert_true(none.one == 2 && none.other == 1);
}

/* Every part of it, after each piece that a recorder wrote; at last there are 20,000 samples in at most 4096 parts. */
static void it_grows_with_its_log(void **state) {
  (void)state;
  static const uint64_t ends[] = {1, 500, 2999, 3500, 4096, 4500, 8192, 8200, 20000};
  tt_log_file *file = begin_log();
  tt_run_log *log = open_growing();
  tt_overview *overview = tt_overview_new(log);
  uint64_t written = 0;
  assert_true(tt_run_log_grows(log));
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    write_samples(file, written, ends[i]);
    written = ends[i];
    assert_int_equal(tt_run_log_follow(log), TT_OK);
    take_all(overview);
    if (!is_gap(written - 1)) check(overview, written);
  }
  assert_true(tt_overview_every(overview) > TICK);
  tt_overview_free(overview);
  tt_run_log_close(log);
  end_log(file);
}

static void its_file_goes_on_where_it_was(void **state) {
  (void)state;
  tt_log_file *file = begin_log();
  write_samples(file, 0, 9000);
  tt_run_log *log = open_growing();
  tt_overview *first = tt_overview_new(log), *then;
  take_all(first);
  tt_overview_write(first, path);
  write_samples(file, 9000, 13000);
  assert_int_equal(tt_run_log_follow(log), TT_OK);
  then = tt_overview_new(log);
  assert_true(tt_overview_read(then, path));
  assert_int_equal(tt_overview_complete(then), tt_overview_complete(first));
  take_all(then);
  check(then, 13000);
  tt_overview_free(first);
  tt_overview_free(then);
  tt_run_log_close(log);
  end_log(file);
}

static void another_log_has_another_overview(void **state) {
  (void)state;
  tt_log_file *file = begin_log();
  tt_bytes packed = {0};
  write_samples(file, 0, 5000);
  tt_run_log *log = open_growing();
  tt_overview *overview = tt_overview_new(log);
  take_all(overview);
  tt_overview_pack(overview, &packed);
  tt_overview_free(overview);
  tt_run_log_close(log);
  end_log(file);
  file = begin_log();
  write_samples(file, 0, 4999); /* shorter, so that it can't be the one */
  log = open_growing();
  overview = tt_overview_new(log);
  assert_false(tt_overview_unpack(overview, packed.data, packed.size));
  assert_false(tt_overview_unpack(overview, packed.data, packed.size / 2));
  packed.data[packed.size / 2] ^= 1;
  assert_false(tt_overview_unpack(overview, packed.data, packed.size));
  take_all(overview);
  check(overview, 4999);
  tt_overview_free(overview);
  tt_run_log_close(log);
  tt_bytes_free(&packed);
  end_log(file);
}

/* A piece that a recorder is just writing is not there before it is whole; what a crash left is there in the end. */
static void what_is_half_written_comes_later(void **state) {
  (void)state;
  tt_bytes piece = {0};
  tt_log_file *file = begin_log();
  write_samples(file, 0, 100);
  tt_run_log *log = open_growing();
  assert_int_equal(tt_run_log_duration(log), 100 * TICK);
  tt_wpilog_write_double(&piece, 1, 200 * TICK, 1.5);
  FILE *half = fopen(path, "abe");
  assert_non_null(half);
  assert_int_equal(fwrite(piece.data, 1, piece.size, half), piece.size);
  fclose(half);
  assert_int_equal(tt_run_log_follow(log), TT_OK);
  assert_int_equal(tt_run_log_duration(log), 100 * TICK);
  assert_true(tt_run_log_grows(log));
  tt_log_file_close(file);
  assert_int_equal(tt_run_log_follow(log), TT_OK);
  assert_false(tt_run_log_grows(log));
  assert_int_equal(tt_run_log_duration(log), 200 * TICK);
  tt_run_log_close(log);
  tt_bytes_free(&piece);
  end_log(NULL);
}

/* ---- plots ---- */

static tt_traces read_traces(const tt_run_log *log, const tt_overview *overview, double from,
                             double to, unsigned points) {
  tt_traces traces;
  tt_error error = {.text = ""};
  tt_trace_wish wish = {names, SIGNALS, from, to, points};
  if (tt_traces_read(log, overview, &wish, &traces, &error) != TT_OK) fail_msg("%s", error.text);
  return traces;
}

static tt_extremes extremes_of(const tt_traces *traces, int signal) {
  tt_extremes found = {NAN, NAN};
  for (size_t row = 0; row < traces->rows; row++) {
    double value = traces->values[row * SIGNALS + (size_t)signal];
    found = tt_extremes_join(found, (tt_extremes){value, value});
  }
  return found;
}

/* A log of which much has to be read: plots by the overview have the extremes of those that were read. */
static void a_long_stretch_is_drawn_without_reading_it(void **state) {
  (void)state;
  static const double stretches[][2] = {{0, 1e9}, {12.345, 15000.5}, {3000.001, 29999.999}};
  enum { LONG = 3000000 };
  tt_log_file *file = begin_log();
  for (uint64_t at = 0; at < LONG; at += 100000) write_samples(file, at, at + 100000);
  tt_run_log *log = open_growing();
  tt_overview *overview = tt_overview_new(log);
  assert_int_equal(tt_overview_take(overview, LONG * 9 / 10), TT_OK); /* the rest is read */
  for (size_t i = 0; i < sizeof stretches / sizeof *stretches; i++) {
    const double *of = stretches[i];
    tt_traces quick = read_traces(log, overview, of[0], of[1], 2000);
    tt_traces whole = read_traces(log, NULL, of[0], of[1], 2000);
    assert_in_range(quick.rows, 1000, 2010);
    for (int s = 0; s < SIGNALS; s++) {
      tt_extremes a = extremes_of(&quick, s), b = extremes_of(&whole, s);
      assert_true(fmin(a.one, a.other) == fmin(b.one, b.other));
      assert_true(fmax(a.one, a.other) == fmax(b.one, b.other));
    }
    for (size_t row = 1; row < quick.rows; row++)
      assert_true(quick.times[row] > quick.times[row - 1]);
    assert_true(quick.times[0] == whole.times[0]);
    assert_true(quick.times[quick.rows - 1] == whole.times[whole.rows - 1]);
    tt_traces_clear(&quick);
    tt_traces_clear(&whole);
  }
  tt_overview_free(overview);
  tt_run_log_close(log);
  end_log(file);
}

static void a_short_stretch_has_every_sample(void **state) {
  (void)state;
  tt_log_file *file = begin_log();
  write_samples(file, 0, 6000);
  tt_run_log *log = open_growing();
  tt_traces traces = read_traces(log, NULL, 50, 51, 2000);
  assert_int_equal(traces.rows, 101);
  for (size_t row = 0; row < traces.rows; row++) {
    uint64_t sample = 5000 + row;
    assert_true(fabs(traces.times[row] - (double)sample * TICK / 1e6) < 1e-9);
    for (int s = 0; s < SIGNALS; s++)
      assert_true(traces.values[row * SIGNALS + (size_t)s] == value_of(s, sample));
  }
  tt_traces_clear(&traces);
  tt_run_log_close(log);
  end_log(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joined_extremes_keep_their_order),
      cmocka_unit_test(it_grows_with_its_log),
      cmocka_unit_test(its_file_goes_on_where_it_was),
      cmocka_unit_test(another_log_has_another_overview),
      cmocka_unit_test(what_is_half_written_comes_later),
      cmocka_unit_test(a_long_stretch_is_drawn_without_reading_it),
      cmocka_unit_test(a_short_stretch_has_every_sample),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
