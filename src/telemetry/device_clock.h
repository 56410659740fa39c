/* device_clock.h: what a device's clock says in the server's time.
 *
 * A message carries the device's clock at transmission; it arrives some delay later. The delay varies, the clock
 * is off by anything, drifts a little, and starts anew when the device does. So the server keeps, for the last
 * minute, the smallest (receipt − transmission) of every second, and lays under them the highest line that none of them lies
 * below: its height is the offset of the clock plus the smallest delay, its slope the drift (the lower convex hull, after
 * Moon, Skelly & Towsley, "Estimation and removal of clock skew from network delay measurements", INFOCOM 1999).
 *
 * A clock that jumps begins a new boot epoch, in which equal device times are other samples.
 */
#ifndef TT_TELEMETRY_DEVICE_CLOCK_H
#define TT_TELEMETRY_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Seconds of the sliding window, one point each. */
#define TT_CLOCK_WINDOW 64

/** An estimate of server time − device time. All times µs. */
typedef struct tt_device_clock {
  struct tt_clock_point {
    int64_t second;          /**< of the receipt */
    int64_t device;          /**< transmission, device's clock */
    int64_t offset;          /**< receipt − transmission: the smallest of that second */
  } points[TT_CLOCK_WINDOW]; /**< a ring */
  int first, count;
  int64_t origin; /**< device time at which the line has the height `offset` */
  int64_t offset;
  double slope; /**< drift, dimensionless */
  int slopes;   /**< measurements that made it */
} tt_device_clock;

/** Forgets everything but one observation. */
void tt_device_clock_start(tt_device_clock *clock, int64_t device, int64_t received);
void tt_device_clock_add(tt_device_clock *clock, int64_t device, int64_t received);
/** server time = device + offset, for a device time near the last ones. */
int64_t tt_device_clock_offset(const tt_device_clock *clock, int64_t device);

/** From one jump of a device's clock to the next. Kept in the store. */
typedef struct tt_boot {
  int epoch; /**< 0, 1, … */
  int64_t
      anchor; /**< µs: the first offset, which never changes; a store may partition by device time + anchor */
  int64_t offset_low,
      offset_high; /**< µs: all offsets that its samples were normalized with lie between */
  int64_t newest;  /**< µs: latest transmission, device's clock */
  tt_device_clock clock;
} tt_boot;

#define TT_BOOTS_KEPT 4
#define TT_SEEN_KEPT 512

/** All that is known of one device's time. */
typedef struct tt_device_time {
  tt_boot boots[TT_BOOTS_KEPT]; /**< the latest ones; the current one first */
  int boot_count;
  int next_epoch;
  /** Messages seen lately, so that one sent again is known for what it is. */
  struct tt_seen {
    int64_t time;  /**< of its last sample, device's clock */
    uint64_t hash; /**< 0: known from the store, content unknown */
    int epoch;
  } seen[TT_SEEN_KEPT];
  int seen_next, seen_count;
} tt_device_time;

/** A message as far as time is concerned. */
typedef struct tt_timed_message {
  int64_t transmitted; /**< µs, device's clock */
  int64_t last_sample; /**< µs, device's clock */
  uint64_t hash;
  int64_t received; /**< µs UTC */
  bool
      after_previous; /**< came behind another message of this device on the same ordered connection… */
  int64_t previous; /**< …which was transmitted then */
} tt_timed_message;

typedef enum tt_placement {
  TT_PLACED,       /**< as expected, or merely late */
  TT_PLACED_FIRST, /**< a device's first message */
  TT_PLACED_JUMP,  /**< the clock jumped: a new boot epoch began */
} tt_placement;

/** Finds the boot epoch of a message, follows its clock, and gives the offset for its samples.
 *  `late`: µs; a message is behind its time by at most this unless there is evidence that it is merely late.
 *  `boot` is valid until the next call; `widened` tells that it is new or its range of offsets grew;
 *  `again`: this message was seen before. */
tt_placement tt_device_time_place(tt_device_time *time, const tt_timed_message *message,
                                  int64_t late, tt_boot **boot, int64_t *offset, bool *widened,
                                  bool *again);
/** Begins a new epoch whose offset is known (a simulated robot). */
tt_boot *tt_device_time_begin(tt_device_time *time, int64_t device, int64_t offset);
/** Takes an epoch from the store: its range, and its newest sample. Call in order of epochs. */
void tt_device_time_restore(tt_device_time *time, const tt_boot *range, int64_t newest,
                            int64_t offset);
/** A sample time that the store has in the restored epoch. */
void tt_device_time_restore_seen(tt_device_time *time, int epoch, int64_t sample);

#endif
