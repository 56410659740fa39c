/* sims_memory: what simulations beside the first of a scene cost of resident memory.
 *
 *   sims_memory DATA SCENE COUNT      one JSON object: MiB each, after one stage and the next
 *
 * Each is driven by all its velocity commands and grippers while it steps, so that servos, contacts and grips work. The
 * saved state of each is kept, and counts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tether/tether.h>
#include <unistd.h>

#define STEPS 1000
#define MOST_COMMANDS 256

typedef struct one {
  tether_sim *sim;
  void *state;
} one;

static tether_error error;

static void need(tether_status status) {
  if (status == TETHER_OK) return;
  fprintf(stderr, "sims_memory: %s\n", error.text);
  exit(1);
}

static double resident(void) { /* MiB */
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%*d %ld", &pages) != 1) exit(1);
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / 0x1p20;
}

/** Commands that end in `suffix`. */
static int find(const tether_sim *sim, const char *suffix, tether_handle *handles) {
  tether_item item;
  int found = 0;
  for (int i = 0; tether_sim_command_item(sim, i, &item) == TETHER_OK && found < MOST_COMMANDS;
       i++) {
    size_t size = strlen(item.name), end = strlen(suffix);
    if (size < end || strcmp(item.name + size - end, suffix) != 0) continue;
    need(tether_command_find(sim, item.name, NULL, &handles[found++], &error));
  }
  return found;
}

static void drive(tether_sim *sim) {
  tether_handle handles[MOST_COMMANDS], kinds[MOST_COMMANDS];
  double values[MOST_COMMANDS], grips[MOST_COMMANDS];
  int count = find(sim, ".velocity", handles), grippers = find(sim, "grip", kinds);
  for (int i = 0; i < grippers; i++) grips[i] = 1;
  need(tether_sim_apply(sim, kinds, grips, grippers, &error));
  for (int step = 0; step < STEPS; step += 50) {
    for (int i = 0; i < count; i++) values[i] = sin(0.01 * step + i);
    need(tether_sim_apply(sim, handles, values, count, &error));
    need(tether_sim_step(sim, 50, &error));
  }
}

static void save_and_reset(one *of) {
  const size_t size = tether_sim_state_size(of->sim);
  of->state = malloc(size);
  if (!of->state) exit(1);
  need(tether_sim_save(of->sim, of->state, size, &error));
  need(tether_sim_reset(of->sim, NULL, &error));
}

static void restore(one *of) {
  drive(of->sim);
  need(tether_sim_restore(of->sim, of->state, tether_sim_state_size(of->sim), &error));
}

int main(int argc, char **argv) {
  tether_scene *scene;
  one first;
  const int count = argc == 4 ? atoi(argv[3]) : 0;
  one *more = calloc((size_t)(count > 0 ? count : 1), sizeof *more);
  if (count < 1 || !more) {
    fprintf(stderr, "usage: sims_memory DATA SCENE COUNT\n");
    return 2;
  }
  tether_set_data(argv[1]);
  need(tether_scene_load(argv[2], NULL, 0, &scene, &error));
  need(tether_sim_new(scene, &first.sim, &error));
  drive(first.sim);
  save_and_reset(&first);
  restore(&first);
  const double before = resident();
  for (int i = 0; i < count; i++) need(tether_sim_new(scene, &more[i].sim, &error));
  const double made = (resident() - before) / count;
  for (int i = 0; i < count; i++) drive(more[i].sim);
  const double stepped = (resident() - before) / count;
  for (int i = 0; i < count; i++) save_and_reset(&more[i]);
  const double reset = (resident() - before) / count;
  for (int i = 0; i < count; i++) restore(&more[i]);
  const double restored = (resident() - before) / count;
  for (int i = 0; i < count; i++) drive(more[i].sim);
  const double again = (resident() - before) / count;
  printf(
      "{\"first_mib\": %.2f, \"made_mib\": %.3f, \"stepped_mib\": %.3f, \"reset_mib\": %.3f, "
      "\"restored_mib\": %.3f, \"again_mib\": %.3f}\n",
      before, made, stepped, reset, restored, again);
  return 0;
}
