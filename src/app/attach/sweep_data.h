/* sweep_data.h: sweeps for pages: those that this user's `tether sweep` noted, and their runs in 3D. */
#ifndef TT_APP_ATTACH_SWEEP_DATA_H
#define TT_APP_ATTACH_SWEEP_DATA_H

#include "app/sweep/show.h"
#include "web/section.h"
#include "web/sweep_routes.h"

/** Zero at first. */
typedef struct tt_sweep_data {
  tt_sweep_routes *routes; /**< NULL where no folder can be made */
} tt_sweep_data;

/** Adds the routes to `web`, which was made from `keys`, before it starts. */
tt_status tt_sweep_data_add(tt_web *web, const tt_web_keys *keys, tt_sweep_data *data,
                            tt_error *error);
/** After `web` was freed. */
void tt_sweep_data_clear(tt_sweep_data *data);
/** The folder in which sweeps are noted, made if need be. TT_FULL, TT_FAILED. */
tt_status tt_sweep_data_folder(char *path, size_t size, tt_error *error);

#endif
