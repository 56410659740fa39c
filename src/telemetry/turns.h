/* turns.h: tables of many devices take turns. Of each device a table holds some records, so that of many tables at once each
 * could hold but a few, and would read the same again and again for the next ones.
 *
 * One queue for all tables of the program; any thread.
 */
#ifndef TT_TELEMETRY_TURNS_H
#define TT_TELEMETRY_TURNS_H

#include "telemetry/table.h"

/** Of so many devices together tables are read at the same time; one of more is read alone. */
#define TT_TURNS_DEVICES 1000
/** A table of so many devices or fewer needs no turn. */
#define TT_TURNS_FEW 64

/** Waits until a table of so many devices may be read: `patience` µs at most. TT_FULL: others are still read then. TT_CLOSED: nobody
 *  takes what goes into the sink any more. */
tt_status tt_turn_take(unsigned devices, int64_t patience, const tt_table_sink *sink,
                       tt_error *error);
/** The table of so many devices whose turn it was has been read. */
void tt_turn_give(unsigned devices);

#endif
