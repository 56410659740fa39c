/* Tests of loading: composing, names, third-party models, what is refused. */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/physics_testing.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static bool has_joint(const tt_mechanism *info, const char *name, int robot) {
  for (int i = 0; i < info->joint_count; i++) {
    if (strcmp(info->joints[i].name, name) == 0) return info->joints[i].robot == robot;
  }
  return false;
}

/* What is left out by making them of zeros. */
static void files_in_memory_begin_as_mujoco_makes_them(void **state) {
  (void)state;
  mjVFS *ours = physics_vfs_new(), *its = malloc(sizeof *its);
  assert_non_null(ours);
  assert_non_null(its);
  memset(its, 1, sizeof *its);
  mj_defaultVFS(its);
  assert_memory_equal(ours, its, sizeof *its);
  assert_int_equal(mj_makeEmptyFileVFS(ours, "a.xml", 100), 0);
  physics_vfs_free(ours); /* with the file: the sanitizer would tell */
  free(its);
}

static void one_robot_has_plain_names(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "cart.xml", NULL, 1000);
  const tt_mechanism *info = tt_physics_describe(p);
  assert_string_equal(info->bodies[0].name, "world");
  assert_true(has_joint(info, "left_front", 0));
  assert_true(has_joint(info, "free", 0));
  assert_true(has_joint(info, "chassis_6_joint", 0)); /* unnamed, on the unnamed sixth body */
  assert_int_equal(info->joint_count, 7);
  assert_int_equal(info->axis_count, 6);
  assert_string_equal(info->bodies[info->robots[0].root_body].name, "chassis");
  assert_string_equal(info->actuators[0].name, "winch");
  assert_close(info->actuators[0].upper, 2, 0);
  assert_string_equal(info->sensors[0].name, "gyro.x");
  assert_string_equal(info->sensors[3].name, "accelerometer_2.x");
  assert_int_equal(info->sensors[0].dimension, TT_ANGULAR_VELOCITY);
  assert_string_equal(info->sensors[6].name, "arm_angle");
  assert_int_equal(info->sensors[6].dimension, TT_ANGLE);
  /* 10 × 2: what the model's motor can do. */
  assert_close(info->joints[5].max_torque, 20, 1e-12);
  for (int i = 0; i < info->joint_count; i++) {
    assert_true(info->joints[i].max_torque > 0 && isfinite(info->joints[i].max_torque));
  }
  tt_physics_free(p);
}

/* Three copies of one robot and another one, each at its pose, each with its own names. */
static void copies_compose(void **state) {
  (void)state;
  tt_engine_robot robots[] = {
      {.name = "a", .model_file = DATA "cart.xml", .x = 1, .y = 2, .alliance = "red"},
      {.name = "b",
       .model_file = DATA "cart.xml",
       .x = -1,
       .heading = M_PI / 2,
       .alliance = "blue"},
      {.name = "c", .model_file = DATA "cart.xml", .y = -3, .z = 0.5},
      {.name = "d", .model_file = DATA "arm.xml", .x = 6}};
  tt_engine_spec spec = {.arena_file = DATA "field.xml",
                         .robots = robots,
                         .robot_count = 4,
                         .timestep_num = 1,
                         .timestep_den = 1000};
  tt_physics *p = load_spec(&spec);
  const tt_mechanism *info = tt_physics_describe(p);
  assert_true(has_joint(info, "a/arm", 0));
  assert_true(has_joint(info, "c/left_back", 2));
  assert_true(has_joint(info, "d/swivel", 3));
  assert_string_equal(info->sensors[7].name, "b/gyro.x");
  assert_int_equal(info->sensors[7].robot, 1);
  int ball = body_named(p, "ball");
  assert_int_equal(info->bodies[ball].robot, TT_NO_ROBOT);
  for (int i = 0; i < info->body_count; i++) {
    for (int k = 0; k < i; k++) assert_string_not_equal(info->bodies[i].name, info->bodies[k].name);
  }
  tt_model model;
  tt_view *view = view_of(p, &model, 64);
  const double *a = view->body_position[body_named(p, "a/chassis")];
  const double *c = view->body_position[body_named(p, "c/chassis")];
  const double *wheel = view->body_position[body_named(p, "b/fl")];
  assert_close(a[0], 1, 1e-12);
  assert_close(a[1], 2, 1e-12);
  assert_close(c[2], 0.62, 1e-12);
  assert_close(wheel[0], -1 - 0.33, 1e-9);
  assert_close(wheel[1], 0.25, 1e-9);
  int count, red = 0, blue = 0;
  const tt_shape *shapes = tt_physics_shapes(p, &count);
  for (int i = 0; i < count; i++) {
    red += strcmp(shapes[i].name, "a/frame") == 0 && shapes[i].rgba[0] > 0.8f;
    blue += strcmp(shapes[i].name, "b/frame") == 0 && shapes[i].rgba[2] > 0.8f;
  }
  assert_int_equal(red, 1);
  assert_int_equal(blue, 1);
  tt_view_free(view);
  tt_physics_free(p);
}

/* A robot composed weighs what it weighs alone: classes, densities and inertias survive. */
static void masses_survive(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "cart.xml", DATA "field.xml", 1000);
  const tt_mechanism *info = tt_physics_describe(p);
  double mass = 0;
  for (int i = 0; i < info->body_count; i++)
    mass += info->bodies[i].robot == 0 ? info->bodies[i].mass : 0;
  assert_close(mass, 40 + 4 + 3 + 0.2, 1e-9);
  tt_physics_free(p);
}

static void third_party_models_load_and_step(void **state) {
  (void)state;
  static const struct {
    const char *file;
    int axes;
  } MODELS[] = {
      {"/usr/share/mujoco/model/humanoid/humanoid.xml", 21},
      {"/usr/share/mujoco/model/humanoid100/humanoid100.xml", -1},
      {"/usr/share/mujoco/model/mug/mug.xml", 0},
      {"/usr/share/mujoco/model/slider_crank/slider_crank.xml", 3},
      {"/usr/share/mujoco/model/tendon_arm/arm26.xml", 2},
      {"/usr/share/mujoco/model/adhesion/active_adhesion.xml", -1},
      {"/usr/share/mujoco/model/composite/rope.xml", 40},
      {"/usr/share/doc/dart/data/urdf/KR5/KR5 sixx R650.urdf", 6},
      {"/usr/share/doc/dart/data/urdf/wam/wam.urdf", 7},
      {"/usr/share/doc/dart/data/sdf/atlas/atlas_v3_no_head.urdf", 27},
      {"/usr/share/doc/dart/data/sdf/atlas/atlas_v3.urdf", 27},
      {"/usr/share/doc/dart/data/urdf/drchubo/drchubo.urdf", 51},
      {"/usr/share/doc/dart/data/urdf/test/joint_properties.urdf", 2},
  };
  inputs in = {0};
  for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
    if (access(MODELS[i].file, R_OK) != 0) {
      print_message("not installed: %s\n", MODELS[i].file);
      continue;
    }
    tt_physics *p = load_robot(MODELS[i].file, NULL, 2000);
    const tt_mechanism *info = tt_physics_describe(p);
    if (MODELS[i].axes >= 0) assert_int_equal(info->axis_count, MODELS[i].axes);
    if (info->axis_count <= 256 && info->actuator_count <= 64) step(p, &in, 20);
    tt_physics_free(p);
  }
}

static void keep_last(void *context, tt_log_level level, const char *text) {
  (void)level;
  snprintf(context, 300, "%s", text);
}

static void a_robots_own_floor_that_is_another_is_said_to_be_left_out(void **state) {
  (void)state;
  const char *const floors[] = {"", "pos='0 0 -1'", "euler='0 20 0'"};
  for (int i = 0; i < 3; i++) {
    char path[] = "/tmp/tether-test-XXXXXX.xml", said[300] = "";
    FILE *f = fdopen(mkstemps(path, 4), "w");
    fprintf(f,
            "<mujoco><worldbody><geom type='plane' size='5 5 1' %s/><body pos='0 0 1'><freejoint/>"
            "<geom size='.1'/></body></worldbody></mujoco>",
            floors[i]);
    fclose(f);
    tt_log_divert(keep_last, said);
    tt_physics_free(load_robot(path, NULL, 1000));
    tt_log_divert(NULL, NULL);
    assert_int_equal(strstr(said, "its own floor") != NULL, i > 0);
    remove(path);
  }
}

static tt_physics *load_boxes(int count) {
  char path[] = "/tmp/tether-test-XXXXXX.xml";
  FILE *f = fdopen(mkstemps(path, 4), "w");
  fputs("<mujoco><worldbody><geom type='plane' size='50 50 1'/>", f);
  for (int i = 0; i < count; i++)
    fprintf(f, "<body pos='%g %g .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>",
            i % 10 * .4, i / 10 * .4);
  fputs("</worldbody></mujoco>", f);
  fclose(f);
  tt_physics *p = load_robot(NULL, path, 1000);
  remove(path);
  return p;
}

/* A hundred boxes touch the floor in four points each. Of few the numbers stay, by which saved states know their model. */
static void there_is_room_for_all_that_lies_on_the_floor(void **state) {
  (void)state;
  tt_physics *p = load_boxes(100);
  inputs in = {0};
  step(p, &in, 50);
  assert_int_equal(p->data->ncon, 400);
  assert_int_equal(p->data->warning[mjWARN_CONTACTFULL].number, 0);
  assert_int_equal(p->data->warning[mjWARN_CNSTRFULL].number, 0);
  tt_physics_free(p);
  p = load_boxes(25);
  assert_int_equal(p->model->nconmax, 100 + 2 * 25);
  assert_int_equal(p->model->njmax, 500 + 8 * 25);
  tt_physics_free(p);
}

#ifndef TETHER_SANITIZED /* which writes the gigabyte in small pages: where these are dear, that takes more than a compiler has */
/* MuJoCo's own guess of the stack goes with the square of the rows: 1.4 GB here, where the model says that 8 MB do. */
static void many_rows_do_not_ask_for_a_huge_stack(void **state) {
  (void)state;
  char path[] = "/tmp/tether-test-XXXXXX.xml";
  FILE *f = fdopen(mkstemps(path, 4), "w");
  fputs(
      "<mujoco><size njmax='6000' nstack='1000000'/><worldbody><body><freejoint/>"
      "<geom size='1'/></body></worldbody></mujoco>",
      f);
  fclose(f);
  tt_physics *p = load_robot(path, NULL, 1000);
  inputs in = {0};
  step(p, &in, 1);
  assert_int_equal(p->model->nstack, 128 << 20);
  tt_physics_free(p);
  remove(path);
}
#endif

/* The URDF's own torque limits, its base, and the joint that makes it mobile. */
static void urdf_keeps_base_and_efforts(void **state) {
  (void)state;
  const char *file = "/usr/share/doc/dart/data/urdf/wam/wam.urdf";
  if (access(file, R_OK) != 0) skip();
  tt_engine_robot robot = {.name = "wam", .model_file = file, .z = 2, .floating = true};
  tt_engine_spec spec = {
      .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
  tt_physics *p = load_spec(&spec);
  const tt_mechanism *info = tt_physics_describe(p);
  assert_int_equal(info->joints[0].kind, TT_FREE);
  assert_int_equal(info->joints[0].body, info->robots[0].root_body);
  assert_close(info->joints[1].max_torque, 1.8, 1e-12);
  int count;
  const tt_mesh *meshes = tt_physics_meshes(p, &count);
  assert_true(count > 8);
  assert_true(meshes[0].triangle_count > 10);
  tt_physics_free(p);
}

/* Shells of joined links overlap in most URDFs, also that of a base that is fixed: nothing may jam. */
static void urdf_joints_move_through_their_range(void **state) {
  (void)state;
  const char *file = "/usr/share/doc/dart/data/urdf/KR5/KR5 sixx R650.urdf";
  if (access(file, R_OK) != 0) skip();
  tt_engine_robot robot = {.name = "kr5", .model_file = file, .z = 2}; /* clear of the floor */
  tt_engine_spec spec = {
      .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
  tt_physics *p = load_spec(&spec);
  const tt_mechanism *info = tt_physics_describe(p);
  inputs in = {0};
  for (int i = 0; i < info->axis_count; i++) {
    in.drives[i] = (tt_drive){.kind = TT_DRIVE_VELOCITY, .max_torque = 1000};
  }
  for (int i = 0; i < info->axis_count; i++) {
    const tt_joint *joint = &info->joints[info->axis_joint[i]];
    for (int sign = -1; sign <= 1; sign += 2) {
      tt_physics_reset(p);
      in.drives[i].velocity = 4 * sign;
      step(p, &in, 1800);
      double reached = sign * tt_physics_axis_position(p)[i];
      double end = sign < 0 ? -joint->lower : joint->upper;
      if (reached < 0.99 * end) fail_msg("%s stops at %g of %g", joint->name, reached, end);
    }
    in.drives[i].velocity = 0;
  }
  tt_physics_free(p);
}

/* Two fingers, one of which mimics the other, as grippers are published. */
static void a_urdf_joint_follows_the_one_that_it_mimics(void **state) {
  (void)state;
  char path[] = "/tmp/tether-test-XXXXXX.urdf";
  write_hand(path, (const char *const[]){"", "<mimic joint='j1' multiplier='-1' offset='0.1'/>"},
             2);
  tt_engine_robot robot = {.name = "hand", .model_file = path, .z = 2};
  tt_engine_spec spec = {
      .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
  tt_physics *p = load_spec(&spec);
  const int leader = axis_named(p, "j1"), follower = axis_named(p, "j2");
  inputs in = {0};
  in.drives[leader] = (tt_drive){.kind = TT_DRIVE_VELOCITY, .velocity = 0.5, .max_torque = 100};
  step(p, &in, 1000);
  const double *positions = tt_physics_axis_position(p);
  assert_close(positions[leader], 0.5, 0.01);
  assert_close(positions[follower], 0.1 - positions[leader], 1e-3);
  tt_physics_free(p);
  remove(path);
}

static void assert_follow(const tt_physics *p, double leader) {
  const double *positions = tt_physics_axis_position(p);
  assert_close(positions[axis_named(p, "j3")], leader, 1e-12);
  assert_close(positions[axis_named(p, "j2")], 0.1 - leader, 1e-12);
  assert_close(positions[axis_named(p, "j1")], 2 * (0.1 - leader), 1e-12);
}

/* From the beginning on, and without dynamics, in whatever order a chain of them stands in the file. */
static void mimicking_joints_stand_where_they_are_held(void **state) {
  (void)state;
  static const char *const MIMICS[] = {"<mimic joint='j2' multiplier='2'/>",
                                       "<mimic joint='j3' multiplier='-1' offset='0.1'/>", ""};
  char path[] = "/tmp/tether-test-XXXXXX.urdf";
  write_hand(path, MIMICS, 3);
  tt_physics *p = load_robot(path, NULL, 1000);
  remove(path);
  assert_follow(p, 0);
  tt_physics_place_axis(p, axis_named(p, "j3"), 0.3);
  tt_physics_place_axis(p, axis_named(p, "j1"), 2); /* it is held all the same */
  tt_physics_place_done(p, 0);
  assert_follow(p, 0.3);
  tt_physics_reset_robot(p, 0);
  assert_follow(p, 0);
  tt_physics_place_axis(p, axis_named(p, "j3"), -0.2);
  tt_physics_place_done(p, 0.01);
  assert_follow(p, -0.2);
  tt_physics_reset(p);
  assert_follow(p, 0);
  tt_physics_free(p);
}

/* There is no place where both hold; it is not looked for beyond all bounds. */
static void joints_that_mimic_each_other_stay(void **state) {
  (void)state;
  static const char *const MIMICS[] = {"<mimic joint='j2' multiplier='3' offset='1'/>",
                                       "<mimic joint='j1' multiplier='3'/>",
                                       "<mimic joint='j4' offset='0.5'/>", ""};
  char path[] = "/tmp/tether-test-XXXXXX.urdf";
  write_hand(path, MIMICS, 4);
  tt_physics *p = load_robot(path, NULL, 1000);
  remove(path);
  tt_physics_place_axis(p, axis_named(p, "j1"), 0.3);
  for (int i = 0; i < 1000; i++) tt_physics_place_done(p, 0.01);
  const double *positions = tt_physics_axis_position(p);
  assert_close(positions[axis_named(p, "j1")], 0.3, 0);
  assert_close(positions[axis_named(p, "j2")], 0, 0);
  assert_close(positions[axis_named(p, "j3")], 0.5, 1e-12);
  tt_physics_free(p);
}

static const tt_shape *shape_named(const tt_physics *p, const char *name) {
  int count;
  const tt_shape *shapes = tt_physics_shapes(p, &count);
  for (int i = 0; i < count; i++) {
    const char *slash = strrchr(shapes[i].name, '/');
    if (strcmp(slash ? slash + 1 : shapes[i].name, name) == 0) return &shapes[i];
  }
  fail_msg("there is no shape %s", name);
  return NULL;
}

static void looks_are_described(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "looks.xml", NULL, 1000);
  int count;
  const tt_material *materials = tt_physics_materials(p, &count);
  const tt_texture *textures = tt_physics_textures(p, &count);
  const tt_material *magenta = &materials[shape_named(p, "box")->material];
  assert_non_null(strstr(magenta->name, "magenta"));
  assert_true(magenta->uniform);
  const tt_texture *cube = &textures[magenta->texture];
  assert_true(cube->cube);
  assert_int_equal(cube->width, 8);
  assert_int_equal(cube->height, 8);
  const uint8_t *front = cube->pixels + 3 * 4 * 8 * 8;
  assert_memory_equal(front, ((uint8_t[3]){255, 0, 255}), 3);
  const tt_material *checked = &materials[shape_named(p, "tile")->material];
  assert_close(checked->repeat[0], 3, 0);
  assert_close(checked->repeat[1], 2, 0);
  assert_close(checked->specular, 0.25, 1e-6);
  assert_close(checked->shininess, 0.75, 1e-6);
  assert_close(checked->emission, 0.5, 1e-6);
  const tt_texture *flat = &textures[checked->texture];
  assert_false(flat->cube);
  assert_int_equal(flat->width, 16);
  assert_int_equal(flat->height, 8);
  assert_int_equal(shape_named(p, "wall")->material, -1);
  assert_true(shape_named(p, "bounds")->hidden);
  assert_false(shape_named(p, "box")->hidden);
  const tt_mesh *mesh = &tt_physics_meshes(p, &count)[shape_named(p, "tile")->mesh];
  assert_non_null(mesh->coordinates);
  assert_close(mesh->coordinates[2], 1, 0);
  tt_physics_free(p);
}

static void rays_of_range_finders_are_described(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "looks.xml", NULL, 1000);
  int count;
  const tt_ray *ray = tt_physics_rays(p, &count);
  assert_int_equal(count, 1);
  assert_string_equal(ray->name, "ahead");
  assert_int_equal(ray->body, body_named(p, "block"));
  assert_close(ray->position[0], 0.5, 1e-12);
  assert_close(ray->direction[0], 1, 1e-9);
  assert_string_equal(tt_physics_describe(p)->sensors[ray->channel].name, "ahead");
  tt_physics_free(p);
}

static void refused(const char *text, const char *suffix, const char *expected) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/tether-test-XXXXXX%s", suffix);
  int file = mkstemps(path, (int)strlen(suffix));
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  close(file);
  tt_engine_robot robot = {.name = "robot", .model_file = path};
  tt_engine_spec spec = {
      .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
  tt_physics *p = NULL;
  tt_error error = {""};
  assert_int_equal(tt_physics_load(&spec, &p, &error), TT_INVALID);
  assert_null(p);
  assert_non_null(strstr(error.text, path));
  if (!strstr(error.text, expected)) fail_msg("\"%s\" lacks \"%s\"", error.text, expected);
  unlink(path);
}

static tt_physics *load_limited(const char *before, const char *after) {
  char path[] = "/tmp/tether-test-XXXXXX.xml";
  FILE *file = fdopen(mkstemps(path, 4), "w");
  fprintf(file,
          "<mujoco>%s<worldbody><body name='a' pos='0 0 1'><joint name='h' axis='0 1 0' "
          "range='-30 60'/><geom size='.1'/></body></worldbody>%s"
          "<actuator><motor name='m' joint='h' ctrlrange='-2 2'/></actuator></mujoco>",
          before, after);
  fclose(file);
  tt_physics *p = load_robot(path, NULL, 1000);
  unlink(path);
  return p;
}

/* As in MuJoCo 3, for which models are written now; this one refuses a range of which nobody says whether it limits. */
static void a_range_limits_where_no_compiler_says_otherwise(void **state) {
  (void)state;
  const char *const compilers[][2] = {
      {"", ""}, {"<compiler angle='degree'/>", ""}, {"", "<compiler autolimits='true'/>"}};
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
    tt_physics *p = load_limited(compilers[i][0], compilers[i][1]);
    const int axis = axis_named(p, "h"), joint = p->model->dof_jntid[p->fixed->axis_dof[axis]];
    assert_true(p->model->jnt_limited[joint]);
    assert_close(p->model->jnt_range[2 * joint], -M_PI / 6, 1e-5);
    assert_true(p->model->actuator_ctrllimited[0]);
    tt_physics_free(p);
  }
  refused(
      "<mujoco><worldbody><body><joint range='-1 1'/><geom size='1'/></body></worldbody>"
      "<compiler autolimits='false'/></mujoco>",
      ".xml", "specify `limited` explicitly");
  refused("<mujoco><worldbody><body><joint range='-1 1'/><geom/></body></worldbody></mujoco>",
          ".xml", "size");
}

static void wrong_models_are_refused_with_a_reason(void **state) {
  (void)state;
  refused("<mujoco><worldbody><body><geom size='1'/><joint/></body></worldbody></mujoco", ".xml",
          "");
  refused("anything", ".mjb", "binary");
  refused("<mujoco><extension/></mujoco>", ".xml", "newer");
  refused("<mujoco><option integrator=\"implicitfast\"/></mujoco>", ".xml", "");
  refused("<mujoco><worldbody/></mujoco>", ".xml", "no body");
  refused("<sdf/>", ".urdf", "this is SDF, which is not read");
  refused("<sdf/>", ".xml", "this is SDF, which is not read");
  refused("<html/>", ".xml",
          "its root element is <html>: neither MJCF (<mujoco>) nor URDF (<robot>)");
  refused("<mujoco/>", ".urdf", "not a URDF");
  refused("<robot name='r'><xacro:property name='w' value='1'/><link name='l'/></robot>", ".urdf",
          "a xacro, which has to be expanded first");
  refused(
      "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:arm/><link "
      "name='l'/></robot>",
      ".urdf", "a xacro, which has to be expanded first");
  refused("<robot name='r'><link name='l'><inertial><mass value='${m}'/></inertial></link></robot>",
          ".urdf", "a xacro, which has to be expanded first");
  refused(
      "<robot name='r'><link name='l'><collision><geometry><mesh filename='package://no/such.stl'/>"
      "</geometry></collision></link></robot>",
      ".urdf", "search path");
}

/* MuJoCo reads a copy that is written anew, in which elements have other lines. */
static void lines_of_a_urdf_are_those_of_its_file(void **state) {
  (void)state;
#define LINK(inside)                                                                               \
  "<robot name='r'>\n\n\n  <!-- a\n comment -->\n<link name='base'><visual><geometry><box "        \
  "size='1 1 "                                                                                     \
  "1'/></geometry></visual><visual><geometry><sphere radius='1'/></geometry></visual></link>\n"    \
  "<joint name='j' type='fixed'><parent link='base'/>\n<child link='l'/></joint>\n\n"              \
  "<link name='l'><inertial>" inside "</link></robot>"
#define INERTIA "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
  refused(LINK("\n\n<mass value='x'/>" INERTIA), ".urdf", "Element 'mass', line 12");
  refused(LINK("<mass value='1'/>" INERTIA "\n<collision><geometry>\n<box size='.5 .3'/></geometry>"
               "</collision>"),
          ".urdf", "Element 'box', line 12");
  refused(LINK("<mass value='1'/>" INERTIA
               "\n<collision><geometry>\n<box size='.5 0 .3'/></geometry></collision>"),
          ".urdf", ":12: link 'l': the size of a box is '.5 0 .3'; it has to be positive");
  refused(
      LINK("<mass value='1'/>" INERTIA
           "\n<collision><geometry>\n<cylinder radius='-1' length='1'/></geometry></collision>"),
      ".urdf", ":12: link 'l': the radius of a cylinder is '-1'; it has to be positive");
#undef INERTIA
#undef LINK
}

static void wrong_specs_are_refused(void **state) {
  (void)state;
  tt_physics *p = NULL;
  tt_error error = {""};
  tt_engine_robot twins[] = {{.name = "a", .model_file = DATA "cart.xml"},
                             {.name = "a", .model_file = DATA "cart.xml"}};
  tt_engine_spec spec = {
      .robots = twins, .robot_count = 2, .timestep_num = 1, .timestep_den = 1000};
  assert_int_equal(tt_physics_load(&spec, &p, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "two are named"));
  tt_engine_piece piece = {.body = "floor", .kind = 1};
  spec.robot_count = 0;
  spec.pieces = &piece;
  spec.piece_count = 1;
  assert_int_equal(tt_physics_load(&spec, &p, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "no body 'floor'"));
}

static void no_file_is_left_behind(void **state) {
  (void)state;
  assert_int_not_equal(access("MUJOCO_LOG.TXT", F_OK), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_in_memory_begin_as_mujoco_makes_them),
      cmocka_unit_test(one_robot_has_plain_names),
      cmocka_unit_test(copies_compose),
      cmocka_unit_test(masses_survive),
      cmocka_unit_test(third_party_models_load_and_step),
      cmocka_unit_test(a_robots_own_floor_that_is_another_is_said_to_be_left_out),
      cmocka_unit_test(there_is_room_for_all_that_lies_on_the_floor),
#ifndef TETHER_SANITIZED
      cmocka_unit_test(many_rows_do_not_ask_for_a_huge_stack),
#endif
      cmocka_unit_test(urdf_keeps_base_and_efforts),
      cmocka_unit_test(urdf_joints_move_through_their_range),
      cmocka_unit_test(a_urdf_joint_follows_the_one_that_it_mimics),
      cmocka_unit_test(mimicking_joints_stand_where_they_are_held),
      cmocka_unit_test(joints_that_mimic_each_other_stay),
      cmocka_unit_test(looks_are_described),
      cmocka_unit_test(rays_of_range_finders_are_described),
      cmocka_unit_test(a_range_limits_where_no_compiler_says_otherwise),
      cmocka_unit_test(wrong_models_are_refused_with_a_reason),
      cmocka_unit_test(lines_of_a_urdf_are_those_of_its_file),
      cmocka_unit_test(wrong_specs_are_refused),
      cmocka_unit_test(no_file_is_left_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
