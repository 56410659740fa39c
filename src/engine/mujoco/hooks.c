/* hooks.c: MuJoCo's error and warning handlers.
 *
 * MuJoCo's own error handler waits for a key and exits, and its warnings go to a file beside the
 * user. Here an error while loading comes back as a status; one while stepping means that our own
 * invariants broke: it is logged, the journal is flushed and the program aborts.
 */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct guard {
  jmp_buf back;
  char text[512];
} guard;

static _Thread_local guard *current_guard;
static _Atomic(tt_mujoco_fatal_hook *) fatal_hook;
static atomic_uint warning_count;

void tt_mujoco_set_fatal_hook(tt_mujoco_fatal_hook *hook) { atomic_store(&fatal_hook, hook); }

static void on_error(const char *text) {
  if (current_guard) {
    snprintf(current_guard->text, sizeof current_guard->text, "%s", text);
    longjmp(current_guard->back, 1);
  }
  tt_log_error("physics: %s", text);
  tt_mujoco_fatal_hook *hook = atomic_load(&fatal_hook);
  if (hook) hook(text);
  abort();
}

/* A diverging world can warn thousands of times a second: the first ten are said, then the 100th,
 * 1000th and so on. */
static void on_warning(const char *text) {
  unsigned count = atomic_fetch_add(&warning_count, 1) + 1;
  unsigned power = 1;
  while (power < count && power < 1000000000u) power *= 10;
  if (count <= 10 || power == count) tt_log_warning("physics: %s (warning %u)", text, count);
}

void physics_hooks_install(void) {
  mju_user_error = on_error;
  mju_user_warning = on_warning;
}

bool physics_guard(void (*work)(void *context), void *context, char *text, size_t size) {
  guard here;
  here.text[0] = '\0';
  guard *outer = current_guard;
  current_guard = &here;
  if (setjmp(here.back) != 0) {
    current_guard = outer;
    snprintf(text, size, "%s", here.text);
    return false;
  }
  work(context);
  current_guard = outer;
  return true;
}
