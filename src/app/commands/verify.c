/* verify.c: `tether verify`: a kept run's inputs run again as fast as the machine can, every state hash compared. */
#include "app/guests.h"
#include "app/assemble.h"
#include "app/commands/command.h"
#include "app/comparison.h"
#include "app/controller.h"
#include "app/fork.h"
#include "app/log_argument.h"
#include "app/options.h"
#include "app/progress.h"
#include "app/proof.h"
#include "app/saved_world.h"
#include "base/clock.h"
#include "scene/scene.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/unit.h"
#include "scene/data.h"
#include "record/replay.h"
#include "record/state_file.h"
#include "record/unpack.h"

#include <inttypes.h>
#include <math.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For programs: {"done": 0…1}, a line each, at most five times a second. */
static void say_done(double done, uint64_t *next) {
  uint64_t now = tt_monotonic_ns();
  if (now < *next) return;
  *next = now + 200000000u;
  tt_print(stdout, "{\"done\":%.4f}\n", done);
  fflush(stdout);
}

/* Ticks until every hash is compared or one differs. */
static tt_status repeat(tt_world *world, tt_replay *replay, bool json, tt_error *error) {
  tt_progress progress = tt_progress_start("verify");
  uint64_t next = 0;
  tt_world_start(world);
  while (tt_replay_goes_on(replay)) {
    TT_TRY(tt_world_tick(world, error));
    tt_replay_result so_far = tt_replay_get_result(replay);
    double done = (double)so_far.hashes / (double)so_far.total_hashes;
    if (json)
      say_done(done, &next);
    else
      tt_progress_show(&progress, done);
  }
  tt_progress_end(&progress);
  return TT_OK;
}

static tt_status verify_in(const tt_scene *scene, const tt_run_log *log, bool json, FILE *out,
                           tt_error *error) {
  tt_assembly assembly = {.no_wires = true, .hash_every_tick = true};
  tt_world *world;
  tt_replay *replay = NULL;
  tt_feed *feed;
  tt_observer *observer;
  TT_TRY(tt_assemble(scene, &assembly, &world, error));
  uint64_t started = tt_monotonic_ns();
  tt_status status = tt_replay_open(log, &replay, error);
  if (status == TT_OK) status = tt_saved_world_begin(world, log, error);
  if (status == TT_OK)
    status = tt_replay_attach(replay, tt_world_sim(world), &feed, &observer, error);
  if (status == TT_OK) status = tt_world_set_feed(world, feed);
  if (status == TT_OK) status = tt_world_add_observer(world, observer);
  if (status == TT_OK) status = repeat(world, replay, json, error);
  if (status == TT_OK)
    status =
        tt_proof_say(log, replay, world, (double)(tt_monotonic_ns() - started) * 1e-9, out, error);
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
  bool json;
  double until;           /* s of the run; below 0: to its end */
  const char *save_state; /* file; NULL: none */
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

/* How far it is, on the terminal or for programs. */
typedef struct shown {
  bool json;
  uint64_t next;
  tt_progress progress;
} shown;

static void show_done(void *context, double done) {
  shown *to = context;
  if (to->json)
    say_done(done, &to->next);
  else
    tt_progress_show(&to->progress, done);
}

/* Up to a moment, of which the state is kept. */
static tt_status save_moment(const verify_job *job, FILE *out, tt_error *error) {
  tt_fork *fork;
  shown to = {.json = job->json, .progress = tt_progress_start("verify")};
  TT_TRY(tt_state_file_check(job->save_state, error));
  TT_TRY(tt_fork_new(job->log, job->until, job->settings, job->setting_count, &fork, error));
  tt_status status = tt_fork_compute(fork, job->save_state, show_done, &to, error);
  tt_progress_end(&to.progress);
  if (status == TT_OK && job->json) tt_print(stdout, "{\"time\":%.9f}\n", tt_fork_time(fork));
  if (status == TT_OK)
    tt_print(out, "identical up to %.3f s, whose state is in %s\n", tt_fork_time(fork),
             job->save_state);
  tt_fork_free(fork);
  return status;
}

static tt_status verify_log(const verify_job *job, const tt_run_log *log, FILE *out,
                            tt_error *error) {
  if (job->save_state) return save_moment(job, out, error);
  tt_unpacked unpacked;
  tt_scene *scene;
  TT_TRY(tt_proof_check_bytes(job->log, log, INFINITY, out, error));
  TT_TRY(tt_unpack(log, &unpacked, error));
  if (*unpacked.data) tt_data_set_root(unpacked.data);
  tt_status status = load_scene(job, log, &unpacked, &scene, error);
  if (status == TT_OK) {
    status = job->check.command ? tt_check_controller(&job->check, scene, log, error)
                                : verify_in(scene, log, job->json, out, error);
    tt_scene_free(scene);
  }
  tt_unpacked_remove(&unpacked);
  return status;
}

static tt_status take_until(const char *text, double *until, tt_error *error) {
  if (tt_quantity_parse(text, TT_TIME, until) && *until >= 0) return TT_OK;
  return tt_fail(error, TT_USAGE, "--until %s: give a time of the run, in s", text);
}

static tt_status parse(int argc, char **argv, verify_job *job, tt_error *error) {
  static const struct option options[] = {{"controller", required_argument, NULL, 'c'},
                                          {"tolerance", required_argument, NULL, 't'},
                                          {"set", required_argument, NULL, 's'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"until", required_argument, NULL, 'u'},
                                          {"save-state", required_argument, NULL, 'w'},
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
    else if (option == 'j')
      job->json = true;
    else if (option == 'w')
      job->save_state = optarg;
    else if (option == 'u')
      TT_TRY(take_until(optarg, &job->until, error));
    else
      return tt_option_refused(option, options, argv[optind - 1], error);
  }
  if (optind != argc - 1) return tt_fail(error, TT_USAGE, "verify takes one LOG");
  job->log = argv[optind];
  if ((job->until >= 0) != (job->save_state != NULL) || (job->save_state && job->check.command))
    return tt_fail(error, TT_USAGE,
                   "--until and --save-state go together, and not with --controller");
  if (!job->check.command && job->check.tolerance_count)
    return tt_fail(error, TT_USAGE, "--tolerance goes with --controller");
  if (!job->check.command && !job->save_state && job->setting_count)
    return tt_fail(error, TT_USAGE, "--set goes with --controller or --save-state");
  if (job->check.command && job->json)
    return tt_fail(error, TT_USAGE, "--json does not go with --controller");
  return TT_OK;
}

/* ---- for programs ---- */

static const char *verdict_of(tt_status status) {
  return status == TT_OK        ? "identical"
         : status == TT_DIFFERS ? "different"
         : status == TT_VERSION ? "elsewhere" /* other versions: it can't be proved here */
         : status == TT_INVALID ? "damaged"
                                : "failed";
}

/* The last line: what came of it, with what is said to people. */
static void say_json(tt_status status, char *said, const tt_error *error) {
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "verdict", verdict_of(status));
  struct json_object *lines = tt_json_add_array(made, "lines");
  char *rest = said;
  for (char *line; (line = strtok_r(rest, "\n", &rest));)
    json_object_array_add(lines, json_object_new_string(line));
  tt_json_add_text(made, "error", status == TT_OK ? NULL : error->text);
  tt_print(stdout, "%s\n", json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN));
  fflush(stdout);
  json_object_put(made);
}

static tt_status verify_for_programs(const verify_job *job, const tt_run_log *log,
                                     tt_error *error) {
  char *said = NULL;
  size_t size;
  FILE *out = open_memstream(&said, &size);
  if (!out) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = verify_log(job, log, out, error);
  fclose(out);
  if (said) say_json(status, said, error);
  free(said);
  return status;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  verify_job job = {.log = NULL, .until = -1};
  tt_run_log *log;
  char path[PATH_MAX];
  tt_status status = parse(argc, argv, &job, error);
  if (status == TT_OK) status = tt_log_argument_path(job.log, path, sizeof path, error);
  if (status == TT_OK) job.log = path;
  if (status == TT_OK) status = tt_run_log_open(job.log, &log, error);
  if (status == TT_OK) {
    tt_log_set_level(TT_LOG_WARNING);
    status =
        job.json ? verify_for_programs(&job, log, error) : verify_log(&job, log, stdout, error);
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
    "  --set PATH=VALUE            sets any key of the scene, as an address of a wire\n"
    "  --until SECONDS --save-state FILE\n"
    "                              only up to this time of the run, and saves the state that it "
    "had\n"
    "                              then, for run --from-state\n"
    "  --json                      how far it is and what came of it, a JSON object a line\n",
    run};
