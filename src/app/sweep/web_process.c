#include "app/sweep/web_process.h"

#include "app/sweep/web.h"
#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* What it says of itself, once; short enough for a pipe to take it whole. */
typedef struct hello {
  tt_status status;
  char address[256];
  tt_error error;
} hello;

/* Nothing but SIGTERM ends it, which comes at the sweep's end, too: a Ctrl-C is for the sweep to decide upon. Threads that are started
 * later let no signal in either. */
static void serve(pid_t parent, const char *address, int said) {
  sigset_t all, end;
  int number;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  prctl(PR_SET_NAME, "tether-web");
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(0); /* it ended before */
  tt_sweep_web *web = NULL;
  hello first = {.status = TT_OK};
  first.status = tt_sweep_web_open(address, &web, &first.error);
  if (web) snprintf(first.address, sizeof first.address, "%s", tt_sweep_web_address(web));
  bool heard = write(said, &first, sizeof first) == sizeof first;
  close(said);
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  if (web && heard) sigwait(&end, &number);
  tt_sweep_web_close(web);
  _exit(0);
}

tt_status tt_sweep_web_process_start(const char *address, tt_sweep_web_process *web,
                                     tt_error *error) {
  int said[2];
  hello first;
  const pid_t parent = getpid();
  if (pipe(said) != 0) return tt_fail(error, TT_FAILED, "--web: no pipe: %s", strerror(errno));
  fflush(NULL);
  const pid_t process = fork();
  if (process == 0) {
    close(said[0]);
    serve(parent, address, said[1]);
  }
  close(said[1]);
  ssize_t got = process < 0 ? -1 : 0;
  while (process > 0 && (got = read(said[0], &first, sizeof first)) < 0 && errno == EINTR) {
  }
  close(said[0]);
  if (process < 0) return tt_fail(error, TT_FAILED, "--web: no process: %s", strerror(errno));
  web->process = process;
  if (got == sizeof first && first.status == TT_OK) {
    memcpy(web->address, first.address, sizeof web->address);
    return TT_OK;
  }
  tt_sweep_web_process_stop(web);
  if (got != sizeof first) return tt_fail(error, TT_FAILED, "--web: its process ended");
  return tt_fail(error, first.status, "%s", first.error.text);
}

void tt_sweep_web_process_stop(tt_sweep_web_process *web) {
  if (!web->process) return;
  kill(web->process, SIGTERM);
  tt_process_reap(web->process, 0, NULL);
  web->process = 0;
}
