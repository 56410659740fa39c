/* control_state_fuzz.c: any bytes as a controller's saved state: they are taken or refused, and what was taken runs, within its
 * limits, and can be saved or says why not. */
#include "robot/lua_sandbox.h"
#include "scene/scene_sim.h"
#include "sweep/control_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILE_AT 8 /* where the hash of the file stands */

static tt_control *control;

static void must(tt_status status) {
  if (status != TT_OK) abort();
}

static void open_once(void) {
  static tt_sim *sim;
  if (control) return;
  static const tt_control_parameter parameters[] = {
      {"gain", {.kind = TT_SWEEP_NUMBER, .number = 1.5}},
      {"kind", {.kind = TT_SWEEP_TEXT, .text = "slow"}}};
  static tt_scene *scene;
  tt_error error;
  must(tt_scene_load(NULL, "gripper", NULL, 0, &scene, &error));
  must(tt_scene_sim(scene, &(tt_scene_sim_options){0}, &sim, &error));
  must(tt_control_new(TETHER_SOURCE_DIR "/src/sweep/control_testing.lua", &control, &error));
  must(tt_control_begin(control, sim, parameters, 2, 1, &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_error error;
  open_once();
  uint8_t *bytes = malloc(size ? size : 1);
  if (!bytes) return 0;
  memcpy(bytes, data, size);
  if (size >= FILE_AT + sizeof control->file) /* seeds stay good when the file changes */
    memcpy(bytes + FILE_AT, &control->file, sizeof control->file);
  if (tt_control_restore(control, bytes, size, &error) == TT_OK) {
    void *saved;
    size_t saved_size;
    for (int i = 0; i < 3; i++) tt_control_tick(control, &error);
    if (tt_control_save(control, &saved, &saved_size, &error) == TT_OK) {
      must(tt_control_restore(control, saved, saved_size, &error));
      free(saved);
    }
  }
  free(bytes);
  return 0;
}
