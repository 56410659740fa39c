/* objects.h: what a model is on the ezphysics wire: its numbered bodies and joints, which of them send and receive, the
 * commands behind each axis, and a view of them as one message.
 */
#ifndef TT_WIRE_EZPHYSICS_OBJECTS_H
#define TT_WIRE_EZPHYSICS_OBJECTS_H

#include "wire/ezphysics/codec.h"
#include "wire/ezphysics/ezphysics.h"
#include "wire/ezphysics/ids.h"
#include "host/wire.h"

/** Commands behind one axis of a joint, indices into model->commands; −1 where there is none. */
typedef struct tt_ez_axis {
  int torque, velocity, max_torque;
} tt_ez_axis;

/** That a body takes part in a contact; both are indices. */
typedef struct tt_ez_touch {
  int body, contact;
} tt_ez_touch;

/** Owned by the wire; made once. */
typedef struct tt_ez_objects {
  const tt_model *model;
  tt_ez_joint *joints; /**< joint id is index + 1 */
  int joint_count;
  tt_ez_axis (*axes)[TT_EZ_AXES];     /**< [joint_count] */
  bool *body_sends;                   /**< [body_count] */
  bool *joint_sends, *joint_receives; /**< [joint_count] */
  int *owned;                         /**< every command a receiving joint has */
  int owned_count;
  tt_ez_touch *touches; /**< room for two a contact */
} tt_ez_objects;

/** Numbers everything and applies the marks of the scene. Free with tt_ez_objects_close() also after an error. */
tt_status tt_ez_objects_open(tt_ez_objects *objects, const tt_wire *wire,
                             const tt_ezphysics_config *config, tt_error *error);
void tt_ez_objects_close(tt_ez_objects *objects);

/** Bytes of the largest message of each kind. */
size_t tt_ez_state_capacity(const tt_ez_objects *objects);
size_t tt_ez_names_capacity(const tt_ez_objects *objects);
/** The view as one message; returns its size. */
size_t tt_ez_write_state(tt_ez_objects *objects, const tt_view *view, uint8_t *bytes,
                         size_t capacity);
/** One name packet for each body and joint. */
size_t tt_ez_write_names(const tt_ez_objects *objects, uint8_t *bytes, size_t capacity);

/** The joint of that id if it may be commanded, else NULL. */
const tt_ez_joint *tt_ez_receiver(const tt_ez_objects *objects, uint32_t id);

#endif
