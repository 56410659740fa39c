#include "draft/keys_json.h"

#include "base/json.h"
#include "draft/help.h"
#include "scene/data.h"
#include "scene/load.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the checks of some scene told of a key. */
typedef struct fact {
  char path[160]; /* "scene wires.float-udp.watchdog" */
  bool is_quantity;
  tt_dimension dimension;
  double lower, upper;
  char words[200];
} fact;

typedef struct listing {
  struct json_object *keys;
  fact *facts;
  int count, capacity;
} listing;

/* --- what scenes tell --- */

/* "wires.float-udp.sensors[2].unit" as the schema has it: wires.float-udp.sensors.unit. */
static void drop_numbers(const char *from, char *to, size_t size) {
  size_t used = 0;
  for (bool inside = false; *from && used + 1 < size; from++) {
    if (*from == '[') inside = true;
    if (!inside) to[used++] = *from;
    if (*from == ']') inside = false;
  }
  to[used] = 0;
}

static const fact *find_fact(const listing *in, const char *path) {
  for (int i = 0; i < in->count; i++)
    if (strcmp(in->facts[i].path, path) == 0) return &in->facts[i];
  return NULL;
}

static const char *file_of(const tt_scene_store *store, const char *place, size_t size) {
  for (int i = 0; i < store->file_count; i++) {
    const char *path = store->files[i].document->path;
    if (strlen(path) != size || strncmp(path, place, size) != 0) continue;
    const cyaml_schema_value_t *schema = store->files[i].schema;
    return schema == store->schemas.scene   ? "scene"
           : schema == store->schemas.robot ? "robot"
                                            : "arena";
  }
  return NULL;
}

static void add_fact(listing *in, const tt_scene_store *store, const tt_known_key *known) {
  const char *colon = strstr(known->place, ": ");
  const char *file = colon ? file_of(store, known->place, (size_t)(colon - known->place)) : NULL;
  fact made = {.is_quantity = known->is_quantity,
               .dimension = known->dimension,
               .lower = known->lower,
               .upper = known->upper};
  char path[140];
  if (!file) return;
  drop_numbers(colon + 2, path, sizeof path);
  snprintf(made.path, sizeof made.path, "%s %s", file, path);
  snprintf(made.words, sizeof made.words, "%s", known->words ? known->words : "");
  if (find_fact(in, made.path)) return;
  if (in->count == in->capacity) {
    const int capacity = in->capacity ? 2 * in->capacity : 256;
    fact *grown = reallocarray(in->facts, (size_t)capacity, sizeof *grown);
    if (!grown) return; /* the documents say it, too */
    in->facts = grown;
    in->capacity = capacity;
  }
  in->facts[in->count++] = made;
}

static void hear_scenes(listing *in, const tt_scene_guests *guests) {
  char **names = tt_data_list(&tt_data_scene);
  for (char **name = names; name && *name; name++) {
    tt_scene *scene;
    tt_error ignored;
    if (tt_scene_load(guests, *name, NULL, 0, &scene, &ignored) == TT_OK) {
      const tt_scene_store *store = (const tt_scene_store *)scene;
      for (int i = 0; i < store->known.count; i++) add_fact(in, store, &store->known.items[i]);
      tt_scene_free(scene);
    }
    free(*name);
  }
  free(names);
}

/* --- keys --- */

static const char *kind_of(const cyaml_schema_value_t *schema, const fact *known,
                           const tt_help *help) {
  switch (schema->type) {
    case CYAML_BOOL: return "flag";
    case CYAML_ENUM: return "word";
    case CYAML_INT:
    case CYAML_UINT: return "count";
    case CYAML_FLOAT: return "number";
    case CYAML_MAPPING:
    case CYAML_IGNORE: return "mapping";
    case CYAML_SEQUENCE:
    case CYAML_SEQUENCE_FIXED: return "list";
    default: break;
  }
  if (known && *known->words) return "word";
  const bool time = strncmp(help->type, "exact time", 10) == 0,
             quantity = strncmp(help->type, "quantity", 8) == 0;
  return (known && known->is_quantity) || time || quantity ? "quantity" : "text";
}

/* "s" of "quantity, s, at most 10 s". */
static void unit_of(const fact *known, const tt_help *help, char unit[16]) {
  const char *comma = strncmp(help->type, "quantity, ", 10) == 0 ? help->type + 10 : NULL;
  *unit = 0;
  if (known && known->is_quantity && known->dimension != TT_DIMENSION_COUNT)
    snprintf(unit, 16, "%s", tt_unit_si(known->dimension)->name);
  else if (strncmp(help->type, "exact time", 10) == 0)
    strcpy(unit, "s");
  else if (comma)
    snprintf(unit, 16, "%.*s", (int)strcspn(comma, ", ("), comma);
}

static void add_words(struct json_object *to, const char *words) {
  while (*words) {
    const size_t size = strcspn(words, ",");
    json_object_array_add(to, json_object_new_string_len(words, (int)size));
    words += size + strspn(words + size, ", ");
  }
}

/* Words that the document's type column lists, as `wait`, `hold`. */
static void add_documented(struct json_object *to, const char *type) {
  for (const char *open = type; *open == '`';) {
    const char *close = strchr(open + 1, '`');
    if (!close) return;
    json_object_array_add(to, json_object_new_string_len(open + 1, (int)(close - open - 1)));
    open = close + 1 + strspn(close + 1, ", ");
    if (strncmp(open, "or ", 3) == 0) open += 3;
  }
}

/* What can be named is what there is. */
static void add_data(struct json_object *to, const tt_data_kind *kind) {
  char **names = tt_data_list(kind);
  for (char **name = names; name && *name; name++) {
    json_object_array_add(to, json_object_new_string(*name));
    free(*name);
  }
  free(names);
}

static void add_choices(struct json_object *key, const char *whole,
                        const cyaml_schema_value_t *schema, const fact *known,
                        const tt_help *help) {
  struct json_object *choices = tt_json_add_array(key, "choices");
  if (strcmp(whole, "scene arena") == 0)
    add_data(choices, &tt_data_arena);
  else if (strcmp(whole, "scene robots.robot") == 0)
    add_data(choices, &tt_data_robot);
  else if (schema->type == CYAML_ENUM)
    for (uint32_t i = 0; i < schema->enumeration.count; i++)
      json_object_array_add(choices, json_object_new_string(schema->enumeration.strings[i].str));
  else if (schema->type == CYAML_BOOL)
    add_words(choices, "on, off");
  else if (known && *known->words)
    add_words(choices, known->words);
  else
    add_documented(choices, help->type);
}

static void add_bound(struct json_object *key, const char *name, const fact *known, double value) {
  tt_json_add(key, name, known && isfinite(value) ? json_object_new_double(value) : NULL);
}

static const char *entries_of(const cyaml_schema_value_t *schema) {
  if (schema->type != CYAML_SEQUENCE && schema->type != CYAML_SEQUENCE_FIXED) return NULL;
  return schema->sequence.entry->type == CYAML_MAPPING ? "mapping" : "text";
}

static void add_key(void *context, const char *file, const char *path,
                    const cyaml_schema_value_t *schema) {
  const listing *in = context;
  char whole[200], unit[16];
  tt_help help;
  snprintf(whole, sizeof whole, "%s %s", file, path);
  const fact *known = find_fact(in, whole);
  const bool numbers = known && !*known->words;
  struct json_object *key = json_object_new_object();
  tt_help_find(file, path, &help);
  unit_of(known, &help, unit);
  tt_json_add_text(key, "file", file);
  tt_json_add_text(key, "path", path);
  tt_json_add_text(key, "kind", kind_of(schema, known, &help));
  tt_json_add_text(key, "entries", entries_of(schema));
  tt_json_add_bool(key, "required", !(schema->flags & CYAML_FLAG_OPTIONAL));
  tt_json_add_text(key, "unit", unit);
  add_bound(key, "lower", numbers ? known : NULL, numbers ? known->lower : 0);
  add_bound(key, "upper", numbers ? known : NULL, numbers ? known->upper : 0);
  tt_json_add_text(key, "default", strcmp(help.initial, "required") == 0 ? "" : help.initial);
  add_choices(key, whole, schema, known, &help);
  tt_json_add_text(key, "type", help.type);
  tt_json_add_text(key, "help", help.text);
  json_object_array_add(in->keys, key);
}

static void add_units(struct json_object *to) {
  struct json_object *list = tt_json_add_array(to, "units");
  for (int dimension = 0; dimension < TT_DIMENSION_COUNT; dimension++) {
    const char *names = tt_unit_names((tt_dimension)dimension);
    while (*names) {
      const size_t size = strcspn(names, ",");
      struct json_object *unit = json_object_new_object();
      char name[32];
      snprintf(name, sizeof name, "%.*s", (int)size, names);
      tt_json_add_text(unit, "name", name);
      tt_json_add_text(unit, "si", tt_unit_si((tt_dimension)dimension)->name);
      tt_json_add_double(unit, "scale", tt_unit_find(name)->scale);
      json_object_array_add(list, unit);
      names += size + strspn(names + size, ", ");
    }
  }
}

char *tt_draft_keys_json(const tt_scene_guests *guests) {
  tt_pool pool = {0};
  tt_schemas schemas;
  struct json_object *made = json_object_new_object();
  listing in = {.keys = tt_json_add_array(made, "keys")};
  char *text = NULL;
  if (made && in.keys && tt_schemas_new(guests, &pool, &schemas) == TT_OK) {
    hear_scenes(&in, guests);
    tt_keys_visit(&schemas, add_key, &in);
    add_units(made);
    text = strdup(json_object_to_json_string_ext(
        made, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
  }
  free(in.facts);
  tt_pool_free(&pool);
  json_object_put(made);
  return text;
}
