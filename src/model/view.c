#include "model/view.h"

#include <stdlib.h>
#include <string.h>

/* Lays the arrays out in one block; with `block` NULL it only measures. Every array is of doubles or of
 * structs of doubles (tt_contact ends in ints, and comes last), so that nothing needs padding. */
static size_t lay_out(tt_view *view, const tt_model *model, char *block) {
  size_t used = 0;
#define ARRAY(field, count)                                                                        \
  do {                                                                                             \
    if (block) view->field = (void *)(block + used);                                               \
    used += (size_t)(count) * sizeof *view->field;                                                 \
  } while (0)
  ARRAY(body_position, model->body_count);
  ARRAY(body_rotation, model->body_count);
  ARRAY(body_velocity, model->body_count);
  ARRAY(body_spin, model->body_count);
  ARRAY(body_force, model->body_count);
  ARRAY(body_torque, model->body_count);
  ARRAY(feedback, model->body_count);
  ARRAY(joint_position, model->axis_count);
  ARRAY(joint_velocity, model->axis_count);
  ARRAY(joint_torque, model->axis_count);
  ARRAY(channels, model->channel_count);
  ARRAY(commands, model->command_count);
  ARRAY(contacts, model->contact_capacity);
#undef ARRAY
  return used;
}

tt_view *tt_view_array(const tt_model *model, int count) {
  tt_view *views = calloc((size_t)count, sizeof *views);
  if (!views) return NULL;
  const size_t size = lay_out(views, model, NULL);
  char *block = calloc((size_t)count, size ? size : 1);
  if (!block) {
    free(views);
    return NULL;
  }
  for (int i = 0; i < count; i++) {
    views[i].model = model;
    views[i].block_size = size;
    views[i].block = block + (size_t)i * size;
    lay_out(&views[i], model, views[i].block);
  }
  return views;
}

tt_view *tt_view_new(const tt_model *model) { return tt_view_array(model, 1); }

void tt_view_free(tt_view *view) {
  if (!view) return;
  free(view->block); /* of the first: the block of all */
  free(view);
}

void tt_view_copy(tt_view *target, const tt_view *source) {
  /* Contacts come last in the block: only those that are there are copied. */
  size_t unused =
      (size_t)(source->model->contact_capacity - source->contact_count) * sizeof(tt_contact);
  memcpy(target->block, source->block, source->block_size - unused);
  tt_view head = *source;
  lay_out(&head, source->model, target->block);
  head.block = target->block;
  *target = head;
}
