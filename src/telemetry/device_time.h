/* device_time.h: to which boot epoch of its device a message belongs.
 *
 * From one jump of a device's clock to the next is a boot epoch, in which device times mean one thing. Most messages say by
 * their time alone that they go on in the present one. Where one does not fit, it is late, sent again, or the first of a
 * device that was restarted; then the store is asked whether it has it. What is stored once is decided there, when samples
 * are written: see TT_SAMPLE_UNSURE.
 */
#ifndef TT_TELEMETRY_DEVICE_TIME_H
#define TT_TELEMETRY_DEVICE_TIME_H

#include "store/store.h"
#include "telemetry/device_clock.h"
#include "telemetry/message.h"

#include <stdbool.h>
#include <stdint.h>

/** One boot epoch. Times µs. */
typedef struct tt_boot {
  tt_store_epoch stored; /**< what the store knows of it; `device` is not set */
  bool told;             /**< …and has heard of from this process, but for later widening */
  bool settled;          /**< its clock was seen to go on with ours, here or where it comes from */
  int told_at;           /**< as which of the device's */
  int64_t newest;        /**< latest transmission, device's clock */
  int64_t begun;         /**< receipt of its first message, as far as it is known here; or 0 */
  bool went_on;          /**< …and newer ones came */
  tt_device_clock clock;
} tt_boot;

#define TT_BOOTS_KEPT 4
/** Behind so many that were told an epoch that goes on is told again: stores keep the latest TT_STORE_EPOCHS. */
#define TT_BOOTS_TOLD (TT_STORE_EPOCHS / 2)
#define TT_SEEN_KEPT 512

/** All that is known of one device's time. */
typedef struct tt_device_time {
  tt_boot boots[TT_BOOTS_KEPT]; /**< the latest ones; the current one first */
  int boot_count;
  int next_epoch;
  int tellings; /**< of its epochs */
  int64_t step; /**< by which our clock was set, as far as nothing was heard since */
  /** Messages heard lately, which the store may not have yet, or can't be asked for. */
  struct tt_seen {
    int64_t time;  /**< of its last sample, device's clock */
    uint64_t hash; /**< of the message; of its content where `spooled` */
    int64_t key;   /**< of its epoch */
    bool spooled;
  } seen[TT_SEEN_KEPT];
  int seen_next, seen_count;
  int64_t seen_latest; /**< the greatest of their times, and of those heard before them */
  /** Since when its clock has run with ours, message by message, over connections and on the present one. */
  struct tt_pace {
    bool begun;
    int count;           /**< times of messages that did, the first one included */
    int64_t since, last; /**< transmission of the first one, and of the one before */
    int64_t heard;       /**< receipt of the last one that was not held up */
    int held_up;         /**< how many were, in a row */
    struct tt_pace_point {
      int64_t transmitted, offset; /**< offset: receipt − transmission */
    } point, least; /**< what the others are compared with; the least late one of… */
    int64_t window; /**< …those transmitted since then */
  } pace, connection_pace;
} tt_device_time;

/** A message as far as time is concerned. */
typedef struct tt_timed_message {
  int64_t transmitted; /**< µs, device's clock; TT_MESSAGE_NO_TIME: it does not say */
  int64_t last_sample; /**< µs, device's clock; TT_MESSAGE_NO_TIME: none has a time */
  uint64_t hash;
  int64_t received; /**< µs UTC */
  const char *boot; /**< what the device calls its start; "": nothing */
  bool connected;   /**< the first on a lasting connection */
  /** came behind another message of this device on the same ordered connection… */
  bool after_previous;
  int64_t previous;     /**< …which was transmitted then… */
  int64_t previous_key; /**< …and was of this epoch */

  void *context;
  /** Tells the hash of what would be stored of it, as of spooled messages. */
  uint64_t (*content)(void *context);
  /** Whether the store has it: restores the latest epochs of the device, and that of the message, whose key this is. */
  bool (*find)(void *context, int64_t *key);
} tt_timed_message;

typedef enum tt_placement {
  TT_PLACED,       /**< as expected, or merely late */
  TT_PLACED_FIRST, /**< a device's first message */
  TT_PLACED_JUMP,  /**< the clock jumped: a new boot epoch began */
} tt_placement;

/** Where a message belongs. */
typedef struct tt_place {
  tt_placement placement;
  tt_boot *boot;       /**< valid until the next call */
  int64_t offset;      /**< µs: normalized − device time of its samples */
  int64_t transmitted; /**< µs, device's clock: what the message said, or must have been */
  bool tell;           /**< the epoch, or that its range of offsets grew, is news for the store */
  bool again;          /**< it was heard before */
  bool unsure;         /**< it may stand in another epoch all the same: see TT_SAMPLE_UNSURE */
} tt_place;

/** Finds the boot epoch of a message and follows its clock. A message that does not say when it was sent has times of a clock
 *  that is set: they are UTC as long as none of them is still to come. Its epoch has the anchor 0. A clock that is ahead, or was
 *  never set, is followed as if each message had been sent with its last sample.
 *  `late`: µs; a message is behind its time by at most this unless there is evidence that it is merely late. */
tt_place tt_device_time_place(tt_device_time *time, const tt_timed_message *message, int64_t late);
/** Our own clock was set by so much, forward or back: devices' clocks were not. */
void tt_device_time_step(tt_device_time *time, int64_t step);
/** Begins a new epoch whose offset is known (a simulated robot). */
tt_boot *tt_device_time_begin(tt_device_time *time, int64_t device, int64_t offset);
/** That it is told now. */
void tt_device_time_tell(tt_device_time *time, tt_boot *boot);
/** Whether one that was told is to be told again before it is used. */
bool tt_device_time_is_due(const tt_device_time *time, const tt_boot *boot);
/** Takes an epoch that the store knows, and its newest sample; one that is known stays as it is. It may get another number
 *  than it has there. */
void tt_device_time_restore(tt_device_time *time, const tt_store_epoch *epoch, int64_t newest,
                            int64_t offset);
/** Takes what the store knows of a boot epoch, which may have no sample left. */
void tt_device_time_learn(tt_device_time *time, const tt_store_boot *boot);
/** The same of several of one device, oldest first. That of the epoch `found` is known afterwards, and the latest of the others; NULL:
 *  none was found. */
void tt_device_time_learn_all(tt_device_time *time, const tt_store_boot *boots, uint32_t count,
                              const int64_t *found);
/** A message that waits in a spool: see tt_seen. */
void tt_device_time_restore_seen(tt_device_time *time, int64_t key, int64_t last_sample,
                                 uint64_t content);

#endif
