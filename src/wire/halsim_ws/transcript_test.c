/* transcript_test.c: what a real program of season 2026 said is said again: answered sensibly, and twice the same. */
#include "wire/halsim_ws/halsim_ws_testing.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#define FOLDER TETHER_SOURCE_DIR "/src/wire/halsim_ws/transcripts/"
#define LONGEST 8192 /* bytes of a line */

/* What came of a replay. */
typedef struct outcome {
  char *heard; /* by the program */
  uint64_t hash;
  double y;
} outcome;

/* The next frame that the program said; false: there is none. */
static bool next_frame(gzFile from, double *time, char frame[LONGEST]) {
  char line[LONGEST];
  while (gzgets(from, line, sizeof line)) {
    struct json_object *entry;
    tt_error error;
    assert_int_equal(tt_json_read(line, strlen(line), TT_JSON_STRICT, &entry, &error), TT_OK);
    bool said = strcmp(tt_json_text(entry, "from"), "robot") == 0 && *tt_json_text(entry, "frame");
    if (said) {
      snprintf(frame, LONGEST, "%s", tt_json_text(entry, "frame"));
      *time = json_object_get_double(json_object_object_get(entry, "t"));
    }
    json_object_put(entry);
    if (said) return true;
  }
  return false;
}

/* The transcript's time is the world's: each frame is heard before the tick it falls into. */
static outcome replay(const char *name, bool listens, tt_rig *rig) {
  gzFile from = gzopen(name, "rb");
  assert_non_null(from);
  tt_rig_open(rig, "sharp-wpilib", NULL, 0, listens);
  tt_rig_connected(rig);
  const tt_wire *wire = tt_rig_wire(rig, 0);
  char frame[LONGEST];
  double time = 0;
  for (bool more = next_frame(from, &time, frame); more;) {
    uint64_t said = wire->stats.received;
    for (; more && time <= tt_world_view(rig->world)->time + 0.01; said++) {
      tt_websocket_send(rig->program.websocket, true, frame, strlen(frame));
      more = next_frame(from, &time, frame);
    }
    tt_rig_pump(rig, &wire->stats.received, said);
    tt_rig_tick(rig);
  }
  gzclose(from);
  return (outcome){.heard = rig->program.text,
                   .hash = tt_world_hash(rig->world),
                   .y = tt_rig_signal(rig, "chassis.y")};
}

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) count++;
  return count;
}

/* `trips` of the watchdog: where the simulator that was there began to speak late, the program fell silent meanwhile. */
static void check_answers(const tt_rig *rig, const outcome *came, uint64_t trips) {
  const tt_wire *wire = tt_rig_wire(rig, 0);
  for (int i = 0; i < TT_DROP_COUNT; i++) assert_int_equal(wire->stats.dropped[i], 0);
  assert_true(wire->stats.accepted == wire->stats.received);
  assert_int_equal(wire->stats.watchdog_trips, trips);
  int stations = count_of(came->heard, "\">new_data\":true");
  double seconds = tt_world_view(rig->world)->time;
  assert_in_range(stations, 50 * seconds - 2, 50 * seconds + 2);
  assert_true(count_of(came->heard, "\"type\":\"Encoder\",\"device\":\"0\"") > 50);
  assert_true(count_of(came->heard, "\"type\":\"Encoder\",\"device\":\"1\"") > 50);
  assert_int_equal(count_of(came->heard, "\"type\":\"Encoder\",\"device\":\"2\""), 0);
  double moved = came->y + 197 * 0.0254; /* from its place in the scene, forward */
  if (moved < 1) fail_msg("moved %g m", moved);
}

static void check(const char *name, bool listens, uint64_t trips) {
  tt_rig first, second;
  outcome one = replay(name, listens, &first), two = replay(name, listens, &second);
  check_answers(&first, &one, trips);
  assert_true(one.hash == two.hash);
  assert_string_equal(one.heard, two.heard);
  tt_rig_close(&first);
  tt_rig_close(&second);
}

static void a_program_that_listened(void **state) {
  (void)state;
  check(FOLDER "halsim-ws-2026-robot-listens.jsonl.gz", false, 1);
}

static void a_program_that_connected(void **state) {
  (void)state;
  check(FOLDER "halsim-ws-2026-robot-connects.jsonl.gz", true, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_that_listened),
      cmocka_unit_test(a_program_that_connected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
