/* packed_table.c: see its header.
 *
 * Devices in order of their ids, their epochs, the segments of these by device time, their attributes, and of each its
 * values: so that of an attribute all are given in order. What is asked for by name or within times is looked for, and no
 * more is unpacked. SQLite looks at each row again: too many do no harm.
 *
 * This file is compiled twice: for the program, where SQLite is called, and as an extension, where SQLite says where its
 * functions are.
 */
#include "store/sqlite/packed_query.h"
#ifdef TETHER_SQLITE_EXTENSION
SQLITE_EXTENSION_INIT1
#endif
#include "store/sqlite/packed_table.h"

#include "store/column/column.h"
#include "store/sqlite/time_text.h"

#include <stdlib.h>
#include <string.h>

typedef enum statement { NEXT_EPOCH, SEGMENTS, COLUMNS, TEXT_OF_TIME, STATEMENT_COUNT } statement;

/** %w is the file's name in the connection. */
static const char *const statement_texts[STATEMENT_COUNT] = {
    [NEXT_EPOCH] =
        "SELECT min(epoch) FROM \"%w\".segment WHERE device = ?1 AND epoch BETWEEN ?2 AND ?3",
    // Segments don't overlap: the last one that begins before a time is the first in which it may be.
    [SEGMENTS] =
        "SELECT id, rows, moments FROM \"%w\".segment WHERE device = ?1 AND epoch = ?2"
        " AND first BETWEEN coalesce((SELECT max(first) FROM \"%w\".segment"
        "  WHERE device = ?1 AND epoch = ?2 AND first <= ?3), ?3) AND ?4 AND last >= ?3"
        " AND time_first <= ?6 AND time_last >= ?5"
        " AND (time_first <= ?8 AND time_last >= ?7 OR time_first < 0 OR time_last >= ?9)"
        " ORDER BY first",
    [COLUMNS] = ("SELECT attribute, count, data FROM \"%w\".packed WHERE segment = ?1"
                 " AND attribute BETWEEN ?2 AND ?3 ORDER BY attribute"),
    [TEXT_OF_TIME] = "SELECT " TT_SQLITE_TIME_TEXT("?1"),
};

/** Names of devices or of attributes. */
#define NAMES                                                                                      \
  "SELECT id, coalesce(name, identifier), identifier FROM \"%w\".%s"                               \
  " WHERE (?1 IS NULL OR coalesce(name, identifier) = ?1) AND (?2 IS NULL OR identifier = ?2)"     \
  " ORDER BY id"

typedef struct packed_table {
  sqlite3_vtab base;
  sqlite3 *db;
  char *file; /**< its name in the connection: "main" */
  bool busy;  /**< its own statements run: where they come back to it, the file is a stranger's */
} packed_table;

typedef struct name {
  int64_t id;
  char *shown, *identifier;
} name;

typedef struct packed_cursor {
  sqlite3_vtab_cursor base;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_list devices, attributes; /**< name, by id: those that are asked for */
  tt_packed_query asked;
  /* Where it stands: */
  uint32_t device; /**< index; at the end: their number */
  int64_t epoch;
  bool in_epoch, in_segment; /**< its segments, or its columns, are gone through */
  int64_t segment, rows;
  tt_list moments;    /**< tt_column_moment; none: not unpacked yet */
  uint32_t attribute; /**< index */
  tt_column column;
  uint32_t value; /**< index */
  int64_t rowid;
} packed_cursor;

static void clear_name(void *item) {
  name *name = item;
  sqlite3_free(name->shown);
  sqlite3_free(name->identifier);
}

/* --- what goes wrong --- */

static int say(packed_cursor *cursor, int code, char *text) {
  sqlite3_free(cursor->base.pVtab->zErrMsg);
  cursor->base.pVtab->zErrMsg = text;
  return code;
}

/** What SQLite says of a statement within. */
static int failed(packed_cursor *cursor, int code) {
  sqlite3 *db = ((packed_table *)cursor->base.pVtab)->db;
  return say(cursor, code, sqlite3_mprintf("packed telemetry: %s", sqlite3_errmsg(db)));
}

static int damaged(packed_cursor *cursor, int64_t attribute, const char *why) {
  return say(cursor, SQLITE_CORRUPT_VTAB,
             attribute ? sqlite3_mprintf("packed telemetry, segment %lld, attribute %lld: %s",
                                         (long long)cursor->segment, (long long)attribute, why)
                       : sqlite3_mprintf("packed telemetry, segment %lld, its times: %s",
                                         (long long)cursor->segment, why));
}

static int judge(packed_cursor *cursor, int64_t attribute, tt_status status,
                 const tt_error *error) {
  if (status == TT_OK) return SQLITE_OK;
  return status == TT_NOMEM ? SQLITE_NOMEM : damaged(cursor, attribute, error->text);
}

/* --- the table --- */

static int table_connect(sqlite3 *db, void *context, int count, const char *const *arguments,
                         sqlite3_vtab **out, char **error) {
  (void)context, (void)count, (void)error;
  int code = sqlite3_declare_vtab(db, "CREATE TABLE x(" TT_SQLITE_PACKED_COLUMNS ")");
  // It reads tables of its own file and does nothing else: a view may use it, whoever made the file.
  if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  if (code != SQLITE_OK) return code;
  packed_table *table = calloc(1, sizeof *table);
  if (!table) return SQLITE_NOMEM;
  table->db = db;
  table->file = sqlite3_mprintf("%s", arguments[1]);
  if (!table->file) {
    free(table);
    return SQLITE_NOMEM;
  }
  *out = &table->base;
  return SQLITE_OK;
}

/** Not the same function as the other's, or the table would be there without being made. */
static int table_create(sqlite3 *db, void *context, int count, const char *const *arguments,
                        sqlite3_vtab **out, char **error) {
  return table_connect(db, context, count, arguments, out, error);
}

static int table_disconnect(sqlite3_vtab *base) {
  sqlite3_free(((packed_table *)base)->file);
  free(base);
  return SQLITE_OK;
}

/* --- what is asked for --- */

/** The names that are asked for; NULL: any. */
static int find_names(packed_cursor *cursor, const char *table, sqlite3_value *shown,
                      sqlite3_value *identifier, tt_list *names) {
  packed_table *base = (packed_table *)cursor->base.pVtab;
  char *sql = sqlite3_mprintf(NAMES, base->file, table);
  sqlite3_stmt *query = NULL;
  int code = sql ? sqlite3_prepare_v2(base->db, sql, -1, &query, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  if (code != SQLITE_OK) return failed(cursor, code);
  sqlite3_value *asked[] = {shown, identifier};
  for (int i = 0; i < 2 && code == SQLITE_OK; i++) {
    if (!asked[i]) continue;
    const char *text = (const char *)sqlite3_value_text(asked[i]);
    code = sqlite3_bind_text(query, i + 1, text ? text : "", sqlite3_value_bytes(asked[i]),
                             SQLITE_TRANSIENT);
  }
  tt_list_cut(names, 0);
  while (code == SQLITE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    name name = {sqlite3_column_int64(query, 0),
                 sqlite3_mprintf("%s", sqlite3_column_text(query, 1)),
                 sqlite3_mprintf("%s", sqlite3_column_text(query, 2))};
    const bool added = name.shown && name.identifier && tt_list_add(names, &name, 1);
    if (!added) clear_name(&name);
    code = added ? SQLITE_OK : SQLITE_NOMEM;
  }
  if (code != SQLITE_DONE) failed(cursor, code);
  sqlite3_finalize(query);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* --- going on --- */

/** A statement within, of which nothing is bound yet; NULL: `*code` says why. */
static sqlite3_stmt *prepared(packed_cursor *cursor, statement which, int *code) {
  packed_table *base = (packed_table *)cursor->base.pVtab;
  if (!cursor->statements[which]) {
    char *sql = which == TEXT_OF_TIME
                    ? sqlite3_mprintf("%s", statement_texts[which])
                    : sqlite3_mprintf(statement_texts[which], base->file, base->file);
    *code = sql ? sqlite3_prepare_v3(base->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                     &cursor->statements[which], NULL)
                : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (*code != SQLITE_OK) failed(cursor, *code);
  }
  if (cursor->statements[which]) sqlite3_reset(cursor->statements[which]);
  return cursor->statements[which];
}

static const name *current_device(const packed_cursor *cursor) {
  return &tt_list_at(&cursor->devices, name, cursor->device);
}

/** Begins the next epoch of the device, which begins at or behind `from`; or the next device. */
static int next_epoch(packed_cursor *cursor) {
  int code = SQLITE_OK;
  sqlite3_stmt *query = prepared(cursor, NEXT_EPOCH, &code);
  if (!query) return code;
  const int64_t id = current_device(cursor)->id;
  sqlite3_bind_int64(query, 1, id);
  sqlite3_bind_int64(query, 2, cursor->epoch);
  sqlite3_bind_int64(query, 3, cursor->asked.epochs.high);
  code = sqlite3_step(query);
  if (code != SQLITE_ROW) return failed(cursor, code == SQLITE_DONE ? SQLITE_CORRUPT_VTAB : code);
  cursor->in_epoch = sqlite3_column_type(query, 0) != SQLITE_NULL;
  if (cursor->in_epoch) cursor->epoch = sqlite3_column_int64(query, 0);
  sqlite3_reset(query);
  if (!cursor->in_epoch) {
    cursor->device++;
    cursor->epoch = cursor->asked.epochs.low;
    return SQLITE_OK;
  }
  query = prepared(cursor, SEGMENTS, &code);
  if (!query) return code;
  sqlite3_bind_int64(query, 1, id);
  sqlite3_bind_int64(query, 2, cursor->epoch);
  sqlite3_bind_int64(query, 3, cursor->asked.device_times.low);
  sqlite3_bind_int64(query, 4, cursor->asked.device_times.high);
  sqlite3_bind_int64(query, 5, cursor->asked.times.low);
  sqlite3_bind_int64(query, 6, cursor->asked.times.high);
  sqlite3_bind_int64(query, 7, cursor->asked.text_times.low);
  sqlite3_bind_int64(query, 8, cursor->asked.text_times.high);
  sqlite3_bind_int64(query, 9, TT_SQLITE_TIME_TEXT_END);
  return SQLITE_OK;
}

/** Begins the next segment of the epoch, or leaves it. */
static int next_segment(packed_cursor *cursor) {
  sqlite3_stmt *segments = cursor->statements[SEGMENTS];
  int code = sqlite3_step(segments);
  if (code == SQLITE_DONE) {
    cursor->in_epoch = false;
    if (cursor->epoch == INT64_MAX) {
      cursor->device++;
      cursor->epoch = cursor->asked.epochs.low;
    } else {
      cursor->epoch++;
    }
    return SQLITE_OK;
  }
  if (code != SQLITE_ROW) return failed(cursor, code);
  sqlite3_stmt *columns = prepared(cursor, COLUMNS, &code);
  if (!columns) return code;
  cursor->segment = sqlite3_column_int64(segments, 0);
  cursor->rows = sqlite3_column_int64(segments, 1);
  tt_list_cut(&cursor->moments, 0);
  const uint32_t last = cursor->attributes.len - 1;
  sqlite3_bind_int64(columns, 1, cursor->segment);
  sqlite3_bind_int64(columns, 2, tt_list_at(&cursor->attributes, name, 0).id);
  sqlite3_bind_int64(columns, 3, tt_list_at(&cursor->attributes, name, last).id);
  cursor->in_segment = true;
  return SQLITE_OK;
}

static int unpack_moments(packed_cursor *cursor) {
  sqlite3_stmt *segments = cursor->statements[SEGMENTS];
  tt_error error;
  const void *bytes = sqlite3_column_blob(segments, 2);
  const size_t size = (size_t)sqlite3_column_bytes(segments, 2);
  tt_status status = tt_column_unpack_moments(bytes, size, &cursor->moments, &error);
  if (status == TT_OK && cursor->moments.len != cursor->rows)
    return damaged(cursor, 0, "damaged: there are more or less of them than it has rows");
  return judge(cursor, 0, status, &error);
}

/** Whether an attribute is asked for; it is the current one then. */
static bool find_attribute(packed_cursor *cursor, int64_t id) {
  uint32_t from = 0, to = cursor->attributes.len;
  while (from < to) {
    const uint32_t middle = from + (to - from) / 2;
    const int64_t found = tt_list_at(&cursor->attributes, name, middle).id;
    cursor->attribute = middle;
    if (found == id) return true;
    if (found < id)
      from = middle + 1;
    else
      to = middle;
  }
  return false;
}

/** Unpacks the next column of the segment, or leaves it. */
static int next_column(packed_cursor *cursor) {
  sqlite3_stmt *columns = cursor->statements[COLUMNS];
  int code = sqlite3_step(columns);
  if (code == SQLITE_DONE) {
    cursor->in_segment = false;
    return SQLITE_OK;
  }
  if (code != SQLITE_ROW) return failed(cursor, code);
  const int64_t attribute = sqlite3_column_int64(columns, 0);
  if (!find_attribute(cursor, attribute)) return SQLITE_OK;
  if (!cursor->moments.len && (code = unpack_moments(cursor)) != SQLITE_OK) return code;
  tt_error error;
  const void *bytes = sqlite3_column_blob(columns, 2);
  const size_t size = (size_t)sqlite3_column_bytes(columns, 2);
  tt_status status = tt_column_unpack(bytes, size, cursor->moments.len, &cursor->column, &error);
  cursor->value = 0;
  if (status == TT_OK && cursor->column.values.len != sqlite3_column_int64(columns, 1))
    return damaged(cursor, attribute, "damaged: there are more or less values than it says");
  return judge(cursor, attribute, status, &error);
}

static const tt_column_value *current_value(const packed_cursor *cursor) {
  return &tt_list_at(&cursor->column.values, tt_column_value, cursor->value);
}

static const tt_column_moment *current_moment(const packed_cursor *cursor) {
  return &tt_list_at(&cursor->moments, tt_column_moment, current_value(cursor)->row);
}

/** Goes on until it stands on a value that is asked for, or behind all. */
static int settle(packed_cursor *cursor) {
  int code = SQLITE_OK;
  while (code == SQLITE_OK && cursor->device < cursor->devices.len) {
    for (; cursor->value < cursor->column.values.len; cursor->value++) {
      const tt_column_moment *moment = current_moment(cursor);
      if (tt_packed_query_takes(&cursor->asked, moment->device_time, moment->time))
        return SQLITE_OK;
    }
    tt_column_clear(&cursor->column);
    cursor->value = 0;
    code = cursor->in_segment ? next_column(cursor)
           : cursor->in_epoch ? next_segment(cursor)
                              : next_epoch(cursor);
  }
  return code;
}

/* --- cursors --- */

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  (void)base;
  packed_cursor *cursor = calloc(1, sizeof *cursor);
  if (!cursor) return SQLITE_NOMEM;
  cursor->devices = TT_LIST(name, clear_name);
  cursor->attributes = TT_LIST(name, clear_name);
  cursor->moments = TT_LIST(tt_column_moment, NULL);
  cursor->column = tt_column_new();
  *out = &cursor->base;
  return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *base) {
  packed_cursor *cursor = (packed_cursor *)base;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(cursor->statements[i]);
  tt_list_free(&cursor->devices);
  tt_list_free(&cursor->attributes);
  tt_list_free(&cursor->moments);
  tt_column_free(&cursor->column);
  free(cursor);
  return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count,
                         sqlite3_value **values) {
  (void)number;
  packed_table *table = (packed_table *)base->pVtab;
  packed_cursor *cursor = (packed_cursor *)base;
  tt_packed_names names;
  tt_packed_query_read(plan, count, values, &cursor->asked, &names);
  cursor->epoch = cursor->asked.epochs.low;
  cursor->in_epoch = cursor->in_segment = false;
  cursor->device = 0;
  cursor->rowid = 0;
  tt_column_clear(&cursor->column);
  if (table->busy)
    return say(cursor, SQLITE_CORRUPT_VTAB, sqlite3_mprintf("packed telemetry is made of itself"));
  table->busy = true;
  int code = find_names(cursor, "device", names.device, names.device_identifier, &cursor->devices);
  if (code == SQLITE_OK)
    code = find_names(cursor, "attribute", names.attribute, names.attribute_identifier,
                      &cursor->attributes);
  if (!cursor->attributes.len) tt_list_cut(&cursor->devices, 0);
  if (code == SQLITE_OK) code = settle(cursor);
  table->busy = false;
  return code;
}

static int cursor_next(sqlite3_vtab_cursor *base) {
  packed_cursor *cursor = (packed_cursor *)base;
  packed_table *table = (packed_table *)base->pVtab;
  cursor->value++;
  cursor->rowid++;
  table->busy = true;
  const int code = settle(cursor);
  table->busy = false;
  return code;
}

static int cursor_eof(sqlite3_vtab_cursor *base) {
  const packed_cursor *cursor = (packed_cursor *)base;
  return cursor->device >= cursor->devices.len;
}

static void give_text(sqlite3_context *context, const char *text) {
  sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/** Of times that people don't have SQLite knows the text. */
static int give_time(packed_cursor *cursor, sqlite3_context *context, int64_t time) {
  char text[TT_SQLITE_TIME_TEXT_SIZE];
  if (tt_sqlite_put_time_text(time, text)) {
    sqlite3_result_text(context, text, sizeof text - 1, SQLITE_TRANSIENT);
    return SQLITE_OK;
  }
  int code = SQLITE_OK;
  sqlite3_stmt *query = prepared(cursor, TEXT_OF_TIME, &code);
  if (!query) return code;
  sqlite3_bind_int64(query, 1, time);
  code = sqlite3_step(query);
  if (code == SQLITE_ROW) sqlite3_result_value(context, sqlite3_column_value(query, 0));
  sqlite3_reset(query);
  return code == SQLITE_ROW ? SQLITE_OK : failed(cursor, code);
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  packed_cursor *cursor = (packed_cursor *)base;
  const name *device = current_device(cursor);
  const name *attribute = &tt_list_at(&cursor->attributes, name, cursor->attribute);
  const tt_column_value *value = current_value(cursor);
  switch (column) {
    case TT_PACKED_DEVICE: give_text(context, device->shown); break;
    case TT_PACKED_TEXT_OF_TIME: return give_time(cursor, context, current_moment(cursor)->time);
    case TT_PACKED_ATTRIBUTE: give_text(context, attribute->shown); break;
    case TT_PACKED_VALUE:
      if (value->text == TT_COLUMN_NUMBER)
        sqlite3_result_double(context, value->number);
      else
        give_text(context, (const char *)cursor->column.text.data + value->text);
      break;
    case TT_PACKED_TIME: sqlite3_result_int64(context, current_moment(cursor)->time); break;
    case TT_PACKED_DEVICE_TIME:
      sqlite3_result_int64(context, current_moment(cursor)->device_time);
      break;
    case TT_PACKED_EPOCH: sqlite3_result_int64(context, cursor->epoch); break;
    case TT_PACKED_DEVICE_IDENTIFIER: give_text(context, device->identifier); break;
    default: give_text(context, attribute->identifier);
  }
  return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = ((packed_cursor *)base)->rowid;
  return SQLITE_OK;
}

static const sqlite3_module module = {.xCreate = table_create,
                                      .xConnect = table_connect,
                                      .xBestIndex = tt_packed_query_plan,
                                      .xDisconnect = table_disconnect,
                                      .xDestroy = table_disconnect,
                                      .xOpen = cursor_open,
                                      .xClose = cursor_close,
                                      .xFilter = cursor_filter,
                                      .xNext = cursor_next,
                                      .xEof = cursor_eof,
                                      .xColumn = cursor_column,
                                      .xRowid = cursor_rowid};

int tt_sqlite_register_packed(sqlite3 *db) {
  return sqlite3_create_module(db, TT_SQLITE_PACKED_MODULE, &module, NULL);
}

#ifdef TETHER_SQLITE_EXTENSION
__attribute__((visibility("default"))) int sqlite3_extension_init(
    sqlite3 *db, char **error, const sqlite3_api_routines *routines);
int sqlite3_extension_init(sqlite3 *db, char **error, const sqlite3_api_routines *routines) {
  (void)error;
  SQLITE_EXTENSION_INIT2(routines);
  return tt_sqlite_register_packed(db);
}
#endif
