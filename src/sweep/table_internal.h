/* table_internal.h: what the files that read a sweep's table share. */
#ifndef TT_SWEEP_TABLE_INTERNAL_H
#define TT_SWEEP_TABLE_INTERNAL_H

#include "sweep/table.h"

#include <sqlite3.h>

/** An open table; one thread. */
struct tt_sweep_table {
  sqlite3 *db;
  char *path;
  tt_sweep_column *columns; /**< [count]; texts are its own */
  int count;
};

/** Says what SQLite says, with the file. */
tt_status sweep_table_fail(const tt_sweep_table *table, tt_error *error);
/** Makes a statement of `text`, which is freed, and binds the query's conditions, whose places were written by
 *  sweep_table_where(). sqlite3_finalize() it. */
tt_status sweep_table_prepare(const tt_sweep_table *table, sqlite3_str *text,
                              const tt_sweep_query *query, sqlite3_stmt **statement,
                              tt_error *error);
/** Appends " WHERE …", or nothing. Names come from the table and are quoted; values are bound. */
void sweep_table_where(const tt_sweep_table *table, sqlite3_str *text, const tt_sweep_query *query);
/** A column of a statement's row as JSON; NULL is null. */
struct json_object *sweep_table_value(sqlite3_stmt *statement, int column);
/** Whether the statement has another row; false at its end, and with `*status` set where it failed. */
bool sweep_table_step(const tt_sweep_table *table, sqlite3_stmt *statement, tt_status *status,
                      tt_error *error);

#endif
