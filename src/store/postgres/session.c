/* session.c: the writer's connection. */
#include "store/postgres/internal.h"

int64_t tt_postgres_patience = STATEMENT_DEADLINE;

int64_t tt_postgres_deadline(tt_postgres *store) {
  return tt_monotonic_us() +
         (atomic_load(&store->hurried) ? HURRIED_DEADLINE : store->slow * tt_postgres_patience);
}

void tt_postgres_note_pace(tt_postgres *store, int64_t took, tt_status status) {
  if (status == TT_OK && took < store->slow * tt_postgres_patience / 4 && store->slow > 1)
    store->slow /= 2;
  // What the server refuses it would refuse later, too.
  if (status == TT_OK || tt_postgres_is_alive(store->link) || atomic_load(&store->hurried)) return;
  if (store->slow < MOST_SLOW) store->slow *= 2;
}

tt_status tt_postgres_do(tt_postgres *store, const char *sql, tt_error *error) {
  return tt_postgres_query(store, sql, NULL, error);
}

tt_status tt_postgres_query(tt_postgres *store, const char *sql, PGresult **result,
                            tt_error *error) {
  return tt_postgres_run(store->link, sql, 0, NULL, tt_postgres_deadline(store), result, error);
}

void tt_postgres_forget_marks(tt_postgres *store) { tt_map_clear(&store->marked); }

void tt_postgres_forget_said(tt_postgres *store) {
  tt_postgres_forget_marks(store);
  tt_map_clear(&store->said);
}

void tt_postgres_disconnect(tt_postgres *store) {
  tt_postgres_close(store->link);
  store->link = NULL;
  atomic_store(&store->away, true);
  store->next_try = tt_monotonic_us() + RETRY_INTERVAL;
  tt_map_clear(&store->partitions);
  tt_postgres_forget_said(store);
  tt_postgres_defined_clear(&store->defined);
  store->marker = 0;
  store->tables = 0;
}
