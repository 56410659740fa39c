/* purge.c: values that are removed, and the hours that are marked by that. */
#include "store/postgres/internal.h"

#include <stdio.h>

/** µs after which a call ends, and rows of a statement for each sample that a call may look at. */
#define PURGE_TIME (SECOND / 5)
#define ROWS_OF_SAMPLE 16

/** Which rows of a table go. */
static void print_condition(const tt_postgres *store, const tt_store_purge *purge, tt_list *sql) {
  const int64_t before = tt_postgres_clamp_time(purge->before);
  const int64_t from = tt_postgres_clamp_time(purge->exact ? purge->from : INT64_MIN);
  const int device = tt_postgres_get_id(&store->known.devices, purge->device);
  tt_list_print(sql,
                " WHERE device = %d AND time >= " TT_POSTGRES_TIME " AND time < " TT_POSTGRES_TIME
                " AND day <= (SELECT max(" TT_POSTGRES_DAY_OF(
                    "%" PRId64 " - offset_low + anchor") ") FROM boot WHERE device = %d)",
                device, from, before, before, device);
  if (purge->attribute >= 0)
    tt_list_print(sql, " AND attribute = %d",
                  tt_postgres_get_id(&store->known.attributes, purge->attribute));
}

/** The table, which is no partitioned one, in which something is to be removed; "": there is none. */
static tt_status find_table(tt_postgres *store, const char *condition, char name[64],
                            tt_error *error) {
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(&sql,
                "(SELECT tableoid::regclass FROM value%s LIMIT 1) UNION ALL"
                " (SELECT tableoid::regclass FROM numbered_value%s LIMIT 1) LIMIT 1",
                condition, condition);
  PGresult *result;
  tt_status status = sql.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                : tt_postgres_query(store, sql.data, &result, error);
  tt_list_free(&sql);
  TT_TRY(status);
  snprintf(name, 64, "%s", PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
  PQclear(result);
  return TT_OK;
}

/** Removes rows and marks their hours, in one statement. */
static tt_status remove_some(tt_postgres *store, const tt_store_purge *purge, const char *table,
                             const char *condition, int *removed, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(
      &sql,
      "WITH gone AS (DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %s%s LIMIT %" PRId64
      ")) RETURNING time),"
      " marked AS (INSERT INTO marked_hour SELECT DISTINCT %d, " TT_POSTGRES_BIN(
          "1 hour", "time") ", %d FROM gone ON CONFLICT DO NOTHING) SELECT count(*) FROM gone",
      table, table, condition, (int64_t)purge->limit * ROWS_OF_SAMPLE,
      tt_postgres_get_id(&store->known.devices, purge->device), store->marker);
  PGresult *result;
  tt_status status = sql.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                : tt_postgres_query(store, sql.data, &result, error);
  tt_list_free(&sql);
  TT_TRY(status);
  *removed += (int)tt_postgres_integer(result, 0, 0);
  PQclear(result);
  return TT_OK;
}

/** Table by table, until nothing is left or it took long. */
static tt_status remove_all(tt_postgres *store, const tt_store_purge *purge, const char *condition,
                            int *removed, tt_error *error) {
  const int64_t end = tt_monotonic_us() + PURGE_TIME;
  TT_TRY(tt_postgres_need_marker(store, error));
  for (;;) {
    char table[64];
    TT_TRY(find_table(store, condition, table, error));
    if (!*table) return TT_OK;
    TT_TRY(remove_some(store, purge, table, condition, removed, error));
    if (tt_monotonic_us() > end) return TT_AGAIN;
  }
}

tt_status tt_postgres_purge(tt_store *base, const tt_store_purge *purge, int *removed,
                            tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  *removed = 0;
  if (!store->link) return TT_AGAIN;
  tt_list condition = TT_LIST(char, NULL);
  print_condition(store, purge, &condition);
  tt_status status = condition.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                      : remove_all(store, purge, condition.data, removed, error);
  tt_list_free(&condition);
  return status;
}
