/* endian.h: numbers as bytes, in either order, whatever the machine's own is. IEEE-754 is taken for granted. */
#ifndef TT_BASE_ENDIAN_H
#define TT_BASE_ENDIAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The number whose bytes begin at `at`, and back: le the least significant byte first, be the most. Aligned or not. */
static inline uint32_t tt_get_u32_le(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
static inline uint32_t tt_get_u32_be(const uint8_t *at) {
  return (uint32_t)at[3] | (uint32_t)at[2] << 8 | (uint32_t)at[1] << 16 | (uint32_t)at[0] << 24;
}
static inline uint64_t tt_get_u64_be(const uint8_t *at) {
  return (uint64_t)tt_get_u32_be(at) << 32 | tt_get_u32_be(at + 4);
}
static inline void tt_put_u32_le(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}
static inline void tt_put_u32_be(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[3 - i] = (uint8_t)(value >> (8 * i));
}
static inline void tt_put_u64_be(uint8_t *at, uint64_t value) {
  tt_put_u32_be(at, (uint32_t)(value >> 32));
  tt_put_u32_be(at + 4, (uint32_t)value);
}
/** The lowest `size` bytes of a number, at most 8, the least significant first. */
static inline void tt_put_le(uint8_t *at, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; i++) at[i] = (uint8_t)(value >> (8 * i));
}

/** The same 32 bits as a float32, and back. */
static inline float tt_float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint32_t tt_bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/** As above, of a float32. */
static inline float tt_get_float_le(const uint8_t *at) {
  return tt_float_of_bits(tt_get_u32_le(at));
}
static inline float tt_get_float_be(const uint8_t *at) {
  return tt_float_of_bits(tt_get_u32_be(at));
}
static inline void tt_put_float_le(uint8_t *at, float value) {
  tt_put_u32_le(at, tt_bits_of_float(value));
}
static inline void tt_put_float_be(uint8_t *at, float value) {
  tt_put_u32_be(at, tt_bits_of_float(value));
}

#endif
