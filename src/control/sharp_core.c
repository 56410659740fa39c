/* sharp_core.c: the control law of the SHARP robot. See sharp_core.h; tt_sharp_core_step() at the end names
 * the stages. */
#include "control/sharp_core.h"

#include <math.h>
#include <string.h>

#define LEAST_INTERVAL 1e-3 /* s between two readings: nearer ones came late, in one go */
#define LIFT_AT_START 8     /* ticks that the lift of a vehicle that begins reads at most */
#define DRIVE_AT_START 100  /* ticks that its wheels have gone at most, driven on at once */
#define LIFT_PUSHED 128     /* ticks between two readings that it goes at most by itself */
#define FASTEST_LIFT 2640   /* ticks/s at motor speed 512: twice those of the lift of ours */
#define RESET_TAKES 0.5     /* s from guide to the first state after the reset, on a busy machine */
#define LEAST_COMMAND 26    /* motor speed that surely moves a wheel: a twentieth of the full one */

tt_sharp_core_settings tt_sharp_core_settings_default(void) {
  return (tt_sharp_core_settings){
      .period = TT_SHARP_PERIOD,
      .joystick_timeout = 0.5,
      .vehicle_timeout = 0.5,
      .elevator_speed = 384,
      .kp = 3,
      .ki = 2,
      .kd = 0.1,
      .integral_limit = 64,
      .tolerance = 2,
      .hold_limit = TT_SHARP_FULL,
      .presets = {0, 341, 682, 1000},
      .traction = true,
      .slew = 12000,
      .slew_slipping = 800,
      .slip = 0.15,
      .acceleration = 450,
      .headroom = 240,
      .slip_hold = 0.2,
      .full_speed = 833.0 / 60 * TT_SHARP_TICKS, /* 833 rpm at the wheel */
      .lag = 0.05,
      .smoothing = 0.04,
      .still_time = 0.1,
  };
}

void tt_sharp_core_init(tt_sharp_core *core, const tt_sharp_core_settings *settings) {
  *core = (tt_sharp_core){.settings = *settings,
                          .tank = settings->tank,
                          .joystick_silence = INFINITY,
                          .vehicle_silence = INFINITY};
}

static double clamp(double value, double limit) {
  return value > limit ? limit : value < -limit ? -limit : value;
}

static void note(tt_sharp_core_output *output, const char *text) {
  if (output->note_count < TT_SHARP_MAX_NOTES) output->notes[output->note_count++] = text;
}

/* --- who is there --- */

/** Updates one partner's silence and returns whether it is there. */
static bool alive(double *silence, bool heard, double timeout, double period) {
  *silence = heard ? 0 : *silence + period;
  return *silence < timeout - period / 2;
}

/** Nothing is held any more. */
static void let_go(tt_sharp_core *core) {
  core->holding = false;
  core->integral = 0;
}

static void forget_side(tt_sharp_side *side) { *side = (tt_sharp_side){.output = side->output}; }

/** The next readings begin new differences. */
static void forget_encoders(tt_sharp_core *core) {
  core->encoders_seen = core->ground_known = false;
  core->encoders_alive = true;
  forget_side(&core->left);
  forget_side(&core->right);
  core->still = core->slipping = 0;
}

/** Ticks between two readings of an encoder that counts on through 1023 → 0: of all that differ by whole turns, those
 *  nearest to `expected`. */
static double ticks_between(int from, int to, double expected) {
  return to - from + TT_SHARP_TICKS * rint((expected - (to - from)) / TT_SHARP_TICKS);
}

static void low_pass(double *state, double value, double time_constant, double period) {
  *state += (value - *state) * period / (time_constant + period);
}

/** Ticks/s of this side's wheel at motor speed 512. */
static double full_speed(const tt_sharp_core *core, const tt_sharp_side *side) {
  const tt_sharp_core_settings *s = &core->settings;
  double own = side == &core->left ? s->left_full_speed : s->right_full_speed;
  return own > 0 ? own : s->full_speed;
}

/** The speed that a wheel should have by now, a period after its last command. */
static void expect(const tt_sharp_core *core, tt_sharp_side *side) {
  const tt_sharp_core_settings *s = &core->settings;
  double asked = side->output / TT_SHARP_FULL * full_speed(core, side);
  low_pass(&side->follows, asked, s->lag, s->period);
  low_pass(&side->expected, side->follows, s->smoothing, s->period);
}

/** Ticks that a wheel should have gone in `passed` s. */
static double expected_ticks(const tt_sharp_core *core, const tt_sharp_side *side, double passed) {
  return clamp(side->measured, full_speed(core, side)) * passed;
}

/** One side's reading, `passed` s after the one before; returns whether it moved. A wheel's speed is that of the ground
 *  under it unless it changes faster than the ground can make the vehicle. */
static bool read_side(const tt_sharp_core *core, tt_sharp_side *side, int encoder, double passed) {
  const tt_sharp_core_settings *s = &core->settings;
  double moved = ticks_between(side->encoder, encoder, expected_ticks(core, side, passed));
  double speed = moved / passed;
  side->encoder = encoder;
  low_pass(&side->measured, speed, s->smoothing, passed);
  bool limited = core->encoders_alive && core->ground_known;
  double fastest = s->acceleration / TT_SHARP_FULL * s->full_speed; /* of the vehicle, ticks/s² */
  double most = limited ? fastest * passed : INFINITY;
  side->ground += clamp(speed - side->ground, most);
  return moved != 0;
}

/** Decides whether the encoders tell anything: those that stand still under a command that moves wheels don't. */
static void judge_encoders(tt_sharp_core *core, bool moved, double passed) {
  double commanded = fmax(fabs(core->left.output), fabs(core->right.output));
  core->still = moved || commanded < LEAST_COMMAND ? 0 : core->still + passed;
  if (moved) core->encoders_alive = true;
  if (core->still > core->settings.still_time) core->encoders_alive = false;
}

/** Whether a wheel can't have come from its last reading to this one. */
static bool strays(const tt_sharp_core *core, const tt_sharp_side *side, int encoder,
                   double passed) {
  double expected = expected_ticks(core, side, passed);
  double run_up = full_speed(core, side) * passed / 2;
  return fabs(ticks_between(side->encoder, encoder, expected) - expected) > run_up;
}

/** Whether the lift is where neither its motor nor its way so far can have brought it. A state may be a period late. */
static bool lift_strays(const tt_sharp_core *core, double lift, double passed) {
  double speed = core->lift_asked / TT_SHARP_FULL * FASTEST_LIFT + fabs(core->lift_speed);
  double reach = speed * (passed + core->settings.period);
  double margin = lift <= LIFT_AT_START ? LIFT_AT_START : LIFT_PUSHED;
  return fabs(lift - core->lift) > reach + margin;
}

/** Whether no motion explains a reading after the one before: the vehicle was reset. The protocol doesn't tell. */
static bool begins_anew(const tt_sharp_core *core, const int *state, double passed) {
  double lift = state[TT_SHARP_ELEVATOR_ENCODER];
  int left = state[TT_SHARP_LEFT_ENCODER], right = state[TT_SHARP_RIGHT_ENCODER];
  if (lift_strays(core, lift, passed)) return true;
  bool at_start = lift <= LIFT_AT_START && fabs(ticks_between(0, left, 0)) <= DRIVE_AT_START &&
                  fabs(ticks_between(0, right, 0)) <= DRIVE_AT_START;
  double expected = fmax(0, core->lift + core->lift_speed * passed); /* at its stop it ends */
  return at_start &&
         (fabs(lift - expected) > LIFT_AT_START || strays(core, &core->left, left, passed) ||
          strays(core, &core->right, right, passed));
}

/** The first reading of a vehicle that appears, or that begins anew. */
static void meet_vehicle(tt_sharp_core *core, const int *state) {
  forget_encoders(core);
  core->left.encoder = state[TT_SHARP_LEFT_ENCODER];
  core->right.encoder = state[TT_SHARP_RIGHT_ENCODER];
  core->lift = state[TT_SHARP_ELEVATOR_ENCODER];
  core->lift_speed = 0;
  core->encoders_seen = true;
}

static void read_vehicle(tt_sharp_core *core, const tt_sharp_core_input *input,
                         tt_sharp_core_output *output) {
  const int *state = input->state;
  double passed = fmax(input->state_time - core->read_time, LEAST_INTERVAL);
  core->read_time = input->state_time;
  if (core->encoders_seen && begins_anew(core, state, passed)) {
    note(output, "the vehicle begins anew");
    let_go(core);
    core->resetting = 0;
    core->encoders_seen = false;
  }
  if (!core->encoders_seen) {
    meet_vehicle(core, state);
    return;
  }
  bool left_moved = read_side(core, &core->left, state[TT_SHARP_LEFT_ENCODER], passed);
  bool right_moved = read_side(core, &core->right, state[TT_SHARP_RIGHT_ENCODER], passed);
  core->ground_known = true;
  judge_encoders(core, left_moved || right_moved, passed);
  double lift = state[TT_SHARP_ELEVATOR_ENCODER];
  low_pass(&core->lift_speed, (lift - core->lift) / passed, core->settings.smoothing, passed);
  core->lift = lift;
}

static void supervise(tt_sharp_core *core, const tt_sharp_core_input *input,
                      tt_sharp_core_output *output) {
  const tt_sharp_core_settings *s = &core->settings;
  bool joystick =
      alive(&core->joystick_silence, input->joystick_heard, s->joystick_timeout, s->period);
  bool vehicle = alive(&core->vehicle_silence, input->vehicle_heard, s->vehicle_timeout, s->period);
  if (joystick != core->joystick_alive) {
    note(output, joystick ? "joystick heard" : "joystick silent: everything stops");
  }
  if (vehicle != core->vehicle_alive) {
    note(output, vehicle ? "vehicle heard" : "vehicle silent: driving without encoders");
  }
  if (vehicle && !core->vehicle_alive) core->encoders_seen = false;
  core->joystick_alive = joystick;
  core->vehicle_alive = vehicle;
  if (input->vehicle_heard) read_vehicle(core, input, output);
}

/* --- mode --- */

/** Back pressed and released toggles arcade and tank. */
static void choose_mode(tt_sharp_core *core, const int *joystick, tt_sharp_core_output *output) {
  bool back = joystick[TT_JOYSTICK_BACK] != 0;
  if (core->back_held && !back) {
    core->tank = !core->tank;
    note(output, core->tank ? "mode: tank" : "mode: arcade");
  }
  core->back_held = back;
}

/* --- drive --- */

/** What the driver asks of both sides. */
static void mix(const tt_sharp_core *core, const int *joystick, int *left, int *right) {
  *left = joystick[TT_JOYSTICK_LEFT_Y];
  *right = joystick[TT_JOYSTICK_RIGHT_Y];
  if (core->tank) return;
  int turn = joystick[TT_JOYSTICK_RIGHT_X] / 2; /* C divides toward zero, as wanted */
  *right = (int)clamp(*left - turn, TT_SHARP_FULL);
  *left = (int)clamp(*left + turn, TT_SHARP_FULL);
}

/** Sees one wheel slip. Both wheels lag alike behind their commands, so what is compared is the difference of the two
 *  sides. */
static void compare_sides(tt_sharp_core *core) {
  const tt_sharp_core_settings *s = &core->settings;
  double measured = core->left.measured - core->right.measured;
  double expected = core->left.expected - core->right.expected;
  if (fabs(measured - expected) > s->slip * s->full_speed) {
    core->slipping = s->slip_hold;
  } else {
    core->slipping = fmax(0, core->slipping - s->period);
  }
}

/** The command that follows `wanted` no faster than the slew, and stays so near to the speed of the ground that both
 *  wheels together can't slip far. */
static int limit(const tt_sharp_core *core, tt_sharp_side *side, int wanted) {
  const tt_sharp_core_settings *s = &core->settings;
  if (!s->traction || !core->vehicle_alive || !core->encoders_alive) {
    side->output = wanted;
    return wanted;
  }
  double ground = side->ground / full_speed(core, side) * TT_SHARP_FULL;
  double gripping = clamp(ground + clamp(wanted - ground, s->headroom), TT_SHARP_FULL);
  double slew = core->slipping > 0 ? s->slew_slipping : s->slew;
  side->output += clamp(gripping - side->output, slew * s->period);
  return (int)lround(side->output);
}

static void drive(tt_sharp_core *core, const tt_sharp_core_input *input, int *command) {
  int left, right;
  mix(core, input->joystick, &left, &right);
  expect(core, &core->left);
  expect(core, &core->right);
  if (input->vehicle_heard) compare_sides(core);
  command[TT_SHARP_LEFT_DRIVE] = limit(core, &core->left, left);
  command[TT_SHARP_RIGHT_DRIVE] = limit(core, &core->right, right);
}

/* --- elevator --- */

/** A button that has just been pressed sets its preset as the target. */
static void choose_preset(tt_sharp_core *core, const int *joystick) {
  for (int i = 0; i < TT_SHARP_PRESETS; i++) {
    int pressed = joystick[TT_JOYSTICK_A + i];
    if (pressed && !core->buttons_held[i] && core->settings.presets[i] != TT_SHARP_NO_PRESET) {
      core->holding = true;
      core->target = core->settings.presets[i];
      core->integral = 0;
    }
    core->buttons_held[i] = pressed;
  }
}

/** PID on position; the derivative acts on the lift's movement, so that a new target makes no jump. */
static double hold(tt_sharp_core *core) {
  const tt_sharp_core_settings *s = &core->settings;
  double error = core->target - core->lift;
  if (fabs(error) <= s->tolerance) {
    core->integral = 0;
    return 0;
  }
  core->integral = clamp(core->integral + s->ki * error * s->period, s->integral_limit);
  return clamp(s->kp * error + core->integral - s->kd * core->lift_speed, s->hold_limit);
}

static void elevate(tt_sharp_core *core, const tt_sharp_core_input *input, int *command) {
  const tt_sharp_core_settings *s = &core->settings;
  int manual = input->joystick[TT_JOYSTICK_UP] - input->joystick[TT_JOYSTICK_DOWN];
  choose_preset(core, input->joystick);
  double speed = 0;
  if (manual != 0) {
    let_go(core);
    speed = manual * s->elevator_speed;
  } else if (!core->vehicle_alive) {
    let_go(core);
  } else if (core->holding) {
    speed = hold(core);
  } else if (core->resetting <= 0) {
    core->holding = true; /* from now on it is held where it was left */
    core->target = core->lift;
  }
  core->lift_asked -= core->lift_asked * s->period / (s->smoothing + s->period);
  core->lift_asked = fmax(core->lift_asked, fabs(speed)); /* a lift runs out */
  command[TT_SHARP_ELEVATOR] = (int)lround(speed);
}

/* --- reset --- */

/** Guide, pressed, resets the vehicle a little later: till then its lift is not where it will be held. */
static void watch_guide(tt_sharp_core *core, bool guide) {
  core->resetting = fmax(0, core->resetting - core->settings.period);
  if (guide && !core->guide_held) {
    let_go(core);
    core->resetting = RESET_TAKES;
  }
  core->guide_held = guide;
}

/* --- the whole --- */

/** Nobody drives: all zero, and nothing is remembered of what the driver was doing. */
static void stop(tt_sharp_core *core) {
  let_go(core);
  forget_encoders(core);
  core->back_held = core->guide_held = false;
  memset(core->buttons_held, 0, sizeof core->buttons_held);
  core->left.output = core->right.output = 0;
}

void tt_sharp_core_step(tt_sharp_core *core, const tt_sharp_core_input *input,
                        tt_sharp_core_output *output) {
  *output = (tt_sharp_core_output){.note_count = 0};
  supervise(core, input, output);
  if (!core->joystick_alive) {
    stop(core);
    return;
  }
  choose_mode(core, input->joystick, output);
  watch_guide(core, input->joystick[TT_JOYSTICK_SELECT] != 0);
  drive(core, input, output->command);
  elevate(core, input, output->command);
  output->command[TT_SHARP_BACK] = input->joystick[TT_JOYSTICK_BACK];
  output->command[TT_SHARP_GUIDE] = input->joystick[TT_JOYSTICK_SELECT];
  output->command[TT_SHARP_START] = input->joystick[TT_JOYSTICK_START];
}
