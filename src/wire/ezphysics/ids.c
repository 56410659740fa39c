/* ids.c: the numbers of bodies and joints on the ezphysics wire. See ids.h. */
#include "wire/ezphysics/ids.h"

#include "base/text.h"

#include <stdlib.h>

static void add_axes(tt_ez_joint *joint, const tt_joint *part) {
  for (int i = 0; i < part->axis_count; i++) {
    if (joint->axis_count == TT_EZ_AXES) {
      joint->axes_left_off++;
    } else {
      joint->axes[joint->axis_count++] = part->axis + i;
    }
  }
}

tt_ez_joint *tt_ez_number_joints(const tt_model *model, int *count) {
  tt_ez_joint *joints = calloc((size_t)model->joint_count + 1, sizeof *joints);
  *count = 0;
  if (joints == NULL) return NULL;
  for (int j = 0; j < model->joint_count; j++) {
    const tt_joint *part = &model->joints[j];
    if (part->axis_count == 0) continue;
    /* the model lists the joints of one body one after the other */
    bool same_body = *count > 0 && joints[*count - 1].body == part->body;
    if (!same_body) {
      joints[(*count)++] =
          (tt_ez_joint){.name = part->name, .body = part->body, .robot = part->robot};
    }
    add_axes(&joints[*count - 1], part);
  }
  return joints;
}

void tt_ez_list_ids(const tt_model *model, FILE *to) {
  int count;
  tt_ez_joint *joints = tt_ez_number_joints(model, &count);
  tt_print(to, "\nbodies (%d)\n", model->body_count - 1);
  for (int i = 1; i < model->body_count; i++) {
    const tt_body *body = &model->bodies[i];
    tt_print(to, "  %4d  %-34s %.4g kg%s\n", i, body->name, body->mass,
             body->piece ? ", game piece" : "");
  }
  tt_print(to, "\njoints (%d)\n", count);
  for (int i = 0; joints && i < count; i++) {
    tt_print(to, "  %4d  %-34s moves %s, %d ax%s\n", i + 1, joints[i].name,
             model->bodies[joints[i].body].name, joints[i].axis_count,
             joints[i].axis_count == 1 ? "is" : "es");
  }
  free(joints);
}
