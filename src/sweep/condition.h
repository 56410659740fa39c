/* condition.h: a condition as a plan writes it, "arm.position > 45 deg and abs(arm.velocity) < 0.1": over the present values of
 * signals, or over the columns of a row. docs/sweep.md has the grammar.
 *
 * Values are SI; a number may have a unit, of the dimension of what it is compared with. What has no value is neither more nor
 * less than anything: a condition that hangs on it does not hold, nor does its opposite.
 */
#ifndef TT_SWEEP_CONDITION_H
#define TT_SWEEP_CONDITION_H

#include "base/status.h"
#include "model/signal.h"
#include "model/view.h"
#include "sweep/value.h"

#define TT_CONDITION_MAX_TEXT 1024 /**< bytes */

typedef struct tt_condition tt_condition;

/** A column: an axis or a metric. */
typedef struct tt_condition_column {
  const char *name;
  const char *unit; /**< SI; "": nobody knows */
} tt_condition_column;

/** What names stand for: signals, or where `names` is NULL columns. */
typedef struct tt_condition_scope {
  const tt_names *names;
  const tt_condition_column *columns; /**< [column_count] */
  int column_count;
} tt_condition_scope;

/** Reads `text`; neither it nor `scope` need live on. Where `scope` is NULL any name is taken, to check the grammar alone: it must not
 *  be asked then. TT_INVALID: `where` begins the error, "plan.yaml: success". */
tt_status tt_condition_new(const char *text, const char *where, const tt_condition_scope *scope,
                           tt_condition **condition, tt_error *error);
void tt_condition_free(tt_condition *condition);
/** Whether it holds in `view`, of signals; or in a row, of columns. */
bool tt_condition_holds_in(const tt_condition *condition, const tt_view *view);
bool tt_condition_holds_for(const tt_condition *condition, const tt_sweep_value *columns);

#endif
