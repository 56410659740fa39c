#include "sweep/query.h"

#include "base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 1024 /* bytes of a key or a value */

/* Where a query is read into, and what it may name. */
typedef struct reader {
  const tt_sweep_column *columns;
  int count;
  tt_sweep_query *query;
  tt_error *error;
} reader;

int tt_sweep_column_find(const tt_sweep_column *columns, int count, const char *name, size_t size) {
  for (int i = 0; i < count; i++)
    if (strlen(columns[i].name) == size && memcmp(columns[i].name, name, size) == 0) return i;
  return -1;
}

static tt_status find(const reader *from, const char *key, const char *name, int *column) {
  *column = tt_sweep_column_find(from->columns, from->count, name, strlen(name));
  if (*column >= 0) return TT_OK;
  tt_nearest nearest = tt_nearest_start(name);
  for (int i = 0; i < from->count; i++) tt_nearest_offer(&nearest, from->columns[i].name);
  return tt_fail(from->error, TT_INVALID, "%s: there is no column '%.64s'%s", key, name,
                 tt_nearest_hint(&nearest));
}

static tt_status take_column(const reader *to, const char *name) {
  int column;
  if (to->query->column_count == TT_SWEEP_MAX_COLUMNS)
    return tt_fail(to->error, TT_INVALID, "column: at most %d", TT_SWEEP_MAX_COLUMNS);
  TT_TRY(find(to, "column", name, &column));
  for (int i = 0; i < to->query->column_count; i++)
    if (to->query->columns[i] == column) return TT_OK; /* once is enough */
  to->query->columns[to->query->column_count++] = column;
  return TT_OK;
}

static tt_status take_sort(const reader *to, const char *name) {
  to->query->descending = *name == '-';
  return find(to, "sort", name + to->query->descending, &to->query->sort);
}

/* A whole number, not negative. */
static tt_status take_whole(const reader *to, const char *key, const char *text, uint64_t least,
                            uint64_t most, uint64_t *value) {
  char *end = NULL;
  errno = 0;
  *value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
  if (end && !*end && !errno && *value >= least && *value <= most) return TT_OK;
  return tt_fail(to->error, TT_INVALID, "%s: '%.32s': give a whole number from %llu to %llu", key,
                 text, (unsigned long long)least, (unsigned long long)most);
}

/* ---- conditions ---- */

/* The number between `text` and `end`; `missing` where nothing stands there. */
static bool read_end(const char *text, const char *end, double missing, double *value) {
  char copy[64], *stop;
  if (text == end) return *value = missing, true;
  if ((size_t)(end - text) >= sizeof copy || isspace((unsigned char)*text)) return false;
  snprintf(copy, sizeof copy, "%.*s", (int)(end - text), text);
  *value = strtod(copy, &stop);
  return !*stop && isfinite(*value);
}

static bool read_range(const char *text, tt_sweep_condition *condition) {
  const char *dots = strstr(text, "..");
  condition->comparison = TT_SWEEP_BETWEEN;
  return dots && dots[2] != '.' && read_end(text, dots, -INFINITY, &condition->least) &&
         read_end(dots + 2, text + strlen(text), INFINITY, &condition->greatest);
}

static bool read_condition(const char *text, tt_sweep_condition *condition) {
  if (strcmp(text, "none") == 0) {
    condition->comparison = TT_SWEEP_NOTHING;
    return true;
  }
  const char kind = *text;
  if (kind != '=' && kind != '!' && kind != '~') return read_range(text, condition);
  condition->comparison = kind == '='   ? TT_SWEEP_SAME
                          : kind == '!' ? TT_SWEEP_OTHER
                                        : TT_SWEEP_CONTAINS;
  return snprintf(condition->text, sizeof condition->text, "%s", text + 1) <
         (int)sizeof condition->text;
}

static tt_status take_filter(const reader *to, const char *text) {
  tt_sweep_query *query = to->query;
  tt_sweep_condition condition = {0};
  const char *colon = strchr(text, ':');
  char name[LONGEST];
  if (query->condition_count == TT_SWEEP_MAX_CONDITIONS)
    return tt_fail(to->error, TT_INVALID, "filter: at most %d", TT_SWEEP_MAX_CONDITIONS);
  if (!colon) return tt_fail(to->error, TT_INVALID, "filter: '%.64s': give NAME:CONDITION", text);
  snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
  TT_TRY(find(to, "filter", name, &condition.column));
  if (!read_condition(colon + 1, &condition) ||
      (condition.comparison == TT_SWEEP_BETWEEN && to->columns[condition.column].text))
    return tt_fail(to->error, TT_INVALID,
                   "filter: %.64s: '%.64s': give A..B of a number, =TEXT, !TEXT, ~TEXT or none",
                   name, colon + 1);
  query->conditions[query->condition_count++] = condition;
  return TT_OK;
}

/* ---- the query string ---- */

static int digit_of(char c) {
  if (isdigit((unsigned char)c)) return c - '0';
  return isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

/* Percent-encoding and '+'. False: malformed, too long, or a byte that no text has. */
static bool decode(const char *text, size_t size, char decoded[LONGEST]) {
  size_t used = 0;
  for (size_t i = 0; i < size; i++) {
    char c = text[i] == '+' ? ' ' : text[i];
    if (c == '%') {
      int high = i + 2 < size ? digit_of(text[i + 1]) : -1;
      int low = high >= 0 ? digit_of(text[i + 2]) : -1;
      if (low < 0) return false;
      c = (char)(high * 16 + low);
      i += 2;
    }
    if (!c || used + 1 >= LONGEST) return false;
    decoded[used++] = c;
  }
  decoded[used] = 0;
  return true;
}

static tt_status take(const reader *to, const char *key, const char *value) {
  static const char *const keys[] = {"column", "filter", "sort", "offset", "limit", "after", "row"};
  tt_sweep_query *query = to->query;
  uint64_t number = 0;
  tt_status status = TT_OK;
  if (strcmp(key, "token") == 0) return TT_OK; /* the server's, and looked at before */
  if (strcmp(key, "column") == 0) return take_column(to, value);
  if (strcmp(key, "filter") == 0) return take_filter(to, value);
  if (strcmp(key, "sort") == 0) return take_sort(to, value);
  if (strcmp(key, "offset") == 0) return take_whole(to, key, value, 0, INT64_MAX, &query->offset);
  if (strcmp(key, "limit") == 0) {
    status = take_whole(to, key, value, 1, TT_SWEEP_MAX_ROWS, &number);
    query->limit = (unsigned)number;
    return status;
  }
  if (strcmp(key, "after") == 0 || strcmp(key, "row") == 0) {
    status = take_whole(to, key, value, 0, INT64_MAX, &number);
    *(*key == 'a' ? &query->after : &query->row) = (int64_t)number;
    return status;
  }
  tt_nearest nearest = tt_nearest_start(key);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) tt_nearest_offer(&nearest, keys[i]);
  return tt_fail(to->error, TT_INVALID, "'%.32s' is no key of a query%s", key,
                 tt_nearest_hint(&nearest));
}

static tt_status take_pair(const reader *to, const char *pair, size_t size) {
  char key[LONGEST], value[LONGEST];
  const char *equals = memchr(pair, '=', size);
  size_t length = equals ? (size_t)(equals - pair) : size;
  if (decode(pair, length, key) &&
      decode(pair + length + (equals != NULL), size - length - (equals != NULL), value))
    return take(to, key, value);
  return tt_fail(to->error, TT_INVALID, "'%.*s' is not properly percent-encoded, or too long",
                 (int)(size < 64 ? size : 64), pair);
}

tt_status tt_sweep_query_read(const char *text, const tt_sweep_column *columns, int count,
                              tt_sweep_query *query, tt_error *error) {
  const reader to = {columns, count, query, error};
  memset(query, 0, sizeof *query);
  query->sort = -1;
  query->limit = 100;
  for (const char *pair = text ? text : ""; *pair;) {
    size_t size = strcspn(pair, "&");
    if (size) TT_TRY(take_pair(&to, pair, size));
    pair += size + (pair[size] == '&');
  }
  return TT_OK;
}
