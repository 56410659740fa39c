/* codec.c: the JSON messages between joystick, core and vehicle. See codec.h. */
#include "sharp/codec.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define SPEED -TT_SHARP_FULL, TT_SHARP_FULL, 4, "/512"
#define BUTTON 0, 1, 1, ""
#define ENCODER 0, TT_SHARP_TICKS - 1, 4, "/1024"

static const tt_sharp_key joystick_keys[] = {
    {"leftJoystick", true, 2, SPEED}, {"rightJoystick", true, 2, SPEED},
    {"dpad", true, 4, BUTTON},        {"buttons", true, 4, BUTTON},
    {"back", false, 1, BUTTON},       {"select", false, 1, BUTTON},
    {"start", false, 1, BUTTON},
};
static const tt_sharp_key command_keys[] = {
    {"leftDriveMotorSpeed", false, 1, SPEED},
    {"rightDriveMotorSpeed", false, 1, SPEED},
    {"elevatorMotorSpeed", false, 1, SPEED},
    {"back", false, 1, BUTTON},
    {"guide", false, 1, BUTTON},
    {"start", false, 1, BUTTON},
};
static const tt_sharp_key state_keys[] = {
    {"leftDriveEncoder", false, 1, ENCODER},
    {"rightDriveEncoder", false, 1, ENCODER},
    {"elevatorEncoder", false, 1, ENCODER},
};

static const tt_sharp_alias joystick_aliases[] = {
    {"a", TT_JOYSTICK_A}, {"b", TT_JOYSTICK_B},          {"x", TT_JOYSTICK_X},
    {"y", TT_JOYSTICK_Y}, {"guide", TT_JOYSTICK_SELECT},
};
static const tt_sharp_alias command_aliases[] = {
    {"timerStartStop", TT_SHARP_START},
    {"reset", TT_SHARP_GUIDE},
};

const tt_sharp_format tt_sharp_joystick_format = {.name = "joystick message",
                                                  .keys = joystick_keys,
                                                  .key_count = COUNT(joystick_keys),
                                                  .value_count = TT_JOYSTICK_VALUES,
                                                  .aliases = joystick_aliases,
                                                  .alias_count = COUNT(joystick_aliases)};
const tt_sharp_format tt_sharp_command_format = {.name = "vehicle command",
                                                 .keys = command_keys,
                                                 .key_count = COUNT(command_keys),
                                                 .value_count = TT_SHARP_COMMAND_VALUES,
                                                 .aliases = command_aliases,
                                                 .alias_count = COUNT(command_aliases)};
const tt_sharp_format tt_sharp_state_format = {.name = "vehicle state",
                                               .keys = state_keys,
                                               .key_count = COUNT(state_keys),
                                               .value_count = TT_SHARP_STATE_VALUES};
const tt_sharp_format tt_sharp_heartbeat_format = {.name = "heartbeat"};

const tt_sharp_alias *tt_sharp_alias_of(const tt_sharp_format *format, int value) {
  for (int i = 0; i < format->alias_count; i++)
    if (format->aliases[i].value == value) return &format->aliases[i];
  return NULL;
}

bool tt_sharp_style_parse(const char *text, tt_sharp_style *style) {
  if (strcmp(text, "columns") == 0) {
    *style = TT_SHARP_COLUMNS;
  } else if (strcmp(text, "json") == 0) {
    *style = TT_SHARP_JSON;
  } else {
    return false;
  }
  return true;
}

/* --- out --- */

/** Text that grows; TT_SHARP_MAX_TEXT holds the longest message of the tables above. */
typedef struct writer {
  char *text;
  size_t size;
} writer;

static void put(writer *writer, const char *text) {
  size_t length = strlen(text);
  memcpy(writer->text + writer->size, text, length + 1);
  writer->size += length;
}

static void put_number(writer *writer, tt_sharp_style style, const tt_sharp_key *key, int value) {
  char digits[16];
  int clamped = value < key->lower ? key->lower : value > key->upper ? key->upper : value;
  snprintf(digits, sizeof digits, "%0*d", style == TT_SHARP_COLUMNS ? key->digits : 1, clamped);
  put(writer, digits);
}

size_t tt_sharp_encode(const tt_sharp_format *format, tt_sharp_style style, const int *values,
                       char *text) {
  const char *quote = style == TT_SHARP_COLUMNS ? "'" : "\"";
  writer writer = {text, 0};
  int index = 0;
  put(&writer, "{");
  for (int k = 0; k < format->key_count; k++) {
    const tt_sharp_key *key = &format->keys[k];
    put(&writer, k > 0 ? ", " : " ");
    put(&writer, quote);
    put(&writer, key->name);
    put(&writer, quote);
    put(&writer, key->array ? ": [ " : ": ");
    for (int i = 0; i < key->count; i++, index++) {
      if (i > 0) put(&writer, ", ");
      put_number(&writer, style, key, values[index]);
    }
    if (key->array) put(&writer, " ]");
  }
  put(&writer, format->key_count > 0 ? " }" : "}");
  return writer.size;
}

/* --- in --- */

/** The message as a tree that the caller releases, or NULL with `fault` filled. */
static json_object *parse(const uint8_t *bytes, size_t size, tt_refusal *fault) {
  if (size > TT_SHARP_MAX_DATAGRAM) {
    tt_refuse(fault, TT_DROP_LENGTH, "%zu bytes; at most %d are read", size, TT_SHARP_MAX_DATAGRAM);
    return NULL;
  }
  while (size > 0 && bytes[size - 1] == '\0') size--; /* C programs send the end of their texts */
  json_object *tree;
  tt_error error;
  tt_status status = tt_json_read((const char *)bytes, size, TT_JSON_TOLERANT, &tree, &error);
  if (status != TT_OK)
    tt_refuse(fault, status == TT_NOMEM ? TT_DROP_OVERFLOW : TT_DROP_SYNTAX, "%s", error.text);
  return tree;
}

/** One number; a fraction is rounded, as from a sender that computes in floating point. */
static tt_status read_number(const tt_sharp_key *key, int index, json_object *value, int *number,
                             tt_refusal *fault) {
  if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_double)) {
    return tt_refuse(fault, TT_DROP_SYNTAX, "%s[%d] is not a number", key->name, index);
  }
  double real = json_object_get_double(value);
  if (!isfinite(real)) {
    return tt_refuse(fault, TT_DROP_NON_FINITE, "%s[%d] is %g", key->name, index, real);
  }
  double rounded = nearbyint(real);
  if (rounded < key->lower || rounded > key->upper) {
    return tt_refuse(fault, TT_DROP_RANGE, "%s[%d] is %.12g, not in %d…%d", key->name, index, real,
                     key->lower, key->upper);
  }
  *number = (int)rounded;
  return TT_OK;
}

static tt_status read_key(const tt_sharp_key *key, json_object *value, int *numbers,
                          tt_refusal *fault) {
  if (!key->array) return read_number(key, 0, value, numbers, fault);
  if (!json_object_is_type(value, json_type_array) ||
      json_object_array_length(value) != (size_t)key->count) {
    return tt_refuse(fault, TT_DROP_SYNTAX, "%s is not an array of %d numbers", key->name,
                     key->count);
  }
  for (int i = 0; i < key->count; i++) {
    TT_TRY(read_number(key, i, json_object_array_get_idx(value, (size_t)i), &numbers[i], fault));
  }
  return TT_OK;
}

/** A flag under its other names: where its key is missing the alias sets it, else it can only add to it. */
static tt_status read_aliases(const tt_sharp_format *format, int first, int count, bool found,
                              json_object *tree, int *numbers, tt_refusal *fault) {
  for (int i = 0; i < count; i++) {
    const tt_sharp_alias *alias = tt_sharp_alias_of(format, first + i);
    json_object *value;
    int flag;
    if (alias == NULL || !json_object_object_get_ex(tree, alias->name, &value)) continue;
    const tt_sharp_key key = {alias->name, false, 1, BUTTON};
    TT_TRY(read_number(&key, 0, value, &flag, fault));
    numbers[i] = flag || (found && numbers[i]);
  }
  return TT_OK;
}

static tt_status read_keys(const tt_sharp_format *format, json_object *tree, int *values,
                           tt_refusal *fault) {
  int read[TT_SHARP_MAX_VALUES];
  memcpy(read, values, (size_t)format->value_count * sizeof *values);
  int index = 0;
  for (int k = 0; k < format->key_count; k++) {
    const tt_sharp_key *key = &format->keys[k];
    json_object *value;
    bool found = json_object_object_get_ex(tree, key->name, &value);
    if (found) TT_TRY(read_key(key, value, &read[index], fault));
    TT_TRY(read_aliases(format, index, key->count, found, tree, &read[index], fault));
    index += key->count;
  }
  memcpy(values, read, (size_t)format->value_count * sizeof *values);
  return TT_OK;
}

static bool is_known(const tt_sharp_format *format, const char *name) {
  for (int i = 0; i < format->key_count; i++)
    if (strcmp(format->keys[i].name, name) == 0) return true;
  for (int i = 0; i < format->alias_count; i++)
    if (strcmp(format->aliases[i].name, name) == 0) return true;
  return false;
}

static void list_unknown(const tt_sharp_format *format, json_object *tree, char *unknown) {
  size_t used = 0;
  unknown[0] = '\0';
  json_object_object_foreach(tree, name, value) {
    (void)value;
    if (is_known(format, name) || used >= TT_SHARP_UNKNOWN_TEXT) continue;
    used += (size_t)snprintf(unknown + used, TT_SHARP_UNKNOWN_TEXT - used, "%s%s",
                             used > 0 ? ", " : "", name);
  }
}

tt_status tt_sharp_decode(const tt_sharp_format *format, const uint8_t *bytes, size_t size,
                          int *values, char *unknown, tt_refusal *fault) {
  json_object *tree = parse(bytes, size, fault);
  if (tree == NULL) return TT_BAD_MESSAGE;
  tt_status status = read_keys(format, tree, values, fault);
  if (unknown != NULL) list_unknown(format, tree, unknown);
  json_object_put(tree);
  return status;
}
