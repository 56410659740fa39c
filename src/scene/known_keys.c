/* known_keys.c: what checks tell of keys, kept. */
#include "scene/known_keys.h"

#include <stdlib.h>
#include <string.h>

static const char *join(tt_pool *pool, const char *const *words) {
  const char *list = "";
  for (int i = 0; words[i] && list; i++)
    list = tt_pool_print(pool, "%s%s%s", list, i ? ", " : "", words[i]);
  return list;
}

static tt_known_key *add(tt_known_keys *keys) {
  if (keys->count == keys->capacity) {
    int capacity = keys->capacity ? 2 * keys->capacity : 64;
    tt_known_key *items = reallocarray(keys->items, (size_t)capacity, sizeof *items);
    if (!items) return NULL;
    keys->items = items;
    keys->capacity = capacity;
  }
  return &keys->items[keys->count];
}

static void hear(tt_key_listener *listener, const tt_key_note *note) {
  tt_known_keys *keys = (tt_known_keys *)listener;
  tt_known_key *known = add(keys);
  if (!known) {
    keys->failed = true;
    return;
  }
  const char *dot = !note->key || !*note->key ? "" : strstr(note->where, ": ") ? "." : ": ";
  *known = (tt_known_key){
      .place = note->where ? tt_pool_print(keys->pool, "%s%s%s", note->where, dot, note->key) : "",
      .target = note->target,
      .words = note->words ? join(keys->pool, note->words) : NULL,
      .word = note->word ? tt_pool_print(keys->pool, "%s", note->word) : NULL,
      .is_quantity = note->is_quantity,
      .dimension = note->dimension,
      .lower = note->lower,
      .upper = note->upper,
      .fallback = note->fallback,
      .file = *keys->file - 1};
  if (!known->place || (note->words && !known->words) || (note->word && !known->word))
    keys->failed = true;
  else
    keys->count++;
}

void tt_known_keys_begin(tt_known_keys *keys) {
  keys->listener.hear = hear;
  tt_key_listen(&keys->listener);
}

void tt_known_keys_end(tt_known_keys *keys) {
  (void)keys;
  tt_key_listen(NULL);
}

const tt_known_key *tt_known_keys_find(const tt_known_keys *keys, const char *document,
                                       const char *path, int file) {
  const size_t size = strlen(document);
  for (int i = 0; i < keys->count; i++) {
    const tt_known_key *known = &keys->items[i];
    if (file >= 0 && known->file != file) continue;
    if (strncmp(known->place, document, size) == 0 && known->place[size] == ':' &&
        known->place[size + 1] == ' ' && strcmp(known->place + size + 2, path) == 0)
      return known;
  }
  return NULL;
}

const char *tt_known_keys_default(const tt_known_keys *keys, const void *target) {
  for (int i = 0; target && i < keys->count; i++)
    if (keys->items[i].target == target) return keys->items[i].word;
  return NULL;
}

void tt_known_keys_free(tt_known_keys *keys) {
  free(keys->items);
  keys->items = NULL;
  keys->count = keys->capacity = 0;
}
