/* state.c: save, restore, hash and reset. One list of what a state is serves all of them.
 *
 * The first part decides the future. The second only shows the past (sensors of acceleration,
 * contacts, forces): a restored world shows them as they were, since a controller may use them, but
 * the hash covers the first part alone.
 */
#include "base/hash.h"
#include "engine/mujoco/physics_internal.h"

#include <string.h>

typedef enum visit_kind {
  VISIT_SIZE,
  VISIT_SAVE,
  VISIT_CHECK,
  VISIT_RESTORE,
  VISIT_HASH
} visit_kind;

typedef struct visitor {
  visit_kind kind;
  unsigned char *bytes;
  size_t size;
  uint64_t hash;
  bool bad; /* VISIT_CHECK: there is an index that this model has not */
} visitor;

static void visit(visitor *v, void *data, size_t size) {
  switch (v->kind) {
    case VISIT_SIZE:
    case VISIT_CHECK: break;
    case VISIT_SAVE: memcpy(v->bytes + v->size, data, size); break;
    case VISIT_RESTORE: memcpy(data, v->bytes + v->size, size); break;
    case VISIT_HASH: v->hash = tt_hash_bytes(v->hash, data, size); break;
  }
  v->size += size;
}

/* What serves as an index; gives it. States are kept in files, where anything may stand. */
static int32_t visit_index(visitor *v, int32_t *index, int32_t most) {
  int32_t value = *index;
  if (v->kind == VISIT_CHECK) {
    memcpy(&value, v->bytes + v->size, sizeof value);
    if (value < 0 || value > most) v->bad = true, value = 0;
  }
  visit(v, index, sizeof *index);
  return value;
}

static void visit_doubles(visitor *v, double *data, int count) {
  visit(v, data, sizeof(double) * (size_t)count);
}

static void check_parked(visitor *v, const tt_physics *p) {
  for (size_t i = 0; i < (size_t)p->fixed->piece_count; i++) {
    int32_t parked;
    memcpy(&parked, v->bytes + v->size + sizeof parked * i, sizeof parked);
    v->bad |= parked != 0 && parked != 1;
  }
}

static void visit_deciding(visitor *v, tt_physics *p) {
  mjModel *m = p->model;
  mjData *d = p->data;
  visit(v, &p->step, sizeof p->step);
  visit_doubles(v, p->qpos, m->nq);
  visit_doubles(v, d->qvel, m->nv);
  visit_doubles(v, d->act, m->na);
  visit_doubles(v, d->qacc_warmstart, m->nv);
  visit_doubles(v, d->mocap_pos, 3 * m->nmocap);
  visit_doubles(v, d->mocap_quat, 4 * m->nmocap);
  for (int i = 0; i < p->fixed->info.robot_count; i++) {
    int root = p->fixed->info.robots[i].root_body;
    visit_doubles(v, m->body_pos + 3 * root, 3);
    visit_doubles(v, m->body_quat + 4 * root, 4);
  }
  for (int i = 0; i < p->fixed->info.gripper_count; i++) {
    int equality = p->fixed->grippers[i].equality;
    const int32_t held = visit_index(v, &p->held[i], m->nbody - 1);
    v->bad |= held && p->fixed->body_piece[held] < 0;
    visit(v, &m->eq_active[equality], sizeof m->eq_active[equality]);
    visit_index(v, &m->eq_obj2id[equality], m->nbody - 1);
    visit_doubles(v, m->eq_data + mjNEQDATA * equality, mjNEQDATA);
  }
  if (v->kind == VISIT_CHECK) check_parked(v, p);
  visit(v, p->parked, sizeof *p->parked * (size_t)p->fixed->piece_count); /* hashed as one */
  visit(v, p->rest, sizeof *p->rest * (size_t)p->fixed->piece_count);
}

static void check_contacts(visitor *v, const tt_physics *p, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    tt_contact contact;
    memcpy(&contact, v->bytes + v->size + sizeof contact * (size_t)i, sizeof contact);
    v->bad |= contact.body1 < 0 || contact.body1 >= p->model->nbody || contact.body2 < 0 ||
              contact.body2 >= p->model->nbody;
  }
}

static void visit_shown(visitor *v, tt_physics *p) {
  const mjModel *m = p->model;
  visit_doubles(v, p->data->sensordata, m->nsensordata);
  visit_doubles(v, p->axis_torque, p->fixed->info.axis_count);
  visit_doubles(v, p->axis_effort, p->fixed->info.axis_count);
  visit_doubles(v, p->place, m->nq);
  const int32_t count = visit_index(v, &p->contact_count, p->fixed->contact_capacity);
  visit_index(v, &p->contacts_left_off, INT32_MAX);
  if (v->kind == VISIT_CHECK) check_contacts(v, p, count);
  visit(v, p->contacts, sizeof *p->contacts * (size_t)p->fixed->contact_capacity);
}

/* The last of a state. Of one scene some simulations want it, and others don't. */
static void visit_feedback(visitor *v, tt_physics *p) {
  visit_doubles(v, p->body_wrench, 6 * p->model->nbody);
  visit(v, p->feedback, sizeof *p->feedback * (size_t)p->model->nbody);
}

/* The model's hash stands first, so that a state of another model is refused. */
static void visit_all(visitor *v, tt_physics *p, bool feedback) {
  uint64_t model_hash = p->fixed->info.model_hash;
  visit(v, &model_hash, sizeof model_hash);
  visit_deciding(v, p);
  visit_shown(v, p);
  if (feedback) visit_feedback(v, p);
}

size_t tt_physics_state_size(const tt_physics *p, bool feedback) {
  visitor v = {.kind = VISIT_SIZE};
  visit_all(&v, (tt_physics *)p, feedback);
  return v.size;
}

bool tt_physics_feeds_back(const tt_physics *p) { return p->fixed->want_feedback; }

void tt_physics_save(const tt_physics *p, void *state) {
  visitor v = {.kind = VISIT_SAVE, .bytes = state};
  visit_all(&v, (tt_physics *)p, p->fixed->want_feedback);
}

uint64_t tt_physics_hash(const tt_physics *p) {
  visitor v = {.kind = VISIT_HASH, .hash = TT_HASH_START};
  visit_deciding(&v, (tt_physics *)p);
  return v.hash;
}

/* What a simulation wants and the state has not is as after a reset; what only the state has is left out. */
tt_status tt_physics_restore(tt_physics *p, const void *state, size_t size) {
  uint64_t model_hash = 0;
  const bool has_feedback = size == tt_physics_state_size(p, true);
  const bool feedback = has_feedback && p->fixed->want_feedback;
  if (!has_feedback && size != tt_physics_state_size(p, false)) return TT_INVALID;
  memcpy(&model_hash, state, sizeof model_hash);
  if (model_hash != p->fixed->info.model_hash) return TT_INVALID;
  visitor check = {.kind = VISIT_CHECK, .bytes = (unsigned char *)state};
  visit_all(&check, p, feedback);
  if (check.bad) return TT_INVALID;
  physics_reset_data(p);
  physics_capture_clear(p);
  visitor v = {.kind = VISIT_RESTORE, .bytes = (unsigned char *)state};
  visit_all(&v, p, feedback);
  for (int i = 0; i < p->fixed->piece_count; i++) physics_park_masks(p, i);
  physics_refresh(p);
  /* Refreshing computed the sensors of position and velocity again; those of acceleration belong to
   * the step that led here. */
  visitor again = {.kind = VISIT_RESTORE, .bytes = (unsigned char *)state};
  visit_all(&again, p, feedback);
  return TT_OK;
}

static void place_root(tt_physics *p, int robot) {
  int root = p->fixed->info.robots[robot].root_body;
  memcpy(p->model->body_pos + 3 * root, p->fixed->initial_root[robot], 3 * sizeof(double));
  memcpy(p->model->body_quat + 4 * root, p->fixed->initial_root[robot] + 3, 4 * sizeof(double));
}

void tt_physics_reset(tt_physics *p) {
  for (int i = 0; i < p->fixed->info.gripper_count; i++) physics_let_go(p, i);
  for (int i = 0; i < p->fixed->info.robot_count; i++) place_root(p, i);
  for (int i = 0; i < p->fixed->piece_count; i++) {
    p->parked[i] = p->rest[i] = 0;
    physics_park_masks(p, i);
  }
  physics_reset_data(p);
  p->step = 0;
  mju_copy(p->qpos, p->fixed->initial_qpos, p->model->nq);
  mju_copy(p->place, p->fixed->initial_qpos, p->model->nq);
  mju_zero(p->axis_torque, p->fixed->info.axis_count);
  mju_zero(p->axis_effort, p->fixed->info.axis_count);
  physics_capture_clear(p);
  physics_refresh(p);
}

static int coordinates_of(int joint_type) {
  if (joint_type == mjJNT_FREE) return 7;
  return joint_type == mjJNT_BALL ? 4 : 1;
}

static int dofs_of(int joint_type) {
  if (joint_type == mjJNT_FREE) return 6;
  return joint_type == mjJNT_BALL ? 3 : 1;
}

static void reset_activations(tt_physics *p, int robot) {
  const mjModel *m = p->model;
  int stateless = m->nu - m->na;
  for (int i = stateless; i < m->nu; i++) {
    if (p->fixed->info.actuators[i].robot == robot) p->data->act[i - stateless] = 0;
  }
}

void tt_physics_reset_robot(tt_physics *p, int robot) {
  const mjModel *m = p->model;
  mjData *d = p->data;
  const physics_fixed *f = p->fixed;
  for (int i = 0; i < f->info.gripper_count; i++) {
    if (f->info.grippers[i].robot == robot) physics_let_go(p, i);
  }
  place_root(p, robot);
  for (int j = 0; j < m->njnt; j++) {
    if (f->body_robot[m->jnt_bodyid[j]] != robot) continue;
    int q = m->jnt_qposadr[j], v = m->jnt_dofadr[j];
    int nq = coordinates_of(m->jnt_type[j]), nv = dofs_of(m->jnt_type[j]);
    mju_copy(p->qpos + q, f->initial_qpos + q, nq);
    mju_copy(p->place + q, f->initial_qpos + q, nq);
    mju_zero(d->qvel + v, nv);
    mju_zero(d->qacc_warmstart + v, nv);
    mju_zero(d->qfrc_applied + v, nv);
  }
  for (int i = 0; i < f->info.axis_count; i++) {
    if (f->body_robot[m->jnt_bodyid[f->info.axis_joint[i]]] != robot) continue;
    p->axis_torque[i] = p->axis_effort[i] = 0;
  }
  /* What stood on it stands on nothing. */
  for (int i = 0; i < f->piece_count; i++)
    if (!p->parked[i]) p->rest[i] = 0;
  reset_activations(p, robot);
  physics_refresh(p);
}
