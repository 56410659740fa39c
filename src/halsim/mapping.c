/* mapping.c: the list `devices` of a scene, checked and resolved. */
#include "halsim/mapping.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FREE_FALL 9.80665  /* m/s² */
#define MOST_OF_A_DEVICE 4 /* values that one entry may stand for */

#define TEXT(name, longest)                                                                        \
  CYAML_FIELD_STRING_PTR(#name, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_halsim_entry, name,   \
                         0, longest)
static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("type", CYAML_FLAG_POINTER, tt_halsim_entry, type, 1,
                           TT_HALSIM_NAME - 1),
    TEXT(device, TT_HALSIM_NAME - 1),
    TEXT(key, TT_HALSIM_NAME - 1),
    TEXT(command, 256),
    TEXT(signal, 256),
    TEXT(unit, 32),
    CYAML_FIELD_FLOAT_PTR("scale", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_halsim_entry,
                          given_scale),
    CYAML_FIELD_FLOAT("offset", CYAML_FLAG_OPTIONAL, tt_halsim_entry, offset),
    CYAML_FIELD_BOOL("inverted", CYAML_FLAG_OPTIONAL, tt_halsim_entry, inverted),
    CYAML_FIELD_END,
};

const cyaml_schema_value_t tt_halsim_entry_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_halsim_entry, fields),
};

/* --- checking --- */

static bool is_none(const char *name) { return strcmp(name, "none") == 0; }

/* Free fall is a unit of accelerometers alone: elsewhere "g" is a mass. */
static bool find_unit(const char *name, tt_dimension *dimension, double *si) {
  const tt_unit *unit = tt_unit_find(name);
  *dimension = unit ? unit->dimension : TT_ACCELERATION;
  *si = unit ? unit->scale : FREE_FALL;
  return unit || strcmp(name, "g0") == 0;
}

/* A line that no program could ever meet would be one that seems to work. */
static tt_status check_device(const tt_halsim_entry *entry, const char *where, tt_error *error) {
  const char *form;
  if (!tt_halsim_is_device(entry->type, entry->device, &form))
    return tt_fail(error, TT_INVALID, "%s: '%s' is not the device of a %s, which is %s", where,
                   entry->device, entry->type, form);
  if (entry->key && tt_halsim_prefix(entry->key)) return TT_OK;
  const tt_halsim_known *known = tt_halsim_find(entry->type, entry->device, entry->key);
  if (!known || strcmp(known->prefix, "<>") == 0 || (known->prefix[0] == '<') == !entry->signal)
    return TT_OK;
  return tt_fail(
      error, TT_INVALID, "%s: '%s' of %s is what the program %s: give a %s instead of '%s'", where,
      known->key, entry->type, entry->signal ? "gives" : "reads",
      entry->signal ? "command" : "signal", entry->signal ? entry->signal : entry->command);
}

static tt_status check_entry(tt_halsim_entry *entry, const char *where, tt_error *error) {
  tt_dimension dimension;
  double si;
  TT_TRY(tt_default_string(&entry->device, "", error));
  if (!entry->command == !entry->signal)
    return tt_fail(error, TT_INVALID,
                   "%s: give either a command, which the program drives, or a signal, which it "
                   "reads; `none` for a device that means nothing here",
                   where);
  bool known = tt_halsim_find(entry->type, entry->device, NULL) != NULL;
  tt_nearest nearest;
  if (!known && !entry->key && !is_none(entry->command ? entry->command : entry->signal))
    return tt_fail(error, TT_INVALID,
                   "%s: '%s' has no value that goes without saying; name one with `key`%s", where,
                   entry->type,
                   tt_halsim_is_type(entry->type, &nearest) ? "" : tt_nearest_hint(&nearest));
  if (!is_none(entry->command ? entry->command : entry->signal))
    TT_TRY(check_device(entry, where, error));
  if (entry->unit && !find_unit(entry->unit, &dimension, &si))
    return tt_unit_refuse(entry->unit, where, error);
  entry->scale = entry->given_scale ? *entry->given_scale : 1;
  if (entry->scale == 0 || !isfinite(entry->scale) || !isfinite(entry->offset))
    return tt_fail(error, TT_INVALID, "%s: scale and offset must be finite, and scale not 0",
                   where);
  return TT_OK;
}

static const char *key_of(const tt_halsim_entry *entry) { return entry->key ? entry->key : ""; }

static bool means_the_same(const tt_halsim_entry *a, const tt_halsim_entry *b) {
  return strcmp(a->type, b->type) == 0 && strcmp(a->device, b->device) == 0 &&
         strcmp(key_of(a), key_of(b)) == 0;
}

tt_status tt_halsim_entries_check(tt_halsim_entry *entries, unsigned count, const char *where,
                                  tt_error *error) {
  for (unsigned i = 0; i < count; i++) {
    char place[512];
    snprintf(place, sizeof place, "%s.devices[%u]", where, i);
    TT_TRY(check_entry(&entries[i], place, error));
    for (unsigned j = 0; j < i; j++)
      if (means_the_same(&entries[i], &entries[j]))
        return tt_fail(error, TT_INVALID, "%s: %s %s stands in the list twice", place,
                       entries[i].type, entries[i].device);
  }
  return TT_OK;
}

/* --- resolving --- */

typedef struct resolver {
  const tt_names *names;
  const tt_model *model;
  int robot;
  char where[512]; /* the entry */
  tt_halsim_map *map;
  tt_error *error;
} resolver;

/* The unit of a value: the scene's, else the type's own where it measures the same. */
static tt_status settle_unit(const resolver *with, const tt_halsim_entry *entry,
                             const tt_halsim_known *known, tt_dimension dimension,
                             tt_halsim_line *line) {
  const char *name = entry->unit ? entry->unit : known ? known->unit : NULL;
  tt_dimension measured = dimension;
  line->unit = 1;
  line->unit_name = tt_unit_si(dimension)->name;
  if (!name || (dimension == TT_DIMENSIONLESS && !entry->unit)) return TT_OK;
  find_unit(name, &measured, &line->unit);
  line->unit_name = name;
  if (measured == dimension) return TT_OK;
  return tt_fail(with->error, TT_INVALID,
                 "%s.unit: '%s' does not measure %s; give one of %s, and with `scale` how many the "
                 "device counts in it",
                 with->where, name, line->name, tt_unit_names(dimension));
}

static void begin_line(const tt_halsim_entry *entry, const tt_halsim_known *known,
                       tt_halsim_line *line) {
  int prefix = entry->key ? tt_halsim_prefix(entry->key) : 0;
  static const char *const prefixes[] = {"<", "<>"};
  *line = (tt_halsim_line){.type = entry->type, .device = entry->device, .command = -1};
  line->key = entry->key ? entry->key + prefix : known ? known->key : "";
  line->prefix = known ? known->prefix : NULL;
  if (prefix) line->prefix = entry->key[0] == '>' ? ">" : prefixes[prefix - 1];
  line->sort = known ? known->sort : TT_HALSIM_NOTHING;
  line->unit = 1;
  line->offset = entry->offset;
  line->inverted = entry->inverted && line->sort == TT_HALSIM_FLAG;
  double sign = known ? known->sign : 1;
  if (entry->inverted && line->sort != TT_HALSIM_FLAG) sign = -sign;
  line->scale = entry->scale * sign;
  line->name = entry->command ? entry->command : entry->signal;
  line->unit_name = "";
}

static void own(tt_halsim_map *map, int command) {
  for (int i = 0; i < map->command_count; i++)
    if (map->commands[i] == command) return;
  map->commands[map->command_count++] = command;
}

static tt_status resolve_command(const resolver *with, const tt_halsim_entry *entry,
                                 const tt_halsim_known *known, tt_halsim_line *line) {
  TT_TRY(tt_names_find_command(with->names, entry->command, with->robot, with->where,
                               &line->command, with->error));
  const tt_command *command = &with->model->commands[line->command];
  line->lower = command->lower;
  line->upper = command->upper;
  own(with->map, line->command);
  return settle_unit(with, entry, known, command->dimension, line);
}

/* `name`, or where there is no such signal `name` with the value's suffix: gyro.angle for a gyro's angle. */
static tt_status find_signal(const resolver *with, const char *name, const char *suffix,
                             tt_signal *signal, tt_error *error) {
  char whole[300];
  snprintf(whole, sizeof whole, "%s%s", name, suffix ? suffix : "");
  if (suffix &&
      tt_names_find_signal(with->names, whole, with->robot, with->where, signal, NULL) == TT_OK)
    return TT_OK;
  return tt_names_find_signal(with->names, name, with->robot, with->where, signal, error);
}

/* The signal that says how fast another changes, if there is one. */
static bool find_rate(const resolver *with, const char *name, const tt_signal *of,
                      tt_signal *rate) {
  *rate = *of;
  if (of->source == TT_SIGNAL_JOINT_POSITION) {
    rate->source = TT_SIGNAL_JOINT_VELOCITY;
    return true;
  }
  if (of->source == TT_SIGNAL_BODY_HEADING) {
    rate->source = TT_SIGNAL_BODY_YAW_RATE;
    return true;
  }
  char whole[300];
  const char *dot = strrchr(name, '.');
  int stem = dot && strcmp(dot, ".angle") == 0 ? (int)(dot - name) : (int)strlen(name);
  snprintf(whole, sizeof whole, "%.*s.rate", stem, name);
  return tt_names_find_signal(with->names, whole, with->robot, with->where, rate, NULL) == TT_OK;
}

static tt_status resolve_signal(const resolver *with, const tt_halsim_entry *entry,
                                const tt_halsim_known *known, tt_halsim_line *line) {
  bool changes =
      known && !entry->key && (known->sense == TT_HALSIM_RATE || known->sense == TT_HALSIM_PERIOD);
  const tt_halsim_known *base = changes ? known - 1 : known; /* what it is the rate of */
  line->reads = true;
  line->sense = known ? known->sense : TT_HALSIM_PLAIN;
  if (line->sense == TT_HALSIM_PRESENT) return TT_OK;
  TT_TRY(find_signal(with, entry->signal, base ? base->suffix : NULL, &line->signal, with->error));
  line->has_rate = changes && find_rate(with, entry->signal, &line->signal, &line->rate);
  if (!changes && (line->sense == TT_HALSIM_RATE || line->sense == TT_HALSIM_PERIOD)) {
    line->rate = line->signal; /* named by its key: the signal is the rate itself */
    line->has_rate = true;
  }
  TT_TRY(settle_unit(with, entry, base, line->signal.dimension, line));
  if (line->sense == TT_HALSIM_RATE || line->sense == TT_HALSIM_PERIOD) line->offset = 0;
  return TT_OK;
}

/* An accelerometer of one axis has no other; what is made of the same signal always comes along. */
static bool comes_along(const resolver *with, const tt_halsim_entry *entry,
                        const tt_halsim_known *known) {
  char whole[300];
  tt_signal signal;
  if (known->sense != TT_HALSIM_PLAIN) return true;
  snprintf(whole, sizeof whole, "%s%s", entry->signal, known->suffix);
  return tt_names_find_signal(with->names, whole, with->robot, with->where, &signal, NULL) == TT_OK;
}

static tt_status resolve_entry(const resolver *with, const tt_halsim_entry *entry) {
  const char *key = entry->key ? entry->key + tt_halsim_prefix(entry->key) : NULL;
  const tt_halsim_known *known = tt_halsim_find(entry->type, entry->device, key);
  if (is_none(entry->command ? entry->command : entry->signal)) {
    begin_line(entry, known, &with->map->lines[with->map->count++]);
    return TT_OK;
  }
  do {
    tt_halsim_line *line = &with->map->lines[with->map->count++];
    begin_line(entry, known, line);
    TT_TRY(entry->command ? resolve_command(with, entry, known, line)
                          : resolve_signal(with, entry, known, line));
    known = entry->command || key ? NULL : tt_halsim_next(known);
  } while (known && comes_along(with, entry, known));
  return TT_OK;
}

/* A robot program has one driver station: of robots that are not its wire's it would not hear that they are disabled. */
static tt_status check_robot(const tt_model *model, int robot, const char *where, tt_error *error) {
  if (robot != TT_NO_ROBOT || model->robot_count < 2) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "%s: a robot program drives one robot, and here are %d: give it `robot: %s`, and "
                 "each of the others a wire of its own",
                 where, model->robot_count, model->robots[0].name);
}

tt_status tt_halsim_map_resolve(const tt_halsim_entry *entries, unsigned count,
                                const tt_names *names, const tt_model *model, int robot,
                                const char *where, tt_halsim_map *map, tt_error *error) {
  TT_TRY(check_robot(model, robot, where, error));
  *map = (tt_halsim_map){.lines = calloc((size_t)count * MOST_OF_A_DEVICE + 1, sizeof *map->lines),
                         .commands = calloc((size_t)count + 1, sizeof *map->commands)};
  resolver with = {.names = names, .model = model, .robot = robot, .map = map, .error = error};
  tt_status status = TT_OK;
  if (!map->lines || !map->commands) status = tt_fail(error, TT_NOMEM, "out of memory");
  for (unsigned i = 0; i < count && status == TT_OK; i++) {
    snprintf(with.where, sizeof with.where, "%s.devices[%u]", where, i);
    status = resolve_entry(&with, &entries[i]);
  }
  if (status != TT_OK) tt_halsim_map_clear(map);
  return status;
}

void tt_halsim_map_clear(tt_halsim_map *map) {
  free(map->lines);
  free(map->commands);
  *map = (tt_halsim_map){.lines = NULL};
}

/* --- converting --- */

double tt_halsim_from_si(const tt_halsim_line *line, double si) {
  double value = si / line->unit * line->scale + line->offset;
  return line->inverted ? value < 0.5 : value;
}

double tt_halsim_to_si(const tt_halsim_line *line, double value) {
  if (line->inverted) value = value < 0.5;
  return (value - line->offset) / line->scale * line->unit;
}

/* --- for people --- */

void tt_halsim_map_print(const tt_halsim_map *map, FILE *to) {
  for (int i = 0; i < map->count; i++) {
    const tt_halsim_line *line = &map->lines[i];
    char device[3 * TT_HALSIM_NAME];
    snprintf(device, sizeof device, "%s %s %s%s", line->type, line->device,
             line->prefix ? line->prefix : "", line->key);
    tt_print(to, "      %-36s %s %-28s", device, line->reads ? "←" : "→", line->name);
    if (line->sense == TT_HALSIM_RATE || line->sense == TT_HALSIM_PERIOD)
      tt_print(to, " %s", line->sense == TT_HALSIM_RATE ? "its rate" : "s a count");
    else if (line->sense != TT_HALSIM_PRESENT && *line->unit_name)
      tt_print(to, " %s", line->unit_name);
    if (line->sense != TT_HALSIM_PRESENT && line->scale != 1) tt_print(to, " × %g", line->scale);
    if (line->offset != 0) tt_print(to, " + %g", line->offset);
    if (line->inverted) tt_print(to, " inverted");
    tt_print(to, "\n");
  }
}
