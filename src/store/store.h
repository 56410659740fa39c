/* store.h: where telemetry is kept: one small interface, filled by sqlite.c and postgres.c.
 *
 * Writing belongs to one thread; readers are opened by any thread, each used by one at a time. Devices and attributes are
 * known by small indices that the collector gives them; a store maps them to whatever it keeps.
 */
#ifndef TT_STORE_STORE_H
#define TT_STORE_STORE_H

#include "base/status.h"
#include "store/list.h"

#include <stdbool.h>
#include <stdint.h>

/** What is said of a name. */
typedef enum tt_name_state {
  TT_NAME_KNOWN,   /**< as it is in the store; there, if it was not */
  TT_NAME_USED,    /**< there, and not removed any more */
  TT_NAME_REMOVED, /**< nobody is shown it until it is used again; nothing is stored of it */
} tt_name_state;

/** A device or an attribute. */
typedef struct tt_store_name {
  int index;        /**< from 0, without gaps */
  char *identifier; /**< "ROBO1", "Output.drive.velocity" */
  char *name;       /**< for people; NULL: as before; "": none */
  tt_name_state state;
} tt_store_name;

/** That values of an attribute are stored of a device. */
typedef struct tt_store_pair {
  int32_t device, attribute;
} tt_store_pair;

typedef enum tt_value_type {
  TT_VALUE_AUTO,
  TT_VALUE_NUMBER,
  TT_VALUE_TEXT,
  TT_VALUE_FLAG
} tt_value_type;
typedef enum tt_value_mode {
  TT_MODE_BOTH,
  TT_MODE_STORE,
  TT_MODE_FORWARD,
  TT_MODE_IGNORE
} tt_value_mode;

/** How the values of attributes are handled. */
typedef struct tt_handling {
  char *pattern; /**< an identifier, or one with * and ? in it */
  bool removed;  /**< takes the pattern away */
  tt_value_type type;
  tt_value_mode mode;
  char *unit;   /**< of scaled values, or NULL */
  double scale; /**< kept value = sent value × scale + offset */
  double offset;
  double
      min_interval; /**< s on the device's clock between kept values of a device; 0: all are kept */
  double retention; /**< s after which values are removed; 0: never */
} tt_handling;

/** Of what a device calls its start: 64 bytes and a 0, rounded up. */
#define TT_BOOT_SIZE 72

/** A boot epoch of a device. Times µs. */
typedef struct tt_store_epoch {
  int device,
      number; /**< what this process calls it; a store may have given the number to another one, and maps it */
  int64_t anchor; /**< first offset seen; the store keeps the first it was told */
  int64_t offset_low,
      offset_high; /**< normalized − device time of every sample lies between; only widened */
  int64_t key;     /**< its identity in every process and database, drawn when it began */
  char boot[TT_BOOT_SIZE]; /**< what the device calls its start; "": it says nothing */
} tt_store_epoch;

/** An epoch with its newest sample. */
typedef struct tt_store_boot {
  tt_store_epoch epoch;
  bool has_sample;
  int64_t device_time, time; /**< µs */
} tt_store_boot;

/** It goes on with the message of the sample before it in the batch. */
#define TT_SAMPLE_CONTINUES 1u
/** Its message may be one sent again that stands in another epoch: if all its values do, it is not stored. */
#define TT_SAMPLE_UNSURE 2u

/** Values of one device at one moment, each of another attribute. Times µs. */
typedef struct tt_store_sample {
  int32_t device, epoch;
  int64_t device_time; /**< as the device said */
  int64_t time;        /**< UTC */
  uint32_t first, count;
  int64_t seq;    /**< of its message, counted from 1; 0: it had none */
  uint32_t flags; /**< TT_SAMPLE_… */
  uint32_t
      thinned; /**< the last so many values may be left out when their message is sent again, by a minimum interval */
} tt_store_sample;

#define TT_STORE_NUMBER UINT32_MAX

typedef struct tt_store_value {
  int32_t attribute;
  uint32_t text; /**< offset into the batch's text, or TT_STORE_NUMBER */
  double number; /**< finite */
} tt_store_value;

/** What is written in one transaction: definitions first, then samples. */
typedef struct tt_store_batch {
  tt_list devices;    /**< tt_store_name */
  tt_list attributes; /**< tt_store_name */
  tt_list handlings;  /**< tt_handling */
  tt_list epochs;     /**< tt_store_epoch */
  tt_list samples;    /**< tt_store_sample */
  tt_list values;     /**< tt_store_value */
  tt_list text;       /**< char: texts of values, each with its 0 */
  tt_list pairs;      /**< tt_store_pair: those that are new */
} tt_store_batch;
/** NULL: out of memory. */
tt_store_batch *tt_store_batch_new(void);
/** NULL-safe. */
void tt_store_batch_free(tt_store_batch *batch);
void tt_store_batch_clear(tt_store_batch *batch);
bool tt_store_batch_is_empty(const tt_store_batch *batch);
/** Whether memory ran out while it was filled, so that something is missing in it. */
bool tt_store_batch_has_failed(const tt_store_batch *batch);
size_t tt_store_batch_bytes(const tt_store_batch *batch);
/** Makes room for one more epoch and so much else; adding it then can't fail. False: out of memory. */
bool tt_store_batch_reserve(tt_store_batch *batch, size_t samples, size_t values,
                            size_t text_bytes);
/** Adds copies, to devices or attributes (`name` may be NULL) or to handlings. False: out of memory, nothing was added. */
bool tt_store_add_name(tt_list *names, int index, const char *identifier, const char *name,
                       tt_name_state state);
bool tt_store_add_handling(tt_list *handlings, const tt_handling *handling);
/** An empty list of tt_handling. */
tt_list tt_handling_list(void);
/** Samples from `first` on that are one message. */
uint32_t tt_store_message_size(const tt_store_batch *batch, uint32_t first);
/** A value by which a message is known: of its samples `first`…, those before the thinned ones. Zero at first. */
typedef struct tt_store_firm {
  uint32_t at, within; /**< where it goes on */
  const tt_store_sample *sample;
  const tt_store_value *value;
} tt_store_firm;
/** The next one of `count` samples. False: there are no more. */
bool tt_store_next_firm(const tt_store_batch *batch, uint32_t first, uint32_t count,
                        tt_store_firm *firm);
/** What a message of `count` samples says, as a number; two that differ are hardly ever the same. */
uint64_t tt_store_content(const tt_store_batch *batch, uint32_t first, uint32_t count);
void tt_handling_clear(tt_handling *handling);
/** False: out of memory; there is nothing to be cleared. */
bool tt_handling_copy(tt_handling *target, const tt_handling *source);

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

/** One cell of a record. */
typedef struct tt_store_cell {
  int32_t attribute;
  const char *text; /**< NULL: a number */
  double number;
} tt_store_cell;

/** For cursors, whose texts move while they are gathered: makes pointers into `text` of offsets + 1. */
void tt_store_settle_texts(tt_list *cells, const tt_list *text);

/** All values of one device at one moment; valid until the cursor moves. */
typedef struct tt_store_record {
  int64_t device_time, time;
  const tt_store_cell *cells;
  int count;
} tt_store_record;

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

struct tt_store_reader {
  /** The epochs of a device, oldest first, appended to `epochs` (tt_store_epoch). */
  tt_status (*epochs)(tt_store_reader *reader, int device, tt_list *epochs, tt_error *error);
  tt_status (*open)(tt_store_reader *reader, const tt_store_range *range, tt_store_cursor **cursor,
                    tt_error *error);
  /** Whether any value of an attribute is stored of a device. May take a while where there is none. */
  tt_status (*holds)(tt_store_reader *reader, int device, int attribute, bool *holds,
                     tt_error *error);
  /** TT_NOT_FOUND at the end. */
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
