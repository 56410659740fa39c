/* settings.c: what people set and a database has not got yet, told over what it has. */
#include "store/spool/internal.h"

#include <string.h>

/* --- names --- */

static uint32_t find_name(const tt_list *names, const char *identifier) {
  uint32_t i = 0;
  while (i < names->len && strcmp(tt_list_at(names, tt_store_name, i).identifier, identifier)) i++;
  return i;
}

/** Whoever had a name for people has none any more. */
static void take_name(const tt_list *names, const char *name) {
  for (uint32_t i = 0; i < names->len; i++) {
    char *held = tt_list_at(names, tt_store_name, i).name;
    if (held && !strcmp(held, name)) *held = '\0';
  }
}

/** False: out of memory. */
static bool note_name(tt_list *names, const tt_store_name *said) {
  tt_store_name name = *said;
  const uint32_t place = find_name(names, said->identifier);
  const bool known = place < names->len;
  if (known && !name.name) name.name = tt_list_at(names, tt_store_name, place).name;
  if (known && !name.state) name.state = tt_list_at(names, tt_store_name, place).state;
  if (!known && !name.name && name.state != TT_NAME_REMOVED) return true;
  if (said->name) take_name(names, said->name);
  if (!tt_store_add_name(names, name.index, name.identifier, name.name, name.state)) return false;
  if (known) tt_list_remove(names, place);
  return true;
}

const char *tt_spool_set_name(const tt_list *names, const char *identifier, const char *name,
                              bool *removed) {
  const uint32_t place = find_name(names, identifier);
  if (place == names->len) {
    for (uint32_t i = 0; name && i < names->len; i++) {
      const char *taken = tt_list_at(names, tt_store_name, i).name;
      if (taken && !strcmp(taken, name)) name = NULL;
    }
    return name;
  }
  const tt_store_name *set = &tt_list_at(names, tt_store_name, place);
  if (set->state != TT_NAME_KNOWN) *removed = set->state == TT_NAME_REMOVED;
  if (!set->name) return name;
  return *set->name ? set->name : NULL;
}

/* --- handlings --- */

static uint32_t find_handling(const tt_list *handlings, const char *pattern) {
  uint32_t i = 0;
  while (i < handlings->len && strcmp(tt_list_at(handlings, tt_handling, i).pattern, pattern)) i++;
  return i;
}

/** False: out of memory. */
static bool note_handling(tt_list *handlings, const tt_handling *said) {
  const uint32_t place = find_handling(handlings, said->pattern);
  const bool known = place < handlings->len;
  if (!tt_store_add_handling(handlings, said)) return false;
  if (known) tt_list_remove(handlings, place);
  return true;
}

tt_list tt_spool_set_handlings(const tt_list *set, const tt_list *told) {
  tt_list all = tt_handling_list();
  for (uint32_t i = 0; i < told->len; i++) {
    const tt_handling *handling = &tt_list_at(told, tt_handling, i);
    if (find_handling(set, handling->pattern) == set->len) tt_store_add_handling(&all, handling);
  }
  for (uint32_t i = 0; i < set->len; i++) {
    const tt_handling *handling = &tt_list_at(set, tt_handling, i);
    if (!handling->removed) tt_store_add_handling(&all, handling);
  }
  return all;
}

/* --- both --- */

static bool sets_names(const tt_list *names) {
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    if (name->name || name->state == TT_NAME_REMOVED) return true;
  }
  return false;
}

bool tt_spool_has_settings(const tt_store_batch *batch) {
  return batch->handlings.len || sets_names(&batch->devices) || sets_names(&batch->attributes);
}

static bool note_names(tt_list *names, const tt_list *said) {
  for (uint32_t i = 0; i < said->len; i++)
    if (!note_name(names, &tt_list_at(said, tt_store_name, i))) return false;
  return true;
}

bool tt_spool_note_settings(tt_store_batch *settings, const tt_store_batch *batch) {
  for (uint32_t i = 0; i < batch->handlings.len; i++) {
    if (!note_handling(&settings->handlings, &tt_list_at(&batch->handlings, tt_handling, i)))
      return false;
  }
  return note_names(&settings->devices, &batch->devices) &&
         note_names(&settings->attributes, &batch->attributes);
}
