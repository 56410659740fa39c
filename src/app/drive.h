/* drive.h: runs a world that stands: the ready line, the status line, signals. */
#ifndef TT_APP_DRIVE_H
#define TT_APP_DRIVE_H

#include "app/attach/attach.h"

/** From here on SIGINT, SIGTERM and SIGHUP (end_signals.h) end a run in order. Before anything is loaded. */
void tt_catch_signals(void);
/** Has a signal come since? Any thread. */
bool tt_stop_asked(void);
/** Says that the world is ready, runs it, and says why it ended: blocks until then. Status and `error` are those of
 *  tt_world_run(). */
tt_status tt_drive_world(tt_world *world, const tt_attached *attached, tt_error *error);

#endif
