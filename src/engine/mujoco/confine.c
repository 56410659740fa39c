/* confine.c: work in a child process that can do no harm.
 *
 * The child has seconds of processor time, a share of memory, no open file of the parent's but one, no way to open a
 * socket, start a program or another process, or look into one, and may write in one folder only, as far as the kernel
 * offers that. Whatever becomes of it, the parent goes on.
 */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPU_SECONDS 10
#define WAIT_SECONDS 30 /* of the wall clock: for a child that sleeps, or a busy machine */
#define MORE_MEMORY ((rlim_t)TT_MAX_MODEL_GIB << 30)
#define LARGEST_FILE ((rlim_t)1 << 30)

/* What the child tells, in memory that both share. */
typedef struct report {
  tt_status status;
  tt_error error;
  char at[TT_PATH_SIZE];
} report;

/* --- in the child; what the kernel lacks is left out: the limits hold in any case --- */

static void limit(__rlimit_resource_t resource, rlim_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return;
  /* The hard limit lies above the soft one, whose signal says what was too much. */
  if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most) now.rlim_max = most + 1;
  now.rlim_cur = now.rlim_max > most ? most : now.rlim_max;
  setrlimit(resource, &now);
}

/* Address space in use now, bytes: a sanitizer's may be huge. */
static rlim_t memory_now(void) {
  char text[32] = "";
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && !fgets(text, sizeof text, f)) text[0] = '\0';
  if (f) fclose(f);
  unsigned long pages = strtoul(text, NULL, 10);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define THIS_ARCHITECTURE 0 /* no call is of this one: nothing is refused */
#endif

/* Sockets, other processes and programs are refused as if there were no permission; threads are not. */
static void refuse_calls(void) {
#define OTHER_NUMBERS 0x40000000 /* of another way to make the same calls, x32 */
#define REFUSED BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EACCES & SECCOMP_RET_DATA))
#define REFUSE(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), REFUSED
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_NUMBERS, 0, 1),
      REFUSED,
      REFUSE(SYS_socket),
      REFUSE(SYS_io_uring_setup),
      REFUSE(SYS_execve),
      REFUSE(SYS_execveat),
      REFUSE(SYS_kill),
      REFUSE(SYS_ptrace),
      REFUSE(SYS_process_vm_writev),
#ifdef SYS_fork
      REFUSE(SYS_fork),
      REFUSE(SYS_vfork),
#endif
      /* Its flags can't be looked at; the C library then takes clone. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (ENOSYS & SECCOMP_RET_DATA)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
      REFUSED,
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
#undef REFUSE
#undef REFUSED
#undef OTHER_NUMBERS
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void write_only_in(const char *folder) {
  struct landlock_ruleset_attr rules = {
      .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                           LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                           LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                           LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                           LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM};
  /* Files, and links to meshes where they lie; nothing that could make its reader wait. */
  struct landlock_path_beneath_attr beneath = {
      .allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                        LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM};
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (ruleset < 0) return;
  beneath.parent_fd = open(folder, O_PATH | O_CLOEXEC);
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0)
    syscall(SYS_landlock_restrict_self, ruleset, 0);
  close(beneath.parent_fd);
  close(ruleset);
}

/* A crash is the end of the child, whatever the program (a test, a sanitizer) does with its own. */
static void let_crashes_end(void) {
  static const int CRASHES[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU};
  for (size_t i = 0; i < sizeof CRASHES / sizeof *CRASHES; i++) signal(CRASHES[i], SIG_DFL);
}

/* What the program holds open (connections, logs) is none of the child's business. */
static void close_all_but(int one, int other) {
  unsigned low = (unsigned)(one < other ? one : other),
           high = (unsigned)(one < other ? other : one);
  if (low > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, low - 1, 0);
  if (high > low + 1) close_range(low + 1, high - 1, 0);
  close_range(high + 1, ~0u, 0);
}

static void confine_self(const char *folder, int kept, int pipe) {
  close_all_but(kept, pipe);
  let_crashes_end();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, CPU_SECONDS);
  limit(RLIMIT_FSIZE, LARGEST_FILE);
  limit(RLIMIT_AS, memory_now() + MORE_MEMORY);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  write_only_in(folder);
  refuse_calls();
}

/* --- in the parent --- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Until the child has closed its end of the pipe by ending; false after WAIT_SECONDS. */
static bool wait_for_end(int pipe) {
  const double until = now() + WAIT_SECONDS;
  for (;;) {
    struct pollfd end = {.fd = pipe};
    double left = until - now();
    int ready = poll(&end, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return false;
  }
}

static tt_status reap(pid_t child, bool ended, report *told, tt_error *error) {
  int how = 0;
  if (!ended) kill(child, SIGKILL);
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  told->at[sizeof told->at - 1] = told->error.text[sizeof told->error.text - 1] = '\0';
  if (!ended)
    return tt_fail(error, TT_INVALID,
                   "%s: is not compiled after %d s, perhaps since a file that it names is a pipe, "
                   "or the machine is busy",
                   told->at, WAIT_SECONDS);
  if (WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU)
    return tt_fail(error, TT_INVALID,
                   "%s: takes more than %d s to compile; give it fewer or simpler shapes", told->at,
                   CPU_SECONDS);
  if (WIFSIGNALED(how) || WEXITSTATUS(how) != 0)
    return tt_fail(error, TT_INVALID,
                   "%s: broke the compiler of models (%s), as a damaged file does, or one that "
                   "needs more than %d GiB",
                   told->at, WIFSIGNALED(how) ? strsignal(WTERMSIG(how)) : "it gave up",
                   TT_MAX_MODEL_GIB);
  if (told->status != TT_OK) return tt_fail(error, told->status, "%s", told->error.text);
  return TT_OK;
}

tt_status physics_confine(physics_work *work, void *context, const char *folder, int kept,
                          tt_error *error) {
  int ends[2];
  report *told =
      mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (told == MAP_FAILED) return TT_NOMEM;
  if (pipe2(ends, O_CLOEXEC) != 0) {
    munmap(told, sizeof *told);
    return tt_fail(error, TT_FAILED, "no pipe for compiling models: %s", strerror(errno));
  }
  pid_t child = fork();
  if (child == 0) {
    tt_log_forked();
    confine_self(folder, kept, ends[1]);
    told->status = work(context, told->at, &told->error);
    _exit(0);
  }
  int reason = errno;
  close(ends[1]);
  tt_status status =
      child < 0 ? tt_fail(error, TT_FAILED, "no process for compiling models: %s", strerror(reason))
                : reap(child, wait_for_end(ends[0]), told, error);
  close(ends[0]);
  munmap(told, sizeof *told);
  return status;
}
