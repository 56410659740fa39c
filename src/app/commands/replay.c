/* replay.c: `tether replay`: a kept run in the pages, and on the wires if asked: physics rests, the log is the world. */
#include "app/guests.h"
#include "app/assemble.h"
#include "app/commands/command.h"
#include "app/drive.h"
#include "app/log_argument.h"
#include "app/options.h"
#include "scene/scene.h"
#include "base/log.h"
#include "model/unit.h"
#include "scene/data.h"
#include "scene/machine.h"
#include "record/player.h"
#include "record/unpack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct replay_job {
  const char *log;
  double speed, from;
  bool wires;
  const char **settings; /* of --set */
  int setting_count;
} replay_job;

static tt_status take_number(const char *option, const char *text, tt_dimension dimension,
                             double *value, tt_error *error) {
  if (tt_quantity_parse(text, dimension, value) && *value >= 0) return TT_OK;
  return tt_fail(error, TT_USAGE, "--%s %s: give a number, not below 0", option, text);
}

static const struct option long_options[] = {{"speed", required_argument, NULL, 's'},
                                             {"from", required_argument, NULL, 'f'},
                                             {"wires", no_argument, NULL, 'w'},
                                             {"set", required_argument, NULL, 'S'},
                                             {NULL, 0, NULL, 0}};

static tt_status take(replay_job *job, int option, const char *text, tt_error *error) {
  switch (option) {
    case 's': return take_number("speed", optarg, TT_DIMENSIONLESS, &job->speed, error);
    case 'f': return take_number("from", optarg, TT_TIME, &job->from, error);
    case 'w': job->wires = true; return TT_OK;
    case 'S': job->settings[job->setting_count++] = optarg; return TT_OK;
    default: return tt_option_refused(option, long_options, text, error);
  }
}

static tt_status parse(int argc, char **argv, replay_job *job, tt_error *error) {
  optind = 1;
  opterr = 0;
  job->settings = calloc((size_t)argc + 1, sizeof *job->settings);
  if (!job->settings) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int option; (option = getopt_long(argc, argv, ":", long_options, NULL)) != -1;)
    TT_TRY(take(job, option, argv[optind - 1], error));
  if (optind != argc - 1) return tt_fail(error, TT_USAGE, "replay takes one LOG");
  job->log = argv[optind];
  return TT_OK;
}

/* How long the run was, how fast, and what the machine did meanwhile is its own affair. */
static bool holds_on(const char *setting) {
  static const char *const others[] = {"duration=", "pace=", "speed="};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strncmp(setting, others[i], strlen(others[i])) == 0) return false;
  return !tt_setting_is_of_machine(setting);
}

/* What the run was told, except what does not concern a replay, and what this one is told. */
static tt_status load_scene(const replay_job *job, const tt_unpacked *unpacked, tt_scene **scene,
                            tt_error *error) {
  int most = unpacked->setting_count + job->setting_count + 3, count = 0;
  const char **settings = calloc((size_t)most + 1, sizeof *settings);
  char speed[64];
  if (!settings) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int i = 0; i < unpacked->setting_count; i++)
    if (holds_on(unpacked->settings[i])) settings[count++] = unpacked->settings[i];
  snprintf(speed, sizeof speed, "speed=%g", job->speed);
  settings[count++] = "pace=realtime";
  settings[count++] = "record.on=off";
  settings[count++] = speed;
  for (int i = 0; i < job->setting_count; i++) settings[count++] = job->settings[i];
  tt_status status =
      tt_scene_load(&tt_program_guests, unpacked->scene, settings, count, scene, error);
  free(settings);
  return status;
}

static tt_status play(const replay_job *job, const tt_scene *scene, const tt_run_log *log,
                      tt_error *error) {
  tt_assembly assembly = {.no_wires = !job->wires};
  tt_scene_options options = {.scene = job->log};
  tt_world *world;
  tt_run_player *player;
  tt_attached *attached = NULL;
  const char *slash = strrchr(job->log, '/');
  tt_attached_run kept = {.name = slash ? slash + 1 : job->log,
                          .duration = (double)tt_run_log_duration(log) / 1e6};
  TT_TRY(tt_assemble(scene, &assembly, &world, error));
  tt_attach_context context = {.scene = scene, .options = &options, .world = world, .kept = &kept};
  tt_status status = tt_run_player_open(log, tt_world_sim(world), &player, error);
  if (status == TT_OK) {
    kept.begin = tt_model_time(tt_world_model(world), tt_run_player_contract(player)->first);
    status = tt_world_set_player(world, tt_run_player_contract(player));
  }
  if (status == TT_OK)
    tt_world_post(world, &(tt_mail){.kind = TT_MAIL_SEEK, .value = job->from, .source = "replay"});
  if (status == TT_OK) status = tt_attach_all(&context, &attached, error);
  if (status == TT_OK) status = tt_drive_world(world, attached, error);
  tt_attached_close(attached);
  tt_world_free(world);
  tt_run_player_close(player);
  return status;
}

static tt_status replay_log(const replay_job *job, const tt_run_log *log, tt_error *error) {
  tt_unpacked unpacked;
  tt_scene *scene;
  TT_TRY(tt_unpack(log, &unpacked, error));
  if (*unpacked.data) tt_data_set_root(unpacked.data);
  tt_status status =
      tt_log_argument_check_token(unpacked.lacks_token, job->settings, job->setting_count, error);
  if (status == TT_OK) status = load_scene(job, &unpacked, &scene, error);
  if (status == TT_OK) {
    tt_log_start();
    status = play(job, scene, log, error);
    tt_log_stop();
    tt_scene_free(scene);
  }
  tt_unpacked_remove(&unpacked);
  return status;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  replay_job job = {.speed = 1};
  tt_run_log *log;
  char path[PATH_MAX];
  tt_catch_signals();
  tt_status status = parse(argc, argv, &job, error);
  if (status == TT_OK) status = tt_log_argument_path(job.log, path, sizeof path, error);
  if (status == TT_OK) job.log = path;
  if (status == TT_OK) status = tt_run_log_open(job.log, &log, error);
  if (status == TT_OK) {
    status = replay_log(&job, log, error);
    tt_run_log_close(log);
  }
  free(job.settings);
  return status;
}

const tt_app_command tt_app_replay = {
    "replay", "LOG [--speed FACTOR] [--from SECONDS] [--wires] [--set PATH=VALUE]…",
    "Shows a kept run in the pages; physics rests",
    "  --speed FACTOR    of real time\n"
    "  --from SECONDS    where to begin\n"
    "  --wires           also sends what the wires would have sent\n"
    "  --set PATH=VALUE  sets any key of the scene, as an address of a wire or web.listen\n",
    run};
