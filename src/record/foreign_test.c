/* Logs of other programs become runs: numbers, flags, arrays and texts; in order of time, from 0 on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/foreign.h"
#include "record/run_json.h"
#include "record/run_modes.h"
#include "record/summary.h"
#include "record/trace.h"

#define BEGIN 5000000u /* µs: FPGA time of the first record */

static tt_status append(void *context, const void *bytes, size_t size) {
  tt_bytes_append(context, bytes, size);
  return TT_OK;
}

static const tt_export_sink *into(tt_bytes *out) {
  static tt_export_sink sink = {.write = append};
  sink.context = out;
  return &sink;
}

static void write_single(tt_bytes *out, uint32_t id, uint64_t time, float value) {
  tt_wpilog_write(out, id, time, &value, sizeof value);
}

static void write_int(tt_bytes *out, uint32_t id, uint64_t time, int64_t value) {
  tt_wpilog_write(out, id, time, &value, sizeof value);
}

/* As WPILib's DataLogManager writes them. */
static tt_bytes make_log(void) {
  tt_bytes out = {0};
  const double three[] = {1, 2, 3};
  tt_wpilog_write_header(&out, "AdvantageKit");
  tt_wpilog_write_start(&out, 1, "NT:/SmartDashboard/speed", "double", "{\"unit\":\"m/s\"}", BEGIN);
  tt_wpilog_write_start(&out, 2, "/RealOutputs/Arm/angle", "float", "", BEGIN);
  tt_wpilog_write_start(&out, 3, "systemTime", "int64", "", BEGIN);
  tt_wpilog_write_start(&out, 4, "DS:enabled", "boolean", "", BEGIN);
  tt_wpilog_write_start(&out, 5, "NT:/FMSInfo/EventName", "string", "", BEGIN);
  tt_wpilog_write_start(&out, 6, "/Modules", "double[]", "", BEGIN);
  tt_wpilog_write_start(&out, 7, "/Pose", "struct:Pose2d", "", BEGIN);
  tt_wpilog_write_start(&out, 8, "/.schema/struct:Pose2d", "structschema", "", BEGIN);
  write_int(&out, 3, BEGIN, 1767261600000000); /* 2026-01-01T10:00:00Z */
  tt_wpilog_write_boolean(&out, 4, BEGIN, false);
  tt_wpilog_write_string(&out, 5, BEGIN, "CMPTX");
  tt_wpilog_write_double(&out, 1, BEGIN + 1000000, 1.5);
  write_single(&out, 2, BEGIN + 3000000, -0.25f);
  tt_wpilog_write_boolean(&out, 4, BEGIN + 2000000, true); /* late: another thread's */
  tt_wpilog_write(&out, 6, BEGIN + 3000000, three, sizeof three);
  tt_wpilog_write(&out, 7, BEGIN + 3000000, three, sizeof three);
  tt_wpilog_write_string(&out, 5, BEGIN + 3500000, "CMPTX"); /* the same once more */
  tt_wpilog_write_double(&out, 1, BEGIN + 4000000, 2.5);
  return out;
}

static tt_run_log *open_bytes(const tt_bytes *bytes) {
  char path[] = "/tmp/tether_foreign_XXXXXX";
  tt_error error = {.text = ""};
  tt_run_log *log;
  int file = mkstemp(path);
  assert_int_equal(write(file, bytes->data, bytes->size), (ssize_t)bytes->size);
  close(file);
  if (tt_run_log_open(path, &log, &error) != TT_OK) fail_msg("%s", error.text);
  unlink(path);
  return log;
}

static tt_run_log *convert(const tt_bytes *log) {
  tt_bytes made = {0};
  tt_error error = {.text = ""};
  if (tt_foreign_convert(log->data, log->size, "practice", 0, into(&made), &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_run_log *opened = open_bytes(&made);
  assert_false(tt_foreign_is(made.data, made.size));
  tt_bytes_free(&made);
  return opened;
}

static double value_at(const tt_run_log *log, const char *name, double time) {
  tt_traces traces;
  tt_error error = {.text = ""};
  tt_trace_wish wish = {.names = &name, .count = 1, .from = time, .to = time, .points = 10};
  if (tt_traces_read(log, NULL, &wish, &traces, &error) != TT_OK) fail_msg("%s", error.text);
  double value = traces.rows ? traces.values[traces.rows - 1] : -1000;
  tt_traces_clear(&traces);
  return value;
}

static void numbers_become_signals(void **state) {
  (void)state;
  tt_bytes log = make_log();
  assert_true(tt_foreign_is(log.data, log.size));
  tt_run_log *run = convert(&log);
  assert_int_equal(tt_run_log_duration(run), 4000000);
  assert_true(value_at(run, "NT:/SmartDashboard/speed", 1.2) == 1.5);
  assert_true(value_at(run, "NT:/SmartDashboard/speed", 4) == 2.5);
  assert_true(value_at(run, "RealOutputs/Arm/angle", 3) == -0.25);
  assert_true(value_at(run, "DS:enabled", 1) == 0 && value_at(run, "DS:enabled", 2.5) == 1);
  assert_true(value_at(run, "Modules[2]", 3) == 3);
  tt_run_log_close(run);
  tt_bytes_free(&log);
}

static void it_says_where_it_comes_from(void **state) {
  (void)state;
  tt_run_facts facts;
  tt_bytes log = make_log();
  tt_run_log *run = convert(&log);
  assert_int_equal(tt_run_get_facts(run, &facts), TT_OK);
  assert_string_equal(facts.scene, "practice");
  assert_string_equal(facts.started, "2026-01-01T10:00:00Z");
  assert_string_equal(facts.program, "AdvantageKit");
  assert_string_equal(facts.left_types, "struct:Pose2d");
  assert_int_equal(facts.left_out, 1);
  assert_string_equal(facts.outcome, "ended");
  struct json_object *contents = json_object_new_object(), *events, *modes, *signals;
  tt_run_add_contents(run, contents);
  json_object_object_get_ex(contents, "signals", &signals);
  assert_int_equal(json_object_array_length(signals), 7);
  assert_non_null(strstr(json_object_get_string(signals),
                         "{ \"name\": \"NT:\\/SmartDashboard\\/speed\", \"unit\": \"m\\/s\" }"));
  json_object_object_get_ex(contents, "events", &events);
  assert_int_equal(json_object_array_length(events), 1);
  assert_non_null(strstr(json_object_get_string(events),
                         "\"source\": \"NT\\/FMSInfo\\/EventName\", \"text\": \"CMPTX\""));
  json_object_object_get_ex(contents, "modes", &modes);
  assert_int_equal(json_object_array_length(modes), 2);
  json_object_put(contents);
  tt_run_log_close(run);
  tt_bytes_free(&log);
}

/* An entry that ended and began again goes on, whatever its id. */
static void a_name_that_comes_again_goes_on(void **state) {
  (void)state;
  tt_bytes out = {0};
  tt_wpilog_write_header(&out, "");
  tt_wpilog_write_start(&out, 1, "/x", "double", "", 0);
  tt_wpilog_write_double(&out, 1, 0, 1);
  tt_wpilog_write_start(&out, 9, "/x", "double", "", 0);
  tt_wpilog_write_double(&out, 9, 1000000, 2);
  tt_run_log *run = convert(&out);
  assert_true(value_at(run, "x", 0.5) == 1 && value_at(run, "x", 1) == 2);
  tt_run_log_close(run);
  tt_bytes_free(&out);
}

static void write_finish(tt_bytes *out, uint8_t id, uint64_t time) {
  const uint8_t finish[] = {1, id, 0, 0, 0};
  tt_wpilog_write(out, 0, time, finish, sizeof finish);
}

/* An entry that is finished leaves its id to another one. */
static void an_id_that_is_used_again_is_another_entry(void **state) {
  (void)state;
  const int64_t whole = 7;
  for (int late = 0; late < 2; late++) { /* also where what was written is not in order of time */
    tt_run_facts facts;
    tt_bytes out = {0};
    tt_wpilog_write_header(&out, "");
    tt_wpilog_write_start(&out, 1, "/A", "double", "", 0);
    tt_wpilog_write_start(&out, 2, "/C", "double", "", 0);
    if (late) tt_wpilog_write_double(&out, 2, 9000000, 5);
    tt_wpilog_write_double(&out, 1, 0, 1);
    tt_wpilog_write_double(&out, 1, 1000000, 2);
    write_finish(&out, 1, 1500000);
    tt_wpilog_write_start(&out, 1, "/B", "int64", "", 1600000);
    tt_wpilog_write(&out, 1, 2000000, &whole, 8);
    write_finish(&out, 1, 2500000);
    tt_wpilog_write_start(&out, 1, "/raw", "raw", "", 2600000);
    tt_wpilog_write(&out, 1, 3000000, "12345678", 8);
    write_finish(&out, 1, 3500000);
    tt_wpilog_write_start(&out, 1, "/A", "double", "", 3600000);
    tt_wpilog_write_start(&out, 1, "/no", "double", "", 3700000); /* as it was */
    tt_wpilog_write_double(&out, 1, 4000000, 3);
    tt_run_log *run = convert(&out);
    assert_true(value_at(run, "A", 0.5) == 1 && value_at(run, "A", 1) == 2);
    assert_true(value_at(run, "A", 3.5) == 2 && value_at(run, "A", 4) == 3);
    assert_true(value_at(run, "B", 2) == 7 && value_at(run, "B", 4) == 7);
    assert_int_equal(tt_run_get_facts(run, &facts), TT_OK);
    assert_int_equal(facts.left_out, 1);
    assert_string_equal(facts.left_types, "raw");
    tt_run_log_close(run);
    tt_bytes_free(&out);
  }
}

static void write_schema(tt_bytes *out, uint32_t id, const char *name, const char *text) {
  char entry[100];
  snprintf(entry, sizeof entry, "/.schema/struct:%s", name);
  tt_wpilog_write_start(out, id, entry, "structschema", "", 0);
  tt_wpilog_write(out, id, 0, text, strlen(text));
}

static void write_texts(tt_bytes *out, uint32_t id, uint64_t time, const char *const *texts,
                        uint32_t count) {
  tt_bytes all = {0};
  tt_bytes_append(&all, &count, 4);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t size = (uint32_t)strlen(texts[i]);
    tt_bytes_append(&all, &size, 4);
    tt_bytes_append(&all, texts[i], size);
  }
  tt_wpilog_write(out, id, time, all.data, all.size);
  tt_bytes_free(&all);
}

/* As a swerve robot of WPILib logs itself: a struct before its schema, structs in a struct, a list of them, one with everything. */
static tt_bytes make_swerve_log(void) {
  tt_bytes out = {0};
  const double pose[] = {1.5, 2.5, 0.25}, states[] = {1, 0.1, 2, 0.2, 3, 0.3, 4, 0.4};
  const uint8_t mixed[] = {1, 0xfe, 0xff, 'a', 'b', 'c', 7, 0, 0, 0xc0, 0x3f, 9, 8};
  const char *const names[] = {"left", "right"};
  tt_wpilog_write_header(&out, "");
  tt_wpilog_write_start(&out, 1, "/Drive/Pose", "struct:Pose2d", "", 0);
  tt_wpilog_write_start(&out, 2, "/Drive/States", "struct:SwerveModuleState[]", "", 0);
  tt_wpilog_write_start(&out, 3, "/Mixed", "struct:Mixed", "{\"unit\": \"V\"}", 0);
  tt_wpilog_write_start(&out, 4, "/Names", "string[]", "", 0);
  tt_wpilog_write_start(&out, 5, "/Bits", "struct:Bits", "", 0);
  tt_wpilog_write_start(&out, 6, "/Loop", "struct:Loop", "", 0);
  tt_wpilog_write_start(&out, 7, "/Vision", "proto:Targets", "", 0);
  write_schema(&out, 20, "Pose2d", "Translation2d translation;Rotation2d rotation");
  write_schema(&out, 21, "Translation2d", "double x;double y");
  write_schema(&out, 22, "Rotation2d", " double  value ; ");
  write_schema(&out, 23, "SwerveModuleState", "double speed;Rotation2d angle");
  write_schema(
      &out, 24, "Mixed",
      "bool on;int16 low;char text[3];enum {idle=0, busy=7} int8 state;float ratio;uint8 list[2]");
  write_schema(&out, 25, "Bits", "int8 few:3;int8 more:5");
  write_schema(&out, 26, "Loop", "Loop again;double x");
  tt_wpilog_write(&out, 1, 1000000, pose, sizeof pose);
  tt_wpilog_write(&out, 1, 1200000, pose, sizeof pose - 1); /* cut short: no pose */
  tt_wpilog_write(&out, 2, 1000000, states, sizeof states);
  tt_wpilog_write(&out, 3, 1500000, mixed, sizeof mixed);
  write_texts(&out, 4, 1600000, names, 2);
  tt_wpilog_write(&out, 4, 1700000, "\xff\xff\xff\xff\xff\xff\xff\xff",
                  8); /* sizes beyond the record */
  tt_wpilog_write(&out, 5, 1600000, "x", 1);
  tt_wpilog_write(&out, 7, 1600000, "x", 1);
  return out;
}

static void structs_become_their_numbers(void **state) {
  (void)state;
  tt_run_facts facts;
  tt_bytes out = make_swerve_log();
  tt_run_log *run = convert(&out);
  assert_true(value_at(run, "Drive/Pose/translation/y", 0.4) == 2.5);
  assert_true(value_at(run, "Drive/Pose/rotation/value", 0.4) == 0.25);
  assert_true(value_at(run, "Drive/States[3]/speed", 0.4) == 4);
  assert_true(value_at(run, "Drive/States[3]/angle/value", 0.4) == 0.4);
  assert_true(value_at(run, "Mixed/on", 0.6) == 1 && value_at(run, "Mixed/low", 0.6) == -2);
  assert_true(value_at(run, "Mixed/state", 0.6) == 7 && value_at(run, "Mixed/ratio", 0.6) == 1.5);
  assert_true(value_at(run, "Mixed/list[1]", 0.6) == 8);
  assert_int_equal(tt_run_get_facts(run, &facts), TT_OK);
  assert_int_equal(facts.left_out, 3);
  assert_string_equal(facts.left_types, "struct:Bits, struct:Loop, proto:Targets");
  struct json_object *contents = json_object_new_object();
  tt_run_add_contents(run, contents);
  const char *text = json_object_to_json_string_ext(
      contents, JSON_C_TO_STRING_NOSLASHESCAPE | JSON_C_TO_STRING_PLAIN);
  assert_non_null(strstr(text, "{\"name\":\"Drive/Pose/rotation/value\",\"unit\":\"rad\"}"));
  assert_non_null(strstr(text, "{\"name\":\"Drive/States[0]/speed\",\"unit\":\"m/s\"}"));
  assert_non_null(strstr(text, "{\"name\":\"Mixed/ratio\",\"unit\":\"V\"}"));
  assert_non_null(strstr(text, "\"source\":\"Names\",\"text\":\"left, right\""));
  json_object_put(contents);
  tt_run_log_close(run);
  tt_bytes_free(&out);
}

/* Whatever it is called: by one letter, as if it were a command, or at length. */
static void signals_keep_their_names(void **state) {
  (void)state;
  tt_bytes out = {0};
  char entry[301], schema[120], longest[420];
  const double values[] = {4, 5};
  tt_run_facts facts;
  memset(entry, 'n', 300);
  entry[300] = 0;
  snprintf(schema, sizeof schema, "double %.*s", 90, entry);
  snprintf(longest, sizeof longest, "%s[1]/%.*s", entry, 90, entry);
  tt_wpilog_write_header(&out, "");
  tt_wpilog_write_start(&out, 1, "x", "double", "", 0);
  tt_wpilog_write_start(&out, 2, "/y", "double", "", 0);
  tt_wpilog_write_start(&out, 3, "command:z", "double", "", 0);
  tt_wpilog_write_start(&out, 4, entry, "struct:Long[]", "", 0);
  tt_wpilog_write_start(&out, 5, "/", "double", "", 0);
  write_schema(&out, 20, "Long", schema);
  for (uint32_t i = 1; i <= 3; i++) tt_wpilog_write_double(&out, i, 0, i);
  tt_wpilog_write(&out, 4, 0, values, sizeof values);
  tt_run_log *run = convert(&out);
  assert_true(value_at(run, "x", 0) == 1 && value_at(run, "y", 0) == 2);
  assert_true(value_at(run, "command:z", 0) == 3);
  assert_true(value_at(run, longest, 0) == 5);
  assert_int_equal(tt_run_get_facts(run, &facts), TT_OK);
  assert_int_equal(facts.left_out, 1); /* the one without a name */
  tt_run_log_close(run);
  tt_bytes_free(&out);
}

/* Though an entry is called as an element of another. */
static void each_signal_has_a_name_of_its_own(void **state) {
  (void)state;
  tt_bytes out = {0};
  tt_run_facts facts;
  const double two[] = {1, 2};
  tt_wpilog_write_header(&out, "");
  tt_wpilog_write_start(&out, 1, "a", "double[]", "", 0);
  tt_wpilog_write_start(&out, 2, "a[0]", "double", "", 0);
  tt_wpilog_write_start(&out, 3, "a[0] (2)", "double", "", 0);
  tt_wpilog_write_start(&out, 4, "P/x", "double", "", 0);
  tt_wpilog_write_start(&out, 5, "P", "struct:Point", "", 0);
  tt_wpilog_write_start(&out, 6, "twice", "struct:Twice", "", 0);
  write_schema(&out, 20, "Point", "double x;double y");
  write_schema(&out, 21, "Twice", "double x;double x");
  tt_wpilog_write(&out, 1, 0, two, sizeof two);
  for (uint32_t i = 2; i <= 4; i++) tt_wpilog_write_double(&out, i, 0, i);
  tt_wpilog_write(&out, 5, 0, two, sizeof two);
  tt_wpilog_write(&out, 6, 0, two, sizeof two);
  tt_run_log *run = convert(&out);
  assert_true(value_at(run, "a[0]", 0) == 1 && value_at(run, "a[1]", 0) == 2);
  assert_true(value_at(run, "a[0] (2)", 0) == 2 && value_at(run, "a[0] (2) (2)", 0) == 3);
  assert_true(value_at(run, "P/x", 0) == 4);
  assert_true(value_at(run, "P (2)/x", 0) == 1 && value_at(run, "P (2)/y", 0) == 2);
  assert_int_equal(tt_run_get_facts(run, &facts), TT_OK);
  assert_int_equal(facts.left_out, 1);
  assert_string_equal(facts.left_types, "struct:Twice");
  tt_run_log_close(run);
  tt_bytes_free(&out);
}

/* What is told of it is UTF-8, also where it is cut, and for people. */
static void its_own_name_can_be_shown(void **state) {
  (void)state;
  tt_run_facts facts;
  char name[302] = "a\n\xe2\x80\xae";
  for (size_t i = strlen(name); i < 300; i += 2) memcpy(name + i, "\xc3\xa4", 2);
  tt_bytes out = {0}, made = {0};
  tt_wpilog_write_header(&out, "");
  tt_wpilog_write_start(&out, 1, "x", "double", "", 0);
  tt_wpilog_write_double(&out, 1, 0, 1);
  assert_int_equal(tt_foreign_convert(out.data, out.size, name, 0, into(&made), NULL), TT_OK);
  tt_run_log *run = open_bytes(&made);
  assert_int_equal(tt_run_get_facts(run, &facts), TT_OK);
  assert_memory_equal(facts.scene, "a??\xc3\xa4", 5);
  assert_int_equal(strlen(facts.scene), 127);
  assert_memory_equal(facts.scene + 125, "\xc3\xa4", 3);
  tt_run_log_close(run);
  tt_bytes_free(&out);
  tt_bytes_free(&made);
}

static void what_can_not_be_shown_is_refused(void **state) {
  (void)state;
  tt_error error;
  tt_bytes out = {0}, made = {0};
  assert_int_equal(tt_foreign_convert((const uint8_t *)"WPILOH", 6, "x", 0, into(&made), &error),
                   TT_INVALID);
  tt_wpilog_write_header(&out, "");
  tt_wpilog_write_start(&out, 1, "/Pose", "struct:Pose2d", "", 0);
  tt_wpilog_write(&out, 1, 0, "12345678", 8);
  assert_int_equal(tt_foreign_convert(out.data, out.size, "x", 0, into(&made), &error), TT_INVALID);
  assert_string_equal(error.text,
                      "has no numbers, flags or texts that could be shown (but struct:Pose2d)");
  assert_int_equal(made.size, 0);
  tt_bytes_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_become_signals),
      cmocka_unit_test(it_says_where_it_comes_from),
      cmocka_unit_test(a_name_that_comes_again_goes_on),
      cmocka_unit_test(an_id_that_is_used_again_is_another_entry),
      cmocka_unit_test(signals_keep_their_names),
      cmocka_unit_test(each_signal_has_a_name_of_its_own),
      cmocka_unit_test(its_own_name_can_be_shown),
      cmocka_unit_test(structs_become_their_numbers),
      cmocka_unit_test(what_can_not_be_shown_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
