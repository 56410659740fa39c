/* device_clock.h: what a device's clock says in the server's time.
 *
 * A message carries the device's clock at transmission; it arrives some delay later. The delay varies, the clock
 * is off by anything, drifts a little, and starts anew when the device does. So the server keeps, for the last
 * minute, the smallest (receipt − transmission) of every second, and lays under them the highest line that none of them lies
 * below: its height is the offset of the clock plus the smallest delay, its slope the drift (the lower convex hull, after
 * Moon, Skelly & Towsley, "Estimation and removal of clock skew from network delay measurements", INFOCOM 1999).
 */
#ifndef TT_TELEMETRY_DEVICE_CLOCK_H
#define TT_TELEMETRY_DEVICE_CLOCK_H

#include <stdint.h>

/** Seconds of the sliding window, one point each. */
#define TT_CLOCK_WINDOW 64
/** No clock in use drifts more; what looks like more is noise of the delays. */
#define TT_CLOCK_MAX_DRIFT 300e-6

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

/** The clock by which receipts are told was set by so much: what is known is as if that had been so before. */
void tt_device_clock_shift(tt_device_clock *clock, int64_t step);

/** Second of the receipt that was added last. */
int64_t tt_device_clock_heard(const tt_device_clock *clock);

#endif
