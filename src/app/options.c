/* options.c: the command line of commands that take a scene. */
#include "app/options.h"

#include "app/robot_config.h"
#include "base/nearest.h"
#include "model/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char tt_scene_options_help[] =
    "  --set PATH=VALUE            sets any key of the scene: --set "
    "wires.float-udp.bind=127.0.0.1:0\n"
    "  --pace realtime|lockstep|fast\n"
    "  --speed FACTOR              of real time\n"
    "  --duration TIME             ends after that much simulated time, as 90 or '2 min'\n"
    "  --match                     plays a practice match and ends with it\n"
    "  --record FILE               writes inputs and events to FILE\n"
    "  --from LOG@SECONDS          goes on from a moment of a kept run, with its scene and "
    "settings,\n"
    "                              instead of SCENE\n"
    "  --from-state FILE           goes on from a saved state instead of the scene's beginning\n"
    "  --save-state FILE           saves the state at the end\n"
    "  --robot-config FILE         takes the first robot, a sharp, and its addresses from an "
    "original's\n"
    "                              config/robotConfig.yml\n"
    "  --no-web                    serves no pages\n"
    "  --remote_control_port PORT  where lockstep-tcp listens\n";

enum {
  OPTION_SET = 256,
  OPTION_PACE,
  OPTION_SPEED,
  OPTION_DURATION,
  OPTION_MATCH,
  OPTION_RECORD,
  OPTION_FROM,
  OPTION_FROM_STATE,
  OPTION_SAVE_STATE,
  OPTION_ROBOT_CONFIG,
  OPTION_NO_WEB,
  OPTION_PORT
};

static const struct option long_options[] = {
    {"set", required_argument, NULL, OPTION_SET},
    {"pace", required_argument, NULL, OPTION_PACE},
    {"speed", required_argument, NULL, OPTION_SPEED},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"match", no_argument, NULL, OPTION_MATCH},
    {"record", required_argument, NULL, OPTION_RECORD},
    {"from", required_argument, NULL, OPTION_FROM},
    {"from-state", required_argument, NULL, OPTION_FROM_STATE},
    {"save-state", required_argument, NULL, OPTION_SAVE_STATE},
    {"robot-config", required_argument, NULL, OPTION_ROBOT_CONFIG},
    {"no-web", no_argument, NULL, OPTION_NO_WEB},
    {"no_web", no_argument, NULL, OPTION_NO_WEB},
    {"remote_control_port", required_argument, NULL, OPTION_PORT},
    {"remote-control-port", required_argument, NULL, OPTION_PORT},
    {NULL, 0, NULL, 0},
};

static tt_status add_setting(tt_scene_options *options, const char *key, const char *value,
                             tt_error *error) {
  const char *setting = value;
  if (key) {
    char *text;
    if (asprintf(&text, "%s=%s", key, value) < 0) return tt_fail(error, TT_NOMEM, "out of memory");
    options->owned[options->owned_count++] = text;
    setting = text;
  }
  options->settings[options->setting_count++] = setting;
  return TT_OK;
}

/** Room for `more` settings beside those of the command line. */
static bool make_room(tt_scene_options *options, int argc, int more) {
  size_t room = (size_t)argc + 1 + (size_t)more;
  const char **settings = reallocarray(options->settings, room, sizeof *settings);
  if (settings) options->settings = settings;
  char **owned = reallocarray(options->owned, room, sizeof *owned);
  if (owned) options->owned = owned;
  return settings && owned;
}

/** Takes over what the file means: its settings come before those of the command line, which override them. */
static tt_status put_first(tt_scene_options *options, int argc, tt_sharp_original *meaning,
                           tt_error *error) {
  if (!make_room(options, argc, meaning->count)) return tt_fail(error, TT_NOMEM, "out of memory");
  memmove(options->settings + meaning->count, options->settings,
          (size_t)options->setting_count * sizeof *options->settings);
  for (int i = 0; i < meaning->count; i++) {
    options->owned[options->owned_count++] = meaning->settings[i];
    options->settings[i] = meaning->settings[i];
  }
  options->setting_count += meaning->count;
  meaning->count = 0;
  memcpy(options->unused, meaning->unused, sizeof options->unused);
  return TT_OK;
}

static tt_status read_robot_config(tt_scene_options *options, int argc, tt_error *error) {
  tt_sharp_original meaning;
  tt_status status = tt_robot_config_read(options, &meaning, error);
  if (status == TT_OK) status = put_first(options, argc, &meaning, error);
  tt_sharp_original_free(&meaning);
  return status;
}

static tt_status check_pace(const char *value, tt_error *error) {
  if (!strcmp(value, "realtime") || !strcmp(value, "lockstep") || !strcmp(value, "fast"))
    return TT_OK;
  return tt_fail(error, TT_USAGE, "--pace %s: give realtime, lockstep or fast", value);
}

static tt_status check_positive(const char *option, const char *value, tt_dimension dimension,
                                tt_error *error) {
  double number;
  if (tt_quantity_parse(value, dimension, &number) && number > 0) return TT_OK;
  if (dimension == TT_DIMENSIONLESS)
    return tt_fail(error, TT_USAGE, "--%s %s: give a number above 0", option, value);
  return tt_fail(error, TT_USAGE, "--%s %s: give a number above 0, of %s or in one of the units %s",
                 option, value, tt_unit_si(dimension)->name, tt_unit_names(dimension));
}

static tt_status set_port(tt_scene_options *options, const char *value, tt_error *error) {
  char *end;
  unsigned long port = strtoul(value, &end, 10);
  if (end == value || *end || *value == '-' || port > 65535) {
    return tt_fail(error, TT_USAGE,
                   "--remote_control_port %s: give a port of 0 to 65535 (0 takes a free one)",
                   value);
  }
  char address[32];
  snprintf(address, sizeof address, "127.0.0.1:%lu", port);
  return add_setting(options, "wires.lockstep-tcp.listen", address, error);
}

tt_status tt_option_refused(int option, const struct option *known, const char *text,
                            tt_error *error) {
  if (option == ':') return tt_fail(error, TT_USAGE, "%s needs a value", text);
  tt_nearest nearest = tt_nearest_start(text[0] == '-' && text[1] == '-' ? text + 2 : text);
  for (; known->name; known++) tt_nearest_offer(&nearest, known->name);
  if (!nearest.best) return tt_fail(error, TT_USAGE, "there is no option '%s'", text);
  return tt_fail(error, TT_USAGE, "there is no option '%s'; did you mean '--%s'?", text,
                 nearest.best);
}

static tt_status take_option(tt_scene_options *options, int option, const char *value,
                             const char *text, tt_error *error) {
  switch (option) {
    case OPTION_SET:
      if (!strchr(value, '=')) {
        return tt_fail(error, TT_USAGE,
                       "--set %s: write PATH=VALUE, for example wires.float-udp.bind=127.0.0.1:0",
                       value);
      }
      return add_setting(options, NULL, value, error);
    case OPTION_PACE:
      TT_TRY(check_pace(value, error));
      return add_setting(options, "pace", value, error);
    case OPTION_SPEED:
      TT_TRY(check_positive("speed", value, TT_DIMENSIONLESS, error));
      return add_setting(options, "speed", value, error);
    case OPTION_DURATION:
      TT_TRY(check_positive("duration", value, TT_TIME, error));
      return add_setting(options, "duration", value, error);
    case OPTION_RECORD:
      options->record = value;
      return add_setting(options, "record.file", value, error);
    case OPTION_FROM: options->from = value; return TT_OK;
    case OPTION_FROM_STATE: options->from_state = value; return TT_OK;
    case OPTION_SAVE_STATE: options->save_state = value; return TT_OK;
    case OPTION_ROBOT_CONFIG: options->robot_config = value; return TT_OK;
    case OPTION_PORT: return set_port(options, value, error);
    case OPTION_MATCH: options->plays_match = true; return TT_OK;
    case OPTION_NO_WEB: options->no_web = true; return TT_OK;
    default: return tt_option_refused(option, long_options, text, error);
  }
}

/* Its log has everything else. */
static tt_status check_from(const tt_scene_options *options, const char *scene, tt_error *error) {
  if (scene)
    return tt_fail(error, TT_USAGE, "--from %s brings its scene: '%s' is one too many",
                   options->from, scene);
  if (options->from_state || options->robot_config || options->plays_match)
    return tt_fail(error, TT_USAGE,
                   "--from goes neither with --from-state nor with --robot-config or --match");
  return TT_OK;
}

tt_status tt_scene_options_parse(int argc, char **argv, tt_scene_options *options,
                                 tt_error *error) {
  *options = (tt_scene_options){0};
  options->settings = calloc((size_t)argc + 1, sizeof *options->settings);
  options->owned = calloc((size_t)argc + 1, sizeof *options->owned);
  if (!options->settings || !options->owned) return tt_fail(error, TT_NOMEM, "out of memory");
  optind = 1;
  opterr = 0;
  for (;;) {
    int option = getopt_long(argc, argv, ":", long_options, NULL);
    if (option == -1) break;
    TT_TRY(take_option(options, option, optarg, argv[optind - 1], error));
  }
  if (options->from) return check_from(options, argv[optind], error);
  if (optind == argc)
    return tt_fail(error, TT_USAGE, "the scene is missing; tether --help lists those there are");
  options->scene = argv[optind++];
  if (optind < argc)
    return tt_fail(error, TT_USAGE, "one scene at a time: '%s' is one too many", argv[optind]);
  return options->robot_config ? read_robot_config(options, argc, error) : TT_OK;
}

void tt_scene_options_free(tt_scene_options *options) {
  for (int i = 0; i < options->owned_count; i++) free(options->owned[i]);
  free(options->owned);
  free(options->settings);
}
