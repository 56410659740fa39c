/* value.h: what stands in a column of a sweep's table: nothing, a number or a text. */
#ifndef TT_SWEEP_VALUE_H
#define TT_SWEEP_VALUE_H

#include <stdbool.h>
#include <stddef.h>

/** What it is. */
typedef enum tt_sweep_kind { TT_SWEEP_NULL, TT_SWEEP_NUMBER, TT_SWEEP_TEXT } tt_sweep_kind;

/** The value; plain data. */
typedef struct tt_sweep_value {
  tt_sweep_kind kind;
  double number;    /**< SI; finite */
  const char *text; /**< whoever filled it says whose */
} tt_sweep_value;

/** As a setting or a controller reads it, in the fewest digits that give the same number again; "" for nothing. Returns
 *  `text`. */
const char *tt_sweep_value_text(const tt_sweep_value *value, char *text, size_t size);
/** Same kind, same bits. */
bool tt_sweep_value_equal(const tt_sweep_value *a, const tt_sweep_value *b);

#endif
