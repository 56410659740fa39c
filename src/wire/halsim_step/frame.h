/* frame.h: what stands around the messages of HALSim on the wire halsim-step. Both ends include it: the wire, and the extension in
 * a robot program's process (halsim/ at the top of the tree). Byte table: docs/wires/halsim-step.md.
 *
 * A frame is the length of its body, then the body: messages of HALSim in UTF-8, each ended by a line feed. The first is the
 * frame's head, a message of the type "Step" without a device:
 *
 *   extension → Tether  {"type":"Step","device":"","data":{"<version":1,"<program":"…"}}  hello, alone
 *                       {"type":"Step","device":"","data":{"<time":µs}}                   what the program gave up to this time
 *                       {"type":"Step","device":"","data":{"<trouble":"…"}}               alone; answers nothing
 *                       {"type":"Step","device":"","data":{"<end":"…"}}                   alone; the last
 *   Tether → extension  {"type":"Step","device":"","data":{">step":µs,">frame":n}}        take this in, then step so far
 */
#ifndef TT_WIRE_HALSIM_STEP_FRAME_H
#define TT_WIRE_HALSIM_STEP_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define TT_STEP_VERSION 1
#define TT_STEP_PORT 3301                    /**< where Tether listens by default */
#define TT_STEP_LENGTH 4                     /**< bytes of a body's length, big-endian */
#define TT_STEP_MOST_BYTES ((size_t)1 << 20) /**< of a body */

#define TT_STEP_TYPE "Step"
#define TT_STEP_KEY_VERSION "<version"
#define TT_STEP_KEY_PROGRAM "<program"
#define TT_STEP_KEY_TIME "<time"
#define TT_STEP_KEY_TROUBLE "<trouble"
#define TT_STEP_KEY_END "<end"
#define TT_STEP_KEY_STEP ">step"
#define TT_STEP_KEY_FRAME ">frame"

/** The length of a body, in and out of its four bytes. */
static inline size_t tt_step_get_length(const uint8_t bytes[TT_STEP_LENGTH]) {
  return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
}
static inline void tt_step_put_length(uint8_t bytes[TT_STEP_LENGTH], size_t size) {
  for (int i = 0; i < TT_STEP_LENGTH; i++) bytes[i] = (uint8_t)(size >> (24 - 8 * i));
}

#endif
