#include "host/wanted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a command. */
typedef struct wish {
  bool lets_go;     /* and then has no value */
  bool is_released; /* a press, and its end after it */
  double value;
  uint64_t meant_for;
  uint64_t number; /* what was set later has a greater one */
} wish;

struct tt_wanted {
  tt_world *world;
  const tt_model *model;
  const char *source;
  int stations; /* a world without robots has one, too */
  int places;   /* first those of the commands, then those of the joysticks of each station */
  uint64_t numbers;
  bool *waits;         /* [places] */
  wish *wishes;        /* [command_count] */
  tt_ds_order *sticks; /* [places − command_count] */
  int *queue;          /* [places], a ring: those that wait */
  int first, waiting;  /* of the queue */
};

tt_wanted *tt_wanted_new(tt_world *world, const char *source) {
  const tt_model *model = tt_world_model(world);
  const int stations = model->robot_count ? model->robot_count : 1;
  const int sticks = stations * TT_DS_JOYSTICKS;
  tt_wanted *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->world = world;
  made->model = model;
  made->source = source;
  made->stations = stations;
  made->places = model->command_count + sticks;
  made->waits = calloc((size_t)made->places + 1, sizeof *made->waits);
  made->wishes = calloc((size_t)model->command_count + 1, sizeof *made->wishes);
  made->sticks = calloc((size_t)sticks + 1, sizeof *made->sticks);
  made->queue = calloc((size_t)made->places + 1, sizeof *made->queue);
  if (made->waits && made->wishes && made->sticks && made->queue) return made;
  tt_wanted_free(made);
  return NULL;
}

void tt_wanted_free(tt_wanted *wanted) {
  if (!wanted) return;
  free(wanted->waits);
  free(wanted->wishes);
  free(wanted->sticks);
  free(wanted->queue);
  free(wanted);
}

/* ---- what waits ---- */

/* What waits already keeps its place: whoever commands without end keeps nothing from its turn. */
static void wait_at(tt_wanted *wanted, int place) {
  if (wanted->waits[place]) return;
  wanted->waits[place] = true;
  wanted->queue[(wanted->first + wanted->waiting++) % wanted->places] = place;
}

static void put(tt_wanted *wanted, int command, wish made) {
  made.number = ++wanted->numbers;
  wanted->wishes[command] = made;
  wait_at(wanted, command);
}

/* They do something whenever they are accepted with another value than 0. */
static bool is_button(tt_command_kind kind) {
  return kind == TT_COMMAND_RESET || kind == TT_COMMAND_MATCH_TIMER;
}

void tt_wanted_set(tt_wanted *wanted, int command, double value, uint64_t meant_for) {
  wish *of = &wanted->wishes[command];
  bool is_pressed = wanted->waits[command] && of->value != 0;
  if (is_button(wanted->model->commands[command].kind) && is_pressed && value == 0)
    of->is_released = true;
  else
    put(wanted, command, (wish){.value = value, .meant_for = meant_for});
}

void tt_wanted_let_go(tt_wanted *wanted, int command) {
  if (!isnan(wanted->model->commands[command].safe)) put(wanted, command, (wish){.lets_go = true});
}

void tt_wanted_stick(tt_wanted *wanted, const tt_ds_order *order) {
  for (int robot = 0; robot < wanted->stations; robot++) {
    if (order->robot >= 0 && order->robot != robot) continue;
    int stick = robot * TT_DS_JOYSTICKS + order->value;
    wanted->sticks[stick] = *order;
    wanted->sticks[stick].robot = robot;
    wait_at(wanted, wanted->model->command_count + stick);
  }
}

/* ---- on its way ---- */

/* Of these the one accepted last holds the joint. */
static bool holds_joint(tt_command_kind kind) {
  return kind == TT_COMMAND_TORQUE || kind == TT_COMMAND_VELOCITY || kind == TT_COMMAND_DUTY;
}

static bool is_of_same_joint(const tt_command *a, const tt_command *b) {
  return a->part == b->part && b->kind <= TT_COMMAND_DUTY &&
         (a->part != TT_NO_PART || a->index == b->index);
}

static bool is_rival(const tt_wanted *wanted, int command, int other) {
  const wish *of = &wanted->wishes[other];
  return wanted->waits[other] && !of->lets_go && holds_joint(wanted->model->commands[other].kind) &&
         of->number < wanted->wishes[command].number;
}

/* Whether a command waits behind this one that was set before it and would take the joint from it. A joint's commands stand
 * together. */
static bool has_rival(const tt_wanted *wanted, int command) {
  const tt_model *model = wanted->model;
  const tt_command *of = &model->commands[command];
  if (!holds_joint(of->kind) || wanted->wishes[command].lets_go) return false;
  for (int side = -1; side <= 1; side += 2)
    for (int i = command + side;
         i >= 0 && i < model->command_count && is_of_same_joint(of, &model->commands[i]); i += side)
      if (is_rival(wanted, command, i)) return true;
  return false;
}

/* It was posted, and is to be posted once more: behind what waits. */
static bool comes_again(const tt_wanted *wanted, int command) {
  wish *of = &wanted->wishes[command];
  if (!of->is_released) return has_rival(wanted, command);
  of->is_released = false;
  of->value = 0;
  return true;
}

static tt_mail stick_mail(const tt_wanted *wanted, int stick) {
  return (tt_mail){.kind = TT_MAIL_STATION, .station = wanted->sticks[stick]};
}

static tt_mail command_mail(const tt_wanted *wanted, int command) {
  const wish *of = &wanted->wishes[command];
  return (tt_mail){.kind = of->lets_go ? TT_MAIL_LET_GO : TT_MAIL_COMMAND,
                   .index = command,
                   .value = of->value,
                   .meant_for = of->meant_for};
}

static bool post(const tt_wanted *wanted, int place) {
  const int stick = place - wanted->model->command_count;
  tt_mail mail = stick >= 0 ? stick_mail(wanted, stick) : command_mail(wanted, place);
  snprintf(mail.source, sizeof mail.source, "%s", wanted->source);
  return tt_world_post(wanted->world, &mail) == TT_OK;
}

bool tt_wanted_post(tt_wanted *wanted) {
  while (wanted->waiting > 0) {
    int place = wanted->queue[wanted->first];
    if (!post(wanted, place)) return false;
    wanted->first = (wanted->first + 1) % wanted->places;
    wanted->waiting--;
    wanted->waits[place] = false;
    if (place < wanted->model->command_count && comes_again(wanted, place)) wait_at(wanted, place);
  }
  return true;
}
