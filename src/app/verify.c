/* verify.c: `tether verify`: a kept run's inputs run again as fast as the machine can, every state hash compared. */
#include "app/assemble.h"
#include "app/command.h"
#include "app/progress.h"
#include "config/scene.h"
#include "core/log.h"
#include "record/replay.h"
#include "record/unpack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_identical(const tt_replay_result *result, double simulated, double took) {
  printf("identical: %" PRIu64 " steps, %" PRIu64
         " state hashes; %.3f s of simulation in %.3f s, %.1f × real time\n",
         result->steps, result->hashes, simulated, took, took > 0 ? simulated / took : 0);
}

static void say_different(const tt_replay *replay, const tt_world *world,
                          const tt_replay_result *result) {
  tt_replay_difference found =
      tt_replay_find_difference(replay, tt_world_names(world), tt_world_view(world));
  printf("different after step %" PRIu64 ": %s\n", result->first_step, result->reason);
  if (found.count)
    printf("%d signals differ first there, most of all %s: recorded %.17g, now %.17g (by %.3g)\n",
           found.count, found.name, found.recorded, found.repeated,
           found.repeated - found.recorded);
  else
    printf("no recorded signal differs at that step yet\n");
}

/* A run that went on from a saved state does so again. */
static tt_status restore(tt_world *world, const tt_run_log *log, tt_error *error) {
  tt_run_cursor cursor;
  tt_wpilog_record record;
  tt_status status = TT_OK;
  if (!tt_run_cursor_open(&cursor, log)) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_run_cursor_seek(&cursor, 0);
  if (tt_run_cursor_value(&cursor, tt_run_log_find(log, "/tether/initial_state"), &record) &&
      tt_world_restore(world, record.payload, record.size) != TT_OK)
    status = tt_fail(error, TT_INVALID, "the state from which the run started can't be restored");
  tt_run_cursor_close(&cursor);
  return status;
}

/* Ticks until every hash is compared or one differs. */
static tt_status repeat(tt_world *world, tt_replay *replay, tt_error *error) {
  tt_progress progress = tt_progress_start("verify");
  tt_world_start(world);
  while (!tt_replay_done(replay)) {
    TT_TRY(tt_world_tick(world, error));
    tt_replay_result so_far = tt_replay_get_result(replay);
    tt_progress_show(&progress, (double)so_far.hashes / (double)so_far.total_hashes);
  }
  tt_progress_end(&progress);
  return TT_OK;
}

static tt_status verify_in(const tt_scene *scene, const tt_run_log *log, tt_error *error) {
  tt_assembly assembly = {.no_wires = true, .hash_every_tick = true};
  tt_world *world;
  tt_replay *replay = NULL;
  TT_TRY(tt_assemble(scene, &assembly, &world, error));
  uint64_t started = tt_net_now();
  tt_status status = tt_replay_open(log, &replay, error);
  if (status == TT_OK) status = restore(world, log, error);
  if (status == TT_OK) status = tt_replay_attach(replay, world);
  if (status == TT_OK) status = repeat(world, replay, error);
  if (status == TT_OK) {
    tt_replay_result result = tt_replay_get_result(replay);
    double simulated = (double)result.steps * tt_model_timestep(tt_world_model(world));
    if (result.identical)
      say_identical(&result, simulated, (double)(tt_net_now() - started) * 1e-9);
    else
      say_different(replay, world, &result);
    if (!result.identical) status = tt_fail(error, TT_DIFFERS, "the run differs from its log");
  }
  tt_world_detach(world);
  tt_world_free(world);
  tt_replay_close(replay);
  return status;
}

static tt_status verify_log(const tt_run_log *log, tt_error *error) {
  tt_unpacked unpacked;
  tt_scene *scene;
  TT_TRY(tt_unpack(log, &unpacked, error));
  if (*unpacked.data) setenv("TETHER_DATA", unpacked.data, 1);
  tt_status status = tt_scene_load(unpacked.scene, (const char *const *)unpacked.settings,
                                   unpacked.setting_count, &scene, error);
  if (status == TT_OK) {
    status = verify_in(scene, log, error);
    tt_scene_free(scene);
  }
  tt_unpacked_remove(&unpacked);
  return status;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  tt_run_log *log;
  if (argc != 2) return tt_fail(error, TT_USAGE, "verify takes one LOG");
  TT_TRY(tt_run_log_open(argv[1], &log, error));
  tt_log_set_level(TT_LOG_WARNING);
  tt_status status = verify_log(log, error);
  tt_run_log_close(log);
  return status;
}

const tt_app_command tt_app_verify = {
    "verify", "LOG", "Runs a kept run again and compares every state; exit status 1 if it differs",
    "", run};
