#include "app/sweep/settings.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run takes the time it takes, whatever the scene says; but a driver's wires may want another pace. */
static const char *const of_every_run[] = {"pace=fast", "on_divergence=stop", NULL};

#define LONGEST 400 /* bytes of a value of an axis, beside its path */

bool tt_sweep_sets_model(const tt_sweep_axis *axis) {
  return axis->set && strncmp(axis->set, "models.", 7) == 0;
}

static int length(const char *const *list) {
  int count = 0;
  while (list && list[count]) count++;
  return count;
}

/* Of the settings that the plan writes; it has texts of any length. */
#define FIRST_ROOM 4096
#define MOST_ROOM (1 << 20)

/* What add_rest() takes at most. */
static size_t room_for_rest(const tt_sweep_plan *plan, const char *log) {
  size_t size = strlen(log ? log : "") + 3 * LONGEST;
  for (int i = 0; i < plan->axis_count; i++)
    if (plan->axes[i].set) size += strlen(plan->axes[i].set) + LONGEST;
  return size;
}

static char *add(tt_sweep_settings *to, char *at, const char *path, const char *value) {
  to->list[to->count++] = at;
  return at + sprintf(at, "%s=%s", path, value) + 1;
}

/* What a shared world is told after a reset. */
static char *add_rest(const tt_sweep_plan *plan, const tt_sweep_run *run, const char *log,
                      tt_sweep_settings *to, char *at) {
  char text[LONGEST];
  for (int i = 0; i < plan->axis_count; i++)
    if (tt_sweep_sets_model(&plan->axes[i]))
      at = add(to, at, plan->axes[i].set, tt_sweep_value_text(&run->axes[i], text, sizeof text));
  snprintf(text, sizeof text, "%" PRIu64, run->seed);
  at = add(to, at, "seed", text);
  at = add(to, at, "record.on", "on");
  at = add(to, at, "record.megabytes", "1000000000"); /* a log is whole, or the sweep ends */
  return add(to, at, "record.file", log);
}

/* Its own and the plan's; false: no memory, or more than MOST_ROOM. */
static bool take_run(const tt_sweep_plan *plan, const tt_sweep_run *run, size_t rest, int most,
                     tt_sweep_settings *to, size_t *used) {
  for (size_t room = FIRST_ROOM; room <= MOST_ROOM; room *= 2) {
    free(to->texts);
    to->texts = malloc(room + rest);
    if (!to->texts) return false;
    to->count = tt_sweep_run_settings(plan, run, to->texts, room, to->list, most);
    *used = room;
    if (to->count >= 0) return true;
  }
  return false;
}

tt_status tt_sweep_settings_make(const tt_sweep_plan *plan, const tt_sweep_run *run,
                                 const char *const *driver, const char *log,
                                 tt_sweep_settings *settings, tt_error *error) {
  const int own = length(plan->settings) + plan->axis_count;
  const int rest = length(driver) + length(of_every_run) + plan->axis_count + 5;
  tt_sweep_settings made = {.list = calloc((size_t)(own + rest), sizeof *made.list)};
  size_t used;
  if (!made.list || !take_run(plan, run, room_for_rest(plan, log), own, &made, &used)) {
    tt_sweep_settings_clear(&made);
    return tt_fail(error, TT_NOMEM, "out of memory for the settings of a run");
  }
  for (int i = 0; of_every_run[i]; i++) made.list[made.count++] = of_every_run[i];
  for (int i = 0; driver && driver[i]; i++) made.list[made.count++] = driver[i];
  if (log) add_rest(plan, run, log, &made, made.texts + used);
  made.list[made.count] = NULL;
  *settings = made;
  return TT_OK;
}

void tt_sweep_settings_clear(tt_sweep_settings *settings) {
  free(settings->list);
  free(settings->texts);
  *settings = (tt_sweep_settings){0};
}
