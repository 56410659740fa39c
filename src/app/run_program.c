/* run_program.c: the program run-program, in whose care a user's program runs: it finds all processes that come of it, and leaves none.
 *
 * Who loses its parent becomes a child of run-program (PR_SET_CHILD_SUBREAPER), whatever session or group it is in. So what came of the
 * program is the tree of processes below run-program, and the program is over when that tree is empty, or its first process failed.
 * run-program is small, so that starting it costs little, and no thread, signal or memory of Tether's own is in the way.
 */
#include "app/run_program.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_EVERY_MS 20 /* at memory and the number of processes */
#define AGAIN_MS 1       /* while being killed */
#define PATIENCE 0.2     /* s from SIGTERM to SIGKILL: a sweep has thousands of them */
#define GIVE_UP 10.0     /* s of killing */
#define MOST_FOUND 4096  /* processes looked at in one go */
/* What one process can have before a look at all of them notices: it is told then that there is no more. */
#define MOST_AT_ONCE 4
/* Further tasks (threads are some) that a user who isn't root may have once the program runs: a hard bound on what no look is quick
 * enough for. */
#define MOST_TASKS 2000

/* Who is looked after. */
typedef struct program {
  const char *command;
  double memory;
  int processes;
  pid_t first; /* process, leader of a session */
  int socket, signals;
  bool first_ended, told_to_end;
  double kill_at; /* s, monotonic; 0: not told to end yet */
  run_program_report report;
} program;

/* --- the tree below a process --- */

typedef struct tree {
  pid_t found[MOST_FOUND];
  int count;
} tree;

static void add_children(tree *t, const char *path) {
  FILE *file = fopen(path, "re");
  int child;
  while (file && t->count < MOST_FOUND && fscanf(file, "%d", &child) == 1)
    t->found[t->count++] = child;
  if (file) fclose(file);
}

/* The kernel keeps children by the thread that made them. */
static void add_children_of(tree *t, pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *threads = opendir(path);
  if (!threads) return;
  for (struct dirent *entry; (entry = readdir(threads));) {
    if (entry->d_name[0] == '.') continue;
    char children[sizeof path + sizeof entry->d_name + 16];
    snprintf(children, sizeof children, "%s/%s/children", path, entry->d_name);
    add_children(t, children);
  }
  closedir(threads);
}

/* Looks no further once there are more than `enough`; 0: all. */
static void find(tree *t, int enough) {
  t->count = 0;
  add_children_of(t, getpid());
  for (int i = 0; i < t->count && (enough == 0 || t->count <= enough); i++)
    add_children_of(t, t->found[i]);
}

/* Bytes that are a process' own. */
static double memory_of(pid_t process) {
  char path[64];
  unsigned long all, resident = 0, shared = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
  FILE *file = fopen(path, "re");
  if (file && fscanf(file, "%lu %lu %lu", &all, &resident, &shared) != 3) resident = shared = 0;
  if (file) fclose(file);
  return resident > shared ? (double)(resident - shared) * (double)sysconf(_SC_PAGESIZE) : 0;
}

/* True where it is over a limit. */
static bool is_over(program *p, const tree *t) {
  double memory = 0;
  for (int i = 0; i < t->count && p->memory > 0; i++) memory += memory_of(t->found[i]);
  if (p->memory > 0 && memory > p->memory)
    p->report.end = RUN_PROGRAM_MEMORY;
  else if (p->processes > 0 && t->count > p->processes)
    p->report.end = RUN_PROGRAM_PROCESSES;
  else
    return false;
  return true;
}

/* --- start --- */

/* How many tasks this machine has; 0: not known. */
static rlim_t count_tasks(void) {
  unsigned long tasks = 0;
  FILE *file = fopen("/proc/loadavg", "re"); /* 0.20 0.18 0.12 1/80 11206 */
  if (file && fscanf(file, "%*f %*f %*f %*u/%lu", &tasks) != 1) tasks = 0;
  if (file) fclose(file);
  return tasks;
}

static void limit_tasks(void) {
  struct rlimit own;
  rlim_t most = count_tasks() + MOST_TASKS;
  if (most == MOST_TASKS || getrlimit(RLIMIT_NPROC, &own) != 0 || own.rlim_cur <= most) return;
  setrlimit(RLIMIT_NPROC, &(struct rlimit){most, most});
}

static void limit(const program *p) {
  if (p->processes > 0) limit_tasks();
  rlim_t most = (rlim_t)(p->memory * MOST_AT_ONCE);
  if (p->memory > 0) setrlimit(RLIMIT_DATA, &(struct rlimit){most, most});
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static _Noreturn void become(const program *p, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setsid();
  limit(p);
  execl("/bin/sh", "sh", "-c", p->command, (char *)NULL);
  _exit(127);
}

static bool start(program *p) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  p->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  fcntl(p->socket, F_SETFD, FD_CLOEXEC);
  if (p->signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return false;
  setsid(); /* a terminal's keys are for Tether, which tells us what is to be done */
  pid_t parent = getpid();
  p->first = fork();
  if (p->first == 0) become(p, parent);
  return p->first > 0;
}

/* However many processes the program makes, we are to be there to end them. Root alone may, or who was allowed to. No more than that:
 * at real-time priority the kernel spins for /proc of who has just ended, and he can't get on. */
static void go_first(void) { setpriority(PRIO_PROCESS, 0, -20); }

/* Whoever reads what the program says is to see its end. */
static void let_go_of_output(void) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 3 && nothing >= 0; i++) dup2(nothing, i);
  if (nothing > 2) close(nothing);
}

/* --- its end --- */

/* Takes notice of whoever ended; false when nobody is left. */
static bool reap(program *p) {
  struct signalfd_siginfo said;
  while (read(p->signals, &said, sizeof said) > 0) {
  }
  for (;;) {
    int how;
    pid_t ended = waitpid(-1, &how, WNOHANG);
    if (ended < 0 && errno == EINTR) continue;
    if (ended <= 0) return ended == 0;
    if (ended != p->first) continue;
    p->first_ended = true;
    if (p->report.end == RUN_PROGRAM_EXITED)
      p->report = WIFSIGNALED(how) ? (run_program_report){RUN_PROGRAM_KILLED, WTERMSIG(how)}
                                   : (run_program_report){RUN_PROGRAM_EXITED, WEXITSTATUS(how)};
  }
}

/* A group is told at once, so that none of it is born meanwhile. */
static void tell_all(int signal) {
  static tree t;
  find(&t, 0);
  for (int i = 0; i < t.count; i++) {
    pid_t group = getpgid(t.found[i]);
    if (group > 0 && group != getpgrp()) kill(-group, signal);
    kill(t.found[i], signal);
  }
}

/* What does not even die then waits for a disk that is gone, or can't be found without /proc: it is left. */
static void kill_all(program *p) {
  int pause = AGAIN_MS;
  for (double until = tt_monotonic_s() + GIVE_UP; tt_monotonic_s() < until;) {
    if (!p->first_ended) kill(-p->first, SIGKILL); /* however many they are */
    tell_all(SIGKILL);
    if (!reap(p)) return;
    poll(&(struct pollfd){.fd = p->signals, .events = POLLIN}, 1, pause);
    if (pause < LOOK_EVERY_MS) pause++;
  }
}

/* False when the parent has gone, or wants it dead. */
static bool hear(program *p) {
  char order;
  ssize_t got = recv(p->socket, &order, 1, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
  if (got < 0 || p->told_to_end) return true;
  p->told_to_end = true;
  p->kill_at = tt_monotonic_s() + PATIENCE;
  tell_all(SIGTERM);
  return true;
}

/* Until it is over, or to be killed. */
static void look_after(program *p) {
  static tree t;
  const bool limited = p->memory > 0 || p->processes > 0;
  for (double looked = tt_monotonic_s();;) {
    struct pollfd ends[] = {{.fd = p->socket, .events = POLLIN},
                            {.fd = p->signals, .events = POLLIN}};
    poll(ends, 2, limited || p->told_to_end ? LOOK_EVERY_MS : -1);
    if (ends[1].revents && !reap(p)) return;
    if (p->first_ended && (p->report.end != RUN_PROGRAM_EXITED || p->report.number != 0)) return;
    if (ends[0].revents && !hear(p)) return;
    if (p->told_to_end && tt_monotonic_s() >= p->kill_at) return;
    if (!limited || tt_monotonic_s() - looked < 1e-3 * LOOK_EVERY_MS) continue;
    looked = tt_monotonic_s();
    find(&t, p->processes);
    if (is_over(p, &t)) return;
  }
}

int main(int argc, char **argv) {
  program p = {.socket = RUN_PROGRAM_SOCKET};
  if (argc != 4 || fcntl(p.socket, F_GETFD) < 0) {
    fputs("run-program: Tether starts it, to look after a program\n", stderr);
    return 2;
  }
  p.memory = atof(argv[1]);
  p.processes = atoi(argv[2]);
  p.command = argv[3];
  if (!start(&p)) {
    p.report = (run_program_report){RUN_PROGRAM_FAILED, errno};
  } else {
    let_go_of_output();
    if (p.processes > 0) go_first();
    look_after(&p);
    kill_all(&p);
  }
  send(p.socket, &p.report, sizeof p.report, MSG_NOSIGNAL);
  return 0;
}
