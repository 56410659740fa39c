/* collector_internal.h: the collector from the inside, shared by collector.c (beginning and end), intake.c (messages),
 * samples.c (what becomes of values), registry.c (devices, attributes and their names), handling.c (what is set for
 * attributes), removal.c (values that people have removed), unused.c (names of which there are none), writer.c, put.c, follow.c (of a log) and watch.c. The functions here are called with the mutex held, unless
 * they say otherwise.
 */
#ifndef TT_TELEMETRY_COLLECTOR_INTERNAL_H
#define TT_TELEMETRY_COLLECTOR_INTERNAL_H

#include "telemetry/collector.h"
#include "telemetry/device_time.h"
#include "telemetry/feed_hub.h"
#include "telemetry/retention.h"
#include "telemetry/sealing.h"
#include "telemetry/wall.h"

#include <glib.h>
#include <pthread.h>
#include <time.h>

#define SECOND 1000000

typedef struct tt_device {
  char *identifier, *name;
  bool removed;     /**< it is as if it were not here until it is used again */
  bool was_removed; /**< at the start or since: nothing says which of its values are left */
  uint64_t asked;   /**< `forgotten` when all that may be left of it was asked for last… */
  int64_t asked_at; /**< …and when that was, by the clock by which values are old */
  bool held;        /**< by its index, for as long as the collector is there */
  tt_list stored; /**< uint8_t: by attribute, 1 where the store has been told that it has values */
  tt_device_time time;
  /** epoch of a robot of the world, which others that send by its name don't push out */
  tt_boot own;
  /** attribute + 1 -> when values were kept lately, for those with a minimum interval: see handling.c */
  GHashTable *kept;
  int64_t last_time;
  int64_t heard; /**< µs, monotonic: when the last message came; 0: none since the start */
  uint64_t messages, values;
  uint64_t sample; /**< the last one that is kept of it: see tt_collector.samples */
} tt_device;

typedef struct tt_attribute {
  char *identifier, *name;
  bool removed, was_removed, held; /**< see tt_device */
  tt_handling handling;            /**< in effect; its strings belong to the handling set */
  uint64_t sample; /**< the last one that has a value of it: see tt_collector.samples */
} tt_attribute;

/** Who is woken once more became durable; see tt_collector_on_durable(). */
typedef struct tt_durable_listener {
  void (*wake)(void *context);
  void *context;
} tt_durable_listener;

/** What somebody waits for to be removed: see removal.c. */
typedef struct tt_removing {
  tt_store_purge purge;
  uint64_t removed;
  bool in_hand;     /**< the writer is at it: it stays where it is */
  tt_status status; /**< TT_AGAIN: not done yet */
  tt_error error;
} tt_removing;

struct tt_collector {
  tt_collector_options options;
  tt_store *store;
  tt_feed_hub *hub;
  GThread *writer, *watch;
  tt_sealing sealing; /**< the writer's own */

  pthread_mutex_t mutex;              /**< guards everything below */
  pthread_cond_t work, room, removed; /**< something was removed, or stored */
  pthread_cond_t ends;                /**< `stopping` was set */
  pthread_cond_t released;            /**< nobody holds it any more */
  int holders;                        /**< tt_collector_hold() */
  bool stopping, urgent;
  GPtrArray *devices, *attributes; /**< tt_device, tt_attribute; by index, removed ones too */
  guint removed_devices, removed_attributes;
  uint64_t forgotten; /**< goes up where values may be left of which nothing says so */
  GHashTable *device_index, *attribute_index; /**< identifier -> index + 1 */
  GHashTable *device_names, *attribute_names; /**< human name -> index + 1 */
  tt_list handlings;                          /**< tt_handling */
  tt_store_batch *batch;                      /**< being filled */
  tt_store_batch *spare;                      /**< being written; the writer's own */
  uint64_t filling;                           /**< ticket of `batch` */
  uint64_t durable;
  tt_retention retention;
  tt_wall wall;
  bool loaded;             /**< what the store held at the start is known */
  int64_t newest_stored;   /**< µs UTC: of the samples that were there at the start */
  bool purge_due;          /**< people, or others, have set how long values are kept */
  GPtrArray *removals;     /**< tt_removing: waiting for the writer; on the stacks of who asked */
  int64_t batch_started;   /**< µs monotonic */
  int64_t writing_started; /**< the same of the batch that is being written; 0: none is */
  GArray *listeners;       /**< tt_durable_listener */
  GArray *live_values;     /**< scratch: tt_feed_value of the sample in hand */
  GArray *live_attributes;
  uint64_t samples;         /**< opened so far */
  tt_list thinned;          /**< scratch: tt_store_value of the sample in hand, to be kept last */
  tt_list named;            /**< scratch: int, index of the attribute of each value of a message */
  tt_list unknown;          /**< scratch: const char *, identifiers of a message that are new */
  tt_store_batch *question; /**< scratch: a message that is looked for */
  int64_t next_question;    /**< µs monotonic: until then none is asked */
  uint64_t messages, refused, values, stored_values, skipped_values, bad_values, lost_values,
      batches;
  int64_t write_time; /**< see tt_collector_stats */
  int64_t storing,
      taking; /**< µs, monotonic: since when the store writes, the log is asked; 0: not now */
  tt_error store_error;      /**< why the last batch was not written; "": it was */
  bool shares_taking, takes; /**< see tt_collector_stats */
  char taker[TT_TAKER_SIZE];
  tt_error log_error; /**< the same of the log, and of taking */
  tt_store_log_state log;
  tt_trouble store_trouble, log_trouble; /**< the watch's, read by all */
  int64_t refusal_second;
  int refusals_logged;
};

/** By an index that must be there; with the mutex held. */
static inline tt_device *tt_device_at(tt_collector *collector, int index) {
  return g_ptr_array_index(collector->devices, (guint)index);
}

/** By an index that must be there; with the mutex held. */
static inline tt_attribute *tt_attribute_at(tt_collector *collector, int index) {
  return g_ptr_array_index(collector->attributes, (guint)index);
}

/** Waits to be told, until `end` (µs monotonic) at most; false: it is past. With the mutex held. */
static inline bool tt_collector_wait(tt_collector *collector, pthread_cond_t *told, int64_t end) {
  struct timespec time = {.tv_sec = end / SECOND, .tv_nsec = end % SECOND * 1000};
  return !pthread_cond_clockwait(told, &collector->mutex, CLOCK_MONOTONIC, &time);
}

/** What devices and people would have of a collector that follows a log. */
static inline tt_status tt_collector_refuse(tt_error *error) {
  return tt_fail(
      error, TT_INVALID,
      "what is stored here comes out of a log: devices send to its collectors, and names "
      "and handling are set there");
}

/* --- intake.c --- */

/** Whether one more message may be complained about in the log in this second; with the mutex held. */
bool tt_intake_may_complain(tt_collector *collector);
/** See tt_collector_take(). */
tt_status tt_intake(tt_collector *collector, const tt_message *message, tt_origin *origin,
                    int64_t received, uint64_t *ticket, tt_error *error);

/* --- samples.c --- */

/** Samples of one message on their way into a batch, which has room for them, as `thinned` has. Device, epoch, seq and
 *  flags of `sample` are set at first. */
typedef struct tt_sampling {
  tt_store_batch *batch;
  tt_store_sample sample; /**< in hand */
  bool open;
} tt_sampling;

/** What follows is of that moment; goes on with the sample in hand, if that is. */
void tt_sampling_moment(tt_collector *collector, tt_sampling *to, int64_t device_time,
                        int64_t time);
/** `text`: NULL for a number. A second value of an attribute begins another sample of the moment. */
void tt_sampling_add(tt_collector *collector, tt_sampling *to, int attribute, const char *text,
                     double number);
void tt_sampling_end(tt_collector *collector, tt_sampling *to);

/** The same with live readers, and with everything that is set for attributes. */
typedef struct tt_samples {
  tt_sampling kept;
  bool keep, live;
} tt_samples;

/** As tt_sampling_moment() and tt_sampling_add(). */
void tt_samples_moment(tt_collector *collector, tt_samples *to, int64_t device_time, int64_t time);
void tt_samples_take(tt_collector *collector, tt_samples *to, int attribute, const char *text,
                     double number);
/** What live readers are told of a moment begins, and a value of it, unless they are not to have that. */
void tt_samples_live_begin(tt_collector *collector);
void tt_samples_live_add(tt_collector *collector, int attribute, const char *text, double number);
/** Tells live readers what was taken since the moment was said. */
void tt_samples_publish(tt_collector *collector, const tt_samples *to);
void tt_samples_end(tt_collector *collector, tt_samples *to);

/* --- registry.c --- */

/** Empty at first; frees all names at the end. */
void tt_registry_init(tt_collector *collector);
void tt_registry_clear(tt_collector *collector);
/** By identifier; −1: unknown, or removed. */
int tt_registry_find(const tt_collector *collector, bool is_device, const char *identifier);
/** The same; removed ones, too. */
int tt_registry_find_any(const tt_collector *collector, bool is_device, const char *identifier);
/** Whether `count` more of them are allowed. */
bool tt_registry_has_room(const tt_collector *collector, bool is_device, guint count);
/** The index of a device or an attribute, made on first sight; −1: there are as many as allowed, or
 *  memory ran out. */
int tt_registry_need_device(tt_collector *collector, const char *identifier);
int tt_registry_need_attribute(tt_collector *collector, const char *identifier);
/** What a store knows, or another collector made known: see tt_store_loader. These two take the mutex themselves. */
/** What others put into the store, for live readers; the mutex is not held. */
void tt_others_take(void *collector, const tt_store_batch *batch);
int tt_registry_load_device(void *collector, const char *identifier, const char *name,
                            bool *removed);
int tt_registry_load_attribute(void *collector, const char *identifier, const char *name,
                               bool *removed);
void tt_registry_load_pair(void *collector, int device, int attribute);
/** Tells the store that there are values of an attribute of a device, unless that is done. */
void tt_registry_note_stored(tt_collector *collector, int device, int attribute);
bool tt_registry_is_stored(const tt_collector *collector, int device, int attribute);
/** Whether one of the two was removed, so that there may be values though nothing says so. */
bool tt_registry_was_removed(const tt_collector *collector, int device, int attribute);
const char *tt_registry_human_name(void *collector, bool is_device, int index);
/** By an index that must be there. */
bool tt_registry_is_removed(const tt_collector *collector, bool is_device, int index);
/** Removes what is not removed; TT_NOMEM. */
tt_status tt_registry_remove(tt_collector *collector, bool is_device, int index, tt_error *error);

/* --- handling.c --- */

/** None is set yet. */
void tt_handlings_init(tt_collector *collector);
/** Looks up what is in effect for an attribute: exact before patterns, longer patterns before shorter ones. */
void tt_handlings_resolve(tt_collector *collector, tt_attribute *resolved);
/** See tt_store_loader; takes the mutex itself. */
bool tt_handlings_load(void *collector, const tt_list *handlings);
/** The kept form of a sent value: `*text` stays or becomes NULL (a number). False: not of the attribute's type. */
bool tt_handling_convert(const tt_handling *handling, const char **text, double *number);
/** Whether the minimum interval of an attribute allows to keep a value of this device time. */
bool tt_handling_is_due(const tt_handling *handling, tt_device *from, int epoch, int attribute,
                        int64_t device_time);

/* --- batch.c --- */

/** What comes next makes the batch non-empty: its time runs from now. */
void tt_batch_begin(tt_collector *collector);
/** Has the batch written as soon as the writer is free. */
void tt_batch_hasten(tt_collector *collector);
/** The same once the batch is so large that its rows cost far more than its transaction. */
void tt_batch_hasten_big(tt_collector *collector);
/** Whether nothing more is taken until something is written. */
bool tt_batch_is_full(const tt_collector *collector);
/** `name`: NULL leaves the human name as it is, "" takes it away. False: out of memory. */
bool tt_batch_tell_name(tt_collector *collector, bool is_device, int index, const char *identifier,
                        const char *name, tt_name_state state);
/** There is room for it: see tt_store_batch_reserve(). */
void tt_batch_tell_epoch(tt_collector *collector, int device, const tt_boot *boot);

/* --- put.c --- */

/** Writes a batch, trying again until it is durable (true) or the collector ends. `foreign`: see tt_store.write_foreign. Takes the
 *  mutex itself. */
bool tt_put_batch(tt_collector *collector, const tt_store_batch *batch, bool foreign);

/* --- removal.c --- */

/** Has all that came before now stored, until `end` (µs monotonic) at most. False: it isn't yet. Takes the mutex itself. */
bool tt_removal_wait_stored(tt_collector *collector, int64_t end);

/* --- writer.c --- */

/** The writer's thread: a GThreadFunc that ends once `stopping` is set and all is written, or can't be. */
gpointer tt_writer_run(gpointer collector);
/* --- follow.c --- */

/** Stores some of what the log has; waits for it for a moment, unless it is hurried. The writer's; takes the mutex itself. */
void tt_follow(tt_collector *collector, bool hurried);

/* --- watch.c --- */

/** The thread that says what does not work, and that it works again: a GThreadFunc that ends once `stopping` is set. */
gpointer tt_watch_run(gpointer collector);

#endif
