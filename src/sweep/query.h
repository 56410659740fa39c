/* query.h: what a reader asks of a sweep's table, from the query string of a request: text that anybody may have sent becomes a
 * checked struct of bounded size, in which columns are numbers, or a reason.
 *
 * Keys: `column=NAME` (any number), `sort=NAME` or `sort=-NAME` (the greatest first), `offset`, `limit`, `after` (rows that came
 * later than this one), `row` (this one alone), and `filter=NAME:CONDITION` (all hold), where CONDITION is `A..B` (both ends
 * included, either may be left out), `=TEXT`, `!TEXT` (another), `~TEXT` (contains) or `none`. Any thread.
 */
#ifndef TT_SWEEP_QUERY_H
#define TT_SWEEP_QUERY_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define TT_SWEEP_MAX_COLUMNS 400 /**< of a table */
#define TT_SWEEP_MAX_CONDITIONS 64
#define TT_SWEEP_MAX_ROWS 1000 /**< of an answer in which each has its texts */

/** What a column is for. */
typedef enum tt_sweep_role {
  TT_SWEEP_ROLE_RUN,
  TT_SWEEP_ROLE_AXIS,
  TT_SWEEP_ROLE_METRIC
} tt_sweep_role;

/** A column of the table. Texts are the table's. */
typedef struct tt_sweep_column {
  const char *name;
  const char *unit; /**< SI; "" where there is none */
  tt_sweep_role role;
  bool text; /**< else numbers */
} tt_sweep_column;

/** How a value is compared. */
typedef enum tt_sweep_comparison {
  TT_SWEEP_BETWEEN, /**< numbers */
  TT_SWEEP_SAME,
  TT_SWEEP_OTHER, /**< nothing is another, too */
  TT_SWEEP_CONTAINS,
  TT_SWEEP_NOTHING
} tt_sweep_comparison;

/** One condition on a row. */
typedef struct tt_sweep_condition {
  int column;
  tt_sweep_comparison comparison;
  double least, greatest; /**< of TT_SWEEP_BETWEEN; either may be infinite */
  char text[128];         /**< of the others */
} tt_sweep_condition;

/** The query; plain data. */
typedef struct tt_sweep_query {
  int columns[TT_SWEEP_MAX_COLUMNS]; /**< [column_count]; none: all */
  int column_count;
  tt_sweep_condition conditions[TT_SWEEP_MAX_CONDITIONS];
  int condition_count;
  int sort; /**< a column; -1: in the order in which rows came */
  bool descending;
  uint64_t offset;
  unsigned limit; /**< 1 to TT_SWEEP_MAX_ROWS; default 100 */
  int64_t after;  /**< a row's number in the file; 0: all */
  int64_t row;    /**< this one alone; 0: all */
} tt_sweep_query;

/** Reads a query string, percent-encoded; NULL is an empty one. TT_INVALID: with what may stand there. */
tt_status tt_sweep_query_read(const char *text, const tt_sweep_column *columns, int count,
                              tt_sweep_query *query, tt_error *error);
/** The column called `name`, which need not end: `size` bytes. -1: there is none. */
int tt_sweep_column_find(const tt_sweep_column *columns, int count, const char *name, size_t size);

#endif
