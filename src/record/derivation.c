/* derivation.c: what there is to make of a log's entries: read from its linkage, once. */
#include "record/derive.h"

#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ids of the kept entries, by name. */
typedef struct name_index {
  const tt_run_entry **sorted;
  size_t count;
} name_index;

static int by_name(const void *a, const void *b) {
  const tt_run_entry *const *one = a, *const *other = b;
  return strcmp((*one)->name, (*other)->name);
}

static bool index_names(name_index *index, const tt_run_entry *entries, uint32_t count) {
  index->sorted = calloc((size_t)count + 1, sizeof *index->sorted);
  if (!index->sorted) return false;
  for (uint32_t i = 1; i < count; i++)
    if (entries[i].name) index->sorted[index->count++] = &entries[i];
  qsort(index->sorted, index->count, sizeof(tt_run_entry *), by_name);
  return true;
}

static const tt_run_entry *find_name(const name_index *index, const char *name) {
  const tt_run_entry wanted = {.name = name}, *key = &wanted;
  const tt_run_entry **found =
      bsearch(&key, index->sorted, index->count, sizeof(tt_run_entry *), by_name);
  return found ? *found : NULL;
}

/* What is under way. */
typedef struct builder {
  tt_derivation *made;
  name_index names;
  tt_run_entry *entries; /* room for all */
  uint32_t total;
} builder;

static bool append(builder *to, const char *name, const char *type, const char *unit,
                   tt_derived_entry what) {
  char metadata[80] = "";
  if (unit) snprintf(metadata, sizeof metadata, "{\"unit\":\"%s\"}", unit);
  tt_run_entry *entry = &to->entries[to->total++];
  *entry = (tt_run_entry){.name = strdup(name), .type = strdup(type), .metadata = strdup(metadata)};
  to->made->made[to->made->count++] = what;
  return entry->name && entry->type && entry->metadata;
}

/* A signal that stands in the log is fed from it; another is made. */
static bool place_signal(builder *to, const tt_linked_signal *signal, const tt_run_entry *kept) {
  char name[TT_WPILOG_MOST_NAME];
  tt_linkage_entry(&signal->signal, signal->name, name, sizeof name);
  const tt_run_entry *found = find_name(&to->names, name);
  if (!found)
    return append(to, name, "double", signal->unit, (tt_derived_entry){.signal = signal->signal});
  if (strcmp(found->type, "double") == 0)
    to->made->tracks[found - kept] = (tt_track){TT_TRACK_SIGNAL, signal->signal};
  return true;
}

static bool place_pose(builder *to, int body) {
  char name[TT_WPILOG_MOST_NAME];
  snprintf(name, sizeof name, "/poses/%s", to->made->linkage.model.bodies[body].name);
  return find_name(&to->names, name) ||
         append(to, name, "struct:Pose3d", NULL, (tt_derived_entry){.body = body});
}

static bool place_all(builder *to, const tt_run_entry *kept, uint32_t count) {
  const tt_linkage *linkage = &to->made->linkage;
  for (uint32_t i = 1; i < count; i++) {
    if (!kept[i].name) continue;
    if (tt_journal_is_entry(kept[i].name)) to->made->tracks[i].kind = TT_TRACK_JOURNAL;
    if (strcmp(kept[i].name, TT_COMMANDS_ENTRY) == 0) to->made->tracks[i].kind = TT_TRACK_COMMANDS;
  }
  for (int i = 0; i < linkage->signal_count; i++)
    if (!place_signal(to, &linkage->signals[i], kept)) return false;
  for (int b = 1; b < linkage->model.body_count; b++)
    if (!place_pose(to, b)) return false;
  return true;
}

static tt_status build(tt_derivation *made, tt_run_entry **entries, uint32_t *count) {
  size_t most = (size_t)made->linkage.signal_count + (size_t)made->linkage.model.body_count;
  builder to = {.made = made, .total = *count};
  made->first = *count;
  made->tracks = calloc((size_t)*count + 1, sizeof *made->tracks);
  made->made = calloc(most + 1, sizeof *made->made);
  to.entries = realloc(*entries, ((size_t)*count + most + 1) * sizeof *to.entries);
  if (to.entries) *entries = to.entries;
  bool whole = made->tracks && made->made && to.entries &&
               index_names(&to.names, *entries, *count) && place_all(&to, *entries, made->first);
  free(to.names.sorted);
  *count = to.total;
  return whole ? TT_OK : TT_NOMEM;
}

tt_status tt_derivation_read(const tt_run_log *log, tt_run_entry **entries, uint32_t *count,
                             tt_derivation **derivation) {
  tt_run_cursor cursor;
  *derivation = NULL;
  if (!tt_run_log_find(log, TT_LINKAGE)) return TT_OK;
  tt_derivation *made = calloc(1, sizeof *made);
  if (!made || !tt_run_cursor_open(&cursor, log)) {
    free(made);
    return TT_NOMEM;
  }
  tt_run_cursor_seek(&cursor, 0);
  struct json_object *from = tt_run_cursor_json(&cursor, TT_LINKAGE);
  made->field = tt_run_cursor_field(&cursor);
  tt_run_cursor_close(&cursor);
  tt_status status = tt_linkage_read(from, &made->linkage);
  json_object_put(from);
  if (status == TT_OK) status = build(made, entries, count);
  if (status != TT_OK) tt_derivation_free(made);
  if (status == TT_OK) *derivation = made;
  return status == TT_INVALID ? TT_OK : status;
}

void tt_derivation_free(tt_derivation *derivation) {
  if (!derivation) return;
  tt_linkage_free(&derivation->linkage);
  free(derivation->tracks);
  free(derivation->made);
  free(derivation);
}
