/* codec.c: tags to a message and back. */
#include "wire/xrp/codec.h"

#include "base/endian.h"

#include <math.h>

#define PERIOD_TICKS 1000000u      /* in a second: the denominator of a period */
#define LONGEST_PERIOD 0x7fffffffu /* ticks: the numerator's last bit is the direction */

static const tt_xrp_tag tags[] = {
    {TT_XRP_MOTOR, true, TT_XRP_MOTORS, 0, 1, 1, "motor", {{"", "", 'f'}}},
    {TT_XRP_SERVO, true, TT_XRP_SERVOS, TT_XRP_FIRST_SERVO, 1, 1, "servo", {{"", "", 'f'}}},
    {TT_XRP_DIGITAL, true, TT_XRP_DIO, 0, 1, 1, "DIO", {{"value", "", 'b'}}},
    {TT_XRP_ANALOG, true, TT_XRP_ANALOGS, 0, 1, 1, "analog", {{"", "V", 'f'}}},
    {TT_XRP_GYRO,
     false,
     1,
     0,
     6,
     6,
     "gyro",
     {{"rate x", "deg/s", 'f'},
      {"rate y", "deg/s", 'f'},
      {"rate z", "deg/s", 'f'},
      {"angle x", "deg", 'f'},
      {"angle y", "deg", 'f'},
      {"angle z", "deg", 'f'}}},
    {TT_XRP_ACCELEROMETER,
     false,
     1,
     0,
     3,
     3,
     "accelerometer",
     {{"x", "g", 'f'}, {"y", "g", 'f'}, {"z", "g", 'f'}}},
    {TT_XRP_ENCODER,
     true,
     TT_XRP_MOTORS,
     0,
     3,
     1,
     "encoder",
     {{"count", "ticks", 'i'}, {"period", "", 'u'}, {"period divisor", "", 'u'}}},
};

const tt_xrp_tag *tt_xrp_find_tag(uint8_t number) {
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
    if (tags[i].number == number) return &tags[i];
  return NULL;
}

int tt_xrp_part_size(const tt_xrp_part *part) { return part->type == 'b' ? 1 : 4; }

/* --- reading --- */

static tt_status take_number(const uint8_t *at, const char *name, int id, float *number,
                             tt_refusal *fault) {
  *number = tt_get_float_be(at);
  if (isfinite(*number)) return TT_OK;
  return tt_refuse(fault, TT_DROP_NON_FINITE, "%s %d is not a finite number", name, id);
}

/* A tag and what follows it, `size` bytes together. */
static tt_status take_tag(const uint8_t *at, int size, tt_xrp_command *command, uint32_t *motors,
                          tt_refusal *fault) {
  const tt_xrp_tag *tag = tt_xrp_find_tag(at[0]);
  if (!tag || tag->number > TT_XRP_DIGITAL) {
    if (!command->unknown) command->unknown = at[0];
    return TT_OK;
  }
  int wanted = 2 + tt_xrp_part_size(&tag->parts[0]);
  if (size != wanted)
    return tt_refuse(fault, TT_DROP_LENGTH, "a %s of %d bytes where %d are expected", tag->name,
                     size, wanted);
  int id = at[1], index = id - tag->first_id;
  if (index < 0 || index >= tag->ids)
    return tt_refuse(fault, TT_DROP_UNKNOWN, "%s %d: there are %d to %d", tag->name, id,
                     tag->first_id, tag->first_id + tag->ids - 1);
  uint32_t bit = 1u << index;
  switch (tag->number) {
    case TT_XRP_MOTOR:
      *motors |= bit;
      return take_number(at + 2, tag->name, id, &command->motors[index], fault);
    case TT_XRP_SERVO:
      command->has_servo |= bit;
      return take_number(at + 2, tag->name, id, &command->servos[index], fault);
    default:
      command->has_output |= bit;
      command->outputs = at[2] == 1 ? command->outputs | bit : command->outputs & ~bit;
      return TT_OK;
  }
}

/* A message of fewer bytes than were sent would else pass for a whole one. */
static tt_status check_whole(const char *name, uint32_t there, int first, int count,
                             tt_refusal *fault) {
  for (int i = 0; i < count; i++)
    if (!(there >> i & 1))
      return tt_refuse(fault, TT_DROP_LENGTH, "%s %d is missing: a message holds all", name,
                       first + i);
  return TT_OK;
}

tt_status tt_xrp_decode(const uint8_t *bytes, size_t size, tt_xrp_command *command,
                        tt_refusal *fault) {
  uint32_t motors = 0;
  *command = (tt_xrp_command){0};
  if (size < TT_XRP_HEAD)
    return tt_refuse(fault, TT_DROP_LENGTH, "%zu bytes where the head alone has %d", size,
                     TT_XRP_HEAD);
  command->number = (uint16_t)(bytes[0] << 8 | bytes[1]);
  command->enabled = bytes[2] == 1;
  for (size_t at = TT_XRP_HEAD; at < size; at += 1u + bytes[at]) {
    int length = bytes[at];
    if (length == 0)
      return tt_refuse(fault, TT_DROP_SYNTAX, "size 0 at byte %zu: a tag has at least one", at);
    if ((size_t)length > size - at - 1)
      return tt_refuse(fault, TT_DROP_LENGTH,
                       "the tag at byte %zu has %d bytes, of which %zu are here", at + 1, length,
                       size - at - 1);
    TT_TRY(take_tag(bytes + at + 1, length, command, &motors, fault));
  }
  TT_TRY(check_whole("motor", motors, 0, TT_XRP_MOTORS, fault));
  return check_whole("servo", command->has_servo, TT_XRP_FIRST_SERVO, TT_XRP_NEEDED_SERVOS, fault);
}

/* --- writing --- */

typedef struct writer {
  uint8_t *bytes;
  size_t size;
} writer;

static void put_byte(writer *to, int byte) { to->bytes[to->size++] = (uint8_t)byte; }

static void put_u32(writer *to, uint32_t value) {
  tt_put_u32_be(to->bytes + to->size, value);
  to->size += 4;
}

static void put_head(writer *to, uint16_t number, int control) {
  put_byte(to, number >> 8);
  put_byte(to, number & 0xff);
  put_byte(to, control);
}

/* `size` is that of what follows the tag. */
static void put_tag(writer *to, tt_xrp_tag_number tag, int size) {
  put_byte(to, size + 1);
  put_byte(to, (int)tag);
}

static void put_float_of(writer *to, tt_xrp_tag_number tag, int id, float value) {
  put_tag(to, tag, 5);
  put_byte(to, id);
  put_u32(to, tt_bits_of_float(value));
}

static void put_floats(writer *to, tt_xrp_tag_number tag, const float *values, int count) {
  put_tag(to, tag, 4 * count);
  for (int i = 0; i < count; i++) put_u32(to, tt_bits_of_float(values[i]));
}

static void put_digital(writer *to, uint32_t present, uint32_t values) {
  for (int i = 0; i < TT_XRP_DIO; i++) {
    if (!(present >> i & 1)) continue;
    put_tag(to, TT_XRP_DIGITAL, 2);
    put_byte(to, i);
    put_byte(to, values >> i & 1);
  }
}

static void put_encoder(writer *to, int id, const tt_xrp_encoder *encoder) {
  put_tag(to, TT_XRP_ENCODER, encoder->timed ? 13 : 5);
  put_byte(to, id);
  put_u32(to, (uint32_t)encoder->count);
  if (!encoder->timed) return;
  double ticks = fmin(rint(fabs(encoder->period) * PERIOD_TICKS), LONGEST_PERIOD);
  put_u32(to, (uint32_t)ticks << 1 | (encoder->period >= 0));
  put_u32(to, PERIOD_TICKS);
}

size_t tt_xrp_encode_command(const tt_xrp_command *command, uint8_t *bytes) {
  writer to = {.bytes = bytes};
  put_head(&to, command->number, command->enabled);
  for (int i = 0; i < TT_XRP_MOTORS; i++) put_float_of(&to, TT_XRP_MOTOR, i, command->motors[i]);
  for (int i = 0; i < TT_XRP_SERVOS; i++)
    if (command->has_servo >> i & 1)
      put_float_of(&to, TT_XRP_SERVO, TT_XRP_FIRST_SERVO + i, command->servos[i]);
  put_digital(&to, command->has_output, command->outputs);
  return to.size;
}

size_t tt_xrp_encode_state(const tt_xrp_state *state, uint8_t *bytes) {
  writer to = {.bytes = bytes};
  put_head(&to, state->number, 0);
  for (int i = 0; i < TT_XRP_MOTORS; i++)
    if (state->has_encoder >> i & 1) put_encoder(&to, i, &state->encoders[i]);
  put_digital(&to, state->has_input, state->inputs);
  if (state->has_gyro) put_floats(&to, TT_XRP_GYRO, state->gyro, 6);
  if (state->has_accelerometer) put_floats(&to, TT_XRP_ACCELEROMETER, state->accelerometer, 3);
  for (int i = 0; i < TT_XRP_ANALOGS; i++)
    if (state->has_analog >> i & 1) put_float_of(&to, TT_XRP_ANALOG, i, state->analogs[i]);
  return to.size;
}
