/* turns.h: wide tables take turns. Of each device a table holds some records, and of each column some cells, so that of many
 * tables at once each could hold but a few, and would read the same again and again for the next ones.
 *
 * One queue for all tables of the program; any thread.
 */
#ifndef TT_TELEMETRY_TURNS_H
#define TT_TELEMETRY_TURNS_H

#include "telemetry/table.h"

/** So much do tables weigh together that are read at the same time; one that weighs more is read alone. */
#define TT_TURNS_WEIGHT 1000
/** A table that weighs so much or less needs no turn. */
#define TT_TURNS_LIGHT 64
/** µs that a table waits for others: longer than one of which nothing is taken keeps its turn (tt_web_options.answer_deadline). */
#define TT_TURNS_PATIENCE 40000000
/** Columns that take the memory of one device's records. */
#define TT_TURNS_COLUMNS 32

/** What a table weighs that holds records of so many devices (0: of none) and so many columns. */
static inline unsigned tt_turns_weight(unsigned devices, unsigned columns) {
  return MAX(devices, columns / TT_TURNS_COLUMNS);
}

/** Waits until a table of such a weight may be read: `patience` µs at most. TT_FULL: others are still read then. TT_CLOSED: nobody
 *  takes what goes into the sink any more. */
tt_status tt_turn_take(unsigned weight, int64_t patience, const tt_table_sink *sink,
                       tt_error *error);
/** The table of such a weight whose turn it was has been read. */
void tt_turn_give(unsigned weight);

#endif
