/* joystick_pace_test.c: when a joystick's messages leave, against cores of every kind. */
#include "control/joystick_pace.h"
#include "sharp/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS 1000000u
#define BEGIN 1000000000u /* ns: any time but 0 */

static tt_joystick_pace new_pace(void) { return (tt_joystick_pace){.period = TT_SHARP_PERIOD}; }

/** Messages sent in `ms` milliseconds to a core that sends a heartbeat every `every` ms (0: never) from BEGIN on. */
static int sent_in(tt_joystick_pace *pace, int ms, int every) {
  int sent = 0;
  uint64_t last = 0;
  for (int i = 0; i < ms; i++) {
    uint64_t now = BEGIN + (uint64_t)i * MS;
    if (every > 0 && i % every == 0) tt_joystick_pace_heard(pace, now);
    if (now < tt_joystick_pace_next(pace)) continue;
    assert_true(last == 0 || now - last >= (uint64_t)(TT_SHARP_PERIOD * 1e9));
    tt_joystick_pace_sent(pace, now);
    last = now;
    sent++;
  }
  return sent;
}

static void a_heartbeat_permits_one_message(void **state) {
  (void)state;
  tt_joystick_pace pace = new_pace();
  assert_in_range(sent_in(&pace, 3000, 50), 59, 61); /* a slow core gets as many as it asks for */
}

static void never_more_than_sixty_a_second(void **state) {
  (void)state;
  for (int every = 0; every <= 16; every++) {
    tt_joystick_pace pace = new_pace();
    assert_in_range(sent_in(&pace, 3000, every), 120, 180);
  }
}

static void who_sends_no_heartbeat_is_spoken_to_all_the_same(void **state) {
  (void)state;
  tt_joystick_pace pace = new_pace();
  tt_joystick_pace_heard(&pace, BEGIN);
  tt_joystick_pace_sent(&pace, BEGIN);
  assert_int_equal(tt_joystick_pace_next(&pace), BEGIN + 100 * MS);
  tt_joystick_pace_sent(&pace, BEGIN + 100 * MS);
  assert_in_range(tt_joystick_pace_next(&pace), BEGIN + 116 * MS, BEGIN + 117 * MS);
  tt_joystick_pace_heard(&pace, BEGIN + 105 * MS); /* it is back: its heartbeats count again */
  assert_in_range(tt_joystick_pace_next(&pace), BEGIN + 116 * MS, BEGIN + 117 * MS);
  tt_joystick_pace_sent(&pace, BEGIN + 117 * MS);
  assert_int_equal(tt_joystick_pace_next(&pace), BEGIN + 205 * MS);
}

static void the_sign_shows_the_heartbeats(void **state) {
  (void)state;
  tt_joystick_pace pace = new_pace();
  assert_false(tt_joystick_pace_connected(&pace, BEGIN, 0.1));
  tt_joystick_pace_heard(&pace, BEGIN);
  assert_true(tt_joystick_pace_connected(&pace, BEGIN + 99 * MS, 0.1));
  assert_false(tt_joystick_pace_connected(&pace, BEGIN + 100 * MS, 0.1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_heartbeat_permits_one_message),
      cmocka_unit_test(never_more_than_sixty_a_second),
      cmocka_unit_test(who_sends_no_heartbeat_is_spoken_to_all_the_same),
      cmocka_unit_test(the_sign_shows_the_heartbeats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
