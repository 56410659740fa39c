#include "app/proof.h"

#include "app/versions.h"
#include "base/text.h"
#include "record/checksum.h"
#include "record/unpack.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the file ---- */

/* s: the run's time at a place of its file. */
static double time_at(const tt_run_log *log, uint64_t offset) {
  tt_run_cursor cursor;
  tt_wpilog_record record;
  double seconds = 0;
  if (!tt_run_cursor_open(&cursor, log)) return 0;
  while (tt_run_cursor_next_kept(&cursor, &record) == TT_OK && cursor.offset <= offset)
    seconds = (double)cursor.time / 1e6;
  tt_run_cursor_close(&cursor);
  return seconds;
}

tt_status tt_proof_check_bytes(const char *path, const tt_run_log *log, double until, FILE *out,
                               tt_error *error) {
  size_t size = tt_run_log_size(log);
  tt_checksum_result found = tt_checksum_verify(tt_run_log_data(log), size);
  if (!found.any && !tt_run_log_find(log, TT_CHECKSUM_ENTRY)) {
    if (!tt_unpack_finds_files(log))
      return tt_fail(error, TT_INVALID,
                     "%s: does not say what was run: it was cut off within its first bytes, or "
                     "another program wrote it",
                     path);
    if (out) tt_print(out, "bytes: not hashed when they were written, by an older program\n");
    return TT_OK;
  }
  if (!found.damaged && found.covered < size && tt_run_log_ended(log)) {
    /* which has a checksum at its very end */
    found.damaged = true;
    found.from = found.covered;
    found.to = size;
  }
  if (found.damaged && time_at(log, found.from) <= until)
    return tt_fail(error, TT_INVALID,
                   "%s: bytes %" PRIu64 " to %" PRIu64
                   ", from %.3f s on, are not those that were written: a disk or somebody changed "
                   "them, and the run can't be proved",
                   path, found.from, found.to - 1, time_at(log, found.from));
  if (!out) return TT_OK;
  if (found.covered == size)
    tt_print(out, "bytes: all %zu are those that were written\n", size);
  else
    tt_print(out,
             "bytes: the first %" PRIu64 " are those that were written; the last %" PRIu64
             ", from %.3f s on, were not hashed any more, since the run was cut off\n",
             found.covered, size - found.covered, time_at(log, found.covered));
  return TT_OK;
}

/* ---- the run ---- */

static void say_identical(const tt_replay_result *result, double simulated, double took,
                          FILE *out) {
  const tt_sample_result *samples = &result->samples;
  tt_print(out,
           "identical: %" PRIu64 " steps, %" PRIu64 " state hashes, %" PRIu64
           " samples (%d of %d signals, %" PRIu64 " values, %" PRIu64
           " poses); %.3f s of simulation in %.3f s, %.1f × real time\n",
           result->steps, result->hashes, samples->samples, samples->signals, samples->kept,
           samples->values, samples->poses, simulated, took, took > 0 ? simulated / took : 0);
  if (samples->behind)
    tt_print(out, "not proved: the last %" PRIu64 " samples, behind the end of the journal\n",
             samples->behind);
}

static void say_states_differ(const tt_replay *replay, const tt_world *world,
                              const tt_replay_result *result, FILE *out) {
  tt_sample_difference found = tt_replay_find_difference(replay, tt_world_view(world));
  tt_print(out, "different after step %" PRIu64 ": %s\n", result->first_step, result->reason);
  if (found.count)
    tt_print(
        out, "%d signals differ first there, most of all %s: recorded %.17g, now %.17g (by %.3g)\n",
        found.count, found.name, found.recorded, found.repeated, found.repeated - found.recorded);
  else
    tt_print(out, found.sampled ? "no recorded signal differs at that step yet\n"
                                : "the log has no sample of that step\n");
}

/* The states are the recorded ones; what people see of them is not. */
static void say_samples_differ(const tt_sample_result *samples, FILE *out) {
  if (samples->differing)
    tt_print(out,
             "different: the states are identical, but %" PRIu64
             " recorded values are not theirs, first %s at %.6f s: recorded %.17g, now %.17g\n",
             samples->differing, samples->name, samples->at, samples->recorded, samples->repeated);
  else
    tt_print(out,
             "different: the states are identical, but %" PRIu64
             " recorded samples are of times that the run did not have\n",
             samples->missed);
}

tt_status tt_proof_say(const tt_run_log *log, const tt_replay *replay, const tt_world *world,
                       double took, FILE *out, tt_error *error) {
  char text[400];
  tt_replay_result result = tt_replay_get_result(replay);
  double simulated = (double)result.steps * tt_model_timestep(tt_world_model(world));
  if (!result.identical) {
    say_states_differ(replay, world, &result, out);
  } else if (result.samples.differing || result.samples.missed) {
    say_samples_differ(&result.samples, out);
  } else {
    say_identical(&result, simulated, took, out);
    return TT_OK;
  }
  /* A difference proves something only where the same program on the same libraries found it. */
  if (tt_versions_differ(log, text, sizeof text))
    return tt_fail(error, TT_VERSION, "the run can't be proved here: %s", text);
  return tt_fail(error, TT_DIFFERS, "the run differs from its log");
}
