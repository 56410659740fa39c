/* ids.c: the numbers of bodies and joints on the ezphysics wire. See ids.h. */
#include "wire/ezphysics/ids.h"

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
