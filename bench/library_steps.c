/* library_steps.c: steps of libtether's functions against mj_step alone, of the same simulations with the same torques, by turns.
 *
 * usage: library_steps SCENE. For each line of standard input one line of JSON, ns a step:
 *   torques N | servos N   {"ours_ns": …, "bare_ns": …}: one simulation, N steps a call, CPU time; ten torques or velocities in,
 *                          thirty signals out. The torques of servos are learned first.
 *   bare                   only bare, with torques that change each step
 *   batch K T              {"ours_ns": …, "bare_ns": …}: K simulations on T threads, ten steps a call, against T threads that
 *                          do nothing but mj_step with as many simulations each; wall time of one simulation's step
 *   batch-bare K T         only bare
 */
#include "engine/mujoco/mujoco_engine.h"
#include "library/library.h"
#include "tether/tether.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JOINTS 10
#define STEPS 600
#define BATCH_CALLS 12
#define BATCH_STEPS 10
#define MOST 256

static const char *const kinds[3] = {"position", "velocity", "torque"};
static tether_error error;
static tether_scene *scene;
static char names[2][JOINTS][80], signal_names[3 * JOINTS][80]; /* torques, velocities */
static int axis_count, axes[JOINTS];

static void good(tether_status status) {
  if (status == TETHER_OK) return;
  fprintf(stderr, "library_steps: %s\n", error.text);
  exit(1);
}

static void *zeros(size_t count, size_t size) {
  void *made = calloc(count, size);
  if (!made) exit(1);
  return made;
}

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* What joint `i` is given in step `k`: the same in library_client.py; velocities as in the bench `step`. */
static double torque(int k, int i) { return 4 * sin(0.02 * k + i); }
static double velocity(int k, int i) { return i == 0 ? 0.5 * cos(k / 600.0) : 0; }

/* The first ten joints that take torques. */
static void find_joints(void) {
  tether_sim *sim;
  int found = 0;
  good(tether_sim_new(scene, &sim, &error));
  const tt_model *model = tt_sim_model(sim->sim);
  axis_count = model->axis_count;
  for (int i = 0; i < tether_sim_command_count(sim) && found < JOINTS; i++) {
    tether_item item;
    good(tether_sim_command_item(sim, i, &item));
    const char *dot = strrchr(item.name, '.');
    if (!dot || strcmp(dot, ".torque")) continue;
    int size = (int)(dot - item.name);
    snprintf(names[0][found], 80, "%s", item.name);
    snprintf(names[1][found], 80, "%.*s.velocity", size, item.name);
    for (int k = 0; k < 3; k++)
      snprintf(signal_names[3 * found + k], 80, "%.*s.%s", size, item.name, kinds[k]);
    axes[found++] = model->commands[i].index;
  }
  if (found < JOINTS) exit(1);
  tether_sim_free(sim);
}

/* ---- one simulation ---- */

typedef struct single {
  tether_sim *sim;
  int each; /* steps a call */
  tether_io io;
  tether_handle commands[JOINTS], signals[3 * JOINTS];
  double values[JOINTS], read[3 * JOINTS];
  double table[STEPS][JOINTS];
  double *torques; /* [STEPS][axis_count] that act */
} single;

static void learn_torques(single *self) {
  for (int k = 0; k < STEPS; k++) {
    if (k % self->each == 0) memcpy(self->values, self->table[k], sizeof self->values);
    good(tether_sim_exchange(self->sim, &self->io, 1, 1, &error));
    memcpy(self->torques + (size_t)k * (size_t)axis_count,
           tt_space_axis_torque(&tt_sim_engine(self->sim->sim)->space),
           (size_t)axis_count * sizeof(double));
  }
}

static double step_ours(single *self) {
  good(tether_sim_reset(self->sim, NULL, &error));
  double started = now(CLOCK_THREAD_CPUTIME_ID);
  for (int k = 0; k < STEPS; k += self->each) {
    memcpy(self->values, self->table[k], sizeof self->values);
    good(tether_sim_exchange(self->sim, &self->io, 1, self->each, &error));
  }
  return (now(CLOCK_THREAD_CPUTIME_ID) - started) / STEPS;
}

static double step_bare(single *self) {
  good(tether_sim_reset(self->sim, NULL, &error));
  double started = now(CLOCK_THREAD_CPUTIME_ID);
  tt_mujoco_bare_steps(tt_sim_engine(self->sim->sim), self->torques, STEPS);
  return (now(CLOCK_THREAD_CPUTIME_ID) - started) / STEPS;
}

static single *make_single(bool servos, int each) {
  single *self = zeros(1, sizeof *self);
  if (each < 1 || STEPS % each != 0) exit(1);
  self->each = each;
  good(tether_sim_new(scene, &self->sim, &error));
  for (int i = 0; i < JOINTS; i++)
    good(tether_command_find(self->sim, names[servos][i], NULL, &self->commands[i], &error));
  for (int i = 0; i < 3 * JOINTS; i++)
    good(tether_signal_find(self->sim, signal_names[i], NULL, &self->signals[i], &error));
  self->io = (tether_io){.commands = self->commands,
                         .command_values = self->values,
                         .command_count = JOINTS,
                         .signals = self->signals,
                         .signal_values = self->read,
                         .signal_count = 3 * JOINTS};
  for (int k = 0; k < STEPS; k++)
    for (int i = 0; i < JOINTS; i++) self->table[k][i] = servos ? velocity(k, i) : torque(k, i);
  self->torques = zeros((size_t)STEPS * (size_t)axis_count, sizeof(double));
  learn_torques(self);
  return self;
}

/* ---- a batch ---- */

typedef struct many {
  tether_batch *batch;
  int count, threads;
  double *in, *out;
  double *torques; /* [BATCH_CALLS][BATCH_STEPS][axis_count] that act */
} many;

typedef struct loop {
  pthread_t thread;
  many *self;
  int index;
} loop;

static double batch_ours(many *self) {
  good(tether_batch_reset(self->batch, NULL, NULL, self->out, &error));
  double started = now(CLOCK_MONOTONIC);
  for (int k = 0; k < BATCH_CALLS; k++) {
    for (int i = 0; i < self->count * JOINTS; i++)
      self->in[i] = torque(k * BATCH_STEPS, i % JOINTS);
    good(tether_batch_step(self->batch, self->in, BATCH_STEPS, self->out, &error));
  }
  return (now(CLOCK_MONOTONIC) - started) / (BATCH_CALLS * BATCH_STEPS) / self->count;
}

static void *bare_loop(void *untyped) {
  loop *one = untyped;
  many *self = one->self;
  size_t each = (size_t)BATCH_STEPS * (size_t)axis_count;
  for (int k = 0; k < BATCH_CALLS; k++)
    for (int i = one->index; i < self->count; i += self->threads)
      tt_mujoco_bare_steps(tt_sim_engine(tether_batch_sim(self->batch, i)->sim),
                           self->torques + (size_t)k * each, BATCH_STEPS);
  return NULL;
}

static double batch_bare(many *self) {
  loop loops[64];
  good(tether_batch_reset(self->batch, NULL, NULL, self->out, &error));
  double started = now(CLOCK_MONOTONIC);
  for (int i = 0; i < self->threads; i++) {
    loops[i] = (loop){.self = self, .index = i};
    if (i > 0 && pthread_create(&loops[i].thread, NULL, bare_loop, &loops[i])) exit(1);
  }
  bare_loop(&loops[0]);
  for (int i = 1; i < self->threads; i++) pthread_join(loops[i].thread, NULL);
  return (now(CLOCK_MONOTONIC) - started) / (BATCH_CALLS * BATCH_STEPS) / self->count;
}

static many *make_many(int count, int threads) {
  const char *commands[JOINTS], *signals[3 * JOINTS];
  many *self = zeros(1, sizeof *self);
  if (count < 1 || count > MOST || threads < 1 || threads > 64) exit(1);
  for (int i = 0; i < JOINTS; i++) commands[i] = names[0][i];
  for (int i = 0; i < 3 * JOINTS; i++) signals[i] = signal_names[i];
  good(tether_batch_new(scene, count, threads, commands, JOINTS, signals, 3 * JOINTS, &self->batch,
                        &error));
  self->count = count;
  self->threads = threads < count ? threads : count;
  self->in = zeros((size_t)count * JOINTS, sizeof(double));
  self->out = zeros((size_t)count * 3 * JOINTS, sizeof(double));
  self->torques = zeros((size_t)BATCH_CALLS * BATCH_STEPS * (size_t)axis_count, sizeof(double));
  for (int k = 0; k < BATCH_CALLS * BATCH_STEPS; k++)
    for (int i = 0; i < JOINTS; i++)
      self->torques[(size_t)k * (size_t)axis_count + (size_t)axes[i]] =
          torque(k / BATCH_STEPS * BATCH_STEPS, i);
  return self;
}

/* The one of this kind, made when it is first asked for. */
static single *get_single(bool servos, int each) {
  static single *made[16];
  static bool of_servos[16];
  int i = 0;
  for (; i < 15 && made[i]; i++)
    if (of_servos[i] == servos && made[i]->each == each) return made[i];
  of_servos[i] = servos;
  return made[i] = make_single(servos, each);
}

int main(int argc, char **argv) {
  char line[80], what[80];
  many *batch = NULL;
  if (argc != 2) return 2;
  good(tether_scene_load(argv[1], NULL, 0, &scene, &error));
  find_joints();
  while (fgets(line, sizeof line, stdin)) {
    double ours = 0, bare;
    int first = 1, threads = 1;
    if (sscanf(line, "%79s %d %d", what, &first, &threads) < 1) return 2;
    bool only_bare = strstr(what, "bare") != NULL;
    if (strncmp(what, "batch", 5) == 0) {
      if (!batch) batch = make_many(first, threads);
      bare = batch_bare(batch);
      if (!only_bare) ours = batch_ours(batch);
    } else {
      single *one = get_single(strcmp(what, "servos") == 0, first);
      bare = step_bare(one);
      if (!only_bare) ours = step_ours(one);
    }
    printf("{\"bare_ns\": %.1f, \"ours_ns\": %.1f}\n", bare, ours);
    fflush(stdout);
  }
  return 0;
}
