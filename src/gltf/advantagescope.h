/* advantagescope.h: a scene's robots and arena as asset folders for AdvantageScope: Robot_NAME and Field3d_NAME, each with
 * config.json, model.glb and model_0.glb, model_1.glb …
 *
 * Source: AdvantageScope, "Custom Assets" (docs/docs/more-features/custom-assets).
 */
#ifndef TT_GLTF_ADVANTAGESCOPE_H
#define TT_GLTF_ADVANTAGESCOPE_H

#include "base/status.h"
#include "game/field.h"
#include "model/engine.h"
#include "model/view.h"

/** What is written, and how it stands. */
typedef struct tt_assets {
  const tt_model *model;
  const tt_scenery *scenery;
  const tt_view *view; /**< at the start: the places in which everything is drawn */
  tt_field field;      /**< all 0: the arena has no field's frame */
  const char *arena;   /**< its name */
} tt_assets;

/** Takes a file of the folder over; what it returns but TT_OK ends the whole. */
typedef struct tt_asset_sink {
  tt_status (*write)(void *context, const char *folder, const char *name, const void *bytes,
                     size_t size, tt_error *error);
  void *context;
} tt_asset_sink;

/** A robot: the root body is its model, and each other body a component, in the order of `/Tether/ROBOT/Components` of
 *  NetworkTables. Blocks as its sink does. TT_NOMEM, or what the sink returned. */
tt_status tt_assets_write_robot(const tt_assets *assets, int robot, const tt_asset_sink *sink,
                                tt_error *error);
/** The arena, with its game pieces as they lie at the start; each kind also alone, in the order of its number. */
tt_status tt_assets_write_field(const tt_assets *assets, const tt_asset_sink *sink,
                                tt_error *error);

#endif
