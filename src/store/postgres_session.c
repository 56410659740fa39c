/* postgres_session.c: the writer's connection, and what it is known by to the database. */
#include "store/postgres_internal.h"

/* --- tt_postgres_ids --- */

tt_postgres_ids tt_postgres_ids_new(void) {
  return (tt_postgres_ids){.devices = TT_LIST(int, NULL), .attributes = TT_LIST(int, NULL)};
}

void tt_postgres_ids_clear(tt_postgres_ids *known) {
  tt_list_free(&known->devices);
  tt_list_free(&known->attributes);
  tt_map_clear(&known->anchors);
  tt_map_clear(&known->epochs);
}

bool tt_postgres_set_epoch(tt_postgres_ids *known, int device, int epoch, int number,
                           int64_t anchor) {
  return tt_map_put(&known->anchors, (tt_map_key){device, epoch}, anchor) &&
         tt_map_put(&known->epochs, (tt_map_key){device, epoch}, number);
}

/* --- the connection --- */

int64_t tt_postgres_deadline(tt_postgres *store) {
  return tt_monotonic_us() + (atomic_load(&store->hurried) ? HURRIED_DEADLINE : STATEMENT_DEADLINE);
}

tt_status tt_postgres_do(tt_postgres *store, const char *sql, tt_error *error) {
  return tt_postgres_query(store, sql, NULL, error);
}

tt_status tt_postgres_query(tt_postgres *store, const char *sql, PGresult **result,
                            tt_error *error) {
  return tt_postgres_run(store->link, sql, 0, NULL, tt_postgres_deadline(store), result, error);
}

void tt_postgres_disconnect(tt_postgres *store) {
  tt_postgres_close(store->link);
  store->link = NULL;
  atomic_store(&store->away, true);
  store->next_try = tt_monotonic_us() + RETRY_INTERVAL;
  tt_map_clear(&store->partitions);
}
