/* internal.h: the store in PostgreSQL from the inside, shared by postgres.c (connected, or away),
 * session.c (its connection), defined.c (what is defined there), ranges.c (epochs that grow), schema.c (tables and their versions),
 * write.c (a batch as one transaction), passed.c (what a log was overtaken with), stage.c (values that may be there already), find.c
 * (messages that are), load.c (what the database knows already) and read.c (cursors). */
#ifndef TT_STORE_POSTGRES_INTERNAL_H
#define TT_STORE_POSTGRES_INTERNAL_H

#include "store/catalogue.h"
#include "base/clock.h"
#include "store/map.h"
#include "database/postgres_link.h"
#include "store/store.h"
#include "store/told_state.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#define SECOND 1000000
#define DAY (86400LL * SECOND)
/** µs from 1970 to 2000, where PostgreSQL counts from. */
#define POSTGRES_EPOCH 946684800000000LL
/** µs for one statement; and once it should end soon. */
#define STATEMENT_DEADLINE (10LL * SECOND)
#define HURRIED_DEADLINE (3LL * SECOND / 10)
/** µs for one statement of the writer, where the server is not slow. For tests to be changed, before anything is opened. */
extern int64_t tt_postgres_patience;
/** Times as long at most, where it is: more than an hour. */
#define MOST_SLOW 512
/** µs between two tries to connect. */
#define RETRY_INTERVAL (SECOND / 2)
/** Where collectors tell each other of new names and handling. */
#define CHANNEL "tether_names"

/** This folder, as the registry of backends knows it. Static. */
extern const tt_store_backend tt_postgres_backend;

/** What a process calls its devices, attributes and epochs, and what the database does. */
typedef struct tt_postgres_ids {
  tt_list devices, attributes; /**< int: id by index, 0 unknown */
  tt_map anchors;              /**< device index, epoch → anchor */
  tt_map epochs;               /**< the same → what the database calls it */
} tt_postgres_ids;

/** Names and epochs that a connection has seen in the database. */
typedef struct tt_postgres_defined {
  tt_list names, epochs; /**< as defined.c has them */
  tt_map name_places;    /**< hashes of an identifier → index in `names` */
  tt_map epoch_places;   /**< device, by the database's id, and key → index in `epochs` */
} tt_postgres_defined;

typedef struct tt_postgres {
  tt_store base;
  char *url;
  tt_postgres_link *link; /**< the writer's; NULL while disconnected */
  tt_postgres_ids known;
  tt_postgres_defined defined;     /**< of `link`; the writer's thread's */
  int64_t tables;                  /**< what the tables are to the database; 0: not looked at */
  tt_catalogue *catalogue;         /**< every name and epoch told so far, for a new connection */
  tt_map partitions;               /**< days that are known to have theirs, or to get none */
  int64_t next_partition;          /**< µs: not before then is that of tomorrow made */
  tt_store_loader loader;          /**< all NULL until it is given */
  bool stale;                      /**< others may have made something known */
  int64_t told_epochs, told_pairs; /**< see tt_postgres_teller */
  int64_t next_look;               /**< µs: not before then is it looked at */
  atomic_bool hurried;
  int64_t next_try;
  bool refused; /**< it was said that the database is too new, or that a right is missing */
  int slow; /**< a statement of the writer may take so many times as long, and as long may the server not take what it is sent */
  tt_told_state state;
  pthread_mutex_t mutex;   /**< guards known.devices and known.attributes for readers */
  atomic_bool away;        /**< there is no connection */
  tt_postgres_link *asked; /**< of whoever looks for a message; NULL while disconnected */
  int64_t next_question;   /**< µs: not before then is a failed connection tried again */
  int marker;              /**< by which marks are this session's; 0: it has none */
  tt_map marked;           /**< device, by its id there, and hour → that it has such a mark */
  tt_map said;         /**< ids of a device and an attribute there → minute of its newest value */
  int making_step;     /**< ms of samples that get buckets at once */
  int64_t next_making; /**< µs: not before then is it looked for something to make */
} tt_postgres;

/** It knows nothing. */
tt_postgres_ids tt_postgres_ids_new(void);
/** Forgets all, and gives the memory back. */
void tt_postgres_ids_clear(tt_postgres_ids *known);
/** False: out of memory. */
bool tt_postgres_set_epoch(tt_postgres_ids *known, int device, int epoch, int number,
                           int64_t anchor);

/** Forgets the epochs that a catalogue has not. */
void tt_postgres_ids_keep(tt_postgres_ids *known, const tt_catalogue *catalogue);

/** It has seen nothing. */
tt_postgres_defined tt_postgres_defined_none(void);
/** Forgets all: the connection ended, or a transaction was rolled back in which some of it was seen. */
void tt_postgres_defined_clear(tt_postgres_defined *seen);
/** Remembers what was read of the database: a name by its identifier, an epoch of a device (the database's id) by its key, its number
 *  and range the database's. */
void tt_postgres_defined_name(tt_postgres_defined *seen, bool device, const char *identifier,
                              int id);
void tt_postgres_defined_epoch(tt_postgres_defined *seen, int device, int64_t key,
                               const tt_store_epoch *epoch);
/** Lets `known` learn a name or an epoch, whose device it knows, if it says nothing that the database doesn't have. False: it may. */
bool tt_postgres_learn_name(tt_postgres *store, bool device, const tt_store_name *name,
                            tt_postgres_ids *known);
bool tt_postgres_learn_epoch(const tt_postgres *store, const tt_store_epoch *epoch,
                             tt_postgres_ids *known);
/** The same of all that a batch defines, as far as the first that may be new; but for ranges of epochs, which tt_postgres_widen()
 *  brings up to date. */
bool tt_postgres_learn(tt_postgres *store, const tt_store_batch *batch, tt_postgres_ids *known);
/** Whether a range of an epoch that was seen is to be widened. */
bool tt_postgres_outgrows(const tt_postgres *store, const tt_store_epoch *epoch,
                          const tt_postgres_ids *known);
/** Widens ranges of a batch's epochs that were seen, outside any transaction. On failure the connection is in no known state. */
tt_status tt_postgres_widen(tt_postgres *store, const tt_store_batch *batch,
                            const tt_postgres_ids *known, tt_error *error);
/** The number of the lock of who changes ranges of epochs: taken before the first one, after that of the transaction (write.c), so that
 *  two never wait for each other. */
#define TT_POSTGRES_RANGES_LOCK "7605"

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
/** Takes note of how long a batch of values took, µs, and how it went: what a slow server had no time for has more the next time, so that it
 *  comes to its end; once there is no need it has less again. Before the connection is ended. */
void tt_postgres_note_pace(tt_postgres *store, int64_t took, tt_status status);
/** Runs statements on the writer's connection. */
tt_status tt_postgres_do(tt_postgres *store, const char *sql, tt_error *error);
/** The same with the last one's result, to be cleared. */
tt_status tt_postgres_query(tt_postgres *store, const char *sql, PGresult **result,
                            tt_error *error);
/** Ends the writer's connection; another is tried after RETRY_INTERVAL. */
void tt_postgres_disconnect(tt_postgres *store);

/** Makes or upgrades the schema, and prepares the connection. TT_VERSION: a newer program made it. */
tt_status tt_postgres_upgrade(tt_postgres *store, tt_error *error);
/** For readers. TT_VERSION: the tables are not of this version; TT_NOT_FOUND: there are none. */
tt_status tt_postgres_check_version(tt_postgres_link *link, int64_t deadline, tt_error *error);

/** Writes a batch whose indices mean what `known` says, which learns the batch's own. On failure nothing of it is there, or
 *  all of it (a lost answer to COMMIT), and the store is disconnected. */
tt_status tt_postgres_write_batch(tt_postgres *store, const tt_store_batch *batch,
                                  tt_postgres_ids *known, tt_error *error);

/** Days since 1970 of a sample's partition. TT_INVALID: its epoch is not known. */
tt_status tt_postgres_day_of(const tt_postgres_ids *known, const tt_store_sample *sample,
                             int64_t *day, tt_error *error);
/** Makes those of a batch that are not there, within its transaction; where that would keep others waiting its values go to the default
 *  one. */
tt_status tt_postgres_need_partitions(tt_postgres *store, const tt_store_batch *batch,
                                      const tt_postgres_ids *known, tt_error *error);
/** Makes that of tomorrow before it is needed. On failure the connection is in no known state. */
tt_status tt_postgres_tend_partitions(tt_postgres *store, tt_error *error);

/** Which samples are of messages that may have been sent again (char, one of each, into an empty list), and whether any is. Within a
 *  transaction. */
tt_status tt_postgres_find_unsure(tt_postgres *store, const tt_store_batch *batch,
                                  const tt_postgres_ids *known, tt_list *unsure, bool *any,
                                  tt_error *error);
/** Notes where those stand in their log that say so themselves. Nobody else may be writing. */
tt_status tt_postgres_note_passed(tt_postgres *store, const tt_store_batch *batch,
                                  const tt_postgres_ids *known, tt_error *error);
/** Whether devices of messages that may have been sent again have other epochs than one. Within a transaction. */
tt_status tt_postgres_is_doubtful(tt_postgres *store, const tt_store_batch *batch,
                                  const tt_list *unsure, const tt_postgres_ids *known,
                                  bool *doubtful, tt_error *error);
/** Whether moments of a batch may have records that another value need not meet by its key: what comes again of those is to be looked for.
 *  Within a transaction. */
tt_status tt_postgres_find_records(tt_postgres *store, const tt_store_batch *batch,
                                   const tt_postgres_ids *known, bool *any, tt_error *error);
/** Makes the table `staging`, for rows of `numbered_value` and the columns TT_POSTGRES_STAGED; it goes with the
 *  transaction. */
tt_status tt_postgres_begin_stage(tt_postgres *store, tt_error *error);
#define TT_POSTGRES_STAGED "sample, message, unsure, firm"
/** Moves from `staging` what is not there yet. Nobody else may be writing. */
tt_status tt_postgres_end_stage(tt_postgres *store, bool doubtful, tt_error *error);

/** Tells a loader what a database knows. */
typedef struct tt_postgres_teller {
  tt_postgres_link *link;
  const tt_store_loader *loader;
  tt_postgres_ids *known;  /**< learns names */
  pthread_mutex_t *mutex;  /**< guards `known`; NULL: nobody else uses it */
  tt_catalogue *catalogue; /**< learns names; NULL: none */
  int64_t patience;        /**< µs for one statement */
  int64_t epochs, pairs;   /**< up to these, as they were added, they were told */
} tt_postgres_teller;

/** Tells what was not told before. `*taken`: the loader has no changes of its own that are still to be written. */
tt_status tt_postgres_tell(tt_postgres_teller *teller, bool *taken, tt_error *error);
/** The same of the writer's connection, to the store's loader. */
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
  TT_POSTGRES_DAY_OF("(" device_time " + " anchor ")::numeric")
/** The same of µs; none long before 1199 BC, which PostgreSQL has no dates for. */
#define TT_POSTGRES_DAY_OF(us)                                                                     \
  "date '1970-01-01' + floor(greatest((" us ")::numeric, -1e17) / 86400000000)::integer"

/* --- buckets --- */

/** An expression: the beginning of the stretch ("1 hour") in which a time lies, UTC. Its origin lies before all times, since
 *  older PostgreSQL takes a multiple before it for the one before that. */
#define TT_POSTGRES_BIN(length, time)                                                              \
  "date_bin('" length "', " time ", timestamptz '0001-01-01 00:00:00Z')"
/** A sum of numbers. PostgreSQL takes one that is too large for an error, and a quotient that is too small: so addends are divided by 2^20
 *  before, but for those that are next to nothing. */
#define TT_POSTGRES_SUM(number)                                                                    \
  "tether.total(sum(CASE WHEN abs(" number ") < 1e-290 THEN 0 ELSE " number                        \
  " / 1048576 END)) + sum(CASE WHEN abs(" number ") < 1e-290 THEN " number " ELSE 0 END)"
/** The columns of a bucket: of samples `v` (function value_between), or of smaller buckets `b`. What is the last of one time
 *  is told by epoch, device time and number of the record. */
#define TT_POSTGRES_FOLDED                                                                         \
  "count(v.number) AS count, min(v.number) AS least, max(v.number) AS greatest, " TT_POSTGRES_SUM( \
      "v.number") " AS sum, (max(ARRAY[date_part('epoch', v.time),"                                \
  " v.epoch, v.device_time, v.nth, v.number]) FILTER (WHERE v.number IS NOT NULL))[5] AS last,"    \
  " max(v.time) FILTER (WHERE v.number IS NOT NULL) AS last_time"
#define TT_POSTGRES_MERGED                                                                         \
  "sum(b.count)::bigint AS count, min(b.least) AS least, max(b.greatest) AS greatest,"             \
  " " TT_POSTGRES_SUM("b.sum") " AS sum,"                                                          \
  " (max(ARRAY[date_part('epoch', b.last_time), b.last]) FILTER (WHERE b.count > 0))[2] AS last,"  \
  " max(b.last_time) AS last_time"

/** Tables of buckets, made by the step to schema 5; what tells newest values, by that to 7; what makes and tells buckets, by that to 8. */
extern const char tt_postgres_bucket_schema[], tt_postgres_newest_schema[],
    tt_postgres_fold_schema[];

/** Gives this session a number, by which its marks are its own. */
tt_status tt_postgres_need_marker(tt_postgres *store, tt_error *error);
/** Marks the hours of a batch's samples, within its transaction. */
tt_status tt_postgres_mark(tt_postgres *store, const tt_store_batch *batch,
                           const tt_postgres_ids *known, tt_error *error);
/** Says, within its transaction, in which minute the newest value of each attribute of a batch's devices is, if it is a later one. */
tt_status tt_postgres_say_newest(tt_postgres *store, const tt_store_batch *batch,
                                 const tt_postgres_ids *known, tt_error *error);
/** What the session has marked is not known any more. */
void tt_postgres_forget_marks(tt_postgres *store);
/** The transaction failed, or the session ended: nor what it has said of newest values. */
void tt_postgres_forget_said(tt_postgres *store);
/** Makes some buckets, outside any transaction; takes some 50 ms. `*more`: it is to be called again. An error only where the
 *  connection is lost. */
tt_status tt_postgres_make_buckets(tt_postgres *store, bool *more, tt_error *error);

/* --- readers --- */

typedef struct tt_postgres_reader {
  tt_store_reader base;
  tt_postgres_link *link;
  tt_postgres_ids known; /**< names */
  tt_map attributes;     /**< id → index */
  int cursors;           /**< opened so far, for their names */
} tt_postgres_reader;

/** Rows of one query, in binary, as they come. Zero at first. */
typedef struct tt_postgres_stream {
  char name[16]; /**< of its cursor; "": it was not opened */
  PGresult *rows;
  int row;   /**< of `rows` */
  bool last; /**< no rows behind these */
} tt_postgres_stream;

/** µs of tt_monotonic_us(), for a statement of a reader that begins now. */
int64_t tt_postgres_reader_deadline(void);
/** Begins a query; to be closed, also when that failed. */
tt_status tt_postgres_open_stream(tt_postgres_reader *reader, tt_postgres_stream *stream,
                                  const char *sql, tt_error *error);
/** Zero is closed, too. */
void tt_postgres_close_stream(tt_postgres_reader *reader, tt_postgres_stream *stream);
/** Whether there is a row in hand. */
static inline bool tt_postgres_has_row(const tt_postgres_stream *stream) {
  return stream->row < PQntuples(stream->rows);
}
/** Leaves the row in hand for the next one, if there is one. */
tt_status tt_postgres_next_row(tt_postgres_reader *reader, tt_postgres_stream *stream,
                               tt_error *error);
/** A column of the row in hand. Times are µs UTC. */
int32_t tt_postgres_int_at(const tt_postgres_stream *stream, int column);
int64_t tt_postgres_bigint_at(const tt_postgres_stream *stream, int column);
int64_t tt_postgres_time_at(const tt_postgres_stream *stream, int column);
double tt_postgres_double_at(const tt_postgres_stream *stream, int column);
/** The index of the attribute whose id stands in a column; −1: another process's, of which this one has not heard. */
int tt_postgres_attribute_at(const tt_postgres_reader *reader, const tt_postgres_stream *stream,
                             int column);
/** Adds " AND attribute IN (…)" where not all are asked for. */
bool tt_postgres_print_attributes(const tt_postgres_reader *reader, const int *attributes,
                                  int count, tt_list *sql);

/** A time, µs UTC, as far as PostgreSQL can say it (4713 BC to 294276 AD). */
int64_t tt_postgres_clamp_time(int64_t time);
/** An expression of a clamped time, for printf with one PRId64. */
#define TT_POSTGRES_TIME                                                                           \
  "timestamptz '1970-01-01 00:00:00Z' + %" PRId64 " * interval '1 microsecond'"

/** See tt_store.purge. */
tt_status tt_postgres_purge(tt_store *base, const tt_store_purge *purge, int *removed,
                            tt_error *error);
/** See tt_store_reader.buckets and .latest. */
tt_status tt_postgres_read_buckets(tt_store_reader *base, const tt_store_bucket_query *query,
                                   bool (*take)(void *context, int attribute,
                                                const tt_bucket *bucket),
                                   void *context, tt_error *error);
tt_status tt_postgres_read_latest(tt_store_reader *base, int device,
                                  bool (*take)(void *context, const tt_store_latest *latest),
                                  void *context, tt_error *error);

/** See tt_store.open_reader. A connection of its own. */
tt_status tt_postgres_open_reader(tt_store *base, tt_store_reader **reader, tt_error *error);
/** See tt_store_backend.open_reader. */
tt_status tt_postgres_open_alone(const tt_store_options *options, tt_store_reader **reader,
                                 tt_error *error);

#endif
