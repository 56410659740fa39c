/* process.h: what every program that starts others needs. */
#ifndef TT_BASE_PROCESS_H
#define TT_BASE_PROCESS_H

#include <errno.h>
#include <sys/wait.h>

/** waitpid(), however many signals come meanwhile. `how` may be NULL. Any thread. */
static inline pid_t tt_process_reap(pid_t process, int options, int *how) {
  pid_t reaped;
  do {
    reaped = waitpid(process, how, options);
  } while (reaped < 0 && errno == EINTR);
  return reaped;
}

#endif
