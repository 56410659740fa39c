/* codec.h: a float-udp message: float32 numbers, little-endian, nothing else. Byte table: docs/wires/float-udp.md. */
#ifndef TT_WIRE_FLOAT_UDP_CODEC_H
#define TT_WIRE_FLOAT_UDP_CODEC_H

#include "host/wire.h"

#include <stddef.h>
#include <stdint.h>

#define TT_FLOAT_UDP_MAX 256 /**< numbers in a message */
#define TT_FLOAT_UDP_BYTES (4 * TT_FLOAT_UDP_MAX)

/** Reads a message of exactly `count` finite numbers. TT_BAD_MESSAGE otherwise, with the reason and, where a number is
 *  not finite, its `field` from 0 (−1: the length is wrong). */
tt_status tt_float_udp_decode(const uint8_t *bytes, size_t size, int count, float *values,
                              tt_drop *drop, int *field);

/** Writes `count` numbers into 4 × `count` bytes and returns their size. */
size_t tt_float_udp_encode(const float *values, int count, uint8_t *bytes);

#endif
