/* sharp_config_fuzz.c: any text as the YAML of core and joystick: refused with a reason, or sane settings. */
#include "scene/tree.h"
#include "control/sharp_config.h"
#include "control/sharp_original.h"
#include "scene/stranger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void check_core(tt_sharp_core_config *config) {
  tt_error error = {.text = ""};
  if (tt_sharp_core_config_check(config, "f", &error) != TT_OK) {
    check(error.text[0] != '\0');
    return;
  }
  tt_sharp_core core;
  tt_sharp_core_input input = {.joystick_heard = true, .vehicle_heard = true};
  tt_sharp_core_output output;
  tt_sharp_core_init(&core, &config->settings);
  for (int i = 0; i < 100; i++) {
    for (int v = 0; v < TT_JOYSTICK_VALUES; v++) input.joystick[v] = v < 4 ? 512 - 9 * i : i & 1;
    for (int v = 0; v < TT_SHARP_STATE_VALUES; v++) input.state[v] = (i * 37 * (v + 1)) % 1024;
    tt_sharp_core_step(&core, &input, &output);
    for (int v = 0; v < 3; v++) check(abs(output.command[v]) <= TT_SHARP_FULL);
    check(isfinite(core.integral) && isfinite(core.lift_speed));
  }
}

static void check_joystick(tt_joystick_config *config) {
  tt_error error = {.text = ""};
  if (tt_joystick_config_check(config, "f", &error) != TT_OK) check(error.text[0] != '\0');
}

/** What an original's file means can be set, and is within what our own keys take or refused by them. */
static void check_original(const tt_document *document) {
  for (int program = TT_SHARP_PROGRAM_CORE; program <= TT_SHARP_PROGRAM_VEHICLE; program++) {
    tt_sharp_original original;
    tt_document *made;
    tt_error error = {.text = ""};
    const tt_sharp_reader reader = {(tt_sharp_program)program, 1, "wires.sharp-json"};
    tt_status status = tt_sharp_original_read(document, &reader, &original, &error);
    check(status == TT_OK || error.text[0] != '\0');
    check(strlen(original.unused) < sizeof original.unused);
    check(tt_document_parse("f", "{}", 2, &made, &error) == TT_OK);
    for (int i = 0; status == TT_OK && i < original.count; i++)
      tt_document_set(made, original.settings[i], &error);
    tt_document_free(made);
    tt_sharp_original_free(&original);
  }
}

static void one(const uint8_t *data, size_t size, const cyaml_schema_value_t *schema) {
  tt_document *document;
  tt_error error = {.text = ""};
  void *keys;
  if (tt_document_parse("f", (const char *)data, size, &document, &error) != TT_OK) return;
  if (tt_stranger_is_original(document)) check_original(document);
  if (tt_document_read(document, schema, &keys, &error) == TT_OK) {
    if (schema == &tt_sharp_core_schema) {
      check_core(keys);
    } else {
      check_joystick(keys);
    }
    tt_document_release(schema, keys);
  }
  tt_document_free(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  one(data, size, &tt_sharp_core_schema);
  one(data, size, &tt_joystick_schema);
  return 0;
}
