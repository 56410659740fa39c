#include "record/compare.h"

#include "base/nearest.h"
#include "record/export.h"
#include "record/linkage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "/signals/"
/* What values of the same states may differ by in two logs that began at different times: each wrote what had gone farther from what
 * it wrote last, and what follows from several values adds up. */
#define ROUNDING (4 * TT_RECORD_RESOLUTION)

typedef struct comparison {
  tt_run_cursor kept, other;
  tt_deviation *deviations;
  uint32_t *kept_entries, *other_entries;
  int count;
  double rounding; /* the tolerance of a signal that has none */
} comparison;

static double tolerance_of(const char *name, const tt_tolerance *tolerances, int count,
                           double value) {
  for (int i = 0; i < count; i++)
    if (!*tolerances[i].name || strcmp(tolerances[i].name, name) == 0) value = tolerances[i].value;
  return value;
}

/* Name of the signal whose values the entry holds, or NULL. */
static const char *signal_of(const tt_run_entry *entry) {
  if (tt_entry_role_of(entry) != TT_ROLE_SIGNAL) return NULL;
  if (strncmp(entry->name, PREFIX, strlen(PREFIX)) != 0) return NULL;
  const char *name = entry->name + strlen(PREFIX);
  return strcmp(name, "real_time_factor") == 0 ? NULL : name; /* older logs have it among them */
}

static void list_added(comparison *of, const tt_run_entry *entries, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    const char *name = signal_of(&entries[i]);
    if (name && !tt_run_log_find(of->kept.log, entries[i].name))
      of->deviations[of->count++] = (tt_deviation){.name = name, .added = true};
  }
}

static bool list_signals(comparison *of, const tt_tolerance *tolerances, int tolerance_count) {
  uint32_t count, others;
  const tt_run_entry *entries = tt_run_log_entries(of->kept.log, &count);
  const tt_run_entry *other_entries = tt_run_log_entries(of->other.log, &others);
  size_t most = (size_t)count + others + 1;
  of->deviations = calloc(most, sizeof *of->deviations);
  of->kept_entries = calloc(most, sizeof *of->kept_entries);
  of->other_entries = calloc(most, sizeof *of->other_entries);
  if (!of->deviations || !of->kept_entries || !of->other_entries) return false;
  for (uint32_t i = 1; i < count; i++) {
    const char *name = signal_of(&entries[i]);
    if (!name) continue;
    uint32_t other = tt_run_log_find(of->other.log, entries[i].name);
    of->kept_entries[of->count] = i;
    of->other_entries[of->count] = other;
    of->deviations[of->count++] =
        (tt_deviation){.name = name,
                       .tolerance = tolerance_of(name, tolerances, tolerance_count, of->rounding),
                       .first = other ? -1 : 0,
                       .missing = other == 0};
  }
  list_added(of, other_entries, others);
  return true;
}

static tt_status refuse_name(const comparison *of, const char *name, tt_error *error) {
  tt_nearest nearest = tt_nearest_start(name);
  for (int k = 0; k < of->count; k++) tt_nearest_offer(&nearest, of->deviations[k].name);
  return nearest.best
             ? tt_fail(error, TT_NOT_FOUND, "the run keeps no signal '%s'; did you mean '%s'?",
                       name, nearest.best)
             : tt_fail(error, TT_NOT_FOUND, "the run keeps no signal '%s'", name);
}

static tt_status check_names(const comparison *of, const tt_tolerance *tolerances, int count,
                             tt_error *error) {
  for (int i = 0; i < count; i++) {
    bool known = !*tolerances[i].name;
    for (int k = 0; k < of->count && !known; k++)
      // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): both have names
      known = strcmp(of->deviations[k].name, tolerances[i].name) == 0;
    if (!known) return refuse_name(of, tolerances[i].name, error);
  }
  return TT_OK;
}

static bool value_at(const tt_run_cursor *cursor, uint32_t entry, double *value) {
  tt_wpilog_record record;
  if (!tt_run_cursor_value(cursor, entry, &record) || !tt_record_fits(TT_ROLE_SIGNAL, &record))
    return false;
  *value = tt_wpilog_double(record.payload);
  return true;
}

static void compare_at(comparison *of, uint64_t time) {
  double seconds = (double)time / 1e6, kept, other;
  tt_run_cursor_advance(&of->kept, time);
  tt_run_cursor_advance(&of->other, time);
  for (int i = 0; i < of->count; i++) {
    tt_deviation *into = &of->deviations[i];
    if (!value_at(&of->kept, of->kept_entries[i], &kept) ||
        !value_at(&of->other, of->other_entries[i], &other))
      continue;
    double difference = fabs(other - kept);
    if (difference > into->largest) into->largest = difference, into->at = seconds;
    if (difference > into->tolerance && into->first < 0) into->first = seconds;
  }
}

static bool next_sample(tt_run_cursor *cursor) {
  return tt_run_cursor_next_sample(cursor) == TT_OK;
}

/* What a log rounds away depends on the samples before, of which one log may have others. False: out of memory. */
static bool find_rounding(comparison *of, const tt_run_log *kept, const tt_run_log *other) {
  tt_run_cursor one = {0}, two = {0};
  bool opened = tt_run_cursor_open(&one, kept) && tt_run_cursor_open(&two, other);
  bool more = opened && next_sample(&one) && next_sample(&two);
  while (more && one.time == two.time) more = next_sample(&one) && next_sample(&two);
  of->rounding = more ? ROUNDING : 0;
  tt_run_cursor_close(&one);
  tt_run_cursor_close(&two);
  return opened;
}

/* Every time at which both were sampled: what the recorder lost of one is no difference. */
static tt_status walk(comparison *of, tt_error *error) {
  tt_run_cursor kept = {0}, other = {0};
  bool compared = false;
  bool opened =
      tt_run_cursor_open(&kept, of->kept.log) && tt_run_cursor_open(&other, of->other.log);
  bool more = opened && next_sample(&kept) && next_sample(&other);
  while (more) {
    if (kept.time == other.time) compare_at(of, kept.time), compared = true;
    more = kept.time <= other.time ? next_sample(&kept) : next_sample(&other);
  }
  tt_run_cursor_close(&kept);
  tt_run_cursor_close(&other);
  if (!opened) return tt_fail(error, TT_NOMEM, "out of memory");
  return compared ? TT_OK
                  : tt_fail(error, TT_DIFFERS,
                            "the runs have no sample at the same time: record both with the same "
                            "record.period and timestep");
}

tt_status tt_compare_runs(const tt_run_log *kept, const tt_run_log *other,
                          const tt_tolerance *tolerances, int tolerance_count,
                          tt_deviation **deviations, int *count, tt_error *error) {
  comparison of = {0};
  *deviations = NULL;
  bool opened = tt_run_cursor_open(&of.kept, kept) && tt_run_cursor_open(&of.other, other) &&
                find_rounding(&of, kept, other) && list_signals(&of, tolerances, tolerance_count);
  tt_status status = opened ? check_names(&of, tolerances, tolerance_count, error)
                            : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK) status = walk(&of, error);
  tt_run_cursor_close(&of.kept);
  tt_run_cursor_close(&of.other);
  free(of.kept_entries);
  free(of.other_entries);
  if (status == TT_OK) {
    *deviations = of.deviations;
    *count = of.count;
  } else {
    free(of.deviations);
  }
  return status;
}
