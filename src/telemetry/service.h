/* service.h: telemetry as the section `telemetry` of a scene or of `tether collect` describes it: store, collector, TCP. */
#ifndef TT_TELEMETRY_SERVICE_H
#define TT_TELEMETRY_SERVICE_H

#include "model/schema.h"
#include "telemetry/collector.h"

/** An element of `telemetry.devices`. */
typedef struct tt_telemetry_device_keys {
  char *device, *name;
} tt_telemetry_device_keys;

/** An element of `telemetry.attributes`: a name, a handling, or both. */
typedef struct tt_telemetry_attribute_keys {
  char *attribute;   /**< identifier or pattern */
  char *name;        /**< not of a pattern */
  char *type, *mode; /**< as tt_value_type_names, tt_value_mode_names */
  char *unit;
  double *scale, *offset;
  char *min_interval, *retention; /**< "0.1 s", "86400 s" */
} tt_telemetry_attribute_keys;

/** An element of `telemetry.forward`. */
typedef struct tt_telemetry_forward_keys {
  char *to, *format; /**< "xml" or "json" */
  char **devices, **fields;
  unsigned device_count, field_count;
} tt_telemetry_forward_keys;

/** The section `telemetry`. */
typedef struct tt_telemetry_keys {
  char *listen; /**< "127.0.0.1:5804"; NULL: no TCP */
  char *nats;   /**< "nats://HOST": where devices publish; NULL: nowhere */
  char *store;  /**< "sqlite:FILE", "postgresql://…"; NULL: nothing is stored */
  /** file, for PostgreSQL; NULL: while it is away nothing is stored, and senders wait */
  char *spool;
  char *spool_was;    /**< the URL that `store` was when what waits was spooled; NULL: what it is */
  double spool_limit; /**< bytes; default 1 GiB */
  /** "1 s": a message behind by more, without a sign of why, means that its device's clock jumped */
  char *late;
  char *seal_after; /**< "604800 s" behind the end of a day, which is packed then; NULL: never */
  char *store_interval; /**< "0.1 s": of simulated robots; live they come at every tick */
  unsigned max_connections, max_devices, max_attributes;
  char **allow;
  char **device_tags;  /**< of line protocol: the first that a point has names its device */
  char **ignored_tags; /**< of line protocol: no parts of identifiers */
  unsigned allow_count, device_tag_count, ignored_tag_count;
  tt_telemetry_device_keys *devices;
  tt_telemetry_attribute_keys *attributes;
  tt_telemetry_forward_keys *forwards;
  unsigned device_count, attribute_count, forward_count;
} tt_telemetry_keys;

/** The keys of the section, as docs/telemetry.md has them. Static. */
extern const cyaml_schema_field_t tt_telemetry_fields[];
extern const tt_schema tt_telemetry_schema;

/** Where it stores and listens, and whom it lets in, before anything opens. `where` as in tt_schema.check, which leaves this out: a log
 *  keeps the file, but none of the settings that were given beside it. */
tt_status tt_telemetry_check(const tt_telemetry_keys *keys, const char *where, tt_error *error);

typedef struct tt_telemetry tt_telemetry;

/** Opens everything the section names. Its keys must outlive it. `log`: what is stored comes from there, see tt_collector_options; NULL:
 *  from devices. It is closed on failure, too. */
tt_status tt_telemetry_open(const tt_telemetry_keys *keys, tt_store_log *log,
                            tt_telemetry **telemetry, tt_error *error);
tt_collector *tt_telemetry_collector(tt_telemetry *telemetry);
/** Of the TCP side, or NULL. */
const char *tt_telemetry_address(const tt_telemetry *telemetry);
/** Ends TCP; the collector still works, for those who read from it. */
void tt_telemetry_stop(tt_telemetry *telemetry);
/** Writes what is left and closes the store. NULL-safe. */
void tt_telemetry_close(tt_telemetry *telemetry);

#endif
