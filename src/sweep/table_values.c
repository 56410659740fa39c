/* table_values.c: whole columns of a sweep's table as bytes, for those who draw all of them at once. */
#include "base/json.h"
#include "sweep/table_internal.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 4000000 /* of an answer: 32 MB */
#define MOST_TEXTS 256      /* different ones of a column; others are nothing */

/* What was read so far: the rows' numbers, then each column, [room] each. */
typedef struct reading {
  const tt_sweep_table *table;
  const tt_sweep_query *query;
  size_t rows, room, stride;
  double *values;
  char **texts[TT_SWEEP_MAX_COLUMNS]; /* [text_counts] of a text column */
  int text_counts[TT_SWEEP_MAX_COLUMNS];
} reading;

static void clear(reading *of) {
  for (int i = 0; i < of->query->column_count; i++) {
    for (int k = 0; k < of->text_counts[i]; k++) free(of->texts[i][k]);
    free(of->texts[i]);
  }
  free(of->values);
}

/* The place of a text in its column's list, which grows by it. */
static double place_of(reading *of, int column, const char *text) {
  int count = of->text_counts[column];
  for (int i = 0; i < count; i++)
    if (strcmp(of->texts[column][i], text) == 0) return i;
  if (!of->texts[column]) of->texts[column] = calloc(MOST_TEXTS, sizeof(char *));
  char *copy = of->texts[column] && count < MOST_TEXTS ? strdup(text) : NULL;
  if (!copy) return NAN;
  of->texts[column][of->text_counts[column]++] = copy;
  return count;
}

static double value_of(reading *of, sqlite3_stmt *statement, int column) {
  if (sqlite3_column_type(statement, column + 1) == SQLITE_NULL) return NAN;
  if (!of->table->columns[of->query->columns[column]].text)
    return sqlite3_column_double(statement, column + 1);
  const char *text = (const char *)sqlite3_column_text(statement, column + 1);
  return text ? place_of(of, column, text) : NAN;
}

static bool make_room(reading *of) {
  size_t columns = (size_t)of->query->column_count + 1;
  if (of->rows < of->room) return true;
  size_t room = of->room ? of->room * 2 : 4096;
  double *grown = malloc(room * columns * sizeof *grown);
  if (!grown) return false;
  for (size_t i = 0; i < columns && of->rows; i++)
    memcpy(grown + i * room, of->values + i * of->room, of->rows * sizeof *grown);
  free(of->values);
  of->values = grown;
  of->room = room;
  return true;
}

static tt_status read_values(reading *of, sqlite3_stmt *statement, tt_error *error) {
  tt_status status = TT_OK;
  while (sweep_table_step(of->table, statement, &status, error)) {
    if (!make_room(of)) return tt_fail(error, TT_NOMEM, "out of memory");
    of->values[of->rows] = (double)sqlite3_column_int64(statement, 0);
    for (int i = 0; i < of->query->column_count; i++)
      of->values[((size_t)i + 1) * of->room + of->rows] = value_of(of, statement, i);
    of->rows++;
  }
  return status;
}

/* Rows are left out where there would be too many values: the greatest number of a row says how many there are. */
static tt_status choose_stride(reading *of, tt_error *error) {
  sqlite3_stmt *statement;
  tt_status status = TT_OK;
  sqlite3_str *text = sqlite3_str_new(of->table->db);
  sqlite3_str_appendall(text, "SELECT max(rowid) FROM run");
  TT_TRY(sweep_table_prepare(of->table, text, NULL, &statement, error));
  size_t last = sweep_table_step(of->table, statement, &status, error)
                    ? (size_t)sqlite3_column_int64(statement, 0)
                    : 0;
  sqlite3_finalize(statement);
  of->stride = last * ((size_t)of->query->column_count + 1) / MOST_VALUES + 1;
  return status;
}

static tt_status prepare(const reading *of, sqlite3_stmt **statement, tt_error *error) {
  sqlite3_str *text = sqlite3_str_new(of->table->db);
  sqlite3_str_appendall(text, "SELECT rowid");
  for (int i = 0; i < of->query->column_count; i++)
    sqlite3_str_appendf(text, ", \"%w\"", of->table->columns[of->query->columns[i]].name);
  sqlite3_str_appendall(text, " FROM run");
  sweep_table_where(of->table, text, of->query);
  if (of->stride > 1)
    sqlite3_str_appendf(text, " AND rowid %% %llu = 0", (unsigned long long)of->stride);
  sqlite3_str_appendall(text, " ORDER BY rowid");
  return sweep_table_prepare(of->table, text, of->query, statement, error);
}

static struct json_object *describe(const reading *of) {
  struct json_object *header = json_object_new_object();
  struct json_object *columns = tt_json_add_array(header, "columns");
  tt_json_add_uint(header, "rows", of->rows);
  tt_json_add_uint(header, "stride", of->stride);
  for (int i = 0; i < of->query->column_count; i++) {
    const tt_sweep_column *column = &of->table->columns[of->query->columns[i]];
    struct json_object *one = json_object_new_object(), *texts = NULL;
    tt_json_add_text(one, "name", column->name);
    if (column->text) texts = tt_json_add_array(one, "texts");
    for (int k = 0; k < of->text_counts[i]; k++)
      json_object_array_add(texts, json_object_new_string(of->texts[i][k]));
    json_object_array_add(columns, one);
  }
  return header;
}

static tt_status write_bytes(const reading *of, void **bytes, size_t *size, tt_error *error) {
  struct json_object *header = describe(of);
  const char *text = json_object_to_json_string_ext(header, JSON_C_TO_STRING_PLAIN);
  size_t length = text ? strlen(text) : 0, columns = (size_t)of->query->column_count + 1;
  size_t padded = (length + 4 + 7) / 8 * 8 - 4, total = 4 + padded + columns * of->rows * 8;
  unsigned char *made = text ? malloc(total) : NULL;
  if (made) {
    uint32_t little = htole32((uint32_t)padded);
    memcpy(made, &little, 4);
    memset(made + 4, ' ', padded);
    memcpy(made + 4, text, length);
    for (size_t i = 0; i < columns * of->rows; i++) {
      uint64_t bits;
      memcpy(&bits, &of->values[i / of->rows * of->room + i % of->rows], 8);
      bits = htole64(bits);
      memcpy(made + 4 + padded + i * 8, &bits, 8);
    }
  }
  json_object_put(header);
  if (!made) return tt_fail(error, TT_NOMEM, "out of memory");
  *bytes = made;
  *size = total;
  return TT_OK;
}

static tt_status check(const tt_sweep_table *table, const tt_sweep_query *query, tt_error *error) {
  static const char *const refused[] = {"id", "error", "hash"};
  if (!query->column_count) return tt_fail(error, TT_INVALID, "column: name at least one");
  for (int i = 0; i < query->column_count; i++) {
    const char *name = table->columns[query->columns[i]].name;
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
      if (strcmp(name, refused[k]) == 0)
        return tt_fail(error, TT_INVALID, "column: %s: its texts are no groups", name);
  }
  return TT_OK;
}

tt_status tt_sweep_table_values(const tt_sweep_table *table, const tt_sweep_query *query,
                                void **bytes, size_t *size, tt_error *error) {
  reading of = {.table = table, .query = query};
  sqlite3_stmt *statement;
  TT_TRY(check(table, query, error));
  TT_TRY(choose_stride(&of, error));
  TT_TRY(prepare(&of, &statement, error));
  tt_status status = read_values(&of, statement, error);
  sqlite3_finalize(statement);
  if (status == TT_OK) status = write_bytes(&of, bytes, size, error);
  clear(&of);
  return status;
}
