#include "app/sweep/policy_host.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "scene/data.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULE "tether.sweep_policy"
#define SOCKET 3          /* in Python */
#define IMPORT_SECONDS 60 /* at least: a run's timeout is of runs */
#define STOP_MS 1000      /* in which Python ends in order */
#define END_SECONDS 30    /* in which what was killed is gone, on the busiest machine */
#define MOST_VARIABLES 4096

/* ---- what Python is given ---- */

/* The package stands beside the program: in its prefix, or in the source tree. Python itself looks where pip puts it, and into
 * /usr: what else stands there is not for any Python. */
static void find_package(char *folder, size_t size) {
  char own[PATH_MAX], beside[PATH_MAX + 64];
  snprintf(folder, size, "%s/python", TETHER_SOURCE_DIR);
  if (!tt_data_is_installed()) return;
  *folder = 0;
  if (!tt_file_own(own)) return;
  for (int i = 0; i < 2; i++) {
    char *slash = strrchr(own, '/');
    if (slash) *slash = 0;
  }
  if (strcmp(own, "/usr") == 0) return;
  snprintf(beside, sizeof beside, "%s/lib/python3/dist-packages", own);
  if (strlen(beside) < size && access(beside, R_OK) == 0) strcpy(folder, beside);
}

/* A worker is one core's: no library of numbers needs threads of its own there, and their order would be chance. */
static const char *const fixed[] = {"PYTHONHASHSEED=0", "PYTHONUNBUFFERED=1",
                                    "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1",
                                    "MKL_NUM_THREADS=1"};
#define FIXED ((int)(sizeof fixed / sizeof *fixed))

static bool is_fixed(const char *variable) {
  if (strncmp(variable, "PYTHONPATH=", 11) == 0) return true;
  for (int i = 0; i < FIXED; i++)
    if (strncmp(variable, fixed[i], strcspn(fixed[i], "=") + 1) == 0) return true;
  return false;
}

/* `path` holds the text of PYTHONPATH. */
static void make_environment(char *path, size_t size, const char **variables) {
  char folder[PATH_MAX];
  const char *more = getenv("PYTHONPATH");
  int count = 0;
  find_package(folder, sizeof folder);
  snprintf(path, size, "PYTHONPATH=%s%s%s", folder, *folder && more && *more ? ":" : "",
           more ? more : "");
  for (int i = 0; i < FIXED; i++) variables[count++] = fixed[i];
  if (path[strlen("PYTHONPATH=")]) variables[count++] = path;
  for (char **one = environ; *one && count < MOST_VARIABLES; one++)
    if (!is_fixed(*one)) variables[count++] = *one;
  variables[count] = NULL;
}

static int spawn(tt_policy_host *host, const tt_sweep_plan *plan, int control, int output) {
  static const char *variables[MOST_VARIABLES + 1];
  char path[PATH_MAX * 4], socket[16], parent[16];
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  snprintf(socket, sizeof socket, "%d", SOCKET);
  snprintf(parent, sizeof parent, "%d", (int)getpid());
  make_environment(path, sizeof path, variables);
  char *const arguments[] = {"python3", "-m", MODULE, socket, parent, (char *)plan->controller.text,
                             NULL};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addchdir_np(&files, plan->folder);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, output, 2);
  posix_spawn_file_actions_adddup2(&files, control, SOCKET);
  posix_spawn_file_actions_addclosefrom_np(&files, SOCKET + 1);
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&how, 0); /* a terminal's keys are for Tether */
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  int failed =
      posix_spawnp(&host->process, "python3", &files, &how, arguments, (char *const *)variables);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (failed) host->process = 0;
  return failed;
}

/* ---- what it says ---- */

static void hear_output(tt_policy_host *host) {
  char bytes[16384];
  ssize_t got;
  while ((got = read(host->output, bytes, sizeof bytes)) > 0)
    tt_last_words_add(&host->words, bytes, (size_t)got);
}

/* Milliseconds, rounded up, as poll() takes them. */
static int left_until(uint64_t deadline) {
  uint64_t now = tt_monotonic_ns();
  if (now >= deadline) return 0;
  uint64_t left = (deadline - now + 999999) / 1000000;
  return left < INT_MAX ? (int)left : INT_MAX;
}

/* Waits until one of the two sockets has something; false: the time is over. What is printed is kept. */
static bool wait_for(tt_policy_host *host, int other, uint64_t deadline, bool *control_is_ready,
                     bool *other_is_ready) {
  struct pollfd files[] = {
      {host->output, POLLIN, 0}, {host->control, POLLIN, 0}, {other, POLLIN, 0}};
  int ready = poll(files, 3, left_until(deadline));
  if (ready < 0) return errno == EINTR;
  if (files[0].revents) hear_output(host);
  *control_is_ready = files[1].revents != 0;
  *other_is_ready = files[2].revents != 0;
  return ready > 0;
}

/* The last line of what Python said. */
static const char *last_line(tt_policy_host *host) {
  tt_last_words_settle(&host->words);
  const char *line = host->words.text;
  for (const char *next; (next = strstr(line, " | "));) line = next + 3;
  return line;
}

static tt_status say_why(tt_policy_host *host, const tt_sweep_plan *plan, tt_error *error) {
  const char *line = last_line(host);
  return tt_fail(error, TT_FAILED, "%s.policy: python3 -m " MODULE " ended: %s%s",
                 plan->controller.where, *line ? line : "without a word",
                 strstr(line, "No module named") && strstr(line, "tether")
                     ? "; install the Python package tether (python3-tether)"
                     : "");
}

static tt_status await_import(tt_policy_host *host, const tt_sweep_plan *plan, tt_error *error) {
  double most = plan->timeout > IMPORT_SECONDS ? plan->timeout : IMPORT_SECONDS;
  uint64_t deadline = tt_monotonic_ns() + (uint64_t)(most * 1e9);
  bool said = false, unused;
  while (!said) {
    if (wait_for(host, -1, deadline, &said, &unused)) continue;
    return tt_fail(error, TT_INVALID, "%s.policy: '%s' was not imported within %g s",
                   plan->controller.where, plan->controller.text, most);
  }
  char answer[1100];
  ssize_t size = recv(host->control, answer, sizeof answer - 1, 0);
  hear_output(host);
  if (size == 1 && *answer == 'R') return TT_OK;
  if (size <= 1) { /* its output ends, once it has */
    tt_process_reap(host->process, 0, NULL);
    host->process = 0;
    hear_output(host);
    return say_why(host, plan, error);
  }
  answer[size] = 0;
  return tt_fail(error, TT_INVALID, "%s.policy: %s", plan->controller.where, answer + 1);
}

tt_status tt_policy_host_start(tt_policy_host *host, const tt_sweep_plan *plan, tt_error *error) {
  int control[2], output[2] = {-1, -1}, failed = 0;
  *host = (tt_policy_host){.control = -1, .output = -1, .run = -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
    return tt_fail(error, TT_FAILED, "no socket can be made: %s", strerror(errno));
  host->control = control[0];
  if (pipe2(output, O_CLOEXEC) != 0)
    failed = errno;
  else
    failed = spawn(host, plan, control[1], output[1]);
  close(control[1]);
  if (output[1] >= 0) close(output[1]);
  host->output = output[0];
  if (host->output >= 0) fcntl(host->output, F_SETFL, O_NONBLOCK);
  tt_status status = failed ? tt_fail(error, TT_FAILED,
                                      "%s.policy: python3 can't be started: %s; is it installed?",
                                      plan->controller.where, strerror(failed))
                            : await_import(host, plan, error);
  if (status != TT_OK) tt_policy_host_stop(host);
  return status;
}

/* Python hears it, and ends what the last run may have left behind. */
static void let_end(const tt_policy_host *host) {
  shutdown(host->control, SHUT_WR);
  for (int waited = 0; waited < STOP_MS; waited++) {
    siginfo_t about = {.si_pid = 0};
    if (waitid(P_PID, (id_t)host->process, &about, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        about.si_pid != 0)
      return;
    usleep(1000);
  }
}

void tt_policy_host_stop(tt_policy_host *host) {
  if (host->process > 0) {
    let_end(host);
    kill(-host->process, SIGKILL);
    kill(host->process, SIGKILL);
    tt_process_reap(host->process, 0, NULL);
  }
  const int files[] = {host->control, host->output, host->run};
  for (int i = 0; i < 3; i++)
    if (files[i] >= 0) close(files[i]);
  host->process = 0;
  host->control = host->output = host->run = -1;
}

/* ---- runs ---- */

static bool send_begin(const tt_policy_host *host, uint64_t seed, double memory, int run) {
  struct __attribute__((packed)) {
    char kind;
    uint64_t seed, memory;
  } begin = {'B', seed, (uint64_t)memory};
  union {
    char bytes[CMSG_SPACE(sizeof run)];
    struct cmsghdr aligned;
  } rights = {.bytes = {0}};
  struct iovec data = {&begin, sizeof begin};
  struct msghdr message = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = rights.bytes,
                           .msg_controllen = sizeof rights.bytes};
  struct cmsghdr *first = CMSG_FIRSTHDR(&message);
  first->cmsg_level = SOL_SOCKET;
  first->cmsg_type = SCM_RIGHTS;
  first->cmsg_len = CMSG_LEN(sizeof run);
  memcpy(CMSG_DATA(first), &run, sizeof run);
  return sendmsg(host->control, &message, MSG_NOSIGNAL) == (ssize_t)sizeof begin;
}

/* Until it says that the run's process is there; ends of runs before are told of late. */
static bool await_begin(tt_policy_host *host, uint64_t deadline) {
  for (;;) {
    char bytes[64];
    bool said = false, unused;
    if (!wait_for(host, -1, deadline, &said, &unused)) return false;
    if (!said) continue;
    ssize_t size = recv(host->control, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size == 1 && *bytes == 'F') return true;
    if (size <= 0) return false;
  }
}

/* False: Python is gone, or does not answer. */
static bool begin_run(tt_policy_host *host, uint64_t seed, double memory, uint64_t deadline) {
  int run[2];
  host->words = (tt_last_words){.size = 0};
  host->is_over = false;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, run) != 0) return false;
  host->run = run[0];
  bool sent = send_begin(host, seed, memory, run[1]);
  close(run[1]);
  return sent && await_begin(host, deadline);
}

tt_status tt_policy_host_begin(tt_policy_host *host, const tt_sweep_plan *plan, uint64_t seed,
                               double memory, tt_error *error) {
  uint64_t deadline = tt_monotonic_ns() + IMPORT_SECONDS * 1000000000ull;
  for (int attempt = 0; attempt < 2; attempt++) {
    if (host->process == 0) TT_TRY(tt_policy_host_start(host, plan, error));
    if (begin_run(host, seed, memory, deadline)) return TT_OK;
    tt_policy_host_stop(host); /* somebody has ended it */
  }
  return tt_fail(error, TT_FAILED, "%s.policy: Python makes no process for the run",
                 plan->controller.where);
}

bool tt_policy_host_send(const tt_policy_host *host, const void *bytes, size_t size) {
  return send(host->run, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static tt_status say_end(tt_policy_host *host, tt_error *error) {
  uint64_t deadline = tt_monotonic_ns() + END_SECONDS * 1000000000ull;
  char bytes[64];
  bool said = false, unused;
  int64_t status = 0;
  while (!said && wait_for(host, -1, deadline, &said, &unused)) {
  }
  ssize_t size = said ? recv(host->control, bytes, sizeof bytes, MSG_DONTWAIT) : 0;
  hear_output(host);
  host->is_over = true;
  if (size != 1 + sizeof status || *bytes != 'X')
    return tt_fail(error, TT_CLOSED, "the policy's process is gone, and Python with it");
  memcpy(&status, bytes + 1, sizeof status);
  if (status < 0)
    return tt_fail(error, TT_CLOSED, "the policy's process was killed by signal %d (%s)",
                   (int)-status, strsignal((int)-status));
  return tt_fail(error, TT_CLOSED, "the policy's process ended with status %d", (int)status);
}

tt_status tt_policy_host_receive(tt_policy_host *host, uint64_t deadline, double most, void *bytes,
                                 size_t *size, tt_error *error) {
  size_t room = *size;
  for (;;) {
    bool control = false, run = false;
    if (!wait_for(host, host->run, deadline, &control, &run)) return TT_AGAIN;
    if (host->words.printed > most) return TT_FULL;
    if (run) {
      ssize_t got = recv(host->run, bytes, room, MSG_TRUNC);
      if (got <= 0) return say_end(host, error);
      *size = (size_t)got;
      return TT_OK;
    }
    if (control) return say_end(host, error);
  }
}

void tt_policy_host_end(tt_policy_host *host, bool kills) {
  if (host->run >= 0) close(host->run);
  host->run = -1;
  if (kills && !host->is_over && host->process > 0 &&
      send(host->control, "K", 1, MSG_NOSIGNAL) == 1) {
    tt_error unused;
    say_end(host, &unused);
  }
  if (host->output >= 0) hear_output(host);
  tt_last_words_settle(&host->words);
}
