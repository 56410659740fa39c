/* guests.h: sections of a scene that belong to others than the simulation: wires, pages, telemetry, recording.
 *
 * Who has such rooms loads a scene with a table of their schemas. Who has not (the library) loads it without: the
 * sections may stand there, and are not looked into. A misspelt section is an error either way.
 */
#ifndef TT_SCENE_GUESTS_H
#define TT_SCENE_GUESTS_H

#include "model/schema.h"

struct tt_scene_store;

/** What a program adds to scenes. Static; it outlives what is loaded with it. */
typedef struct tt_scene_guests {
  /** Sections, a mapping each, checked with its defaults even where a scene leaves it out. NULL-terminated. */
  const tt_schema *const *sections;
  /** Protocols, the keys of a wire. NULL-terminated. */
  const tt_schema *const *wires;
  /** Stage of loading: makes tt_scene.wires, and io_steps by tt_load_io_period(). */
  tt_status (*load_wires)(struct tt_scene_store *store);
} tt_scene_guests;

#endif
