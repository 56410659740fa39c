/* sharp_config_test.c: the YAML keys of core and joystick: defaults, players, and what is refused where. */
#include "scene/tree.h"
#include "control/sharp_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/** A file's text as a struct; the document's texts stay until release(). */
typedef struct loaded {
  tt_document *document;
  void *keys;
  const cyaml_schema_value_t *schema;
} loaded;

static loaded load(const char *text, const cyaml_schema_value_t *schema) {
  loaded loaded = {.schema = schema};
  tt_error error = {""};
  if (tt_document_parse("t.yaml", text, strlen(text), &loaded.document, &error) != TT_OK ||
      tt_document_read(loaded.document, schema, &loaded.keys, &error) != TT_OK) {
    fail_msg("%s", error.text);
  }
  return loaded;
}

static void release(loaded *loaded) {
  tt_document_release(loaded->schema, loaded->keys);
  tt_document_free(loaded->document);
}

/* Member by member: what lies between members (padding) is anything. */
static void assert_same_settings(const tt_sharp_core_settings *a, const tt_sharp_core_settings *b) {
  const double left[] = {a->period,
                         a->joystick_timeout,
                         a->vehicle_timeout,
                         a->elevator_speed,
                         a->kp,
                         a->ki,
                         a->kd,
                         a->integral_limit,
                         a->tolerance,
                         a->hold_limit,
                         a->slew,
                         a->slew_slipping,
                         a->slip,
                         a->acceleration,
                         a->headroom,
                         a->slip_hold,
                         a->full_speed,
                         a->left_full_speed,
                         a->right_full_speed,
                         a->lag,
                         a->smoothing,
                         a->still_time};
  const double right[] = {b->period,
                          b->joystick_timeout,
                          b->vehicle_timeout,
                          b->elevator_speed,
                          b->kp,
                          b->ki,
                          b->kd,
                          b->integral_limit,
                          b->tolerance,
                          b->hold_limit,
                          b->slew,
                          b->slew_slipping,
                          b->slip,
                          b->acceleration,
                          b->headroom,
                          b->slip_hold,
                          b->full_speed,
                          b->left_full_speed,
                          b->right_full_speed,
                          b->lag,
                          b->smoothing,
                          b->still_time};
  assert_memory_equal(left, right, sizeof left);
  assert_memory_equal(a->presets, b->presets, sizeof a->presets);
  assert_int_equal(a->tank, b->tank);
  assert_int_equal(a->traction, b->traction);
}

static void an_empty_file_means_the_defaults(void **state) {
  (void)state;
  loaded file = load("{}", &tt_sharp_core_schema);
  tt_sharp_core_config *config = file.keys;
  tt_error error;
  assert_int_equal(tt_sharp_core_config_check(config, "t.yaml", &error), TT_OK);
  tt_sharp_core_settings defaults = tt_sharp_core_settings_default();
  assert_same_settings(&config->settings, &defaults);
  assert_string_equal(config->joystick.bind, "127.0.0.1:4000");
  assert_string_equal(config->joystick.peer, "127.0.0.1:2000");
  assert_string_equal(config->vehicle.bind, "127.0.0.1:6000");
  assert_string_equal(config->vehicle.peer, "127.0.0.1:8000");
  assert_int_equal(config->message_style, TT_SHARP_COLUMNS);
  release(&file);
}

static void the_sample_file_shows_the_defaults(void **state) {
  (void)state;
  tt_document *document;
  tt_error error;
  void *keys;
  assert_int_equal(tt_document_load(TETHER_SOURCE_DIR "/robots/sharp/core.yaml", &document, &error),
                   TT_OK);
  assert_int_equal(tt_document_read(document, &tt_sharp_core_schema, &keys, &error), TT_OK);
  tt_sharp_core_config *config = keys;
  assert_int_equal(tt_sharp_core_config_check(config, "core.yaml", &error), TT_OK);
  tt_sharp_core_settings defaults = tt_sharp_core_settings_default();
  assert_true(config->settings.full_speed - defaults.full_speed < 0.001);
  config->settings.full_speed = defaults.full_speed;
  assert_same_settings(&config->settings, &defaults);
  tt_document_release(&tt_sharp_core_schema, keys);
  tt_document_free(document);

  assert_int_equal(
      tt_document_load(TETHER_SOURCE_DIR "/robots/sharp/joystick.yaml", &document, &error), TT_OK);
  assert_int_equal(tt_document_read(document, &tt_joystick_schema, &keys, &error), TT_OK);
  assert_int_equal(tt_joystick_config_check(keys, "joystick.yaml", &error), TT_OK);
  tt_document_release(&tt_joystick_schema, keys);
  tt_document_free(document);
}

static void a_player_has_ports_of_its_own(void **state) {
  (void)state;
  loaded file = load("{player: 3, vehicle: {peer: '10.0.0.7:9000'}}", &tt_sharp_core_schema);
  tt_sharp_core_config *config = file.keys;
  tt_error error;
  assert_int_equal(tt_sharp_core_config_check(config, "t.yaml", &error), TT_OK);
  assert_string_equal(config->joystick.bind, "127.0.0.1:4020");
  assert_string_equal(config->vehicle.bind, "127.0.0.1:6020");
  assert_string_equal(config->vehicle.peer, "10.0.0.7:9000");
  release(&file);

  file = load("{player: 2}", &tt_joystick_schema);
  tt_joystick_config *joystick = file.keys;
  assert_int_equal(tt_joystick_config_check(joystick, "t.yaml", &error), TT_OK);
  assert_string_equal(joystick->bind, "127.0.0.1:2010");
  assert_string_equal(joystick->peer, "127.0.0.1:4010");
  assert_true(joystick->timeout_seconds == 0.1 && joystick->period_seconds == TT_SHARP_PERIOD);
  release(&file);
}

static void every_key_is_taken(void **state) {
  (void)state;
  loaded file = load(
      "{period: 20 ms, style: json, mode: tank, joystick: {timeout: 1 s},\n"
      " vehicle: {timeout: 2 s},\n"
      " elevator: {speed: 1, kp: 2, ki: 3, kd: 4, integral_limit: 5, hold_limit: 6,\n"
      "            tolerance: 7, presets: {a: -1, b: 8, x: 9, y: 1023}},\n"
      " traction: {enabled: false, slew: 10, slew_slipping: 11, slip: 0.5,\n"
      "            acceleration: 13, headroom: 14,\n"
      "            left_full_speed: 10, right_full_speed: 11,\n"
      "            full_speed: 12, slip_hold: 1 s, lag: 2 s, smoothing: 3 s,\n"
      "            still_time: 4 s}}",
      &tt_sharp_core_schema);
  tt_sharp_core_config *config = file.keys;
  tt_error error;
  assert_int_equal(tt_sharp_core_config_check(config, "t.yaml", &error), TT_OK);
  const tt_sharp_core_settings expected = {.period = 0.02,
                                           .joystick_timeout = 1,
                                           .vehicle_timeout = 2,
                                           .tank = true,
                                           .elevator_speed = 1,
                                           .kp = 2,
                                           .ki = 3,
                                           .kd = 4,
                                           .integral_limit = 5,
                                           .hold_limit = 6,
                                           .tolerance = 7,
                                           .presets = {-1, 8, 9, 1023},
                                           .traction = false,
                                           .slew = 10,
                                           .slew_slipping = 11,
                                           .slip = 0.5,
                                           .acceleration = 13,
                                           .headroom = 14,
                                           .slip_hold = 1,
                                           .full_speed = 12,
                                           .left_full_speed = 10,
                                           .right_full_speed = 11,
                                           .lag = 2,
                                           .smoothing = 3,
                                           .still_time = 4};
  const tt_sharp_core_settings *got = &config->settings;
  assert_true(got->period == expected.period && got->joystick_timeout == 1 &&
              got->vehicle_timeout == 2 && got->tank && got->elevator_speed == 1);
  assert_true(got->kp == 2 && got->ki == 3 && got->kd == 4 && got->integral_limit == 5 &&
              got->hold_limit == 6 && got->tolerance == 7);
  assert_memory_equal(got->presets, expected.presets, sizeof expected.presets);
  assert_true(!got->traction && got->slew == 10 && got->slew_slipping == 11 && got->slip == 0.5 &&
              got->acceleration == 13 && got->headroom == 14);
  assert_true(got->slip_hold == 1 && got->full_speed == 12 && got->left_full_speed == 10 &&
              got->right_full_speed == 11 && got->lag == 2 && got->smoothing == 3 &&
              got->still_time == 4);
  assert_int_equal(config->message_style, TT_SHARP_JSON);
  release(&file);
}

static void what_is_wrong_is_refused_by_its_key(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"{player: 0}", "t.yaml: player: 0 is no player"},
      {"{player: 101}", "player"},
      {"{period: 0 s}", "t.yaml: period"},
      {"{period: fast}", "t.yaml: period"},
      {"{period: 16 ms}", "no time from 1/60 s to 1 s"},
      {"{style: xml}", "t.yaml: style: 'xml' is not one of columns, json"},
      {"{mode: crab}", "t.yaml: mode: 'crab' is not one of arcade, tank"},
      {"{joystick: {timeout: 1 ms}}", "t.yaml: joystick.timeout"},
      {"{vehicle: {timeout: x}}", "t.yaml: vehicle.timeout"},
      {"{elevator: {speed: 513}}", "t.yaml: elevator.speed"},
      {"{elevator: {kp: -1}}", "elevator.kp"},
      {"{elevator: {ki: -1}}", "elevator.ki"},
      {"{elevator: {kd: -1}}", "elevator.kd"},
      {"{elevator: {integral_limit: -1}}", "elevator.integral_limit"},
      {"{elevator: {hold_limit: 600}}", "elevator.hold_limit"},
      {"{elevator: {tolerance: -1}}", "elevator.tolerance"},
      {"{elevator: {presets: {a: 1024}}}", "elevator.presets.a"},
      {"{elevator: {presets: {b: -2}}}", "elevator.presets.b"},
      {"{elevator: {presets: {x: 1024}}}", "elevator.presets.x"},
      {"{elevator: {presets: {y: 1024}}}", "elevator.presets.y"},
      {"{traction: {slew: 0}}", "traction.slew:"},
      {"{traction: {slew_slipping: 0}}", "traction.slew_slipping"},
      {"{traction: {slip: 0}}", "traction.slip:"},
      {"{traction: {acceleration: 0}}", "traction.acceleration"},
      {"{traction: {headroom: 2000}}", "traction.headroom"},
      {"{traction: {full_speed: 0}}", "traction.full_speed"},
      {"{traction: {left_full_speed: 0}}", "traction.left_full_speed"},
      {"{traction: {right_full_speed: -1}}", "traction.right_full_speed"},
      {"{traction: {slip_hold: -1 s}}", "traction.slip_hold"},
      {"{traction: {lag: 1 m}}", "traction.lag"},
      {"{traction: {smoothing: 11 s}}", "traction.smoothing"},
      {"{traction: {still_time: x}}", "traction.still_time"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    loaded file = load(bad[i].text, &tt_sharp_core_schema);
    tt_error error = {""};
    assert_int_equal(tt_sharp_core_config_check(file.keys, "t.yaml", &error), TT_INVALID);
    if (strstr(error.text, bad[i].says) == NULL) {
      fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].text, error.text, bad[i].says);
    }
    release(&file);
  }
  static const char *const joysticks[] = {"{player: 0}",
                                          "{period: 2 s}",
                                          "{period: 10 ms}",
                                          "{style: xml}",
                                          "{heartbeat_timeout: 1 ms}",
                                          "{heartbeat_timeout: x}"};
  for (size_t i = 0; i < sizeof joysticks / sizeof joysticks[0]; i++) {
    loaded file = load(joysticks[i], &tt_joystick_schema);
    tt_error error;
    assert_int_equal(tt_joystick_config_check(file.keys, "t.yaml", &error), TT_INVALID);
    release(&file);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_file_means_the_defaults),
      cmocka_unit_test(the_sample_file_shows_the_defaults),
      cmocka_unit_test(a_player_has_ports_of_its_own),
      cmocka_unit_test(every_key_is_taken),
      cmocka_unit_test(what_is_wrong_is_refused_by_its_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
