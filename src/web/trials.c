#include "web/trials.h"

#include "base/json.h"
#include "database/sqlite_link.h"

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_TEXT 1000
#define BUSY_MS 2000

struct tt_trials {
  sqlite3 *db;
};

/* Columns in the order of the table, after its id. */
typedef enum column_kind { TEXT, NUMBER, FLAG } column_kind;
static const struct {
  const char *key; /* of the JSON object, and the column's name */
  column_kind kind;
  bool changeable, required;
  const char *choices[3]; /* of a text; none: any */
} columns[] = {
    {"started", TEXT, false, true, {NULL}},
    {"scene", TEXT, false, true, {NULL}},
    {"driver", TEXT, false, true, {NULL}},
    {"time", NUMBER, false, true, {NULL}},
    {"startedBy", TEXT, false, true, {"hand", "motion", NULL}},
    {"stoppedBy", TEXT, false, true, {"hand", "condition", NULL}},
    {"condition", TEXT, false, false, {NULL}},
    {"note", TEXT, true, false, {NULL}},
    {"discarded", FLAG, true, false, {NULL}},
    {"recording", TEXT, false, false, {NULL}}, /* id of the kept run */
    {"begin", NUMBER, false, false, {NULL}},   /* s of that run, at which the trial started */
};
#define COLUMNS ((int)(sizeof columns / sizeof *columns))

static const char create[] =
    "CREATE TABLE IF NOT EXISTS trial (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " started TEXT NOT NULL, scene TEXT NOT NULL, driver TEXT NOT NULL, time REAL NOT NULL,"
    " startedBy TEXT NOT NULL, stoppedBy TEXT NOT NULL, condition TEXT NOT NULL,"
    " note TEXT NOT NULL, discarded INTEGER NOT NULL, recording TEXT NOT NULL DEFAULT '',"
    " begin REAL NOT NULL DEFAULT 0)";
/* Files of older programs have not these; where they stand already, that is an error that says nothing. */
static const char *const added[] = {
    "ALTER TABLE trial ADD COLUMN recording TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE trial ADD COLUMN begin REAL NOT NULL DEFAULT 0"};
#define ALL                                                                                        \
  "id, started, scene, driver, time, startedBy, stoppedBy, condition, note, discarded, "           \
  "recording, begin"

static tt_status fail(tt_trials *trials, tt_error *error) {
  return tt_fail(error, TT_FAILED, "trials: %s", sqlite3_errmsg(trials->db));
}

static bool has_recordings(sqlite3 *db) {
  return sqlite3_table_column_metadata(db, NULL, "trial", "begin", NULL, NULL, NULL, NULL, NULL) ==
         SQLITE_OK;
}

tt_status tt_trials_open(const char *path, tt_trials **made, tt_error *error) {
  *made = NULL;
  tt_trials *trials = calloc(1, sizeof *trials);
  if (!trials) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status =
      tt_sqlite_connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &trials->db, error);
  if (status == TT_OK && (sqlite3_busy_timeout(trials->db, BUSY_MS) != SQLITE_OK ||
                          sqlite3_exec(trials->db, create, NULL, NULL, NULL) != SQLITE_OK))
    status = tt_fail(error, TT_FAILED, "%s: %s", path, sqlite3_errmsg(trials->db));
  for (size_t i = 0; status == TT_OK && !has_recordings(trials->db) && i < 2; i++)
    sqlite3_exec(trials->db, added[i], NULL, NULL, NULL);
  if (status != TT_OK) {
    tt_trials_close(trials);
    return status;
  }
  *made = trials;
  return TT_OK;
}

void tt_trials_close(tt_trials *trials) {
  if (!trials) return;
  sqlite3_close(trials->db);
  free(trials);
}

/* ---- checking ---- */

static bool is_choice(const char *const *choices, const char *text) {
  if (!choices[0]) return true;
  for (; *choices; choices++)
    if (strcmp(*choices, text) == 0) return true;
  return false;
}

static tt_status check_value(int column, struct json_object *value, tt_error *error) {
  const char *key = columns[column].key;
  switch (columns[column].kind) {
    case TEXT:
      if (!json_object_is_type(value, json_type_string) ||
          json_object_get_string_len(value) > LONGEST_TEXT ||
          strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
        return tt_fail(error, TT_INVALID, "%s: give a text of at most %d bytes without a 0", key,
                       LONGEST_TEXT);
      if (!is_choice(columns[column].choices, json_object_get_string(value)))
        return tt_fail(error, TT_INVALID, "%s: give %s or %s", key, columns[column].choices[0],
                       columns[column].choices[1]);
      return TT_OK;
    case NUMBER: {
      bool number =
          json_object_is_type(value, json_type_double) || json_object_is_type(value, json_type_int);
      double time = number ? json_object_get_double(value) : NAN;
      return isfinite(time) && time >= 0
                 ? TT_OK
                 : tt_fail(error, TT_INVALID, "%s: give seconds, not below 0", key);
    }
    case FLAG:
      return json_object_is_type(value, json_type_boolean)
                 ? TT_OK
                 : tt_fail(error, TT_INVALID, "%s: give true or false", key);
  }
  return TT_OK;
}

static int column_of(const char *key) {
  for (int i = 0; i < COLUMNS; i++)
    if (strcmp(columns[i].key, key) == 0) return i;
  return -1;
}

/* Every key is known, may be given here, and holds what it should. */
static tt_status check(struct json_object *object, bool change, tt_error *error) {
  json_object_object_foreach(object, key, value) {
    int column = column_of(key);
    if (column < 0 || (change && !columns[column].changeable))
      return tt_fail(error, TT_INVALID, "%.100s: %s", key,
                     change ? "only note and discarded can be changed" : "there is no such key");
    TT_TRY(check_value(column, value, error));
  }
  for (int i = 0; !change && i < COLUMNS; i++)
    if (columns[i].required && !json_object_object_get_ex(object, columns[i].key, NULL))
      return tt_fail(error, TT_INVALID, "%s is missing", columns[i].key);
  return TT_OK;
}

/* ---- the table ---- */

static void bind(sqlite3_stmt *statement, int at, int column, struct json_object *value) {
  switch (columns[column].kind) {
    case TEXT:
      sqlite3_bind_text(statement, at, value ? json_object_get_string(value) : "", -1,
                        SQLITE_TRANSIENT);
      break;
    case NUMBER: sqlite3_bind_double(statement, at, json_object_get_double(value)); break;
    case FLAG: sqlite3_bind_int(statement, at, value && json_object_get_boolean(value)); break;
  }
}

static struct json_object *read_row(sqlite3_stmt *statement) {
  struct json_object *trial = json_object_new_object();
  tt_json_add_int(trial, "id", sqlite3_column_int64(statement, 0));
  for (int i = 0; i < COLUMNS; i++) {
    struct json_object *value = NULL;
    switch (columns[i].kind) {
      case TEXT:
        value = json_object_new_string((const char *)sqlite3_column_text(statement, i + 1));
        break;
      case NUMBER: value = json_object_new_double(sqlite3_column_double(statement, i + 1)); break;
      case FLAG: value = json_object_new_boolean(sqlite3_column_int(statement, i + 1)); break;
    }
    tt_json_add(trial, columns[i].key, value);
  }
  return trial;
}

static tt_status read_id(const char *text, sqlite3_int64 *id, tt_error *error) {
  char *end;
  *id = strtoll(text, &end, 10);
  if (*text && *end == 0 && *id > 0) return TT_OK;
  return tt_fail(error, TT_NOT_FOUND, "there is no such trial");
}

static tt_status read_one(tt_trials *trials, sqlite3_int64 id, struct json_object **made,
                          tt_error *error) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(trials->db, "SELECT " ALL " FROM trial WHERE id = ?", -1, &statement,
                         NULL) != SQLITE_OK)
    return fail(trials, error);
  sqlite3_bind_int64(statement, 1, id);
  int found = sqlite3_step(statement);
  if (found == SQLITE_ROW) *made = read_row(statement);
  sqlite3_finalize(statement);
  if (found == SQLITE_ROW) return TT_OK;
  return found == SQLITE_DONE ? tt_fail(error, TT_NOT_FOUND, "there is no such trial")
                              : fail(trials, error);
}

tt_status tt_trials_list(tt_trials *trials, struct json_object **made, tt_error *error) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(trials->db, "SELECT " ALL " FROM trial ORDER BY id", -1, &statement,
                         NULL) != SQLITE_OK)
    return fail(trials, error);
  *made = json_object_new_array();
  int row;
  while ((row = sqlite3_step(statement)) == SQLITE_ROW)
    json_object_array_add(*made, read_row(statement));
  sqlite3_finalize(statement);
  if (row == SQLITE_DONE) return TT_OK;
  json_object_put(*made);
  *made = NULL;
  return fail(trials, error);
}

tt_status tt_trials_add(tt_trials *trials, struct json_object *trial, struct json_object **made,
                        tt_error *error) {
  sqlite3_stmt *statement;
  TT_TRY(check(trial, false, error));
  if (sqlite3_prepare_v2(trials->db,
                         "INSERT INTO trial VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
                         &statement, NULL) != SQLITE_OK)
    return fail(trials, error);
  for (int i = 0; i < COLUMNS; i++) {
    struct json_object *value = NULL;
    json_object_object_get_ex(trial, columns[i].key, &value);
    bind(statement, i + 1, i, value);
  }
  bool done = sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_finalize(statement);
  if (!done) return fail(trials, error);
  return read_one(trials, sqlite3_last_insert_rowid(trials->db), made, error);
}

static tt_status set_column(tt_trials *trials, sqlite3_int64 id, int column,
                            struct json_object *value, tt_error *error) {
  sqlite3_stmt *statement;
  char *text = sqlite3_mprintf("UPDATE trial SET %s = ? WHERE id = ?", columns[column].key);
  int prepared = text ? sqlite3_prepare_v2(trials->db, text, -1, &statement, NULL) : SQLITE_NOMEM;
  sqlite3_free(text);
  if (prepared != SQLITE_OK) return fail(trials, error);
  bind(statement, 1, column, value);
  sqlite3_bind_int64(statement, 2, id);
  bool done = sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_finalize(statement);
  return done ? TT_OK : fail(trials, error);
}

tt_status tt_trials_change(tt_trials *trials, const char *id, struct json_object *changes,
                           struct json_object **made, tt_error *error) {
  sqlite3_int64 number;
  TT_TRY(read_id(id, &number, error));
  TT_TRY(check(changes, true, error));
  json_object_object_foreach(changes, key, value)
      TT_TRY(set_column(trials, number, column_of(key), value, error));
  return read_one(trials, number, made, error);
}

tt_status tt_trials_remove(tt_trials *trials, const char *id, struct json_object **made,
                           tt_error *error) {
  sqlite3_int64 number;
  sqlite3_stmt *statement;
  TT_TRY(read_id(id, &number, error));
  TT_TRY(read_one(trials, number, made, error));
  bool done = sqlite3_prepare_v2(trials->db, "DELETE FROM trial WHERE id = ?", -1, &statement,
                                 NULL) == SQLITE_OK;
  if (done) {
    sqlite3_bind_int64(statement, 1, number);
    done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
  }
  if (done) return TT_OK;
  json_object_put(*made);
  *made = NULL;
  return fail(trials, error);
}
