/* run_upload.h: a log that somebody brings, by POST /api/runs?name=FILE. */
#ifndef TT_WEB_RUN_UPLOAD_H
#define TT_WEB_RUN_UPLOAD_H

#include "web/server.h"

/** The headers are there: what comes goes to a file of `folder` at once, which is gone again unless it becomes a run. Web's thread. */
void tt_run_upload_begin(const char *folder, const tt_web_request *request);
/** The body is there: it becomes a run of the folder, which is answered (201), or is refused. False: none was begun. Web's thread. */
bool tt_run_upload_answer(const tt_web_request *request);

#endif
