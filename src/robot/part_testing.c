/* part_testing.c */
#include "robot/part_testing.h"

#include "engine/mujoco/mujoco_engine.h"
#include "model/schema.h"
#include "robot/robot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define DATA TETHER_SOURCE_DIR "/src/robot/testdata/"

static const cyaml_config_t cyaml = {
    .log_fn = NULL, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR};

static const tt_schema *schema_of(const char *kind) {
  for (const tt_schema *const *schema = tt_part_schemas; *schema; schema++)
    if (strcmp((*schema)->key, kind) == 0) return *schema;
  fail_msg("no schema '%s'", kind);
  return NULL;
}

/* Loads an element, checks it and makes its part, as assembling a scene does. */
static tt_status make_part(bench *made, bench_part from, tt_part **part, tt_error *error) {
  static const tt_painted_line lines[] = {{-2, 0.5, 2, 0.5, 0.05, 1, false},
                                          {0, -2, 0, 2, 0.1, 0.4, true}};
  const tt_schema *schema = schema_of(from.kind);
  cyaml_schema_value_t *value = &made->schemas[made->count];
  *value = (cyaml_schema_value_t){.type = CYAML_MAPPING,
                                  .flags = CYAML_FLAG_POINTER,
                                  .data_size = (uint32_t)schema->size,
                                  .mapping = {.fields = schema->fields}};
  void **config = &made->configs[made->count];
  cyaml_err_t loaded =
      cyaml_load_data((const uint8_t *)from.yaml, strlen(from.yaml), &cyaml, value, config, NULL);
  if (loaded != CYAML_OK) fail_msg("%s: %s", from.yaml, cyaml_strerror(loaded));
  made->count++;
  char where[32] = "robot.yaml: part"; /* the next ones are part2, part3, … */
  if (made->count > 1) snprintf(where, sizeof where, "robot.yaml: part%d", made->count);
  TT_TRY(schema->check(*config, where, error));
  const tt_robot_env env = {
      .where = where, .lines = lines, .line_count = 2, .folder = DATA, .seed = 5};
  return tt_robot_part_new(from.kind, *config, &env, part, error);
}

static tt_engine *load_engine(void) {
  static const tt_engine_gripper gripper = {.name = "grip", .site = "bench", .reach = 0.5};
  static const tt_engine_robot robot = {.name = "rig",
                                        .model_file = DATA "rig.xml",
                                        .alliance = "",
                                        .grippers = &gripper,
                                        .gripper_count = 1};
  static const tt_engine_piece pieces[] = {{.body = "piece", .kind = 2},
                                           {.body = "other", .kind = 3}};
  const tt_engine_spec spec = {.arena_file = DATA "wall.xml",
                               .robots = &robot,
                               .robot_count = 1,
                               .pieces = pieces,
                               .piece_count = 2,
                               .timestep_num = 1,
                               .timestep_den = 1000,
                               .contact_capacity = 64};
  tt_engine *engine;
  tt_error error = {{0}};
  if (tt_mujoco_load(&spec, &engine, &error) != TT_OK) fail_msg("%s", error.text);
  return engine;
}

tt_status bench_try(bench *made, const bench_part *elements, int count, tt_error *error) {
  tt_part *parts[BENCH_PARTS];
  memset(made, 0, sizeof *made);
  for (int i = 0; i < count; i++) {
    tt_status status = make_part(made, elements[i], &parts[i], error);
    if (status == TT_OK) continue;
    while (i-- > 0) parts[i]->ops->free(parts[i]);
    return status;
  }
  const tt_sim_spec sim_spec = {
      .engine = load_engine(), .dynamics = true, .parts = parts, .part_count = count};
  tt_sim *sim;
  TT_TRY(tt_sim_new(&sim_spec, &sim, error));
  const tt_world_spec spec = {
      .sim = sim, .io_steps = BENCH_IO_STEPS, .pace = TT_PACE_FAST, .speed = 1};
  TT_TRY(tt_world_new(&spec, &made->world, error));
  tt_world_start(made->world);
  return TT_OK;
}

void bench_set_up(bench *made, const bench_part *elements, int count) {
  tt_error error = {{0}};
  if (bench_try(made, elements, count, &error) != TT_OK) fail_msg("%s", error.text);
}

void bench_tear_down(bench *made) {
  tt_world_free(made->world);
  for (int i = 0; i < made->count; i++) cyaml_free(&cyaml, &made->schemas[i], made->configs[i], 0);
}

double bench_value(const bench *on, const char *name) {
  tt_signal signal;
  tt_error error;
  if (tt_names_find_signal(tt_world_names(on->world), name, 0, "test", &signal, &error) != TT_OK)
    fail_msg("%s", error.text);
  return tt_signal_read(&signal, tt_world_view(on->world));
}

void bench_command(const bench *on, const char *name, double value) {
  tt_mail mail = {.kind = TT_MAIL_COMMAND, .value = value, .source = "test"};
  tt_error error;
  if (tt_names_find_command(tt_world_names(on->world), name, 0, "test", &mail.index, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(tt_world_post(on->world, &mail), TT_OK);
}

void bench_run(const bench *on, double seconds) {
  tt_error error = {{0}};
  for (int i = 0; i < (int)lrint(seconds / BENCH_TIMESTEP / BENCH_IO_STEPS); i++)
    if (tt_world_tick(on->world, &error) != TT_OK) fail_msg("%s", error.text);
}

void bench_assert_near(double value, double expected, double part) {
  if (fabs(value - expected) > part * fabs(expected))
    fail_msg("%.9g is not %.9g within %g", value, expected, part);
}

/* ---- motors ---- */
