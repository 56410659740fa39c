#include "store/sqlite/cut.h"

#include "database/sqlite_link.h"
#include "store/sqlite/packing.h"

#include <stdlib.h>
#include <string.h>

typedef enum statement {
  DROP_VALUE,
  DROP_VALUES,
  DROP_SAMPLE,
  DROP_COLUMN,
  PUT_COLUMN,
  HAS_COLUMNS,
  STATEMENT_COUNT
} statement;

static const char *const statement_texts[STATEMENT_COUNT] = {
    [DROP_VALUE] = "DELETE FROM value WHERE sample = ?1 AND attribute = ?2",
    [DROP_VALUES] = "DELETE FROM value WHERE sample = ?1",
    [DROP_SAMPLE] =
        "DELETE FROM sample WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM value WHERE sample = ?1)",
    [DROP_COLUMN] = "DELETE FROM packed WHERE id = ?1",
    [PUT_COLUMN] = "INSERT INTO packed (segment, attribute, count, data) VALUES (?1, ?2, ?3, ?4)",
    [HAS_COLUMNS] = "SELECT 1 FROM packed WHERE segment = ?1 LIMIT 1",
};

struct tt_sqlite_cutter {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_list bytes; /**< scratch */
};

static tt_status fail(const tt_sqlite_cutter *cutter, const char *what, tt_error *error) {
  return tt_sqlite_fail(cutter->db, cutter->path, what, error);
}

tt_status tt_sqlite_cutter_open(sqlite3 *db, const char *path, tt_sqlite_cutter **out,
                                tt_error *error) {
  tt_sqlite_cutter *cutter = calloc(1, sizeof *cutter);
  if (!cutter) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  *cutter = (tt_sqlite_cutter){.db = db, .path = path, .bytes = TT_LIST(char, NULL)};
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v3(db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &cutter->statements[i], NULL) == SQLITE_OK)
      continue;
    tt_status status = fail(cutter, "can't prepare", error);
    tt_sqlite_cutter_close(cutter);
    return status;
  }
  *out = cutter;
  return TT_OK;
}

void tt_sqlite_cutter_close(tt_sqlite_cutter *cutter) {
  if (!cutter) return;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(cutter->statements[i]);
  tt_list_free(&cutter->bytes);
  free(cutter);
}

/** Runs a prepared statement that gives no rows. */
static tt_status run(tt_sqlite_cutter *cutter, statement which, tt_error *error) {
  int result = sqlite3_step(cutter->statements[which]);
  sqlite3_reset(cutter->statements[which]);
  return result == SQLITE_DONE ? TT_OK : fail(cutter, "can't write", error);
}

tt_status tt_sqlite_cut_row(tt_sqlite_cutter *cutter, int64_t id, int attribute, int *removed,
                            tt_error *error) {
  const statement drop = attribute < 0 ? DROP_VALUES : DROP_VALUE;
  sqlite3_bind_int64(cutter->statements[drop], 1, id);
  if (drop == DROP_VALUE) sqlite3_bind_int(cutter->statements[drop], 2, attribute + 1);
  TT_TRY(run(cutter, drop, error));
  const int changes = sqlite3_changes(cutter->db);
  if (!changes) return TT_OK;
  *removed += changes;
  sqlite3_bind_int64(cutter->statements[DROP_SAMPLE], 1, id);
  return run(cutter, DROP_SAMPLE, error);
}

/* --- columns --- */

/** Which rows go. */
typedef struct choice {
  const tt_sqlite_piece *piece;
  tt_sqlite_goes *goes;
  const void *context;
} choice;

/** What of a column stays. False: out of memory. */
static bool keep_others(const choice *choice, const tt_column *column, tt_column *kept) {
  for (uint32_t i = 0; i < column->values.len; i++) {
    tt_column_value value = tt_list_at(&column->values, tt_column_value, i);
    if (choice->goes(choice->context, choice->piece, value.row)) continue;
    if (value.text != TT_COLUMN_NUMBER) {
      const char *text = (const char *)column->text.data + value.text;
      value.text = kept->text.len;
      if (!tt_list_add(&kept->text, text, strlen(text) + 1)) return false;
    }
    if (!tt_list_add(&kept->values, &value, 1)) return false;
  }
  return true;
}

static tt_status put_column(tt_sqlite_cutter *cutter, const tt_sqlite_segment *segment,
                            int attribute, const tt_column *column, tt_error *error) {
  sqlite3_stmt *put = cutter->statements[PUT_COLUMN];
  tt_list_cut(&cutter->bytes, 0);
  TT_TRY(tt_column_pack(column, segment->rows, &cutter->bytes, error));
  sqlite3_bind_int64(put, 1, segment->id);
  sqlite3_bind_int(put, 2, attribute + 1);
  sqlite3_bind_int(put, 3, (int)column->values.len);
  sqlite3_bind_blob(put, 4, cutter->bytes.data, (int)cutter->bytes.len, SQLITE_STATIC);
  return run(cutter, PUT_COLUMN, error);
}

static tt_status cut_column(tt_sqlite_cutter *cutter, const choice *choice,
                            const tt_sqlite_column *column, int *removed, tt_error *error) {
  tt_column kept = tt_column_new();
  tt_status status = TT_OK;
  if (!keep_others(choice, &column->column, &kept))
    status = tt_fail(error, TT_NOMEM, "%s: out of memory", cutter->path);
  if (status == TT_OK && kept.values.len < column->column.values.len) {
    *removed += (int)(column->column.values.len - kept.values.len);
    sqlite3_bind_int64(cutter->statements[DROP_COLUMN], 1, column->id);
    status = run(cutter, DROP_COLUMN, error);
    if (status == TT_OK && kept.values.len)
      status = put_column(cutter, &choice->piece->segment, column->attribute, &kept, error);
  }
  tt_column_free(&kept);
  return status;
}

static tt_status drop_if_empty(tt_sqlite_cutter *cutter, int64_t segment, tt_error *error) {
  sqlite3_stmt *query = cutter->statements[HAS_COLUMNS];
  sqlite3_bind_int64(query, 1, segment);
  int result = sqlite3_step(query);
  sqlite3_reset(query);
  if (result == SQLITE_ROW) return TT_OK;
  return result == SQLITE_DONE ? tt_sqlite_drop_segment(cutter->db, cutter->path, segment, error)
                               : fail(cutter, "can't read", error);
}

tt_status tt_sqlite_cut_columns(tt_sqlite_cutter *cutter, const tt_sqlite_piece *piece,
                                tt_sqlite_goes *goes, const void *context, int *removed,
                                tt_error *error) {
  const choice choice = {piece, goes, context};
  for (uint32_t i = 0; i < piece->columns.len; i++)
    TT_TRY(cut_column(cutter, &choice, &tt_list_at(&piece->columns, tt_sqlite_column, i), removed,
                      error));
  return drop_if_empty(cutter, piece->segment.id, error);
}
