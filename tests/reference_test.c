/* reference_test.c: what the shipped scenes compute, frozen: each, stepped so far with inputs that depend on the step alone, gives
 * the hash in reference_hashes.txt. Its head names the versions of physics, MuJoCo, libc and CPU that gave them; elsewhere the
 * last bits may be others, so there the test is skipped and says why. With a file's name it writes the table anew, unless its
 * head has this version of physics, wherever that ran, and gave another hash. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/assemble.h"
#include "app/guests.h"
#include "base/log.h"
#include "engine/mujoco/version.h"
#include "scene/data.h"
#include "scene/scene.h"

#define TICKS 60
#define SKIPPED 77
#define PLATFORM "physics " /* begins a line with versions that give these hashes */

static double scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* Every fifth tick each command but resets and pauses may get a value of its range. */
static void post_inputs(tt_world *world, uint64_t tick) {
  const tt_model *model = tt_world_model(world);
  for (int i = 0; i < model->command_count && tick % 5 == 0; i++) {
    const tt_command *command = &model->commands[i];
    uint64_t draw = tick * 100003u + (uint64_t)i + 1;
    double lower = fmax(command->lower, -5), upper = fmin(command->upper, 5);
    if (command->kind == TT_COMMAND_RESET || command->kind == TT_COMMAND_PAUSE) continue;
    if (scramble(draw) > 0.3) continue;
    tt_world_post(world, &(tt_mail){.kind = TT_MAIL_COMMAND,
                                    .index = i,
                                    .value = lower + (upper - lower) * scramble(draw + 1),
                                    .source = "test"});
  }
}

static bool hash_scene(const char *name, uint64_t *hash) {
  tt_scene *scene = NULL;
  tt_world *world = NULL;
  tt_error error = {.text = ""};
  tt_status status = tt_scene_load(&tt_program_guests, name, NULL, 0, &scene, &error);
  if (status == TT_OK)
    status = tt_assemble(scene, &(tt_assembly){.no_wires = true}, &world, &error);
  if (status == TT_OK) tt_world_start(world);
  for (uint64_t i = 0; i < TICKS && status == TT_OK; i++) {
    post_inputs(world, i);
    status = tt_world_tick(world, &error);
  }
  if (status == TT_OK) *hash = tt_world_hash(world);
  if (status != TT_OK) fprintf(stderr, "%s: %s\n", name, error.text);
  tt_world_free(world);
  tt_scene_free(scene);
  return status == TT_OK;
}

static void describe_here(char *text, size_t size) {
  tt_platform here = tt_platform_get();
  snprintf(text, size, PLATFORM "%d, MuJoCo %s, libc %s, CPU %s", TT_PHYSICS_VERSION, here.mujoco,
           here.libc, here.cpu);
}

/* A line: "HASH NAME". */
static bool find_kept(const char *path, const char *name, uint64_t *hash) {
  char line[300];
  bool found = false;
  FILE *file = fopen(path, "r");
  while (file && !found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    found = strlen(line) > 17 && strcmp(line + 17, name) == 0;
    if (found) *hash = strtoull(line, NULL, 16);
  }
  if (file) fclose(file);
  return found;
}

static bool has_line(const char *path, const char *text) {
  char line[300];
  bool found = false;
  FILE *file = fopen(path, "r");
  while (file && !found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    found = strcmp(line, text) == 0;
  }
  if (file) fclose(file);
  return found;
}

/* Whether there are lines that begin so. */
static bool copy_lines(const char *path, const char *begin, FILE *to) {
  char line[300];
  bool found = false;
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, begin, strlen(begin)) != 0) continue;
    fputs(line, to);
    found = true;
  }
  if (file) fclose(file);
  return found;
}

/* Logs of one version are proved by any program of that version: what a step computes changes with the version alone. On
 * another platform it may be that, too, and its table is not written over. */
static bool is_same_if_kept(const char *path, const char *here, const char *name, uint64_t hash) {
  uint64_t kept;
  if (!find_kept(path, name, &kept) || kept == hash) return true;
  fprintf(stderr, "%s: state hash %016" PRIx64 ", but physics %d gave %016" PRIx64, name, hash,
          TT_PHYSICS_VERSION, kept);
  if (has_line(path, here))
    fprintf(stderr, ": raise TT_PHYSICS_VERSION first\n");
  else
    fprintf(stderr,
            " elsewhere: it may be the platform, whose table is not written over; here is %s\n",
            here);
  return false;
}

static bool print_table(const char *path, const char *here, FILE *to) {
  fprintf(
      to,
      "# State hashes of the shipped scenes after %d ticks with the inputs of reference_test.c.\n"
      "# After a change of what a step computes: raise TT_PHYSICS_VERSION, and write them anew:\n"
      "#   build/reference_test tests/reference_hashes.txt\n"
      "# Versions that gave them, a line each: where others give the same, that adds theirs.\n",
      TICKS);
  char **names = tt_data_list(&tt_data_scene), version[40];
  snprintf(version, sizeof version, PLATFORM "%d,", TT_PHYSICS_VERSION);
  const bool is_version_kept = copy_lines(path, version, to);
  if (!has_line(path, here)) fprintf(to, "%s\n", here);
  uint64_t hash;
  bool good = names != NULL;
  for (char **name = names; name && *name; name++) {
    good = good && hash_scene(*name, &hash);
    if (good && is_version_kept) good = is_same_if_kept(path, here, *name, hash);
    if (good) fprintf(to, "%016" PRIx64 " %s\n", hash, *name);
    free(*name);
  }
  free(names);
  return good;
}

/* What is there stays unless all of the new table is. */
static int write_table(const char *path) {
  char here[200], *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (!memory) return 1;
  describe_here(here, sizeof here);
  bool good = print_table(path, here, memory);
  good &= fclose(memory) == 0;
  FILE *file = good ? fopen(path, "w") : NULL;
  good = file && fputs(text, file) >= 0;
  if (file) good &= fclose(file) == 0;
  free(text);
  return good ? 0 : 1;
}

/* A scene that has no line yet is frozen nowhere. */
static int count_missing(const char *path) {
  char **names = tt_data_list(&tt_data_scene);
  uint64_t hash;
  int missing = 0;
  for (char **name = names; name && *name; name++) {
    if (!find_kept(path, *name, &hash)) {
      fprintf(stderr, "%s: has no hash yet\n", *name);
      missing++;
    }
    free(*name);
  }
  free(names);
  return missing;
}

static int compare_table(const char *path) {
  char line[300], here[200];
  bool known = false;
  int wrong = 0, compared = 0;
  FILE *file = fopen(path, "r");
  if (!file) return 1;
  describe_here(here, sizeof here);
  while (fgets(line, sizeof line, file)) {
    uint64_t hash, kept = strtoull(line, NULL, 16);
    line[strcspn(line, "\n")] = 0;
    known |= strcmp(line, here) == 0;
    if (line[0] == '#' || strncmp(line, PLATFORM, strlen(PLATFORM)) == 0) continue;
    if (!known) {
      printf("skipped: here is %s, for which %s has no hashes\n", here, path);
      fclose(file);
      return SKIPPED;
    }
    compared++;
    if (!hash_scene(line + 17, &hash)) {
      wrong++;
    } else if (hash != kept) {
      fprintf(stderr,
              "%s: state hash %016" PRIx64 ", frozen %016" PRIx64
              ": what a step computes has changed; %s says what to do\n",
              line + 17, hash, kept, path);
      wrong++;
    }
  }
  fclose(file);
  return wrong || compared == 0 || count_missing(path) ? 1 : 0;
}

int main(int argc, char **argv) {
  tt_log_set_level(TT_LOG_ERROR);
  return argc > 1 ? write_table(argv[1])
                  : compare_table(TETHER_SOURCE_DIR "/tests/reference_hashes.txt");
}
