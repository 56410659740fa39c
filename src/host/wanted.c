#include "host/wanted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct wish {
  bool waits;
  bool lets_go; /* and then has no value */
  double value;
  uint64_t meant_for;
} wish;

struct tt_wanted {
  tt_world *world;
  const tt_model *model;
  const char *source;
  int waiting; /* of the wishes */
  int next;    /* where to go on: no command comes first for ever */
  wish wishes[];
};

tt_wanted *tt_wanted_new(tt_world *world, const char *source) {
  const tt_model *model = tt_world_model(world);
  tt_wanted *made = calloc(1, sizeof *made + (size_t)model->command_count * sizeof(wish));
  if (!made) return NULL;
  made->world = world;
  made->model = model;
  made->source = source;
  return made;
}

void tt_wanted_free(tt_wanted *wanted) { free(wanted); }

static void put(tt_wanted *wanted, int command, wish made) {
  wish *of = &wanted->wishes[command];
  wanted->waiting += !of->waits;
  *of = made;
  of->waits = true;
}

void tt_wanted_set(tt_wanted *wanted, int command, double value, uint64_t meant_for) {
  put(wanted, command, (wish){.value = value, .meant_for = meant_for});
}

void tt_wanted_let_go(tt_wanted *wanted, int command) {
  if (!isnan(wanted->model->commands[command].safe)) put(wanted, command, (wish){.lets_go = true});
}

static bool post(tt_wanted *wanted, int command) {
  wish *of = &wanted->wishes[command];
  tt_mail mail = {.kind = of->lets_go ? TT_MAIL_LET_GO : TT_MAIL_COMMAND,
                  .index = command,
                  .value = of->value,
                  .meant_for = of->meant_for};
  snprintf(mail.source, sizeof mail.source, "%s", wanted->source);
  if (tt_world_post(wanted->world, &mail) != TT_OK) return false;
  of->waits = false;
  wanted->waiting--;
  return true;
}

bool tt_wanted_post(tt_wanted *wanted) {
  const int count = wanted->model->command_count;
  for (int looked = 0; wanted->waiting > 0 && looked < count; looked++) {
    if (wanted->wishes[wanted->next].waits && !post(wanted, wanted->next)) return false;
    wanted->next = (wanted->next + 1) % count;
  }
  return wanted->waiting == 0;
}
