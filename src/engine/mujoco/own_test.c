/* What simulations share is written by none of them; what a reset leaves, and what it gives back. */
#include "base/hash.h"
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/physics_testing.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whole pages of the shared model; what lies beside them is watched by its hash. */
static void protect(const mjModel *shared, int how) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t first = ((size_t)shared->buffer + page - 1) / page * page,
               end = ((size_t)shared->buffer + (size_t)shared->nbuffer) / page * page;
  assert_true(end > first);
  assert_int_equal(mprotect((void *)first, end - first, how), 0);
}

static uint64_t hash_of(const mjModel *shared) {
  return tt_hash_bytes(TT_HASH_START, shared->buffer, (size_t)shared->nbuffer);
}

static void put_ball(tt_physics *p) {
  const double pose[7] = {0.97, 0.08, 0.35, 1, 0, 0, 0};
  tt_physics_place_body(p, body_named(p, "ball"), pose);
  tt_physics_place_done(p, 0);
}

/* Everything that changes a model: servos among contacts, grips, parking, culling, placing, resets, states. */
static void do_everything(tt_physics *p) {
  void *state = malloc(tt_physics_state_size(p, false));
  inputs in = {0};
  in.drives[axis_named(p, "a/arm")] = (tt_drive){TT_DRIVE_VELOCITY, 0, -0.3, 100};
  put_ball(p);
  assert_int_equal(tt_physics_grip(p, 0, 4), body_named(p, "ball"));
  step(p, &in, 500);
  bool rows = false;
  for (int i = 0; i < 500; i++) {
    step(p, &in, 1);
    rows = rows || physics_servos_are_rows(p);
  }
  assert_true(rows);
  tt_physics_save(p, state);
  step(p, &(inputs){0}, 2000);
  int parked = 0;
  for (int i = 0; i < p->fixed->piece_count; i++) parked += p->parked[i];
  assert_true(parked > 0);
  tt_physics_place_robot(p, 1, 0.5, 1.5, 0.1);
  tt_physics_place_done(p, 0.01);
  tt_physics_reset_robot(p, 0);
  assert_int_equal(tt_physics_restore(p, state, tt_physics_state_size(p, false)), TT_OK);
  step(p, &in, 10);
  tt_physics_release(p, 0);
  tt_physics_reset(p);
  step(p, &in, 10);
  free(state);
}

static void what_is_shared_is_written_by_nobody(void **state) {
  (void)state;
  tt_physics *p = load_field(2, true, 1000);
  const mjModel *shared = p->fixed->model;
  const uint64_t before = hash_of(shared);
  protect(shared, PROT_READ);
  tt_physics *clone = tt_physics_clone(p);
  assert_non_null(clone);
  assert_ptr_equal(clone->model->mesh_vert, p->model->mesh_vert);
  do_everything(p);
  do_everything(clone);
  assert_true(tt_physics_hash(p) == tt_physics_hash(clone));
  tt_physics_free(p);
  step(clone, &(inputs){0}, 10);
  assert_true(hash_of(clone->fixed->model) == before);
  protect(shared, PROT_READ | PROT_WRITE);
  tt_physics_free(clone);
}

static void a_reset_leaves_what_mujocos_own_leaves(void **state) {
  (void)state;
  tt_physics *p = load_field(2, true, 1000);
  step(p, &(inputs){0}, 200);
  mjData *fresh = mj_makeData(p->model);
  assert_memory_not_equal(p->data->buffer, fresh->buffer, (size_t)fresh->nbuffer);
  physics_reset_data(p);
  assert_int_equal(p->data->nbuffer, fresh->nbuffer);
  assert_memory_equal(p->data->buffer, fresh->buffer, (size_t)fresh->nbuffer);
  assert_memory_equal(p->data, fresh, offsetof(mjData, buffer));
  assert_ptr_equal(p->data->qpos, p->data->buffer);
  mj_deleteData(fresh);
  tt_physics_free(p);
}

/* Bytes of the data's buffer that are in memory. */
static size_t resident(const tt_physics *p) {
  static unsigned char in[1 << 20];
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t pages = ((size_t)p->data->nbuffer + page - 1) / page;
  size_t count = 0;
  assert_true(pages < sizeof in && mincore(p->data->buffer, (size_t)p->data->nbuffer, in) == 0);
  for (size_t i = 0; i < pages; i++) count += in[i] & 1u;
  return count * page;
}

static void only_what_is_touched_takes_memory(void **state) {
  (void)state;
  tt_physics *p = load_field(2, true, 1000);
  const size_t whole = (size_t)p->data->nbuffer;
  void *saved = malloc(tt_physics_state_size(p, false));
  assert_true(resident(p) < whole / 4);
  do_everything(p);
  assert_true(resident(p) < whole / 4);
  memset(p->data->efc_AR, 1, sizeof(mjtNum) * (size_t)p->model->njmax * (size_t)p->model->njmax);
  assert_true(resident(p) > whole / 2);
  tt_physics_save(p, saved);
  tt_physics_restore(p, saved, tt_physics_state_size(p, false));
  assert_true(resident(p) < whole / 4);
  free(saved);
  tt_physics_free(p);
}

static void a_clone_without_memory_is_none(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
  skip(); /* sanitizers take more address space than any limit leaves */
#endif
  tt_physics *p = load_field(2, true, 1000);
  pid_t child = fork();
  if (child == 0) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_AS, &none);
    _exit(tt_physics_clone(p) ? 1 : 0);
  }
  int how = 0;
  waitpid(child, &how, 0);
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  tt_physics_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_shared_is_written_by_nobody),
      cmocka_unit_test(a_reset_leaves_what_mujocos_own_leaves),
      cmocka_unit_test(only_what_is_touched_takes_memory),
      cmocka_unit_test(a_clone_without_memory_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
