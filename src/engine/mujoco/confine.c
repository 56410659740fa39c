/* confine.c: what the program that compiles models gives up before it looks at one, as far as the kernel offers that.
 *
 * It has seconds of processor time, a share of memory, no way to open a socket, start a program or another process, or look
 * into one, and may write in one folder only. What the kernel lacks is left out: the limits hold in any case.
 */
#include "engine/mujoco/compiler.h"
#include "engine/mujoco/physics_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MORE_MEMORY ((rlim_t)TT_MAX_MODEL_GIB << 30)
#define LARGEST_FILE ((rlim_t)1 << 30)

static void limit(__rlimit_resource_t resource, rlim_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return;
  /* The hard limit lies above the soft one, whose signal says what was too much; one that is lower already stays. */
  if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most) now.rlim_max = most + 1;
  if (now.rlim_cur > most) now.rlim_cur = most;
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

void physics_confine_self(const char *folder) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, COMPILER_SECONDS);
  limit(RLIMIT_FSIZE, LARGEST_FILE);
  limit(RLIMIT_AS, memory_now() + MORE_MEMORY);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  write_only_in(folder);
  refuse_calls();
}
