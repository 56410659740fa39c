#include "nt4/message.h"

#include <math.h>
#include <mpack.h>
#include <string.h>

static const struct {
  const char *name;
  tt_nt4_type type;
} known[] = {{"boolean", TT_NT4_BOOLEAN},
             {"double", TT_NT4_DOUBLE},
             {"int", TT_NT4_INT},
             {"float", TT_NT4_FLOAT},
             {"string", TT_NT4_STRING},
             {"json", TT_NT4_STRING},
             {"boolean[]", TT_NT4_BOOLEAN_ARRAY},
             {"double[]", TT_NT4_DOUBLE_ARRAY},
             {"int[]", TT_NT4_INT_ARRAY},
             {"float[]", TT_NT4_FLOAT_ARRAY},
             {"string[]", TT_NT4_STRING_ARRAY}};

tt_nt4_type tt_nt4_type_of(const char *name) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(name, known[i].name) == 0) return known[i].type;
  return TT_NT4_RAW;
}

const char *tt_nt4_type_name(tt_nt4_type type) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].type == type) return known[i].name;
  return "raw";
}

/* --- writing --- */

static void put_token(tt_bytes *to, mpack_token_t token) {
  char text[MPACK_MAX_TOKEN_LEN + 1];
  char *at = text;
  size_t left = sizeof text;
  mpack_tokbuf_t state;
  mpack_tokbuf_init(&state);
  mpack_write(&state, &at, &left, &token);
  tt_bytes_append(to, text, (size_t)(at - text));
}

void tt_nt4_put_boolean(tt_bytes *to, bool value) { put_token(to, mpack_pack_boolean(value)); }

/* libmpack 1.0.5 cuts negative numbers that are not small. */
static void put_negative(tt_bytes *to, int64_t value) {
  uint8_t bytes[9] = {0xd3};
  for (int i = 0; i < 8; i++) bytes[1 + i] = (uint8_t)((uint64_t)value >> (56 - 8 * i));
  tt_bytes_append(to, bytes, sizeof bytes);
}

void tt_nt4_put_int(tt_bytes *to, int64_t value) {
  if (value < -32)
    put_negative(to, value);
  else
    put_token(to, value < 0 ? mpack_pack_sint(value) : mpack_pack_uint((uint64_t)value));
}

/* Always eight bytes: libmpack would shorten what a float holds, and not every reader expects that of a double. */
void tt_nt4_put_double(tt_bytes *to, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_token(to,
            (mpack_token_t){.type = MPACK_TOKEN_FLOAT,
                            .length = 8,
                            .data.value = {.lo = (uint32_t)bits, .hi = (uint32_t)(bits >> 32)}});
}

void tt_nt4_put_text(tt_bytes *to, const char *text) {
  size_t size = strlen(text);
  put_token(to, mpack_pack_str((uint32_t)size));
  tt_bytes_append(to, text, size);
}

void tt_nt4_put_raw(tt_bytes *to, const void *data, size_t size) {
  put_token(to, mpack_pack_bin((uint32_t)size));
  tt_bytes_append(to, data, size);
}

void tt_nt4_put_array(tt_bytes *to, uint32_t count) { put_token(to, mpack_pack_array(count)); }

void tt_nt4_put_map(tt_bytes *to, uint32_t count) { put_token(to, mpack_pack_map(count)); }

void tt_nt4_put_message(tt_bytes *to, const tt_nt4_message *message) {
  tt_nt4_put_array(to, 4);
  tt_nt4_put_int(to, message->id);
  tt_nt4_put_int(to, message->time);
  tt_nt4_put_int(to, (int64_t)message->type);
  tt_bytes_append(to, message->value, message->value_size);
}

/* --- reading --- */

static bool read_token(const uint8_t **at, const uint8_t *end, mpack_token_t *token) {
  const char *text = (const char *)*at;
  size_t left = (size_t)(end - *at);
  mpack_tokbuf_t state;
  mpack_tokbuf_init(&state);
  if (left == 0 || mpack_read(&state, &text, &left, token) != MPACK_OK) return false;
  *at = (const uint8_t *)text;
  return true;
}

static bool read_int(const uint8_t **at, const uint8_t *end, int64_t *value) {
  mpack_token_t token;
  if (!read_token(at, end, &token)) return false;
  if (token.type == MPACK_TOKEN_SINT) {
    *value = mpack_unpack_sint(token);
    return true;
  }
  uint64_t unsigned_value = token.type == MPACK_TOKEN_UINT ? mpack_unpack_uint(token) : UINT64_MAX;
  *value = (int64_t)unsigned_value;
  return unsigned_value <= INT64_MAX;
}

static bool is_number(const mpack_token_t *token) {
  return token->type == MPACK_TOKEN_UINT || token->type == MPACK_TOKEN_SINT ||
         token->type == MPACK_TOKEN_FLOAT;
}

/* One value that is no array: the token, and what follows a text or raw bytes. */
static bool skip_scalar(const uint8_t **at, const uint8_t *end, tt_nt4_type type) {
  mpack_token_t token;
  if (!read_token(at, end, &token)) return false;
  switch (type) {
    case TT_NT4_BOOLEAN: return token.type == MPACK_TOKEN_BOOLEAN;
    case TT_NT4_INT:
    case TT_NT4_DOUBLE:
    case TT_NT4_FLOAT: return is_number(&token); /* as ntcore, any kind of number */
    default: break;
  }
  bool fits = type == TT_NT4_STRING ? token.type == MPACK_TOKEN_STR : token.type == MPACK_TOKEN_BIN;
  if (!fits || token.length > (size_t)(end - *at)) return false;
  *at += token.length;
  return true;
}

static bool skip_value(const uint8_t **at, const uint8_t *end, tt_nt4_type type) {
  if (type < TT_NT4_BOOLEAN_ARRAY) return skip_scalar(at, end, type);
  mpack_token_t token;
  if (!read_token(at, end, &token) || token.type != MPACK_TOKEN_ARRAY) return false;
  for (uint32_t i = 0; i < token.length; i++)
    if (!skip_scalar(at, end, (tt_nt4_type)(type - TT_NT4_BOOLEAN_ARRAY))) return false;
  return true;
}

static bool is_type(int64_t type) {
  return (type >= TT_NT4_BOOLEAN && type <= TT_NT4_RAW) ||
         (type >= TT_NT4_BOOLEAN_ARRAY && type <= TT_NT4_STRING_ARRAY);
}

tt_status tt_nt4_read_message(const uint8_t **at, const uint8_t *end, tt_nt4_message *message) {
  mpack_token_t head;
  int64_t type;
  if (*at == end) return TT_END;
  if (!read_token(at, end, &head) || head.type != MPACK_TOKEN_ARRAY || head.length != 4 ||
      !read_int(at, end, &message->id) || !read_int(at, end, &message->time) ||
      !read_int(at, end, &type) || !is_type(type))
    return TT_BAD_MESSAGE;
  message->type = (tt_nt4_type)type;
  message->value = *at;
  if (!skip_value(at, end, message->type)) return TT_BAD_MESSAGE;
  message->value_size = (size_t)(*at - message->value);
  return TT_OK;
}

bool tt_nt4_read_number(const tt_nt4_message *message, double *number) {
  const uint8_t *at = message->value;
  mpack_token_t token;
  if (!read_token(&at, message->value + message->value_size, &token)) return false;
  if (token.type == MPACK_TOKEN_BOOLEAN)
    *number = mpack_unpack_boolean(token);
  else if (is_number(&token))
    *number = mpack_unpack_number(token);
  else
    return false;
  return isfinite(*number);
}
