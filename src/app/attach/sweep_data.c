#include "app/attach/sweep_data.h"

#include "app/state_folder.h"
#include "base/log.h"

#include <string.h>

tt_status tt_sweep_data_folder(char *path, size_t size, tt_error *error) {
  return tt_state_folder(NULL, "sweeps", path, size, error);
}

/* A replay listens where these pages do: on loopback, since without a token there is nothing else. */
static tt_status open_shows(const tt_web_keys *keys, tt_sweep_shows **shows, tt_error *error) {
  char folder[1024];
  bool six = keys->listen && strncmp(keys->listen, "[::1]", 5) == 0;
  TT_TRY(tt_state_folder(NULL, "sweeps/runs", folder, sizeof folder, error));
  return tt_sweep_shows_new(folder, six ? "[::1]" : "127.0.0.1", shows, error);
}

static bool asks_for_tokens(const tt_web_keys *keys) {
  return (keys->token && *keys->token) || (keys->tokens && *keys->tokens);
}

static void release(void *shows) { tt_sweep_shows_free(shows); }

/* A disk without room is no reason to show nothing else. Where pages ask for a token, nothing is shown: a replay's pages would not. */
tt_status tt_sweep_data_add(tt_web *web, const tt_web_keys *keys, tt_sweep_data *data,
                            tt_error *error) {
  char folder[1024];
  tt_sweep_shows *shows = NULL;
  tt_status status = tt_sweep_data_folder(folder, sizeof folder, error);
  if (status == TT_OK && !asks_for_tokens(keys)) status = open_shows(keys, &shows, error);
  if (status == TT_FULL) {
    tt_log_error("sweeps: %s; none are shown", error->text);
    return TT_OK;
  }
  if (status != TT_OK) return status;
  tt_sweep_shower shower = {.release = NULL};
  if (shows) shower = *tt_sweep_shows_shower(shows), shower.release = release;
  data->routes = tt_sweep_routes_new(
      web, &(tt_sweep_routes_options){.folder = folder, .shower = shows ? &shower : NULL});
  return TT_OK;
}

void tt_sweep_data_clear(tt_sweep_data *data) {
  tt_sweep_routes_free(data->routes);
  *data = (tt_sweep_data){0};
}
