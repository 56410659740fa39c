/* schema.h: how an adapter or a robot part says which YAML keys it has.
 *
 * Each gives its own struct, its libcyaml fields, and a check; config assembles all of them into one
 * declared schema at start. Every default stands in the adapter, in `defaults`.
 */
#ifndef TT_SCENE_SCHEMA_H
#define TT_SCENE_SCHEMA_H

#include "base/status.h"
#include "model/unit.h"
#include "net/net.h"

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stdint.h>

/** Keys of `faults`. */
typedef struct tt_wire_fault_keys {
  double loss, duplicate, reorder;
  char *delay, *jitter;
  uint64_t seed;
} tt_wire_fault_keys;

/** Keys every wire has; the first member of each adapter's struct, filled by TT_WIRE_COMMON_FIELDS. */
typedef struct tt_wire_common {
  char *name;     /**< default: the protocol, "<robot>.<protocol>" where several have the same */
  char *robot;    /**< name of the robot it drives; default: the only one, or the whole world */
  char *period;   /**< "10 ms"; default: the scene's io_period */
  char *watchdog; /**< "0.5 s" simulated; "0" off */
  char *late;     /**< wait | hold | zero | eject */
  int *player;    /**< 1…TT_MOST_PLAYERS, default 1: moves the default ports */
  char *deadline; /**< "1 s" */
  char **allow;   /**< CIDRs */
  unsigned allow_count;
  tt_wire_fault_keys *faults; /**< UDP wires; NULL when absent */
} tt_wire_common;

/** Ports of player n are those of player 1 and ten more for each player before. */
#define TT_PORTS_A_PLAYER 10
#define TT_MOST_PLAYERS 100

/** One entry of a list of names: how a signal or command stands in a message. */
typedef struct tt_name_entry {
  char *name; /**< "arm.position"; "stamp" or "none" where the wire allows them */
  char *unit; /**< "in·lbf"; default SI */
  double *given_scale;
  double
      scale; /**< wire = (SI in unit) × scale + offset; not 0, default 1; set by tt_name_entry_check */
  double offset;
  char *wrap; /**< "none" | "pi" (into [−π, π]) | "turn" (into [0, 1) turn of the unit) */
} tt_name_entry;

/** libcyaml fields of a tt_name_entry mapping, shared by every wire that lists names. */
extern const cyaml_schema_field_t tt_name_entry_fields[];
extern const cyaml_schema_value_t tt_name_entry_schema;

/** libcyaml fields shared by every wire: use inside the adapter's field array; `type` is the adapter's struct
 *  whose first member is `tt_wire_common common`. */
extern const cyaml_schema_field_t tt_fault_fields[];
extern const cyaml_schema_value_t tt_string_schema;
#define TT_WIRE_COMMON_FIELDS(type)                                                                \
  CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, common.name, 0,   \
                         64),                                                                      \
      CYAML_FIELD_STRING_PTR("robot", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type,              \
                             common.robot, 0, 64),                                                 \
      CYAML_FIELD_STRING_PTR("period", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type,             \
                             common.period, 0, 64),                                                \
      CYAML_FIELD_STRING_PTR("watchdog", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type,           \
                             common.watchdog, 0, 64),                                              \
      CYAML_FIELD_STRING_PTR("late", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, common.late,  \
                             0, 16),                                                               \
      CYAML_FIELD_STRING_PTR("deadline", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type,           \
                             common.deadline, 0, 64),                                              \
      CYAML_FIELD_INT_PTR("player", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type,                \
                          common.player),                                                          \
      CYAML_FIELD_SEQUENCE_COUNT("allow", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type,          \
                                 common.allow, common.allow_count, &tt_string_schema, 0, 64),      \
      CYAML_FIELD_MAPPING_PTR("faults", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type,            \
                              common.faults, tt_fault_fields)

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
  /** Wires only, may be NULL: never. Whether the world waits for this wire's answers. After check(). */
  bool (*waits)(const void *config);
  /** Wires only: it reads body_force, body_torque or feedback of the view, which cost time to compute. */
  bool reads_forces;
} tt_schema;

/** All wire schemas in the order of tt_wire_protocols, all part schemas, and all sections of a scene
 *  (`record`, `web`, …: a mapping each, checked with its defaults even where a scene leaves it out).
 *  NULL-terminated. Adding one is a line in its table. */
extern const tt_schema *const tt_wire_schemas[];    /* src/wire/registry.c */
extern const tt_schema *const tt_part_schemas[];    /* src/robot/registry.c */
extern const tt_schema *const tt_section_schemas[]; /* src/scene/sections.c */

/* Checks that every adapter needs, for use in its check() and open(). All begin their error with `where`, so
 * that it reads "FILE: path.to.key: what is wrong; remedy"; config adds the line when it shows the error. */

/** Sets `*target` to a copy of `value` where the scene left the key out. */
tt_status tt_default_string(char **target, const char *value, tt_error *error);
/** Sets `*address` to the default one of the wire's player where the scene left it out: 127.0.0.1 and `port` + 10 (player − 1).
 *  What the scene gives stays as it is. */
tt_status tt_default_address(const tt_wire_common *common, int port, char **address,
                             const char *where, tt_error *error);
/** Reads a quantity such as "10 ms" in SI, within [lower, upper]; NULL gives `fallback`. */
tt_status tt_quantity_check(const char *text, const char *key, const char *where,
                            tt_dimension dimension, double lower, double upper, double fallback,
                            double *si, tt_error *error);
/** Defaults and checks of a list entry: a name, a known unit, a finite scale other than 0 (default 1), a known wrap. */
tt_status tt_name_entry_check(tt_name_entry *entry, const char *where, tt_error *error);
/** Reads the `faults` of a UDP wire (all zero where absent). */
tt_status tt_wire_faults_check(const tt_wire_common *common, const char *where, tt_faults *faults,
                               tt_error *error);

#endif
