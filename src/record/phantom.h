/* phantom.h: the robots of a kept run, raced beside a live one: where they were at the same simulated time since the
 * start. Only for the eye: a phantom knows no world and no world knows it.
 */
#ifndef TT_RECORD_PHANTOM_H
#define TT_RECORD_PHANTOM_H

#include "base/status.h"
#include "record/wpilog.h"

#include <json-c/json.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct tt_phantom tt_phantom;

/** Reads the run; takes as long as its log is large. TT_INVALID: the log does not keep its model, or no robot. */
tt_status tt_phantom_open(const char *path, tt_phantom **phantom, tt_error *error);
void tt_phantom_close(tt_phantom *phantom);

/** {id, run, name, shapes, bodies} of docs/web.md; the caller's. Shapes name their meshes `mesh_base` + N. */
struct json_object *tt_phantom_describe(const tt_phantom *phantom, int id, const char *run,
                                        int mesh_base);
/** Mesh N as GET /api/meshes/N answers it, in the log's memory; false when there is none. */
bool tt_phantom_mesh(const tt_phantom *phantom, int mesh, const uint8_t **bytes, size_t *size);
/** Name of its first robot, to find the one it races. */
const char *tt_phantom_robot(const tt_phantom *phantom);

/** Where its bodies are at `time` (s since the start): [count] x y z w x y z. Valid until the next call. */
const double (*tt_phantom_poses(tt_phantom *phantom, double time, int *count))[7];
/** The body by whose places it is compared with the live robot, a name of its own model: of a robot that stays in its
 *  place the one that moves most; NULL: the root of one that drives. */
const char *tt_phantom_followed(const tt_phantom *phantom);
/** How far the live robot, whose same body has the `pose` x y z w x y z, is behind: s since the phantom was nearest to that
 *  place within half a minute (negative: it comes there only later), and m between the two now: between roots over the
 *  floor, between other bodies from center to center of their shapes. After tt_phantom_poses(). */
void tt_phantom_gap(const tt_phantom *phantom, const double pose[7], double *seconds,
                    double *metres);

#endif
