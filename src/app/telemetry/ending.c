#include "app/telemetry/ending.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t ended;

static void on_signal(int number) {
  (void)number;
  ended = 1;
}

void tt_telemetry_catch_end(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

bool tt_telemetry_is_ended(void) { return ended; }
