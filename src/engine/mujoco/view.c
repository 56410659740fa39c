/* view.c: what a step did, and what everyone may see of it. */
#include "engine/mujoco/physics_internal.h"

#include <math.h>
#include <string.h>

void physics_capture_clear(tt_physics *p) {
  p->contact_count = p->contacts_left_off = 0;
  memset(p->contacts, 0, sizeof *p->contacts * (size_t)p->fixed->contact_capacity);
  memset(p->body_wrench, 0, 6 * sizeof(double) * (size_t)p->model->nbody);
  memset(p->feedback, 0, sizeof *p->feedback * (size_t)p->model->nbody);
}

static void capture_contact(const tt_physics *p, int index, tt_contact *contact) {
  const mjModel *m = p->model;
  const mjContact *from = &p->data->contact[index];
  double wrench[6];
  mj_contactForce(m, p->data, index, wrench);
  mju_copy3(contact->position, from->pos);
  mju_copy3(contact->normal, from->frame);
  mju_rotVecMatT(contact->force, wrench, from->frame);
  contact->depth = -from->dist;
  contact->body1 = m->geom_bodyid[from->geom1];
  contact->body2 = m->geom_bodyid[from->geom2];
}

static bool is_parked(const tt_physics *p, int body) {
  const int piece = p->fixed->body_piece[body];
  return piece >= 0 && p->parked[piece];
}

/* A parked piece collides with nothing, and touches what it lay on all the same: as it did when it was last awake. Moves
 * those contacts to the front, and counts them. */
static int keep_contacts(tt_physics *p) {
  int kept = 0;
  for (int i = 0; i < p->contact_count; i++) {
    const tt_contact *contact = &p->contacts[i];
    if (is_parked(p, contact->body1) || is_parked(p, contact->body2))
      p->contacts[kept++] = *contact;
  }
  return kept;
}

/* Where there is not enough room, what happens now goes before what rests. */
static void capture_contacts(tt_physics *p) {
  const int room = p->fixed->contact_capacity;
  int kept = keep_contacts(p), all = 0;
  for (int i = 0; i < p->data->ncon; i++) all += p->data->contact[i].efc_address >= 0;
  const int fresh = all < room ? all : room;
  const int stay = kept < room - fresh ? kept : room - fresh;
  memmove(p->contacts + fresh, p->contacts, sizeof *p->contacts * (size_t)stay);
  for (int i = 0, next = 0; next < fresh; i++)
    if (p->data->contact[i].efc_address >= 0) capture_contact(p, i, &p->contacts[next++]);
  p->contact_count = fresh + stay;
  p->contacts_left_off = all - fresh + kept - stay;
}

/* A wrench in MuJoCo's form (torque, force) about `origin`, as force and torque about `point`. */
static void move_wrench(const double wrench[6], const double origin[3], const double point[3],
                        double force[3], double torque[3]) {
  double arm[3], moment[3];
  mju_copy3(force, wrench + 3);
  mju_sub3(arm, origin, point);
  mju_cross(moment, arm, force);
  mju_add3(torque, wrench, moment);
}

/* cfrc_int and cfrc_ext are about the centre of mass of the whole tree (Featherstone's spatial
 * forces with that origin); everyone else wants each body's own centre of mass. */
static void capture_feedback(tt_physics *p) {
  const mjModel *m = p->model;
  mjData *d = p->data;
  mj_rnePostConstraint(m, d);
  for (int b = 1; b < m->nbody; b++) {
    const double *origin = d->subtree_com + 3 * m->body_rootid[b];
    const double *parent = d->xipos + 3 * m->body_parentid[b];
    tt_feedback *f = &p->feedback[b];
    double *w = p->body_wrench + 6 * b;
    move_wrench(d->cfrc_ext + 6 * b, origin, d->xipos + 3 * b, w, w + 3);
    move_wrench(d->cfrc_int + 6 * b, origin, d->xipos + 3 * b, f->force, f->torque);
    move_wrench(d->cfrc_int + 6 * b, origin, parent, f->parent_force, f->parent_torque);
    mju_scl3(f->parent_force, f->parent_force, -1);
    mju_scl3(f->parent_torque, f->parent_torque, -1);
  }
}

void physics_capture(tt_physics *p) {
  capture_contacts(p);
  if (p->fixed->want_feedback) capture_feedback(p);
}

void physics_velocity(const tt_physics *p, int body, const double at[3], double velocity[3]) {
  const double *spin = p->data->cvel + 6 * body;
  const double *moved = p->data->subtree_com + 3 * p->model->body_rootid[body];
  const double away[3] = {at[0] - moved[0], at[1] - moved[1], at[2] - moved[2]};
  velocity[0] = spin[3] - (away[1] * spin[2] - away[2] * spin[1]);
  velocity[1] = spin[4] - (away[2] * spin[0] - away[0] * spin[2]);
  velocity[2] = spin[5] - (away[0] * spin[1] - away[1] * spin[0]);
}

static void view_bodies(const tt_physics *p, tt_view *view) {
  const mjModel *m = p->model;
  const mjData *d = p->data;
  size_t n = (size_t)m->nbody;
  memcpy(view->body_position, d->xpos, 3 * sizeof(double) * n);
  memcpy(view->body_rotation, d->xquat, 4 * sizeof(double) * n);
  for (int b = 1; b < m->nbody; b++) {
    memcpy(view->body_spin[b], d->cvel + 6 * b, sizeof view->body_spin[b]);
    physics_velocity(p, b, d->xpos + 3 * b, view->body_velocity[b]);
  }
  if (!p->fixed->want_feedback) return; /* zeros, as they are */
  for (int b = 1; b < m->nbody; b++) {
    mju_copy3(view->body_force[b], p->body_wrench + 6 * b);
    mju_copy3(view->body_torque[b], p->body_wrench + 6 * b + 3);
  }
  memcpy(view->feedback, p->feedback, sizeof *p->feedback * n);
}

static void view_joints(const tt_physics *p, tt_view *view) {
  const tt_mechanism *info = &p->fixed->info;
  const mjModel *m = p->model;
  memcpy(view->joint_position, p->axis_position, sizeof(double) * (size_t)info->axis_count);
  memcpy(view->joint_velocity, p->axis_velocity, sizeof(double) * (size_t)info->axis_count);
  memcpy(view->joint_torque, p->axis_effort, sizeof(double) * (size_t)info->axis_count);
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_type[j] != mjJNT_BALL) continue;
    mju_quat2Vel(view->joint_position + info->joints[j].axis, p->data->qpos + m->jnt_qposadr[j], 1);
  }
}

void tt_physics_view(const tt_physics *p, tt_view *view) {
  view_bodies(p, view);
  view_joints(p, view);
  int capacity = view->model->contact_capacity;
  int count = p->contact_count < capacity ? p->contact_count : capacity;
  memcpy(view->contacts, p->contacts, sizeof *p->contacts * (size_t)count);
  view->contact_count = count;
  view->contacts_left_off = p->contacts_left_off + p->contact_count - count;
  for (int i = 0; i < p->fixed->info.sensor_count; i++) {
    double value = p->data->sensordata[i];
    view->channels[i] = isfinite(value) ? value : 0;
  }
}
