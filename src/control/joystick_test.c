/* joystick_test.c: keys, gamepad events and scripts as stick positions. */
#include "control/joystick.h"

#include <linux/input-event-codes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const tt_joystick_key map[] = {
    {'w', TT_JOYSTICK_LEFT_Y, 512}, {'s', TT_JOYSTICK_LEFT_Y, -512}, {'1', TT_JOYSTICK_A, 1}};

static void controls_are_found_by_name(void **state) {
  (void)state;
  for (int i = 0; i < TT_JOYSTICK_VALUES; i++) {
    assert_int_equal(tt_joystick_control_find(tt_joystick_control_name(i)), i);
  }
  assert_int_equal(tt_joystick_control_find("wheel"), -1);
}

static void a_stick_key_outlasts_the_pause_before_repeats(void **state) {
  (void)state;
  tt_joystick_keys keys = {0};
  int values[TT_JOYSTICK_VALUES] = {0};
  assert_true(tt_joystick_press(&keys, map, 3, 'w', 10));
  tt_joystick_hold(&keys, 10.66, values);
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], 512);
  tt_joystick_press(&keys, map, 3, 'w', 10.66);
  tt_joystick_hold(&keys, 10.75, values);
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], 512);
  tt_joystick_hold(&keys, 10.85, values);
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], 0);
  values[TT_JOYSTICK_LEFT_Y] = 7; /* nobody holds it any more: another source may */
  tt_joystick_hold(&keys, 11, values);
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], 7);
}

static void a_tapped_button_is_released_soon(void **state) {
  (void)state;
  tt_joystick_keys keys = {0};
  int values[TT_JOYSTICK_VALUES] = {0};
  tt_joystick_press(&keys, map, 3, '1', 0);
  tt_joystick_hold(&keys, 0.1, values);
  assert_int_equal(values[TT_JOYSTICK_A], 1);
  tt_joystick_hold(&keys, 0.2, values);
  assert_int_equal(values[TT_JOYSTICK_A], 0);
}

static void the_other_direction_takes_over_at_once(void **state) {
  (void)state;
  tt_joystick_keys keys = {0};
  int values[TT_JOYSTICK_VALUES] = {0};
  tt_joystick_press(&keys, map, 3, 'w', 0);
  tt_joystick_press(&keys, map, 3, 's', 0.1);
  tt_joystick_hold(&keys, 0.2, values);
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], -512);
  tt_joystick_release(&keys);
  tt_joystick_hold(&keys, 0.2, values);
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], 0);
  assert_false(tt_joystick_press(&keys, map, 3, '?', 1));
}

static void gamepad_axes_reach_full_deflection(void **state) {
  (void)state;
  int values[TT_JOYSTICK_VALUES] = {0};
  assert_true(tt_joystick_gamepad(EV_ABS, ABS_X, 32767, -32768, 32767, values));
  assert_int_equal(values[TT_JOYSTICK_LEFT_X], 512);
  tt_joystick_gamepad(EV_ABS, ABS_Y, 0, 0, 255, values);
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], 512); /* up is negative on a gamepad */
  tt_joystick_gamepad(EV_ABS, ABS_RX, -32768, -32768, 32767, values);
  assert_int_equal(values[TT_JOYSTICK_RIGHT_X], -512);
  tt_joystick_gamepad(EV_ABS, ABS_RY, 191, 0, 255, values);
  assert_in_range(-values[TT_JOYSTICK_RIGHT_Y], 250, 260);
  tt_joystick_gamepad(EV_ABS, ABS_X, 1000, -32768, 32767, values);
  assert_int_equal(values[TT_JOYSTICK_LEFT_X], 0);     /* dead zone */
  tt_joystick_gamepad(EV_ABS, ABS_X, 5, 3, 3, values); /* a device that tells no range */
  assert_int_equal(values[TT_JOYSTICK_LEFT_X], 0);
}

static void gamepad_buttons_and_hats(void **state) {
  (void)state;
  int values[TT_JOYSTICK_VALUES] = {0};
  assert_true(tt_joystick_gamepad(EV_KEY, BTN_SOUTH, 1, 0, 0, values));
  assert_int_equal(values[TT_JOYSTICK_A], 1);
  tt_joystick_gamepad(EV_KEY, BTN_SOUTH, 0, 0, 0, values);
  assert_int_equal(values[TT_JOYSTICK_A], 0);
  tt_joystick_gamepad(EV_ABS, ABS_HAT0Y, -1, -1, 1, values);
  assert_int_equal(values[TT_JOYSTICK_UP], 1);
  assert_int_equal(values[TT_JOYSTICK_DOWN], 0);
  tt_joystick_gamepad(EV_ABS, ABS_HAT0Y, 1, -1, 1, values);
  assert_int_equal(values[TT_JOYSTICK_UP], 0);
  assert_int_equal(values[TT_JOYSTICK_DOWN], 1);
  tt_joystick_gamepad(EV_ABS, ABS_HAT0X, 1, -1, 1, values);
  assert_int_equal(values[TT_JOYSTICK_RIGHT], 1);
  assert_false(tt_joystick_gamepad(EV_KEY, KEY_A, 1, 0, 0, values));
  assert_false(tt_joystick_gamepad(EV_ABS, ABS_MISC, 1, 0, 1, values));
  assert_false(tt_joystick_gamepad(EV_SYN, 0, 0, 0, 0, values));
}

/* X is to the left of Y on a pad of Microsoft's; other drivers report where a button stands. */
static void an_xbox_pad_s_x_is_x(void **state) {
  (void)state;
  static const struct {
    const char *driver;
    int vendor;
    const char *name;
    bool by_letter;
  } pads[] = {{"xpad", 0x045e, "Microsoft X-Box One pad", true},
              {"xpad", 0x046d, "Logitech Gamepad F310", true},
              {"logitech", 0x046d, "Logitech Dual Action", false},
              {"microsoft", 0x045e, NULL, true},
              {NULL, 0x0e6f, "PDP Xbox One Controller", true},
              {"", 0x046d, "Generic X-Box pad", true},
              {"playstation", 0x054c, "Sony Interactive Entertainment Wireless Controller", false},
              {"nintendo", 0x057e, "Nintendo Switch Pro Controller", false},
              {NULL, 0, NULL, false}};
  for (size_t i = 0; i < sizeof pads / sizeof *pads; i++) {
    static const int codes[] = {BTN_X, BTN_Y, BTN_A, BTN_B, BTN_START};
    static const int by_letter[] = {TT_JOYSTICK_X, TT_JOYSTICK_Y, TT_JOYSTICK_A, TT_JOYSTICK_B,
                                    TT_JOYSTICK_START};
    for (int k = 0; k < 5; k++) {
      int values[TT_JOYSTICK_VALUES] = {0};
      int code = tt_joystick_button(codes[k], pads[i].driver, pads[i].vendor, pads[i].name);
      assert_true(tt_joystick_gamepad(EV_KEY, code, 1, 0, 0, values));
      const int control = pads[i].by_letter || k > 1 ? by_letter[k] : by_letter[1 - k];
      assert_int_equal(values[control], 1);
    }
  }
}

static tt_status parse(const char *text, tt_joystick_script *script, tt_error *error) {
  return tt_joystick_script_parse("drive.txt", text, strlen(text), script, error);
}

static void a_script_moves_controls_in_time(void **state) {
  (void)state;
  tt_joystick_script script;
  tt_error error;
  assert_int_equal(parse("# forward, then left\n\n0 left_y 512\n0.5, left_y, -100 # back\r\n"
                         "0.5\tdpad_up\t1\n1 left_y 0",
                         &script, &error),
                   TT_OK);
  int values[TT_JOYSTICK_VALUES] = {0};
  assert_true(tt_joystick_script_play(&script, 0, values));
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], 512);
  assert_true(tt_joystick_script_play(&script, 0.49, values));
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], 512);
  assert_true(tt_joystick_script_play(&script, 0.5, values));
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], -100);
  assert_int_equal(values[TT_JOYSTICK_UP], 1);
  assert_false(tt_joystick_script_play(&script, 1, values));
  assert_int_equal(values[TT_JOYSTICK_LEFT_Y], 0);
  assert_false(tt_joystick_script_play(&script, 2, values));
  tt_joystick_script_free(&script);
}

static void a_script_may_begin_with_a_byte_order_mark(void **state) {
  (void)state;
  tt_joystick_script script;
  tt_error error = {.text = ""};
  if (parse("\xEF\xBB\xBF"
            "0 left_y 512\n",
            &script, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_joystick_script_free(&script);
  assert_int_equal(parse("\xEF\xBB\xBF"
                         "0 left_y\n",
                         &script, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "drive.txt:1: "));
}

static void a_script_repeats(void **state) {
  (void)state;
  tt_joystick_script script;
  tt_error error;
  assert_int_equal(parse("0 a 1\n0.5 a 0\n2 repeat\n", &script, &error), TT_OK);
  int values[TT_JOYSTICK_VALUES] = {0};
  for (double round = 0; round < 10; round += 2) {
    assert_true(tt_joystick_script_play(&script, round + 0.25, values));
    assert_int_equal(values[TT_JOYSTICK_A], 1);
    assert_true(tt_joystick_script_play(&script, round + 1.5, values));
    assert_int_equal(values[TT_JOYSTICK_A], 0);
  }
  assert_true(tt_joystick_script_play(&script, 1e5 + 0.25, values));
  assert_int_equal(values[TT_JOYSTICK_A], 1);
  tt_joystick_script_free(&script);
}

static void a_bad_script_is_refused_with_its_line(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"0 a 1\n1 a\n", "drive.txt:2: a takes a whole number from 0 to 1"},
      {"1\n", "drive.txt:1: a line is `time control value`"},
      {"0 a 1 1\n", "`time control value`"},
      {"x a 1\n", "'x' is not a time"},
      {"0x10 a 1\n", "is not a time"},
      {"inf a 1\n", "is not a time"},
      {"nan a 1\n", "is not a time"},
      {"1e7 a 1\n", "is not a time"},
      {"-1 a 1\n", "is not a time"},
      {"1 a 1\n0.5 a 0\n", "drive.txt:2: '0.5' is not a time in seconds from 1"},
      {"0 wheel 1\n", "unknown control 'wheel'; there are left_x"},
      {"0 a 2\n", "a takes a whole number from 0 to 1"},
      {"0 a 0.5\n", "a takes a whole number"},
      {"0 a one\n", "a takes a whole number"},
      {"0 left_y 513\n", "from -512 to 512"},
      {"0 left_y -513\n", "from -512 to 512"},
      {"0 repeat\n", "at least 0.01 s"},
      {"1 repeat 2\n", "unknown control 'repeat'"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tt_joystick_script script;
    tt_error error;
    assert_int_equal(parse(bad[i].text, &script, &error), TT_INVALID);
    if (strstr(error.text, bad[i].says) == NULL) {
      fail_msg("\"%s\" does not say \"%s\"", error.text, bad[i].says);
    }
    assert_null(script.events);
  }
}

static void bytes_that_are_no_text_are_refused(void **state) {
  (void)state;
  tt_joystick_script script;
  tt_error error;
  assert_int_equal(tt_joystick_script_parse("s", "0 a \0 1", 7, &script, &error), TT_INVALID);
  static char text[TT_JOYSTICK_MAX_SCRIPT + 1];
  memset(text, ' ', sizeof text);
  assert_int_equal(tt_joystick_script_parse("s", text, 300, &script, &error), TT_INVALID);
  assert_int_equal(tt_joystick_script_parse("s", text, sizeof text, &script, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "longer than"));
}

static void a_script_is_loaded_from_a_file(void **state) {
  (void)state;
  tt_joystick_script script;
  tt_error error;
  assert_int_equal(tt_joystick_script_load("/nonexistent/drive.txt", &script, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "/nonexistent/drive.txt: No such file"));
  assert_int_equal(tt_joystick_script_load("/", &script, &error), TT_INVALID);
  char pipe[] = "/tmp/tether_joystick_XXXXXX";
  int taken = mkstemp(pipe);
  assert_true(taken >= 0 && close(taken) == 0 && unlink(pipe) == 0 && mkfifo(pipe, 0600) == 0);
  assert_int_equal(tt_joystick_script_load(pipe, &script, &error), TT_INVALID);
  unlink(pipe);
  char path[] = "/tmp/tether_joystick_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, "0 a 1\n", 6), 6);
  close(file);
  assert_int_equal(tt_joystick_script_load(path, &script, &error), TT_OK);
  unlink(path);
  assert_int_equal(script.count, 2);
  tt_joystick_script_free(&script);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(controls_are_found_by_name),
      cmocka_unit_test(a_stick_key_outlasts_the_pause_before_repeats),
      cmocka_unit_test(a_tapped_button_is_released_soon),
      cmocka_unit_test(the_other_direction_takes_over_at_once),
      cmocka_unit_test(gamepad_axes_reach_full_deflection),
      cmocka_unit_test(gamepad_buttons_and_hats),
      cmocka_unit_test(an_xbox_pad_s_x_is_x),
      cmocka_unit_test(a_script_moves_controls_in_time),
      cmocka_unit_test(a_script_may_begin_with_a_byte_order_mark),
      cmocka_unit_test(a_script_repeats),
      cmocka_unit_test(a_bad_script_is_refused_with_its_line),
      cmocka_unit_test(bytes_that_are_no_text_are_refused),
      cmocka_unit_test(a_script_is_loaded_from_a_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
