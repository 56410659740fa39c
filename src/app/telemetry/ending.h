/* ending.h: SIGINT, SIGTERM and SIGHUP (app/end_signals.h) ask work on a store to end where it may. */
#ifndef TT_APP_TELEMETRY_ENDING_H
#define TT_APP_TELEMETRY_ENDING_H

#include <stdbool.h>

/** From now on; a second signal ends the program at once. */
void tt_telemetry_catch_end(void);
/** Whether one came. Any thread. */
bool tt_telemetry_is_ended(void);

#endif
