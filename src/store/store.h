/* store.h: the contract of what keeps telemetry. A folder here for each backend; a store is a sink (batches in, an
 * acknowledgement out), may have readers, and may be able to do more (tt_store_ability). Whoever uses one asks what it can,
 * never which it is.
 *
 * Writing belongs to one thread; readers are opened by any thread, each used by one at a time. Devices and attributes are
 * known by small indices that the collector gives them; a store maps them to whatever it keeps.
 */
#ifndef TT_STORE_STORE_H
#define TT_STORE_STORE_H

#include "base/status.h"
#include "store/batch.h"
#include "store/bucket.h"
#include "store/record.h"

#include <stdbool.h>
#include <stdint.h>

/** Told what a store knows: everything while it loads; later, by a store that others write to as well, what those make
 *  known, as batches of others do (write_foreign). Strings are the callee's to copy. */
typedef struct tt_store_loader {
  void *context;
  /** Both return the index it has from now on: 0, 1, 2… in the order in which they are told, where the callee knew none
   *  before. `name` is NULL where it has none for people. `*removed`: whether it was removed; cleared where the callee
   *  keeps it nevertheless. */
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
  /** What others put into a store that is followed (tt_store.follow), as it comes: a batch that is whole in itself, during the call.
   *  Names in it may be told later. In a thread of the store's; NULL: nobody wants it. */
  void (*others)(void *context, const tt_store_batch *batch);
} tt_store_loader;

/* --- the sink --- */

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
/** Values by which find() knows a message. Whoever leaves one out as a repeat compares all of them. */
#define TT_STORE_VALUES 64

/** Removes values, whole records where nothing is left of them. Names stay. */
typedef struct tt_store_purge {
  int device;
  int attribute;  /**< −1: of all */
  int64_t before; /**< µs UTC; INT64_MAX: all there is */
  int limit;      /**< samples looked at in one call, about */
  /** By each record's own time: of all in `from` ≤ time < `before` none is left after TT_OK. False: what is surely older than `before`,
   *  which costs less; `from` doesn't count. */
  bool exact;
  int64_t from; /**< µs UTC; INT64_MIN: from the beginning */
} tt_store_purge;

/** What is old by now of an attribute, whichever device it is of. */
typedef struct tt_store_old {
  int attribute;
  int64_t before; /**< µs UTC */
} tt_store_old;

/** What people are shown about a store. */
typedef struct tt_store_state {
  bool degraded;           /**< it can't write now */
  char reason[256];        /**< why, if degraded */
  bool spools;             /**< what comes meanwhile waits in a spool */
  uint64_t bytes;          /**< on disk; 0: not known */
  uint64_t spooled_bytes;  /**< waiting on disk for the database */
  uint64_t spooled_values; /**< that were put there since it was opened */
  uint64_t spool_lost_bytes,
      spool_lost_samples; /**< of what waited; damaged since it was acknowledged */
} tt_store_state;

/** What is packed or unpacked in one call. */
typedef struct tt_store_sealing {
  bool undo;      /**< unpacks */
  int64_t before; /**< µs UTC: days that ended by then */
  int64_t budget; /**< µs: about so long, and at least one step */
} tt_store_sealing;

/** What one call has done. */
typedef struct tt_store_sealed {
  uint64_t values;
  uint64_t bytes; /**< that they take now */
  int64_t until;  /**< µs UTC: all before is done */
} tt_store_sealed;

typedef struct tt_store tt_store;
typedef struct tt_store_reader tt_store_reader;
typedef struct tt_store_backend tt_store_backend;

/** The functions from `purge` on are NULL where the backend has not the ability. */
struct tt_store {
  const tt_store_backend *backend;
  /** Everything known, before the first write. The loader is used until the store is closed, from tend(). TT_AGAIN: the
   *  database is away; what is spooled was told, what it knows itself will be once it is there. Or what is spooled can't be read
   *  yet; what the database knows was told, and all is once more when that is in it. */
  tt_status (*load)(tt_store *store, const tt_store_loader *loader, tt_error *error);
  /** TT_OK once the whole batch is durable; else nothing of it is, and it may be given again. A remote store that is away
   *  looks now and then whether it is back. A human name is taken from whoever had it. Of a device's epochs those
   *  are known that the batch defines, and the latest TT_STORE_EPOCHS before it; who goes on with another defines it again. A value that is there
   *  already (device, epoch, device time, attribute, value, seq) is stored once; see also TT_SAMPLE_UNSURE. */
  tt_status (*write)(tt_store *store, const tt_store_batch *batch, tt_error *error);
  /** The same of a batch that is whole in itself (tt_catalogue_complete()), from another process or time: its indices mean
   *  what it defines and nothing else. Names are those of the same identifier, epochs those of the same key, whatever
   *  their numbers. TT_INVALID: it is not whole. A store without
   *  TT_STORE_SHARED is given batches by this or by write(), not by both. */
  tt_status (*write_foreign)(tt_store *store, const tt_store_batch *batch, tt_error *error);
  /** Whether a message is stored: in the epoch `key`. `boots` gets the latest epochs of its device, and that one, oldest
   *  first (tt_store_boot). TT_NOT_FOUND; TT_AGAIN: nobody can be asked now. Takes a second at most; any thread, one at a
   *  time. What has not been written is not found. */
  tt_status (*find)(tt_store *store, const tt_store_question *question, tt_list *boots,
                    int64_t *key);
  /** About every 100 ms: reconnects, writes what is spooled, keeps buckets. Takes 50 ms at most where nothing hangs.
   *  Returns true when there is more to do at once. */
  bool (*tend)(tt_store *store);
  void (*state)(tt_store *store, tt_store_state *state);
  /** Writing ends soon: don't wait long for anything. Any thread. */
  void (*hurry)(tt_store *store);
  void (*close)(tt_store *store);

  /** TT_STORE_PURGES. `removed` counts values; TT_AGAIN: more may be left, also as long as nobody can be asked. Asked
   *  again for the same, it goes on where it was. */
  tt_status (*purge)(tt_store *store, const tt_store_purge *purge, int *removed, tt_error *error);
  /** Only where removing costs much, however little it is: what is old (tt_store_old, which are copied) is removed of all devices,
   *  in tend(), as what is not `exact` by purge(). Not all of it may be done when it is asked for again; that comes first then. */
  void (*forget)(tt_store *store, const tt_list *old);
  /** TT_STORE_SEALS. TT_AGAIN: more is left; killed at any moment it loses nothing. */
  tt_status (*seal)(tt_store *store, const tt_store_sealing *sealing, tt_store_sealed *sealed,
                    tt_error *error);
  /** TT_STORE_SEALS. Gives the file system the room back that sealing has left, where that is worth it; else what comes
   *  next uses it. Takes as long as writing what is stored. TT_FULL: there is too little room to do it in. */
  tt_status (*shrink)(tt_store *store, tt_error *error);
  /** TT_STORE_FORWARDS. Whether the loader is told what others put into it from now on, until it is lost or full: nothing is
   *  told later, or again. tend() begins and ends it. */
  void (*follow)(tt_store *store, bool follows);
  /** TT_STORE_READS. Any thread. */
  tt_status (*open_reader)(tt_store *store, tt_store_reader **reader, tt_error *error);
};

/* --- readers --- */

/** Records of one epoch of one device in order of device time. */
typedef struct tt_store_range {
  int device, epoch;
  int64_t device_from, device_to; /**< µs, inclusive */
  int64_t from, to;               /**< µs UTC, inclusive */
  const int *attributes;          /**< only these… */
  int attribute_count;            /**< …all if 0 */
  bool newest_first;              /**< the order is turned around; also of records of one moment */
} tt_store_range;

/** Buckets of a device: those that begin from `from` to before `to`. */
typedef struct tt_store_bucket_query {
  int device;
  tt_bucket_size size;
  int64_t from, to;      /**< µs UTC */
  const int *attributes; /**< only these… */
  int attribute_count;   /**< …all if 0 */
  bool unordered; /**< their order doesn't matter, and may cost much where attributes are many */
} tt_store_bucket_query;

/** The newest value of a device's attribute, by `time`. Valid during the call. */
typedef struct tt_store_latest {
  int device, epoch;
  int64_t device_time, time; /**< µs, µs UTC */
  tt_store_cell cell;
} tt_store_latest;

typedef struct tt_store_cursor tt_store_cursor;

/** One thread at a time. What one reader gives is of the same moment; its cursors are closed before it. */
struct tt_store_reader {
  /** Everything known, as tt_store.load() tells it, for readers without a store (tt_store_backend.open_reader): before
   *  anything else is asked of them. */
  tt_status (*load)(tt_store_reader *reader, const tt_store_loader *loader, tt_error *error);
  /** The epochs of a device, oldest first, appended to `epochs` (tt_store_epoch). */
  tt_status (*epochs)(tt_store_reader *reader, int device, tt_list *epochs, tt_error *error);
  tt_status (*open)(tt_store_reader *reader, const tt_store_range *range, tt_store_cursor **cursor,
                    tt_error *error);
  /** TT_END: there are no more. */
  tt_status (*next)(tt_store_cursor *cursor, tt_store_record *record, tt_error *error);
  void (*close_cursor)(tt_store_cursor *cursor);
  /** How many records tt_store_reader.open() would give. */
  tt_status (*count)(tt_store_reader *reader, const tt_store_range *range, uint64_t *records,
                     tt_error *error);
  /** Buckets of numbers that are not empty, in order of their beginnings; of one beginning, in order of attributes (see
   *  `unordered`). So a table of any length takes little memory. What they say is what the samples say at this moment, late ones too; of
   *  numbers of one time the last is that of the latest epoch, then device time, then record of its moment. `take` returns
   *  false to end it: TT_OK. */
  tt_status (*buckets)(tt_store_reader *reader, const tt_store_bucket_query *query,
                       bool (*take)(void *context, int attribute, const tt_bucket *bucket),
                       void *context, tt_error *error);
  /** The newest value of each attribute of a device, or (−1) of every device, as far as the store was told that there are
   *  any (tt_store_batch.pairs): devices in order, attributes in order. Of values of one time it is the one that is the last
   *  of a bucket. `take` returns false to end it: TT_OK. */
  tt_status (*latest)(tt_store_reader *reader, int device,
                      bool (*take)(void *context, const tt_store_latest *latest), void *context,
                      tt_error *error);
  /** Whether any value of an attribute is stored of a device. May take a while where there is none. */
  tt_status (*holds)(tt_store_reader *reader, int device, int attribute, bool *holds,
                     tt_error *error);
  void (*close)(tt_store_reader *reader);
};

/* --- backends --- */

/** What a backend can do beside taking batches. */
typedef enum tt_store_ability {
  TT_STORE_READS = 1,  /**< has readers */
  TT_STORE_PURGES = 2, /**< removes values */
  TT_STORE_SEALS = 4,  /**< packs days that are over */
  TT_STORE_SHARED = 8, /**< several programs may write at once */
  /** it may be away, and is shared: around it there may be a spool (spool/spooled.h) */
  TT_STORE_REMOTE = 16,
  TT_STORE_COPIES = 32,   /**< makes a copy of itself while it is written: back_up() */
  TT_STORE_FORWARDS = 64, /**< keeps what it took for other stores: open_log() */
} tt_store_ability;

/** How far who takes of a log has come. */
typedef struct tt_store_log_state {
  uint64_t waiting;     /**< messages that nobody has taken */
  uint64_t in_hand;     /**< those that this one has taken, and not done */
  uint64_t redelivered; /**< those that came once more, since it was opened */
  int64_t oldest; /**< µs UTC at which the oldest of those in hand came into the log; 0: none is */
} tt_store_log_state;

/** What a store has taken, for who puts it into another one. One thread, but where it says otherwise. */
typedef struct tt_store_log tt_store_log;
struct tt_store_log {
  /** The next of it, as a batch that is whole in itself, which is the log's until the next call. Waits for `patience` (µs) at most:
   *  TT_AGAIN: nothing came. After an error it may be asked again. What came may come once more, unless done() said otherwise; others
   *  who take of the same log get other parts of it. */
  tt_status (*take)(tt_store_log *log, int64_t patience, const tt_store_batch **batch,
                    tt_error *error);
  /** All that was taken is durable elsewhere. TT_FAILED: it comes again. */
  tt_status (*done)(tt_store_log *log, tt_error *error);
  /** Brings `state.waiting` up to date while nothing is taken, since what was is not done for long. Takes a second at most. */
  void (*look)(tt_store_log *log);
  /** Whether the store was there when it was heard of last, which is not long ago. Any thread, at any time: whoever takes may be busy
   *  with what it took. */
  bool (*is_there)(tt_store_log *log);
  tt_store_log_state state;
  void (*close)(tt_store_log *log);
};

/** A batch of a log as a store likes it: no more than it takes in a second or so, since it may be given no more at a time. */
typedef struct tt_store_portion {
  uint32_t messages, bytes; /**< at most; 0: the log's own measure */
  /** µs: as long after a batch the next one waits until it is large, as each costs much; or 0 */
  int64_t linger;
} tt_store_portion;

typedef struct tt_store_log_options {
  const char *url;
  const char *name; /**< who share a name share the work; each name gets all */
  int64_t replay;   /**< µs UTC: what came since then comes again first; INT64_MAX: nothing */
  tt_store_portion portion; /**< of the store into which it goes */
} tt_store_log_options;

typedef struct tt_store_options {
  const char *url; /**< tt_store_backend.schemes */
  /** file that takes batches while a remote store can't, which may be away when it is opened then; NULL:
   *  none */
  const char *spool;
  uint64_t spool_limit; /**< bytes; default 1 GiB */
  /** by which URL it was opened when what waits was spooled; NULL: by this one */
  const char *spool_was;
  /** A remote store may be away when it is opened: who writes to it keeps what it can't take, as a spool and a log do. */
  bool may_be_away;
} tt_store_options;

/** A kind of store. Static. */
struct tt_store_backend {
  const char *kind;           /**< "sqlite": for people, and in /telemetry/status */
  tt_store_portion portion;   /**< of a log; zeros: any */
  const char *const *schemes; /**< what its URLs begin with, NULL-terminated: "sqlite:" */
  const char *example;        /**< a URL for messages: "sqlite:FILE"; NULL: not proposed */
  /** what a file of it may be called: its URL is the first scheme and the file's path; NULL: it
   *  stands in no file of ours */
  const char *file;
  unsigned abilities; /**< tt_store_ability, or-ed */
  /** Whether what stands behind the scheme of a URL can be read, before anything is opened: TT_INVALID. NULL: anything may. */
  tt_status (*check)(const char *url, tt_error *error);
  /** Opens or creates a store, upgrading one of an older version. TT_VERSION: made by a newer one. The spool is not the
   *  backend's to open. */
  tt_status (*open)(const tt_store_options *options, tt_store **store, tt_error *error);
  /** TT_STORE_READS. Reads a store that is there, which others may be writing. Changes nothing in it; an older version is
   *  TT_VERSION, too. TT_NOT_FOUND: nothing of Tether is there. */
  tt_status (*open_reader)(const tt_store_options *options, tt_store_reader **reader,
                           tt_error *error);
  /** TT_STORE_FORWARDS. */
  tt_status (*open_log)(const tt_store_log_options *options, tt_store_log **log, tt_error *error);
  /** TT_STORE_COPIES. All that is stored now into a new file at `path`, of the same kind; others may be writing.
   *  `progress` (0 to 1) is called now and then; false ends it: TT_INTERRUPTED, and no file is left. Without the ability it is
   *  NULL, or says what makes copies of such a store: TT_INVALID. */
  tt_status (*back_up)(const tt_store_options *options, const char *path,
                       bool (*progress)(void *context, double done), void *context,
                       tt_error *error);
};

/** Those of this program, ended by NULL. */
extern const tt_store_backend *const tt_store_backends[];
/** The backend of a URL. TT_INVALID: none, and the message names those there are; or it can't read the URL. */
tt_status tt_store_backend_of(const char *url, const tt_store_backend **backend, tt_error *error);
/** The backend of whoever chooses none: the first one with a `file`. Its example stands in messages. NULL: there is none. */
const tt_store_backend *tt_store_default_backend(void);
/** Whether the backend of a URL has an ability; false where there is none. */
bool tt_store_url_can(const char *url, tt_store_ability ability);
/** A URL for people: without user, password and options. */
void tt_store_print_url(const char *url, char *text, size_t size);
/** Opens a store by its URL: see tt_store_backend.open(); with its spool, where it is remote and the options name one. Where it is
 *  not, it warns of what waits there. */
tt_status tt_store_open(const tt_store_options *options, tt_store **store, tt_error *error);

#endif
