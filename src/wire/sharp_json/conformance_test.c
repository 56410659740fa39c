/* conformance_test.c: sharp-json passes what every wire has to pass. Its numbers are text: the codec's tests spoil them. */
#include "sharp/codec.h"
#include "wire/conformance_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static size_t message(uint64_t n, uint8_t *bytes) {
  const int values[TT_SHARP_COMMAND_VALUES] = {100 + (int)(n % 300), -100, (int)(n % 5), 0, 0, 0};
  char text[TT_SHARP_MAX_TEXT];
  size_t size = tt_sharp_encode(&tt_sharp_command_format, TT_SHARP_COLUMNS, values, text);
  memcpy(bytes, text, size);
  return size;
}

static const char *const settings[] = {"wires.sharp-json.bind=127.0.0.1:0",
                                       "wires.sharp-json.peer=sender"};
static const tt_conformance wire = {.scene = "sharp",
                                    .wire = "sharp-json",
                                    .settings = settings,
                                    .setting_count = 2,
                                    .message = message};

typedef struct drivers {
  tt_journal_sink sink;
  int told;
} drivers;

static tt_status note_driver(tt_journal_sink *sink, const tt_entry *entry) {
  if (entry->kind == TT_ENTRY_EVENT && strncmp(entry->text, "driven by", 9) == 0)
    ((drivers *)sink)->told++;
  return TT_OK;
}

static void tick_until(const tt_under_test *under, double time) {
  tt_error error = {""};
  while (tt_world_view(under->world)->time < time)
    assert_int_equal(tt_world_tick(under->world, &error), TT_OK);
}

/* Whoever spoke last drives. Who drives is told once a second at most, or a journal would be all about it. */
static void many_that_drive_in_turn_are_told_once_a_second(void **state) {
  (void)state;
  tt_under_test under;
  drivers drivers = {.sink = {.write = note_driver}};
  uint8_t bytes[TT_CONFORMANCE_MESSAGE];
  tt_under_test_open(&under, &wire);
  tt_world_add_journal(under.world, &drivers.sink);
  tt_world_start(under.world);
  const tt_wire *of = tt_under_test_wire(&under);
  for (int i = 1; i <= 100; i++) {
    int s = tt_under_test_connect(&under, SOCK_DGRAM);
    assert_true(send(s, bytes, message((uint64_t)i, bytes), 0) > 0);
    tick_until(&under, 0.025 * i);
    close(s);
  }
  assert_true(of->stats.accepted >= 90);
  assert_in_range(drivers.told, 2, 3); /* within 2.5 s */
  int last = drivers.told, s = tt_under_test_connect(&under, SOCK_DGRAM);
  for (int i = 0; i < 2; i++) { /* who stays is told in the end */
    assert_true(send(s, bytes, message(500, bytes), 0) > 0);
    tick_until(&under, 3.6 + 0.1 * i);
  }
  assert_int_equal(drivers.told, last + 1);
  close(s);
  tt_world_detach(under.world);
  tt_under_test_close(&under);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_that_drive_in_turn_are_told_once_a_second)};
  return tt_conformance_datagrams(&wire) + tt_conformance_in_lockstep(&wire) +
         cmocka_run_group_tests(tests, NULL, NULL);
}
