#include "app/telemetry/ending.h"

#include "app/end_signals.h"

static volatile sig_atomic_t ended;

static void on_signal(int number) {
  (void)number;
  ended = 1;
}

void tt_telemetry_catch_end(void) {
  tt_end_signals_catch(on_signal, (int)SA_RESETHAND | SA_RESTART);
}

bool tt_telemetry_is_ended(void) { return ended; }
