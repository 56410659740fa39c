/* devices.h: what WPILib's devices are called in HALSim's messages: for each type the value that a line of a mapping means
 * where it names none, its unit, the sort it has, and which way it counts.
 */
#ifndef TT_HALSIM_DEVICES_H
#define TT_HALSIM_DEVICES_H

#include "base/nearest.h"
#include "halsim/message.h"

/** How a value is made of a signal, or a command's value of what the program gives. */
typedef enum tt_halsim_sense {
  TT_HALSIM_PLAIN,  /**< the value itself */
  TT_HALSIM_UNWRAP, /**< an angle that goes on beyond a turn, though the signal may not */
  TT_HALSIM_RATE,   /**< how fast the signal changes */
  TT_HALSIM_PERIOD, /**< s for one unit of it, signed: 1 ÷ rate, and TT_HALSIM_AT_REST where that is none */
  TT_HALSIM_PRESENT, /**< true, whatever the signal: the sensor answers */
} tt_halsim_sense;

/** s: a period that is large, and finite, as JSON wants it. */
#define TT_HALSIM_AT_REST 1e9
/** Units a second below which an encoder is at rest. */
#define TT_HALSIM_REST_RATE 0.1

/** A value of a type of device. */
typedef struct tt_halsim_known {
  const char *type;
  const char *device; /**< begins with this; "": any */
  const char *key;    /**< without prefix */
  const char *prefix; /**< "<" the program gives it, ">" it takes it, "<>" both */
  tt_halsim_sort sort;
  const char *unit; /**< where a line names none; NULL: SI. "g0" is the acceleration of free fall */
  double sign;      /**< −1: it counts the other way than our signals (clockwise) */
  /** of the signal, where a line names what several have in common: ".x"; NULL */
  const char *suffix;
  tt_halsim_sense sense;
} tt_halsim_known;

/** The first value of a device, which is what a line means that names none; NULL: a type that is not known. Those that
 *  follow in the table for the same type and device come along with it. `key`: that value, NULL: the first. Static. */
const tt_halsim_known *tt_halsim_find(const char *type, const char *device, const char *key);
/** The next value that comes along with `of`, or NULL. */
const tt_halsim_known *tt_halsim_next(const tt_halsim_known *of);

/** Is there a device of this type, whatever it is called? Where not, offers what there is to `nearest`. */
bool tt_halsim_is_type(const char *type, tt_nearest *nearest);
/** How a program calls its devices of this type, where that is by channels: "0", "0,1", or either. False: not so. `form` is
 *  then, for people, how. Types that go by names take any. */
bool tt_halsim_is_device(const char *type, const char *device, const char **form);

/** A device by another name: a PWM motor of season 2027 is a SimDevice. Sets all three to what this mapping calls it;
 *  `channel` is room for the device's new name. False: it is what it is. */
bool tt_halsim_rename(const char **type, const char **device, const char **key,
                      char channel[TT_HALSIM_NAME]);

/** Speed, −1 to 1, of a pulse of so many µs, where a program tells nothing better; 0 µs is off. */
double tt_halsim_speed_of_pulse(double microseconds);

#endif
