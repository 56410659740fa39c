/* scene_sim.c: a loaded scene becomes a simulation. tt_scene_sim() at the end names the stages. */
#include "scene/scene_sim.h"

#include "engine/mujoco/mujoco_engine.h"
#include "robot/robot.h"

#include <stdlib.h>
#include <string.h>

#define CONTACT_CAPACITY 1024

/** What is under way. Arrays are freed when the simulation stands; engine and parts become its own. */
typedef struct builder {
  const tt_scene *scene;
  const tt_scene_sim_options *options;
  tt_engine_robot *robots;
  tt_engine_gripper *grippers;
  tt_engine *engine;
  tt_part **parts;
  int part_count;
  tt_error *error;
} builder;

static tt_status no_memory(const builder *by) {
  return tt_fail(by->error, TT_NOMEM, "out of memory");
}

static int count_parts(const tt_scene *scene) {
  int count = 0;
  for (int i = 0; i < scene->robot_count; i++) count += scene->robots[i].part_count;
  return count;
}

/** The engine must know every gripper before it composes the model. */
static void describe_robots(builder *by) {
  tt_engine_gripper *gripper = by->grippers;
  for (int i = 0; i < by->scene->robot_count; i++) {
    const tt_scene_robot *from = &by->scene->robots[i];
    tt_engine_robot *to = &by->robots[i];
    *to = (tt_engine_robot){.name = from->name,
                            .model_file = from->model_file,
                            .alliance = from->alliance,
                            .x = from->x,
                            .y = from->y,
                            .z = from->z,
                            .heading = from->heading,
                            .floating = from->floating,
                            .base_decided = from->base_decided,
                            .surfaces = from->surfaces,
                            .surface_count = from->surface_count,
                            .measures = from->measures,
                            .measure_count = from->measure_count,
                            .grippers = gripper};
    for (int k = 0; k < from->part_count; k++) {
      if (strcmp(from->parts[k].schema->key, "grippers")) continue;
      tt_robot_gripper(from->parts[k].config, gripper);
      gripper++->where = from->parts[k].where;
      to->gripper_count++;
    }
  }
}

static tt_status compile_engine(builder *by) {
  const tt_scene *scene = by->scene;
  describe_robots(by);
  tt_engine_spec spec = {.arena_file = scene->arena_file,
                         .robots = by->robots,
                         .robot_count = scene->robot_count,
                         .pieces = scene->pieces,
                         .piece_count = scene->piece_count,
                         .surfaces = scene->surfaces,
                         .surface_count = scene->surface_count,
                         .timestep_num = scene->timestep_num,
                         .timestep_den = scene->timestep_den,
                         .search_path = scene->search_path,
                         .want_feedback = scene->reads_forces,
                         .contact_capacity = CONTACT_CAPACITY};
  return tt_mujoco_load(&spec, &by->engine, by->error);
}

/** Files that a part names are looked up in the scene's folder, then next to the robot's file. */
static tt_status make_robot_parts(builder *by, int index) {
  const tt_scene_robot *robot = &by->scene->robots[index];
  tt_robot_env env = {.robot = index,
                      .lines = by->scene->lines,
                      .line_count = by->scene->line_count,
                      .scene_folder = by->scene->folder,
                      .folder = robot->folder,
                      .seed = by->scene->seed};
  for (int i = 0; i < robot->part_count; i++) {
    const tt_scene_part *part = &robot->parts[i];
    env.where = part->where;
    TT_TRY(tt_robot_part_new(part->schema->key, part->config, &env, &by->parts[by->part_count],
                             by->error));
    by->part_count++;
  }
  return TT_OK;
}

static tt_status limit_joints(builder *by) {
  for (int i = 0; i < by->scene->robot_count; i++) {
    const tt_scene_robot *robot = &by->scene->robots[i];
    for (int k = 0; k < robot->joint_count; k++)
      TT_TRY(tt_engine_limit_joint(by->engine, i, &robot->joints[k], by->error));
  }
  return TT_OK;
}

/** A clone has the joints' limits already. */
static tt_status load_engine(builder *by) {
  if (by->options->engine) {
    by->engine = tt_engine_clone(by->options->engine);
    return by->engine ? TT_OK : no_memory(by);
  }
  TT_TRY(compile_engine(by));
  return limit_joints(by);
}

static tt_status make_parts(builder *by) {
  for (int i = 0; i < by->scene->robot_count; i++) TT_TRY(make_robot_parts(by, i));
  return TT_OK;
}

/** What the scene says of its models' values. */
static tt_status set_values(builder *by, tt_sim *sim) {
  int count;
  const tt_value *values = tt_sim_values(sim, &count);
  for (int i = 0; i < by->scene->value_count; i++) {
    const tt_scene_value *from = &by->scene->values[i];
    tt_submission to = {.command = -1};
    TT_TRY(tt_sim_find_value(sim, from->name, from->where, &to.command, by->error));
    const tt_value *value = &values[to.command];
    TT_TRY(tt_quantity_check(from->text, "", from->where, value->dimension, value->lower,
                             value->upper, value->own, &to.value, by->error));
    TT_TRY(tt_sim_set_values(sim, "scene", &to, 1, NULL, by->error));
  }
  tt_sim_settle_values(sim);
  return TT_OK;
}

/** Engine and parts are the simulation's from here on, even when it fails. */
static tt_status make_sim(builder *by, tt_sim **sim) {
  tt_sim_spec spec = {.engine = by->engine,
                      .parts = by->parts,
                      .part_count = by->part_count,
                      .dynamics = by->scene->dynamics,
                      .hash_a_tick = by->options->hash_a_tick};
  by->engine = NULL;
  by->part_count = 0;
  return tt_sim_new(&spec, sim, by->error);
}

static tt_status build(builder *by, tt_sim **sim) {
  const tt_scene *scene = by->scene;
  size_t parts = (size_t)count_parts(scene) + 1;
  by->robots = calloc((size_t)scene->robot_count + 1, sizeof *by->robots);
  by->grippers = calloc(parts, sizeof *by->grippers);
  by->parts = calloc(parts, sizeof(tt_part *));
  if (!by->robots || !by->grippers || !by->parts) return no_memory(by);
  TT_TRY(load_engine(by));
  TT_TRY(make_parts(by));
  TT_TRY(make_sim(by, sim));
  tt_status status = set_values(by, *sim);
  if (status == TT_OK) return TT_OK;
  tt_sim_free(*sim);
  *sim = NULL;
  return status == TT_NOMEM ? no_memory(by) : status;
}

tt_status tt_scene_sim(const tt_scene *scene, const tt_scene_sim_options *options, tt_sim **sim,
                       tt_error *error) {
  *sim = NULL;
  builder by = {.scene = scene, .options = options, .error = error};
  tt_status status = build(&by, sim);
  for (int i = 0; i < by.part_count; i++) by.parts[i]->ops->free(by.parts[i]);
  tt_engine_free(by.engine);
  free(by.parts);
  free(by.grippers);
  free(by.robots);
  if (status != TT_OK) tt_scene_explain(scene, error);
  return status;
}
