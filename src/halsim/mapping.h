/* mapping.h: which command or signal each device of a robot program is, as a scene lists it under `devices`. One line of the
 * list may stand for several values of its device: an encoder's count and period, a gyro's angle and rate.
 */
#ifndef TT_HALSIM_MAPPING_H
#define TT_HALSIM_MAPPING_H

#include "halsim/devices.h"
#include "model/schema.h"
#include "model/signal.h"

#include <stdio.h>

/** An entry of `devices`: either a command, which the program gives, or a signal, which it gets. */
typedef struct tt_halsim_entry {
  char *type;    /**< "PWM" */
  char *device;  /**< "0"; of an encoder its channels "0,1" */
  char *key;     /**< of the device's values; NULL: what the type means by itself */
  char *command; /**< "left_track.duty"; "none": the program may use it, and nothing happens */
  char *signal;  /**< "left_wheel.position"; "none": as of a command */
  char *unit;    /**< NULL: the type's own, else SI */
  double *given_scale;
  double scale,
      offset;    /**< value = (SI in unit) × scale + offset; set by tt_halsim_entries_check */
  bool inverted; /**< the other sign; of a flag the opposite */
} tt_halsim_entry;

/** For the wire's schema: CYAML_FIELD_SEQUENCE_COUNT("devices", …, &tt_halsim_entry_schema, 0, TT_HALSIM_MOST_ENTRIES). */
extern const cyaml_schema_value_t tt_halsim_entry_schema;
#define TT_HALSIM_MOST_ENTRIES 256

/** Defaults and checks of all entries, for the check() of a wire. `where` is the wire's. */
tt_status tt_halsim_entries_check(tt_halsim_entry *entries, unsigned count, const char *where,
                                  tt_error *error);

/** One value of one device, resolved. Texts are the entry's, or static. */
typedef struct tt_halsim_line {
  const char *type, *device;
  const char *key;     /**< without prefix */
  const char *prefix;  /**< as the scene or the table says; NULL: as the program says it */
  tt_halsim_sort sort; /**< TT_HALSIM_NOTHING: as the program has it, else a number */
  tt_halsim_sense sense;
  int command; /**< index into tt_model.commands; −1: a signal, or none */
  bool reads;  /**< it has a signal */
  tt_signal signal;
  tt_signal rate; /**< how fast `signal` changes; see has_rate */
  /** TT_HALSIM_RATE and _PERIOD: `rate` is a signal; false: `signal` is to be differentiated */
  bool has_rate;
  double lower, upper;        /**< SI: what the command takes */
  double unit, scale, offset; /**< value = SI ÷ unit × scale + offset; signs are within `scale` */
  bool inverted;              /**< of a flag */
  const char *unit_name;      /**< for people */
  const char *name;           /**< of the command or signal, for people */
} tt_halsim_line;

/** All lines of a wire, those of a device one after the other. */
typedef struct tt_halsim_map {
  tt_halsim_line *lines;
  int count;
  int *commands; /**< each once: what the wire's watchdog makes safe */
  int command_count;
} tt_halsim_map;

/** Resolves names, for a wire of `robot` (or TT_NO_ROBOT where there is one at most). Entries and names outlive the map.
 *  @return TT_INVALID: `error` names the entry and the remedy; TT_NOMEM. Then there is nothing to clear. */
tt_status tt_halsim_map_resolve(const tt_halsim_entry *entries, unsigned count,
                                const tt_names *names, const tt_model *model, int robot,
                                const char *where, tt_halsim_map *map, tt_error *error);
void tt_halsim_map_clear(tt_halsim_map *map);

/** Value of a device from SI, and back. A flag is 0 or 1. */
double tt_halsim_from_si(const tt_halsim_line *line, double si);
double tt_halsim_to_si(const tt_halsim_line *line, double value);

/** Prints a line for each, for `tether check`. */
void tt_halsim_map_print(const tt_halsim_map *map, FILE *to);

#endif
