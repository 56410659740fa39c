/* hooks.c: MuJoCo's error and warning handlers.
 *
 * MuJoCo's own error handler prints, waits for a key and exits, and its warnings go to a file beside the user. Both handlers
 * are of the process, and neither may return into MuJoCo as if nothing had been: so ours are put in once, and an error is
 * left by a jump to the call of ours that this thread is in. Where it is in none, MuJoCo was called by somebody else in this
 * process, and what was there before us answers.
 */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static _Thread_local physics_jump *current;
static void (*error_before)(const char *), (*warning_before)(const char *);
static atomic_uint warning_count;

static void on_error(const char *text) {
  if (current) {
    current->failed = true;
    snprintf(current->text, sizeof current->text, "%s", text);
    longjmp(current->back, 1);
  }
  if (error_before) {
    error_before(text);
    return;
  }
  mju_user_error = NULL; /* MuJoCo's own end, since the process comes to it */
  mju_error_s("%s", text);
}

/* What to do about a warning; "": nothing that is known. */
static const char *remedy(const char *text) {
  bool full = strstr(text, "nconmax") || strstr(text, "njmax");
  return full ? " Until there is room, contacts are left out, and things sink into each other: "
                "write "
                "<size nconmax=\"…\" njmax=\"…\"/> into the model of the arena or a robot."
              : "";
}

/* A diverging world can warn thousands of times a second: the first ten are said, then the 100th,
 * 1000th and so on. */
static void say_warning(const char *text) {
  unsigned count = atomic_fetch_add(&warning_count, 1) + 1;
  unsigned power = 1;
  while (power < count && power < 1000000000u) power *= 10;
  if (count <= 10 || power == count)
    tt_log_warning("physics: %s%s (warning %u)", text, remedy(text), count);
}

static void on_warning(const char *text) {
  if (!current && warning_before)
    warning_before(text);
  else
    say_warning(text);
}

static void install(void) {
  error_before = mju_user_error;
  warning_before = mju_user_warning;
  mju_user_error = on_error;
  mju_user_warning = on_warning;
}

void physics_hooks_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}

void physics_jump_open(physics_jump *jump) {
  jump->failed = false;
  jump->text[0] = '\0';
  jump->outer = current;
  current = jump;
}

void physics_jump_close(physics_jump *jump) { current = jump->outer; }

bool physics_guard(void (*work)(void *context), void *context, char *text, size_t size) {
  physics_jump here;
  physics_jump_open(&here);
  if (setjmp(here.back) == 0) work(context);
  physics_jump_close(&here);
  if (here.failed) snprintf(text, size, "%s", here.text);
  return !here.failed;
}

/* MuJoCo that finds no memory can't give back what it has taken until there: so all of it is asked for before. */
typedef struct probe {
  size_t sizes[3];
  void *got[3];
} probe;

static void ask(void *context) {
  probe *p = context;
  for (int i = 0; i < 3; i++) p->got[i] = mju_malloc(p->sizes[i]);
}

bool physics_is_there(size_t first, size_t second, size_t third) {
  probe p = {.sizes = {first, second, third}};
  char fatal[512];
  bool all = physics_guard(ask, &p, fatal, sizeof fatal);
  for (int i = 0; i < 3; i++)
    if (p.got[i]) mju_free(p.got[i]);
  return all;
}
