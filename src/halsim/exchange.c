/* exchange.c: the state between a robot program's devices and a simulation's commands and signals. */
#include "halsim/exchange.h"

#include "base/log.h"
#include "halsim/strangers.h"

#include <json-c/json.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENCODERS 32 /* that a program may have; the HAL has 8 */
#define MOST_CHANNEL 255
#define NEARLY 1e-6       /* beyond a command's range: rounding, which is forgiven */
#define LEAST_CHANGE 1e-6 /* of a value, in its unit; of a large one as a part of it */
#define MOST_WHOLE 2147483647.0
#define LIST_AFTER 0.5 /* s simulated without a new device: then the program has begun */
#define TOGETHER 8     /* values of a device that one message tells */

/* What is known of a value; index as in the map's lines. */
typedef struct state {
  bool heard, pending;
  bool exact;         /* of a motor: `value` is no mere pulse's */
  bool forward, back; /* of a relay */
  double value;       /* SI, as heard */
  bool told;
  double last; /* as told */
  bool counting;
  double turned, angle; /* of an angle that goes on: rad so far, and the signal's at that */
  double before;        /* of a signal that is differentiated */
  tt_halsim_sort sort;  /* as the program has it; TT_HALSIM_NOTHING: never seen */
  char prefix[3];
} state;

/* One that the program has made. */
typedef struct encoder {
  bool made, reversed;
  int a, b;
} encoder;

struct tt_halsim {
  const tt_halsim_map *map;
  state *states;
  encoder encoders[ENCODERS];
  tt_halsim_strangers_list strangers;
};

tt_halsim *tt_halsim_new(const tt_halsim_map *map) {
  tt_halsim *halsim = calloc(1, sizeof *halsim);
  if (!halsim) return NULL;
  halsim->map = map;
  halsim->states = calloc((size_t)map->count + 1, sizeof *halsim->states);
  if (halsim->states) return halsim;
  free(halsim);
  return NULL;
}

void tt_halsim_free(tt_halsim *halsim) {
  if (!halsim) return;
  tt_halsim_strangers_clear(&halsim->strangers);
  free(halsim->states);
  free(halsim);
}

/* --- what the program says --- */

static bool is_key(const tt_halsim_line *line, const char *key) {
  return strcmp(line->key, key) == 0;
}

static bool is_line_of(const tt_halsim_line *line, const char *type, const char *device) {
  return strcmp(line->type, type) == 0 && strcmp(line->device, device) == 0;
}

/* How bright a strip of LEDs is as a whole, 0 to 1: the mean of the brightest colour of each. */
static double brightness(struct json_object *strip) {
  double sum = 0;
  size_t count = json_object_array_length(strip);
  for (size_t i = 0; i < count; i++) {
    struct json_object *colour, *led = json_object_array_get_idx(strip, i);
    double most = 0;
    static const char *const names[] = {"r", "g", "b"};
    for (int c = 0; c < 3; c++)
      if (json_object_object_get_ex(led, names[c], &colour))
        most = fmax(most, fmin(255, json_object_get_double(colour)) / 255);
    sum += most;
  }
  return count > 0 ? sum / (double)count : 0;
}

/* What a value means to a line. */
typedef struct meaning {
  bool concerns; /* it does mean something */
  bool exact, on;
  tt_halsim_sort sort;
  double number;
} meaning;

static meaning meaning_of(const tt_halsim_line *line, const state *state, const char *key,
                          const tt_halsim_value *value) {
  meaning found = {
      .exact = true, .on = value->number != 0, .sort = value->sort, .number = value->number};
  if (value->sort == TT_HALSIM_NOTHING) return found;
  if (is_key(line, key)) {
    found.concerns = true;
  } else if (is_key(line, "speed") && strcmp(key, "raw") == 0 && strcmp(line->type, "PWM") == 0) {
    found.concerns = !state->exact;
    found.exact = false;
    found.number = tt_halsim_speed_of_pulse(value->number);
  } else if (is_key(line, "direction") && strcmp(line->type, "Relay") == 0) {
    bool is_back = strcmp(key, "rev") == 0;
    found.concerns = is_back || strcmp(key, "fwd") == 0;
    found.number = (is_back ? state->forward : found.on) - (is_back ? found.on : state->back);
  } else if (is_key(line, "brightness") && strcmp(key, "data") == 0 &&
             json_object_is_type(value->json, json_type_array)) {
    found.concerns = true;
    found.sort = TT_HALSIM_NUMBER;
    found.number = brightness(value->json);
  }
  return found;
}

static double within(const tt_halsim_line *line, double value) {
  double slack = NEARLY * fmax(fabs(line->lower), fabs(line->upper));
  if (value > line->upper && value <= line->upper + slack) return line->upper;
  return value < line->lower && value >= line->lower - slack ? line->lower : value;
}

static tt_status check_value(const tt_halsim_line *line, const meaning *what, const char *key,
                             tt_halsim_fault *fault) {
  if (what->sort == TT_HALSIM_TEXT || what->sort == TT_HALSIM_OTHER) {
    fault->drop = TT_DROP_SYNTAX;
    snprintf(fault->text, sizeof fault->text, "%.40s %.40s: '%.40s' is no number", line->type,
             line->device, key);
    return TT_BAD_MESSAGE;
  }
  double value = within(line, tt_halsim_to_si(line, what->number));
  if (value >= line->lower && value <= line->upper) return TT_OK;
  fault->drop = TT_DROP_RANGE;
  snprintf(fault->text, sizeof fault->text, "%.40s %.40s: '%.40s' is %g, and %.40s takes %g to %g",
           line->type, line->device, key, what->number, line->name, line->lower, line->upper);
  return TT_BAD_MESSAGE;
}

/* What a device says of itself that is no command: how it writes the values that it takes. */
static void learn(state *state, const tt_halsim_value *value, int prefix) {
  if (value->sort != TT_HALSIM_NOTHING) state->sort = value->sort;
  snprintf(state->prefix, sizeof state->prefix, "%.*s", prefix, value->key);
}

static void obey(const tt_halsim_line *line, state *state, const meaning *what, const char *key) {
  double value = within(line, tt_halsim_to_si(line, what->number));
  if (strcmp(key, "fwd") == 0) state->forward = what->on;
  if (strcmp(key, "rev") == 0) state->back = what->on;
  state->exact |= what->exact;
  state->heard = state->pending = true;
  state->value = value;
}

/* −1: none that a HAL has. */
static int channel_of(const tt_halsim_value *value) {
  return fabs(value->number) <= MOST_CHANNEL ? (int)value->number : -1;
}

static void hear_encoder(tt_halsim *halsim, const char *device, const char *key,
                         const tt_halsim_value *value) {
  char *end;
  long index = strtol(device, &end, 10);
  if (end == device || *end || index < 0 || index >= ENCODERS) return;
  encoder *encoder = &halsim->encoders[index];
  if (strcmp(key, "channel_a") == 0) encoder->a = channel_of(value);
  if (strcmp(key, "channel_b") == 0) encoder->b = channel_of(value);
  if (strcmp(key, "init") == 0) encoder->made = value->number != 0;
  if (strcmp(key, "reverse_direction") == 0) encoder->reversed = value->number != 0;
}

static bool is_echo(const tt_halsim_value *value) { return value->key[0] == '>'; }

/* Checks what a value means to all lines, or (`takes`) does it. */
static tt_status hear_value(tt_halsim *halsim, const char *type, const char *device,
                            const tt_halsim_value *value, bool takes, tt_halsim_fault *fault) {
  char room[TT_HALSIM_NAME];
  int prefix = tt_halsim_prefix(value->key);
  const char *key = value->key + prefix;
  tt_halsim_rename(&type, &device, &key, room);
  if (takes && !is_echo(value) && strcmp(type, "Encoder") == 0)
    hear_encoder(halsim, device, key, value);
  for (int i = 0; i < halsim->map->count; i++) {
    const tt_halsim_line *line = &halsim->map->lines[i];
    state *state = &halsim->states[i];
    if (!is_line_of(line, type, device)) continue;
    if (takes && is_key(line, key)) learn(state, value, prefix);
    if (line->command < 0 || is_echo(value)) continue;
    meaning what = meaning_of(line, state, key, value);
    if (!what.concerns) continue;
    if (takes)
      obey(line, state, &what, key);
    else
      TT_TRY(check_value(line, &what, key, fault));
  }
  return TT_OK;
}

tt_status tt_halsim_hear(tt_halsim *halsim, const char *type, const char *device,
                         const tt_halsim_value *values, int count, tt_halsim_fault *fault) {
  for (int i = 0; i < count; i++)
    TT_TRY(hear_value(halsim, type, device, &values[i], false, fault));
  for (int i = 0; i < count; i++) hear_value(halsim, type, device, &values[i], true, fault);
  tt_halsim_strangers_hear(&halsim->strangers, type, device, values, count);
  return TT_OK;
}

int tt_halsim_take(tt_halsim *halsim, tt_submission *submissions) {
  int count = 0;
  for (int i = 0; i < halsim->map->count; i++) {
    state *state = &halsim->states[i];
    if (!state->pending) continue;
    submissions[count++] = (tt_submission){halsim->map->lines[i].command, state->value};
    state->pending = false;
  }
  return count;
}

void tt_halsim_repeat(tt_halsim *halsim) {
  for (int i = 0; i < halsim->map->count; i++) halsim->states[i].pending = halsim->states[i].heard;
}

/* --- what the program is told --- */

/* Which of the program's encoders a line is, and which way that counts. −1: it has none such. */
static int find_encoder(const tt_halsim *halsim, const tt_halsim_line *line, double *sign) {
  int a = -1, b = -1, index = -1;
  if (sscanf(line->device, "%d,%d", &a, &b) < 2) index = a; /* by its number */
  for (int i = 0; i < ENCODERS && index < 0; i++) {
    const encoder *encoder = &halsim->encoders[i];
    if (!encoder->made) continue;
    if (encoder->a == a && encoder->b == b) index = i;
    if (encoder->a == b && encoder->b == a) index = i;
  }
  if (index < 0 || index >= ENCODERS) return -1;
  const encoder *encoder = &halsim->encoders[index];
  bool swapped = b >= 0 && encoder->a == b && encoder->b == a;
  *sign = encoder->reversed != swapped ? -1 : 1;
  return index;
}

/* An angle as it goes on: what the signal turned since the last look, by the shorter way. */
static double unwrap(state *state, double angle) {
  if (!state->counting) state->turned = angle;
  if (state->counting) state->turned += remainder(angle - state->angle, 2 * M_PI);
  state->counting = true;
  state->angle = angle;
  return state->turned;
}

/* How fast a signal changes, SI a second. */
static double rate_of(const tt_halsim_line *line, state *state, const tt_view *view,
                      double seconds) {
  if (line->has_rate) return tt_signal_read(&line->rate, view);
  double value = tt_signal_read(&line->signal, view);
  double rate = state->counting && seconds > 0 ? (value - state->before) / seconds : 0;
  state->counting = true;
  state->before = value;
  return rate;
}

static double present_value(const tt_halsim_line *line, state *state, const tt_view *view,
                            double seconds) {
  double rate;
  switch (line->sense) {
    case TT_HALSIM_PRESENT: return 1;
    case TT_HALSIM_UNWRAP:
      if (line->signal.dimension != TT_ANGLE) break;
      return tt_halsim_from_si(line, unwrap(state, tt_signal_read(&line->signal, view)));
    case TT_HALSIM_RATE: return tt_halsim_from_si(line, rate_of(line, state, view, seconds));
    case TT_HALSIM_PERIOD:
      rate = tt_halsim_from_si(line, rate_of(line, state, view, seconds));
      return fabs(rate) < TT_HALSIM_REST_RATE ? TT_HALSIM_AT_REST : 1 / rate;
    default: break;
  }
  return tt_halsim_from_si(line, tt_signal_read(&line->signal, view));
}

static tt_halsim_sort sort_of(const tt_halsim_line *line, const state *state) {
  if (line->sort != TT_HALSIM_NOTHING) return line->sort;
  if (state->sort == TT_HALSIM_TEXT) return TT_HALSIM_WHOLE; /* an enumeration takes its index */
  bool number = state->sort == TT_HALSIM_FLAG || state->sort == TT_HALSIM_WHOLE;
  return number ? state->sort : TT_HALSIM_NUMBER;
}

static double rounded(tt_halsim_sort sort, double value) {
  if (sort == TT_HALSIM_FLAG) return value >= 0.5;
  if (sort == TT_HALSIM_WHOLE) return fmax(-MOST_WHOLE, fmin(MOST_WHOLE, rint(value)));
  return value;
}

/* Below this no sensor tells anything: a world at rest trembles in its last bits. */
static bool is_same(const tt_halsim_line *line, tt_halsim_sort sort, double value, double last) {
  if (sort == TT_HALSIM_WHOLE) return value == last; /* of a large count each step counts, too */
  double scale = line->sense == TT_HALSIM_PERIOD ? fabs(last) : fmax(1, fabs(last));
  return fabs(value - last) <= LEAST_CHANGE * scale;
}

/* The messages of one device, as they come together. */
typedef struct telling {
  tt_halsim_tell_fn *tell;
  void *context;
  const char *type, *device;
  char index[16]; /* of an encoder */
  tt_halsim_value values[TOGETHER];
  char keys[TOGETHER][TT_HALSIM_NAME + 2];
  int count;
} telling;

static void flush(telling *to) {
  if (to->count) to->tell(to->context, to->type, to->device, to->values, to->count);
  to->count = 0;
}

static void tell_value(telling *to, const tt_halsim_line *line, const state *state,
                       tt_halsim_sort sort, double value) {
  const char *prefix = line->prefix ? line->prefix : *state->prefix ? state->prefix : ">";
  if (to->count == TOGETHER) flush(to);
  snprintf(to->keys[to->count], sizeof to->keys[0], "%s%s", prefix, line->key);
  to->values[to->count] =
      (tt_halsim_value){.key = to->keys[to->count], .sort = sort, .number = value};
  to->count++;
}

void tt_halsim_tell(tt_halsim *halsim, const tt_view *view, double seconds, tt_halsim_tell_fn *tell,
                    void *context) {
  telling to = {.tell = tell, .context = context};
  const tt_halsim_line *before = NULL;
  for (int i = 0; i < halsim->map->count; i++) {
    const tt_halsim_line *line = &halsim->map->lines[i];
    state *state = &halsim->states[i];
    if (!line->reads) continue;
    double sign = 1, value = present_value(line, state, view, seconds);
    bool by_number = strcmp(line->type, "Encoder") == 0;
    int index = by_number ? find_encoder(halsim, line, &sign) : 0;
    tt_halsim_sort sort = sort_of(line, state);
    /* at rest a period has no direction */
    if (line->sense != TT_HALSIM_PERIOD || value != TT_HALSIM_AT_REST) value *= sign;
    value = rounded(sort, value);
    if (index < 0) state->told = false;
    if (index < 0 || (state->told && is_same(line, sort, value, state->last))) continue;
    if (!before || !is_line_of(line, before->type, before->device)) flush(&to);
    before = line;
    to.type = line->type;
    to.device = line->device;
    if (by_number) {
      snprintf(to.index, sizeof to.index, "%d", index);
      to.device = to.index;
    }
    tell_value(&to, line, state, sort, value);
    state->told = true;
    state->last = value;
  }
  flush(&to);
}

/* --- beginnings --- */

void tt_halsim_forget(tt_halsim *halsim) {
  for (int i = 0; i < halsim->map->count; i++) {
    state *state = &halsim->states[i];
    *state = (struct state){.counting = state->counting,
                            .turned = state->turned,
                            .angle = state->angle,
                            .before = state->before};
  }
  memset(halsim->encoders, 0, sizeof halsim->encoders);
  tt_halsim_strangers_clear(&halsim->strangers);
}

void tt_halsim_restart(tt_halsim *halsim) {
  for (int i = 0; i < halsim->map->count; i++) halsim->states[i].counting = false;
}

/* --- devices that nobody mapped --- */

static bool is_same_encoder(const tt_halsim_line *line, int a, int b) {
  int c, d;
  if (strcmp(line->type, "Encoder") != 0 || sscanf(line->device, "%d,%d", &c, &d) != 2)
    return false;
  return (a == c && b == d) || (a == d && b == c);
}

static bool is_mapped(const tt_halsim *halsim, const tt_halsim_used *used) {
  long index = strtol(used->device, NULL, 10);
  bool encoder = strcmp(used->type, "Encoder") == 0 && index >= 0 && index < ENCODERS;
  for (int i = 0; i < halsim->map->count; i++) {
    const tt_halsim_line *line = &halsim->map->lines[i];
    if (is_line_of(line, used->type, used->device)) return true;
    if (encoder && is_same_encoder(line, halsim->encoders[index].a, halsim->encoders[index].b))
      return true;
  }
  return false;
}

/* A digital input that only carries an encoder's pulses. */
static bool is_of_encoder(const tt_halsim *halsim, const tt_halsim_used *used) {
  if (strcmp(used->type, "DIO") != 0) return false;
  long channel = strtol(used->device, NULL, 10);
  for (int i = 0; i < ENCODERS; i++) {
    const encoder *encoder = &halsim->encoders[i];
    if (encoder->made && (encoder->a == channel || encoder->b == channel)) return true;
  }
  return false;
}

bool tt_halsim_next_stranger(tt_halsim *halsim, tt_halsim_stranger *stranger) {
  tt_halsim_strangers_list *list = &halsim->strangers;
  while (list->asked < list->count) {
    tt_halsim_used *used = &list->used[list->asked++];
    if (is_mapped(halsim, used) || is_of_encoder(halsim, used)) continue;
    long index = strtol(used->device, NULL, 10);
    if (strcmp(used->type, "Encoder") == 0 && index >= 0 && index < ENCODERS)
      snprintf(used->device, sizeof used->device, "%d,%d", halsim->encoders[index].a,
               halsim->encoders[index].b);
    *stranger = (tt_halsim_stranger){used->type, used->device};
    return true;
  }
  return false;
}

static bool is_command_mapped(const tt_halsim_map *map, int command) {
  for (int i = 0; i < map->command_count; i++)
    if (map->commands[i] == command) return true;
  return false;
}

static bool is_signal_mapped(const tt_halsim_map *map, const tt_signal *signal) {
  for (int i = 0; i < map->count; i++) {
    const tt_signal *has = &map->lines[i].signal;
    if (map->lines[i].reads && has->source == signal->source && has->index == signal->index &&
        has->component == signal->component)
      return true;
  }
  return false;
}

static const char *free_command(const tt_halsim *halsim, const tt_names *names,
                                const tt_model *model, int robot) {
  for (int i = 0; i < model->command_count; i++)
    if (model->commands[i].kind == TT_COMMAND_DUTY &&
        (robot == TT_NO_ROBOT || model->commands[i].robot == robot) &&
        !is_command_mapped(halsim->map, i))
      return tt_names_command(names, i);
  return "none";
}

/* Of a type that measures angles a joint's position; of others nothing is obvious. */
static const char *free_signal(const tt_halsim *halsim, const tt_names *names,
                               const tt_halsim_known *known, int robot) {
  int count;
  const tt_signal_entry *entries = tt_names_signals(names, &count);
  const tt_unit *unit = known && known->unit ? tt_unit_find(known->unit) : NULL;
  for (int i = 0; i < count && unit; i++)
    if (entries[i].signal.source == TT_SIGNAL_JOINT_POSITION &&
        entries[i].signal.dimension == unit->dimension &&
        (robot == TT_NO_ROBOT || entries[i].robot == robot) &&
        !is_signal_mapped(halsim->map, &entries[i].signal))
      return entries[i].name;
  return "none";
}

void tt_halsim_propose(const tt_halsim *halsim, const tt_halsim_stranger *stranger,
                       const tt_names *names, const tt_model *model, int robot, char *text,
                       size_t size) {
  const tt_halsim_known *known = tt_halsim_find(stranger->type, stranger->device, NULL);
  bool gives = known && known->prefix[0] == '<' && known->prefix[1] != '>';
  snprintf(
      text, size, "- {type: %s, device: \"%s\"%s, %s: %s}", stranger->type, stranger->device,
      known ? "" : ", key: KEY", gives ? "command" : "signal",
      gives ? free_command(halsim, names, model, robot) : free_signal(halsim, names, known, robot));
}

void tt_halsim_list_strangers(tt_halsim *halsim, double seconds, const char *wire,
                              const tt_names *names, const tt_model *model, int robot) {
  tt_halsim_strangers_list *list = &halsim->strangers;
  tt_halsim_stranger stranger;
  list->quiet = list->count == list->seen ? list->quiet + seconds : 0;
  list->seen = list->count;
  if (list->quiet < LIST_AFTER) return;
  while (tt_halsim_next_stranger(halsim, &stranger)) {
    char line[160 + 2 * TT_HALSIM_NAME];
    tt_halsim_propose(halsim, &stranger, names, model, robot, line, sizeof line);
    tt_log_warning("%s: the program uses %s %s, which no line of `devices` maps; for example %s",
                   wire, stranger.type, stranger.device, line);
  }
}
