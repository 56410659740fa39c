/* lua_sensor.c: a sensor that a user computes from signals, as a function in Lua 5.4.
 *
 *   lua_sensors:
 *     - name: slip              # channel slip
 *       file: sensors.lua       # in the scene's folder or beside the robot's file, or below
 *       function: slip          # a global function of that file; default `sense`
 *       unit: m/s               # what it gives; default a plain number
 *       fallback: 0             # reading while the function fails, in that unit, default 0
 *       instructions: 100000    # limits of a call
 *       memory: 1048576         # bytes
 *
 *   function slip(read)
 *     return read("left_wheel.velocity") * 0.0762 - read("chassis.vx")
 *   end
 *
 * It is called once a tick; read(name) gives any signal of the view in SI, but of parts only those that stand before
 * it in the robot's file. Nothing survives a call (lua_script.h says what it may use). When it fails, the log says
 * where and why, at most once a simulated second.
 */
#include "base/file.h"
#include "base/log.h"
#include "robot/common.h"
#include "robot/lua_script.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNALS_MAX 64 /* remembered; others are looked up each time */

typedef struct lua_sensor_config {
  char *name, *file, *function, *unit;
  double *fallback;
  uint32_t *instructions, *memory;
  double fallback_si; /* filled by check() */
  tt_lua_limits limits;
  const tt_unit *given;
} lua_sensor_config;

#define TEXT(key, flags)                                                                           \
  CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | (flags), lua_sensor_config, key, 1, 128)
static const cyaml_schema_field_t lua_sensor_fields[] = {
    TEXT(name, 0),
    TEXT(file, 0),
    TEXT(function, CYAML_FLAG_OPTIONAL),
    TEXT(unit, CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_FLOAT_PTR("fallback", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, lua_sensor_config,
                          fallback),
    CYAML_FIELD_UINT_PTR("instructions", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                         lua_sensor_config, instructions),
    CYAML_FIELD_UINT_PTR("memory", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, lua_sensor_config,
                         memory),
    CYAML_FIELD_END,
};
#undef TEXT

static tt_status check_limits(lua_sensor_config *config, const char *where, tt_error *error) {
  uint64_t memory;
  if ((config->instructions && !*config->instructions) || (config->memory && !*config->memory))
    return tt_fail(error, TT_INVALID, "%s: instructions and memory can't be 0", where);
  TT_TRY(tt_count_check(config->instructions ? *config->instructions : 0, "instructions", where,
                        1000, 100000000, 100000, &config->limits.instructions, error));
  TT_TRY(tt_count_check(config->memory ? *config->memory : 0, "memory", where, 16384, 256 << 20,
                        1 << 20, &memory, error));
  config->limits.memory = memory;
  return TT_OK;
}

static tt_status lua_sensor_check(void *untyped, const char *where, tt_error *error) {
  lua_sensor_config *config = untyped;
  TT_TRY(tt_robot_check_name(config->name, where, error));
  if (config->file[0] == '/' || strstr(config->file, ".."))
    return tt_fail(
        error, TT_INVALID,
        "%s.file: '%s' must lie in the scene's folder or beside the robot's file, or below", where,
        config->file);
  TT_TRY(tt_default_string(&config->function, "sense", error));
  config->given = tt_unit_find(config->unit ? config->unit : "");
  if (!config->given) return tt_unit_refuse(config->unit, where, error);
  TT_TRY(tt_number_check(config->fallback, "fallback", where, -1e12, 1e12, 0, &config->fallback_si,
                         error));
  config->fallback_si *= config->given->scale;
  return check_limits(config, where, error);
}

const tt_schema tt_lua_sensor_schema = {.key = "lua_sensors",
                                        .fields = lua_sensor_fields,
                                        .size = sizeof(lua_sensor_config),
                                        .check = lua_sensor_check};

typedef struct known_signal {
  char name[128];
  tt_signal signal;
} known_signal;

typedef struct lua_sensor {
  tt_robot_part head;
  tt_noise noise;
  tt_lua_script *script;
  int channel;
  const tt_names *names;
  const tt_view *view;             /* of the latest call; NULL before the first */
  known_signal known[SIGNALS_MAX]; /* a cache: it decides nothing */
  int known_count;
  double told;   /* s: when the log last told of a failure; negative: not yet */
  tt_bytes text; /* kept for clones: a file may change meanwhile */
} lua_sensor;

static const lua_sensor_config *config_of(const lua_sensor *self) { return self->head.config; }

static void lua_sensor_seed(tt_part *part, uint64_t seed) {
  lua_sensor *self = (lua_sensor *)part;
  self->head.env.seed = seed; /* of clones, too */
  self->noise = tt_noise_of(seed, self->head.part.robot, self->head.part.name);
}

static tt_status compile(lua_sensor *self, tt_error *error) {
  const lua_sensor_config *config = config_of(self);
  lua_sensor_seed(&self->head.part, self->head.env.seed);
  self->told = -1;
  tt_error why;
  tt_status status = tt_lua_script_new((const char *)self->text.data, self->text.size, config->file,
                                       config->function, config->limits, &self->script, &why);
  return status == TT_OK ? TT_OK
                         : tt_fail(error, status, "%s.file: %s", self->head.where, why.text);
}

/* A scene's own file goes before one of the same name beside the robot. `path` is that of the last attempt. */
static tt_status open_script(const lua_sensor *self, char *path, size_t size, FILE **file,
                             tt_error *error) {
  const tt_robot_env *env = &self->head.env;
  if (env->scene_folder && *env->scene_folder) {
    snprintf(path, size, "%s/%s", env->scene_folder, config_of(self)->file);
    if (tt_file_open(path, file, NULL) == TT_OK) return TT_OK;
  }
  const char *folder = env->folder && *env->folder ? env->folder : ".";
  snprintf(path, size, "%s/%s", folder, config_of(self)->file);
  return tt_file_open(path, file, error);
}

static tt_status lua_sensor_make(tt_part *part, tt_error *error) {
  lua_sensor *self = (lua_sensor *)part;
  char path[4096];
  FILE *file;
  tt_error why;
  if (open_script(self, path, sizeof path, &file, &why) != TT_OK)
    return tt_fail(error, TT_INVALID,
                   "%s.file: can't open this file (nor in the scene's folder): %s",
                   self->head.where, why.text);
  tt_status status = tt_file_read_rest(file, path, TT_LUA_SOURCE_MAX, &self->text, &why);
  fclose(file);
  if (status != TT_OK) return tt_fail(error, status, "%s.file: %s", self->head.where, why.text);
  return compile(self, error);
}

static tt_status lua_sensor_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  lua_sensor *self = (lua_sensor *)part;
  return declare->add_channel(declare, part->name, config_of(self)->given->dimension,
                              &self->channel, error);
}

static const tt_signal *find_known(const lua_sensor *self, const char *name) {
  for (int i = 0; i < self->known_count; i++)
    if (strcmp(self->known[i].name, name) == 0) return &self->known[i].signal;
  return NULL;
}

static tt_status read_by_name(void *context, const char *name, double *value, tt_error *error) {
  lua_sensor *self = context;
  const tt_signal *known = find_known(self, name);
  tt_signal found;
  if (!known) {
    TT_TRY(tt_robot_find_signal(&self->head, self->names, "function", name, self->channel, &found,
                                error));
    known = &found;
    if (self->known_count < SIGNALS_MAX && strlen(name) < sizeof self->known->name) {
      known_signal *kept = &self->known[self->known_count++];
      strcpy(kept->name, name);
      kept->signal = found;
    }
  }
  *value = self->view ? tt_signal_read(known, self->view) : 0;
  return TT_OK;
}

/* What is told of names that nobody has; other failures may come from the zeros that are read here. */
typedef struct trial {
  lua_sensor *self;
  bool misnamed;
} trial;

static tt_status try_name(void *context, const char *name, double *value, tt_error *error) {
  trial *trial = context;
  tt_status status = read_by_name(trial->self, name, value, error);
  trial->misnamed = trial->misnamed || status != TT_OK;
  return status;
}

/* Calls the function once with zeros, so that a signal that does not exist is an error before anything runs. */
static tt_status lua_sensor_resolve(tt_part *part, const tt_names *names, tt_error *error) {
  lua_sensor *self = (lua_sensor *)part;
  self->names = names;
  trial trial = {.self = self};
  const tt_lua_host host = {.read = try_name, .context = &trial, .noise = self->noise};
  tt_error why;
  double value;
  tt_lua_script_call(self->script, &host, &value, &why);
  if (!trial.misnamed) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s.file: %s", self->head.where, why.text);
}

/* Observation only: it goes to the log and nowhere else. */
static void tell(lua_sensor *self, const tt_view *view, const tt_error *error) {
  if (self->told >= 0 && view->time >= self->told && view->time < self->told + 1) return;
  self->told = view->time;
  tt_log_warning("%s: %s; the sensor reads its fallback", self->head.part.name, error->text);
}

static void lua_sensor_sense(tt_part *part, const tt_space *space, tt_view *view) {
  (void)space;
  lua_sensor *self = (lua_sensor *)part;
  const lua_sensor_config *config = config_of(self);
  const tt_lua_host host = {
      .read = read_by_name, .context = self, .noise = self->noise, .step = view->step};
  tt_error error;
  double value;
  self->view = view;
  if (tt_lua_script_call(self->script, &host, &value, &error) == TT_OK) {
    view->channels[self->channel] = value * config->given->scale;
  } else {
    view->channels[self->channel] = config->fallback_si;
    tell(self, view, &error);
  }
}

static void lua_sensor_free(tt_part *part) {
  tt_lua_script_free(((lua_sensor *)part)->script);
  tt_bytes_free(&((lua_sensor *)part)->text);
  free(part);
}

static tt_part *lua_sensor_clone(const tt_part *part) {
  const lua_sensor *self = (const lua_sensor *)part;
  lua_sensor *clone = calloc(1, sizeof *clone);
  if (!clone) return NULL;
  clone->head = self->head;
  clone->head.env.where = clone->head.part.where = clone->head.where;
  tt_bytes_append(&clone->text, self->text.data, self->text.size);
  if (!clone->text.failed && compile(clone, NULL) == TT_OK) return &clone->head.part;
  lua_sensor_free(&clone->head.part);
  return NULL;
}

static const tt_part_ops lua_sensor_ops = {
    .kind = "lua_sensors",
    .declare = lua_sensor_declare,
    .resolve = lua_sensor_resolve,
    .sense = lua_sensor_sense,
    .seed = lua_sensor_seed,
    .clone = lua_sensor_clone,
    .free = lua_sensor_free,
};

const tt_part_kind tt_lua_sensor_kind = {
    .ops = &lua_sensor_ops, .part_size = sizeof(lua_sensor), .make = lua_sensor_make};
