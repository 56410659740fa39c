/* names.c: the table of all signal and command names of a model, and the search in it. */
#include "base/nearest.h"
#include "model/signal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 1200

/* What a name stands for: a signal, or a command by index. Two tables of these, each sorted by both names. */
typedef struct entry {
  const char *kind; /* "joint", "body", …: static */
  char *full;       /* "joint:arm.position" */
  const char *name; /* the part of `full` after the kind */
  bool declared;    /* by a robot file: wins the short name */
  int robot;
  tt_signal signal;
  int command;
} entry;

typedef struct table {
  entry *entries;
  int count, capacity;
  entry **by_name; /* sorted by short name, declared ones first */
  entry **by_full;
} table;

struct tt_names {
  const tt_model *model;
  table signals, commands;
  tt_signal_entry *listed;
  bool failed; /* out of memory while building */
};

/* ---- building ---- */

static entry *add(tt_names *names, table *to, const char *kind, const char *owner,
                  const char *property) {
  if (to->count == to->capacity) {
    int capacity = to->capacity ? 2 * to->capacity : 64;
    entry *grown = realloc(to->entries, (size_t)capacity * sizeof *grown);
    if (!grown) {
      names->failed = true;
      return NULL;
    }
    to->entries = grown;
    to->capacity = capacity;
  }
  entry *made = &to->entries[to->count];
  *made = (entry){.kind = kind, .robot = TT_NO_ROBOT};
  int length =
      asprintf(&made->full, "%s:%s%s%s", kind, owner, *owner && *property ? "." : "", property);
  if (length < 0) {
    names->failed = true;
    return NULL;
  }
  made->name = made->full + strlen(kind) + 1;
  to->count++;
  return made;
}

static void add_signal(tt_names *names, const char *kind, const char *owner, const char *property,
                       int robot, tt_signal signal) {
  entry *made = add(names, &names->signals, kind, owner, property);
  if (!made) return;
  made->robot = robot;
  made->signal = signal;
}

static void add_world(tt_names *names) {
  add_signal(names, "world", "", "time", TT_NO_ROBOT, (tt_signal){TT_SIGNAL_TIME, 0, 0, TT_TIME});
  add_signal(names, "world", "", "step", TT_NO_ROBOT,
             (tt_signal){TT_SIGNAL_STEP, 0, 0, TT_DIMENSIONLESS});
  add_signal(names, "world", "", "match_time", TT_NO_ROBOT,
             (tt_signal){TT_SIGNAL_MATCH_TIME, 0, 0, TT_TIME});
  add_signal(names, "world", "", "real_time_factor", TT_NO_ROBOT,
             (tt_signal){TT_SIGNAL_REAL_TIME_FACTOR, 0, 0, TT_DIMENSIONLESS});
}

static void add_joint(tt_names *names, const tt_joint *joint) {
  static const char *const properties[] = {"position", "velocity", "torque"};
  static const tt_signal_source sources[] = {TT_SIGNAL_JOINT_POSITION, TT_SIGNAL_JOINT_VELOCITY,
                                             TT_SIGNAL_JOINT_TORQUE};
  bool slides = joint->kind == TT_SLIDE;
  const tt_dimension dimensions[] = {slides ? TT_LENGTH : TT_ANGLE,
                                     slides ? TT_VELOCITY : TT_ANGULAR_VELOCITY,
                                     slides ? TT_FORCE : TT_TORQUE};
  for (int p = 0; p < 3; p++) {
    for (int k = 0; k < joint->axis_count; k++) {
      char property[16];
      if (joint->axis_count == 1)
        snprintf(property, sizeof property, "%s", properties[p]);
      else
        snprintf(property, sizeof property, "%s.%c", properties[p], "xyz"[k]);
      add_signal(names, "joint", joint->name, property, joint->robot,
                 (tt_signal){sources[p], joint->axis + k, 0, dimensions[p]});
    }
  }
}

static void add_body(tt_names *names, int index, const tt_body *body) {
  static const struct {
    const char *property;
    tt_signal_source source;
    int component;
    tt_dimension dimension;
  } properties[] = {
      {"x", TT_SIGNAL_BODY_POSITION, 0, TT_LENGTH},
      {"y", TT_SIGNAL_BODY_POSITION, 1, TT_LENGTH},
      {"z", TT_SIGNAL_BODY_POSITION, 2, TT_LENGTH},
      {"qw", TT_SIGNAL_BODY_ROTATION, 0, TT_DIMENSIONLESS},
      {"qx", TT_SIGNAL_BODY_ROTATION, 1, TT_DIMENSIONLESS},
      {"qy", TT_SIGNAL_BODY_ROTATION, 2, TT_DIMENSIONLESS},
      {"qz", TT_SIGNAL_BODY_ROTATION, 3, TT_DIMENSIONLESS},
      {"heading", TT_SIGNAL_BODY_HEADING, 0, TT_ANGLE},
      {"yaw_rate", TT_SIGNAL_BODY_YAW_RATE, 0, TT_ANGULAR_VELOCITY},
      {"vx", TT_SIGNAL_BODY_VELOCITY, 0, TT_VELOCITY},
      {"vy", TT_SIGNAL_BODY_VELOCITY, 1, TT_VELOCITY},
      {"vz", TT_SIGNAL_BODY_VELOCITY, 2, TT_VELOCITY},
      {"wx", TT_SIGNAL_BODY_SPIN, 0, TT_ANGULAR_VELOCITY},
      {"wy", TT_SIGNAL_BODY_SPIN, 1, TT_ANGULAR_VELOCITY},
      {"wz", TT_SIGNAL_BODY_SPIN, 2, TT_ANGULAR_VELOCITY},
  };
  for (size_t p = 0; p < sizeof properties / sizeof *properties; p++)
    add_signal(
        names, "body", body->name, properties[p].property, body->robot,
        (tt_signal){properties[p].source, index, properties[p].component, properties[p].dimension});
}

static const char *command_kind(const tt_command *command) {
  if (command->part != TT_NO_PART) return "part";
  switch (command->kind) {
    case TT_COMMAND_TORQUE:
    case TT_COMMAND_VELOCITY:
    case TT_COMMAND_MAX_TORQUE:
    case TT_COMMAND_DUTY:
    case TT_COMMAND_PLACE_JOINT: return "joint";
    case TT_COMMAND_ACTUATOR: return "actuator";
    case TT_COMMAND_PLACE_PIECE: return "body";
    case TT_COMMAND_PLACE: return "robot";
    default: return "world";
  }
}

static void add_command(tt_names *names, int index, const tt_command *command) {
  entry *made = add(names, &names->commands, command_kind(command), command->name, "");
  if (!made) return;
  made->robot = command->robot;
  made->command = index;
  made->declared = command->part != TT_NO_PART;
}

static int compare_names(const void *a, const void *b) {
  const entry *left = *(entry *const *)a;
  const entry *right = *(entry *const *)b;
  int order = strcmp(left->name, right->name);
  if (order) return order;
  if (left->declared != right->declared) return left->declared ? -1 : 1;
  return strcmp(left->full, right->full);
}

static int compare_full(const void *a, const void *b) {
  return strcmp((*(entry *const *)a)->full, (*(entry *const *)b)->full);
}

static entry **sorted(tt_names *names, const table *of,
                      int (*compare)(const void *, const void *)) {
  entry **list = calloc((size_t)of->count + 1, sizeof(entry *));
  if (!list) {
    names->failed = true;
    return NULL;
  }
  for (int i = 0; i < of->count; i++) list[i] = &of->entries[i];
  qsort(list, (size_t)of->count, sizeof(entry *), compare);
  return list;
}

static void sort(tt_names *names, table *of) {
  of->by_name = sorted(names, of, compare_names);
  of->by_full = sorted(names, of, compare_full);
}

/* ---- searching ---- */

/* First entry of `list` whose key is not before `wanted`. */
static int lower_bound(entry **list, int count, const char *wanted, bool full) {
  int low = 0;
  int high = count;
  while (low < high) {
    int middle = (low + high) / 2;
    const char *key = full ? list[middle]->full : list[middle]->name;
    if (strcmp(key, wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The entry called `wanted`; `rival` is another that has as good a claim to the name. */
static const entry *lookup(const table *in, const char *wanted, const entry **rival) {
  *rival = NULL;
  int i = lower_bound(in->by_full, in->count, wanted, true);
  if (i < in->count && strcmp(in->by_full[i]->full, wanted) == 0) return in->by_full[i];
  i = lower_bound(in->by_name, in->count, wanted, false);
  if (i == in->count || strcmp(in->by_name[i]->name, wanted) != 0) return NULL;
  if (i + 1 < in->count && strcmp(in->by_name[i + 1]->name, wanted) == 0 &&
      in->by_name[i + 1]->declared == in->by_name[i]->declared)
    *rival = in->by_name[i + 1];
  return in->by_name[i];
}

/* `name` with "<robot>/" put in after its kind, if it has one. */
static void with_robot(char *out, size_t size, const char *name, const char *robot) {
  const char *colon = strchr(name, ':');
  int kind = colon ? (int)(colon - name + 1) : 0;
  snprintf(out, size, "%.*s%s/%s", kind, name, robot, name + kind);
}

/* What else belongs to the owner that `name` begins with: "position, velocity, torque". */
static void list_siblings(const table *in, const char *name, char *list, size_t size) {
  const char *dot = strrchr(name, '.');
  size_t owner = dot ? (size_t)(dot - name) + 1 : 0, used = 0;
  *list = 0;
  for (int i = 0; owner && i < in->count && used < size; i++) {
    const char *other = in->entries[i].name;
    if (strncmp(other, name, owner) != 0) continue;
    used += (size_t)snprintf(list + used, size - used, "%s%s", used ? ", " : "", other + owner);
  }
}

static tt_status find(const tt_names *names, const table *in, const char *what, const char *name,
                      int robot, const char *where, const entry **found, tt_error *error) {
  const entry *rival = NULL;
  char own[NAME_SIZE];
  *found = NULL;
  if (robot != TT_NO_ROBOT) {
    with_robot(own, sizeof own, name, names->model->robots[robot].name);
    *found = lookup(in, own, &rival);
  }
  if (!*found) *found = lookup(in, name, &rival);
  if (*found && !rival) return TT_OK;
  if (*found)
    return tt_fail(error, TT_INVALID, "%s: '%s' means two things: write '%s' or '%s'", where, name,
                   (*found)->full, rival->full);
  if (!error) return TT_INVALID; /* nobody asks what else there is */
  tt_nearest nearest = tt_nearest_start(name);
  tt_nearest nearest_own = tt_nearest_start(robot != TT_NO_ROBOT ? own : name);
  for (int i = 0; i < in->count; i++) {
    tt_nearest_offer(&nearest, in->entries[i].name);
    tt_nearest_offer(&nearest_own, in->entries[i].name);
  }
  const bool own_is_nearer =
      nearest_own.best && (!nearest.best || nearest_own.distance <= nearest.distance);
  const char *best = own_is_nearer ? nearest_own.best : nearest.best;
  if (best)
    return tt_fail(error, TT_INVALID, "%s: no %s is called '%s'; did you mean '%s'?", where, what,
                   name, best);
  char siblings[256];
  list_siblings(in, robot != TT_NO_ROBOT ? own : name, siblings, sizeof siblings);
  if (!*siblings) list_siblings(in, name, siblings, sizeof siblings);
  if (*siblings)
    return tt_fail(error, TT_INVALID, "%s: no %s is called '%s'; after the dot there are: %s",
                   where, what, name, siblings);
  return tt_fail(error, TT_INVALID, "%s: no %s is called '%s'; `tether check` lists them all",
                 where, what, name);
}

tt_status tt_names_find_signal(const tt_names *names, const char *name, int robot,
                               const char *where, tt_signal *signal, tt_error *error) {
  const entry *found;
  TT_TRY(find(names, &names->signals, "signal", name, robot, where, &found, error));
  *signal = found->signal;
  return TT_OK;
}

tt_status tt_names_find_command(const tt_names *names, const char *name, int robot,
                                const char *where, int *command, tt_error *error) {
  const entry *found;
  TT_TRY(find(names, &names->commands, "command", name, robot, where, &found, error));
  *command = found->command;
  return TT_OK;
}

/* ---- the whole ---- */

/* The short name where it leads to this entry, else the full one. */
static const char *shown_name(const table *in, const entry *of) {
  const entry *rival;
  return lookup(in, of->name, &rival) == of && !rival ? of->name : of->full;
}

static void list_signals(tt_names *names) {
  names->listed = calloc((size_t)names->signals.count + 1, sizeof *names->listed);
  if (!names->listed) {
    names->failed = true;
    return;
  }
  for (int i = 0; i < names->signals.count; i++) {
    const entry *of = &names->signals.entries[i];
    names->listed[i] = (tt_signal_entry){
        .name = shown_name(&names->signals, of), .signal = of->signal, .robot = of->robot};
  }
}

tt_names *tt_names_new(const tt_model *model) {
  tt_names *names = calloc(1, sizeof *names);
  if (!names) return NULL;
  names->model = model;
  add_world(names);
  for (int i = 0; i < model->joint_count; i++) add_joint(names, &model->joints[i]);
  for (int i = 1; i < model->body_count; i++) add_body(names, i, &model->bodies[i]);
  for (int i = 0; i < model->channel_count; i++) {
    const tt_channel *channel = &model->channels[i];
    bool declared = channel->part != TT_NO_PART;
    add_signal(names, declared ? "part" : "sensor", channel->name, "", channel->robot,
               (tt_signal){TT_SIGNAL_CHANNEL, i, 0, channel->dimension});
    if (!names->failed) names->signals.entries[names->signals.count - 1].declared = declared;
  }
  for (int i = 0; i < model->command_count; i++) add_command(names, i, &model->commands[i]);
  if (!names->failed) sort(names, &names->commands);
  for (int i = 0; i < model->command_count && !names->failed; i++) {
    const char *shown = shown_name(&names->commands, &names->commands.entries[i]);
    add_signal(names, "command", shown, "", model->commands[i].robot,
               (tt_signal){TT_SIGNAL_COMMAND, i, 0, model->commands[i].dimension});
    if (!names->failed)
      names->signals.entries[names->signals.count - 1].name =
          names->signals.entries[names->signals.count - 1].full;
  }
  if (!names->failed) sort(names, &names->signals);
  if (!names->failed) list_signals(names);
  if (names->failed) {
    tt_names_free(names);
    return NULL;
  }
  return names;
}

const tt_model *tt_names_model(const tt_names *names) { return names->model; }

static void free_table(table *of) {
  for (int i = 0; i < of->count; i++) free(of->entries[i].full);
  free(of->entries);
  free(of->by_name);
  free(of->by_full);
}

void tt_names_free(tt_names *names) {
  if (!names) return;
  free_table(&names->signals);
  free_table(&names->commands);
  free(names->listed);
  free(names);
}

const tt_signal_entry *tt_names_signals(const tt_names *names, int *count) {
  *count = names->signals.count;
  return names->listed;
}

const char *tt_names_command(const tt_names *names, int command) {
  return shown_name(&names->commands, &names->commands.entries[command]);
}
