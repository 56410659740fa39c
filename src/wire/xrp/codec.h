/* codec.h: the messages between a WPILib program with the extension halsim_xrp and an XRP: a head of three bytes, then tags, each
 * with its size. Big-endian. Byte table: docs/wires/xrp.md. */
#ifndef TT_WIRE_XRP_CODEC_H
#define TT_WIRE_XRP_CODEC_H

#include "host/wire.h"

#include <stddef.h>
#include <stdint.h>

#define TT_XRP_BYTES 1024 /**< of the longest message either way */
#define TT_XRP_HEAD 3     /**< bytes before the tags: number, control */
#define TT_XRP_MOTORS 4   /**< motors 0 to 3; encoders as well */
#define TT_XRP_SERVOS 4   /**< servos 4 to 7 */
#define TT_XRP_FIRST_SERVO 4
#define TT_XRP_NEEDED_SERVOS 2 /**< a message holds all motors and at least servos 4 and 5 */
#define TT_XRP_DIO 32          /**< digital inputs and outputs 0 to 31 */
#define TT_XRP_ANALOGS 8       /**< analog inputs 0 to 7 */

/** The bytes that say what follows. */
typedef enum tt_xrp_tag_number {
  TT_XRP_MOTOR = 0x12,
  TT_XRP_SERVO = 0x13,
  TT_XRP_DIGITAL = 0x14,
  TT_XRP_ANALOG = 0x15,
  TT_XRP_GYRO = 0x16,
  TT_XRP_ACCELEROMETER = 0x17,
  TT_XRP_ENCODER = 0x18,
} tt_xrp_tag_number;

/** A number behind a tag. */
typedef struct tt_xrp_part {
  const char *name,
      *unit; /**< as people call it after the tag's name; "": the tag's value itself */
  char type; /**< 'f' float32, 'i' int32, 'u' uint32, 'b' a byte */
} tt_xrp_part;

/** What follows a tag. */
typedef struct tt_xrp_tag {
  uint8_t number;
  bool has_id; /**< a byte before the parts says which one */
  int ids, first_id;
  int count, least; /**< parts, and how many of them must be there */
  const char *name;
  tt_xrp_part parts[6];
} tt_xrp_tag;

/** A robot program's message. */
typedef struct tt_xrp_command {
  uint16_t number;
  bool enabled;
  float motors[TT_XRP_MOTORS]; /**< full speed is −1 or 1 */
  float servos[TT_XRP_SERVOS]; /**< 0 to 1 of their way */
  uint32_t outputs;            /**< a bit each */
  uint32_t has_servo, has_output;
  int unknown; /**< first tag that means nothing here, 0: none */
} tt_xrp_command;

/** An encoder as it is sent. */
typedef struct tt_xrp_encoder {
  int32_t count;
  bool timed;
  /** s a count, with sign; used where timed, and limited to what the wire can say */
  double period;
} tt_xrp_encoder;

/** An XRP's message. Of each kind there are those that have their bit. */
typedef struct tt_xrp_state {
  uint16_t number;
  uint32_t has_encoder, has_input, has_analog;
  bool has_gyro, has_accelerometer;
  tt_xrp_encoder encoders[TT_XRP_MOTORS];
  uint32_t inputs;
  float analogs[TT_XRP_ANALOGS]; /**< V */
  float gyro[6];                 /**< deg/s about x, y, z, then deg */
  float accelerometer[3];        /**< g */
} tt_xrp_state;

/** The tag with that number; NULL: none is known. */
const tt_xrp_tag *tt_xrp_find_tag(uint8_t number);
/** Bytes of a part. */
int tt_xrp_part_size(const tt_xrp_part *part);

/** Reads a robot program's message: all motors and two servos at least, every number finite, or TT_BAD_MESSAGE with the reason.
 *  Tags that are not known, and those of the other direction, are passed over. */
tt_status tt_xrp_decode(const uint8_t *bytes, size_t size, tt_xrp_command *command,
                        tt_refusal *fault);

/** Write a message of at most TT_XRP_BYTES and return its size. */
size_t tt_xrp_encode_command(const tt_xrp_command *command, uint8_t *bytes);
size_t tt_xrp_encode_state(const tt_xrp_state *state, uint8_t *bytes);

#endif
