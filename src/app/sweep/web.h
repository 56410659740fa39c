/* web.h: the pages of `tether sweep --web`: the page Sweeps, and no world. */
#ifndef TT_APP_SWEEP_WEB_H
#define TT_APP_SWEEP_WEB_H

#include "base/status.h"

typedef struct tt_sweep_web tt_sweep_web;

/** Serves the pages at `address`, "127.0.0.1:8080"; NULL: there, or at the next free port. Starts threads. TT_INVALID: no
 *  address of this machine alone; TT_FAILED. */
tt_status tt_sweep_web_open(const char *address, tt_sweep_web **web, tt_error *error);
/** "http://127.0.0.1:8080". */
const char *tt_sweep_web_address(const tt_sweep_web *web);
/** NULL-safe. */
void tt_sweep_web_close(tt_sweep_web *web);
/** Notes the table at `output`, which is there, so that the pages of this and other programs list it. What can't be noted is logged. */
void tt_sweep_web_note(const char *output);

#endif
