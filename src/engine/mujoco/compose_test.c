/* Tests of composing: of whom the world's options are, and that what a robot welds to the world stands where the robot does. */
#include "base/log.h"
#include "base/scratch.h"
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/physics_testing.h"

#define FLOOR "<worldbody><geom type='plane' size='9 9 1'/></worldbody>"
#define BOX "<body name='box' pos='0 0 1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
#define ARM "<body name='b'><joint name='j' axis='0 1 0'/><geom size='.1'/></body>"
#define FLOATING_ARM                                                                               \
  "<mujoco><option gravity='0 0 0'><flag contact='disable'/></option><worldbody>" ARM              \
  "</worldbody></mujoco>"

static tt_scratch scratch;
static char heard[4000];

static void hear(void *context, tt_log_level level, const char *text) {
  (void)context;
  const size_t length = strlen(heard);
  if (level == TT_LOG_WARNING) snprintf(heard + length, sizeof heard - length, "%s\n", text);
}

static int open_folder(void **state) {
  (void)state;
  tt_error error;
  return tt_scratch_open(&scratch, &error) == TT_OK ? 0 : -1;
}

static int close_folder(void **state) {
  (void)state;
  tt_scratch_close(&scratch);
  return 0;
}

static const char *written(const char *name, const char *text) {
  static char paths[8][300];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%.200s/%s", scratch.folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  return path;
}

/* An arena of this text (NULL: none) and robots of these, 2 m apart; what is warned of stands in `heard`. */
static tt_physics *load(const char *arena, const char *const *models, int count) {
  tt_engine_robot robots[3];
  char names[3][8], file[16];
  for (int i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "r%d", i + 1);
    snprintf(file, sizeof file, "%s.xml", names[i]);
    robots[i] =
        (tt_engine_robot){.name = names[i], .model_file = written(file, models[i]), .x = 2 * i + 2};
  }
  const tt_engine_spec spec = {.arena_file = arena ? written("arena.xml", arena) : NULL,
                               .robots = robots,
                               .robot_count = count,
                               .timestep_num = 1,
                               .timestep_den = 1000};
  heard[0] = '\0';
  tt_log_set_sink(hear, NULL);
  tt_physics *p = load_spec(&spec);
  tt_log_set_sink(NULL, NULL);
  return p;
}

static void options_are_the_arenas(void **state) {
  (void)state;
  const char *const robots[] = {"<mujoco><worldbody>" BOX "</worldbody></mujoco>", FLOATING_ARM,
                                FLOATING_ARM};
  tt_physics *p = load("<mujoco><option gravity='0 0 -9.81'/>" FLOOR "</mujoco>", robots, 3);
  assert_close(p->model->opt.gravity[2], -9.81, 0);
  assert_int_equal(p->model->opt.disableflags, 0);
  assert_non_null(strstr(heard, "r2.xml: of its own <option>, this is replaced by what"));
  assert_non_null(strstr(heard,
                         "arena.xml has: gravity 0 0 0 by 0 0 -9.81, flag contact disable "
                         "by enable\n"));
  assert_null(strstr(heard, "r1.xml"));
  tt_physics_free(p);
}

/* An arena that says nothing of them has MuJoCo's own, and nothing is said of what is as the arena has it. */
static void a_silent_arena_has_its_options_too(void **state) {
  (void)state;
  const char *robot =
      "<mujoco><option integrator='RK4' cone='pyramidal' iterations='7' wind='1 0 0'>"
      "<flag energy='enable'/></option><worldbody>" BOX "</worldbody></mujoco>";
  tt_physics *p = load("<mujoco>" FLOOR "</mujoco>", &robot, 1);
  assert_int_equal(p->model->opt.integrator, mjINT_EULER);
  assert_int_equal(p->model->opt.iterations, 100);
  assert_non_null(strstr(heard,
                         "has: wind 1 0 0 by 0 0 0, integrator RK4 by Euler, iterations 7 by "
                         "100, flag energy enable by disable\n"));
  tt_physics_free(p);
}

static void ways_to_solve_that_a_robot_does_not_state_are_not_said(void **state) {
  (void)state;
  const char *robot = "<mujoco><worldbody>" BOX "</worldbody></mujoco>";
  tt_physics *p =
      load("<mujoco><option integrator='RK4' iterations='7'/>" FLOOR "</mujoco>", &robot, 1);
  assert_int_equal(p->model->opt.integrator, mjINT_RK4);
  assert_int_equal(p->model->opt.iterations, 7);
  assert_string_equal(heard, "");
  tt_physics_free(p);
  p = load("<mujoco><option gravity='0 0 -1.62'/>" FLOOR "</mujoco>", &robot, 1);
  assert_close(p->model->opt.gravity[2], -1.62, 0);
  assert_non_null(strstr(heard, "gravity 0 0 -9.81 by 0 0 -1.62"));
  tt_physics_free(p);
}

static void without_an_arena_they_are_the_first_robots(void **state) {
  (void)state;
  const char *const robots[] = {"<mujoco><worldbody>" BOX "</worldbody></mujoco>",
                                "<mujoco><option gravity='0 0 0' integrator='RK4'/><worldbody>" ARM
                                "</worldbody></mujoco>"};
  tt_physics *p = load(NULL, robots, 2);
  assert_close(p->model->opt.gravity[2], -9.81, 0);
  assert_int_equal(p->model->opt.integrator, mjINT_EULER);
  assert_non_null(
      strstr(heard, "r1.xml has: gravity 0 0 0 by 0 0 -9.81, integrator RK4 by Euler\n"));
  tt_physics_free(p);
  const char *const others[] = {robots[1], robots[0]};
  p = load(NULL, others, 2);
  assert_close(p->model->opt.gravity[2], 0, 0);
  assert_int_equal(p->model->opt.integrator, mjINT_RK4);
  assert_non_null(strstr(heard, "r1.xml has: gravity 0 0 -9.81 by 0 0 0\n"));
  tt_physics_free(p);
}

#define HUNG(weld)                                                                                 \
  "<mujoco><worldbody><body name='b' pos='0.3 0.1 1' euler='0 0 40'><freejoint/>"                  \
  "<geom type='box' size='.1 .1 .1'/></body></worldbody><equality>" weld "</equality></mujoco>"

/* However it is written, what is held to the world stays where it was put with its robot. */
static void what_is_held_to_the_world_goes_with_the_robot(void **state) {
  (void)state;
  static const char *const models[] = {
      HUNG("<weld body1='b'/>"),
      HUNG("<weld body1='world' body2='b'/>"),
      HUNG("<weld body1='b' relpose='-0.294067 0.116232 -1 0.939693 0 0 -0.34202'/>"),
      HUNG("<weld body1='b' anchor='0.3 0.1 1'/>"),
      HUNG("<weld body1='world' body2='b' relpose='0.3 0.1 1 0.939693 0 0 0.34202'/>"),
      HUNG("<connect body1='b' anchor='0 0 0.3'/>"),
      HUNG("<connect body1='world' body2='b' anchor='0.3 0.1 1.3'/>"),
  };
  static const inputs none;
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    const tt_engine_robot robot = {.name = "r",
                                   .model_file = written("hung.xml", models[i]),
                                   .x = 2,
                                   .y = -1,
                                   .z = 0.5,
                                   .heading = M_PI / 2};
    const tt_engine_spec spec = {
        .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
    tt_physics *p = load_spec(&spec);
    const int body = body_named(p, "b");
    const mjtNum *position = p->data->xpos + 3 * body, *turn = p->data->xquat + 4 * body;
    mjtNum begun[4];
    mju_copy4(begun, turn);
    step(p, &none, 1000);
    if (fabs(position[0] - 1.9) > 0.01 || fabs(position[1] + 0.7) > 0.01 ||
        fabs(position[2] - 1.5) > 0.02)
      fail_msg("%s: at %g %g %g", models[i], position[0], position[1], position[2]);
    if (strstr(models[i], "weld")) assert_close(fabs(mju_dot(begun, turn, 4)), 1, 1e-3);
    tt_physics_free(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_are_the_arenas),
      cmocka_unit_test(a_silent_arena_has_its_options_too),
      cmocka_unit_test(ways_to_solve_that_a_robot_does_not_state_are_not_said),
      cmocka_unit_test(without_an_arena_they_are_the_first_robots),
      cmocka_unit_test(what_is_held_to_the_world_goes_with_the_robot),
  };
  return cmocka_run_group_tests(tests, open_folder, close_folder);
}
