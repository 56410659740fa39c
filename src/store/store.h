/* store.h: where telemetry is kept: one small interface, filled by sqlite.c and postgres.c.
 *
 * Writing belongs to one thread; readers are opened by any thread, each used by one at a time. Devices and attributes are
 * known by small indices that the collector gives them; a store maps them to whatever it keeps.
 */
#ifndef TT_STORE_STORE_H
#define TT_STORE_STORE_H

#include "base/status.h"
#include "store/batch.h"
#include "store/record.h"

#include <stdbool.h>
#include <stdint.h>

/** Told what a store knows: everything while it loads; later, by a store that others write to as well, what those make
 *  known. Strings are the callee's to copy. */
typedef struct tt_store_loader {
  void *context;
  /** Both return the index it has from now on. `name` is NULL where it has none for people. `*removed`: whether it was
   *  removed; cleared where the callee keeps it nevertheless. */
  int (*device)(void *context, const char *identifier, const char *name, bool *removed);
  int (*attribute)(void *context, const char *identifier, const char *name, bool *removed);
  /** Indices. */
  void (*pair)(void *context, int device, int attribute);
  /** All of tt_handling that is set. False: a change of the callee's own is still to be written; tell again after it. */
  bool (*handlings)(void *context, const tt_list *handlings);
  /** The latest epochs of a device, oldest first. */
  void (*epoch)(void *context, const tt_store_boot *boot);
  /** A message that waits in a spool: the key of its epoch, the latest time of its samples, tt_store_content(). */
  void (*spooled)(void *context, int device, int64_t key, int64_t last_sample, uint64_t content);
} tt_store_loader;

/** A message that is looked for. */
typedef struct tt_store_question {
  int device;
  const char *boot;            /**< only in epochs of this; "": of none */
  const tt_store_batch *batch; /**< its samples */
} tt_store_question;

/** Epochs of a device in which a message is looked for: the latest so many. */
#define TT_STORE_EPOCHS 64
/** Records of one moment that a sample is compared with: the latest so many; elsewhere than in its epoch the first ones. */
#define TT_STORE_RECORDS 100
/** Values by which a message is known. */
#define TT_STORE_VALUES 64

/** Records of one epoch of one device in order of device time. */
typedef struct tt_store_range {
  int device, epoch;
  int64_t device_from, device_to; /**< µs, inclusive */
  int64_t from, to;               /**< µs UTC, inclusive */
  const int *attributes;          /**< only these… */
  int attribute_count;            /**< …all if 0 */
} tt_store_range;

typedef struct tt_store_cursor tt_store_cursor;
typedef struct tt_store_reader tt_store_reader;

/** One thread at a time. Cursors of one reader see the same moment, and are closed before it. */
struct tt_store_reader {
  /** The epochs of a device, oldest first, appended to `epochs` (tt_store_epoch). */
  tt_status (*epochs)(tt_store_reader *reader, int device, tt_list *epochs, tt_error *error);
  tt_status (*open)(tt_store_reader *reader, const tt_store_range *range, tt_store_cursor **cursor,
                    tt_error *error);
  /** Whether any value of an attribute is stored of a device. May take a while where there is none. */
  tt_status (*holds)(tt_store_reader *reader, int device, int attribute, bool *holds,
                     tt_error *error);
  /** TT_END: there are no more. */
  tt_status (*next)(tt_store_cursor *cursor, tt_store_record *record, tt_error *error);
  void (*close_cursor)(tt_store_cursor *cursor);
  void (*close)(tt_store_reader *reader);
};

/** Removes a device's values of an attribute. */
typedef struct tt_store_purge {
  int device, attribute;
  int64_t before; /**< µs UTC */
  int limit;      /**< samples looked at in one call */
} tt_store_purge;

/** What people are shown about a store. */
typedef struct tt_store_state {
  bool degraded;          /**< it can't write now */
  char reason[256];       /**< why, if degraded */
  uint64_t spooled_bytes; /**< waiting on disk for the database */
  uint64_t spool_lost_bytes,
      spool_lost_samples; /**< of what waited; damaged since it was acknowledged */
} tt_store_state;

typedef struct tt_store tt_store;
struct tt_store {
  const char *kind; /**< "sqlite", "postgresql" */
  /** Everything known, before the first write. The loader is used until the store is closed, from tend(). TT_AGAIN: the
   *  database is away; what is spooled was told, what it knows itself will be once it is there. */
  tt_status (*load)(tt_store *store, const tt_store_loader *loader, tt_error *error);
  /** TT_OK once the whole batch is durable; else nothing of it is, and it may be given again. A value that is there
   *  already (device, epoch, device time, attribute, value, seq) is stored once; see also TT_SAMPLE_UNSURE. */
  tt_status (*write)(tt_store *store, const tt_store_batch *batch, tt_error *error);
  /** Whether a message is stored: in the epoch `key`. `boots` gets the latest epochs of its device, and that one, oldest
   *  first (tt_store_boot). TT_NOT_FOUND; TT_AGAIN: nobody can be asked now. Takes a second at most; any thread, one at a
   *  time. What has not been written is not found. */
  tt_status (*find)(tt_store *store, const tt_store_question *question, tt_list *boots,
                    int64_t *key);
  /** About every 100 ms: reconnects, writes what is spooled. Returns true when there is more to do at once. */
  bool (*tend)(tt_store *store);
  /** Removes old values; `removed` counts them; TT_AGAIN: more may be left. */
  tt_status (*purge)(tt_store *store, const tt_store_purge *purge, int *removed, tt_error *error);
  void (*state)(tt_store *store, tt_store_state *state);
  /** Writing ends soon: don't wait long for anything. Any thread. */
  void (*hurry)(tt_store *store);
  void (*close)(tt_store *store);
  /** Any thread. */
  tt_status (*open_reader)(tt_store *store, tt_store_reader **reader, tt_error *error);
};

typedef struct tt_store_options {
  const char *url;      /**< "sqlite:FILE", "postgresql://…" or "none:" */
  const char *spool;    /**< file that takes batches while PostgreSQL can't; NULL: none */
  uint64_t spool_limit; /**< bytes; default 1 GiB */
} tt_store_options;

/** Opens or creates a store, upgrading one of an older version. TT_VERSION: made by a newer one. */
tt_status tt_store_open(const tt_store_options *options, tt_store **store, tt_error *error);

/** Keeps nothing. */
tt_status tt_none_open(tt_store **store, tt_error *error);
tt_status tt_sqlite_open(const char *path, tt_store **store, tt_error *error);
tt_status tt_postgres_open(const tt_store_options *options, tt_store **store, tt_error *error);

#endif
