/* assemble.c: a loaded scene becomes a world. tt_assemble() at the end names the stages. */
#include "app/assemble.h"
#include "host/scene_wires.h"

#include "robot/robot.h"

#include <stdlib.h>
#include <string.h>

#define CONTACT_CAPACITY 1024

/** What is under way. Arrays are freed when the world stands; physics and parts become the world's. */
typedef struct tt_builder {
  const tt_scene *scene;
  const tt_assembly *assembly;
  tt_engine_robot *robots;
  tt_engine_gripper *grippers;
  tt_world_wire *wires;
  tt_engine *engine;
  tt_part **parts;
  int part_count;
  tt_error *error;
} tt_builder;

static tt_status no_memory(const tt_builder *builder) {
  return tt_fail(builder->error, TT_NOMEM, "out of memory");
}

static int count_parts(const tt_scene *scene) {
  int count = 0;
  for (int i = 0; i < scene->robot_count; i++) count += scene->robots[i].part_count;
  return count;
}

/** Physics must know every gripper before it composes the model. */
static void describe_robots(tt_builder *builder) {
  tt_engine_gripper *gripper = builder->grippers;
  for (int i = 0; i < builder->scene->robot_count; i++) {
    const tt_scene_robot *from = &builder->scene->robots[i];
    tt_engine_robot *to = &builder->robots[i];
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

static tt_status compile_physics(tt_builder *builder) {
  const tt_scene *scene = builder->scene;
  describe_robots(builder);
  tt_engine_spec spec = {.arena_file = scene->arena_file,
                         .robots = builder->robots,
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
  return tt_mujoco_load(&spec, &builder->engine, builder->error);
}

/** Files that a part names are looked up in the scene's folder, then next to the robot's file. */
static tt_status make_robot_parts(tt_builder *builder, int index) {
  const tt_scene_robot *robot = &builder->scene->robots[index];
  tt_robot_env env = {.robot = index,
                      .lines = builder->scene->lines,
                      .line_count = builder->scene->line_count,
                      .scene_folder = builder->scene->folder,
                      .folder = robot->folder,
                      .seed = builder->scene->seed};
  for (int i = 0; i < robot->part_count; i++) {
    const tt_scene_part *part = &robot->parts[i];
    env.where = part->where;
    TT_TRY(tt_robot_part_new(part->schema->key, part->config, &env,
                             &builder->parts[builder->part_count], builder->error));
    builder->part_count++;
  }
  return TT_OK;
}

static tt_status limit_joints(tt_builder *builder) {
  for (int i = 0; i < builder->scene->robot_count; i++) {
    const tt_scene_robot *robot = &builder->scene->robots[i];
    for (int k = 0; k < robot->joint_count; k++)
      TT_TRY(tt_engine_limit_joint(builder->engine, i, &robot->joints[k], builder->error));
  }
  return TT_OK;
}

/** A clone has the joints' limits already. */
static tt_status load_physics(tt_builder *builder) {
  if (builder->assembly->engine) {
    builder->engine = tt_engine_clone(builder->assembly->engine);
    return builder->engine ? TT_OK : no_memory(builder);
  }
  TT_TRY(compile_physics(builder));
  return limit_joints(builder);
}

static tt_status make_parts(tt_builder *builder) {
  for (int i = 0; i < builder->scene->robot_count; i++) TT_TRY(make_robot_parts(builder, i));
  return TT_OK;
}

static void describe_wires(tt_builder *builder) {
  for (int i = 0; i < builder->scene->wire_count; i++) {
    const tt_scene_wire *from = &builder->scene->wires[i];
    builder->wires[i] = (tt_world_wire){.ops = tt_wire_protocols[from->protocol],
                                        .name = from->name,
                                        .where = from->where,
                                        .robot = from->robot,
                                        .period_steps = from->period_steps,
                                        .watchdog = from->watchdog,
                                        .late = from->late,
                                        .deadline = from->deadline,
                                        .config = from->config};
  }
  if (builder->assembly->wire_config && builder->scene->wire_count > 0)
    builder->wires[0].config = builder->assembly->wire_config;
}

/** Engine and parts are the simulation's from here on, even when it fails. */
static tt_status make_sim(tt_builder *builder, tt_sim **sim) {
  tt_sim_spec spec = {.engine = builder->engine,
                      .parts = builder->parts,
                      .part_count = builder->part_count,
                      .dynamics = builder->scene->dynamics,
                      .hash_a_tick = builder->assembly->hash_every_tick};
  builder->engine = NULL;
  builder->part_count = 0;
  return tt_sim_new(&spec, sim, builder->error);
}

static tt_status make_world(tt_builder *builder, tt_world **world) {
  const tt_scene *scene = builder->scene;
  tt_sim *sim;
  TT_TRY(make_sim(builder, &sim));
  describe_wires(builder);
  tt_world_spec spec = {.net = builder->assembly->net,
                        .sim = sim,
                        .wires = builder->wires,
                        .wire_count = builder->assembly->no_wires ? 0 : scene->wire_count,
                        .io_steps = scene->io_steps,
                        .pace = scene->pace,
                        .speed = scene->speed,
                        .late_tick = scene->late_tick,
                        .on_divergence = scene->on_divergence,
                        .duration = scene->duration,
                        .time_before = builder->assembly->time_before,
                        .check_only = builder->assembly->check_only};
  return tt_world_new(&spec, world, builder->error);
}

static tt_status build(tt_builder *builder, tt_world **world) {
  const tt_scene *scene = builder->scene;
  size_t parts = (size_t)count_parts(scene) + 1;
  builder->robots = calloc((size_t)scene->robot_count + 1, sizeof *builder->robots);
  builder->wires = calloc((size_t)scene->wire_count + 1, sizeof *builder->wires);
  builder->grippers = calloc(parts, sizeof *builder->grippers);
  builder->parts = calloc(parts, sizeof(tt_part *));
  if (!builder->robots || !builder->wires || !builder->grippers || !builder->parts)
    return no_memory(builder);
  TT_TRY(load_physics(builder));
  TT_TRY(make_parts(builder));
  return make_world(builder, world);
}

tt_status tt_assemble(const tt_scene *scene, const tt_assembly *assembly, tt_world **world,
                      tt_error *error) {
  *world = NULL;
  tt_builder builder = {.scene = scene, .assembly = assembly, .error = error};
  tt_status status = build(&builder, world);
  for (int i = 0; i < builder.part_count; i++) builder.parts[i]->ops->free(builder.parts[i]);
  tt_engine_free(builder.engine);
  free(builder.parts);
  free(builder.grippers);
  free(builder.wires);
  free(builder.robots);
  if (status != TT_OK) tt_scene_explain(scene, error);
  return status;
}
