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
  tt_list_free(&freed->stored);
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

bool tt_registry_is_removed(const tt_collector *collector, bool is_device, int index) {
  return is_device ? ((tt_device *)collector->devices->pdata[index])->removed
                   : ((tt_attribute *)collector->attributes->pdata[index])->removed;
}

int tt_registry_find_any(const tt_collector *collector, bool is_device, const char *identifier) {
  return lookup(is_device ? collector->device_index : collector->attribute_index, identifier);
}

int tt_registry_find(const tt_collector *collector, bool is_device, const char *identifier) {
  int index = tt_registry_find_any(collector, is_device, identifier);
  return index >= 0 && tt_registry_is_removed(collector, is_device, index) ? -1 : index;
}

static guint count_live(const tt_collector *collector, bool is_device) {
  return is_device ? collector->devices->len - collector->removed_devices
                   : collector->attributes->len - collector->removed_attributes;
}

bool tt_registry_has_room(const tt_collector *collector, bool is_device, guint count) {
  int allowed = is_device ? collector->options.max_devices : collector->options.max_attributes;
  return count == 0 || count_live(collector, is_device) + count <= (guint)allowed;
}

static int add_device(tt_collector *collector, const char *identifier) {
  tt_device *added = g_new0(tt_device, 1);
  added->identifier = g_strdup(identifier);
  added->stored = TT_LIST(uint8_t, NULL);
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

static void set_removed(tt_collector *collector, bool is_device, int index, bool removed) {
  bool *held = is_device ? &tt_device_at(collector, index)->removed
                         : &tt_attribute_at(collector, index)->removed;
  guint *count = is_device ? &collector->removed_devices : &collector->removed_attributes;
  if (*held != removed) *count += removed ? 1 : (guint)-1;
  if (removed && !*held) collector->forgotten++;
  *held = removed;
  if (!removed) return;
  if (is_device)
    tt_device_at(collector, index)->was_removed = true;
  else
    tt_attribute_at(collector, index)->was_removed = true;
}

/** The index of a name that is not in use: one that was removed, or a new one. −1: no room. */
static int use_name(tt_collector *collector, bool is_device, const char *identifier) {
  int index = tt_registry_find_any(collector, is_device, identifier);
  int next = (int)(is_device ? collector->devices->len : collector->attributes->len);
  if (!tt_registry_has_room(collector, is_device, 1) ||
      !tt_batch_tell_name(collector, is_device, index >= 0 ? index : next, identifier, NULL,
                          TT_NAME_USED))
    return -1;
  if (index >= 0) {
    set_removed(collector, is_device, index, false);
    return index;
  }
  return is_device ? add_device(collector, identifier) : add_attribute(collector, identifier);
}

int tt_registry_need_device(tt_collector *collector, const char *identifier) {
  int index = tt_registry_find(collector, true, identifier);
  if (index >= 0) return index;
  index = use_name(collector, true, identifier);
  if (index >= 0) tt_log_info("telemetry: new device %s", identifier);
  return index;
}

int tt_registry_need_attribute(tt_collector *collector, const char *identifier) {
  int index = tt_registry_find(collector, false, identifier);
  return index >= 0 ? index : use_name(collector, false, identifier);
}

/* --- of which devices there are values of which attributes --- */

bool tt_registry_is_stored(const tt_collector *collector, int device, int attribute) {
  const tt_list *stored = &tt_device_at((tt_collector *)collector, device)->stored;
  return (uint32_t)attribute < stored->len && tt_list_at(stored, uint8_t, attribute);
}

bool tt_registry_was_removed(const tt_collector *collector, int device, int attribute) {
  return tt_device_at((tt_collector *)collector, device)->was_removed ||
         tt_attribute_at((tt_collector *)collector, attribute)->was_removed;
}

void tt_registry_note_stored(tt_collector *collector, int device, int attribute) {
  if (tt_registry_is_stored(collector, device, attribute)) return;
  const tt_store_pair pair = {device, attribute};
  tt_list *stored = &tt_device_at(collector, device)->stored;
  // Out of memory: it is told with the next value.
  if (!tt_list_fill(stored, (uint32_t)attribute + 1) ||
      !tt_list_reserve(&collector->batch->pairs, 1))
    return;
  tt_list_add(&collector->batch->pairs, &pair, 1);
  tt_list_at(stored, uint8_t, attribute) = 1;
}

void tt_registry_load_pair(void *context, int device, int attribute) {
  tt_collector *collector = context;
  pthread_mutex_lock(&collector->mutex);
  tt_list *stored = &tt_device_at(collector, device)->stored;
  if (tt_list_fill(stored, (uint32_t)attribute + 1)) tt_list_at(stored, uint8_t, attribute) = 1;
  pthread_mutex_unlock(&collector->mutex);
}

/** Forgets the pairs of a device, or of an attribute. */
static void forget_pairs(tt_collector *collector, bool is_device, int index) {
  if (is_device) {
    tt_list_cut(&tt_device_at(collector, index)->stored, 0);
  } else {
    for (guint d = 0; d < collector->devices->len; d++) {
      if (tt_registry_is_stored(collector, (int)d, index))
        tt_list_at(&tt_device_at(collector, (int)d)->stored, uint8_t, index) = 0;
    }
  }
  for (uint32_t i = collector->batch->pairs.len; i-- > 0;) {
    const tt_store_pair *told = &tt_list_at(&collector->batch->pairs, tt_store_pair, i);
    if ((is_device ? told->device : told->attribute) == index)
      tt_list_remove(&collector->batch->pairs, i);
  }
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
  bool found = index >= 0 && (guint)index < collector->devices->len &&
               !tt_device_at(collector, index)->removed;
  if (found) {
    const tt_device *known = tt_device_at(collector, index);
    *info = (tt_device_info){.identifier = g_strdup(known->identifier),
                             .name = g_strdup(known->name),
                             .last_time = known->last_time,
                             .silence = known->heard ? g_get_monotonic_time() - known->heard : -1,
                             .messages = known->messages,
                             .values = known->values};
    for (uint32_t a = 0; a < known->stored.len; a++)
      info->attributes += tt_list_at(&known->stored, uint8_t, a);
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
  bool found = index >= 0 && (guint)index < collector->attributes->len &&
               !tt_attribute_at(collector, index)->removed;
  if (found) {
    const tt_attribute *known = tt_attribute_at(collector, index);
    *info = (tt_attribute_info){.identifier = g_strdup(known->identifier),
                                .name = g_strdup(known->name)};
    for (guint d = 0; d < collector->devices->len; d++)
      info->devices += tt_registry_is_stored(collector, (int)d, index);
    tt_handling_copy(&info->handling, &known->handling);
  }
  pthread_mutex_unlock(&collector->mutex);
  return found;
}

bool tt_collector_has_values(tt_collector *collector, int device, int attribute) {
  pthread_mutex_lock(&collector->mutex);
  bool has = tt_registry_is_stored(collector, device, attribute);
  pthread_mutex_unlock(&collector->mutex);
  return has;
}

static int find(tt_collector *collector, bool is_device, const char *name) {
  int index = tt_registry_find(collector, is_device, name);
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
    gpointer key, value;
    g_hash_table_iter_init(&iterator, tables[i]);
    while (g_hash_table_iter_next(&iterator, &key, &value)) {
      if (!tt_registry_is_removed(collector, is_device, GPOINTER_TO_INT(value) - 1))
        tt_nearest_offer(&nearest, key);
    }
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
  tt_feed_renamed(collector->hub);
}

/** Something else has no name any more. False: it is its identifier, or out of memory. */
static bool take_name(tt_collector *collector, bool is_device, int owner, const char *name) {
  const char *identifier = is_device ? tt_device_at(collector, owner)->identifier
                                     : tt_attribute_at(collector, owner)->identifier;
  if (!strcmp(identifier, name) ||
      !tt_batch_tell_name(collector, is_device, owner, identifier, "", TT_NAME_USED))
    return false;
  set_name(collector, is_device, owner, NULL);
  return true;
}

/** `takes`: also from what else has the name. */
static tt_status rename_item(tt_collector *collector, bool is_device, const char *identifier,
                             const char *name, bool takes, tt_error *error) {
  int owner = name ? find(collector, is_device, name) : -1;
  if (owner >= 0 && owner != tt_registry_find(collector, is_device, identifier) &&
      !(takes && take_name(collector, is_device, owner, name))) {
    return tt_fail(error, TT_INVALID, "the name '%s' belongs to %s", name,
                   is_device ? tt_device_at(collector, owner)->identifier
                             : tt_attribute_at(collector, owner)->identifier);
  }
  int index = is_device ? tt_registry_need_device(collector, identifier)
                        : tt_registry_need_attribute(collector, identifier);
  if (index < 0)
    return tt_fail(error, TT_FULL, "there are as many %s as allowed",
                   is_device ? "devices" : "attributes");
  if (!tt_batch_tell_name(collector, is_device, index, identifier, name ? name : "", TT_NAME_USED))
    return tt_fail(error, TT_NOMEM, "out of memory");
  set_name(collector, is_device, index, name);
  return TT_OK;
}

static tt_status rename_checked(tt_collector *collector, bool is_device, const char *identifier,
                                const char *name, bool takes, tt_error *error) {
  if (name && !*name) name = NULL;
  if (collector->options.log) return tt_collector_refuse(error);
  if (!tt_text_is_fit(identifier, is_device ? 64 : 200)) {
    return tt_fail(error, TT_INVALID,
                   "an identifier is UTF-8 of 1 to %d bytes without control characters",
                   is_device ? 64 : 200);
  }
  if (name && !tt_text_is_fit(name, NAME_BYTES)) {
    return tt_fail(error, TT_INVALID,
                   "a name is UTF-8 of at most %d bytes without control characters", NAME_BYTES);
  }
  if (name && !is_device && tt_handling_is_pattern(identifier)) {
    return tt_fail(error, TT_INVALID,
                   "'%s' is a pattern, which has no name; name attributes one by one", identifier);
  }
  pthread_mutex_lock(&collector->mutex);
  tt_status status = rename_item(collector, is_device, identifier, name, takes, error);
  pthread_mutex_unlock(&collector->mutex);
  return status;
}

tt_status tt_collector_name_device(tt_collector *collector, const char *identifier,
                                   const char *name, tt_error *error) {
  return rename_checked(collector, true, identifier, name, false, error);
}

tt_status tt_collector_name_attribute(tt_collector *collector, const char *identifier,
                                      const char *name, tt_error *error) {
  return rename_checked(collector, false, identifier, name, false, error);
}

tt_status tt_collector_take_name(tt_collector *collector, bool is_device, const char *identifier,
                                 const char *name, tt_error *error) {
  return rename_checked(collector, is_device, identifier, name, true, error);
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

/** Takes a name that the store has. What is held here stays; the store is told that it is used. */
static int load_item(tt_collector *collector, bool is_device, const char *identifier,
                     const char *name, bool *removed) {
  pthread_mutex_lock(&collector->mutex);
  int index = tt_registry_find_any(collector, is_device, identifier);
  if (index < 0) {
    index = is_device ? add_device(collector, identifier) : add_attribute(collector, identifier);
    set_removed(collector, is_device, index, *removed);
  }
  bool held =
      is_device ? tt_device_at(collector, index)->held : tt_attribute_at(collector, index)->held;
  if (*removed && held) {
    *removed = false;
    tt_batch_tell_name(collector, is_device, index, identifier, NULL, TT_NAME_USED);
  }
  if (*removed) forget_pairs(collector, is_device, index);
  set_removed(collector, is_device, index, *removed);
  load_name(collector, is_device, index, name);
  pthread_mutex_unlock(&collector->mutex);
  return index;
}

int tt_registry_load_device(void *context, const char *identifier, const char *name,
                            bool *removed) {
  return load_item(context, true, identifier, name, removed);
}

int tt_registry_load_attribute(void *context, const char *identifier, const char *name,
                               bool *removed) {
  return load_item(context, false, identifier, name, removed);
}

/* --- removed --- */

tt_status tt_registry_remove(tt_collector *collector, bool is_device, int index, tt_error *error) {
  const char *identifier = is_device ? tt_device_at(collector, index)->identifier
                                     : tt_attribute_at(collector, index)->identifier;
  if (!tt_batch_tell_name(collector, is_device, index, identifier, "", TT_NAME_REMOVED))
    return tt_fail(error, TT_NOMEM, "out of memory");
  set_name(collector, is_device, index, NULL);
  set_removed(collector, is_device, index, true);
  forget_pairs(collector, is_device, index);
  return TT_OK;
}
