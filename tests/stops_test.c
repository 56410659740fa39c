/* Joint stops, of every limited hinge and slide of every robot that comes with Tether, at several timesteps: driven into a
 * stop at the speed of its motor a joint goes no more than 0.01 rad (m) past it, and then it stands. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "app/guests.h"
#include "app/assemble.h"
#include "scene/scene.h"

#define PAST 0.01        /* rad or m */
#define BEFORE 1.0       /* rad or m before the stop, where a run begins */
#define HINGE_SPEED 3.0  /* rad/s, of joints without a motor */
#define SLIDE_SPEED 0.5  /* m/s */
#define MOST_SECONDS 2.0 /* until the stop is reached */
#define STANDING 0.5     /* s against the stop */
#define REST 0.01        /* rad/s or m/s */

/* High above the floor, so that nothing but its stop is in a joint's way. */
static const char scene_text[] =
    "timestep: 1/%d s\n"
    "io_period: 1/%d s\n"
    "pace: fast\n"
    "robots: [{robot: %s, name: r, z: 200 m}]\n";

typedef struct stage {
  tt_scene *scene;
  tt_world *world;
  const char *robot;
  int rate;
} stage;

static void open_stage(stage *on, const char *robot, int rate) {
  char text[512];
  *on = (stage){.robot = robot, .rate = rate};
  snprintf(text, sizeof text, scene_text, rate, rate, robot);
  tt_error error = {.text = ""};
  if (tt_scene_parse(&tt_program_guests, TETHER_SOURCE_DIR "/scenes/test.yaml", text, strlen(text),
                     NULL, 0, &on->scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_assembly assembly = {.no_wires = true};
  if (tt_assemble(on->scene, &assembly, &on->world, &error) != TT_OK) fail_msg("%s", error.text);
}

static void close_stage(stage *on) {
  tt_world_free(on->world);
  tt_scene_free(on->scene);
}

static void command(const stage *on, const char *joint, const char *kind, double value) {
  char name[128];
  int id;
  tt_error error = {.text = ""};
  snprintf(name, sizeof name, "%s.%s", joint, kind);
  if (tt_names_find_command(tt_world_names(on->world), name, TT_NO_ROBOT, "test", &id, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  tt_submission submission = {id, value};
  tt_entry entry = {
      .kind = TT_ENTRY_COMMANDS, .source = "test", .submissions = &submission, .count = 1};
  assert_int_equal(tt_sim_apply_entry(tt_world_sim(on->world), &entry), TT_OK);
}

/* A position servo of its model's own, which keeps it from its stops whatever else drives it. */
static bool has_servo(const stage *on, const tt_joint *joint) {
  char name[128];
  int id;
  snprintf(name, sizeof name, "%s_servo", joint->name);
  return tt_names_find_command(tt_world_names(on->world), name, TT_NO_ROBOT, "test", &id, NULL) ==
         TT_OK;
}

static bool has_stops(const stage *on, const tt_joint *joint) {
  return joint->limited && (joint->kind == TT_HINGE || joint->kind == TT_SLIDE) &&
         !has_servo(on, joint);
}

/* Whether its motor has a torque-speed line, and with it a speed of its own. */
static bool has_motor(const stage *on, const tt_joint *joint) {
  char name[128];
  tt_signal signal;
  snprintf(name, sizeof name, "%s.voltage", joint->name);
  return tt_names_find_signal(tt_world_names(on->world), name, TT_NO_ROBOT, "test", &signal,
                              NULL) == TT_OK;
}

/* Toward its upper stop (side 1) or lower stop (−1) as fast as its motor can. */
static void drive(const stage *on, const tt_joint *joint, int side) {
  const double speed = joint->kind == TT_HINGE ? HINGE_SPEED : SLIDE_SPEED;
  const bool motor = has_motor(on, joint);
  command(on, joint->name, motor ? "duty" : "velocity", motor ? side : side * speed);
}

static void tick(stage *on) {
  tt_error error = {.text = ""};
  if (tt_world_tick(on->world, &error) != TT_OK) fail_msg("%s: %s", on->robot, error.text);
}

/* A fresh world, every joint held by its servo. */
static void restart(stage *on) {
  const tt_model *model = tt_world_model(on->world);
  tt_world_post(on->world,
                &(tt_mail){.kind = TT_MAIL_RESET, .index = TT_NO_ROBOT, .source = "test"});
  tick(on);
  for (int j = 0; j < model->joint_count; j++)
    if (model->joints[j].axis_count == 1) command(on, model->joints[j].name, "velocity", 0);
}

/* How far a joint is past its stop; negative before it. */
static double past(const stage *on, const tt_joint *joint, int side) {
  const double at =
      tt_space_axis_position(&tt_sim_engine(tt_world_sim(on->world))->space)[joint->axis];
  return side > 0 ? at - joint->upper : joint->lower - at;
}

/* The stop is reached at `*speed`; returns how far the joint went past it. */
static double run_into(stage *on, const tt_joint *joint, int side, double *speed) {
  tt_engine *engine = tt_sim_engine(tt_world_sim(on->world));
  const double *velocity = tt_space_axis_velocity(&engine->space) + joint->axis;
  const double before = fmin(BEFORE, 0.9 * (joint->upper - joint->lower));
  tt_engine_place_axis(engine, joint->axis,
                       side > 0 ? joint->upper - before : joint->lower + before);
  tt_engine_place_done(engine, 0, NULL);
  double most = -INFINITY;
  int left = (int)(MOST_SECONDS * on->rate);
  *speed = 0;
  while (left-- > 0) {
    const bool reached = most > 0;
    if (!reached) *speed = fmax(*speed, side * *velocity);
    tick(on);
    most = fmax(most, past(on, joint, side));
    if (!reached && most > 0) left = (int)(STANDING * on->rate);
  }
  const char *name = joint->name;
  if (!(most > 0)) fail_msg("%s: %s does not reach its stop: %g", on->robot, name, most);
  const double now = past(on, joint, side);
  if (fabs(*velocity) > REST || fabs(now) > PAST / 10)
    fail_msg("%s: %s does not stand at its stop: %g/s, %g past it", on->robot, name, *velocity,
             now);
  return most;
}

static void at_the_speed_of_its_motor(stage *on, const tt_joint *joint, int side) {
  restart(on);
  drive(on, joint, side);
  double speed, most = run_into(on, joint, side, &speed);
  if (most > PAST)
    fail_msg("%s at %d Hz: %s comes at %.3g/s and goes %.4f past its stop", on->robot, on->rate,
             joint->name, speed, most);
}

/* With all the torque its joint may have it comes as fast as it can: past its stop it goes only what it made in one step. */
static void as_fast_as_it_can(stage *on, const tt_joint *joint, int side) {
  restart(on);
  command(on, joint->name, "duty", side);
  double speed, most = run_into(on, joint, side, &speed);
  if (most > 1.1 * speed / on->rate)
    fail_msg("%s at %d Hz: %s comes at %.3g/s and goes %.4f past its stop", on->robot, on->rate,
             joint->name, speed, most);
}

static void all_together(stage *on, int side) {
  const tt_model *model = tt_world_model(on->world);
  restart(on);
  for (int j = 0; j < model->joint_count; j++)
    if (has_stops(on, &model->joints[j])) drive(on, &model->joints[j], side);
  for (int i = 0; i < on->rate; i++) {
    tick(on);
    for (int j = 0; j < model->joint_count; j++) {
      const tt_joint *joint = &model->joints[j];
      if (has_stops(on, joint) && past(on, joint, side) > PAST)
        fail_msg("%s at %d Hz: %s goes %.4f past its stop", on->robot, on->rate, joint->name,
                 past(on, joint, side));
    }
  }
}

/* Returns how many stops there are. */
static int every_stop_of(const char *robot, int rate) {
  stage on;
  open_stage(&on, robot, rate);
  const tt_model *model = tt_world_model(on.world);
  int stops = 0;
  for (int side = -1; side <= 1; side += 2) {
    for (int j = 0; j < model->joint_count; j++) {
      const tt_joint *joint = &model->joints[j];
      if (!has_stops(&on, joint)) continue;
      stops++;
      at_the_speed_of_its_motor(&on, joint, side);
      as_fast_as_it_can(&on, joint, side);
    }
    all_together(&on, side);
  }
  close_stage(&on);
  return stops;
}

static void shipped_robots_stand_at_their_stops(void **state) {
  (void)state;
  static const int RATES[] = {600, 1000, 3000};
  DIR *folder = opendir(TETHER_SOURCE_DIR "/robots");
  assert_non_null(folder);
  int stops = 0;
  for (struct dirent *entry; (entry = readdir(folder));)
    for (size_t i = 0; entry->d_name[0] != '.' && i < sizeof RATES / sizeof *RATES; i++)
      stops += every_stop_of(entry->d_name, RATES[i]);
  closedir(folder);
  assert_true(stops >= 198); /* 33 joints, two stops each, at three timesteps */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shipped_robots_stand_at_their_stops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
