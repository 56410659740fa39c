/* run_library.h: what pages do with kept runs besides looking into them: name, tag, pin, remove, upload, download, verify; as
 * docs/web.md describes it. Behind the routes of run_routes.h.
 */
#ifndef TT_WEB_RUN_LIBRARY_H
#define TT_WEB_RUN_LIBRARY_H

#include "web/server.h"

#include <json-c/json.h>

/** Who runs kept runs again. Any thread. */
typedef struct tt_run_verifier {
  /** Begins to verify the log at `path`, or leaves it as it is where that is under way or done. TT_FULL: too many wait. */
  tt_status (*begin)(void *context, const char *path, tt_error *error);
  /** What came of it, as docs/web.md has it; the caller's. NULL: nobody asked. */
  struct json_object *(*tell)(void *context, const char *path);
  void *context; /**< outlives the last call of one begun */
} tt_run_verifier;

/** Bytes of a log that is brought by POST /api/runs. */
#define TT_RUN_MOST_UPLOADED 4000000000u

typedef struct tt_run_library {
  const char *folder;              /**< of kept runs */
  const tt_run_verifier *verifier; /**< NULL: none are verified */
  void *owner;                 /**< of what the verifier needs; each answer under way holds it */
  void (*hold)(void *owner);   /**< web's thread */
  void (*let_go)(void *owner); /**< any thread */
} tt_run_library;

/** `begin` of the route /api/runs: a log that is brought goes to the disk as it comes. Web's thread. */
void tt_run_library_begin(const tt_run_library *library, const tt_web_request *request);
/** Answers it, if it is one of these; false: it is another's. Web's thread. */
bool tt_run_library_handle(const tt_run_library *library, const tt_web_request *request);

#endif
