/* view.h: the one read-only picture of a world that is published once a tick.
 *
 * One block of memory, so that an observer's copy is one memcpy (tt_view_copy). Frames: world,
 * Z up, right-handed; quaternions w x y z, body to world; SI. Never holds a non-finite number.
 *
 * Positions, velocities and sensors are those at `step`. Forces (contacts, body_force, feedback) are those
 * that acted over the step that led to it: a force is known only once the step it acted in is solved.
 */
#ifndef TT_MODEL_VIEW_H
#define TT_MODEL_VIEW_H

#include "model/model.h"

#include <stddef.h>
#include <stdint.h>

/** A touching pair of bodies, as it was in the step that led to this view. */
typedef struct tt_contact {
  double position[3]; /**< m, world */
  double normal[3];   /**< unit, from body1 to body2 */
  double force[3];    /**< N, world, exerted on body2; body1 feels its opposite */
  double depth;       /**< m, positive when the surfaces overlap */
  int body1, body2;   /**< indices into tt_model.bodies */
} tt_contact;

/** What the link between a moving body and its parent transmits (all joints of the body together). */
typedef struct tt_feedback {
  double force[3], torque[3];               /**< on the child; torque about its centre of mass */
  double parent_force[3], parent_torque[3]; /**< on the parent; torque about its centre of mass */
} tt_feedback;

typedef struct tt_view {
  uint64_t step;           /**< steps since the world began or was last reset as a whole */
  uint64_t total_step;     /**< steps since the program began, never reset: the time axis of logs */
  uint32_t epoch;          /**< whole-world resets and divergences so far */
  double time;             /**< s, step × timestep, correctly rounded */
  double match_time;       /**< s since the match timer was started; stops at its end; 0 when off */
  double real_time_factor; /**< over the last second or so; an observation, never an input */
  uint64_t late_ticks;     /**< an observation, never an input */

  double (*body_position)[3]; /**< m, of the body frame's origin; [body_count] */
  double (*body_rotation)[4]; /**< w x y z */
  double (*body_velocity)[3]; /**< m/s of the origin, world axes */
  double (*body_spin)[3];     /**< rad/s, world axes */
  double (*body_force)[3]; /**< N: sum of contacts, welds and applied forces; zeros unless wanted */
  double (*body_torque)[3]; /**< N·m about the centre of mass; zeros unless wanted */
  tt_feedback *feedback;    /**< [body_count]; zeros unless wanted */
  double *joint_position;   /**< rad or m; ball: rotation vector; [axis_count] */
  double *joint_velocity;   /**< rad/s or m/s; [axis_count] */
  double *joint_torque; /**< N·m or N that commands, motors and actuators applied; [axis_count] */
  double *channels;     /**< [channel_count] */
  double *commands;     /**< last accepted value of each; [command_count] */
  tt_contact *contacts; /**< [contact_count], at most model->contact_capacity */
  int contact_count;
  int contacts_left_off; /**< contacts that did not fit */

  const tt_model *model;
  void *block;       /**< the memory behind the arrays */
  size_t block_size; /**< bytes */
} tt_view;

/** A view of zeros for `model`, which must outlive it; NULL when out of memory. */
tt_view *tt_view_new(const tt_model *model);
/** An array of them in one block, of which a page takes memory once it is written to: most have room for many more contacts
 *  than there ever are. */
tt_view *tt_view_array(const tt_model *model, int count);
/** One, or an array. NULL-safe. */
void tt_view_free(tt_view *view);
/** Copies everything; both must be of the same model. Any thread that owns `target`. */
void tt_view_copy(tt_view *target, const tt_view *source);

#endif
