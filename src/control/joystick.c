/* joystick.c: a driver's joystick as numbers. See joystick.h. */
#include "control/joystick.h"

#include "base/file.h"

#include <linux/input-event-codes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const control_names[TT_JOYSTICK_VALUES] = {
    [TT_JOYSTICK_LEFT_X] = "left_x",
    [TT_JOYSTICK_LEFT_Y] = "left_y",
    [TT_JOYSTICK_RIGHT_X] = "right_x",
    [TT_JOYSTICK_RIGHT_Y] = "right_y",
    [TT_JOYSTICK_UP] = "dpad_up",
    [TT_JOYSTICK_DOWN] = "dpad_down",
    [TT_JOYSTICK_LEFT] = "dpad_left",
    [TT_JOYSTICK_RIGHT] = "dpad_right",
    [TT_JOYSTICK_A] = "a",
    [TT_JOYSTICK_B] = "b",
    [TT_JOYSTICK_X] = "x",
    [TT_JOYSTICK_Y] = "y",
    [TT_JOYSTICK_BACK] = "back",
    [TT_JOYSTICK_SELECT] = "select",
    [TT_JOYSTICK_START] = "start",
};

const char *tt_joystick_control_name(int control) { return control_names[control]; }

int tt_joystick_control_find(const char *name) {
  for (int i = 0; i < TT_JOYSTICK_VALUES; i++) {
    if (strcmp(control_names[i], name) == 0) return i;
  }
  return -1;
}

void tt_joystick_control_range(int control, int *lower, int *upper) {
  bool stick = control <= TT_JOYSTICK_RIGHT_Y;
  *lower = stick ? -TT_SHARP_FULL : 0;
  *upper = stick ? TT_SHARP_FULL : 1;
}

/* --- keys --- */

/* A terminal repeats a held key after a pause of up to 0.66 s, then about 30 times a second. A stick has to
 * outlast that pause; a button that did would be held when it was only tapped. */
#define STICK_PAUSE 0.7
#define BUTTON_PAUSE 0.15
#define REPEAT_PAUSE 0.15

bool tt_joystick_press(tt_joystick_keys *keys, const tt_joystick_key *map, int map_count, int key,
                       double time) {
  for (int i = 0; i < map_count; i++) {
    if (map[i].key != key) continue;
    int control = map[i].control;
    bool repeated = keys->controls[control].held && keys->controls[control].value == map[i].value;
    double first = control <= TT_JOYSTICK_RIGHT_Y ? STICK_PAUSE : BUTTON_PAUSE;
    keys->controls[control].held = true;
    keys->controls[control].value = map[i].value;
    keys->controls[control].until = time + (repeated ? REPEAT_PAUSE : first);
    return true;
  }
  return false;
}

void tt_joystick_hold(tt_joystick_keys *keys, double time, int *values) {
  for (int i = 0; i < TT_JOYSTICK_VALUES; i++) {
    if (!keys->controls[i].held) continue;
    keys->controls[i].held = time < keys->controls[i].until;
    values[i] = keys->controls[i].held ? keys->controls[i].value : 0;
  }
}

void tt_joystick_release(tt_joystick_keys *keys) {
  for (int i = 0; i < TT_JOYSTICK_VALUES; i++) keys->controls[i].until = 0;
}

/* --- gamepads --- */

/** An axis' value on a stick's scale. */
static int scale_axis(int value, int minimum, int maximum) {
  if (maximum <= minimum) return 0;
  double middle = (minimum + (double)maximum) / 2, half = (maximum - (double)minimum) / 2;
  double part = (value - middle) / half;
  if (fabs(part) < 0.05) return 0;
  return (int)lround(fmax(-1, fmin(1, part)) * TT_SHARP_FULL);
}

static bool gamepad_axis(int code, int value, int minimum, int maximum, int *values) {
  switch (code) {
    case ABS_X: values[TT_JOYSTICK_LEFT_X] = scale_axis(value, minimum, maximum); return true;
    case ABS_Y: values[TT_JOYSTICK_LEFT_Y] = -scale_axis(value, minimum, maximum); return true;
    case ABS_RX: values[TT_JOYSTICK_RIGHT_X] = scale_axis(value, minimum, maximum); return true;
    case ABS_RY: values[TT_JOYSTICK_RIGHT_Y] = -scale_axis(value, minimum, maximum); return true;
    case ABS_HAT0X:
      values[TT_JOYSTICK_LEFT] = value < 0;
      values[TT_JOYSTICK_RIGHT] = value > 0;
      return true;
    case ABS_HAT0Y:
      values[TT_JOYSTICK_UP] = value < 0;
      values[TT_JOYSTICK_DOWN] = value > 0;
      return true;
    default: return false;
  }
}

enum { MICROSOFT = 0x045e };

int tt_joystick_button(int code, const char *driver, int vendor, const char *name) {
  bool by_letter = (driver != NULL && strcmp(driver, "xpad") == 0) || vendor == MICROSOFT ||
                   (name != NULL && (strstr(name, "X-Box") || strstr(name, "Xbox")));
  if (by_letter && code == BTN_X) return BTN_WEST;
  if (by_letter && code == BTN_Y) return BTN_NORTH;
  return code;
}

bool tt_joystick_gamepad(int type, int code, int value, int minimum, int maximum, int *values) {
  static const struct {
    int code, control;
  } buttons[] = {
      {BTN_SOUTH, TT_JOYSTICK_A},          {BTN_EAST, TT_JOYSTICK_B},
      {BTN_WEST, TT_JOYSTICK_X},           {BTN_NORTH, TT_JOYSTICK_Y},
      {BTN_SELECT, TT_JOYSTICK_BACK},      {BTN_MODE, TT_JOYSTICK_SELECT},
      {BTN_START, TT_JOYSTICK_START},      {BTN_DPAD_UP, TT_JOYSTICK_UP},
      {BTN_DPAD_DOWN, TT_JOYSTICK_DOWN},   {BTN_DPAD_LEFT, TT_JOYSTICK_LEFT},
      {BTN_DPAD_RIGHT, TT_JOYSTICK_RIGHT},
  };
  if (type == EV_ABS) return gamepad_axis(code, value, minimum, maximum, values);
  if (type != EV_KEY) return false;
  for (size_t i = 0; i < sizeof buttons / sizeof buttons[0]; i++) {
    if (buttons[i].code != code) continue;
    values[buttons[i].control] = value != 0;
    return true;
  }
  return false;
}

/* --- scripts --- */

enum { MAX_LINE = 256 };
#define MIN_ROUND 0.01 /* s: a period; a shorter round could not be played */
#define MAX_TIME 1e6   /* s: eleven days; beyond, periods would get lost in rounding */

/** Reads a whole number or decimal without exponent tricks; false when `word` is anything else. */
static bool read_number(const char *word, double *number) {
  char *end;
  *number = strtod(word, &end);
  return end != word && *end == '\0' && isfinite(*number) && strpbrk(word, "xXnN") == NULL;
}

/** One event from the words of a line; `where` is "FILE:LINE". */
static tt_status read_event(const char *where, char *line, double previous,
                            tt_joystick_event *event, tt_error *error) {
  static const char *const blanks = " \t,\r";
  char *rest;
  const char *time = strtok_r(line, blanks, &rest);
  const char *name = strtok_r(NULL, blanks, &rest);
  const char *value = strtok_r(NULL, blanks, &rest);
  if (name == NULL || strtok_r(NULL, blanks, &rest) != NULL) {
    return tt_fail(error, TT_INVALID, "%s: a line is `time control value`", where);
  }
  if (!read_number(time, &event->time) || event->time < previous || event->time > MAX_TIME) {
    return tt_fail(error, TT_INVALID,
                   "%s: '%s' is not a time in seconds from %g to %g; times never decrease", where,
                   time, previous, MAX_TIME);
  }
  if (strcmp(name, "repeat") == 0 && value == NULL) {
    event->control = TT_JOYSTICK_REPEAT;
    if (event->time >= MIN_ROUND) return TT_OK;
    return tt_fail(error, TT_INVALID, "%s: repeat needs a time of at least %g s", where, MIN_ROUND);
  }
  event->control = tt_joystick_control_find(name);
  if (event->control < 0) {
    return tt_fail(error, TT_INVALID,
                   "%s: unknown control '%s'; there are left_x left_y right_x right_y dpad_up "
                   "dpad_down dpad_left dpad_right a b x y back select start, and repeat",
                   where, name);
  }
  int lower, upper;
  double number;
  tt_joystick_control_range(event->control, &lower, &upper);
  if (value == NULL || !read_number(value, &number) || number < lower || number > upper ||
      number != floor(number)) {
    return tt_fail(error, TT_INVALID, "%s: %s takes a whole number from %d to %d", where, name,
                   lower, upper);
  }
  event->value = (int)number;
  return TT_OK;
}

/** Copies one line without its comment; false when it is too long. */
static bool copy_line(const char *text, size_t size, char *line) {
  const char *comment = memchr(text, '#', size);
  if (comment != NULL) size = (size_t)(comment - text);
  if (size >= MAX_LINE || memchr(text, '\0', size) != NULL) return false;
  memcpy(line, text, size);
  line[size] = '\0';
  return true;
}

static bool is_blank(const char *line) { return line[strspn(line, " \t,\r")] == '\0'; }

static tt_status parse_lines(const char *name, const char *text, size_t size,
                             tt_joystick_script *script, tt_error *error) {
  static const char mark[] = "\xEF\xBB\xBF"; /* which editors on Windows begin a text with */
  double previous = 0;
  if (size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
    text += sizeof mark - 1;
    size -= sizeof mark - 1;
  }
  for (int number = 1; size > 0; number++) {
    const char *newline = memchr(text, '\n', size);
    size_t length = newline == NULL ? size : (size_t)(newline - text);
    char where[512], line[MAX_LINE];
    snprintf(where, sizeof where, "%s:%d", name, number);
    if (!copy_line(text, length, line)) {
      return tt_fail(error, TT_INVALID, "%s: the line is not text of less than %d bytes", where,
                     MAX_LINE);
    }
    if (!is_blank(line)) {
      tt_joystick_event *event = &script->events[script->count];
      TT_TRY(read_event(where, line, previous, event, error));
      previous = event->time;
      script->count++;
      if (event->control == TT_JOYSTICK_REPEAT)
        return TT_OK; /* nothing after it would be reached */
    }
    size_t used = newline == NULL ? length : length + 1;
    text += used;
    size -= used;
  }
  script->events[script->count++] = (tt_joystick_event){previous, TT_JOYSTICK_END, 0};
  return TT_OK;
}

tt_status tt_joystick_script_parse(const char *name, const char *text, size_t size,
                                   tt_joystick_script *script, tt_error *error) {
  *script = (tt_joystick_script){.events = NULL};
  if (size > TT_JOYSTICK_MAX_SCRIPT) {
    return tt_fail(error, TT_INVALID, "%s: longer than %d bytes", name, TT_JOYSTICK_MAX_SCRIPT);
  }
  size_t most = 2; /* an event a line, and the end */
  for (size_t i = 0; i < size; i++) most += text[i] == '\n';
  script->events = calloc(most, sizeof *script->events);
  if (script->events == NULL) return tt_fail(error, TT_NOMEM, "%s: out of memory", name);
  tt_status status = parse_lines(name, text, size, script, error);
  if (status != TT_OK) tt_joystick_script_free(script);
  return status;
}

tt_status tt_joystick_script_load(const char *path, tt_joystick_script *script, tt_error *error) {
  *script = (tt_joystick_script){.events = NULL};
  tt_bytes text;
  TT_TRY(tt_file_read(path, TT_JOYSTICK_MAX_SCRIPT, &text, error));
  tt_status status =
      tt_joystick_script_parse(path, (const char *)text.data, text.size, script, error);
  tt_bytes_free(&text);
  return status;
}

bool tt_joystick_script_play(tt_joystick_script *script, double time, int *values) {
  while (time >= script->origin + script->events[script->next].time) {
    const tt_joystick_event *event = &script->events[script->next];
    if (event->control == TT_JOYSTICK_END) return false;
    if (event->control == TT_JOYSTICK_REPEAT) {
      /* after a pause of our own process whole rounds are left out rather than rushed through */
      script->origin += event->time * floor((time - script->origin) / event->time);
      script->next = 0;
      continue;
    }
    values[event->control] = event->value;
    script->next++;
  }
  return true;
}

void tt_joystick_script_free(tt_joystick_script *script) {
  free(script->events);
  *script = (tt_joystick_script){.events = NULL};
}
