#include "record/foreign_struct.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SCHEMAS 500u
#define MOST_TEXT 10000u /* bytes of a schema */
#define MOST_DEPTH 10u
#define MOST_SIZE 65536u               /* bytes of a struct */
#define MOST_LOOKS UINT64_C(100000000) /* at schemas that wait; their texts come soon, or never */
#define MOST_STEPS 5000u               /* declarations that are looked at for one layout */

typedef struct tt_schema {
  struct tt_schema *next;
  uint32_t entry;
  char *name, *text; /* text is NULL until it comes */
} schema;

/* ---- schemas ---- */

void tt_schemas_announce(tt_schemas *schemas, uint32_t entry, const char *name, size_t size) {
  static const char before[] = "struct:";
  const char *found = memmem(name, size, before, sizeof before - 1);
  if (!found || schemas->count >= MOST_SCHEMAS) return;
  found += sizeof before - 1;
  schema *made = calloc(1, sizeof *made);
  if (!made) return;
  *made = (schema){.next = schemas->first, .entry = entry};
  made->name = strndup(found, size - (size_t)(found - name));
  schemas->first = made;
  schemas->count++;
  schemas->waiting++;
}

void tt_schemas_take(tt_schemas *schemas, uint32_t entry, const uint8_t *text, size_t size) {
  if (!schemas->waiting || schemas->looks > MOST_LOOKS) return;
  for (schema *one = schemas->first; one; one = one->next) {
    schemas->looks++;
    if (one->entry != entry || one->text) continue;
    one->text = size <= MOST_TEXT ? strndup((const char *)text, size) : strdup("");
    schemas->waiting--;
    return;
  }
}

void tt_schemas_clear(tt_schemas *schemas) {
  for (schema *one = schemas->first, *next; one; one = next) {
    next = one->next;
    free(one->name);
    free(one->text);
    free(one);
  }
  *schemas = (tt_schemas){0};
}

static const char *text_of(const tt_schemas *schemas, const char *name, size_t size) {
  for (const schema *one = schemas->first; one; one = one->next)
    if (one->name && one->text && strlen(one->name) == size && memcmp(one->name, name, size) == 0)
      return one->text;
  return NULL;
}

/* ---- what WPILib's own structs are measured in ---- */

static const struct {
  const char *of, *fields, *unit;
} units[] = {
    {"Translation2d", " x y ", "m"},
    {"Translation3d", " x y z ", "m"},
    {"Rotation2d", " value ", "rad"},
    {"Twist2d", " dx dy ", "m"},
    {"Twist2d", " dtheta ", "rad"},
    {"Twist3d", " dx dy dz ", "m"},
    {"Twist3d", " rx ry rz ", "rad"},
    {"ChassisSpeeds", " vx vy ", "m/s"},
    {"ChassisSpeeds", " omega ", "rad/s"},
    {"SwerveModuleState", " speed ", "m/s"},
    {"SwerveModulePosition", " distance ", "m"},
    {"DifferentialDriveWheelSpeeds", " left right ", "m/s"},
    {"DifferentialDriveWheelPositions", " left right ", "m"},
    {"MecanumDriveWheelSpeeds", " front_left front_right rear_left rear_right ", "m/s"},
};

typedef struct word {
  const char *at;
  size_t size;
} word;

static bool is(word one, const char *text) {
  return one.size == strlen(text) && memcmp(one.at, text, one.size) == 0;
}

static const char *unit_of(word of, word field) {
  char spaced[40];
  if (field.size + 3 > sizeof spaced) return NULL;
  snprintf(spaced, sizeof spaced, " %.*s ", (int)field.size, field.at);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (is(of, units[i].of) && strstr(units[i].fields, spaced)) return units[i].unit;
  return NULL;
}

/* ---- laying out ---- */

static const struct {
  const char *name;
  tt_struct_kind kind;
  unsigned size;
} kinds[] = {
    {"bool", TT_STRUCT_FLAG, 1},       {"int8", TT_STRUCT_SIGNED, 1},
    {"int16", TT_STRUCT_SIGNED, 2},    {"int32", TT_STRUCT_SIGNED, 4},
    {"int64", TT_STRUCT_SIGNED, 8},    {"uint8", TT_STRUCT_UNSIGNED, 1},
    {"uint16", TT_STRUCT_UNSIGNED, 2}, {"uint32", TT_STRUCT_UNSIGNED, 4},
    {"uint64", TT_STRUCT_UNSIGNED, 8}, {"float", TT_STRUCT_FLOAT, 4},
    {"float32", TT_STRUCT_FLOAT, 4},   {"double", TT_STRUCT_FLOAT, 8},
    {"float64", TT_STRUCT_FLOAT, 8},
};

typedef struct walk {
  const tt_schemas *schemas;
  tt_struct_layout *layout;
  unsigned steps;
} walk;

/* A struct in another, or the whole. */
typedef struct part {
  word name;          /* of the struct */
  const char *before; /* of the names of its numbers */
  unsigned depth;
} part;

/* One line of a schema. */
typedef struct declaration {
  word type, name;
  unsigned count; /* of an array */
  bool array;
} declaration;

static const char *skip(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}

static const char *take_word(const char *at, word *out) {
  at = skip(at);
  out->at = at;
  while (isalnum((unsigned char)*at) || *at == '_') at++;
  out->size = (size_t)(at - out->at);
  return skip(at);
}

/* What follows the names of an enum; the numbers alone are shown. */
static const char *skip_enum(const char *at) {
  word first;
  const char *after = take_word(at, &first);
  const char *list = is(first, "enum") ? after : skip(at);
  if (*list != '{') return at;
  const char *end = strchr(list, '}');
  return end ? end + 1 : list;
}

/* Gives what follows the declaration; NULL: it is malformed, or a bit-field. */
static const char *take_declaration(const char *at, declaration *out) {
  char *end;
  *out = (declaration){.count = 1};
  at = take_word(skip_enum(at), &out->type);
  at = take_word(at, &out->name);
  if (!out->type.size || !out->name.size) return NULL;
  if (*at == '[') {
    unsigned long count = strtoul(at + 1, &end, 10);
    at = skip(end);
    if (*at != ']' || count > MOST_SIZE) return NULL;
    out->count = (unsigned)count;
    out->array = true;
    at = skip(at + 1);
  }
  return *at == ';' || !*at ? at : NULL;
}

static bool name_field(const part *in, const declaration *of, unsigned i,
                       char name[TT_STRUCT_MOST_NAME]) {
  char element[16] = "";
  if (of->array) snprintf(element, sizeof element, "[%u]", i);
  int size =
      snprintf(name, TT_STRUCT_MOST_NAME, "%s%s%.*s%s", in->before, *in->before ? "/" : "",
               (int)(of->name.size < TT_STRUCT_MOST_NAME ? of->name.size : TT_STRUCT_MOST_NAME),
               of->name.at, element);
  return size > 0 && (unsigned)size < TT_STRUCT_MOST_NAME;
}

static bool is_taken(const tt_struct_layout *layout, const char *name) {
  for (unsigned i = 0; i < layout->count; i++)
    if (strcmp(layout->leaves[i].name, name) == 0) return true;
  return false;
}

static tt_status walk_struct(walk *on, const part *of);

static tt_status walk_number(walk *on, const part *in, const declaration *of, size_t kind) {
  tt_struct_layout *layout = on->layout;
  for (unsigned i = 0; i < of->count; i++) {
    tt_struct_leaf leaf = {.unit = unit_of(in->name, of->name),
                           .kind = kinds[kind].kind,
                           .offset = layout->size,
                           .size = kinds[kind].size};
    if (layout->count < TT_STRUCT_MOST_LEAVES) {
      if (!name_field(in, of, i, leaf.name) || is_taken(layout, leaf.name)) return TT_INVALID;
      layout->leaves[layout->count++] = leaf;
    }
    layout->size += leaf.size;
    if (layout->size > MOST_SIZE) return TT_INVALID;
  }
  return TT_OK;
}

static tt_status walk_field(walk *on, const part *in, const declaration *of) {
  char name[TT_STRUCT_MOST_NAME];
  if (++on->steps > MOST_STEPS) return TT_INVALID;
  if (is(of->type, "char")) { /* letters are no numbers */
    on->layout->size += of->count;
    return on->layout->size > MOST_SIZE ? TT_INVALID : TT_OK;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (is(of->type, kinds[i].name)) return walk_number(on, in, of, i);
  for (unsigned i = 0; i < of->count; i++) {
    if (!name_field(in, of, i, name)) return TT_INVALID;
    TT_TRY(walk_struct(on, &(part){of->type, name, in->depth + 1}));
  }
  return TT_OK;
}

static tt_status walk_struct(walk *on, const part *of) {
  const char *at = text_of(on->schemas, of->name.at, of->name.size);
  declaration one;
  if (!at) return TT_NOT_FOUND;
  if (of->depth > MOST_DEPTH || ++on->steps > MOST_STEPS) return TT_INVALID;
  for (at = skip(at); *at; at = skip(at)) {
    if (*at == ';') {
      at++;
      continue;
    }
    at = take_declaration(at, &one);
    if (!at) return TT_INVALID;
    TT_TRY(walk_field(on, of, &one));
  }
  return TT_OK;
}

tt_status tt_struct_lay_out(const tt_schemas *schemas, const char *name, size_t size,
                            tt_struct_layout *layout) {
  walk on = {.schemas = schemas, .layout = layout};
  *layout = (tt_struct_layout){0};
  TT_TRY(walk_struct(&on, &(part){{name, size}, "", 0}));
  return layout->count ? TT_OK : TT_INVALID;
}

/* ---- reading ---- */

double tt_struct_read(const tt_struct_leaf *leaf, const uint8_t *bytes) {
  uint64_t bits = 0;
  float single;
  double number;
  for (unsigned i = 0; i < leaf->size; i++) bits |= (uint64_t)bytes[leaf->offset + i] << (8 * i);
  unsigned unused = 64 - 8 * leaf->size;
  switch (leaf->kind) {
    case TT_STRUCT_FLAG: return bits != 0;
    case TT_STRUCT_SIGNED: return (double)((int64_t)(bits << unused) >> unused);
    case TT_STRUCT_UNSIGNED: return (double)bits;
    default: break;
  }
  if (leaf->size == 8) {
    memcpy(&number, &bits, sizeof number);
    return number;
  }
  uint32_t half = (uint32_t)bits;
  memcpy(&single, &half, sizeof single);
  return (double)single;
}
