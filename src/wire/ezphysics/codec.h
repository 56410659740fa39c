/* codec.h: EZPhysics messages as bytes and as numbers. Byte table: docs/wires/ezphysics.md.
 *
 * A message is a header and any number of packets. The published description lost the picture of the
 * header, so what we decided stands in two functions of codec.c (put_header and get_header, and their
 * packet counterparts) and nowhere else, for the day it turns up. Little-endian, Z up, SI.
 */
#ifndef TT_WIRE_EZPHYSICS_CODEC_H
#define TT_WIRE_EZPHYSICS_CODEC_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Packets that the simulator sends: name, type, payload bytes (0: any length). */
#define TT_EZ_SEND_LIST(X)                                                                         \
  X(COLLISION, 1, 16)                                                                              \
  X(LIMB, 2, 84)                                                                                   \
  X(JOINTAXIS, 3, 8)                                                                               \
  X(JOINTFEEDBACK, 4, 48)                                                                          \
  X(TIMESTAMP, 5, 8)                                                                               \
  X(NAME, 16, 0)

/** Packets that the simulator receives. */
#define TT_EZ_RECV_LIST(X)                                                                         \
  X(RESET, 1, 0)                                                                                   \
  X(AXIS_FORCE, 2, 12)                                                                             \
  X(AXIS_MOTOR, 3, 24)

/** TT_EZ_SEND_NAME and TT_EZ_SEND_NAME_SIZE: type, and bytes of the payload; the same of those received. */
enum {
#define TT_EZ_SEND_ENUM(name, type, size)                                                          \
  TT_EZ_SEND_##name = (type), TT_EZ_SEND_##name##_SIZE = (size),
  TT_EZ_SEND_LIST(TT_EZ_SEND_ENUM)
#undef TT_EZ_SEND_ENUM
#define TT_EZ_RECV_ENUM(name, type, size)                                                          \
  TT_EZ_RECV_##name = (type), TT_EZ_RECV_##name##_SIZE = (size),
      TT_EZ_RECV_LIST(TT_EZ_RECV_ENUM)
#undef TT_EZ_RECV_ENUM
};

#define TT_EZ_HEADER 8         /**< bytes before the first packet */
#define TT_EZ_PACKET_HEADER 16 /**< bytes before each payload */
#define TT_EZ_AXES 3           /**< most axes of a Joint */
#define TT_EZ_MAX_NAME 255     /**< bytes of a name packet's text; longer names are cut */

/** Kinds of object, in a name packet's index: bodies and joints are numbered each for itself. */
typedef enum tt_ez_object { TT_EZ_BODY, TT_EZ_JOINT } tt_ez_object;

/* --- out --- */

/** A message under construction in the caller's buffer. */
typedef struct tt_ez_writer {
  uint8_t *bytes;
  size_t size, capacity;
  uint32_t packets;
} tt_ez_writer;

/** Starts a message in `bytes`; `capacity` must hold at least the header. */
void tt_ez_begin(tt_ez_writer *writer, uint8_t *bytes, size_t capacity);
/** Writes the header's numbers; the message is bytes[0…size). Packets may still be added and the
 *  message ended again. */
void tt_ez_end(tt_ez_writer *writer);

/* Each adds one packet; TT_FULL when it doesn't fit (nothing is added then). Numbers beyond what a
 * float32 holds are sent as its greatest finite value. */
tt_status tt_ez_put_collision(tt_ez_writer *writer, uint32_t body, uint32_t index,
                              const double position[3], double depth);
/** One body. */
typedef struct tt_ez_limb {
  double position[3], rotation[4], force[3], torque[3], velocity[3], spin[3];
} tt_ez_limb;
tt_status tt_ez_put_limb(tt_ez_writer *writer, uint32_t body, const tt_ez_limb *limb);
tt_status tt_ez_put_axis(tt_ez_writer *writer, uint32_t joint, uint32_t index, double displacement,
                         double velocity);
/** Force and torque on body 1 (the child), then on body 2 (the parent). */
tt_status tt_ez_put_feedback(tt_ez_writer *writer, uint32_t joint, const double values[12]);
/** A step beyond 2³¹−1 is sent as that. */
tt_status tt_ez_put_timestamp(tt_ez_writer *writer, uint64_t step, double step_size);
tt_status tt_ez_put_name(tt_ez_writer *writer, tt_ez_object kind, uint32_t object,
                         const char *name);

/* What a client sends; for tests, fuzzing and client programs in C. */
tt_status tt_ez_put_reset(tt_ez_writer *writer);
tt_status tt_ez_put_force(tt_ez_writer *writer, uint32_t joint, const double torque[3]);
tt_status tt_ez_put_motor(tt_ez_writer *writer, uint32_t joint, const double velocity[3],
                          const double max_torque[3]);

/* --- in --- */

/** Looks at the beginning of a stream: TT_OK and the size of the message when it is there whole, TT_AGAIN
 *  when more bytes are needed, TT_BAD_MESSAGE (with `error`) when this can't be a message of at most
 *  `limit` bytes. */
tt_status tt_ez_frame(const uint8_t *bytes, size_t available, size_t limit, size_t *size,
                      tt_error *error);

/** One packet of a message; `payload` points into the message. */
typedef struct tt_ez_packet {
  uint32_t type, object, index;
  const uint8_t *payload;
  size_t size, offset; /**< of the payload, and where its header stands in the message */
} tt_ez_packet;

/** Reads packet after packet of a whole message. */
typedef struct tt_ez_reader {
  const uint8_t *bytes;
  size_t size, offset;
  uint32_t left; /**< packets still to come */
} tt_ez_reader;

/** `bytes` is one whole message as tt_ez_frame() found it. */
void tt_ez_read(tt_ez_reader *reader, const uint8_t *bytes, size_t size);
/** The next packet: TT_OK, TT_END after the last, TT_BAD_MESSAGE (with `error`) when the packets don't fill
 *  the message exactly. */
tt_status tt_ez_next(tt_ez_reader *reader, tt_ez_packet *packet, tt_error *error);

/** Payload bytes that a packet of `type` has (`incoming`: to the simulator); −1: any (a name); −2: unknown type. */
int tt_ez_payload_size(bool incoming, uint32_t type);
/** The type's name ("AXIS_MOTOR"), or NULL. Static. */
const char *tt_ez_type_name(bool incoming, uint32_t type);

/** Float32 number `index` of a payload, from 0; may be non-finite. 0 where the payload has no such number. */
double tt_ez_float(const tt_ez_packet *packet, int index);
/** The same four bytes as an int32. */
int32_t tt_ez_int(const tt_ez_packet *packet, int index);

#endif
