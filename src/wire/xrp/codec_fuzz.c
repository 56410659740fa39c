/* codec_fuzz.c: any bytes as an xrp message: what is accepted is finite and, written again, says the same; the monitor stays within
 * what is there, also of a message whose end was not kept. */
#include "wire/xrp/codec.h"
#include "wire/xrp/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void explain(const uint8_t *data, size_t size, size_t kept, bool incoming) {
  enum { FIELDS = 64 };
  tt_wire_field fields[FIELDS];
  tt_explanation explanation = {
      .bytes = data, .size = (int)kept, .whole = (int)size, .fields = fields, .capacity = FIELDS};
  tt_xrp_explain(incoming, &explanation);
  check(explanation.count <= FIELDS);
  for (int i = 0; i < explanation.count; i++)
    check(fields[i].offset >= 0 && fields[i].size >= 0 && /* what is missing has no bytes */
          (fields[i].size == 0 || (size_t)(fields[i].offset + fields[i].size) <= size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_xrp_command said, again;
  tt_refusal fault = {TT_DROP_COUNT, ""};
  uint8_t written[TT_XRP_BYTES];
  explain(data, size, size, true);
  explain(data, size, size / 2, false);
  if (tt_xrp_decode(data, size, &said, &fault) != TT_OK) {
    check(fault.drop < TT_DROP_COUNT && fault.text[0] != 0);
    return 0;
  }
  for (int i = 0; i < TT_XRP_MOTORS; i++) check(isfinite(said.motors[i]));
  for (int i = 0; i < TT_XRP_SERVOS; i++) check(isfinite(said.servos[i]));
  size_t length = tt_xrp_encode_command(&said, written);
  check(length <= sizeof written && tt_xrp_decode(written, length, &again, &fault) == TT_OK);
  check(again.number == said.number && again.enabled == said.enabled);
  check(memcmp(again.motors, said.motors, sizeof said.motors) == 0);
  check(memcmp(again.servos, said.servos, sizeof said.servos) == 0);
  check(again.outputs == said.outputs && again.has_output == said.has_output);
  return 0;
}
