/* fork_routes.h: a kept run goes on from any moment of it, over HTTP; as docs/web.md describes it. */
#ifndef TT_WEB_FORK_ROUTES_H
#define TT_WEB_FORK_ROUTES_H

#include "web/server.h"

#include <json-c/json.h>

#include <stdint.h>

/** What is asked for. */
typedef struct tt_fork_wish {
  const char *path;            /**< of the log */
  double time;                 /**< s of the run */
  const char *const *settings; /**< PATH=VALUE */
  int setting_count;
  /** who asks may also have what concerns the machine: files, stores, ports of viewers */
  bool administers;
} tt_fork_wish;

/** Who makes forks. Any thread. */
typedef struct tt_run_forker {
  /** Begins one and gives its number. TT_FULL: another is being made; TT_INVALID: the log can't go on, or not there. */
  tt_status (*begin)(void *context, const tt_fork_wish *wish, uint64_t *number, tt_error *error);
  /** What became of it, as docs/web.md has it; the caller's. NULL: there is none of this number. */
  struct json_object *(*tell)(void *context, uint64_t number);
  void *context; /**< must outlive the server by the length of one call */
} tt_run_forker;

/** Adds GET /api/forks/N, before tt_web_start(). `forker` outlives the server. */
void tt_fork_routes_add(tt_web *web, const tt_run_forker *forker);
/** Answers POST /api/runs/ID/fork; false: the request is another's. `folder` is that of kept runs. Web's thread. */
bool tt_fork_routes_handle(const tt_run_forker *forker, const char *folder,
                           const tt_web_request *request);

#endif
