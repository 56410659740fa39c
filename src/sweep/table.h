/* table.h: a sweep's table (results.h) for those who look at it: read-only, also while it is written, and never in the writer's way.
 *
 * A table is opened for a question or a few, and closed again. JSON that is made is the caller's to json_object_put(). All
 * functions take as long as the table is large: 10^5 rows some 10 ms.
 */
#ifndef TT_SWEEP_TABLE_H
#define TT_SWEEP_TABLE_H

#include "sweep/query.h"

#include <json-c/json.h>
#include <stddef.h>

typedef struct tt_sweep_table tt_sweep_table;

/** TT_NOT_FOUND: there is no such file; TT_INVALID: it is no table of a sweep; TT_FAILED. */
tt_status tt_sweep_table_open(const char *path, tt_sweep_table **table, tt_error *error);
/** NULL-safe. */
void tt_sweep_table_close(tt_sweep_table *table);

/** The columns in their order, [*count]; the table's. */
const tt_sweep_column *tt_sweep_table_columns(const tt_sweep_table *table, int *count);
/** What stands under `key` in the table `sweep`, "" where nothing does; free() it. NULL: out of memory. */
char *tt_sweep_table_fact(const tt_sweep_table *table, const char *key);
/** {`plan`, `scene`, `runs` that the plan has, `rows` that are there, `last` row's number, `statuses` {status: count}, `columns`
 *  [{`name`, `unit`, `role`, `text`}]}. TT_FAILED, TT_NOMEM. */
tt_status tt_sweep_table_describe(const tt_sweep_table *table, struct json_object **made,
                                  tt_error *error);
/** {`total` rows that the filters let through, `offset`, `rows` their numbers in the file, `columns` {name: [value]}}. Whole numbers that
 *  a browser could not hold are texts. */
tt_status tt_sweep_table_rows(const tt_sweep_table *table, const tt_sweep_query *query,
                              struct json_object **made, tt_error *error);
/** Rows with the same values of the query's axes (all axes, where it names none) as one: {`total` groups, `offset`, `count`
 *  [rows of each], `axes` {name: [value]}, `metrics` {name: {`mean`, `spread`}}}. A spread is the sample's standard deviation,
 *  null for fewer than two values. Metrics are those the query names, or all. */
tt_status tt_sweep_table_groups(const tt_sweep_table *table, const tt_sweep_query *query,
                                struct json_object **made, tt_error *error);
/** The query's columns whole, as bytes (free() them), little-endian: u32 size of the header, the header in JSON ({`rows`,
 *  `stride`, `columns` [{`name`, `texts` [..] of a text column}]}) and blanks up to a multiple of 8, then f64 [rows] each: the rows'
 *  numbers, then each column; NaN is nothing, a text is its place in `texts`. Of a table that is too large for one answer every
 *  `stride`-th row. TT_INVALID: the query names no column, or one whose texts are no groups (id, error, hash). */
tt_status tt_sweep_table_values(const tt_sweep_table *table, const tt_sweep_query *query,
                                void **bytes, size_t *size, tt_error *error);

#endif
