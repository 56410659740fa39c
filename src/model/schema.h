/* schema.h: how a robot part, a wire or another section of a scene says which YAML keys it has.
 *
 * Each gives its own struct, its libcyaml fields, and a check; src/scene assembles all of them into one declared
 * schema. Every default stands with its keys.
 */
#ifndef TT_MODEL_SCHEMA_H
#define TT_MODEL_SCHEMA_H

#include "base/status.h"
#include "model/unit.h"

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stdint.h>

/** Keys of `faults`: shares of messages, 0…1, and times as texts, "5 ms"; docs/scene.md says what each does. */
typedef struct tt_wire_fault_keys {
  double loss, duplicate, reorder;
  char *delay, *jitter;
  uint64_t seed;
} tt_wire_fault_keys;

/** One entry of a list of names: how a signal or command stands in a message. */
typedef struct tt_name_entry {
  char *name; /**< "arm.position"; "stamp" or "none" where the wire allows them */
  char *unit; /**< "in·lbf"; default SI */
  double *given_scale;
  /** wire = (SI in unit) × scale + offset; not 0, default 1; set by tt_name_entry_check */
  double scale;
  double offset;
  char *wrap; /**< "none" | "pi" (into [−π, π]) | "turn" (into [0, 1) turn of the unit) */
} tt_name_entry;

/** libcyaml fields of a tt_name_entry mapping, shared by every wire that lists names. */
extern const cyaml_schema_field_t tt_name_entry_fields[];
extern const cyaml_schema_value_t tt_name_entry_schema;

/** An element of a list of texts. */
extern const cyaml_schema_value_t tt_string_schema;

/** When a world waits for the answers of a wire. */
typedef enum tt_waits {
  TT_WAITS_NEVER,
  TT_WAITS_FOR_THE_CLOCK, /**< never, though it could: a scene at pace lockstep with such wires alone is one in real time */
  TT_WAITS_AT_LOCKSTEP, /**< where the scene's pace is lockstep */
  TT_WAITS_ALWAYS
} tt_waits;

/** How a wire is told to be in lock-step with one program, beside other worlds on the machine. Static texts, but the address. */
typedef struct tt_wire_apart {
  /** the setting, KEY=VALUE of its own keys, that gives it a free port; NULL: it has none of its own */
  const char *own;
  const char *peer;    /**< the key that says where its peer is; NULL: it takes whoever comes */
  const char *peer_at; /**< that address now, the config's own */
  bool peer_listens;   /**< it connects there; else it sends datagrams there */
  /** further settings, NULL-terminated: it waits, and keeps its world when the peer goes */
  const char *others[5];
} tt_wire_apart;

/** What an adapter (a wire protocol) or a robot part tells config about its keys. */
typedef struct tt_schema {
  const char *key;                    /**< "float-udp", "motors" */
  const cyaml_schema_field_t *fields; /**< of the mapping */
  size_t size;                        /**< of the struct */
  /** Sets defaults of missing keys and checks the rest (libcyaml lets NaN through). `where` begins the error
   *  message. Strings come from cyaml; replace them only with cyaml-freeable memory. */
  tt_status (*check)(void *config, const char *where, tt_error *error);
  /** Wires only, may be NULL: the wire's own interval when its `period` is missing, in steps of the physics
   *  (lockstep-tcp: its steps_per_frame); 0: it has none and takes the scene's io_period. After check(). */
  uint64_t (*period_steps)(const void *config);
  /** Wires only: the interval, s, that suits those who speak the protocol, for a wire without one of its own; where the
   *  scene's io_period is another, the next multiple of that. 0: the scene's io_period. */
  double suiting_period;
  /** Wires only, may be NULL: never. After check(). */
  tt_waits (*waits)(const void *config);
  /** Wires only: fills `apart`, which is zero. After check(). NULL: nothing in its protocol could hold a program. */
  void (*apart)(const void *config, tt_wire_apart *apart);
  /** Wires only: it reads body_force, body_torque or feedback of the view, which cost time to compute. */
  bool reads_forces;
  bool is_single; /**< parts only: a robot has one of this kind at most */
} tt_schema;

/** All part schemas, in the order in which a robot's parts act. NULL-terminated; adding one is a line in src/robot/registry.c. */
extern const tt_schema *const tt_part_schemas[];

/** How many there are before the NULL. */
int tt_schema_count(const tt_schema *const *schemas);

/** What a check knows of a key: what may stand there, and what holds where nothing does. */
typedef struct tt_key_note {
  const char *where,
      *key; /**< as in errors: "FILE: wires.float-udp" and "watchdog"; "" where `where` is all of it */
  const char *const *words; /**< one of these, NULL-terminated; NULL: a number or a quantity */
  bool is_quantity;         /**< a text with a unit; else a plain number, or a word */
  tt_dimension dimension;   /**< TT_DIMENSION_COUNT: only the model will tell */
  double lower, upper;      /**< SI */
  double fallback;          /**< SI; out of range: none, or it follows from others */
  const char *word;         /**< the fallback as text; NULL: `fallback` is it */
  /** with `word` alone: of the text at this place of a struct; `where` is NULL then */
  const void *target;
} tt_key_note;

/** Who hears of it. */
typedef struct tt_key_listener {
  void (*hear)(struct tt_key_listener *self, const tt_key_note *note);
} tt_key_listener;

/** From now on the checks that this thread makes tell `listener` (NULL: nobody) of the keys they look at, so that what is
 *  listed is what is enforced. Gives who was told before. */
tt_key_listener *tt_key_listen(tt_key_listener *listener);
/** For a check of its own kind; those below do it. A quantity whose dimension only the model will tell: the other. */
void tt_key_tell(const tt_key_note *note);
void tt_key_tell_quantity(const char *where, const char *key, double lower);

/* Checks that every adapter needs, for use in its check() and open(). All begin their error with `where`, so
 * that it reads "FILE: path.to.key: what is wrong; remedy"; config adds the line when it shows the error. */

/** Sets `*target` to a copy of `value`, which cyaml frees with the rest, where the scene left the key out. TT_NOMEM. */
tt_status tt_default_string(char **target, const char *value, tt_error *error);
/** Reads a quantity such as "10 ms" in SI, within [lower, upper]; NULL gives `fallback`. */
tt_status tt_quantity_check(const char *text, const char *key, const char *where,
                            tt_dimension dimension, double lower, double upper, double fallback,
                            double *si, tt_error *error);
/** `*value`, or `fallback` where the key is missing, in `*result`; TT_INVALID outside [lower, upper]. */
tt_status tt_number_check(const double *value, const char *key, const char *where, double lower,
                          double upper, double fallback, double *result, tt_error *error);
/** A count, 0 where the key is missing: then `fallback`. */
tt_status tt_count_check(uint64_t value, const char *key, const char *where, uint64_t lower,
                         uint64_t upper, uint64_t fallback, uint64_t *result, tt_error *error);
/** The index of `text` (NULL: of `fallback`, one of them) among `words`, NULL-terminated. */
tt_status tt_word_check(const char *text, const char *key, const char *where,
                        const char *const *words, int fallback, int *index, tt_error *error);
/** TT_INVALID: there is no such unit, and what was perhaps meant. */
tt_status tt_unit_refuse(const char *unit, const char *where, tt_error *error);
/** Defaults and checks of a list entry: a name, a known unit, a finite scale other than 0 (default 1), a known wrap. */
tt_status tt_name_entry_check(tt_name_entry *entry, const char *where, tt_error *error);
#endif
