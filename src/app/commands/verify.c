/* verify.c: `tether verify`: a kept run's inputs run again as fast as the machine can, every state hash compared. */
#include "app/guests.h"
#include "app/assemble.h"
#include "app/commands/command.h"
#include "app/comparison.h"
#include "app/controller.h"
#include "app/log_argument.h"
#include "app/options.h"
#include "app/progress.h"
#include "app/proof.h"
#include "scene/scene.h"
#include "base/log.h"
#include "base/text.h"
#include "scene/data.h"
#include "record/replay.h"
#include "record/unpack.h"

#include <inttypes.h>
#include <math.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  tt_feed *feed;
  tt_observer *observer;
  TT_TRY(tt_assemble(scene, &assembly, &world, error));
  uint64_t started = tt_net_now();
  tt_status status = tt_replay_open(log, &replay, error);
  if (status == TT_OK) status = restore(world, log, error);
  if (status == TT_OK)
    status = tt_replay_attach(replay, tt_world_sim(world), &feed, &observer, error);
  if (status == TT_OK) status = tt_world_set_feed(world, feed);
  if (status == TT_OK) status = tt_world_add_observer(world, observer);
  if (status == TT_OK) status = repeat(world, replay, error);
  if (status == TT_OK)
    status = tt_proof_say(log, replay, world, (double)(tt_net_now() - started) * 1e-9, error);
  tt_world_detach(world);
  tt_world_free(world);
  tt_replay_close(replay);
  return status;
}

/* ---- with a user's program ---- */

typedef struct verify_job {
  const char *log;
  tt_controller_check check; /* command NULL: the inputs are those of the log */
  tt_tolerance *tolerances;
  const char **settings; /* of --set */
  int setting_count;
} verify_job;

/* The run's settings, without what another run must not do; its log in the folder that goes away. */
static tt_status load_scene(const verify_job *job, const tt_run_log *log,
                            const tt_unpacked *unpacked, tt_scene **scene, tt_error *error) {
  char file[160], duration[64];
  int most = unpacked->setting_count + job->setting_count + 2, count = 0;
  const char **settings = calloc((size_t)most + 1, sizeof *settings);
  if (!settings) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int i = 0; i < unpacked->setting_count; i++)
    if (!job->check.command || strncmp(unpacked->settings[i], "record.", 7) != 0)
      settings[count++] = unpacked->settings[i];
  if (job->check.command) {
    snprintf(file, sizeof file, "record.file=%s/again.wpilog", unpacked->scratch.folder);
    snprintf(duration, sizeof duration, "duration=%.6f", (double)tt_run_log_duration(log) / 1e6);
    settings[count++] = file;
    settings[count++] = duration;
  } else {
    settings[count++] = "pace=fast"; /* there are no wires to wait for */
  }
  for (int i = 0; i < job->setting_count; i++) settings[count++] = job->settings[i];
  tt_status status =
      tt_scene_load(&tt_program_guests, unpacked->scene, settings, count, scene, error);
  free(settings);
  return status;
}

static tt_status verify_log(const verify_job *job, const tt_run_log *log, tt_error *error) {
  tt_unpacked unpacked;
  tt_scene *scene;
  TT_TRY(tt_proof_check_bytes(job->log, log, error));
  TT_TRY(tt_unpack(log, &unpacked, error));
  if (*unpacked.data) tt_data_set_root(unpacked.data);
  tt_status status = load_scene(job, log, &unpacked, &scene, error);
  if (status == TT_OK) {
    status = job->check.command ? tt_check_controller(&job->check, scene, log, error)
                                : verify_in(scene, log, error);
    tt_scene_free(scene);
  }
  tt_unpacked_remove(&unpacked);
  return status;
}

static tt_status parse(int argc, char **argv, verify_job *job, tt_error *error) {
  static const struct option options[] = {{"controller", required_argument, NULL, 'c'},
                                          {"tolerance", required_argument, NULL, 't'},
                                          {"set", required_argument, NULL, 's'},
                                          {NULL, 0, NULL, 0}};
  optind = 1;
  opterr = 0;
  job->tolerances = calloc((size_t)argc + 1, sizeof *job->tolerances);
  job->settings = calloc((size_t)argc + 1, sizeof *job->settings);
  if (!job->tolerances || !job->settings) return tt_fail(error, TT_NOMEM, "out of memory");
  job->check.tolerances = job->tolerances;
  for (int option; (option = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
    if (option == 'c')
      job->check.command = optarg;
    else if (option == 't')
      TT_TRY(tt_tolerance_take(optarg, &job->tolerances[job->check.tolerance_count++], error));
    else if (option == 's')
      job->settings[job->setting_count++] = optarg;
    else
      return tt_option_refused(option, options, argv[optind - 1], error);
  }
  if (optind != argc - 1) return tt_fail(error, TT_USAGE, "verify takes one LOG");
  job->log = argv[optind];
  if (!job->check.command && (job->check.tolerance_count || job->setting_count))
    return tt_fail(error, TT_USAGE, "--tolerance and --set go with --controller");
  return TT_OK;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  verify_job job = {.log = NULL};
  tt_run_log *log;
  char path[PATH_MAX];
  tt_status status = parse(argc, argv, &job, error);
  if (status == TT_OK) status = tt_log_argument_path(job.log, path, sizeof path, error);
  if (status == TT_OK) job.log = path;
  if (status == TT_OK) status = tt_run_log_open(job.log, &log, error);
  if (status == TT_OK) {
    tt_log_set_level(TT_LOG_WARNING);
    status = verify_log(&job, log, error);
    tt_run_log_close(log);
  }
  free(job.tolerances);
  free(job.settings);
  return status;
}

const tt_app_command tt_app_verify = {
    "verify", "LOG [--controller COMMAND [--tolerance [SIGNAL=]VALUE]…]",
    "Runs a kept run again and compares every state; exit status 1 if it differs",
    "  --controller COMMAND        runs this program on the scene's wires instead of the kept "
    "inputs;\n"
    "                              it finds their addresses in TETHER_<WIRE>: TETHER_LOCKSTEP_TCP\n"
    "  --tolerance [SIGNAL=]VALUE  how far a signal (or all) may be from the kept run, SI; default "
    "0\n"
    "  --set PATH=VALUE            sets any key of the scene, as an address of a wire\n",
    run};
