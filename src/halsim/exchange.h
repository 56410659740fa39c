/* exchange.h: what a robot program has said and been told, device by device: its values become submissions, signals become
 * its sensors' values, and only what changed is told. Whatever carries the values (a WebSocket, a shared object's frames,
 * datagrams) calls these functions; devices and keys are named as in HALSim's messages.
 *
 * Seasons are told apart key by key: a motor's `<speed` (2026) or its SimDevice's `<Throttle` (2027) counts, and the pulse
 * `<raw` where neither came. Keys that begin with ">" are echoes, and ignored.
 */
#ifndef TT_HALSIM_EXCHANGE_H
#define TT_HALSIM_EXCHANGE_H

#include "halsim/mapping.h"
#include "base/drop.h"
#include "model/view.h"

typedef struct tt_halsim tt_halsim;

/** `map` outlives it. NULL: out of memory. An encoder is told under the program's own number, once it has said which channels
 *  that has. */
tt_halsim *tt_halsim_new(const tt_halsim_map *map);
void tt_halsim_free(tt_halsim *halsim);

/** Why a message of a program was refused. */
typedef struct tt_halsim_fault {
  tt_drop drop;
  char text[256];
} tt_halsim_fault;

/** The program gives `count` values of a device: all are taken, or none.
 *  @return TT_BAD_MESSAGE: one that a line maps is no number, or beyond what its command takes */
tt_status tt_halsim_hear(tt_halsim *halsim, const char *type, const char *device,
                         const tt_halsim_value *values, int count, tt_halsim_fault *fault);

/** Commands that the program has set since the last call, in the order of the lines: at most map->count. */
int tt_halsim_take(tt_halsim *halsim, tt_submission *submissions);
/** Everything the program has said so far is to be taken again: a program doesn't repeat what stays equal. */
void tt_halsim_repeat(tt_halsim *halsim);

/** `values` of one device, under the name the program has for it. Valid during the call. */
typedef void tt_halsim_tell_fn(void *context, const char *type, const char *device,
                               const tt_halsim_value *values, int count);
/** Tells what differs from what was told, device by device. Called once a period, whose length is `seconds` simulated. */
void tt_halsim_tell(tt_halsim *halsim, const tt_view *view, double seconds, tt_halsim_tell_fn *tell,
                    void *context);

/** Another program: nothing was said, and nothing told. */
void tt_halsim_forget(tt_halsim *halsim);
/** The world began anew: rates and turns are counted from the next view on. */
void tt_halsim_restart(tt_halsim *halsim);

/** A device that the program uses and no line maps. */
typedef struct tt_halsim_stranger {
  const char *type, *device;
} tt_halsim_stranger;
/** The next one that was not asked for yet; false: there is none. */
bool tt_halsim_next_stranger(tt_halsim *halsim, tt_halsim_stranger *stranger);
/** The line of YAML that would map it, with the robot's next command or signal that suits and that no line has. */
void tt_halsim_propose(const tt_halsim *halsim, const tt_halsim_stranger *stranger,
                       const tt_names *names, const tt_model *model, int robot, char *text,
                       size_t size);
/** Warns of all that were not asked for yet, each with its line, once the program has begun: when half a second passed without
 *  a new one. Called once a period of `seconds` simulated; `wire` is the name that the messages bear. */
void tt_halsim_list_strangers(tt_halsim *halsim, double seconds, const char *wire,
                              const tt_names *names, const tt_model *model, int robot);

#endif
