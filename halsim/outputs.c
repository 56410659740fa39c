/* outputs.c: values are asked for after each step and compared with what was told last. That costs some microseconds, and what
 * comes out depends on no thread's timing: callbacks would tell in the order in which threads wrote. */
#include "outputs.h"

#include "base/json.h"
#include "base/text.h"
#include "hal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum sort { FLAG, WHOLE, NUMBER } sort;

/* --- devices with channels --- */

#define MOST_KEYS 5
typedef struct device {
  const char *type;
  int channels;
  /* Initialized: nothing is said of a channel that the program does not use; NULL: all false at first */
  const char *gate;
  struct {
    const char *key, *function;
    sort sort;
    void *get;
  } values[MOST_KEYS];
  int32_t (*used)(int32_t);
  bool *known;  /* of each channel: told to be used */
  double *last; /* MOST_KEYS for each */
} device;

static device devices[] = {
    {"PWM",
     20,
     "HALSIM_GetPWMInitialized",
     {{"<speed", "HALSIM_GetPWMSpeed", NUMBER, NULL},
      {"<position", "HALSIM_GetPWMPosition", NUMBER, NULL},
      {"<raw", "HALSIM_GetPWMPulseMicrosecond", WHOLE, NULL}},
     NULL,
     NULL,
     NULL},
    {"DIO",
     31,
     "HALSIM_GetDIOInitialized",
     {{"<input", "HALSIM_GetDIOIsInput", FLAG, NULL},
      {"<>value", "HALSIM_GetDIOValue", FLAG, NULL},
      {"<pulse_length", "HALSIM_GetDIOPulseLength", NUMBER, NULL}},
     NULL,
     NULL,
     NULL},
    {"dPWM",
     6,
     "HALSIM_GetDigitalPWMInitialized",
     {{"<duty_cycle", "HALSIM_GetDigitalPWMDutyCycle", NUMBER, NULL},
      {"<dio_pin", "HALSIM_GetDigitalPWMPin", WHOLE, NULL}},
     NULL,
     NULL,
     NULL},
    {"AI", 8, "HALSIM_GetAnalogInInitialized", {{0}}, NULL, NULL, NULL},
    {"AO",
     2,
     "HALSIM_GetAnalogOutInitialized",
     {{"<voltage", "HALSIM_GetAnalogOutVoltage", NUMBER, NULL}},
     NULL,
     NULL,
     NULL},
    {"Encoder",
     8,
     "HALSIM_GetEncoderInitialized",
     {{"<channel_a", "HALSIM_GetEncoderDigitalChannelA", WHOLE, NULL},
      {"<channel_b", "HALSIM_GetEncoderDigitalChannelB", WHOLE, NULL},
      {"<reverse_direction", "HALSIM_GetEncoderReverseDirection", FLAG, NULL},
      {"<samples_to_avg", "HALSIM_GetEncoderSamplesToAverage", WHOLE, NULL}},
     NULL,
     NULL,
     NULL},
    {"Relay",
     4,
     NULL,
     {{"<init_fwd", "HALSIM_GetRelayInitializedForward", FLAG, NULL},
      {"<init_rev", "HALSIM_GetRelayInitializedReverse", FLAG, NULL},
      {"<fwd", "HALSIM_GetRelayForward", FLAG, NULL},
      {"<rev", "HALSIM_GetRelayReverse", FLAG, NULL}},
     NULL,
     NULL,
     NULL},
    {"CTREPCM",
     63,
     "HALSIM_GetCTREPCMInitialized",
     {{"<closed_loop", "HALSIM_GetCTREPCMClosedLoopEnabled", FLAG, NULL}},
     NULL,
     NULL,
     NULL},
};
#define DEVICES (sizeof devices / sizeof *devices)

/* Solenoids have a module and a channel; a module of either maker. */
#define MODULES 63
#define SOLENOIDS 16
static int8_t solenoids[MODULES][SOLENOIDS]; /* told last; −1: nothing */

/* The strip of LEDs that the HAL has up to 2026. A message holds so many of it. */
#define TOLD_LEDS 2000
static struct {
  bool known;
  int32_t port, length, running;
  hal_led colours[HAL_MOST_LEDS];
} strip;

/* --- simulated devices, by name --- */

#define NAME 126 /* bytes of the longest with its 0: with a prefix of two, what a message takes */
#define VALUES_A_MESSAGE 32 /* of which a message takes no more than 64 */

typedef struct sim_value {
  int32_t handle;
  char name[NAME];
  int32_t direction;
  hal_value is, last;
  bool told, seen;
} sim_value;

typedef struct sim_device {
  int32_t handle;
  char name[NAME];
  bool told, seen;
  sim_value *values;
  int count, capacity;
} sim_device;

static sim_device *sim_devices;
static int sim_count, sim_capacity;

void outputs_find(void) {
  for (size_t i = 0; i < DEVICES; i++) {
    device *one = &devices[i];
    if (one->gate) *(void **)&one->used = hal_symbol(one->gate);
    for (int k = 0; k < MOST_KEYS; k++)
      if (one->values[k].function) one->values[k].get = hal_symbol(one->values[k].function);
    one->known = calloc((size_t)one->channels, sizeof *one->known);
    one->last = calloc((size_t)one->channels * MOST_KEYS, sizeof *one->last);
    if (!one->known || !one->last) one->channels = 0;
  }
  memset(solenoids, -1, sizeof solenoids);
}

/* --- a message --- */

typedef struct message {
  struct json_object *whole, *data;
} message;

static void begin(message *one, const char *type, const char *name) {
  if (one->whole) return;
  one->whole = json_object_new_object();
  one->data = json_object_new_object();
  tt_json_add_text(one->whole, "type", type);
  tt_json_add_text(one->whole, "device", name);
  json_object_object_add(one->whole, "data", one->data);
}

static void end(message *one, tt_bytes *to) {
  if (!one->whole) return;
  size_t size = 0;
  const char *text = json_object_to_json_string_length(
      one->whole, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &size);
  if (!text) to->failed = true;
  tt_bytes_append(to, text, size);
  tt_bytes_append(to, "\n", 1);
  json_object_put(one->whole);
  *one = (message){0};
}

/* JSON has no numbers that are not finite: null, as WPILib's own WebSocket says them. */
static void add_number(struct json_object *data, const char *key, double value) {
  if (isfinite(value))
    tt_json_add_double(data, key, value);
  else
    json_object_object_add(data, key, NULL);
}

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void add(struct json_object *data, const char *key, sort sort, double value) {
  switch (sort) {
    case FLAG: tt_json_add_bool(data, key, value != 0); break;
    case WHOLE: tt_json_add_int(data, key, (int64_t)value); break;
    case NUMBER: add_number(data, key, value); break;
  }
}

/* --- collecting --- */

static double get(const device *one, int k, int channel) {
  if (one->values[k].sort == NUMBER) {
    double (*number)(int32_t);
    *(void **)&number = one->values[k].get;
    return number(channel);
  }
  int32_t (*whole)(int32_t);
  *(void **)&whole = one->values[k].get;
  return whole(channel);
}

static bool in_use(const device *one, int channel) {
  return !one->gate || (one->used && one->used(channel) != 0);
}

static void collect_channel(device *one, int channel, bool whole, tt_bytes *to) {
  bool used = in_use(one, channel);
  if (!used && !one->known[channel]) return;
  char name[16];
  snprintf(name, sizeof name, "%d", channel);
  message message = {0};
  bool first = used && one->gate && (whole || !one->known[channel]);
  if (one->gate && (first || used != one->known[channel])) {
    begin(&message, one->type, name);
    tt_json_add_bool(message.data, "<init", used);
  }
  one->known[channel] = used && one->gate;
  for (int k = 0; used && k < MOST_KEYS; k++) {
    if (!one->values[k].get) continue;
    double value = get(one, k, channel), *last = &one->last[channel * MOST_KEYS + k];
    if (is_same(value, *last) && !first && !(whole && value != 0)) continue;
    *last = value;
    begin(&message, one->type, name);
    add(message.data, one->values[k].key, one->values[k].sort, value);
  }
  end(&message, to);
}

static int solenoid(int module, int channel) {
  if (channel < 8 && hal.HALSIM_GetCTREPCMInitialized && hal.HALSIM_GetCTREPCMSolenoidOutput &&
      hal.HALSIM_GetCTREPCMInitialized(module))
    return hal.HALSIM_GetCTREPCMSolenoidOutput(module, channel) != 0;
  if (hal.HALSIM_GetREVPHInitialized && hal.HALSIM_GetREVPHSolenoidOutput &&
      hal.HALSIM_GetREVPHInitialized(module))
    return hal.HALSIM_GetREVPHSolenoidOutput(module, channel) != 0;
  return -1;
}

static void collect_solenoids(bool whole, tt_bytes *to) {
  for (int module = 0; module < MODULES; module++) {
    for (int channel = 0; channel < SOLENOIDS; channel++) {
      int is = solenoid(module, channel);
      if (is < 0) break;
      if (is == solenoids[module][channel] && !whole) continue;
      solenoids[module][channel] = (int8_t)is;
      char name[16];
      snprintf(name, sizeof name, "%d,%d", module, channel);
      message message = {0};
      begin(&message, "Solenoid", name);
      tt_json_add_bool(message.data, "<output", is);
      end(&message, to);
    }
  }
}

static struct json_object *colours(const hal_led *leds, int32_t count) {
  struct json_object *list = json_object_new_array();
  for (int32_t i = 0; i < count && i < TOLD_LEDS; i++) {
    struct json_object *one = json_object_new_object();
    tt_json_add_int(one, "r", leds[i].r);
    tt_json_add_int(one, "g", leds[i].g);
    tt_json_add_int(one, "b", leds[i].b);
    json_object_array_add(list, one);
  }
  return list;
}

static void collect_leds(bool whole, tt_bytes *to) {
  static hal_led leds[HAL_MOST_LEDS];
  if (!hal.HALSIM_GetAddressableLEDOutputPort || !hal.HALSIM_GetAddressableLEDInitialized ||
      !hal.HALSIM_GetAddressableLEDLength || !hal.HALSIM_GetAddressableLEDRunning ||
      !hal.HALSIM_GetAddressableLEDData || !hal.HALSIM_GetAddressableLEDInitialized(0))
    return;
  int32_t port = hal.HALSIM_GetAddressableLEDOutputPort(0);
  int32_t running = hal.HALSIM_GetAddressableLEDRunning(0);
  int32_t length = hal.HALSIM_GetAddressableLEDData(0, leds);
  if (length < 0 || length > HAL_MOST_LEDS) return;
  if (strip.known && !whole && port == strip.port && length == strip.length &&
      running == strip.running && memcmp(leds, strip.colours, (size_t)length * sizeof *leds) == 0)
    return;
  strip.known = true;
  strip.port = port;
  strip.length = length;
  strip.running = running;
  memcpy(strip.colours, leds, (size_t)length * sizeof *leds);
  message message = {0};
  begin(&message, "AddressableLED", "0");
  tt_json_add_bool(message.data, "<init", true);
  tt_json_add_int(message.data, "<output_port", port);
  tt_json_add_int(message.data, "<length", length);
  tt_json_add_bool(message.data, "<running", running != 0);
  json_object_object_add(message.data, "<data", colours(leds, length));
  end(&message, to);
}

/* What no message can hold is left out (':' ends a type): no line of a scene could mean it. */
static bool can_be_told(const char *name) {
  size_t size = strlen(name);
  return size < NAME && name[0] != ':' && tt_text_is_utf8(name, size);
}

/* The library holds a lock while it calls these, so they only note what there is. */

static void note_value(const char *name, void *context, int32_t handle, int32_t direction,
                       const hal_value *is) {
  sim_device *of = context;
  int at = 0;
  if (!can_be_told(name)) return;
  while (at < of->count &&
         (of->values[at].handle != handle || strcmp(of->values[at].name, name) != 0))
    at++;
  if (at == of->capacity) {
    int capacity = of->capacity ? 2 * of->capacity : 8;
    sim_value *more = realloc(of->values, (size_t)capacity * sizeof *more);
    if (!more) return;
    of->values = more;
    of->capacity = capacity;
  }
  if (at == of->count) {
    sim_value *fresh = &of->values[of->count++];
    *fresh = (sim_value){.handle = handle};
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
  }
  of->values[at].direction = direction;
  of->values[at].is = *is;
  of->values[at].seen = true;
}

static void note_device(const char *name, void *context, int32_t handle) {
  (void)context;
  if (!can_be_told(name)) return;
  for (int i = 0; i < sim_count; i++) {
    if (sim_devices[i].handle != handle || strcmp(sim_devices[i].name, name) != 0) continue;
    sim_devices[i].seen = true;
    return;
  }
  if (sim_count == sim_capacity) {
    int capacity = sim_capacity ? 2 * sim_capacity : 8;
    sim_device *more = realloc(sim_devices, (size_t)capacity * sizeof *more);
    if (!more) return;
    sim_devices = more;
    sim_capacity = capacity;
  }
  sim_device *fresh = &sim_devices[sim_count++];
  *fresh = (sim_device){.handle = handle, .seen = true};
  snprintf(fresh->name, sizeof fresh->name, "%s", name);
}

static void note_all(void) {
  for (int i = 0; i < sim_count; i++) sim_devices[i].seen = false;
  hal.HALSIM_EnumerateSimDevices("", NULL, note_device);
  int kept = 0;
  for (int i = 0; i < sim_count; i++) {
    if (sim_devices[i].seen)
      sim_devices[kept++] = sim_devices[i];
    else
      free(sim_devices[i].values);
  }
  sim_count = kept;
  for (int i = 0; i < sim_count; i++)
    hal.HALSIM_EnumerateSimValues(sim_devices[i].handle, &sim_devices[i], note_value);
}

static bool same(const hal_value *a, const hal_value *b) {
  if (a->type != b->type) return false;
  switch (a->type) {
    case HAL_DOUBLE: return memcmp(&a->data.v_double, &b->data.v_double, sizeof(double)) == 0;
    case HAL_LONG: return a->data.v_long == b->data.v_long;
    default: return a->data.v_int == b->data.v_int;
  }
}

static void add_value(struct json_object *data, const char *key, const hal_value *value) {
  switch (value->type) {
    case HAL_BOOLEAN: tt_json_add_bool(data, key, value->data.v_boolean != 0); break;
    case HAL_DOUBLE: add_number(data, key, value->data.v_double); break;
    case HAL_LONG: tt_json_add_int(data, key, value->data.v_long); break;
    default: tt_json_add_int(data, key, value->data.v_int); break;
  }
}

/* "Gyro:ADXRS450[0]" is the device ADXRS450[0] of the type Gyro; a name alone is one of the type SimDevice. */
static void split(const char *name, char type[NAME], const char **rest) {
  const char *colon = strchr(name, ':');
  snprintf(type, NAME, "%.*s", colon ? (int)(colon - name) : 9, colon ? name : "SimDevice");
  *rest = colon ? colon + 1 : name;
}

static const char *prefix(const sim_value *value) {
  static const char *const prefixes[] = {">", "<", "<>"};
  if (value->name[0] == '<' || value->name[0] == '>') return "";
  return value->direction >= 0 && value->direction <= 2 ? prefixes[value->direction] : "<>";
}

static void collect_sim_device(sim_device *one, bool whole, tt_bytes *to) {
  message message = {0};
  char type[NAME], key[NAME + 2];
  const char *name;
  int count = 0;
  split(one->name, type, &name);
  if (whole || !one->told) begin(&message, type, name); /* one without values is named, too */
  one->told = true;
  for (int i = 0; i < one->count; i++) {
    sim_value *value = &one->values[i];
    bool fresh = whole || !value->told;
    bool given = value->direction != HAL_VALUE_INPUT && !same(&value->is, &value->last);
    if (!fresh && !given) continue;
    value->told = true;
    value->last = value->is;
    if (++count % VALUES_A_MESSAGE == 0) end(&message, to);
    begin(&message, type, name);
    snprintf(key, sizeof key, "%s%s", prefix(value), value->name);
    add_value(message.data, key, &value->is);
  }
  end(&message, to);
}

void outputs_collect(tt_bytes *to, bool whole) {
  for (size_t i = 0; i < DEVICES; i++)
    for (int channel = 0; channel < devices[i].channels; channel++)
      collect_channel(&devices[i], channel, whole, to);
  collect_solenoids(whole, to);
  collect_leds(whole, to);
  if (!hal.HALSIM_EnumerateSimDevices || !hal.HALSIM_EnumerateSimValues) return;
  note_all();
  for (int i = 0; i < sim_count; i++) collect_sim_device(&sim_devices[i], whole, to);
}

/* --- looking whether there is anything to collect --- */

static bool channel_changed(const device *one, int channel, char *which, size_t size) {
  if (!one->known[channel]) return false;
  for (int k = 0; k < MOST_KEYS; k++) {
    if (!one->values[k].get || is_same(get(one, k, channel), one->last[channel * MOST_KEYS + k]))
      continue;
    snprintf(which, size, "%s %d %s", one->type, channel, one->values[k].key);
    return true;
  }
  return false;
}

bool outputs_changed(char *which, size_t size) {
  for (size_t i = 0; i < DEVICES; i++)
    for (int channel = 0; channel < devices[i].channels; channel++)
      if (channel_changed(&devices[i], channel, which, size)) return true;
  if (!hal.HALSIM_EnumerateSimDevices || !hal.HALSIM_EnumerateSimValues) return false;
  note_all();
  for (int i = 0; i < sim_count; i++) {
    for (int k = 0; k < sim_devices[i].count; k++) {
      const sim_value *value = &sim_devices[i].values[k];
      if (!value->told || value->direction == HAL_VALUE_INPUT || same(&value->is, &value->last))
        continue;
      snprintf(which, size, "%s %s", sim_devices[i].name, value->name);
      return true;
    }
  }
  return false;
}
