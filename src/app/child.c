/* child.c: setpriv (util-linux) has the kernel end the child with the thread that started it. */
#include "app/child.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_EVERY_MS 100
#define END_MS 3000 /* from SIGTERM to SIGKILL */

/* `heard`: its descriptor that goes into the pipe; of output and errors the other is forgotten. */
static int spawn(char *const *words, int heard, int pipe, pid_t *process) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none); /* some of our threads let none in */
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, heard == 1 ? 2 : 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe, heard);
  int failed = posix_spawnp(process, words[0], &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

/* "setpriv … OWN WORDS…", to be freed; NULL: out of memory. */
static char **put_before(const char *const *words, bool urgent, char *own) {
  static char *const before[] = {"setpriv", "--pdeathsig", "TERM", "nice", "-n", "5"};
  size_t given = 0, count = urgent ? 3 : 6;
  while (words[given]) given++;
  char **all = calloc(count + given + 2, sizeof *all);
  if (!all) return NULL;
  memcpy(all, before, count * sizeof *all);
  all[count++] = own;
  for (size_t i = 0; i < given; i++) all[count++] = (char *)words[i];
  return all;
}

/* A less urgent one leaves the machine to a world in real time, yet somebody waits for it: where other programs keep all cores busy it
 * gets a quarter of what each of them has. */
static tt_status start(const char *const *words, bool urgent, int heard, tt_child *child,
                       tt_error *error) {
  char own[4096];
  int ends[2];
  if (!tt_file_own(own)) return tt_fail(error, TT_FAILED, "this program's file can't be told");
  if (pipe2(ends, O_CLOEXEC) != 0)
    return tt_fail(error, TT_FAILED, "can't make a pipe: %s", strerror(errno));
  *child = (tt_child){.said = ends[0]};
  char **all = put_before(words, urgent, own);
  int failed = all ? spawn(all, heard, ends[1], &child->process) : ENOMEM;
  free(all);
  close(ends[1]);
  if (!failed) return TT_OK;
  close(ends[0]);
  *child = (tt_child){0};
  return tt_fail(error, TT_FAILED, "setpriv (util-linux) can't be started: %s", strerror(failed));
}

tt_status tt_child_start(const char *const *words, tt_child *child, tt_error *error) {
  return start(words, true, 2, child, error);
}

/* Its words so far, of which the last are kept; [size]. False at their end. */
static bool hear(const tt_child *child, char *words, size_t size) {
  char piece[1024];
  struct pollfd wait = {.fd = child->said, .events = POLLIN};
  if (poll(&wait, 1, LOOK_EVERY_MS) <= 0) return true;
  ssize_t got = read(child->said, piece, sizeof piece - 1);
  if (got <= 0) return got < 0 && errno == EINTR;
  piece[got] = 0;
  size_t used = strlen(words), more = strlen(piece);
  if (used + more >= size) {
    size_t drop = used + more + 1 - size;
    memmove(words, words + drop, used - drop + 1);
    used -= drop;
  }
  memcpy(words + used, piece, more + 1);
  return true;
}

/* The last line, which says what went wrong. */
static const char *last_line(char *words) {
  size_t length = strlen(words);
  while (length && words[length - 1] == '\n') words[--length] = 0;
  char *end = strrchr(words, '\n');
  char *line = end ? end + 1 : words;
  tt_text_make_safe(line);
  return strncmp(line, "tether: ", 8) == 0 ? line + 8 : line;
}

static bool find_value(const char *words, const char *name, char *value, size_t size) {
  const char *ready = strncmp(words, "ready ", 6) == 0 ? words : strstr(words, "\nready ");
  const char *end = ready ? strchr(ready + 1, '\n') : NULL;
  const char *found = end ? strstr(ready, name) : NULL;
  if (!found || found > end) return false;
  found += strlen(name);
  snprintf(value, size, "%.*s", (int)strcspn(found, " \n"), found);
  return true;
}

static tt_status check(bool (*stop)(void *context), void *context, double end, tt_error *error) {
  if (stop(context)) return tt_fail(error, TT_CLOSED, "the program ends");
  return tt_monotonic_s() < end ? TT_OK
                                : tt_fail(error, TT_FAILED, "it took too long, and was ended");
}

tt_status tt_child_ready(tt_child *child, const char *name, double seconds,
                         bool (*stop)(void *context), void *context, char *value, size_t size,
                         tt_error *error) {
  char words[4096] = "";
  double end = tt_monotonic_s() + seconds;
  while (hear(child, words, sizeof words)) {
    if (find_value(words, name, value, size)) return TT_OK;
    TT_TRY(check(stop, context, end, error));
  }
  return tt_fail(error, TT_FAILED, "%s", last_line(words));
}

tt_status tt_child_run(const char *const *words, double seconds, bool (*stop)(void *context),
                       void *context, tt_error *error) {
  char said[4096] = "";
  tt_child child;
  int how = 0;
  double end = tt_monotonic_s() + seconds;
  TT_TRY(tt_child_start(words, &child, error));
  tt_status status = TT_OK;
  while (status == TT_OK && hear(&child, said, sizeof said))
    status = check(stop, context, end, error);
  if (status != TT_OK) {
    tt_child_end(&child);
    return status;
  }
  tt_process_reap(child.process, 0, &how);
  close(child.said);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return TT_OK;
  return tt_fail(error, TT_FAILED, "%s", *said ? last_line(said) : "it was ended");
}

/* What is there of the next lines; those that are whole are told, and leave. */
static void tell_lines(char *words, void (*told)(void *context, const char *line), void *context) {
  char *line = words, *end;
  while ((end = strchr(line, '\n'))) {
    *end = 0;
    told(context, line);
    line = end + 1;
  }
  memmove(words, line, strlen(line) + 1);
}

tt_status tt_child_listen(const char *const *words, void (*told)(void *context, const char *line),
                          bool (*stop)(void *context), void *context, tt_error *error) {
  char said[32768] = "";
  tt_child child;
  TT_TRY(start(words, false, 1, &child, error));
  while (hear(&child, said, sizeof said)) {
    tell_lines(said, told, context);
    if (!stop(context)) continue;
    tt_child_end(&child);
    return tt_fail(error, TT_CLOSED, "the program ends");
  }
  tt_process_reap(child.process, 0, NULL);
  close(child.said);
  return TT_OK;
}

bool tt_child_lives(tt_child *child) {
  char words[1024] = "";
  struct pollfd wait = {.fd = child->said, .events = POLLIN};
  while (child->process && poll(&wait, 1, 0) > 0)
    if (!hear(child, words, sizeof words)) break;
  if (!child->process || tt_process_reap(child->process, WNOHANG, NULL) == 0) return child->process;
  close(child->said);
  *child = (tt_child){0}; /* its number may be another's by now */
  return false;
}

void tt_child_end(tt_child *child) {
  if (!child->process) return;
  kill(-child->process, SIGTERM);
  int waited = 0;
  while (waited < END_MS && tt_process_reap(child->process, WNOHANG, NULL) == 0) {
    usleep(10000);
    waited += 10;
  }
  if (waited >= END_MS) {
    kill(-child->process, SIGKILL);
    tt_process_reap(child->process, 0, NULL);
  }
  close(child->said);
  *child = (tt_child){0};
}
