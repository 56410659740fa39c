#include "app/sweep/web.h"

#include "app/attach/sweep_data.h"
#include "base/log.h"
#include "sweep/list.h"
#include "web/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tt_sweep_web {
  tt_web_keys keys;
  char listen[128];
  tt_web *server;
  tt_sweep_data data;
};

static tt_status start(tt_sweep_web *web, tt_error *error) {
  TT_TRY(tt_web_schema.check(&web->keys, "--web", error));
  TT_TRY(tt_web_from_keys(&web->keys, &web->server, error));
  tt_pages_add(web->server);
  TT_TRY(tt_sweep_data_add(web->server, &web->keys, &web->data, error));
  return tt_web_start(web->server, error);
}

tt_status tt_sweep_web_open(const char *address, tt_sweep_web **made, tt_error *error) {
  tt_sweep_web *web = calloc(1, sizeof *web);
  if (!web) return tt_fail(error, TT_NOMEM, "out of memory");
  if (address) {
    snprintf(web->listen, sizeof web->listen, "%s", address);
    web->keys.listen = web->listen;
  }
  tt_status status = start(web, error);
  if (status != TT_OK) {
    tt_sweep_web_close(web);
    return status;
  }
  *made = web;
  return TT_OK;
}

const char *tt_sweep_web_address(const tt_sweep_web *web) { return tt_web_address(web->server); }

void tt_sweep_web_close(tt_sweep_web *web) {
  if (!web) return;
  tt_web_free(web->server);
  tt_sweep_data_clear(&web->data);
  free(web);
}

void tt_sweep_web_note(const char *output) {
  char folder[1024];
  tt_error error;
  tt_status status = tt_sweep_data_folder(folder, sizeof folder, &error);
  if (status == TT_OK) status = tt_sweeps_note(folder, output, &error);
  if (status != TT_OK) tt_log_error("sweep: not in the list of sweeps: %s", error.text);
}
