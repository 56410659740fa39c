/* common.c: names and frames for all robot parts. */
#include "robot/common.h"

#include "base/nearest.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tt_status tt_robot_part_make(const tt_part_kind *kind, const void *config, const tt_robot_env *env,
                             tt_part **part, tt_error *error) {
  *part = NULL;
  tt_robot_part *made = calloc(1, kind->part_size);
  if (!made) return tt_fail(error, TT_NOMEM, "%s: out of memory", env->where);
  made->kind = kind;
  made->part = (tt_part){.ops = kind->ops, .robot = env->robot, .name = *(char *const *)config};
  made->config = config;
  made->env = *env;
  snprintf(made->where, sizeof made->where, "%s", env->where);
  made->env.where = made->part.where = made->where;
  tt_status status = kind->make ? kind->make(&made->part, error) : TT_OK;
  if (status == TT_OK)
    *part = &made->part;
  else
    made->part.ops->free(&made->part);
  return status;
}

tt_part *tt_robot_part_clone(const tt_part *part) {
  const tt_robot_part *self = (const tt_robot_part *)part;
  tt_part *clone;
  tt_status status = tt_robot_part_make(self->kind, self->config, &self->env, &clone, NULL);
  return status == TT_OK ? clone : NULL;
}

void tt_robot_part_free(tt_part *part) { free(part); }

bool tt_robot_is_called(const tt_mechanism *info, int robot, const char *whole, const char *name) {
  if (strcmp(whole, name) == 0) return true;
  size_t prefix = strlen(info->robots[robot].name);
  return strncmp(whole, info->robots[robot].name, prefix) == 0 && whole[prefix] == '/' &&
         strcmp(whole + prefix + 1, name) == 0;
}

/* Names as the robot's file knows them, for suggestions. */
static const char *own_name(const tt_mechanism *info, int robot, const char *whole) {
  size_t prefix = strlen(info->robots[robot].name);
  bool prefixed = strncmp(whole, info->robots[robot].name, prefix) == 0 && whole[prefix] == '/';
  return prefixed ? whole + prefix + 1 : whole;
}

static tt_status not_found(const tt_declare *declare, const char *key, const char *what,
                           tt_nearest *nearest, tt_error *error) {
  return tt_fail(error, TT_INVALID, "%s.%s: the robot has no %s '%s'%s", declare->where, key, what,
                 nearest->wanted, tt_nearest_hint(nearest));
}

tt_status tt_robot_find_joint(const tt_declare *declare, const char *key, const char *name,
                              int *joint, tt_error *error) {
  const tt_mechanism *info = tt_space_mechanism(declare->space);
  tt_nearest nearest = tt_nearest_start(name);
  for (int i = 0; i < info->joint_count; i++) {
    const tt_joint *candidate = &info->joints[i];
    if (candidate->robot != declare->robot || candidate->axis_count != 1) continue;
    if (tt_robot_is_called(info, declare->robot, candidate->name, name)) {
      *joint = i;
      return TT_OK;
    }
    tt_nearest_offer(&nearest, own_name(info, declare->robot, candidate->name));
  }
  return not_found(declare, key, "hinge or slide joint", &nearest, error);
}

tt_status tt_robot_find_body(const tt_declare *declare, const char *key, const char *name,
                             int *body, tt_error *error) {
  const tt_mechanism *info = tt_space_mechanism(declare->space);
  if (!name) {
    *body = info->robots[declare->robot].root_body;
    return TT_OK;
  }
  tt_nearest nearest = tt_nearest_start(name);
  for (int i = 0; i < info->body_count; i++) {
    if (info->bodies[i].robot != declare->robot) continue;
    if (tt_robot_is_called(info, declare->robot, info->bodies[i].name, name)) {
      *body = i;
      return TT_OK;
    }
    tt_nearest_offer(&nearest, own_name(info, declare->robot, info->bodies[i].name));
  }
  return not_found(declare, key, "body", &nearest, error);
}

tt_status tt_robot_find_signal(const tt_robot_part *part, const tt_names *names, const char *key,
                               const char *name, int channel, tt_signal *signal, tt_error *error) {
  char where[320];
  snprintf(where, sizeof where, "%s.%s", part->where, key);
  TT_TRY(tt_names_find_signal(names, name, part->part.robot, where, signal, error));
  if (signal->source == TT_SIGNAL_REAL_TIME_FACTOR)
    return tt_fail(error, TT_INVALID, "%s: '%s' is of the wall clock: no two runs read the same",
                   where, name);
  if (signal->source != TT_SIGNAL_CHANNEL || signal->index < channel) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "%s: '%s' is computed later; put what computes it before '%s' in the file", where,
                 name, part->part.name);
}

tt_status tt_robot_add_channel(tt_declare *declare, const tt_part *part, const char *suffix,
                               tt_dimension dimension, int *channel, tt_error *error) {
  char name[128];
  snprintf(name, sizeof name, "%s.%s", part->name, suffix);
  return declare->add_channel(declare, name, dimension, channel, error);
}

tt_status tt_robot_add_command(tt_declare *declare, const tt_part *part, const char *suffix,
                               tt_command command, int *index, tt_error *error) {
  char name[128];
  snprintf(name, sizeof name, "%s.%s", part->name, suffix);
  command.name = name;
  command.robot = declare->robot;
  return declare->add_command(declare, &command, index, error);
}

tt_status tt_robot_check_name(const char *name, const char *where, tt_error *error) {
  bool good = *name != '\0';
  for (const char *at = name; *at; at++)
    good = good && (isalnum((unsigned char)*at) || *at == '_' || *at == '-');
  if (good) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "%s.name: '%s' can't begin a signal's name; use letters, digits, '_' and '-'",
                 where, name);
}

void tt_robot_rotate(const double q[4], const double v[3], double world[3]) {
  /* v + 2w(u × v) + 2u × (u × v), with q = (w, u) */
  double c[3] = {q[2] * v[2] - q[3] * v[1], q[3] * v[0] - q[1] * v[2], q[1] * v[1] - q[2] * v[0]};
  world[0] = v[0] + 2 * (q[0] * c[0] + q[2] * c[2] - q[3] * c[1]);
  world[1] = v[1] + 2 * (q[0] * c[1] + q[3] * c[0] - q[1] * c[2]);
  world[2] = v[2] + 2 * (q[0] * c[2] + q[1] * c[1] - q[2] * c[0]);
}

void tt_robot_place(const tt_view *view, int body, const double local[3], double world[3]) {
  tt_robot_rotate(view->body_rotation[body], local, world);
  for (int i = 0; i < 3; i++) world[i] += view->body_position[body][i];
}
