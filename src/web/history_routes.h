/* history_routes.h: what lies below a kept run over HTTP: its model, signals, frames, values, messages. */
#ifndef TT_WEB_HISTORY_ROUTES_H
#define TT_WEB_HISTORY_ROUTES_H

#include "web/server.h"

/** What answers GET /api/runs/ID/`below`, with a tt_run_job; NULL: there is no such thing. */
tt_web_work *tt_history_work(const char *below);

#endif
