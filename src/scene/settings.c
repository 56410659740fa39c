/* settings.c: walks schema, tree and structs of a loaded scene side by side, and lists the keys. */
#include "scene/settings.h"

#include "scene/load.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Where the walk is. */
typedef struct tt_place {
  const char *path;  /**< as --set takes it */
  const char *check; /**< as the checks of its document call it */
  const char *owner;
} tt_place;

/** Which document it walks through. */
typedef struct tt_listing {
  const tt_scene_store *store;
  tt_scene_settings *out;
  const char *document;
  int file; /**< −1: the scene's own, whose checks come between those of others */
} tt_listing;

#define TEXT(listing, target, ...)                                                                 \
  do {                                                                                             \
    (target) = tt_pool_print(&(listing)->out->pool, __VA_ARGS__);                                  \
    if (!(target)) return TT_NOMEM;                                                                \
  } while (0)

static tt_status add(const tt_listing *listing, const tt_place *place, tt_setting_kind kind,
                     tt_scene_setting **added) {
  tt_scene_settings *out = listing->out;
  if (out->count == out->capacity) {
    int capacity = out->capacity ? 2 * out->capacity : 128;
    tt_scene_setting *items = reallocarray(out->items, (size_t)capacity, sizeof *items);
    if (!items) return TT_NOMEM;
    out->items = items;
    out->capacity = capacity;
  }
  *added = &out->items[out->count++];
  **added = (tt_scene_setting){.path = place->path,
                               .owner = place->owner,
                               .unit = "",
                               .words = "",
                               .initial = "",
                               .value = "",
                               .kind = kind,
                               .lower = -INFINITY,
                               .upper = INFINITY,
                               .known = true};
  return TT_OK;
}

/* --- values as texts --- */

/** A scalar of a list as YAML has it in [ ]. */
static tt_status flow_scalar(const tt_listing *listing, const char *text, const char **made) {
  if (*text && !strpbrk(text, ",[]{}\"'#:&*!|>%@`\\") && text[strlen(text) - 1] != ' ') {
    *made = text;
    return TT_OK;
  }
  TEXT(listing, *made, "%s", "\"");
  for (; *text; text++) {
    const bool control = (unsigned char)*text < ' ' || *text == 0x7f;
    const char *escape = control ? "\\x" : *text == '"' || *text == '\\' ? "\\" : "";
    if (control)
      TEXT(listing, *made, "%s%s%02x", *made, escape, (unsigned)*text);
    else
      TEXT(listing, *made, "%s%s%c", *made, escape, *text);
  }
  TEXT(listing, *made, "%s\"", *made);
  return TT_OK;
}

static tt_status flow_list(const tt_listing *listing, const tt_node *node, const char **made) {
  const char *list = "[", *scalar;
  for (int i = 0; i < node->child_count; i++) {
    TT_TRY(flow_scalar(listing, node->children[i]->text, &scalar));
    TEXT(listing, list, "%s%s%s", list, i ? ", " : "", scalar);
  }
  TEXT(listing, *made, "%s]", list);
  return TT_OK;
}

/** What stands in a struct, of a key that nothing was told of: 0 where it was left out. */
static tt_status number_in(const tt_listing *listing, const cyaml_schema_value_t *schema,
                           const void *data, const char **made) {
  uint64_t bits = 0;
  double number;
  if (!data || schema->data_size > sizeof bits) return TT_OK;
  memcpy(&bits, data, schema->data_size);
  if (schema->type != CYAML_FLOAT) {
    TEXT(listing, *made, "%" PRIu64, bits);
  } else if (schema->data_size == sizeof number) {
    memcpy(&number, data, sizeof number);
    TEXT(listing, *made, "%.15g", number);
  }
  return TT_OK;
}

static tt_setting_kind kind_of(const cyaml_schema_value_t *schema, const tt_known_key *known) {
  switch (schema->type) {
    case CYAML_BOOL: return TT_SETTING_FLAG;
    case CYAML_ENUM: return TT_SETTING_WORD;
    case CYAML_INT:
    case CYAML_UINT: return TT_SETTING_COUNT;
    case CYAML_FLOAT: return TT_SETTING_NUMBER;
    default: break;
  }
  if (known && known->words) return TT_SETTING_WORD;
  return known && known->is_quantity ? TT_SETTING_QUANTITY : TT_SETTING_TEXT;
}

static tt_status enumerate(const tt_listing *listing, const cyaml_schema_value_t *schema,
                           tt_scene_setting *setting) {
  for (uint32_t i = 0; i < schema->enumeration.count; i++)
    TEXT(listing, setting->words, "%s%s%s", setting->words, i ? ", " : "",
         schema->enumeration.strings[i].str);
  setting->initial = schema->enumeration.strings[0].str;
  return TT_OK;
}

static void bound_integer(const cyaml_schema_value_t *schema, tt_scene_setting *setting) {
  const int bits = 8 * (int)schema->data_size;
  setting->lower = schema->type == CYAML_UINT ? 0 : -ldexp(1, bits - 1);
  setting->upper = ldexp(1, schema->type == CYAML_UINT ? bits : bits - 1) - 1;
}

/** What the checks told. */
static tt_status take_known(const tt_listing *listing, const tt_known_key *known,
                            tt_scene_setting *setting) {
  const bool has_unit = known->is_quantity && known->dimension < TT_DIMENSION_COUNT;
  const char *unit = has_unit ? tt_unit_si(known->dimension)->name : "";
  if (known->words) setting->words = known->words;
  if (known->word) setting->initial = known->word;
  if (known->words || (!known->is_quantity && known->lower == 0 && known->upper == 0)) return TT_OK;
  setting->unit = unit;
  setting->lower = known->lower;
  setting->upper = known->upper;
  /* One out of range stands for none. */
  if (known->fallback >= known->lower && known->fallback <= known->upper && !known->word)
    TEXT(listing, setting->initial, "%.15g%s%s", known->fallback, *unit ? " " : "", unit);
  return TT_OK;
}

/** A key with a plain value. `data` is where it stands in its struct (NULL: not there). */
static tt_status list_scalar(const tt_listing *listing, const tt_place *place,
                             const cyaml_schema_value_t *schema, const tt_node *node,
                             const void *data) {
  const tt_known_keys *told = &listing->store->known;
  const tt_known_key *known =
      tt_known_keys_find(told, listing->document, place->check, listing->file);
  const bool pointer = schema->flags & CYAML_FLAG_POINTER;
  tt_scene_setting *setting;
  if (!data && !known) return TT_OK; /* of a mapping that is not there, and that no check takes */
  TT_TRY(add(listing, place, kind_of(schema, known), &setting));
  if (schema->type == CYAML_ENUM) TT_TRY(enumerate(listing, schema, setting));
  if (setting->kind == TT_SETTING_COUNT) bound_integer(schema, setting);
  if (schema->type == CYAML_BOOL && !pointer) setting->initial = "off";
  if (known)
    TT_TRY(take_known(listing, known, setting));
  else if (!node && !pointer && schema->type != CYAML_BOOL && schema->type != CYAML_ENUM)
    TT_TRY(number_in(listing, schema, data, &setting->initial));
  const char *standard = pointer ? tt_known_keys_default(told, data) : NULL;
  if (standard) setting->initial = standard;
  setting->value = node ? node->text : setting->initial;
  return TT_OK;
}

/* --- the walk --- */

static tt_status list_mapping(const tt_listing *listing, const tt_place *place,
                              const cyaml_schema_field_t *fields, const tt_node *node,
                              const void *data, const cyaml_schema_value_t *but);

static bool is_wires(const tt_place *place) { return strcmp(place->path, "wires") == 0; }

/** An element of a list of mappings, with its own name in paths. */
static tt_status list_element(const tt_listing *listing, const tt_place *list,
                              const cyaml_schema_value_t *entry, const tt_node *sequence, int index,
                              const void *data) {
  char name[256];
  const tt_node *element = sequence->children[index];
  tt_place place = {.owner = list->owner};
  tt_node_element_path(sequence, index, name, sizeof name);
  TEXT(listing, place.path, "%s%s%s", list->path, *name == '[' ? "" : ".", name);
  TEXT(listing, place.check, "%s[%d]", list->check, index);
  if (element->bare) { /* --set finds a plain value there */
    tt_scene_setting *setting;
    TT_TRY(add(listing, &place, TT_SETTING_TEXT, &setting));
    setting->value = element->children[0]->text;
    return TT_OK;
  }
  if (!*list->owner) place.owner = place.path;
  if (!is_wires(list))
    return list_mapping(listing, &place, entry->mapping.fields, element, data, NULL);
  place.check = place.path;
  for (const cyaml_schema_field_t *field = entry->mapping.fields; field->key; field++) {
    const tt_node *body = tt_node_child(element, field->key);
    if (body)
      TT_TRY(list_mapping(listing, &place, field->value.mapping.fields, body,
                          *(void *const *)((const char *)data + field->data_offset), NULL));
  }
  return TT_OK;
}

static tt_status list_sequence(const tt_listing *listing, const tt_place *place,
                               const cyaml_schema_value_t *schema, const tt_node *node,
                               const char *items) {
  const cyaml_schema_value_t *entry = schema->sequence.entry;
  tt_scene_setting *setting;
  if (entry->type != CYAML_MAPPING) {
    TT_TRY(add(listing, place, TT_SETTING_LIST, &setting));
    return node ? flow_list(listing, node, &setting->value) : TT_OK;
  }
  for (int i = 0; node && i < node->child_count; i++)
    TT_TRY(list_element(listing, place, entry, node, i,
                        items ? items + (size_t)i * entry->data_size : NULL));
  return TT_OK;
}

/* --- sections that nobody here knows --- */

static tt_status list_unknown(const tt_listing *listing, const tt_place *place,
                              const tt_node *node) {
  const bool scalars = node->kind == TT_NODE_SEQUENCE && node->child_count > 0 &&
                       node->children[0]->kind == TT_NODE_SCALAR;
  if (node->kind == TT_NODE_SCALAR || scalars) {
    tt_scene_setting *setting;
    for (int i = 0; scalars && i < node->child_count; i++)
      if (node->children[i]->kind != TT_NODE_SCALAR)
        return TT_OK; /* of both kinds: no value to show */
    TT_TRY(add(listing, place, scalars ? TT_SETTING_LIST : TT_SETTING_TEXT, &setting));
    setting->known = false;
    if (scalars) return flow_list(listing, node, &setting->value);
    setting->value = node->text;
    return TT_OK;
  }
  for (int i = 0; i < node->child_count; i++) {
    const tt_node *child = node->children[i];
    tt_place deeper = {.check = "", .owner = place->owner};
    if (node->kind == TT_NODE_MAPPING) {
      TEXT(listing, deeper.path, "%s.%s", place->path, child->key);
    } else {
      char name[256];
      tt_node_element_path(node, i, name, sizeof name);
      TEXT(listing, deeper.path, "%s%s%s", place->path, *name == '[' ? "" : ".", name);
      if (is_wires(place)) deeper.owner = deeper.path;
      if (is_wires(place) && child->child_count == 1) child = child->children[0];
    }
    TT_TRY(list_unknown(listing, &deeper, child));
  }
  return TT_OK;
}

static bool has_key(const cyaml_schema_value_t *mapping, const char *key) {
  if (!mapping) return false;
  for (const cyaml_schema_field_t *field = mapping->mapping.fields; field->key; field++)
    if (!strcmp(field->key, key)) return true;
  return false;
}

static tt_status list_field(const tt_listing *listing, const tt_place *parent,
                            const cyaml_schema_field_t *field, const tt_node *node,
                            const void *data) {
  const cyaml_schema_value_t *schema = &field->value;
  tt_place place = {.owner = parent->owner};
  TEXT(listing, place.path, "%s%s%s", parent->path, *parent->path ? "." : "", field->key);
  TEXT(listing, place.check, "%s%s%s", parent->check, *parent->check ? "." : "", field->key);
  if (!*place.owner && (schema->type == CYAML_MAPPING || schema->type == CYAML_IGNORE))
    place.owner = place.path;
  const char *at = data ? (const char *)data + field->data_offset : NULL;
  const bool follow = at && schema->flags & CYAML_FLAG_POINTER;
  switch (schema->type) {
    case CYAML_IGNORE: /* `models` are values of the compiled models */
      return node && strcmp(field->key, "models") != 0 ? list_unknown(listing, &place, node)
                                                       : TT_OK;
    case CYAML_MAPPING:
      return list_mapping(listing, &place, schema->mapping.fields, node,
                          follow ? *(void *const *)at : at, NULL);
    case CYAML_SEQUENCE:
    case CYAML_SEQUENCE_FIXED:
      return list_sequence(listing, &place, schema, node, follow ? *(char *const *)at : at);
    default: return list_scalar(listing, &place, schema, node, at);
  }
}

/** `but`: keys that another mapping has first; NULL: none. */
static tt_status list_mapping(const tt_listing *listing, const tt_place *place,
                              const cyaml_schema_field_t *fields, const tt_node *node,
                              const void *data, const cyaml_schema_value_t *but) {
  for (const cyaml_schema_field_t *field = fields; field->key; field++) {
    const tt_node *child = node ? tt_node_child(node, field->key) : NULL;
    if (!has_key(but, field->key)) TT_TRY(list_field(listing, place, field, child, data));
  }
  return TT_OK;
}

/** The keys of the robots' own files, which stand below the robots' in paths. */
static tt_status list_robots(const tt_scene_store *store, tt_scene_settings *settings) {
  const tt_scene *scene = &store->scene;
  const tt_node *robots = tt_node_child(store->files[0].document->root, "robots");
  const cyaml_schema_value_t *entry = NULL;
  int file = store->file_count;
  for (const cyaml_schema_field_t *field = store->schemas.scene->mapping.fields; field->key;
       field++)
    if (!strcmp(field->key, "robots")) entry = field->value.sequence.entry;
  for (int i = 0; i < scene->robot_count; i++) file -= scene->robots[i].file != NULL;
  for (int i = 0; i < scene->robot_count; i++) {
    if (!scene->robots[i].file) continue;
    const tt_loaded *loaded = &store->files[file];
    tt_listing listing = {store, settings, loaded->document->path, file++};
    char name[256];
    tt_place place = {.check = ""};
    tt_node_element_path(robots, i, name, sizeof name);
    TEXT(&listing, place.path, "robots%s%s", *name == '[' ? "" : ".", name);
    place.owner = place.path;
    TT_TRY(list_mapping(&listing, &place, loaded->schema->mapping.fields, loaded->document->root,
                        loaded->keys, entry));
  }
  return TT_OK;
}

tt_status tt_scene_settings_list(const tt_scene *scene, tt_scene_settings *settings) {
  const tt_scene_store *store = (const tt_scene_store *)scene;
  const tt_loaded *own = &store->files[0];
  const tt_place top = {.path = "", .check = "", .owner = ""};
  *settings = (tt_scene_settings){0};
  tt_listing listing = {store, settings, own->document->path, -1};
  tt_status status = store->known.failed ? TT_NOMEM : TT_OK;
  if (status == TT_OK)
    status = list_mapping(&listing, &top, own->schema->mapping.fields, own->document->root,
                          own->keys, NULL);
  if (status == TT_OK) status = list_robots(store, settings);
  if (status != TT_OK) tt_scene_settings_free(settings);
  return status;
}

void tt_scene_settings_free(tt_scene_settings *settings) {
  tt_pool_free(&settings->pool);
  free(settings->items);
  *settings = (tt_scene_settings){0};
}
