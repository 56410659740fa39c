/* packed_query.c: see its header. */
#include "store/sqlite/packed_query.h"

#include "store/sqlite/time_text.h"

#include <math.h>

#define ANY ((tt_packed_range){INT64_MIN, INT64_MAX})

static bool is_range(unsigned char relation) {
  return relation == SQLITE_INDEX_CONSTRAINT_EQ || relation == SQLITE_INDEX_CONSTRAINT_GT ||
         relation == SQLITE_INDEX_CONSTRAINT_GE || relation == SQLITE_INDEX_CONSTRAINT_LT ||
         relation == SQLITE_INDEX_CONSTRAINT_LE;
}

/** Whether a condition narrows what is to be unpacked. `*less`: to which part of it, as planners count. */
static bool narrows(sqlite3_index_info *info, int index, double *less) {
  const struct sqlite3_index_constraint *condition = &info->aConstraint[index];
  const bool equal = condition->op == SQLITE_INDEX_CONSTRAINT_EQ;
  if (!condition->usable) return false;
  const bool bytewise = !sqlite3_stricmp(sqlite3_vtab_collation(info, index), "BINARY");
  *less = equal ? 0.02 : 0.1;
  switch (condition->iColumn) {
    case TT_PACKED_DEVICE:
    case TT_PACKED_DEVICE_IDENTIFIER:
    case TT_PACKED_ATTRIBUTE:
    case TT_PACKED_ATTRIBUTE_IDENTIFIER: return equal && bytewise;
    case TT_PACKED_TEXT_OF_TIME: return is_range(condition->op) && bytewise;
    case TT_PACKED_TIME:
    case TT_PACKED_DEVICE_TIME:
    case TT_PACKED_EPOCH: return is_range(condition->op);
    default: return false;
  }
}

int tt_packed_query_plan(sqlite3_vtab *base, sqlite3_index_info *info) {
  (void)base;
  char *plan = sqlite3_malloc(2 * info->nConstraint + 1);
  if (!plan) return SQLITE_NOMEM;
  int used = 0;
  double rows = 1e9, less;
  for (int i = 0; i < info->nConstraint; i++) {
    if (!narrows(info, i, &less)) continue;
    plan[2 * used] = (char)('a' + info->aConstraint[i].iColumn);
    plan[2 * used + 1] = info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ ? '='
                         : info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_GT ||
                                 info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_GE
                             ? '>'
                             : '<';
    info->aConstraintUsage[i].argvIndex = ++used;
    rows *= less;
  }
  plan[2 * used] = 0;
  info->idxStr = plan;
  info->needToFreeIdxStr = 1;
  info->estimatedRows = rows > 1 ? (sqlite3_int64)rows : 1;
  info->estimatedCost = rows;
  return SQLITE_OK;
}

static int64_t integer_of(double number) {
  if (number <= -0x1p63) return INT64_MIN;
  return number >= 0x1p63 ? INT64_MAX : (int64_t)number;
}

/** What a number may be that is less, equal or greater. Nothing is compared with NULL. */
static void narrow(tt_packed_range *range, char relation, sqlite3_value *value) {
  const int type = sqlite3_value_numeric_type(value);
  int64_t low = INT64_MIN, high = INT64_MAX;
  if (type == SQLITE_INTEGER) {
    low = high = sqlite3_value_int64(value);
  } else if (type == SQLITE_FLOAT) {
    low = integer_of(floor(sqlite3_value_double(value)));
    high = integer_of(ceil(sqlite3_value_double(value)));
  } else if (type == SQLITE_NULL) {
    *range = (tt_packed_range){1, 0};
  }
  if (relation != '<' && low > range->low) range->low = low;
  if (relation != '>' && high < range->high) range->high = high;
}

static void narrow_text(tt_packed_range *range, char relation, sqlite3_value *value) {
  if (sqlite3_value_type(value) != SQLITE_TEXT) return;
  const char *text = (const char *)sqlite3_value_text(value);
  const size_t size = (size_t)sqlite3_value_bytes(value);
  if (!text) return;
  const int64_t low = tt_sqlite_time_from_text(text, size, false);
  const int64_t high = tt_sqlite_time_from_text(text, size, true);
  if (relation != '<' && low > range->low) range->low = low;
  if (relation != '>' && high < range->high) range->high = high;
}

void tt_packed_query_read(const char *plan, int count, sqlite3_value **values,
                          tt_packed_query *asked, tt_packed_names *names) {
  tt_packed_range ranges[TT_PACKED_COUNT];
  sqlite3_value *texts[TT_PACKED_COUNT] = {0};
  for (int i = 0; i < TT_PACKED_COUNT; i++) ranges[i] = ANY;
  for (int i = 0; i < count; i++) {
    const int column = plan[2 * i] - 'a';
    const char relation = plan[2 * i + 1];
    if (column == TT_PACKED_TIME || column == TT_PACKED_DEVICE_TIME || column == TT_PACKED_EPOCH)
      narrow(&ranges[column], relation, values[i]);
    else if (column == TT_PACKED_TEXT_OF_TIME)
      narrow_text(&ranges[column], relation, values[i]);
    else
      texts[column] = values[i];
  }
  *asked = (tt_packed_query){.epochs = ranges[TT_PACKED_EPOCH],
                             .device_times = ranges[TT_PACKED_DEVICE_TIME],
                             .times = ranges[TT_PACKED_TIME],
                             .text_times = ranges[TT_PACKED_TEXT_OF_TIME]};
  *names = (tt_packed_names){texts[TT_PACKED_DEVICE], texts[TT_PACKED_DEVICE_IDENTIFIER],
                             texts[TT_PACKED_ATTRIBUTE], texts[TT_PACKED_ATTRIBUTE_IDENTIFIER]};
}

static bool lies_in(int64_t number, tt_packed_range range) {
  return number >= range.low && number <= range.high;
}

bool tt_packed_query_takes(const tt_packed_query *asked, int64_t device_time, int64_t time) {
  const bool has_text = time >= 0 && time < TT_SQLITE_TIME_TEXT_END;
  return lies_in(device_time, asked->device_times) && lies_in(time, asked->times) &&
         (!has_text || lies_in(time, asked->text_times));
}
