/* live.h: the pages' window on a running world: docs/web.md, protocol version 1.
 *
 * The world's thread only pushes views into a queue while a page is connected. Everything else happens in the
 * web's thread: frames for each page at the pace that page takes them, requests into the world's mailbox.
 */
#ifndef TT_WEB_LIVE_H
#define TT_WEB_LIVE_H

#include "model/observer.h"
#include "host/world.h"
#include "record/describe.h"
#include "web/server.h"

#define TT_LIVE_PROTOCOL 1

typedef struct tt_live_options {
  tt_world *world;   /**< must outlive the live stream */
  const char *scene; /**< its name, for people */
  const char *description;
  const char *pace;      /**< "realtime", "lockstep", "fast" */
  double timestep, tick; /**< s */
  bool dynamics;
  const char *kept;     /**< name of the kept run that the world shows; NULL: it computes its own */
  double kept_duration; /**< s */
  const char *recording; /**< id of the kept run that this one becomes; NULL or "": none */
  const char *refused;   /**< scene chosen instead, which could not be opened; NULL or "": none */
  const char *refusal;   /**< and why */
  const char *runs;      /**< folder of kept runs that may race; NULL: none */
  tt_floor floor;        /**< copied into the model message */
} tt_live_options;

typedef struct tt_live tt_live;

/** Adds the routes /live, /api/meshes/ and /api/textures/ to `web`, before tt_web_start(). */
tt_status tt_live_open(tt_web *web, const tt_live_options *options, tt_live **live,
                       tt_error *error);
/** To add to the world. */
tt_observer *tt_live_observer(tt_live *live);
/** After tt_web_free(): frees what the routes used. */
void tt_live_close(tt_live *live);

#endif
