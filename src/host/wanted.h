/* wanted.h: what others than wires command, on its way into a world's mailbox.
 *
 * The mailbox may be full, but what somebody commanded last, and that it is safe again once he is gone, must arrive: of each
 * command the newest value waits here until there is room. They go in the order in which they were set, since of torque,
 * velocity and duty of a joint the one accepted last holds; one that is set anew while it waits goes in its place, and once
 * more behind what would take the joint from it. One thread.
 */
#ifndef TT_HOST_WANTED_H
#define TT_HOST_WANTED_H

#include "host/world.h"

typedef struct tt_wanted tt_wanted;

/** `source` is who commands, in the journal; static. NULL: out of memory. The world outlives it. */
tt_wanted *tt_wanted_new(tt_world *world, const char *source);
/** NULL-safe. */
void tt_wanted_free(tt_wanted *wanted);
/** A command is to have a value, in place of one that waits; but a button that waits pressed is let go of only after that.
 *  `meant_for` as of a tt_mail. */
void tt_wanted_set(tt_wanted *wanted, int command, double value, uint64_t meant_for);
/** Who commanded it has gone: it is to be safe, unless somebody of another source commanded it since (TT_MAIL_LET_GO). One
 *  without a safe value stays as it was. */
void tt_wanted_let_go(tt_wanted *wanted, int command);
/** A joystick of a driver station is to be so, in place of what waits of it: TT_DS_JOYSTICK, good for the world. */
void tt_wanted_stick(tt_wanted *wanted, const tt_ds_order *order);
/** Posts what waits, as far as there is room. False: something waits still. */
bool tt_wanted_post(tt_wanted *wanted);

#endif
