/* status_line.h: one live line on a terminal while a world runs. */
#ifndef TT_APP_STATUS_LINE_H
#define TT_APP_STATUS_LINE_H

#include "app/attach/attach.h"

typedef struct tt_status_line tt_status_line;

/** Starts a thread that shows `world`, and what is wrong with what is attached to it, on standard error four times a second; NULL when that is no terminal (or
 *  out of memory). */
tt_status_line *tt_status_line_start(tt_world *world, const tt_attached *attached);
/** Ends it and clears the line; before the world is freed. NULL-safe. */
void tt_status_line_stop(tt_status_line *line);

#endif
