/* core.c: `tether core`: hears the joystick and the vehicle, sends heartbeats to the one and commands to the other,
 * every period. The law is control/sharp_core.c; here are sockets, log and command line.
 *
 * A heartbeat permits the joystick's next message, so that message comes just after it: the command waits a moment for
 * it, rather than to send what the sticks were a period ago.
 */
#include "app/commands/command.h"
#include "app/period.h"
#include "app/program_config.h"
#include "base/clock.h"
#include "control/sharp_config.h"
#include "control/sharp_core.h"
#include "control/sharp_link.h"
#include "base/log.h"
#include "base/text.h"
#include "scene/stranger.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_NS                                                                                  \
  4000000u /* how long a joystick that hears the heartbeat takes to answer, on a busy machine */

typedef struct core_program {
  const tt_sharp_core_config *config;
  tt_net *net;
  tt_sharp_link joystick, vehicle;
  tt_sharp_core law;
} core_program;

static tt_status open_links(core_program *program, tt_error *error) {
  const tt_sharp_core_config *config = program->config;
  tt_allow allow = {(const char *const *)config->allow, (int)config->allow_count};
  program->joystick = (tt_sharp_link){.name = "joystick",
                                      .bind = config->joystick.bind,
                                      .peer = config->joystick.peer,
                                      .allow = allow,
                                      .hears = &tt_sharp_joystick_format,
                                      .style = config->message_style};
  program->vehicle = (tt_sharp_link){.name = "vehicle",
                                     .bind = config->vehicle.bind,
                                     .peer = config->vehicle.peer,
                                     .allow = allow,
                                     .hears = &tt_sharp_state_format,
                                     .style = config->message_style};
  TT_TRY(tt_sharp_link_open(&program->joystick, program->net, error));
  return tt_sharp_link_open(&program->vehicle, program->net, error);
}

/** Takes what was heard since the last period. */
static void take(core_program *program, tt_sharp_core_input *input) {
  input->joystick_heard = program->joystick.heard;
  input->vehicle_heard = program->vehicle.heard;
  program->joystick.heard = program->vehicle.heard = false;
  memcpy(input->joystick, program->joystick.values, sizeof input->joystick);
  memcpy(input->state, program->vehicle.values, sizeof input->state);
  input->state_time = (double)program->vehicle.heard_ns * 1e-9;
}

static void compute(core_program *program, const tt_sharp_core_input *input,
                    tt_sharp_core_output *output) {
  tt_sharp_core_step(&program->law, input, output);
  for (int i = 0; i < output->note_count; i++) tt_log_info("core: %s", output->notes[i]);
}

static void await_answer(core_program *program) {
  uint64_t until = tt_monotonic_ns() + ANSWER_NS;
  program->joystick.heard = false;
  while (!program->joystick.heard && tt_monotonic_ns() < until &&
         tt_period_serve(program->net, until)) {
  }
}

/** The law counts time in periods, so it also lives through those that the process was held up for. */
static void one_turn(core_program *program, int periods) {
  static const int nothing[1];
  tt_sharp_core_input input;
  tt_sharp_core_output output;
  bool heard = program->joystick.heard;
  tt_sharp_link_send(&program->joystick, &tt_sharp_heartbeat_format, nothing);
  await_answer(program);
  program->joystick.heard |= heard;
  take(program, &input);
  tt_sharp_core_input missed = input;
  missed.joystick_heard = missed.vehicle_heard = false;
  for (int i = 1; i < periods; i++) compute(program, &missed, &output);
  compute(program, &input, &output);
  tt_sharp_link_send(&program->vehicle, &tt_sharp_command_format, output.command);
}

static tt_status serve(core_program *program, tt_error *error) {
  TT_TRY(open_links(program, error));
  tt_sharp_core_init(&program->law, &program->config->settings);
  tt_period_catch_signals(program->net);
  tt_print(stderr, "ready joystick=%s vehicle=%s\n", tt_udp_address(program->joystick.udp),
           tt_udp_address(program->vehicle.udp));
  tt_log_info("core: mode: %s", program->law.tank ? "tank" : "arcade");
  uint64_t due = tt_monotonic_ns();
  int periods;
  while ((periods = tt_period_wait(program->net, &due, program->config->settings.period)) > 0)
    one_turn(program, periods);
  return TT_OK;
}

/** One file of theirs serves all three programs. */
static tt_status translate(const tt_document *document, int player, tt_sharp_original *meaning,
                           tt_error *error) {
  if (!tt_stranger_is_original(document)) return TT_OK;
  const tt_sharp_reader reader = {.program = TT_SHARP_PROGRAM_CORE, .player = player};
  return tt_sharp_original_read(document, &reader, meaning, error);
}

static tt_status run_core(int argc, char **argv, tt_error *error) {
  tt_program_config file;
  TT_TRY(tt_program_config_load(argc, argv, NULL, &tt_sharp_core_schema, translate, &file, error));
  tt_status status = tt_sharp_core_config_check(file.keys, file.path, error);
  core_program program = {.config = file.keys};
  if (status == TT_OK) {
    tt_log_start();
    tt_program_config_say_unused(&file);
    program.net = tt_net_new();
    status = program.net == NULL ? tt_fail(error, TT_NOMEM, "no memory or descriptors for sockets")
                                 : serve(&program, error);
    tt_net_free(program.net);
    tt_log_stop();
  }
  if (status != TT_OK) tt_program_config_explain(&file, error);
  tt_program_config_free(&file);
  return status;
}

const tt_app_command tt_app_core = {
    .name = "core",
    .usage = "[CONFIG] [--set PATH=VALUE]…",
    .summary =
        "Drive the SHARP vehicle: hears a joystick and the vehicle's encoders, sends motor speeds",
    .help =
        "  CONFIG               a YAML file like robots/sharp/core.yaml, which shows every key, or "
        "an\n"
        "                       original's config/robotConfig.yml; default: none\n"
        "  --set PATH=VALUE     change a key, for example --set elevator.kp=2.5 or --set "
        "player=2\n",
    .run = run_core,
};
