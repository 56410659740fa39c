#include "app/end_signals.h"

#include <stddef.h>

void tt_end_signals_get(sigset_t *signals) {
  struct sigaction hangup;
  sigemptyset(signals);
  sigaddset(signals, SIGINT);
  sigaddset(signals, SIGTERM);
  if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    sigaddset(signals, SIGHUP);
}

void tt_end_signals_catch(void (*handler)(int number), int flags) {
  sigset_t signals;
  tt_end_signals_get(&signals);
  for (int number = 1; number < NSIG; number++) {
    if (sigismember(&signals, number) != 1) continue;
    /* A terminal that is closed may say so twice: its shell does, and so does the kernel. */
    const struct sigaction action = {
        .sa_handler = handler, .sa_flags = number == SIGHUP ? flags & ~(int)SA_RESETHAND : flags};
    sigaction(number, &action, NULL);
  }
}
