/* codec_test.c: EZPhysics messages byte for byte, malformed ones, and the numbering of joints. */
#include "wire/ezphysics/codec.h"
#include "wire/ezphysics/ids.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT 65536

static void assert_bytes(const tt_ez_writer *writer, const char *hex) {
  size_t count = 0;
  for (; *hex != '\0'; hex++) {
    if (*hex == ' ') continue;
    char digits[3] = {hex[0], hex[1], '\0'};
    hex++;
    assert_true(count < writer->size);
    assert_int_equal(writer->bytes[count], strtoul(digits, NULL, 16));
    count++;
  }
  assert_int_equal(count, writer->size);
}

static void timestamp_byte_for_byte(void **state) {
  (void)state;
  uint8_t bytes[64];
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, sizeof bytes);
  assert_int_equal(tt_ez_put_timestamp(&writer, 1200, 0.001), TT_OK);
  tt_ez_end(&writer);
  assert_bytes(&writer, "20000000 01000000 05000000 08000000 00000000 00000000 b0040000 6f12833a");
}

static void motor_byte_for_byte(void **state) {
  (void)state;
  uint8_t bytes[64];
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, sizeof bytes);
  const double velocity[3] = {1.5, 0, 0}, torque[3] = {20, 0, 0};
  assert_int_equal(tt_ez_put_motor(&writer, 7, velocity, torque), TT_OK);
  tt_ez_end(&writer);
  assert_bytes(&writer,
               "30000000 01000000 03000000 18000000 07000000 00000000 0000c03f 0000a041 00000000 "
               "00000000 00000000 00000000");
}

/** All packets of one message read back. */
static int read_all(const tt_ez_writer *writer, tt_ez_packet *packets, int capacity) {
  size_t size;
  tt_error error;
  assert_int_equal(tt_ez_frame(writer->bytes, writer->size, LIMIT, &size, &error), TT_OK);
  assert_int_equal(size, writer->size);
  tt_ez_reader reader;
  tt_ez_read(&reader, writer->bytes, size);
  int count = 0;
  while (tt_ez_next(&reader, &packets[count], &error) == TT_OK) {
    count++;
    assert_true(count < capacity);
  }
  return count;
}

static void every_packet_reads_back(void **state) {
  (void)state;
  uint8_t bytes[1024];
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, sizeof bytes);
  const tt_ez_limb limb = {{1, 2, 3},    {4, 5, 6, 7}, {8, 9, 10},
                           {11, 12, 13}, {15, 16, 17}, {18, 19, 20}};
  const double feedback[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const double point[3] = {0.5, -0.5, 0.25}, torque[3] = {1, -2, 3};
  tt_ez_put_timestamp(&writer, UINT64_MAX, 0.5);
  tt_ez_put_limb(&writer, 1, &limb);
  tt_ez_put_axis(&writer, 2, 1, 0.125, -4);
  tt_ez_put_feedback(&writer, 3, feedback);
  tt_ez_put_collision(&writer, 4, 9, point, 0.001953125);
  tt_ez_put_name(&writer, TT_EZ_JOINT, 5, "hip");
  tt_ez_put_reset(&writer);
  tt_ez_put_force(&writer, 6, torque);
  tt_ez_end(&writer);

  tt_ez_packet packets[16];
  assert_int_equal(read_all(&writer, packets, 16), 8);
  assert_int_equal(packets[0].type, TT_EZ_SEND_TIMESTAMP);
  assert_int_equal(tt_ez_int(&packets[0], 0), INT32_MAX);
  assert_true(tt_ez_float(&packets[0], 1) == 0.5);
  assert_int_equal(packets[1].type, TT_EZ_SEND_LIMB);
  assert_int_equal(packets[1].size, 84);
  for (int i = 0; i < 21; i++) {
    double expected = i == 13 || i == 20 ? 0 : i + 1;
    assert_true(tt_ez_float(&packets[1], i) == expected);
  }
  assert_int_equal(packets[2].index, 1);
  assert_int_equal(packets[2].object, 2);
  assert_true(tt_ez_float(&packets[2], 0) == 0.125 && tt_ez_float(&packets[2], 1) == -4);
  for (int i = 0; i < 12; i++) assert_true(tt_ez_float(&packets[3], i) == i + 1);
  assert_int_equal(packets[4].object, 4);
  assert_int_equal(packets[4].index, 9);
  assert_true(tt_ez_float(&packets[4], 3) == 0.001953125);
  assert_int_equal(packets[5].type, TT_EZ_SEND_NAME);
  assert_int_equal(packets[5].index, TT_EZ_JOINT);
  assert_int_equal(packets[5].size, 3);
  assert_memory_equal(packets[5].payload, "hip", 3);
  assert_int_equal(packets[6].type, TT_EZ_RECV_RESET);
  assert_int_equal(packets[6].size, 0);
  assert_true(tt_ez_float(&packets[7], 1) == -2);
  assert_true(tt_ez_float(&packets[7], 3) == 0); /* it has three */
  assert_int_equal(tt_ez_int(&packets[6], 0), 0);
}

static void sends_finite_numbers_only(void **state) {
  (void)state;
  uint8_t bytes[128];
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, sizeof bytes);
  tt_ez_put_axis(&writer, 1, 0, 1e300, -1e300);
  tt_ez_put_axis(&writer, 1, 1, (double)NAN, (double)INFINITY);
  tt_ez_end(&writer);
  tt_ez_packet packets[3];
  assert_int_equal(read_all(&writer, packets, 3), 2);
  assert_true(tt_ez_float(&packets[1], 0) == 0);
  assert_true(tt_ez_float(&packets[1], 1) == (double)FLT_MAX);
  assert_true(tt_ez_float(&packets[0], 0) == (double)FLT_MAX);
  assert_true(tt_ez_float(&packets[0], 1) == -(double)FLT_MAX);
}

static void a_packet_that_does_not_fit_adds_nothing(void **state) {
  (void)state;
  static const size_t sizes[] = {16 + 16, 16 + 84, 16 + 8,  16 + 48, 16 + 8,
                                 16 + 3,  16,      16 + 12, 16 + 24};
  const double zeros[12] = {0};
  const tt_ez_limb limb = {0};
  for (int kind = 0; kind < 9; kind++) {
    for (size_t room = 0; room <= 1; room++) {
      uint8_t bytes[128];
      tt_ez_writer writer;
      tt_ez_begin(&writer, bytes, TT_EZ_HEADER + sizes[kind] - 1 + room);
      tt_status status = TT_INVALID;
      switch (kind) {
        case 0: status = tt_ez_put_collision(&writer, 1, 0, zeros, 0); break;
        case 1: status = tt_ez_put_limb(&writer, 1, &limb); break;
        case 2: status = tt_ez_put_axis(&writer, 1, 0, 0, 0); break;
        case 3: status = tt_ez_put_feedback(&writer, 1, zeros); break;
        case 4: status = tt_ez_put_timestamp(&writer, 1, 0); break;
        case 5: status = tt_ez_put_name(&writer, TT_EZ_BODY, 1, "leg"); break;
        case 6: status = tt_ez_put_reset(&writer); break;
        case 7: status = tt_ez_put_force(&writer, 1, zeros); break;
        case 8: status = tt_ez_put_motor(&writer, 1, zeros, zeros); break;
      }
      assert_int_equal(status, room ? TT_OK : TT_FULL);
      assert_int_equal(writer.packets, room);
      assert_int_equal(writer.size, TT_EZ_HEADER + (room ? sizes[kind] : 0));
    }
  }
}

static void long_names_are_cut(void **state) {
  (void)state;
  char name[400];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  uint8_t bytes[512];
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, sizeof bytes);
  assert_int_equal(tt_ez_put_name(&writer, TT_EZ_BODY, 1, name), TT_OK);
  assert_int_equal(writer.size, TT_EZ_HEADER + TT_EZ_PACKET_HEADER + TT_EZ_MAX_NAME);
}

/** A message of the given header and payload words. */
static size_t words(uint8_t *bytes, const uint32_t *values, int count) {
  for (int i = 0; i < count; i++) {
    for (int b = 0; b < 4; b++) bytes[4 * i + b] = (uint8_t)(values[i] >> (8 * b));
  }
  return (size_t)count * 4;
}

static void frames_are_checked_before_anything_else(void **state) {
  (void)state;
  static const struct {
    uint32_t header[2];
    tt_status status;
  } cases[] = {
      {{8, 0}, TT_OK},
      {{7, 0}, TT_BAD_MESSAGE},
      {{0, 0}, TT_BAD_MESSAGE},
      {{24, 1}, TT_AGAIN},
      {{23, 1}, TT_BAD_MESSAGE},
      {{8, 1}, TT_BAD_MESSAGE},
      {{LIMIT, 1}, TT_AGAIN},
      {{LIMIT + 1, 1}, TT_BAD_MESSAGE},
      {{UINT32_MAX, UINT32_MAX}, TT_BAD_MESSAGE},
      {{0x20000000, 0x01000000}, TT_BAD_MESSAGE}, /* the other byte order */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint8_t bytes[8];
    words(bytes, cases[i].header, 2);
    size_t size;
    tt_error error = {""};
    assert_int_equal(tt_ez_frame(bytes, sizeof bytes, LIMIT, &size, &error), cases[i].status);
    assert_int_equal(error.text[0] != '\0', cases[i].status == TT_BAD_MESSAGE);
    for (size_t have = 0; have < 8; have++) {
      assert_int_equal(tt_ez_frame(bytes, have, LIMIT, &size, &error), TT_AGAIN);
    }
  }
}

static void packets_must_fill_the_message_exactly(void **state) {
  (void)state;
  static const struct {
    uint32_t words[12];
    int count;
    const char *says;
  } cases[] = {
      {{28, 0, 0, 0, 0, 0, 0}, 7, "20 bytes follow"},
      {{28, 1, 1, 0, 0, 0, 0}, 7, "4 bytes follow"},
      {{24, 1, 1, 1, 0, 0}, 6, "payload of 1 bytes, 0 are left"},
      {{24, 1, 1, UINT32_MAX, 0, 0}, 6, "payload of 4294967295"},
      {{40, 2, 1, 4, 0, 0, 0, 0, 0, 0}, 10, "needs 16 bytes, 12 are left"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint8_t bytes[64];
    size_t size = words(bytes, cases[i].words, cases[i].count), framed;
    tt_error error = {""};
    assert_int_equal(tt_ez_frame(bytes, size, LIMIT, &framed, &error), TT_OK);
    tt_ez_reader reader;
    tt_ez_read(&reader, bytes, framed);
    tt_ez_packet packet;
    tt_status status;
    while ((status = tt_ez_next(&reader, &packet, &error)) == TT_OK) continue;
    assert_int_equal(status, TT_BAD_MESSAGE);
    if (strstr(error.text, cases[i].says) == NULL) {
      fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i].says);
    }
  }
}

static void types_are_known_by_direction(void **state) {
  (void)state;
  assert_int_equal(tt_ez_payload_size(true, TT_EZ_RECV_RESET), 0);
  assert_int_equal(tt_ez_payload_size(true, TT_EZ_RECV_AXIS_FORCE), 12);
  assert_int_equal(tt_ez_payload_size(true, TT_EZ_RECV_AXIS_MOTOR), 24);
  assert_int_equal(tt_ez_payload_size(true, 4), -2);
  assert_int_equal(tt_ez_payload_size(false, TT_EZ_SEND_JOINTFEEDBACK), 48);
  assert_int_equal(tt_ez_payload_size(false, TT_EZ_SEND_NAME), -1);
  assert_string_equal(tt_ez_type_name(false, 2), "LIMB");
  assert_string_equal(tt_ez_type_name(true, 2), "AXIS_FORCE");
  assert_null(tt_ez_type_name(false, 99));
}

static void joints_are_links_with_up_to_three_axes(void **state) {
  (void)state;
  /* body 1 floats; 2 has a slide and a hinge; 3 a ball; 4 a ball and a hinge (one axis too many) */
  const tt_joint parts[] = {
      {.name = "root", .kind = TT_FREE, .body = 1, .axis = -1, .axis_count = 0},
      {.name = "slide", .kind = TT_SLIDE, .body = 2, .axis = 0, .axis_count = 1},
      {.name = "hinge", .kind = TT_HINGE, .body = 2, .axis = 1, .axis_count = 1},
      {.name = "ball", .kind = TT_BALL, .body = 3, .robot = 1, .axis = 2, .axis_count = 3},
      {.name = "wrist", .kind = TT_BALL, .body = 4, .axis = 5, .axis_count = 3},
      {.name = "extra", .kind = TT_HINGE, .body = 4, .axis = 8, .axis_count = 1},
  };
  const tt_model model = {.joints = parts, .joint_count = 6};
  int count;
  tt_ez_joint *joints = tt_ez_number_joints(&model, &count);
  assert_int_equal(count, 3);
  assert_string_equal(joints[0].name, "slide");
  assert_int_equal(joints[0].axis_count, 2);
  assert_int_equal(joints[0].axes[1], 1);
  assert_int_equal(joints[1].body, 3);
  assert_int_equal(joints[1].robot, 1);
  assert_int_equal(joints[1].axes[2], 4);
  assert_int_equal(joints[1].axes_left_off, 0);
  assert_int_equal(joints[2].axis_count, 3);
  assert_int_equal(joints[2].axes_left_off, 1);
  free(joints);

  const tt_model empty = {0};
  joints = tt_ez_number_joints(&empty, &count);
  assert_non_null(joints);
  assert_int_equal(count, 0);
  free(joints);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(timestamp_byte_for_byte),
      cmocka_unit_test(motor_byte_for_byte),
      cmocka_unit_test(every_packet_reads_back),
      cmocka_unit_test(sends_finite_numbers_only),
      cmocka_unit_test(a_packet_that_does_not_fit_adds_nothing),
      cmocka_unit_test(long_names_are_cut),
      cmocka_unit_test(frames_are_checked_before_anything_else),
      cmocka_unit_test(packets_must_fill_the_message_exactly),
      cmocka_unit_test(types_are_known_by_direction),
      cmocka_unit_test(joints_are_links_with_up_to_three_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
