/* objects.c: what a model is on the ezphysics wire. See objects.h. */
#include "wire/ezphysics/objects.h"

#include "base/log.h"
#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

#define NONE -1

/* --- opening --- */

/** What this wire orders is raw: no motor of a robot's file interprets it. */
static tt_ez_axis find_axis(const tt_model *model, int axis) {
  return (tt_ez_axis){.torque = tt_model_axis_command(model, TT_COMMAND_TORQUE, axis),
                      .velocity = tt_model_axis_command(model, TT_COMMAND_VELOCITY, axis),
                      .max_torque = tt_model_axis_command(model, TT_COMMAND_MAX_TORQUE, axis)};
}

static tt_status allocate(tt_ez_objects *objects, tt_error *error) {
  size_t bodies = (size_t)objects->model->body_count + 1;
  objects->joints = tt_ez_number_joints(objects->model, &objects->joint_count);
  size_t joints = (size_t)objects->joint_count + 1;
  objects->axes = calloc(joints, sizeof *objects->axes);
  objects->body_sends = calloc(bodies, sizeof *objects->body_sends);
  objects->joint_sends = calloc(joints, sizeof *objects->joint_sends);
  objects->joint_receives = calloc(joints, sizeof *objects->joint_receives);
  objects->owned = calloc(3 * TT_EZ_AXES * joints, sizeof *objects->owned);
  objects->touches =
      calloc(2 * (size_t)objects->model->contact_capacity + 1, sizeof *objects->touches);
  bool complete = objects->joints && objects->axes && objects->body_sends && objects->joint_sends &&
                  objects->joint_receives && objects->owned && objects->touches;
  return complete ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

/** Everything sends; joints of the wire's robot receive where they have commands (without physics none has). */
static void default_marks(tt_ez_objects *objects, const tt_wire *wire) {
  for (int b = 0; b < objects->model->body_count; b++) objects->body_sends[b] = true;
  for (int j = 0; j < objects->joint_count; j++) {
    objects->joint_sends[j] = true;
    bool ours = wire->robot == TT_NO_ROBOT || objects->joints[j].robot == wire->robot;
    objects->joint_receives[j] = ours && objects->axes[j][0].torque != NONE;
  }
}

/** What an object is called here: the robot's own prefix may be left out. */
static const char *short_name(const tt_wire *wire, const char *name) {
  if (wire->robot == TT_NO_ROBOT) return name;
  const char *robot = wire->model->robots[wire->robot].name;
  size_t length = strlen(robot);
  bool own = strncmp(name, robot, length) == 0 && name[length] == '/';
  return own ? name + length + 1 : name;
}

static bool means(const tt_wire *wire, const char *pattern, const char *name) {
  return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0 ||
         strcmp(pattern, short_name(wire, name)) == 0;
}

static bool mark_bodies(tt_ez_objects *objects, const tt_wire *wire, const tt_ez_mark *mark) {
  bool found = false;
  for (int b = 0; b < objects->model->body_count; b++) {
    if (!means(wire, mark->body, objects->model->bodies[b].name)) continue;
    found = true;
    if (mark->send != NULL) objects->body_sends[b] = *mark->send;
  }
  return found;
}

static bool mark_joints(tt_ez_objects *objects, const tt_wire *wire, const tt_ez_mark *mark) {
  bool found = false;
  for (int j = 0; j < objects->joint_count; j++) {
    const char *body = objects->model->bodies[objects->joints[j].body].name;
    if (!means(wire, mark->joint, objects->joints[j].name) && !means(wire, mark->joint, body)) {
      continue;
    }
    found = true;
    if (mark->send != NULL) objects->joint_sends[j] = *mark->send;
    if (mark->receive != NULL) objects->joint_receives[j] = *mark->receive;
  }
  return found;
}

static tt_status refuse_mark(const tt_ez_objects *objects, const tt_wire *wire, unsigned index,
                             const tt_ez_mark *mark, tt_error *error) {
  const bool body = mark->body != NULL;
  const char *name = body ? mark->body : mark->joint;
  tt_nearest nearest = tt_nearest_start(name);
  for (int b = 0; body && b < objects->model->body_count; b++)
    tt_nearest_offer(&nearest, short_name(wire, objects->model->bodies[b].name));
  for (int j = 0; !body && j < objects->joint_count; j++)
    tt_nearest_offer(&nearest, short_name(wire, objects->joints[j].name));
  return tt_fail(error, TT_INVALID, "%s.marks[%u]: there is no %s '%s'%s", wire->where, index,
                 body ? "body" : "joint", name, tt_nearest_hint(&nearest));
}

static tt_status apply_marks(tt_ez_objects *objects, const tt_wire *wire,
                             const tt_ezphysics_config *config, tt_error *error) {
  for (unsigned i = 0; i < config->mark_count; i++) {
    const tt_ez_mark *mark = &config->marks[i];
    bool found =
        mark->body != NULL ? mark_bodies(objects, wire, mark) : mark_joints(objects, wire, mark);
    if (!found) return refuse_mark(objects, wire, i, mark, error);
  }
  return TT_OK;
}

static void own(tt_ez_objects *objects, int command) {
  if (command != NONE) objects->owned[objects->owned_count++] = command;
}

static void find_axes(tt_ez_objects *objects, const tt_wire *wire) {
  for (int j = 0; j < objects->joint_count; j++) {
    const tt_ez_joint *joint = &objects->joints[j];
    for (int i = 0; i < joint->axis_count; i++) {
      objects->axes[j][i] = find_axis(objects->model, joint->axes[i]);
    }
    if (joint->axes_left_off > 0) {
      tt_log_warning("%s: joint %d (%s) has %d axes more than this wire can tell of", wire->name,
                     j + 1, joint->name, joint->axes_left_off);
    }
  }
}

/** What the watchdog makes safe. */
static void own_commands(tt_ez_objects *objects) {
  for (int j = 0; j < objects->joint_count; j++) {
    for (int i = 0; objects->joint_receives[j] && i < objects->joints[j].axis_count; i++) {
      own(objects, objects->axes[j][i].torque);
      own(objects, objects->axes[j][i].velocity);
      own(objects, objects->axes[j][i].max_torque);
    }
  }
}

tt_status tt_ez_objects_open(tt_ez_objects *objects, const tt_wire *wire,
                             const tt_ezphysics_config *config, tt_error *error) {
  *objects = (tt_ez_objects){.model = wire->model};
  TT_TRY(allocate(objects, error));
  find_axes(objects, wire);
  default_marks(objects, wire);
  TT_TRY(apply_marks(objects, wire, config, error));
  own_commands(objects);
  return TT_OK;
}

void tt_ez_objects_close(tt_ez_objects *objects) {
  free(objects->joints);
  free(objects->axes);
  free(objects->body_sends);
  free(objects->joint_sends);
  free(objects->joint_receives);
  free(objects->owned);
  free(objects->touches);
  *objects = (tt_ez_objects){.model = NULL};
}

const tt_ez_joint *tt_ez_receiver(const tt_ez_objects *objects, uint32_t id) {
  if (id == 0 || id > (uint32_t)objects->joint_count || !objects->joint_receives[id - 1]) {
    return NULL;
  }
  return &objects->joints[id - 1];
}

/* --- messages --- */

size_t tt_ez_state_capacity(const tt_ez_objects *objects) {
  const tt_model *model = objects->model;
  size_t bytes = TT_EZ_HEADER + TT_EZ_PACKET_HEADER + TT_EZ_SEND_TIMESTAMP_SIZE;
  bytes += (size_t)model->body_count * (TT_EZ_PACKET_HEADER + TT_EZ_SEND_LIMB_SIZE);
  bytes += (size_t)model->axis_count * (TT_EZ_PACKET_HEADER + TT_EZ_SEND_JOINTAXIS_SIZE);
  bytes += (size_t)objects->joint_count * (TT_EZ_PACKET_HEADER + TT_EZ_SEND_JOINTFEEDBACK_SIZE);
  return bytes +
         2 * (size_t)model->contact_capacity * (TT_EZ_PACKET_HEADER + TT_EZ_SEND_COLLISION_SIZE);
}

size_t tt_ez_names_capacity(const tt_ez_objects *objects) {
  size_t objects_named = (size_t)objects->model->body_count + (size_t)objects->joint_count;
  return TT_EZ_HEADER + objects_named * (TT_EZ_PACKET_HEADER + TT_EZ_MAX_NAME);
}

/** Body 0 is the world: it has no limb. */
static void write_limbs(const tt_ez_objects *objects, const tt_view *view, tt_ez_writer *writer) {
  for (int b = 1; b < objects->model->body_count; b++) {
    if (!objects->body_sends[b]) continue;
    tt_ez_limb limb;
    memcpy(limb.position, view->body_position[b], sizeof limb.position);
    memcpy(limb.rotation, view->body_rotation[b], sizeof limb.rotation);
    memcpy(limb.force, view->body_force[b], sizeof limb.force);
    memcpy(limb.torque, view->body_torque[b], sizeof limb.torque);
    memcpy(limb.velocity, view->body_velocity[b], sizeof limb.velocity);
    memcpy(limb.spin, view->body_spin[b], sizeof limb.spin);
    tt_ez_put_limb(writer, (uint32_t)b, &limb);
  }
}

static void write_axes(const tt_ez_objects *objects, const tt_view *view, tt_ez_writer *writer) {
  for (int j = 0; j < objects->joint_count; j++) {
    const tt_ez_joint *joint = &objects->joints[j];
    if (!objects->joint_sends[j]) continue;
    for (int i = 0; i < joint->axis_count; i++) {
      int axis = joint->axes[i];
      tt_ez_put_axis(writer, (uint32_t)j + 1, (uint32_t)i, view->joint_position[axis],
                     view->joint_velocity[axis]);
    }
  }
}

static void write_feedback(const tt_ez_objects *objects, const tt_view *view,
                           tt_ez_writer *writer) {
  for (int j = 0; j < objects->joint_count; j++) {
    if (!objects->joint_sends[j]) continue;
    const tt_feedback *feedback = &view->feedback[objects->joints[j].body];
    double values[12];
    memcpy(values, feedback->force, sizeof feedback->force);
    memcpy(values + 3, feedback->torque, sizeof feedback->torque);
    memcpy(values + 6, feedback->parent_force, sizeof feedback->parent_force);
    memcpy(values + 9, feedback->parent_torque, sizeof feedback->parent_torque);
    tt_ez_put_feedback(writer, (uint32_t)j + 1, values);
  }
}

static int by_body(const void *a, const void *b) {
  const tt_ez_touch *x = a, *y = b;
  if (x->body != y->body) return x->body < y->body ? -1 : 1;
  return (x->contact > y->contact) - (x->contact < y->contact);
}

/** One packet for each body of a pair; both carry the contact's number as their index. */
static void write_collisions(tt_ez_objects *objects, const tt_view *view, tt_ez_writer *writer) {
  size_t count = 0;
  for (int c = 0; c < view->contact_count; c++) {
    const tt_contact *contact = &view->contacts[c];
    if (contact->depth <= 0) continue; /* near, but not touching */
    if (objects->body_sends[contact->body1])
      objects->touches[count++] = (tt_ez_touch){contact->body1, c};
    if (objects->body_sends[contact->body2])
      objects->touches[count++] = (tt_ez_touch){contact->body2, c};
  }
  qsort(objects->touches, count, sizeof *objects->touches, by_body);
  for (size_t i = 0; i < count; i++) {
    const tt_ez_touch *touch = &objects->touches[i];
    const tt_contact *contact = &view->contacts[touch->contact];
    tt_ez_put_collision(writer, (uint32_t)touch->body, (uint32_t)touch->contact, contact->position,
                        contact->depth);
  }
}

size_t tt_ez_write_state(tt_ez_objects *objects, const tt_view *view, uint8_t *bytes,
                         size_t capacity) {
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, capacity);
  tt_ez_put_timestamp(&writer, view->step, tt_model_timestep(objects->model));
  write_limbs(objects, view, &writer);
  write_axes(objects, view, &writer);
  write_feedback(objects, view, &writer);
  write_collisions(objects, view, &writer);
  tt_ez_end(&writer);
  return writer.size;
}

size_t tt_ez_write_names(const tt_ez_objects *objects, uint8_t *bytes, size_t capacity) {
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, capacity);
  for (int b = 0; b < objects->model->body_count; b++) {
    tt_ez_put_name(&writer, TT_EZ_BODY, (uint32_t)b, objects->model->bodies[b].name);
  }
  for (int j = 0; j < objects->joint_count; j++) {
    tt_ez_put_name(&writer, TT_EZ_JOINT, (uint32_t)j + 1, objects->joints[j].name);
  }
  tt_ez_end(&writer);
  return writer.size;
}
