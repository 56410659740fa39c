/* backup.c: `tether telemetry backup`: a copy of a store, while a collector may be writing to it. */
#include "app/progress.h"
#include "app/telemetry/action.h"
#include "app/telemetry/ending.h"
#include "base/text.h"
#include "store/store.h"

#include <sys/stat.h>

static bool show(void *context, double done) {
  tt_progress_show(context, done);
  return !tt_telemetry_is_ended();
}

static tt_status run(int argc, char **argv, tt_error *error) {
  if (argc != 3 || argv[1][0] == '-')
    return tt_fail(error, TT_USAGE, "telemetry backup takes a STORE and a FILE, and nothing else");
  const tt_store_options options = {.url = argv[1]};
  const tt_store_backend *backend;
  struct stat facts;
  TT_TRY(tt_store_backend_of(options.url, &backend, error));
  if (!backend->back_up)
    return tt_fail(error, TT_INVALID,
                   "%s: this kind of store makes no copies of itself; 'tether telemetry copy' does",
                   options.url);
  tt_progress progress = tt_progress_start("copying");
  tt_telemetry_catch_end();
  tt_status status = backend->back_up(&options, argv[2], show, &progress, error);
  tt_progress_end(&progress);
  if (status == TT_OK && stat(argv[2], &facts) == 0)
    tt_print(stdout, "%s: %.1f MB\n", argv[2], (double)facts.st_size / 1e6);
  return status;
}

const tt_telemetry_action tt_telemetry_backup = {"backup", run};
