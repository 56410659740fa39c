#include "sweep/policy_message.h"

#include <string.h>

static tt_status read_values(const char *bytes, size_t size, tt_policy_message *message,
                             tt_error *error) {
  if (size % sizeof(double) != 0 || size > sizeof message->values)
    return tt_fail(error, TT_BAD_MESSAGE, "the policy's answer has %zu bytes of numbers", size);
  message->count = (int)(size / sizeof(double));
  memcpy(message->values, bytes, size);
  return TT_OK;
}

static tt_status read_text(const char *bytes, size_t size, tt_policy_message *message,
                           tt_error *error) {
  if (size == 0 || size >= sizeof message->text || memchr(bytes, 0, size))
    return tt_fail(error, TT_BAD_MESSAGE, "the policy's message has a text that is none");
  memcpy(message->text, bytes, size);
  message->text[size] = 0;
  return TT_OK;
}

tt_status tt_policy_decode(const void *bytes, size_t size, tt_policy_message *message,
                           tt_error *error) {
  uint64_t kind;
  message->count = 0;
  *message->text = 0;
  if (size < sizeof kind)
    return tt_fail(error, TT_BAD_MESSAGE, "the policy's message has %zu bytes", size);
  memcpy(&kind, bytes, sizeof kind);
  const char *rest = (const char *)bytes + sizeof kind;
  size -= sizeof kind;
  if (kind < TT_POLICY_DONE || kind > TT_POLICY_FULL)
    return tt_fail(error, TT_BAD_MESSAGE, "the policy's message is of no kind");
  message->kind = (tt_policy_kind)kind;
  return kind == TT_POLICY_DONE ? read_values(rest, size, message, error)
                                : read_text(rest, size, message, error);
}

size_t tt_policy_encode(tt_policy_answer answer, const double *values, int count, const char *text,
                        void *bytes) {
  const uint64_t kind = answer;
  char *to = bytes;
  size_t size = text ? strnlen(text, TT_POLICY_LONGEST_TEXT) : 0;
  memcpy(to, &kind, sizeof kind);
  to += sizeof kind;
  if (count > 0) memcpy(to, values, (size_t)count * sizeof *values);
  to += (size_t)count * sizeof *values;
  if (size > 0) memcpy(to, text, size);
  return sizeof kind + (size_t)count * sizeof *values + size;
}
