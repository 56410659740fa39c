/* compiler.c: starts compile-model, waits for its end, and makes sense of whatever it left. Nothing is asked of the process
 * around: SIGCHLD may be ignored, others may reap our child, other threads may fork and keep our files open. */
#include "engine/mujoco/compiler.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#define MOST_LINES 100 /* of a program that says too much */
#define LOOKS 10       /* whether it works, within our patience */

double physics_compiler_patience = 30;

static char chosen[PATH_MAX];

tt_status tt_mujoco_set_compiler(const char *program) {
  if (program && (strlen(program) >= sizeof chosen || *program != '/')) return TT_INVALID;
  strcpy(chosen, program ? program : "");
  return TT_OK;
}

const char *physics_compiler(void) {
  static _Thread_local char path[PATH_MAX];
  if (*chosen)
    strcpy(path, chosen);
  else
    tt_file_helper("compile-model", path);
  return path;
}

/* What is under way. */
typedef struct compilation {
  const char *program;
  int request, report, model; /* files without a name */
  int lines[2];               /* a pipe */
  compiler_report *shared;
  pid_t child;
  int process; /* a file that stands for the child, or −1 */
  char line[1024];
  size_t length;
  int lines_said;
  tt_bytes *said;
} compilation;

static tt_status no_room(tt_error *error) {
  return tt_fail(error, TT_FAILED, "nothing to compile models with: %s", strerror(errno));
}

/* Moves a new file up, above all that the program gets, so that none stands where it gets another; −1 with errno. */
static int raise_file(int file) {
  if (file < 0) return -1;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, COMPILER_FILES), reason = errno;
  close(file);
  errno = reason;
  return moved;
}

static tt_status prepare(compilation *c, const tt_engine_spec *spec, const char *folder, int model,
                         tt_error *error) {
  size_t size;
  void *bytes = compiler_request(spec, folder, &size);
  if (!bytes) return TT_NOMEM;
  c->request = raise_file(memfd_create("tether-request", MFD_CLOEXEC));
  bool written = c->request >= 0 && tt_file_write_all_at(c->request, bytes, size, 0);
  free(bytes);
  if (!written) return no_room(error);
  /* Its size is sealed: who made it smaller would have us read beyond its end. */
  c->report = raise_file(memfd_create("tether-report", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (c->report < 0 || ftruncate(c->report, sizeof *c->shared) != 0 ||
      fcntl(c->report, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return no_room(error);
  void *at = mmap(NULL, sizeof *c->shared, PROT_READ | PROT_WRITE, MAP_SHARED, c->report, 0);
  if (at == MAP_FAILED) return no_room(error);
  c->shared = at;
  c->model = fcntl(model, F_DUPFD_CLOEXEC, COMPILER_FILES);
  if (c->model < 0 || pipe2(c->lines, O_CLOEXEC) != 0) return no_room(error);
  c->lines[0] = raise_file(c->lines[0]);
  c->lines[1] = raise_file(c->lines[1]);
  if (c->lines[0] < 0 || c->lines[1] < 0) return no_room(error);
  return fcntl(c->lines[0], F_SETFL, O_NONBLOCK) == 0 ? TT_OK : no_room(error);
}

static void close_file(int *file) {
  if (*file >= 0) close(*file);
  *file = -1;
}

static void clean_up(compilation *c) {
  if (c->shared) munmap(c->shared, sizeof *c->shared);
  close_file(&c->request);
  close_file(&c->report);
  close_file(&c->model);
  close_file(&c->lines[0]);
  close_file(&c->lines[1]);
  close_file(&c->process);
}

/* What this process did with its signals is none of the program's; a terminal's keys are not for it. */
static int spawn(compilation *c, const posix_spawn_file_actions_t *files) {
  posix_spawnattr_t how;
  sigset_t none, all;
  /* MuJoCo writes all of a model's room several times, hundreds of megabytes: in huge pages that takes half the time. */
  char *arguments[] = {(char *)"compile-model", NULL};
  char *environment[] = {(char *)"GLIBC_TUNABLES=glibc.malloc.hugetlb=1", NULL};
  int reason = posix_spawnattr_init(&how);
  if (reason != 0) return reason;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  reason = posix_spawn(&c->child, c->program, files, &how, arguments, environment);
  posix_spawnattr_destroy(&how);
  return reason;
}

static tt_status start(compilation *c, tt_error *error) {
  posix_spawn_file_actions_t files;
  const int given[COMPILER_FILES] = {c->request, c->lines[1], c->lines[1], c->report, c->model};
  int reason = posix_spawn_file_actions_init(&files);
  if (reason == 0) {
    for (int i = 0; i < COMPILER_FILES && reason == 0; i++)
      reason = posix_spawn_file_actions_adddup2(&files, given[i], i);
    if (reason == 0) reason = posix_spawn_file_actions_addclosefrom_np(&files, COMPILER_FILES);
    if (reason == 0) reason = spawn(c, &files);
    posix_spawn_file_actions_destroy(&files);
  }
  close_file(&c->lines[1]);
  if (reason != 0)
    return tt_fail(error, TT_FAILED,
                   "%s: the program that compiles models cannot be started: %s; it is installed "
                   "with Tether, or named with tether_set_compiler()",
                   c->program, strerror(reason));
  c->process = pidfd_open(c->child, 0); /* without, the pipe's end tells */
  return TT_OK;
}

/* --- what it says, and its end --- */

void compiler_say(const char *line) {
  static const struct {
    const char *prefix;
    tt_log_level level;
  } levels[] = {
      {"error: ", TT_LOG_ERROR}, {"warning: ", TT_LOG_WARNING}, {"debug: ", TT_LOG_DEBUG}};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    size_t size = strlen(levels[i].prefix);
    if (strncmp(line, levels[i].prefix, size) != 0) continue;
    tt_log(levels[i].level, "%s", line + size);
    return;
  }
  tt_log_debug("compile-model: %s", line); /* what a library prints */
}

static void say(compilation *c) {
  c->line[c->length] = 0;
  c->length = 0;
  if (!c->line[0] || c->lines_said++ >= MOST_LINES) return;
  compiler_say(c->line);
  tt_bytes_append(c->said, c->line, strlen(c->line) + 1);
}

/* False at the pipe's end. */
static bool hear(compilation *c) {
  char bytes[4096];
  for (;;) {
    ssize_t got = read(c->lines[0], bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && errno == EAGAIN;
    for (ssize_t i = 0; i < got; i++) {
      if (bytes[i] != '\n') c->line[c->length++] = bytes[i];
      if (bytes[i] == '\n' || c->length + 1 == sizeof c->line) say(c);
    }
  }
}

/* s of a processor that the child has had so far. */
static double worked(const compilation *c) {
  clockid_t its;
  struct timespec t;
  if (clock_getcpuclockid(c->child, &its) != 0 || clock_gettime(its, &t) != 0) return 0;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Until the child is no more; false if it has not worked for as long as our patience lasts: on a busy machine it comes to its
 * work late, but it comes. How much work it may have in all is limited where it starts. */
static bool wait_for_end(compilation *c) {
  double done = 0, until = tt_monotonic_s() + physics_compiler_patience;
  for (bool speaks = true;;) {
    struct pollfd ends[] = {{.fd = speaks ? c->lines[0] : -1, .events = POLLIN},
                            {.fd = c->process, .events = POLLIN}};
    int ready = poll(ends, 2, (int)(physics_compiler_patience * 1000 / LOOKS) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      const double before = done;
      done = worked(c);
      if (done > before) until = tt_monotonic_s() + physics_compiler_patience;
      if (ready < 0 || tt_monotonic_s() > until) return false;
      continue;
    }
    const bool ended = ends[1].revents != 0;
    if (speaks) speaks = hear(c);
    if (ended || (c->process < 0 && !speaks)) return true;
  }
}

/* How it ended: the signal, 0 for none, or −1: not known, since somebody else was told. */
static int reap(const compilation *c, bool ended) {
  int how = 0;
  if (!ended && c->process >= 0) pidfd_send_signal(c->process, SIGKILL, NULL, 0);
  if (!ended && c->process < 0) kill(c->child, SIGKILL);
  const pid_t reaped = tt_process_reap(c->child, 0, &how);
  if (reaped != c->child) return -1;
  return WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}

/* The program may be in other hands by now: nothing it says is taken as it is. */
static tt_status judge(const compilation *c, bool ended, int how, tt_error *error) {
  compiler_report *told = malloc(sizeof *told);
  if (!told) return TT_NOMEM;
  *told = *c->shared;
  told->version[sizeof told->version - 1] = told->at[sizeof told->at - 1] = '\0';
  told->error.text[sizeof told->error.text - 1] = '\0';
  const char *at = told->at[0] ? told->at : c->program;
  tt_status status = TT_OK;
  int number = told->signal > 0 && told->signal < NSIG ? told->signal : how;
  if (!ended)
    status = tt_fail(error, TT_INVALID,
                     "%s: cannot be compiled: nothing has gone on for %g s, perhaps since a file "
                     "that it names is a pipe",
                     at, physics_compiler_patience);
  else if (number == SIGXCPU)
    status = tt_fail(error, TT_INVALID,
                     "%s: takes more than %d s to compile; give it fewer or simpler shapes", at,
                     COMPILER_SECONDS);
  else if (strcmp(told->version, compiler_version()) != 0)
    status = tt_fail(error, TT_FAILED,
                     "%s: is no compile-model of this version of Tether (%s), or was ended before "
                     "it began",
                     c->program, compiler_version());
  else if (number > 0 || told->done != 1)
    status = tt_fail(error, TT_INVALID,
                     "%s: broke the compiler of models (%s), as a damaged file does, or one that "
                     "needs more than %d GiB",
                     at,
                     number > 0   ? strsignal(number)
                     : number < 0 ? "nobody knows how it ended"
                                  : "it gave up",
                     TT_MAX_MODEL_GIB);
  else if (told->status != TT_OK)
    status =
        tt_fail(error,
                told->status == TT_INVALID || told->status == TT_NOMEM ? (tt_status)told->status
                                                                       : TT_FAILED,
                "%s", told->error.text);
  free(told);
  return status;
}

tt_status physics_compile_apart(const tt_engine_spec *spec, const char *folder, int model,
                                tt_bytes *said, tt_error *error) {
  compilation c = {.program = physics_compiler(),
                   .said = said,
                   .request = -1,
                   .report = -1,
                   .model = -1,
                   .lines = {-1, -1},
                   .process = -1};
  tt_status status = prepare(&c, spec, folder, model, error);
  if (status == TT_OK) status = start(&c, error);
  if (status == TT_OK) {
    bool ended = wait_for_end(&c);
    status = judge(&c, ended, reap(&c, ended), error);
  }
  clean_up(&c);
  return status;
}
