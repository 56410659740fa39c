/* library_bits_test.c: the library gives the bits of `tether run`. A world as the program makes it and simulations of the library
 * get the same inputs, and have the same hash after every tick; so have those of batches, whatever their number and threads,
 * which allocate nothing once they stand. Every shipped scene; with TETHER_LONG=1 all of them in batches of up to 64 on up
 * to 3 threads. */
#include "app/assemble.h"
#include "app/guests.h"
#include "base/log.h"
#include "scene/data.h"
#include "library/library_testing.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICKS 6
#define MOST_SIMS 64

/* ---- counting allocations: the linker sends every call of ours and of MuJoCo's here ---- */

static atomic_long allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  atomic_fetch_add(&allocations, 1);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  atomic_fetch_add(&allocations, 1);
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  atomic_fetch_add(&allocations, 1);
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  atomic_fetch_add(&allocations, 1);
  return __libc_memalign(alignment, size);
}

/* ---- a scene, its inputs, and what the program computes from them ---- */

typedef struct subject {
  const char *name;
  tt_world *world;
  tether_scene *scene;
  const char **names;    /* [count] of commands that are set at every tick */
  int *commands;         /* [count] their indices in the model */
  double *lower, *upper; /* [count] */
  int count;
  int64_t steps;          /* a tick */
  bool has_lua;           /* its scripts allocate */
  uint64_t hashes[TICKS]; /* the program's, after each tick */
} subject;

static double scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* Simulation 0 gets what the program gets; each other something else. Held for four ticks. */
static double value_of(const subject *of, int sim, int tick, int command) {
  uint64_t draw = ((uint64_t)sim * 1009u + (uint64_t)(tick / 4)) * 100003u + (uint64_t)command;
  return of->lower[command] + (of->upper[command] - of->lower[command]) * scramble(draw);
}

static bool is_input(const tt_command *command) {
  return command->kind != TT_COMMAND_RESET && command->kind != TT_COMMAND_PAUSE &&
         command->kind != TT_COMMAND_MATCH_TIMER;
}

static void find_inputs(subject *of) {
  const tt_model *model = tt_world_model(of->world);
  size_t room = (size_t)model->command_count + 1;
  of->names = calloc(room, sizeof *of->names);
  of->commands = calloc(room, sizeof *of->commands);
  of->lower = calloc(room, sizeof *of->lower);
  of->upper = calloc(room, sizeof *of->upper);
  for (int i = 0; i < model->command_count; i++) {
    const tt_command *command = &model->commands[i];
    if (!is_input(command)) continue;
    of->names[of->count] = tt_names_command(tt_world_names(of->world), i);
    of->commands[of->count] = i;
    of->lower[of->count] = fmax(command->lower, -3);
    of->upper[of->count++] = fmin(command->upper, 3);
  }
}

static void run_world(subject *of) {
  tt_error why = {.text = ""};
  tt_submission *inputs = calloc((size_t)of->count + 1, sizeof *inputs);
  tt_world_start(of->world);
  for (int tick = 0; tick < TICKS; tick++) {
    for (int i = 0; i < of->count; i++)
      inputs[i] = (tt_submission){of->commands[i], value_of(of, 0, tick, i)};
    assert_int_equal(tt_sim_apply(tt_world_sim(of->world), "test", inputs, of->count, NULL), TT_OK);
    if (tt_world_tick(of->world, &why) != TT_OK) fail_msg("%s: %s", of->name, why.text);
    of->hashes[tick] = tt_world_hash(of->world);
  }
  free(inputs);
}

static bool has_lua(const tt_scene *scene) {
  for (int i = 0; i < scene->robot_count; i++)
    for (int k = 0; k < scene->robots[i].part_count; k++)
      if (strcmp(scene->robots[i].parts[k].schema->key, "lua_sensors") == 0) return true;
  return false;
}

/* The world that `tether run` makes of the scene, but for sockets. */
static subject subject_of(const char *name, tt_scene **scene) {
  subject made = {.name = name};
  tt_error why = {.text = ""};
  if (tt_scene_load(&tt_program_guests, name, NULL, 0, scene, &why) != TT_OK ||
      tt_assemble(*scene, &(tt_assembly){.no_wires = true}, &made.world, &why) != TT_OK)
    fail_msg("%s: %s", name, why.text);
  made.steps = (int64_t)(*scene)->io_steps;
  made.has_lua = has_lua(*scene);
  find_inputs(&made);
  run_world(&made);
  made.scene = load(name);
  return made;
}

static void free_subject(subject *of, tt_scene *scene) {
  tt_world_free(of->world);
  tt_scene_free(scene);
  tether_scene_free(of->scene);
  free(of->names);
  free(of->commands);
  free(of->lower);
  free(of->upper);
}

/* ---- the library ---- */

/* One simulation alone, as number `index` of a batch would be driven; its hash at the end. With index 0, the program's at
 * every tick. */
static uint64_t run_alone(const subject *of, int index) {
  tether_sim *sim;
  tether_handle *handles = calloc((size_t)of->count + 1, sizeof *handles);
  double *values = calloc((size_t)of->count + 1, sizeof *values);
  good(tether_sim_new(of->scene, &sim, &error));
  tt_error why = {.text = ""};
  tt_scene *plain = NULL;
  assert_int_equal(tt_scene_load(NULL, of->name, NULL, 0, &plain, &why), TT_OK);
  uint64_t seed = plain->seed + (uint64_t)index;
  tt_scene_free(plain);
  good(tether_sim_reset(sim, &seed, &error));
  for (int i = 0; i < of->count; i++)
    good(tether_command_find(sim, of->names[i], NULL, &handles[i], &error));
  for (int tick = 0; tick < TICKS; tick++) {
    for (int i = 0; i < of->count; i++) values[i] = value_of(of, index, tick, i);
    good(tether_sim_apply(sim, handles, values, of->count, &error));
    good(tether_sim_step(sim, of->steps, &error));
    if (index == 0 && tether_sim_hash(sim) != of->hashes[tick])
      fail_msg("%s: after tick %d the library has another state than the program", of->name, tick);
  }
  uint64_t hash = tether_sim_hash(sim);
  tether_sim_free(sim);
  free(handles);
  free(values);
  return hash;
}

static void run_batch(const subject *of, int count, int threads, const uint64_t *expected) {
  static const char *const signals[] = {"time"};
  tether_batch *batch;
  double *in = calloc((size_t)count * (size_t)of->count + 1, sizeof *in);
  double *out = calloc((size_t)count, sizeof *out);
  good(tether_batch_new(of->scene, count, threads, of->names, of->count, signals, 1, &batch,
                        &error));
  for (int tick = 0; tick < TICKS; tick++) {
    for (int i = 0; i < count; i++)
      for (int k = 0; k < of->count; k++) in[i * of->count + k] = value_of(of, i, tick, k);
    long before = atomic_load(&allocations);
    good(tether_batch_step(batch, in, of->steps, out, &error));
    if (tick > 0 && !of->has_lua && atomic_load(&allocations) != before)
      fail_msg("%s: a step of %d on %d threads allocated %ld times", of->name, count, threads,
               atomic_load(&allocations) - before);
  }
  for (int i = 0; i < count; i++) {
    good(tether_batch_failure(batch, i, &error));
    if (tether_sim_hash(tether_batch_sim(batch, i)) != expected[i])
      fail_msg("%s: simulation %d of %d on %d threads is another than alone", of->name, i, count,
               threads);
  }
  tether_batch_free(batch);
  free(in);
  free(out);
}

static void compare(const char *name, const int *counts, int count_count, int most_threads) {
  tt_scene *scene;
  subject of = subject_of(name, &scene);
  uint64_t expected[MOST_SIMS];
  int most = counts[count_count - 1];
  for (int i = 0; i < most; i++) expected[i] = run_alone(&of, i);
  for (int c = 0; c < count_count; c++)
    for (int threads = 1; threads <= most_threads; threads++)
      run_batch(&of, counts[c], threads, expected);
  free_subject(&of, scene);
}

static const int few[] = {1, 3}, many[] = {1, 2, 7, 64};

static void every_scene_has_the_programs_bits(void **state) {
  (void)state;
  const char *all = getenv("TETHER_LONG");
  bool is_long = all && strcmp(all, "1") == 0;
  char **names = tt_data_list(&tt_data_scene);
  assert_non_null(names);
  for (char **name = names; *name; name++) {
    if (strcmp(*name, "gripper") != 0) {
      if (is_long)
        compare(*name, many, 4, 3);
      else
        compare(*name, few, 2, 2);
    }
    free(*name);
  }
  free(names);
}

static void the_gripper_has_them_in_any_batch(void **state) {
  (void)state;
  compare("gripper", many, 4, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_gripper_has_them_in_any_batch),
      cmocka_unit_test(every_scene_has_the_programs_bits),
  };
  tt_log_set_level(TT_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
