/* collector.h: what becomes of a message: whose it is, when it was, what each value is called and how it is handled;
 * then to the store and to live readers.
 *
 * Any thread may bring messages. One thread of the collector's own writes to the store, in batches: what arrives while
 * one is written makes up the next, after 100 ms at the latest, at once when somebody waits for an acknowledgement.
 *
 * A collector that follows a log stores what other collectors have put there. Devices send it nothing, and names and handling are
 * set where they do: TT_INVALID. Values are removed here.
 */
#ifndef TT_TELEMETRY_COLLECTOR_H
#define TT_TELEMETRY_COLLECTOR_H

#include "store/store.h"
#include "telemetry/feed.h"
#include "telemetry/message.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tt_collector tt_collector;

typedef struct tt_collector_options {
  tt_store *store; /**< becomes the collector's */
  /** becomes the collector's: what is stored comes from there, and from nobody else; NULL: none */
  tt_store_log *log;
  int64_t late;           /**< µs: see tt_device_time_place(); default 1 s */
  int max_devices;        /**< default 1,000 */
  int max_attributes;     /**< default 10,000 */
  size_t max_queued;      /**< bytes waiting for the store; default 32 MiB */
  int64_t batch_interval; /**< µs; default 100 ms */
  int max_readers;        /**< live ones; default 64 */
  int64_t seal_after;     /**< µs: how long after its end a day is packed; default 0: never */
  /** nothing is removed or packed but what is asked for, so the clock needs no look */
  bool untended;
} tt_collector_options;
/** No store; 1,000 devices, 10,000 attributes, 64 readers; a batch every 0.1 s. */
tt_collector_options tt_collector_options_default(void);

/** Loads what the store knows and starts to write. The store is closed on failure too. */
tt_status tt_collector_new(const tt_collector_options *options, tt_collector **collector,
                           tt_error *error);
/** Writes what is left, within a second, and closes the store. Who holds it is waited for, some seconds; where that is in vain all that
 *  they may use is left to the end of the process. */
void tt_collector_free(tt_collector *collector);
/** Who uses it in a thread that nobody waits for holds it meanwhile. Any thread, as long as it is sure to be there. */
void tt_collector_hold(tt_collector *collector);
void tt_collector_release(tt_collector *collector);

/* --- in --- */

/** Where messages come from, one behind the other: a connection. Zero at first. */
typedef struct tt_origin {
  bool request; /**< not a connection that lasts, but one of many requests */
  bool has_previous;
  int device;           /**< of the previous message */
  int64_t previous;     /**< its transmission, µs on the device's clock */
  int64_t previous_key; /**< of its boot epoch */
  /** values of the last message taken that don't fit what is set for their attributes… */
  uint32_t dropped;
  char drop_reason[256]; /**< …and what is wrong with the first of them; "": nothing */
} tt_origin;

/** µs UTC, wall clock. */
int64_t tt_collector_now(void);

/** Takes a message received at `received` (µs UTC). `origin` may be NULL. `ticket` is durable when
 *  tt_collector_durable() reaches it. TT_FULL: the store is behind; wait with tt_collector_wait_room() or tell the
 *  sender. TT_BAD_MESSAGE: more devices or attributes than allowed; TT_NOMEM; nothing of the message is kept then. */
tt_status tt_collector_take(tt_collector *collector, const tt_message *message, tt_origin *origin,
                            int64_t received, uint64_t *ticket, tt_error *error);
/** Blocks until there is room again, at most `timeout` µs. */
bool tt_collector_wait_room(tt_collector *collector, int64_t timeout);
/** The last ticket that is durable. */
uint64_t tt_collector_durable(tt_collector *collector);
/** A refused message, counted and logged (with bounded noise): also one that tt_collector_take() refused. */
void tt_collector_refused(tt_collector *collector, const char *source,
                          const tt_message_refusal *refusal);
/** Calls `wake` from the writer's thread whenever tickets became durable; it must not block. */
void tt_collector_on_durable(tt_collector *collector, void (*wake)(void *context), void *context);
void tt_collector_off_durable(tt_collector *collector, void (*wake)(void *context), void *context);

/** Whether this collector takes what devices publish, of all those that would, and who does, as far as it is known (""). Any thread. */
void tt_collector_note_taker(tt_collector *collector, bool takes, const char *taker);

/* For a device that is inside: its time needs no estimate. */
typedef struct tt_direct_value {
  int attribute;
  const char *text; /**< NULL: a number */
  double number;
} tt_direct_value;
/** Whether all of so many devices, or attributes, may be known at once, beside those that are. */
bool tt_collector_has_room(tt_collector *collector, bool device, const char *const *identifiers,
                           int count);
tt_status tt_collector_device(tt_collector *collector, const char *identifier, int *device);
tt_status tt_collector_attribute(tt_collector *collector, const char *identifier, int *attribute);
/** Begins a boot epoch of the device. −1: out of memory, none has begun. */
int tt_collector_begin_epoch(tt_collector *collector, int device, int64_t device_time,
                             int64_t offset);
/** Adds one sample; `store` false: to live readers only. Never blocks for long; TT_FULL: not stored, counted. */
tt_status tt_collector_record(tt_collector *collector, int device, int epoch, int64_t device_time,
                              int64_t offset, const tt_direct_value *values, int count, bool store);

/* --- names and handling --- */

typedef struct tt_attribute_info {
  char *identifier, *name;
  int devices;          /**< of which there are values */
  tt_handling handling; /**< in effect */
} tt_attribute_info;

typedef struct tt_device_info {
  char *identifier, *name;
  int attributes; /**< of which there are values */
  int epoch;
  int64_t last_time; /**< µs UTC of the newest sample; 0: none since the start */
  int64_t silence;   /**< µs since its last message came; −1: none since the start */
  int64_t offset;    /**< µs */
  double drift;
  uint64_t messages, values;
} tt_device_info;
/** Frees its texts, not itself. */
void tt_device_info_clear(tt_device_info *info);
void tt_attribute_info_clear(tt_attribute_info *info);

/** One more than the greatest index, removed ones included. Any thread. */
int tt_collector_device_count(tt_collector *collector);
int tt_collector_attribute_count(tt_collector *collector);
/** Copies; false past the end, and where one was removed. */
bool tt_collector_get_device(tt_collector *collector, int index, tt_device_info *info);
bool tt_collector_get_attribute(tt_collector *collector, int index, tt_attribute_info *info);
/** By identifier or human name; −1: unknown. */
int tt_collector_find_device(tt_collector *collector, const char *name);
int tt_collector_find_attribute(tt_collector *collector, const char *name);
/** The known name nearest to an unknown one, to be freed, or NULL. */
char *tt_collector_nearest(tt_collector *collector, bool device, const char *name);
/** Gives a human name ("" or NULL takes it away); makes the device or attribute if it is new. TT_INVALID: the name is taken or
 *  not fit to be shown. */
tt_status tt_collector_name_device(tt_collector *collector, const char *identifier,
                                   const char *name, tt_error *error);
tt_status tt_collector_name_attribute(tt_collector *collector, const char *identifier,
                                      const char *name, tt_error *error);
/** The same of a name that something else may have, which has none then. TT_INVALID: it is the identifier of something else. */
tt_status tt_collector_take_name(tt_collector *collector, bool device, const char *identifier,
                                 const char *name, tt_error *error);
/** Waits until what was set before is stored, for `patience` µs at most. TT_FULL: it is not yet. */
tt_status tt_collector_wait_stored(tt_collector *collector, int64_t patience, tt_error *error);
/** Removes a device or an attribute, by identifier or human name, of which no values are stored; it comes back when it is
 *  used again. TT_INVALID: what uses it. May take long: it may look through all that is stored. */
tt_status tt_collector_remove(tt_collector *collector, bool device, const char *name,
                              tt_error *error);
/** The same with all that can be. TT_INVALID: the store is a log, behind which nobody can look for values. There those that came since
 *  the collector began stand in the way of a single one. */
tt_status tt_collector_remove_unused(tt_collector *collector, bool device, int *removed,
                                     tt_error *error);
/** Values of a device that are to be removed. */
typedef struct tt_removal {
  const char *device;    /**< identifier or human name */
  const char *attribute; /**< the same; NULL: of all */
  int64_t from,
      before; /**< µs UTC; INT64_MIN and INT64_MAX: all that was there when it was asked for */
  uint64_t removed; /**< out: values, by this call */
} tt_removal;
/** Removes values in steps, so that messages are stored meanwhile, which stay; names stay, too. TT_AGAIN: more is left after `patience`
 *  (µs), or the store is away; `before` is what to ask for again. TT_NOT_FOUND: no such device or attribute; TT_INVALID: this store
 *  can't. A device that sends again what was removed has it stored again. Any thread. */
tt_status tt_collector_remove_values(tt_collector *collector, tt_removal *removal, int64_t patience,
                                     tt_error *error);
/** Whether there are, or were, values of an attribute of a device. */
bool tt_collector_has_values(tt_collector *collector, int device, int attribute);
tt_handling tt_handling_default(void);
/** Whether it handles many attributes: no attribute's identifier has * or ?. */
bool tt_handling_is_pattern(const char *identifier);
/** TT_INVALID: why a handling can't be set. */
tt_status tt_handling_check(const tt_handling *handling, tt_error *error);
/** Sets the handling of a pattern, at once. */
tt_status tt_collector_set_handling(tt_collector *collector, const tt_handling *handling,
                                    tt_error *error);
tt_status tt_collector_remove_handling(tt_collector *collector, const char *pattern,
                                       tt_error *error);
/** Copies of all handlings set (tt_handling), the caller's to free. */
tt_list tt_collector_handlings(tt_collector *collector);

extern const char *const tt_value_type_names[]; /**< "auto", "number", "text", "flag", NULL */
extern const char *const tt_value_mode_names[]; /**< "both", "store", "forward", "ignore", NULL */

/* --- out --- */

/** See tt_store.open_reader. Any thread. */
tt_status tt_collector_open_reader(tt_collector *collector, tt_store_reader **reader,
                                   tt_error *error);
/** `wake` is called from any thread when the queue stops being empty; it must not block. NULL: too many readers. */
tt_feed_reader *tt_collector_subscribe(tt_collector *collector, const tt_feed_filter *filter,
                                       int capacity, void (*wake)(void *context), void *context);
void tt_collector_unsubscribe(tt_collector *collector, tt_feed_reader *reader);

/** Something that does not work now. */
typedef struct tt_trouble {
  int64_t since;   /**< µs, monotonic; 0: it works */
  uint64_t waited; /**< the most that waited for it: bytes in a spool, messages in a log */
  bool said;
  char reason[256];
} tt_trouble;

/** Bytes of what the one is called that takes what devices publish. */
#define TT_TAKER_SIZE 96

/** Figures for people, since the start. Texts are static. */
typedef struct tt_collector_stats {
  uint64_t messages, refused, values, stored_values, skipped_values, bad_values, lost_values,
      batches;
  uint64_t queued_bytes;
  uint64_t live_waiting, live_lost; /**< samples for live readers: that wait now, that were lost */
  /** µs for which the oldest of what waits for the store has waited; 0: nothing does */
  int64_t lag;
  /** µs by which the wall's clock jumped, and which retention waits for; 0: it did not */
  int64_t clock_ahead;
  int devices, attributes, readers;
  const char *store;
  tt_store_state store_state;
  const char *advice; /**< what could be done for the store; NULL: nothing */
  int64_t write_time; /**< µs that all batches took to be stored, those that failed included */
  tt_trouble store_trouble, log_trouble; /**< noticed within a second, also where nothing returns */
  bool follows;
  tt_store_log_state log; /**< where it follows one */
  int64_t log_lag;        /**< µs since the oldest message in hand came into the log; 0: none is */
  bool shares_taking, takes; /**< several may take what devices publish; this one does */
  char taker[TT_TAKER_SIZE]; /**< who does; "": nobody is known */
} tt_collector_stats;
/** Copies them. Any thread. */
void tt_collector_get_stats(tt_collector *collector, tt_collector_stats *stats);

#endif
