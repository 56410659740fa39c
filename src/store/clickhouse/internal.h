/* internal.h: the store in ClickHouse from the inside, shared by clickhouse.c (there, or away), schema.c (tables and their versions), share.c (definitions of all shards),
 * names.c (what is defined), write.c (values), repeats.c (those that may be there already), find.c (messages that are),
 * boots.c (epochs), load.c (what the database knows), purge.c, forget.c (what is old), hours.c (which hours have changed), keep.c (their buckets are made),
 * fold.c (of values), and the readers: asked.c, since.c, reader.c, cursor.c, buckets.c and latest.c.
 *
 * Names are known by a hash of their identifiers, epochs by their keys, so that nobody must be asked for numbers. A value's row says
 * when it was stored (`rank`): the greatest is the first. Rows that are equal but for that are one value: the server
 * keeps the first when it merges, and each query takes it. */
#ifndef TT_STORE_CLICKHOUSE_INTERNAL_H
#define TT_STORE_CLICKHOUSE_INTERNAL_H

#include "base/clock.h"
#include "base/saturate.h"
#include "store/catalogue.h"
#include "store/clickhouse/link.h"
#include "store/clickhouse/rows.h"
#include "store/map.h"
#include "store/store.h"
#include "store/told_state.h"

#include <glib.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#define SECOND INT64_C(1000000)
#define HOUR (3600 * SECOND)
/** s without an answer. A batch that has had no time has twice as much the next time, up to so many times as much. */
#define MOST_SLOW 512
#define READER_PATIENCE 30
#define HURRIED_PATIENCE 1
/** µs between two tries to connect. */
#define RETRY_INTERVAL (SECOND / 2)

/** This folder, as the registry of backends knows it. Static. */
extern const tt_store_backend tt_clickhouse_backend;

/* --- what is known --- */

/** What a process calls its devices, attributes and epochs, and what the database does. */
typedef struct tt_clickhouse_ids {
  tt_list devices, attributes; /**< uint64_t: id by index, 0 unknown */
  tt_map epochs;               /**< device index, number → key */
} tt_clickhouse_ids;

/** Nothing is known. */
tt_clickhouse_ids tt_clickhouse_no_ids(void);
/** Forgets all, and gives the memory back. */
void tt_clickhouse_ids_clear(tt_clickhouse_ids *known);
/** Forgets the epochs that a catalogue has not. */
void tt_clickhouse_ids_keep(tt_clickhouse_ids *known, const tt_catalogue *catalogue);
/** The id of an identifier: never 0. */
uint64_t tt_clickhouse_id(const char *identifier);
/** False: out of memory. */
bool tt_clickhouse_set_id(tt_list *ids, int index, uint64_t id);
/** 0: unknown. */
static inline uint64_t tt_clickhouse_get_id(const tt_list *ids, int index) {
  return index >= 0 && (uint32_t)index < ids->len ? tt_list_at(ids, uint64_t, index) : 0;
}

/** A server that is asked, and of what: all shards by the first one. */
typedef struct tt_clickhouse_source {
  tt_clickhouse_link *link;
  const tt_clickhouse_address *address;
} tt_clickhouse_source;

typedef struct tt_clickhouse {
  tt_store base;
  char *url;
  tt_clickhouse_address address;
  tt_clickhouse_link *links[TT_CLICKHOUSE_SHARDS]; /**< the writer's */
  bool connected;
  unsigned slow; /**< a batch may take so many times tt_clickhouse_patience */
  bool viewed;   /**< the view for people reads of all shards */
  bool untold;   /**< definitions did not arrive */
  tt_clickhouse_ids known;
  tt_catalogue *catalogue; /**< every name and epoch told so far */
  tt_map names;            /**< kind, id → 1: those that are there */
  tt_map ranges;           /**< device's id, key → index in `boots` */
  tt_list boots;           /**< tt_clickhouse_range: of those that were written lately */
  int64_t seen;   /**< the latest change that was seen, or made: see tt_clickhouse_change() */
  int64_t stored; /**< ms: of the last batch, see `rank` */
  tt_store_loader loader; /**< all NULL until it is given */
  int64_t told;           /**< changes up to this one were told */
  int64_t next_look;      /**< µs: not before then is it looked for changes */
  atomic_bool hurried;
  pthread_t hurrying; /**< cuts what is under way, once it is `hurried` */
  pthread_cond_t over;
  bool hurries, ending; /**< the thread was started; it is to end */
  int64_t next_try;
  bool refused; /**< it was said that a server is too new, or lets us not in */
  tt_told_state state;
  /** guards what is of `hurrying`, and known for readers and find() */
  pthread_mutex_t mutex;
  atomic_bool away;
  tt_clickhouse_link *asked; /**< of whoever looks for a message; NULL at first */
  int64_t next_question;     /**< µs: not before then is asked again */
  GHashTable *marks;         /**< tt_clickhouse_mark: hours that this program has marked */
  tt_clickhouse_block blocks[TT_CLICKHOUSE_SHARDS]; /**< values of the batch in hand */
  tt_list body; /**< char: of the insertion in hand; both keep their memory for the next */
  struct tt_clickhouse_making *making;
  struct tt_clickhouse_forgetting *forgetting;
} tt_clickhouse;

/** What is written of an epoch. */
typedef struct tt_clickhouse_range {
  int64_t low, high;
} tt_clickhouse_range;

/** s in which the writer is answered, but for a slow batch. For tests to be changed, before anything is opened. */
extern unsigned tt_clickhouse_patience;

/** The writer's source. */
static inline tt_clickhouse_source tt_clickhouse_source_of(const tt_clickhouse *store) {
  return (tt_clickhouse_source){store->links[0], &store->address};
}

/** The number of a change that is made now: of several collectors, whoever has seen another's makes a later one. */
int64_t tt_clickhouse_change(tt_clickhouse *store);

/* --- statements --- */

/** Says so: TT_NOMEM. */
tt_status tt_clickhouse_no_memory(tt_error *error);
/** Asks what was printed, which is emptied. */
tt_status tt_clickhouse_ask_list(const tt_clickhouse_source *source, tt_list *sql, tt_list *answer,
                                 tt_error *error);
/** After the last field: TT_FAILED where an answer was not what was asked for. */
tt_status tt_clickhouse_check(const tt_clickhouse_rows *rows, tt_error *error);
/** Adds a text as SQL has it, with its quotes. */
void tt_clickhouse_print_text(tt_list *sql, const char *text);
/** The table of values, and in which an older program had them, which is not to find it any more. */
#define TT_CLICKHOUSE_VALUES "stored_value"
#define TT_CLICKHOUSE_OLD_VALUES "value"
/** Adds a table, of all shards. */
void tt_clickhouse_print_table(const tt_clickhouse_source *source, const char *name, tt_list *sql);
/** Adds the table of values, of all shards. */
void tt_clickhouse_print_values(const tt_clickhouse_source *source, tt_list *sql);

/* --- schema.c --- */

/** What a server can; see tt_clickhouse_print_table(). */
typedef struct tt_clickhouse_abilities {
  bool codecs; /**< columns have a codec of their own: Delta, Gorilla, ZSTD */
  bool syncs;  /**< what is inserted can be on the disk before it is acknowledged */
} tt_clickhouse_abilities;

/** The statement that makes the table of values. */
void tt_clickhouse_print_value_table(const tt_clickhouse_abilities *abilities, tt_list *sql);
/** The statements of a view by its name, "telemetry"; of all shards. */
void tt_clickhouse_print_view(const tt_clickhouse_source *source, tt_list *sql);
/** Makes or upgrades the tables of a server. `view`: that for people, too, which is missing for a moment then. TT_VERSION: a newer
 *  program made them. */
tt_status tt_clickhouse_upgrade(const tt_clickhouse_source *source, bool view, tt_error *error);
/** For readers. TT_VERSION: the tables are not of this version; TT_NOT_FOUND: there are none. */
tt_status tt_clickhouse_check_version(const tt_clickhouse_source *source, tt_error *error);

/** Gives each shard the definitions that others have and it has not: it was added, or is another one than it was. */
tt_status tt_clickhouse_share(tt_clickhouse *store, tt_error *error);

/* --- writing --- */

/** Writes a batch whose indices mean what `known` says, which learns the batch's own. After an error some shards may have it. */
tt_status tt_clickhouse_write_batch(tt_clickhouse *store, const tt_store_batch *batch,
                                    tt_clickhouse_ids *known, tt_error *error);
/** Learns what a batch defines. False: out of memory. */
bool tt_clickhouse_learn(tt_clickhouse *store, const tt_store_batch *batch,
                         tt_clickhouse_ids *known);
/** Writes what a batch defines and is not there. */
tt_status tt_clickhouse_put_definitions(tt_clickhouse *store, const tt_store_batch *batch,
                                        const tt_clickhouse_ids *known, tt_error *error);
/** An empty block of values, as tt_clickhouse_write_batch() needs for each shard. */
tt_clickhouse_block tt_clickhouse_value_block(void);
/** Inserts a block into a table of a shard, or of every one: the first shard, which is asked what is there, comes last. */
tt_status tt_clickhouse_insert(tt_clickhouse *store, int shard, const char *table,
                               const tt_clickhouse_block *block, tt_error *error);
tt_status tt_clickhouse_insert_all(tt_clickhouse *store, const char *table,
                                   const tt_clickhouse_block *block, tt_error *error);
/** Which samples may stand in another epoch: `unsure` gets a char for each. Those that say so, and those that such ones overtook in a log. */
tt_status tt_clickhouse_find_unsure(tt_clickhouse *store, const tt_store_batch *batch,
                                    const tt_clickhouse_ids *known, tt_list *unsure,
                                    tt_error *error);
/** Notes how far in a log those of the batch stand that say so; before they are stored. */
tt_status tt_clickhouse_note_passed(tt_clickhouse *store, const tt_store_batch *batch,
                                    const tt_clickhouse_ids *known, tt_error *error);
/** Which samples are left out, as messages sent again, of those that are `unsure`: `dropped` gets a char for each, or stays empty
 *  where none may be. */
tt_status tt_clickhouse_drop_repeats(tt_clickhouse *store, const tt_store_batch *batch,
                                     const tt_clickhouse_ids *known, const tt_list *unsure,
                                     tt_list *dropped, tt_error *error);

/** The shard of a device: with another shard few devices go to it, and none elsewhere (jump consistent hash). */
int tt_clickhouse_shard_of(uint64_t device, int count);

/* --- hours.c: hours whose values have changed --- */

/** How long is waited, µs. For tests to be changed, before anything is opened. */
typedef struct tt_clickhouse_pace {
  int64_t quiet;   /**< no value has come to an hour, before its buckets are made */
  int64_t relied;  /**< a program writes by one mark */
  int64_t settled; /**< no mark was made of an hour by others; much longer than `relied` */
  int64_t looks;   /**< it was looked for what is old, until what was found is removed */
  int64_t step; /**< a step of what is done besides; within a third of it the next may be longer */
} tt_clickhouse_pace;
extern tt_clickhouse_pace tt_clickhouse_paces;

/** What a program has marked, or seen of others. Times by the monotonic clock, µs. */
typedef struct tt_clickhouse_mark {
  uint64_t device;
  int64_t hour;            /**< µs UTC */
  uint64_t ids;            /**< the marks that buckets do not cover, by exclusive or */
  int64_t marked, written; /**< when last */
} tt_clickhouse_mark;

/** A set of tt_clickhouse_mark, by device and hour. */
GHashTable *tt_clickhouse_new_marks(void);
/** NULL: there is none. */
tt_clickhouse_mark *tt_clickhouse_find_mark(GHashTable *marks, uint64_t device, int64_t hour);
/** One that is not there yet. */
tt_clickhouse_mark *tt_clickhouse_add_mark(GHashTable *marks, uint64_t device, int64_t hour);
/** Marks hours (tt_clickhouse_mark: their device and hour) whose values on a shard change now. */
tt_status tt_clickhouse_mark_hours(tt_clickhouse *store, int shard, const tt_list *hours,
                                   tt_error *error);

/** What the database says of an hour of a device. Its buckets are right where `version` isn't 0 and `covers` is `marks`. */
typedef struct tt_clickhouse_hour {
  int64_t start;    /**< µs UTC */
  uint64_t marks;   /**< all, by exclusive or */
  uint64_t covers;  /**< those with which its buckets were made */
  uint64_t version; /**< of those; 0: they were not made */
} tt_clickhouse_hour;

/** Adds the hours of a device that begin from one time to another (inclusive), in order. */
tt_status tt_clickhouse_read_hours(const tt_clickhouse_source *source, uint64_t device,
                                   int64_t from, int64_t to, tt_list *hours, tt_error *error);
/** NULL: it is none of them. */
tt_clickhouse_hour *tt_clickhouse_find_hour(const tt_list *hours, int64_t start);

/* --- keep.c: buckets are made --- */

/** What is in hand. */
typedef struct tt_clickhouse_making tt_clickhouse_making;
/** NULL: out of memory. */
tt_clickhouse_making *tt_clickhouse_new_making(void);
/** NULL-safe. */
void tt_clickhouse_free_making(tt_clickhouse_making *making);
/** Gives up what is in hand. */
void tt_clickhouse_forget_making(tt_clickhouse_making *making);
/** A step of some ms, which is tried again later where it fails; `*more`: there is more to do at once. */
void tt_clickhouse_make_buckets(tt_clickhouse *store, bool *more);

/* --- fold.c --- */

/** What the values of an epoch come to in a bucket. */
typedef struct tt_clickhouse_part {
  uint64_t attribute; /**< its id, or what stands for it */
  int epoch;          /**< its number; −1: of several */
  tt_bucket bucket;
} tt_clickhouse_part;

/** What is computed. */
typedef struct tt_clickhouse_folding {
  tt_clickhouse_source source;
  uint64_t device;
  const tt_list *boots; /**< tt_clickhouse_boot: all of the device */
  tt_bucket_size size;
  int64_t from, to;   /**< µs UTC, inclusive */
  const char *filter; /**< " AND …"; NULL: none */
} tt_clickhouse_folding;

/** Adds parts, in no order. */
tt_status tt_clickhouse_fold(const tt_clickhouse_folding *folding, tt_list *parts, tt_error *error);
/** Puts together what is of one bucket; of values of one time the latest epoch's is the last. In order of beginnings, then attributes. */
void tt_clickhouse_merge_parts(tt_list *parts);
/** Takes count, least, greatest, sum, last and its time. */
void tt_clickhouse_take_bucket(tt_clickhouse_rows *rows, tt_bucket *bucket);
/** The number of an epoch by its key; −1: it is none of them. */
int tt_clickhouse_number_of(const tt_list *boots, int64_t key);

/* --- boots.c: epochs --- */

/** An epoch as the database knows it. */
typedef struct tt_clickhouse_boot {
  uint64_t device;
  tt_store_epoch epoch; /**< whose device is −1 */
  int64_t at;           /**< the change that added it */
} tt_clickhouse_boot;

/** Adds the epochs of devices ("1, 2, 3"; NULL: of all), by device and number, which are given here. */
tt_status tt_clickhouse_read_boots(const tt_clickhouse_source *source, const char *devices,
                                   tt_list *boots, tt_error *error);
/** Tells of epochs what is newest of them; fields of each are set: has_sample, device_time, time. `latest`: tt_store_boot, whose epoch's
 *  device is an index into `devices` (uint64_t). */
tt_status tt_clickhouse_read_newest(const tt_clickhouse_source *source, const tt_list *devices,
                                    tt_list *latest, tt_error *error);
/** Where the epochs of a device end in `boots`, which are in order of devices as tt_clickhouse_read_boots() gives them. */
uint32_t tt_clickhouse_boots_end(const tt_list *boots, uint64_t device);

/** Epochs in which a message may stand that belongs to one of a boot: the latest, as indices into `boots`, the newest first.
 *  `except`: the key of one that is not meant; NULL: all are. */
int tt_clickhouse_candidates(const tt_list *boots, uint64_t device, const char *boot,
                             const int64_t *except, uint32_t candidates[TT_STORE_EPOCHS]);

/* --- repeats.c: values that are compared --- */

/** What a value of an epoch says, as a number; two that differ are hardly ever the same. */
tt_map_key tt_clickhouse_content(uint64_t device, int64_t key, int64_t device_time,
                                 uint64_t attribute, int64_t seq, const char *text, double number);
/** Of a device in one of its epochs. */
typedef struct tt_clickhouse_moment {
  uint64_t device;
  int64_t key, device_time; /**< of the epoch; µs */
} tt_clickhouse_moment;
/** Adds a moment of a device in each epoch that is a candidate. `moments`: of tt_clickhouse_moment. */
void tt_clickhouse_add_moments(const tt_list *boots, uint64_t device, const uint32_t *candidates,
                               int count, int64_t device_time, tt_list *moments);
/** Adds to `found` (content → 1) all values of moments. */
tt_status tt_clickhouse_gather(const tt_clickhouse_source *source, const tt_list *moments,
                               tt_map *found, tt_error *error);

/** See tt_store.find. */
tt_status tt_clickhouse_find(tt_store *base, const tt_store_question *question, tt_list *boots,
                             int64_t *key);

/* --- load.c --- */

/** Tells a loader what a database knows. */
typedef struct tt_clickhouse_teller {
  tt_clickhouse_source source;
  const tt_store_loader *loader;
  tt_clickhouse_ids *known; /**< learns names */
  pthread_mutex_t *mutex;   /**< guards `known`; NULL: nobody else uses it */
  tt_clickhouse *store;     /**< learns what is there; NULL: none */
  int64_t told;             /**< changes up to this one were told */
} tt_clickhouse_teller;

/** Tells what was not told before. `*taken`: the loader has no changes of its own that are still to be written. */
tt_status tt_clickhouse_tell(tt_clickhouse_teller *teller, bool *taken, tt_error *error);
/** The last change in the database. */
tt_status tt_clickhouse_last_change(const tt_clickhouse_source *source, int64_t *change,
                                    tt_error *error);

/** Removals of values that a server has not carried out yet. */
tt_status tt_clickhouse_count_mutations(const tt_clickhouse_source *source, int64_t *count,
                                        tt_error *error);
/** See tt_store.purge. */
tt_status tt_clickhouse_purge(tt_store *base, const tt_store_purge *purge, int *removed,
                              tt_error *error);

/* --- forget.c: what is old is removed --- */

/** What is in hand. */
typedef struct tt_clickhouse_forgetting tt_clickhouse_forgetting;
/** NULL: out of memory. */
tt_clickhouse_forgetting *tt_clickhouse_new_forgetting(void);
/** NULL-safe. */
void tt_clickhouse_free_forgetting(tt_clickhouse_forgetting *job);
/** See tt_store.forget. */
void tt_clickhouse_forget(tt_store *base, const tt_list *old);
/** A step of some ms, which is tried again later where it fails. True: there is more to do at once. */
bool tt_clickhouse_forget_some(tt_clickhouse *store);
/** Whether hours were marked of which the server has not been told yet what it shall remove. */
bool tt_clickhouse_is_forgetting(const tt_clickhouse *store);

/* --- readers --- */

typedef struct tt_clickhouse_reader {
  tt_store_reader base;
  tt_clickhouse_address address;
  tt_clickhouse_source source;
  tt_clickhouse_ids known; /**< names */
  tt_map devices;          /**< id → index */
  tt_map attributes;       /**< id → index */
  tt_list boots;           /**< tt_clickhouse_boot of `boots_of` */
  uint64_t boots_of;
} tt_clickhouse_reader;

/** The epochs of a device, by its id: `boots`. */
tt_status tt_clickhouse_need_boots(tt_clickhouse_reader *reader, uint64_t device, tt_error *error);
/** The index of an attribute; −1: another process's, of which this one has not heard. */
int tt_clickhouse_attribute_of(const tt_clickhouse_reader *reader, uint64_t id);
/** Adds " AND attribute IN (…)" where not all are asked for. */
void tt_clickhouse_print_attributes(const tt_clickhouse_reader *reader, const int *attributes,
                                    int count, tt_list *sql);
/** Adds " AND (…)": values of the device of `boots` whose times lie between two, as far as epochs tell that cheaply, and
 *  exactly. µs UTC, inclusive. */
void tt_clickhouse_print_times(const tt_list *boots, int64_t from, int64_t to, tt_list *sql);

/** A device of which is asked what came since a time. */
typedef struct tt_clickhouse_since {
  uint64_t device; /**< its id */
  tt_list boots;   /**< tt_clickhouse_boot: all of its, not owned */
  int64_t from;    /**< µs UTC, inclusive */
} tt_clickhouse_since;
/** Adds " PREWHERE …": values of devices (tt_clickhouse_since) that are not older than is said of each; `all`: of any age. */
void tt_clickhouse_print_since(const tt_list *since, bool all, tt_list *sql);

/** See tt_store_reader.open, .next and .close_cursor. */
tt_status tt_clickhouse_open_cursor(tt_store_reader *base, const tt_store_range *range,
                                    tt_store_cursor **cursor, tt_error *error);
/** The same. */
tt_status tt_clickhouse_next(tt_store_cursor *cursor, tt_store_record *record, tt_error *error);
/** The same. */
void tt_clickhouse_close_cursor(tt_store_cursor *cursor);
/** See tt_store_reader.count. */
tt_status tt_clickhouse_count(tt_store_reader *base, const tt_store_range *range, uint64_t *records,
                              tt_error *error);
/** See tt_store_reader.buckets. */
tt_status tt_clickhouse_read_buckets(tt_store_reader *base, const tt_store_bucket_query *query,
                                     bool (*take)(void *context, int attribute,
                                                  const tt_bucket *bucket),
                                     void *context, tt_error *error);
/** See tt_store_reader.latest. */
tt_status tt_clickhouse_read_latest(tt_store_reader *base, int device,
                                    bool (*take)(void *context, const tt_store_latest *latest),
                                    void *context, tt_error *error);
/** See tt_store.open_reader. A connection of its own. */
tt_status tt_clickhouse_open_reader(tt_store *base, tt_store_reader **reader, tt_error *error);
/** See tt_store_backend.open_reader. */
tt_status tt_clickhouse_open_alone(const tt_store_options *options, tt_store_reader **reader,
                                   tt_error *error);

#endif
