#include "app/sweep/network.h"

#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  ssize_t written = file < 0 ? -1 : write(file, text, strlen(text));
  if (file >= 0) close(file);
  return written == (ssize_t)strlen(text);
}

/* Who may not have a network may have one as the root of users of his own: he stays who he is there. */
static bool unshare_as_user(void) {
  char map[64];
  const unsigned user = geteuid(), group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  snprintf(map, sizeof map, "%u %u 1\n", user, user);
  if (!write_text("/proc/self/uid_map", map)) return false;
  if (!write_text("/proc/self/setgroups", "deny")) return false;
  snprintf(map, sizeof map, "%u %u 1\n", group, group);
  return write_text("/proc/self/gid_map", map);
}

static bool raise_loopback(void) {
  struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  int asked = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool raised = asked >= 0 && ioctl(asked, SIOCSIFFLAGS, &loopback) == 0;
  if (asked >= 0) close(asked);
  return raised;
}

/* errno, or 0. */
static int enter(void) {
  if (unshare(CLONE_NEWNET) != 0 && !unshare_as_user()) return errno ? errno : EPERM;
  return raise_loopback() ? 0 : errno;
}

static tt_status refuse(int reason, tt_error *error) {
  return tt_fail(error, TT_FAILED, "this machine allows no network of its own for a program: %s",
                 strerror(reason));
}

tt_status tt_network_enter(tt_error *error) {
  int reason = enter();
  return reason == 0 ? TT_OK : refuse(reason, error);
}

tt_status tt_network_try(tt_error *error) {
  int how = 0;
  pid_t child = fork();
  if (child == 0) _exit(enter());
  if (child < 0) return refuse(errno, error);
  tt_process_reap(child, 0, &how);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return TT_OK;
  return refuse(WIFEXITED(how) ? WEXITSTATUS(how) : EPERM, error);
}

tt_status tt_sweep_network_check(const tt_sweep_plan *plan, int jobs, tt_error *error) {
  tt_error reason;
  if (jobs <= 1 || !plan->controller.fixed_ports || tt_network_try(&reason) == TT_OK) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "%s.fixed_ports: %s; give --jobs 1, or have the program take its addresses from "
                 "its environment ($TETHER_<WIRE>)",
                 plan->controller.where, reason.text);
}
