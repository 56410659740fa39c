/* joystick.c: `tether joystick`: a driver's sticks, from keys, a gamepad or a script, to the core whenever it may hear
 * them (control/joystick_pace.h), with the sign that says whether the core is there.
 */
#include "app/commands/command.h"
#include "app/gamepad.h"
#include "app/joystick_screen.h"
#include "app/period.h"
#include "app/program_config.h"
#include "control/joystick.h"
#include "base/clock.h"
#include "control/joystick_pace.h"
#include "control/sharp_config.h"
#include "control/sharp_link.h"
#include "base/log.h"
#include "base/text.h"
#include "scene/stranger.h"

#include <stdio.h>
#include <string.h>

#define LOOK_NS 25000000u /* the sign and the picture are brought up to date at least so often */

typedef struct joystick_program {
  tt_joystick_config *config;
  const char *script_path; /**< NULL: a driver drives */
  tt_joystick_script script;
  tt_net *net;
  tt_sharp_link core;
  tt_gamepad *gamepad;
  tt_joystick_keys keys;
  bool screen;
  tt_joystick_pace pace;
  bool connected;
  int driven[TT_JOYSTICK_VALUES]; /**< by the gamepad */
  int values[TT_JOYSTICK_VALUES]; /**< sent */
} joystick_program;

/** The sign: no heartbeat for a while means nobody is there. */
static void watch_heartbeat(joystick_program *program, uint64_t now) {
  if (program->core.heard) tt_joystick_pace_heard(&program->pace, program->core.heard_ns);
  program->core.heard = false;
  bool connected =
      tt_joystick_pace_connected(&program->pace, now, program->config->timeout_seconds);
  if (connected == program->connected) return;
  program->connected = connected;
  if (!program->screen) tt_log_info("joystick: %s", connected ? "connected" : "disconnected");
}

/** Brings `values` up to date; false when driver or script has ended. */
static bool read_controls(joystick_program *program, double time) {
  bool going = true;
  if (program->script_path != NULL) {
    going = tt_joystick_script_play(&program->script, time, program->values);
  } else {
    tt_gamepad_read(program->gamepad, time, program->driven);
    memcpy(program->values, program->driven, sizeof program->values);
  }
  if (program->screen) {
    going = tt_joystick_screen_keys(&program->keys, time) && going;
    tt_joystick_hold(&program->keys, time, program->values);
  }
  return going;
}

static void draw(const joystick_program *program) {
  const tt_joystick_shown shown = {.values = program->values,
                                   .connected = program->connected,
                                   .address = tt_udp_address(program->core.udp),
                                   .peer = program->config->peer,
                                   .gamepad = tt_gamepad_name(program->gamepad),
                                   .script = program->script_path,
                                   .sent = program->core.sent,
                                   .heartbeats = program->core.accepted};
  tt_joystick_screen_draw(&shown);
}

/** Sends when a message may leave; false when driver or script has ended. */
static bool speak(joystick_program *program, uint64_t start, uint64_t now) {
  if (now < tt_joystick_pace_next(&program->pace)) return true;
  if (!read_controls(program, (double)(now - start) * 1e-9)) return false;
  tt_sharp_link_send(&program->core, &tt_sharp_joystick_format, program->values);
  tt_joystick_pace_sent(&program->pace, now);
  return true;
}

static void drive(joystick_program *program) {
  uint64_t start = tt_monotonic_ns(), now = start, look = start;
  program->pace.period = program->config->period_seconds;
  while (speak(program, start, now)) {
    if (now >= look) {
      if (program->screen) draw(program);
      look = now + LOOK_NS;
    }
    uint64_t next = tt_joystick_pace_next(&program->pace);
    if (!tt_period_serve(program->net, next < look ? next : look)) break;
    now = tt_monotonic_ns();
    watch_heartbeat(program, now);
  }
  /* who leaves lets go of the sticks: nothing drives on until the core's own timeout */
  memset(program->values, 0, sizeof program->values);
  tt_sharp_link_send(&program->core, &tt_sharp_joystick_format, program->values);
}

static tt_status serve(joystick_program *program, tt_error *error) {
  const tt_joystick_config *config = program->config;
  program->core =
      (tt_sharp_link){.name = "core",
                      .bind = config->bind,
                      .peer = config->peer,
                      .allow = {(const char *const *)config->allow, (int)config->allow_count},
                      .hears = &tt_sharp_heartbeat_format,
                      .style = config->message_style};
  TT_TRY(tt_sharp_link_open(&program->core, program->net, error));
  tt_print(stderr, "ready core=%s\n", tt_udp_address(program->core.udp));
  program->screen = tt_joystick_screen_open();
  if (!program->screen) tt_log_info("joystick: disconnected");
  if (!program->screen && !program->script_path)
    tt_log_warning(
        "joystick: there is no terminal for its keys; only a gamepad is heard, or use --script "
        "FILE");
  tt_period_catch_signals(program->net);
  if (program->screen) tt_log_set_level(TT_LOG_ERROR); /* lines would tear the picture */
  drive(program);
  if (program->screen) tt_joystick_screen_close();
  return TT_OK;
}

static tt_status prepare_and_serve(joystick_program *program, const tt_program_config *file,
                                   tt_error *error) {
  TT_TRY(tt_joystick_config_check(program->config, file->path, error));
  if (program->script_path != NULL) {
    TT_TRY(tt_joystick_script_load(program->script_path, &program->script, error));
  }
  program->gamepad = tt_gamepad_new(program->config->gamepad);
  program->net = tt_net_new();
  if (program->gamepad == NULL || program->net == NULL) {
    return tt_fail(error, TT_NOMEM, "no memory or descriptors for sockets");
  }
  tt_log_start();
  tt_program_config_say_unused(file);
  tt_status status = serve(program, error);
  tt_log_stop();
  return status;
}

static tt_status translate(const tt_document *document, int player, tt_sharp_original *meaning,
                           tt_error *error) {
  if (!tt_stranger_is_original(document)) return TT_OK;
  const tt_sharp_reader reader = {.program = TT_SHARP_PROGRAM_JOYSTICK, .player = player};
  return tt_sharp_original_read(document, &reader, meaning, error);
}

static tt_status run_joystick(int argc, char **argv, tt_error *error) {
  joystick_program program = {.config = NULL};
  const tt_program_option options[] = {{"--script", &program.script_path}, {NULL, NULL}};
  tt_program_config file;
  TT_TRY(tt_program_config_load(argc, argv, options, &tt_joystick_schema, translate, &file, error));
  program.config = file.keys;
  tt_status status = prepare_and_serve(&program, &file, error);
  if (status != TT_OK) tt_program_config_explain(&file, error);
  tt_net_free(program.net);
  tt_gamepad_free(program.gamepad);
  tt_joystick_script_free(&program.script);
  tt_program_config_free(&file);
  return status;
}

const tt_app_command tt_app_joystick = {
    .name = "joystick",
    .usage = "[CONFIG] [--script FILE] [--set PATH=VALUE]…",
    .summary = "Sticks for `tether core`: keys and a gamepad in a terminal, or a script",
    .help =
        "  CONFIG               a YAML file like robots/sharp/joystick.yaml, which shows every "
        "key,\n"
        "                       or an original's config/robotConfig.yml; default: none\n"
        "  --script FILE        play FILE: lines of `time control value`, for example `0.5 left_y "
        "512`;\n"
        "                       `20 repeat` starts over. No terminal is needed\n"
        "  --set PATH=VALUE     change a key, for example --set player=2\n",
    .run = run_joystick,
};
