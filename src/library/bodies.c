/* bodies.c: the public face: bodies, joints, contacts. See include/tether/tether.h. */
#include "library/library.h"

#include <string.h>

int tether_sim_body_count(const tether_sim *sim) {
  return sim ? tt_sim_model(sim->sim)->body_count : 0;
}

int tether_sim_joint_count(const tether_sim *sim) {
  return sim ? tt_sim_model(sim->sim)->joint_count : 0;
}

int tether_sim_contact_count(const tether_sim *sim) {
  return sim ? tt_sim_view(sim->sim)->contact_count : 0;
}

tether_status tether_sim_body(const tether_sim *sim, int index, tether_body *body) {
  if (!sim || !body) return TETHER_INVALID;
  const tt_view *view = tt_sim_view(sim->sim);
  if (index < 0 || index >= view->model->body_count) return TETHER_NOT_FOUND;
  const tt_body *from = &view->model->bodies[index];
  *body = (tether_body){.name = from->name,
                        .parent = from->parent,
                        .mass = from->mass,
                        .position = view->body_position[index],
                        .rotation = view->body_rotation[index],
                        .velocity = view->body_velocity[index],
                        .spin = view->body_spin[index]};
  return TETHER_OK;
}

tether_status tether_sim_joint(const tether_sim *sim, int index, tether_joint *joint) {
  if (!sim || !joint) return TETHER_INVALID;
  const tt_view *view = tt_sim_view(sim->sim);
  if (index < 0 || index >= view->model->joint_count) return TETHER_NOT_FOUND;
  const tt_joint *from = &view->model->joints[index];
  int axis = from->axis_count ? from->axis : 0;
  *joint = (tether_joint){.name = from->name,
                          .body = from->body,
                          .axis_count = from->axis_count,
                          .position = view->joint_position + axis,
                          .velocity = view->joint_velocity + axis,
                          .torque = view->joint_torque + axis,
                          .is_limited = from->limited,
                          .lower = from->lower,
                          .upper = from->upper};
  return TETHER_OK;
}

tether_status tether_sim_contact(const tether_sim *sim, int index, tether_contact *contact) {
  if (!sim || !contact) return TETHER_INVALID;
  const tt_view *view = tt_sim_view(sim->sim);
  if (index < 0 || index >= view->contact_count) return TETHER_NOT_FOUND;
  const tt_contact *from = &view->contacts[index];
  contact->body_a = from->body1;
  contact->body_b = from->body2;
  contact->depth = from->depth;
  memcpy(contact->position, from->position, sizeof contact->position);
  memcpy(contact->normal, from->normal, sizeof contact->normal);
  memcpy(contact->force, from->force, sizeof contact->force);
  return TETHER_OK;
}
