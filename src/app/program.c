#include "app/program.h"

#include "app/last_words.h"
#include "app/run_program.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ASKED_EVERY_NS 1000000 /* whether it has ended by itself */

struct tt_program {
  tt_program_options options;
  pid_t keeper; /* run-program */
  int socket;   /* to it */
  int output;   /* a pipe's end, or −1 */
  pthread_t watcher;
  atomic_bool gone;        /* the watcher has seen the end of everything */
  atomic_bool told_to_end; /* by us: then its end is no news */
  atomic_int state;
  int number;          /* written before `state` */
  tt_last_words words; /* settled after tt_program_stop() */
};

/* --- the watcher's thread --- */

/* The first that is known of its end is what it came to. */
static void settle(tt_program *program, tt_program_state state, int number) {
  if (atomic_load(&program->state) != TT_PROGRAM_RUNS) return;
  program->number = number;
  atomic_store(&program->state, state);
  if (program->options.ended && !atomic_load(&program->told_to_end))
    program->options.ended(program->options.context, (tt_program_end){state, number});
}

static void have_killed(tt_program *program, tt_program_state state) {
  settle(program, state, 0);
  shutdown(program->socket, SHUT_WR);
}

/* False at its end. */
static bool hear(tt_program *program) {
  char bytes[16384];
  ssize_t got = read(program->output, bytes, sizeof bytes);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  tt_last_words_add(&program->words, bytes, (size_t)got);
  if (program->options.output > 0 && program->words.printed > program->options.output)
    have_killed(program, TT_PROGRAM_TOO_LOUD);
  return got > 0;
}

static const tt_program_state states[] = {[RUN_PROGRAM_EXITED] = TT_PROGRAM_EXITED,
                                          [RUN_PROGRAM_KILLED] = TT_PROGRAM_KILLED,
                                          [RUN_PROGRAM_MEMORY] = TT_PROGRAM_TOO_LARGE,
                                          [RUN_PROGRAM_PROCESSES] = TT_PROGRAM_TOO_MANY,
                                          [RUN_PROGRAM_FAILED] = TT_PROGRAM_LOST};

/* What run-program says last; it may have been killed. */
static void take_report(tt_program *program) {
  run_program_report report;
  ssize_t got = recv(program->socket, &report, sizeof report, MSG_WAITALL);
  bool known = got == sizeof report && report.end >= 0 &&
               report.end < (int32_t)(sizeof states / sizeof *states);
  if (known)
    settle(program, states[report.end], report.number);
  else
    settle(program, TT_PROGRAM_LOST, 0);
}

static void *watch(void *context) {
  tt_program *program = context;
  const double until =
      program->options.patience > 0 ? tt_monotonic_s() + program->options.patience : 0;
  for (bool ended = false; !ended;) {
    struct pollfd ends[] = {{.fd = program->socket, .events = POLLIN},
                            {.fd = program->output, .events = POLLIN}};
    bool hurried = until > 0 && atomic_load(&program->state) == TT_PROGRAM_RUNS;
    double left = until - tt_monotonic_s();
    int wait = !hurried ? -1 : left <= 0 ? 0 : left > 1e5 ? (int)1e8 : (int)(left * 1e3) + 1;
    int ready = poll(ends, 2, wait);
    if (ready < 0 && errno != EINTR) break;
    if (ready == 0 && hurried && tt_monotonic_s() >= until)
      have_killed(program, TT_PROGRAM_OUT_OF_TIME);
    if (ready <= 0) continue;
    if (ends[1].revents && !hear(program)) {
      close(program->output);
      program->output = -1;
    }
    ended = ends[0].revents != 0;
  }
  if (program->output >= 0) fcntl(program->output, F_SETFL, O_NONBLOCK);
  errno = 0;
  while (program->output >= 0 && hear(program) && errno != EAGAIN) errno = 0;
  take_report(program);
  atomic_store(&program->gone, true);
  return NULL;
}

/* --- start --- */

static void close_file(int *file) {
  if (*file >= 0) close(*file);
  *file = -1;
}

/* Its own variables stand before ours, of which it may have some by inheritance. */
static const char **merge(const char *const *own) {
  size_t inherited = 0, added = 0;
  while (environ[inherited]) inherited++;
  while (own && own[added]) added++;
  const char **all = calloc(inherited + added + 1, sizeof *all);
  if (!all) return NULL;
  size_t count = 0;
  for (size_t i = 0; i < added; i++) all[count++] = own[i];
  for (size_t i = 0; i < inherited; i++) {
    size_t name = strcspn(environ[i], "=");
    bool replaced = false;
    for (size_t k = 0; k < added && !replaced; k++)
      replaced = !strncmp(own[k], environ[i], name + 1);
    if (!replaced) all[count++] = environ[i];
  }
  return all;
}

static int spawn(tt_program *program, int socket, int output, const char *helper) {
  const tt_program_options *options = &program->options;
  char memory[40], processes[20];
  snprintf(memory, sizeof memory, "%.0f", options->memory);
  snprintf(processes, sizeof processes, "%d", options->processes);
  char *const arguments[] = {(char *)"run-program", memory, processes, (char *)options->command,
                             NULL};
  const char **environment = merge(options->environment);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  sigset_t none, all;
  if (!environment) return ENOMEM;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  sigemptyset(&none);
  sigfillset(&all);
  if (output >= 0) {
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, 1);
    posix_spawn_file_actions_adddup2(&files, output, 2);
  }
  posix_spawn_file_actions_adddup2(&files, socket, RUN_PROGRAM_SOCKET);
  posix_spawn_file_actions_addclosefrom_np(&files, RUN_PROGRAM_SOCKET + 1);
  if (options->folder) posix_spawn_file_actions_addchdir_np(&files, options->folder);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  int reason =
      posix_spawn(&program->keeper, helper, &files, &how, arguments, (char *const *)environment);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  free(environment);
  return reason;
}

/* A new file, above all that the program gets. */
static int raise_file(int file) {
  int moved = fcntl(file, F_DUPFD_CLOEXEC, RUN_PROGRAM_SOCKET + 1);
  close(file);
  return moved;
}

static bool open_files(tt_program *program, int *socket, int *output) {
  int both[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0) return false;
  program->socket = both[0];
  *socket = raise_file(both[1]);
  if (!program->options.is_heard) return *socket >= 0;
  if (pipe2(both, O_CLOEXEC) != 0) return false;
  program->output = both[0];
  *output = raise_file(both[1]);
  return *socket >= 0 && *output >= 0;
}

static void reap(const tt_program *program) { tt_process_reap(program->keeper, 0, NULL); }

static tt_status start(tt_program *program, tt_error *error) {
  char helper[PATH_MAX];
  int socket = -1, output = -1;
  int reason = !tt_file_helper("run-program", helper)   ? ENOENT
               : !open_files(program, &socket, &output) ? errno
                                                        : spawn(program, socket, output, helper);
  close_file(&socket);
  close_file(&output);
  if (reason == ENOENT)
    return tt_fail(error, TT_FAILED,
                   "%s: what looks after programs can't be started: it is installed with Tether, "
                   "in libexec/tether",
                   helper);
  if (reason != 0)
    return tt_fail(error, TT_FAILED, "%s: can't be started: %s", program->options.command,
                   strerror(reason));
  if (pthread_create(&program->watcher, NULL, watch, program) == 0) return TT_OK;
  shutdown(program->socket, SHUT_WR);
  reap(program);
  return tt_fail(error, TT_FAILED, "can't start a thread");
}

tt_status tt_program_start(const tt_program_options *options, tt_program **program,
                           tt_error *error) {
  tt_program *new = calloc(1, sizeof *new);
  if (!new) return tt_fail(error, TT_NOMEM, "out of memory");
  new->options = *options;
  new->socket = new->output = -1;
  tt_status status = start(new, error);
  new->options.command = new->options.folder = NULL;
  new->options.environment = NULL;
  if (status == TT_OK)
    *program = new;
  else
    tt_program_free(new);
  return status;
}

/* --- its end --- */

tt_program_end tt_program_state_of(const tt_program *program) {
  tt_program_state state = (tt_program_state)atomic_load(&program->state);
  return (tt_program_end){state, state == TT_PROGRAM_RUNS ? 0 : program->number};
}

void tt_program_stop(tt_program *program, double grace) {
  if (!program || !program->keeper) return;
  for (double until = tt_monotonic_s() + grace;
       !atomic_load(&program->gone) && tt_monotonic_s() < until;)
    nanosleep(&(struct timespec){.tv_nsec = ASKED_EVERY_NS}, NULL);
  atomic_store(&program->told_to_end, true);
  send(program->socket, "", 1, MSG_NOSIGNAL);
  pthread_join(program->watcher, NULL);
  reap(program);
  program->keeper = 0;
  tt_last_words_settle(&program->words);
}

const char *tt_program_words(const tt_program *program) { return program->words.text; }

void tt_program_free(tt_program *program) {
  if (!program) return;
  close_file(&program->socket);
  close_file(&program->output);
  free(program);
}

/* --- what it is told --- */

const char *tt_program_variable(const char *name, const char *suffix,
                                char variable[TT_PROGRAM_VARIABLE]) {
  snprintf(variable, TT_PROGRAM_VARIABLE, "TETHER_%s%s", name, suffix);
  for (char *c = variable; *c; c++)
    *c = (char)(isalnum((unsigned char)*c) ? toupper((unsigned char)*c) : '_');
  return variable;
}

bool tt_program_environment_add(char **environment, const char *variable, const char *value) {
  while (*environment) environment++;
  if (asprintf(environment, "%s=%s", variable, value) >= 0) return true;
  *environment = NULL;
  return false;
}

char **tt_program_environment(const tt_world *world, int more) {
  int wires = tt_world_wire_count(world);
  char **environment = calloc((size_t)(wires + more) + 1, sizeof *environment);
  for (int i = 0; i < wires && environment; i++) {
    const tt_wire *wire = tt_world_wire_at(world, i);
    char variable[TT_PROGRAM_VARIABLE];
    if (tt_program_environment_add(environment, tt_program_variable(wire->name, "", variable),
                                   wire->ops->address(wire)))
      continue;
    tt_program_environment_free(environment);
    return NULL;
  }
  return environment;
}

void tt_program_environment_free(char **environment) {
  for (char **entry = environment; entry && *entry; entry++) free(*entry);
  free(environment);
}
