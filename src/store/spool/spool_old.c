/* spool_old.c: frames as they were before they could be found again: magic, size, writer and a SHA-256 of the batch. They
 * are read, never written.
 */
#include "store/spool/spool_frame.h"

#include <endian.h>
#include <string.h>

typedef struct old_head {
  char magic[4];
  uint32_t size;
  uint64_t writer;
  uint8_t digest[32];
} old_head;
_Static_assert(sizeof(old_head) <= TT_FRAME_HEAD, "whoever reads a head has bytes for either kind");

bool tt_frame_read_old_head(const uint8_t *bytes, size_t size, tt_frame *frame) {
  old_head head;
  if (size < sizeof head) return false;
  memcpy(&head, bytes, sizeof head);
  if (memcmp(head.magic, TT_FRAME_OLD_MAGIC, sizeof head.magic) || head.size > TT_FRAME_MOST)
    return false;
  *frame =
      (tt_frame){.old = true, .writer = head.writer, .head_size = sizeof head, .size = head.size};
  memcpy(frame->sum, head.digest, sizeof head.digest);
  return true;
}

/* --- SHA-256, FIPS 180-4 --- */

static uint32_t rotate(uint32_t word, int by) { return word >> by | word << (32 - by); }

static void add_block(uint32_t state[8], const uint8_t *block) {
  static const uint32_t k[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++) {
    memcpy(&w[i], block + 4 * i, 4);
    w[i] = be32toh(w[i]);
  }
  for (int i = 16; i < 64; i++) {
    uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t a = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
    uint32_t b = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
    uint32_t first = s[7] + a + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    uint32_t second = b + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += first;
    s[0] = first + second;
  }
  for (int i = 0; i < 8; i++) state[i] += s[i];
}

void tt_sha256(const uint8_t *bytes, size_t size, uint8_t digest[32]) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  size_t whole = size / 64 * 64, rest = size - whole;
  for (size_t at = 0; at < whole; at += 64) add_block(state, bytes + at);
  uint8_t last[128] = {0};
  const uint64_t bits = htobe64((uint64_t)size * 8);
  size_t end = rest < 56 ? 64 : 128;
  if (rest) memcpy(last, bytes + whole, rest);
  last[rest] = 0x80;
  memcpy(last + end - 8, &bits, 8);
  for (size_t at = 0; at < end; at += 64) add_block(state, last + at);
  for (int i = 0; i < 8; i++) {
    uint32_t word = htobe32(state[i]);
    memcpy(digest + 4 * i, &word, 4);
  }
}
