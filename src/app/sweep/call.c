#include "app/sweep/call.h"

#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The environment but for some variables; free() it. */
static char **environment_without(const char *prefix) {
  size_t count = 0, kept = 0;
  while (environ[count]) count++;
  char **left = calloc(count + 1, sizeof *left);
  for (size_t i = 0; left && i < count; i++)
    if (!prefix || strncmp(environ[i], prefix, strlen(prefix)) != 0) left[kept++] = environ[i];
  return left;
}

/* What this process did with its signals is none of the program's: a script whose pipe is closed ends by SIGPIPE. */
static int spawn(const char *const *words, char **environment, tt_call *call) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t how;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&how);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, call->out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, call->err, STDERR_FILENO);
  int failed =
      posix_spawnp(&call->process, words[0], &actions, &how, (char *const *)words, environment);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

tt_status tt_call_start(const char *const *words, const char *without, tt_call *call,
                        tt_error *error) {
  char **environment = environment_without(without);
  if (!environment) return tt_fail(error, TT_NOMEM, "out of memory");
  *call =
      (tt_call){.out = memfd_create("out", MFD_CLOEXEC), .err = memfd_create("err", MFD_CLOEXEC)};
  int failed = call->out < 0 || call->err < 0 ? errno : spawn(words, environment, call);
  free(environment);
  if (!failed) return TT_OK;
  call->process = 0;
  tt_call_end(call);
  return tt_fail(error, failed == ENOENT ? TT_NOT_FOUND : TT_FAILED, "%s: can't be started: %s",
                 words[0], strerror(failed));
}

static bool reap(tt_call *call, int options) {
  int status;
  if (!call->process) return true;
  const pid_t ended = tt_process_reap(call->process, options, &status);
  if (ended == 0) return false;
  call->process = 0;
  call->exit = ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return true;
}

bool tt_call_is_over(tt_call *call) { return reap(call, WNOHANG); }

void tt_call_wait(tt_call *call) { reap(call, 0); }

FILE *tt_call_answer(const tt_call *call) {
  int copy = fcntl(call->out, F_DUPFD_CLOEXEC, 0);
  FILE *answer = copy < 0 ? NULL : fdopen(copy, "r");
  if (!answer && copy >= 0) close(copy);
  if (answer) rewind(answer);
  return answer;
}

const char *tt_call_complaint(const tt_call *call, char *text, size_t size) {
  off_t end = lseek(call->err, 0, SEEK_END);
  off_t begin = end > (off_t)size - 1 ? end - (off_t)size + 1 : 0;
  ssize_t length = pread(call->err, text, size - 1, begin);
  text[length > 0 ? length : 0] = 0;
  for (char *c = text; *c; c++)
    if (*c == '\n') *c = c[1] ? ';' : 0;
  return text;
}

void tt_call_end(tt_call *call) {
  if (call->process) {
    kill(call->process, SIGKILL);
    reap(call, 0);
  }
  if (call->out > 0) close(call->out);
  if (call->err > 0) close(call->err);
  *call = (tt_call){.process = 0};
}
