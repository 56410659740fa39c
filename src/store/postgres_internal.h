/* postgres_internal.h: the store in PostgreSQL from the inside, shared by postgres.c (connected, away, catching up),
 * postgres_session.c (its connection and ids), postgres_schema.c (tables and their versions), postgres_write.c (a batch as one transaction), postgres_stage.c (values
 * that may be there already), postgres_find.c (messages that are), postgres_load.c (what is known already, in the database
 * or the spool) and postgres_read.c (cursors). */
#ifndef TT_STORE_POSTGRES_INTERNAL_H
#define TT_STORE_POSTGRES_INTERNAL_H

#include "store/catalogue.h"
#include "store/clock.h"
#include "store/map.h"
#include "store/postgres_link.h"
#include "store/spool.h"
#include "store/store.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#define SECOND 1000000
#define DAY (86400LL * SECOND)
/** µs from 1970 to 2000, where PostgreSQL counts from. */
#define POSTGRES_EPOCH 946684800000000LL
/** µs for one statement of the writer; and once it should end soon. */
#define STATEMENT_DEADLINE (10LL * SECOND)
#define HURRIED_DEADLINE (3LL * SECOND / 10)
/** µs between two tries to connect. */
#define RETRY_INTERVAL (SECOND / 2)
/** Where collectors tell each other of new names and handling. */
#define CHANNEL "tether_names"

/** What a process calls its devices, attributes and epochs, and what the database does. */
typedef struct tt_postgres_ids {
  tt_list devices, attributes; /**< int: id by index, 0 unknown */
  tt_map anchors;              /**< device index, epoch → anchor */
  tt_map epochs;               /**< the same → what the database calls it */
} tt_postgres_ids;

typedef struct tt_postgres {
  tt_store base;
  char *url;
  tt_postgres_link *link; /**< the writer's; NULL while disconnected */
  tt_postgres_ids known;
  tt_catalogue
      *catalogue; /**< every name and epoch told so far, for the spool and for a new connection */
  tt_map partitions; /**< days that are known to have theirs */
  tt_spool *spool;
  tt_store_loader loader;
  bool stale; /**< others may have made something known */
  int64_t loaded,
      loaded_pairs; /**< epochs and pairs up to these, as they were added, were told to the loader */
  int64_t next_look; /**< µs: not before then is it looked at */
  atomic_bool hurried;
  int64_t next_try;
  pthread_mutex_t mutex; /**< guards state, and known.devices and known.attributes for readers */
  tt_store_state state;
  atomic_bool away;        /**< there is no connection */
  tt_postgres_link *asked; /**< of whoever looks for a message; NULL while disconnected */
  int64_t next_question;   /**< µs: not before then is a failed connection tried again */
} tt_postgres;

/** It knows nothing. */
tt_postgres_ids tt_postgres_ids_new(void);
/** Forgets all, and gives the memory back. */
void tt_postgres_ids_clear(tt_postgres_ids *known);
/** False: out of memory. */
bool tt_postgres_set_epoch(tt_postgres_ids *known, int device, int epoch, int number,
                           int64_t anchor);

/** False: out of memory. */
static inline bool tt_postgres_set_id(tt_list *ids, int index, int id) {
  if (!tt_list_fill(ids, (uint32_t)index + 1)) return false;
  tt_list_at(ids, int, index) = id;
  return true;
}

/** 0: unknown. */
static inline int tt_postgres_get_id(const tt_list *ids, int index) {
  return index >= 0 && (uint32_t)index < ids->len ? tt_list_at(ids, int, index) : 0;
}

/** Days since 1970. */
static inline int64_t tt_postgres_floor_day(int64_t us) { return us / DAY - (us % DAY < 0); }

/** For a statement that begins now: µs of tt_monotonic_us(). */
int64_t tt_postgres_deadline(tt_postgres *store);
/** Runs statements on the writer's connection. */
tt_status tt_postgres_do(tt_postgres *store, const char *sql, tt_error *error);
/** The same with the last one's result, to be cleared. */
tt_status tt_postgres_query(tt_postgres *store, const char *sql, PGresult **result,
                            tt_error *error);
/** Ends the writer's connection; another is tried after RETRY_INTERVAL. */
void tt_postgres_disconnect(tt_postgres *store);

/** Makes or upgrades the schema, and prepares the connection. TT_VERSION: a newer program made it. */
tt_status tt_postgres_upgrade(tt_postgres *store, tt_error *error);

/** Writes a batch whose indices mean what `known` says, which learns the batch's own. `spooled`: every message may be one
 *  sent again. On failure nothing of it is there, or all of it (a lost answer to COMMIT), and the store is disconnected. */
tt_status tt_postgres_write_batch(tt_postgres *store, const tt_store_batch *batch,
                                  tt_postgres_ids *known, bool spooled, tt_error *error);

/** Whether devices of messages that may have been sent again have other epochs than one. Within a transaction. */
tt_status tt_postgres_is_doubtful(tt_postgres *store, const tt_store_batch *batch,
                                  const tt_postgres_ids *known, bool spooled, bool *doubtful,
                                  tt_error *error);
/** Makes the table `staging`, for rows of `numbered_value` and the columns TT_POSTGRES_STAGED; it goes with the
 *  transaction. */
tt_status tt_postgres_begin_stage(tt_postgres *store, tt_error *error);
#define TT_POSTGRES_STAGED "sample, message, unsure, firm"
/** Moves from `staging` what is not there yet. Nobody else may be writing. */
tt_status tt_postgres_end_stage(tt_postgres *store, bool doubtful, tt_error *error);

/** Tells the loader what the database knows, and was not told before. */
tt_status tt_postgres_load_news(tt_postgres *store, tt_error *error);
/** Adds the latest epochs of a device, by the database's id, and the one with that number (−1: none), oldest first
 *  (tt_store_boot, whose device is `index`). */
tt_status tt_postgres_load_boots(tt_postgres_link *link, int id, int index, int number,
                                 int64_t deadline, tt_list *boots, tt_error *error);

/** See tt_store.find. */
tt_status tt_postgres_find(tt_store *base, const tt_store_question *question, tt_list *boots,
                           int64_t *key);
/** An expression: the day of a sample's partition. */
#define TT_POSTGRES_DAY(device_time, anchor)                                                       \
  "date '1970-01-01' + floor((" device_time " + " anchor ")::numeric / 86400000000)::integer"

/** Tells the loader what the spool knows, for as long as the database is away: names, the boot epochs of samples that
 *  wait, and their times, so that one that is sent again falls upon itself. */
tt_status tt_postgres_load_spooled(tt_postgres *store, tt_error *error);

/** See tt_store.open_reader. A connection of its own. */
tt_status tt_postgres_open_reader(tt_store *base, tt_store_reader **reader, tt_error *error);

#endif
