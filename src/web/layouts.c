#include "web/layouts.h"

#include "base/json.h"
#include "database/sqlite_link.h"

#include <glib.h>
#include <sqlite3.h>

#include <stdlib.h>
#include <string.h>

#define BUSY_MS 2000

struct tt_layouts {
  sqlite3 *db;
};

static const char create[] =
    "CREATE TABLE IF NOT EXISTS layout (name TEXT PRIMARY KEY, changed TEXT NOT NULL,"
    " content TEXT NOT NULL) WITHOUT ROWID";

static tt_status fail(tt_layouts *layouts, tt_error *error) {
  return tt_fail(error, TT_FAILED, "layouts: %s", sqlite3_errmsg(layouts->db));
}

static tt_status missing(tt_error *error) {
  return tt_fail(error, TT_NOT_FOUND, "there is no such layout");
}

tt_status tt_layouts_open(const char *path, tt_layouts **made, tt_error *error) {
  tt_layouts *layouts = calloc(1, sizeof *layouts);
  if (!layouts) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status =
      tt_sqlite_connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &layouts->db, error);
  if (status == TT_OK && (sqlite3_busy_timeout(layouts->db, BUSY_MS) != SQLITE_OK ||
                          sqlite3_exec(layouts->db, create, NULL, NULL, NULL) != SQLITE_OK))
    status = tt_fail(error, TT_FAILED, "%s: %s", path, sqlite3_errmsg(layouts->db));
  if (status == TT_OK)
    *made = layouts;
  else
    tt_layouts_close(layouts);
  return status;
}

void tt_layouts_close(tt_layouts *layouts) {
  if (!layouts) return;
  sqlite3_close(layouts->db);
  free(layouts);
}

/* Prepares a statement whose first parameter is `name`, where it has one. */
static tt_status prepare(tt_layouts *layouts, const char *text, const char *name,
                         sqlite3_stmt **statement, tt_error *error) {
  if (sqlite3_prepare_v2(layouts->db, text, -1, statement, NULL) != SQLITE_OK)
    return fail(layouts, error);
  if (name) sqlite3_bind_text(*statement, 1, name, -1, SQLITE_TRANSIENT);
  return TT_OK;
}

tt_status tt_layouts_list(tt_layouts *layouts, struct json_object **made, tt_error *error) {
  sqlite3_stmt *statement;
  TT_TRY(prepare(layouts, "SELECT name, changed FROM layout ORDER BY name COLLATE NOCASE", NULL,
                 &statement, error));
  struct json_object *list = json_object_new_array();
  int row;
  while ((row = sqlite3_step(statement)) == SQLITE_ROW) {
    struct json_object *layout = json_object_new_object();
    tt_json_add_text(layout, "name", (const char *)sqlite3_column_text(statement, 0));
    tt_json_add_text(layout, "changed", (const char *)sqlite3_column_text(statement, 1));
    json_object_array_add(list, layout);
  }
  sqlite3_finalize(statement);
  if (row == SQLITE_DONE) {
    *made = list;
    return TT_OK;
  }
  json_object_put(list);
  return fail(layouts, error);
}

/* {name, changed, layout}. What is there was JSON when it was stored; who else wrote into the file is refused. */
static tt_status read_row(sqlite3_stmt *statement, struct json_object **made, tt_error *error) {
  struct json_object *content;
  TT_TRY(tt_json_read((const char *)sqlite3_column_text(statement, 2),
                      (size_t)sqlite3_column_bytes(statement, 2), TT_JSON_STRICT, &content, error));
  struct json_object *layout = json_object_new_object();
  tt_json_add_text(layout, "name", (const char *)sqlite3_column_text(statement, 0));
  tt_json_add_text(layout, "changed", (const char *)sqlite3_column_text(statement, 1));
  tt_json_add(layout, "layout", content);
  *made = layout;
  return TT_OK;
}

tt_status tt_layouts_get(tt_layouts *layouts, const char *name, struct json_object **made,
                         tt_error *error) {
  sqlite3_stmt *statement;
  TT_TRY(prepare(layouts, "SELECT name, changed, content FROM layout WHERE name = ?", name,
                 &statement, error));
  int row = sqlite3_step(statement);
  tt_status status = row == SQLITE_ROW    ? read_row(statement, made, error)
                     : row == SQLITE_DONE ? missing(error)
                                          : fail(layouts, error);
  sqlite3_finalize(statement);
  return status;
}

/* A name is a line of text that people can read. */
static tt_status check_name(const char *name, tt_error *error) {
  size_t length = strlen(name);
  bool good = length > 0 && length <= TT_LAYOUT_LONGEST_NAME && g_utf8_validate(name, -1, NULL);
  for (const char *at = name; good && *at; at = g_utf8_next_char(at))
    good = !g_unichar_iscntrl(g_utf8_get_char(at));
  if (good) return TT_OK;
  return tt_fail(error, TT_INVALID, "name: give a line of text of at most %d bytes",
                 TT_LAYOUT_LONGEST_NAME);
}

/* Whether one more than those that are there has room. */
static tt_status check_room(tt_layouts *layouts, const char *name, tt_error *error) {
  sqlite3_stmt *statement;
  TT_TRY(prepare(layouts, "SELECT count(*) FROM layout WHERE name != ?", name, &statement, error));
  bool known = sqlite3_step(statement) == SQLITE_ROW;
  int others = known ? sqlite3_column_int(statement, 0) : 0;
  sqlite3_finalize(statement);
  if (!known) return fail(layouts, error);
  if (others < TT_LAYOUTS_MOST) return TT_OK;
  return tt_fail(error, TT_FULL, "there are %d layouts already: remove some", TT_LAYOUTS_MOST);
}

tt_status tt_layouts_put(tt_layouts *layouts, const char *name, struct json_object *layout,
                         struct json_object **made, tt_error *error) {
  sqlite3_stmt *statement;
  TT_TRY(check_name(name, error));
  TT_TRY(check_room(layouts, name, error));
  TT_TRY(prepare(layouts,
                 "INSERT INTO layout VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?)"
                 " ON CONFLICT (name) DO UPDATE SET changed = excluded.changed,"
                 " content = excluded.content",
                 name, &statement, error));
  sqlite3_bind_text(statement, 2, json_object_to_json_string_ext(layout, JSON_C_TO_STRING_PLAIN),
                    -1, SQLITE_TRANSIENT);
  bool done = sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_finalize(statement);
  if (!done) return fail(layouts, error);
  return tt_layouts_get(layouts, name, made, error);
}

tt_status tt_layouts_remove(tt_layouts *layouts, const char *name, struct json_object **made,
                            tt_error *error) {
  sqlite3_stmt *statement;
  struct json_object *before;
  TT_TRY(tt_layouts_get(layouts, name, &before, error));
  tt_status status = prepare(layouts, "DELETE FROM layout WHERE name = ?", name, &statement, error);
  if (status == TT_OK) {
    if (sqlite3_step(statement) != SQLITE_DONE) status = fail(layouts, error);
    sqlite3_finalize(statement);
  }
  if (status == TT_OK)
    *made = before;
  else
    json_object_put(before);
  return status;
}
