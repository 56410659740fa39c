#include "host/wanted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct wish {
  bool waits;
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
  uint64_t numbers;
  wish *wishes;       /* [command_count] */
  int *queue;         /* [command_count], a ring: the commands that wait */
  int first, waiting; /* of the queue */
};

tt_wanted *tt_wanted_new(tt_world *world, const char *source) {
  const tt_model *model = tt_world_model(world);
  const size_t count = (size_t)model->command_count + 1;
  tt_wanted *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->world = world;
  made->model = model;
  made->source = source;
  made->wishes = calloc(count, sizeof *made->wishes);
  made->queue = calloc(count, sizeof *made->queue);
  if (made->wishes && made->queue) return made;
  tt_wanted_free(made);
  return NULL;
}

void tt_wanted_free(tt_wanted *wanted) {
  if (!wanted) return;
  free(wanted->wishes);
  free(wanted->queue);
  free(wanted);
}

/* ---- what waits ---- */

static void append(tt_wanted *wanted, int command) {
  wanted->queue[(wanted->first + wanted->waiting++) % wanted->model->command_count] = command;
}

/* What waits already keeps its place: whoever commands without end keeps nothing from its turn. */
static void put(tt_wanted *wanted, int command, wish made) {
  wish *of = &wanted->wishes[command];
  if (!of->waits) append(wanted, command);
  *of = made;
  of->waits = true;
  of->number = ++wanted->numbers;
}

/* They do something whenever they are accepted with another value than 0. */
static bool is_button(tt_command_kind kind) {
  return kind == TT_COMMAND_RESET || kind == TT_COMMAND_MATCH_TIMER;
}

void tt_wanted_set(tt_wanted *wanted, int command, double value, uint64_t meant_for) {
  wish *of = &wanted->wishes[command];
  bool is_pressed = of->waits && of->value != 0;
  if (is_button(wanted->model->commands[command].kind) && is_pressed && value == 0)
    of->is_released = true;
  else
    put(wanted, command, (wish){.value = value, .meant_for = meant_for});
}

void tt_wanted_let_go(tt_wanted *wanted, int command) {
  if (!isnan(wanted->model->commands[command].safe)) put(wanted, command, (wish){.lets_go = true});
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
  return of->waits && !of->lets_go && holds_joint(wanted->model->commands[other].kind) &&
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

static bool post(const tt_wanted *wanted, int command) {
  const wish *of = &wanted->wishes[command];
  tt_mail mail = {.kind = of->lets_go ? TT_MAIL_LET_GO : TT_MAIL_COMMAND,
                  .index = command,
                  .value = of->value,
                  .meant_for = of->meant_for};
  snprintf(mail.source, sizeof mail.source, "%s", wanted->source);
  return tt_world_post(wanted->world, &mail) == TT_OK;
}

bool tt_wanted_post(tt_wanted *wanted) {
  while (wanted->waiting > 0) {
    int command = wanted->queue[wanted->first];
    if (!post(wanted, command)) return false;
    wanted->first = (wanted->first + 1) % wanted->model->command_count;
    wanted->waiting--;
    wanted->wishes[command].waits = comes_again(wanted, command);
    if (wanted->wishes[command].waits) append(wanted, command);
  }
  return true;
}
