/* policy_fuzz.c: any bytes as a policy's message: refused, or within bounds, and all there. */
#include "sweep/policy_message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tt_policy_message message;
  static char again[TT_POLICY_LARGEST + TT_POLICY_LONGEST_TEXT];
  tt_error error = {{0}};
  if (tt_policy_decode(data, size, &message, &error) != TT_OK) {
    if (!*error.text) abort();
    return 0;
  }
  if (message.kind != TT_POLICY_DONE && (message.count || !*message.text)) abort();
  /* Both ends write alike: what was read gives the same bytes again. */
  size_t made = tt_policy_encode((tt_policy_answer)message.kind, message.values, message.count,
                                 *message.text ? message.text : NULL, again);
  if (made != size || memcmp(again, data, size) != 0) abort();
  return 0;
}
