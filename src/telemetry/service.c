/* service.c: the section's keys, and what they open. */
#include "telemetry/service.h"

#include "broker/broker.h"
#include "net/net.h"
#include "telemetry/input.h"

#include <math.h>
#include <string.h>

/** µs for which a batch waits for more where live readers at other collectors wait for it. */
#define FORWARD_INTERVAL 10000
#define OPTIONAL_TEXT (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(key, type, member, limit)                                                             \
  CYAML_FIELD_STRING_PTR(key, OPTIONAL_TEXT, type, member, 0, limit)

static const cyaml_schema_field_t device_fields[] = {
    CYAML_FIELD_STRING_PTR("device", CYAML_FLAG_POINTER, tt_telemetry_device_keys, device, 1, 64),
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, tt_telemetry_device_keys, name, 1, 128),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t device_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_telemetry_device_keys, device_fields),
};

static const cyaml_schema_field_t attribute_fields[] = {
    CYAML_FIELD_STRING_PTR("attribute", CYAML_FLAG_POINTER, tt_telemetry_attribute_keys, attribute,
                           1, 200),
    TEXT("name", tt_telemetry_attribute_keys, name, 128),
    TEXT("type", tt_telemetry_attribute_keys, type, 16),
    TEXT("mode", tt_telemetry_attribute_keys, mode, 16),
    TEXT("unit", tt_telemetry_attribute_keys, unit, 32),
    CYAML_FIELD_FLOAT_PTR("scale", OPTIONAL_TEXT, tt_telemetry_attribute_keys, scale),
    CYAML_FIELD_FLOAT_PTR("offset", OPTIONAL_TEXT, tt_telemetry_attribute_keys, offset),
    TEXT("min_interval", tt_telemetry_attribute_keys, min_interval, 32),
    TEXT("retention", tt_telemetry_attribute_keys, retention, 32),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t attribute_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_telemetry_attribute_keys, attribute_fields),
};

static const cyaml_schema_field_t forward_fields[] = {
    CYAML_FIELD_STRING_PTR("to", CYAML_FLAG_POINTER, tt_telemetry_forward_keys, to, 1, 256),
    TEXT("format", tt_telemetry_forward_keys, format, 8),
    CYAML_FIELD_SEQUENCE_COUNT("devices", OPTIONAL_TEXT, tt_telemetry_forward_keys, devices,
                               device_count, &tt_string_schema, 0, 1000),
    CYAML_FIELD_SEQUENCE_COUNT("fields", OPTIONAL_TEXT, tt_telemetry_forward_keys, fields,
                               field_count, &tt_string_schema, 0, 1000),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t forward_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_telemetry_forward_keys, forward_fields),
};

const cyaml_schema_field_t tt_telemetry_fields[] = {
    TEXT("listen", tt_telemetry_keys, listen, 256),
    TEXT("nats", tt_telemetry_keys, nats, 1024),
    TEXT("store", tt_telemetry_keys, store, 1024),
    TEXT("spool", tt_telemetry_keys, spool, 1024),
    TEXT("spool_was", tt_telemetry_keys, spool_was, 4096),
    CYAML_FIELD_FLOAT("spool_limit", CYAML_FLAG_OPTIONAL, tt_telemetry_keys, spool_limit),
    TEXT("late", tt_telemetry_keys, late, 32),
    TEXT("seal_after", tt_telemetry_keys, seal_after, 32),
    TEXT("store_interval", tt_telemetry_keys, store_interval, 32),
    CYAML_FIELD_UINT("max_connections", CYAML_FLAG_OPTIONAL, tt_telemetry_keys, max_connections),
    CYAML_FIELD_UINT("max_devices", CYAML_FLAG_OPTIONAL, tt_telemetry_keys, max_devices),
    CYAML_FIELD_UINT("max_attributes", CYAML_FLAG_OPTIONAL, tt_telemetry_keys, max_attributes),
    CYAML_FIELD_SEQUENCE_COUNT("allow", OPTIONAL_TEXT, tt_telemetry_keys, allow, allow_count,
                               &tt_string_schema, 0, 64),
    CYAML_FIELD_SEQUENCE_COUNT("device_tags", OPTIONAL_TEXT, tt_telemetry_keys, device_tags,
                               device_tag_count, &tt_string_schema, 1, 16),
    CYAML_FIELD_SEQUENCE_COUNT("ignored_tags", OPTIONAL_TEXT, tt_telemetry_keys, ignored_tags,
                               ignored_tag_count, &tt_string_schema, 0, 64),
    CYAML_FIELD_SEQUENCE_COUNT("devices", OPTIONAL_TEXT, tt_telemetry_keys, devices, device_count,
                               &device_schema, 0, 1000),
    CYAML_FIELD_SEQUENCE_COUNT("attributes", OPTIONAL_TEXT, tt_telemetry_keys, attributes,
                               attribute_count, &attribute_schema, 0, 1000),
    CYAML_FIELD_SEQUENCE_COUNT("forward", OPTIONAL_TEXT, tt_telemetry_keys, forwards, forward_count,
                               &forward_schema, 0, 16),
    CYAML_FIELD_END,
};

static bool has_handling(const tt_telemetry_attribute_keys *keys) {
  return keys->type || keys->mode || keys->unit || keys->scale || keys->offset ||
         keys->min_interval || keys->retention;
}

/** The handling an element asks for; its strings stay the element's. */
static tt_status read_handling(const tt_telemetry_attribute_keys *keys, const char *where,
                               tt_handling *handling, tt_error *error) {
  int type, mode;
  TT_TRY(tt_word_check(keys->type, "type", where, tt_value_type_names, 0, &type, error));
  TT_TRY(tt_word_check(keys->mode, "mode", where, tt_value_mode_names, 0, &mode, error));
  *handling = tt_handling_default();
  handling->pattern = keys->attribute;
  handling->type = (tt_value_type)type;
  handling->mode = (tt_value_mode)mode;
  handling->unit = keys->unit;
  if (keys->scale) handling->scale = *keys->scale;
  if (keys->offset) handling->offset = *keys->offset;
  if (!isfinite(handling->scale) || !isfinite(handling->offset) || handling->scale == 0) {
    return tt_fail(error, TT_INVALID, "%s: scale and offset are finite numbers, and scale is not 0",
                   where);
  }
  TT_TRY(tt_quantity_check(keys->min_interval, "min_interval", where, TT_TIME, 0, 1e9, 0,
                           &handling->min_interval, error));
  return tt_quantity_check(keys->retention, "retention", where, TT_TIME, 0, 1e10, 0,
                           &handling->retention, error);
}

static tt_status check_most(unsigned *count, const char *key, const char *where, uint64_t most,
                            uint64_t fallback, tt_error *error) {
  uint64_t checked;
  TT_TRY(tt_count_check(*count, key, where, 1, most, fallback, &checked, error));
  *count = (unsigned)checked;
  return TT_OK;
}

static tt_status check_address(const char *address, const char *key, const char *where,
                               tt_error *error) {
  tt_error why;
  if (!address || tt_address_check(address, NULL, &why) == TT_OK) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s.%s: %s", where, key, why.text);
}

/** `count` things of `list`, each `size` bytes; where it is known by, and its name, which may be NULL, stand at these offsets. */
static tt_status check_names(const char *where, const char *list, const void *things,
                             unsigned count, size_t size, size_t identifier, size_t name,
                             tt_error *error) {
  GHashTable *named = g_hash_table_new(g_str_hash, g_str_equal);
  tt_status status = TT_OK;
  for (unsigned i = 0; i < count && status == TT_OK; i++) {
    const char *thing = (const char *)things + i * size;
    char *called = *(char *const *)(const void *)(thing + name);
    char *known = *(char *const *)(const void *)(thing + identifier);
    const char *owner = called && *called ? g_hash_table_lookup(named, called) : NULL;
    if (owner && strcmp(owner, known))
      status = tt_fail(error, TT_INVALID,
                       "%s.%s[%u].name: '%s' is the name of %s already; give %s another one", where,
                       list, i, called, owner, known);
    else if (called && *called)
      g_hash_table_insert(named, called, known);
  }
  g_hash_table_unref(named);
  return status;
}

static tt_status check(void *config, const char *where, tt_error *error) {
  tt_telemetry_keys *keys = config;
  double ignored;
  TT_TRY(check_address(keys->listen, "listen", where, error));
  TT_TRY(check_most(&keys->max_connections, "max_connections", where, 10000, 256, error));
  TT_TRY(check_most(&keys->max_devices, "max_devices", where, 100000, 1000, error));
  TT_TRY(check_most(&keys->max_attributes, "max_attributes", where, 1000000, 10000, error));
  TT_TRY(tt_number_check(keys->spool_limit != 0 ? &keys->spool_limit : NULL, "spool_limit", where,
                         1, 1e15, 1 << 30, &keys->spool_limit, error));
  TT_TRY(tt_default_string(&keys->late, "1 s", error));
  TT_TRY(tt_default_string(&keys->store_interval, "0.1 s", error));
  TT_TRY(tt_quantity_check(keys->late, "late", where, TT_TIME, 0.01, 3600, 1, &ignored, error));
  TT_TRY(tt_quantity_check(keys->store_interval, "store_interval", where, TT_TIME, 0, 3600, 0.1,
                           &ignored, error));
  TT_TRY(tt_quantity_check(keys->seal_after, "seal_after", where, TT_TIME, 1, 1e10, 0, &ignored,
                           error));
  for (unsigned i = 0; i < keys->attribute_count; i++) {
    char place[512];
    tt_handling handling;
    g_snprintf(place, sizeof place, "%s.attributes[%u]", where, i);
    const tt_telemetry_attribute_keys *attribute = &keys->attributes[i];
    if (attribute->name && tt_handling_is_pattern(attribute->attribute))
      return tt_fail(error, TT_INVALID,
                     "%s.name: '%s' is a pattern, which has no name; name attributes one by one",
                     place, attribute->attribute);
    TT_TRY(read_handling(&keys->attributes[i], place, &handling, error));
  }
  TT_TRY(check_names(where, "devices", keys->devices, keys->device_count, sizeof *keys->devices,
                     offsetof(tt_telemetry_device_keys, device),
                     offsetof(tt_telemetry_device_keys, name), error));
  TT_TRY(check_names(where, "attributes", keys->attributes, keys->attribute_count,
                     sizeof *keys->attributes, offsetof(tt_telemetry_attribute_keys, attribute),
                     offsetof(tt_telemetry_attribute_keys, name), error));
  for (unsigned i = 0; i < keys->forward_count; i++) {
    static const char *const formats[] = {"json", "xml", NULL};
    char place[512];
    int format;
    g_snprintf(place, sizeof place, "%s.forward[%u]", where, i);
    TT_TRY(tt_word_check(keys->forwards[i].format, "format", place, formats, 0, &format, error));
    TT_TRY(check_address(keys->forwards[i].to, "to", place, error));
  }
  return TT_OK;
}

const tt_schema tt_telemetry_schema = {.key = "telemetry",
                                       .fields = tt_telemetry_fields,
                                       .size = sizeof(tt_telemetry_keys),
                                       .check = check};

tt_status tt_telemetry_check(const tt_telemetry_keys *keys, const char *where, tt_error *error) {
  const tt_allow allow = {(const char *const *)keys->allow, (int)keys->allow_count};
  const tt_store_backend *backend;
  tt_error why;
  if (keys->store && tt_store_backend_of(keys->store, &backend, &why) != TT_OK)
    return tt_fail(error, TT_INVALID, "%s.store: %s", where, why.text);
  if (keys->nats && tt_nats_address_check(keys->nats, &why) != TT_OK)
    return tt_fail(error, TT_INVALID, "%s.nats: %s", where, why.text);
  if (keys->listen && tt_address_check(keys->listen, &allow, &why) != TT_OK)
    return tt_fail(error, TT_INVALID, "%s.listen: %s", where, why.text);
  return TT_OK;
}

/* --- opening --- */

struct tt_telemetry {
  tt_collector *collector;
  tt_input *input;
  tt_forward *forwards;
  char ***lists; /**< NULL-terminated copies of the forwards' lists; pointers only */
  unsigned forward_count;
};

/** Behind a log it may be away: the log keeps what comes. */
static tt_status open_store(const tt_telemetry_keys *keys, bool follows, tt_store **store,
                            tt_error *error) {
  tt_store_options options = {.url = keys->store ? keys->store : "none:",
                              .spool = keys->spool,
                              .spool_was = keys->spool_was,
                              .spool_limit = (uint64_t)keys->spool_limit,
                              .may_be_away = follows};
  return tt_store_open(&options, store, error);
}

/** What the file calls something it is called, also where people gave that name to something else since, or the file did before.
 *  No two in the file have the same name: see check_names(). */
static tt_status apply_name(tt_collector *collector, const char *list, unsigned index,
                            bool is_device, const char *identifier, const char *name,
                            tt_error *error) {
  const tt_status status = tt_collector_take_name(collector, is_device, identifier, name, error);
  const tt_error why = *error;
  return status == TT_OK
             ? TT_OK
             : tt_fail(error, status, "telemetry.%s[%u].name: %s", list, index, why.text);
}

static tt_status apply_names(tt_collector *collector, const tt_telemetry_keys *keys,
                             tt_error *error) {
  for (unsigned i = 0; i < keys->device_count; i++) {
    const tt_telemetry_device_keys *device = &keys->devices[i];
    TT_TRY(apply_name(collector, "devices", i, true, device->device, device->name, error));
  }
  for (unsigned i = 0; i < keys->attribute_count; i++) {
    const tt_telemetry_attribute_keys *attribute = &keys->attributes[i];
    if (attribute->name)
      TT_TRY(apply_name(collector, "attributes", i, false, attribute->attribute, attribute->name,
                        error));
    if (!has_handling(attribute)) continue;
    tt_handling handling;
    TT_TRY(read_handling(attribute, "telemetry.attributes", &handling, error));
    TT_TRY(tt_collector_set_handling(collector, &handling, error));
  }
  return TT_OK;
}

static char **null_terminated(char **list, unsigned count) {
  char **copy = g_new0(char *, count + 1);
  for (unsigned i = 0; i < count; i++) copy[i] = list[i];
  return copy;
}

static void prepare_forwards(tt_telemetry *telemetry, const tt_telemetry_keys *keys) {
  telemetry->forward_count = keys->forward_count;
  telemetry->forwards = g_new0(tt_forward, keys->forward_count + 1);
  telemetry->lists = g_new0(char **, 2 * keys->forward_count + 1);
  for (unsigned i = 0; i < keys->forward_count; i++) {
    const tt_telemetry_forward_keys *forward = &keys->forwards[i];
    char **devices = telemetry->lists[2 * i] =
        null_terminated(forward->devices, forward->device_count);
    char **values = telemetry->lists[2 * i + 1] =
        null_terminated(forward->fields, forward->field_count);
    telemetry->forwards[i] = (tt_forward){.to = forward->to,
                                          .xml = forward->format && !strcmp(forward->format, "xml"),
                                          .devices = (const char *const *)devices,
                                          .fields = (const char *const *)values};
  }
}

static tt_status open_input(tt_telemetry *telemetry, const tt_telemetry_keys *keys,
                            tt_error *error) {
  prepare_forwards(telemetry, keys);
  if (!keys->listen && !keys->forward_count) return TT_OK;
  tt_input_options options = {.listen = keys->listen,
                              .max_connections = (int)keys->max_connections,
                              .allow = {(const char *const *)keys->allow, (int)keys->allow_count},
                              .limits = tt_message_limits_default(),
                              .forwards = telemetry->forwards,
                              .forward_count = (int)keys->forward_count};
  return tt_input_open(&options, telemetry->collector, &telemetry->input, error);
}

tt_status tt_telemetry_open(const tt_telemetry_keys *keys, tt_store_log *log, tt_telemetry **out,
                            tt_error *error) {
  tt_collector_options options = tt_collector_options_default();
  double late = 1, seal_after = 0;
  tt_quantity_parse(keys->late, TT_TIME, &late);  // checked when it was read
  options.late = llround(late * 1e6);
  if (keys->seal_after) tt_quantity_parse(keys->seal_after, TT_TIME, &seal_after);
  options.seal_after = llround(seal_after * 1e6);
  options.max_devices = (int)keys->max_devices;
  options.max_attributes = (int)keys->max_attributes;
  if (keys->store && tt_store_url_can(keys->store, TT_STORE_FORWARDS))
    options.batch_interval = FORWARD_INTERVAL;
  options.log = log;
  tt_status status = open_store(keys, log, &options.store, error);
  if (status != TT_OK) {
    if (log) log->close(log);
    return status;
  }
  tt_telemetry *telemetry = g_new0(tt_telemetry, 1);
  status = tt_collector_new(&options, &telemetry->collector, error);
  if (status == TT_OK) status = apply_names(telemetry->collector, keys, error);
  if (status == TT_OK) status = open_input(telemetry, keys, error);
  if (status == TT_FULL) status = TT_INVALID;  // of names or readers, not of the disk
  if (status != TT_OK) {
    tt_telemetry_close(telemetry);
    return status;
  }
  *out = telemetry;
  return TT_OK;
}

tt_collector *tt_telemetry_collector(tt_telemetry *telemetry) { return telemetry->collector; }

const char *tt_telemetry_address(const tt_telemetry *telemetry) {
  return telemetry->input ? tt_input_address(telemetry->input) : NULL;
}

void tt_telemetry_stop(tt_telemetry *telemetry) {
  tt_input_close(telemetry->input);
  telemetry->input = NULL;
}

void tt_telemetry_close(tt_telemetry *telemetry) {
  if (!telemetry) return;
  tt_telemetry_stop(telemetry);
  tt_collector_free(telemetry->collector);
  for (unsigned i = 0; telemetry->lists && i < 2 * telemetry->forward_count; i++)
    g_free(telemetry->lists[i]);
  g_free(telemetry->lists);
  g_free(telemetry->forwards);
  g_free(telemetry);
}
