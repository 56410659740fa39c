/* registry.c: devices and attributes: their identifiers, and the names that people give them. */
#include "base/log.h"
#include "base/nearest.h"
#include "telemetry/collector_internal.h"
#include "telemetry/text.h"

#include <string.h>

#define NAME_BYTES 128

static void free_device(gpointer item) {
  tt_device *freed = item;
  g_free(freed->identifier);
  g_free(freed->name);
  if (freed->kept) g_hash_table_unref(freed->kept);
  g_free(freed);
}

static void free_attribute(gpointer item) {
  tt_attribute *freed = item;
  g_free(freed->identifier);
  g_free(freed->name);
  g_free(freed);
}

void tt_registry_init(tt_collector *collector) {
  collector->devices = g_ptr_array_new_with_free_func(free_device);
  collector->attributes = g_ptr_array_new_with_free_func(free_attribute);
  collector->device_index = g_hash_table_new(g_str_hash, g_str_equal);
  collector->attribute_index = g_hash_table_new(g_str_hash, g_str_equal);
  collector->device_names = g_hash_table_new(g_str_hash, g_str_equal);
  collector->attribute_names = g_hash_table_new(g_str_hash, g_str_equal);
}

void tt_registry_clear(tt_collector *collector) {
  g_hash_table_unref(collector->device_index);
  g_hash_table_unref(collector->attribute_index);
  g_hash_table_unref(collector->device_names);
  g_hash_table_unref(collector->attribute_names);
  g_ptr_array_unref(collector->devices);
  g_ptr_array_unref(collector->attributes);
}

/* --- made on first sight --- */

static int lookup(GHashTable *table, const char *key) {
  return GPOINTER_TO_INT(g_hash_table_lookup(table, key)) - 1;
}

int tt_registry_find(const tt_collector *collector, bool is_device, const char *identifier) {
  return lookup(is_device ? collector->device_index : collector->attribute_index, identifier);
}

bool tt_registry_has_room(const tt_collector *collector, bool is_device, guint count) {
  guint held = is_device ? collector->devices->len : collector->attributes->len;
  int allowed = is_device ? collector->options.max_devices : collector->options.max_attributes;
  return held + count <= (guint)allowed;
}

static int add_device(tt_collector *collector, const char *identifier) {
  tt_device *added = g_new0(tt_device, 1);
  added->identifier = g_strdup(identifier);
  g_ptr_array_add(collector->devices, added);
  int index = (int)collector->devices->len - 1;
  g_hash_table_insert(collector->device_index, added->identifier, GINT_TO_POINTER(index + 1));
  return index;
}

static int add_attribute(tt_collector *collector, const char *identifier) {
  tt_attribute *added = g_new0(tt_attribute, 1);
  added->identifier = g_strdup(identifier);
  g_ptr_array_add(collector->attributes, added);
  int index = (int)collector->attributes->len - 1;
  g_hash_table_insert(collector->attribute_index, added->identifier, GINT_TO_POINTER(index + 1));
  tt_handlings_resolve(collector, added);
  return index;
}

int tt_registry_need_device(tt_collector *collector, const char *identifier) {
  int index = lookup(collector->device_index, identifier);
  if (index >= 0) return index;
  if (!tt_registry_has_room(collector, true, 1)) return -1;
  if (!tt_writer_tell_name(collector, true, (int)collector->devices->len, identifier, NULL))
    return -1;
  index = add_device(collector, identifier);
  tt_log_info("telemetry: new device %s", identifier);
  return index;
}

int tt_registry_need_attribute(tt_collector *collector, const char *identifier) {
  int index = lookup(collector->attribute_index, identifier);
  if (index >= 0) return index;
  if (!tt_registry_has_room(collector, false, 1)) return -1;
  if (!tt_writer_tell_name(collector, false, (int)collector->attributes->len, identifier, NULL))
    return -1;
  return add_attribute(collector, identifier);
}

const char *tt_registry_human_name(void *context, bool is_device, int index) {
  tt_collector *collector = context;
  return is_device ? tt_device_at(collector, index)->name : tt_attribute_at(collector, index)->name;
}

/* --- what is known of them --- */

void tt_device_info_clear(tt_device_info *info) {
  g_free(info->identifier);
  g_free(info->name);
}

void tt_attribute_info_clear(tt_attribute_info *info) {
  g_free(info->identifier);
  g_free(info->name);
  tt_handling_clear(&info->handling);
}

int tt_collector_device_count(tt_collector *collector) {
  pthread_mutex_lock(&collector->mutex);
  guint count = collector->devices->len;
  pthread_mutex_unlock(&collector->mutex);
  return (int)count;
}

int tt_collector_attribute_count(tt_collector *collector) {
  pthread_mutex_lock(&collector->mutex);
  guint count = collector->attributes->len;
  pthread_mutex_unlock(&collector->mutex);
  return (int)count;
}

bool tt_collector_get_device(tt_collector *collector, int index, tt_device_info *info) {
  pthread_mutex_lock(&collector->mutex);
  bool found = index >= 0 && (guint)index < collector->devices->len;
  if (found) {
    const tt_device *known = tt_device_at(collector, index);
    *info = (tt_device_info){.identifier = g_strdup(known->identifier),
                             .name = g_strdup(known->name),
                             .last_time = known->last_time,
                             .messages = known->messages,
                             .values = known->values};
    if (known->time.boot_count) {
      const tt_boot *boot = &known->time.boots[0];
      info->epoch = boot->stored.number;
      info->offset = tt_device_clock_offset(&boot->clock, boot->newest);
      info->drift = boot->clock.slope;
    }
  }
  pthread_mutex_unlock(&collector->mutex);
  return found;
}

bool tt_collector_get_attribute(tt_collector *collector, int index, tt_attribute_info *info) {
  pthread_mutex_lock(&collector->mutex);
  bool found = index >= 0 && (guint)index < collector->attributes->len;
  if (found) {
    const tt_attribute *known = tt_attribute_at(collector, index);
    *info = (tt_attribute_info){.identifier = g_strdup(known->identifier),
                                .name = g_strdup(known->name)};
    tt_handling_copy(&info->handling, &known->handling);
  }
  pthread_mutex_unlock(&collector->mutex);
  return found;
}

static int find(tt_collector *collector, bool is_device, const char *name) {
  int index = lookup(is_device ? collector->device_index : collector->attribute_index, name);
  return index >= 0
             ? index
             : lookup(is_device ? collector->device_names : collector->attribute_names, name);
}

int tt_collector_find_device(tt_collector *collector, const char *name) {
  pthread_mutex_lock(&collector->mutex);
  int index = find(collector, true, name);
  pthread_mutex_unlock(&collector->mutex);
  return index;
}

int tt_collector_find_attribute(tt_collector *collector, const char *name) {
  pthread_mutex_lock(&collector->mutex);
  int index = find(collector, false, name);
  pthread_mutex_unlock(&collector->mutex);
  return index;
}

char *tt_collector_nearest(tt_collector *collector, bool is_device, const char *name) {
  tt_nearest nearest = tt_nearest_start(name);
  pthread_mutex_lock(&collector->mutex);
  GHashTable *tables[] = {is_device ? collector->device_index : collector->attribute_index,
                          is_device ? collector->device_names : collector->attribute_names};
  for (int i = 0; i < 2; i++) {
    GHashTableIter iterator;
    gpointer key;
    g_hash_table_iter_init(&iterator, tables[i]);
    while (g_hash_table_iter_next(&iterator, &key, NULL)) tt_nearest_offer(&nearest, key);
  }
  char *best = g_strdup(nearest.best);
  pthread_mutex_unlock(&collector->mutex);
  return best;
}

/** Gives a name (NULL: none), which nothing else has. */
static void set_name(tt_collector *collector, bool is_device, int index, const char *name) {
  GHashTable *names = is_device ? collector->device_names : collector->attribute_names;
  char **held =
      is_device ? &tt_device_at(collector, index)->name : &tt_attribute_at(collector, index)->name;
  if (*held) g_hash_table_remove(names, *held);
  g_free(*held);
  *held = g_strdup(name);
  if (name) g_hash_table_insert(names, *held, GINT_TO_POINTER(index + 1));
  tt_live_renamed(collector->hub);
}

static tt_status rename_item(tt_collector *collector, bool is_device, const char *identifier,
                             const char *name, tt_error *error) {
  int owner = name ? find(collector, is_device, name) : -1;
  if (owner >= 0 && owner != tt_registry_find(collector, is_device, identifier)) {
    return tt_fail(error, TT_INVALID, "the name '%s' belongs to %s", name,
                   is_device ? tt_device_at(collector, owner)->identifier
                             : tt_attribute_at(collector, owner)->identifier);
  }
  int index = is_device ? tt_registry_need_device(collector, identifier)
                        : tt_registry_need_attribute(collector, identifier);
  if (index < 0)
    return tt_fail(error, TT_FULL, "there are as many %s as allowed",
                   is_device ? "devices" : "attributes");
  if (!tt_writer_tell_name(collector, is_device, index, identifier, name ? name : ""))
    return tt_fail(error, TT_NOMEM, "out of memory");
  set_name(collector, is_device, index, name);
  return TT_OK;
}

static tt_status rename_checked(tt_collector *collector, bool is_device, const char *identifier,
                                const char *name, tt_error *error) {
  if (name && !*name) name = NULL;
  if (!tt_text_is_fit(identifier, is_device ? 64 : 200)) {
    return tt_fail(error, TT_INVALID,
                   "an identifier is UTF-8 of 1 to %d bytes without control characters",
                   is_device ? 64 : 200);
  }
  if (name && !tt_text_is_fit(name, NAME_BYTES)) {
    return tt_fail(error, TT_INVALID,
                   "a name is UTF-8 of at most %d bytes without control characters", NAME_BYTES);
  }
  pthread_mutex_lock(&collector->mutex);
  tt_status status = rename_item(collector, is_device, identifier, name, error);
  pthread_mutex_unlock(&collector->mutex);
  return status;
}

tt_status tt_collector_name_device(tt_collector *collector, const char *identifier,
                                   const char *name, tt_error *error) {
  return rename_checked(collector, true, identifier, name, error);
}

tt_status tt_collector_name_attribute(tt_collector *collector, const char *identifier,
                                      const char *name, tt_error *error) {
  return rename_checked(collector, false, identifier, name, error);
}

/* --- what the store knows --- */

/** Whether a name was given that the store has not been told. */
static bool is_name_waiting(const tt_list *names, int index) {
  for (guint i = 0; i < names->len; i++) {
    const tt_store_name *waiting = &tt_list_at(names, tt_store_name, i);
    if (waiting->index == index && waiting->name) return true;
  }
  return false;
}

/** Two collectors may have given one name to two things: the later one has it. */
static void load_name(tt_collector *collector, bool is_device, int index, const char *name) {
  const char *held = tt_registry_human_name(collector, is_device, index);
  const tt_list *waiting = is_device ? &collector->batch->devices : &collector->batch->attributes;
  if (!g_strcmp0(held, name) || is_name_waiting(waiting, index)) return;
  int owner = name ? find(collector, is_device, name) : -1;
  if (owner >= 0) set_name(collector, is_device, owner, NULL);
  set_name(collector, is_device, index, name);
}

int tt_registry_load_device(void *context, const char *identifier, const char *name) {
  tt_collector *collector = context;
  pthread_mutex_lock(&collector->mutex);
  int index = lookup(collector->device_index, identifier);
  if (index < 0) index = add_device(collector, identifier);
  load_name(collector, true, index, name);
  pthread_mutex_unlock(&collector->mutex);
  return index;
}

int tt_registry_load_attribute(void *context, const char *identifier, const char *name) {
  tt_collector *collector = context;
  pthread_mutex_lock(&collector->mutex);
  int index = lookup(collector->attribute_index, identifier);
  if (index < 0) index = add_attribute(collector, identifier);
  load_name(collector, false, index, name);
  pthread_mutex_unlock(&collector->mutex);
  return index;
}
