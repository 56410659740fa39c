/* bench_driver.c: the plain controller of the benches that step a world. */
#include "app/bench_driver.h"

#include "model/signal.h"
#include "engine/mujoco/mujoco_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IN_LBF 0.1129848290276167 /* N·m */

/** What a robot with tracks is driven by, as clients/python/float_udp.py does it. */
typedef struct track_drive {
  int left, right, arm; /* commands */
  tt_signal left_speed, right_speed, arm_angle, arm_speed;
} track_drive;

struct tt_bench_driver {
  tt_feed feed;
  tt_world *world;
  uint64_t io_steps;
  track_drive *tracks; /* [track_count] */
  int *velocities;     /* commands of the joints of robots without tracks */
  tt_submission *submissions;
  int track_count, velocity_count;
  double *torques;
  uint64_t first_step; /* of those recorded */
};

static bool has_tracks(const tt_world *world, int robot, track_drive *drive) {
  const tt_names *names = tt_world_names(world);
  return tt_names_find_command(names, "left_track.torque", robot, "", &drive->left, NULL) ==
             TT_OK &&
         tt_names_find_command(names, "right_track.torque", robot, "", &drive->right, NULL) ==
             TT_OK &&
         tt_names_find_command(names, "arm.torque", robot, "", &drive->arm, NULL) == TT_OK &&
         tt_names_find_signal(names, "left_wheel.velocity", robot, "", &drive->left_speed, NULL) ==
             TT_OK &&
         tt_names_find_signal(names, "right_wheel.velocity", robot, "", &drive->right_speed,
                              NULL) == TT_OK &&
         tt_names_find_signal(names, "arm.position", robot, "", &drive->arm_angle, NULL) == TT_OK &&
         tt_names_find_signal(names, "arm.velocity", robot, "", &drive->arm_speed, NULL) == TT_OK;
}

static double clamp(double value, double most) { return fmax(-most, fmin(most, value)); }

static int drive_tracks(const track_drive *drive, const tt_view *view, tt_submission *out) {
  double turn = 3 * sin(0.7 * view->time);
  double left = 20 * (6 + turn - tt_signal_read(&drive->left_speed, view));
  double right = 20 * (6 - turn - tt_signal_read(&drive->right_speed, view));
  double arm = -400 * tt_signal_read(&drive->arm_angle, view) -
               80 * tt_signal_read(&drive->arm_speed, view) - 150;
  out[0] = (tt_submission){drive->left, clamp(left, 60) * IN_LBF};
  out[1] = (tt_submission){drive->right, clamp(right, 60) * IN_LBF};
  out[2] = (tt_submission){drive->arm, clamp(arm, 400) * IN_LBF};
  return 3;
}

static void command(tt_bench_driver *driver) {
  const tt_view *view = tt_world_view(driver->world);
  int count = 0;
  for (int i = 0; i < driver->track_count; i++)
    count += drive_tracks(&driver->tracks[i], view, driver->submissions + count);
  for (int i = 0; i < driver->velocity_count; i++)
    driver->submissions[count++] =
        (tt_submission){driver->velocities[i], i == 0 ? 0.5 * cos(view->time) : 0};
  tt_sim_apply_entry(tt_world_sim(driver->world), &(tt_entry){.kind = TT_ENTRY_COMMANDS,
                                                              .source = "bench",
                                                              .submissions = driver->submissions,
                                                              .count = count});
}

static void apply(tt_feed *feed, tt_sim *sim) {
  uint64_t step = tt_sim_clock(sim)->step;
  tt_bench_driver *driver = (tt_bench_driver *)feed;
  if (driver->torques && step > driver->first_step) tt_bench_driver_keep_torques(driver);
  if (step % driver->io_steps == 0 && driver->track_count + driver->velocity_count) command(driver);
}

void tt_bench_driver_record(tt_bench_driver *driver, double *torques) {
  driver->torques = torques;
  driver->first_step = tt_world_step(driver->world);
}

void tt_bench_driver_keep_torques(tt_bench_driver *driver) {
  size_t axes = (size_t)tt_world_model(driver->world)->axis_count;
  memcpy(driver->torques, tt_space_axis_torque(&tt_sim_engine(tt_world_sim(driver->world))->space),
         axes * sizeof(double));
  driver->torques += axes;
}

static bool tracked(const tt_model *model, const bool *tracks, int axis) {
  int robot = model->joints[model->axis_joint[axis]].robot;
  return robot != TT_NO_ROBOT && tracks[robot];
}

static void find_commands(tt_bench_driver *driver, bool *tracks) {
  const tt_model *model = tt_world_model(driver->world);
  for (int r = 0; r < model->robot_count; r++) {
    tracks[r] = has_tracks(driver->world, r, &driver->tracks[driver->track_count]);
    if (tracks[r]) driver->track_count++;
  }
  for (int i = 0; i < model->command_count; i++)
    if (model->commands[i].kind == TT_COMMAND_VELOCITY &&
        !tracked(model, tracks, model->commands[i].index))
      driver->velocities[driver->velocity_count++] = i;
}

tt_status tt_bench_driver_new(tt_world *world, uint64_t io_steps, bool idle, tt_bench_driver **out,
                              tt_error *error) {
  const tt_model *model = tt_world_model(world);
  size_t robots = (size_t)model->robot_count + 1, commands = (size_t)model->command_count + 1;
  tt_bench_driver *driver = calloc(1, sizeof *driver);
  bool *tracks = calloc(robots, sizeof *tracks);
  *out = driver;
  if (driver) {
    *driver = (tt_bench_driver){.feed = {.apply = apply}, .world = world, .io_steps = io_steps};
    driver->tracks = calloc(robots, sizeof *driver->tracks);
    driver->velocities = calloc(commands, sizeof *driver->velocities);
    driver->submissions = calloc(3 * robots + commands, sizeof *driver->submissions);
  }
  if (!driver || !tracks || !driver->tracks || !driver->velocities || !driver->submissions) {
    free(tracks);
    tt_bench_driver_free(driver);
    *out = NULL;
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  if (!idle) find_commands(driver, tracks);
  free(tracks);
  tt_status status = tt_world_set_feed(world, &driver->feed);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "out of memory");
}

void tt_bench_driver_free(tt_bench_driver *driver) {
  if (!driver) return;
  free(driver->tracks);
  free(driver->velocities);
  free(driver->submissions);
  free(driver);
}
