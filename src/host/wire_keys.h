/* wire_keys.h: the YAML keys that every wire has, and the checks that wires share. */
#ifndef TT_HOST_WIRE_KEYS_H
#define TT_HOST_WIRE_KEYS_H

#include "model/schema.h"
#include "net/net.h"

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

/** libcyaml fields shared by every wire: use inside the adapter's field array; `type` is the adapter's struct
 *  whose first member is `tt_wire_common common`. */
extern const cyaml_schema_field_t tt_fault_fields[];
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

/** All wire schemas in the order of tt_wire_protocols; NULL-terminated. */
extern const tt_schema *const tt_wire_schemas[]; /* made of src/wire/registry.c.in */

/** Sets `*address` to the default one of the wire's player where the scene left it out: 127.0.0.1 and `port` + 10 (player − 1).
 *  What the scene gives stays as it is. */
tt_status tt_default_address(const tt_wire_common *common, int port, char **address,
                             const char *where, tt_error *error);
/** Reads the `faults` of a UDP wire (all zero where absent). */
tt_status tt_wire_faults_check(const tt_wire_common *common, const char *where, tt_faults *faults,
                               tt_error *error);

#endif
