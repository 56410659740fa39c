/* control_code.c: reads the compiled code that this program's own Lua wrote. Its layout is that of Lua 5.4's ldump.c. */
#include "sweep/control_code.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Signature, version, format, LUAC_DATA, the sizes of an instruction, an integer and a number, one of each of these. */
#define HEADER (4 + 1 + 1 + 6 + 3 + sizeof(lua_Integer) + sizeof(lua_Number))
#define INSTRUCTION 4
#define UPVALUE 3 /* bytes that describe one */

enum {
  CODE_NIL = 0x00,
  CODE_FALSE = 0x01,
  CODE_TRUE = 0x11,
  CODE_INTEGER = 0x03,
  CODE_FLOAT = 0x13,
  CODE_SHORT = 0x04,
  CODE_LONG = 0x14
};

typedef struct reader {
  const unsigned char *bytes;
  size_t size, at;
  bool failed;
} reader;

static void skip(reader *from, size_t count, size_t each) {
  if (from->failed || count > (from->size - from->at) / each)
    from->failed = true;
  else
    from->at += count * each;
}

static unsigned char read_byte(reader *from) {
  skip(from, 1, 1);
  return from->failed ? 0 : from->bytes[from->at - 1];
}

/* Seven bits a byte, the most significant first; the last has its eighth set. */
static size_t read_size(reader *from) {
  size_t size = 0;
  unsigned char byte;
  do {
    byte = read_byte(from);
    size = size << 7 | (byte & 0x7f);
  } while (!(byte & 0x80) && !from->failed);
  return size;
}

static void skip_text(reader *from) {
  size_t size = read_size(from); /* 0: none; else one more than its bytes */
  if (size > 0) skip(from, size - 1, 1);
}

static void skip_constants(reader *from) {
  for (size_t left = read_size(from); left > 0 && !from->failed; left--) {
    switch (read_byte(from)) {
      case CODE_NIL:
      case CODE_FALSE:
      case CODE_TRUE: break;
      case CODE_INTEGER: skip(from, sizeof(lua_Integer), 1); break;
      case CODE_FLOAT: skip(from, sizeof(lua_Number), 1); break;
      case CODE_SHORT:
      case CODE_LONG: skip_text(from); break;
      default: from->failed = true;
    }
  }
}

static void skip_debug(reader *from) {
  skip(from, read_size(from), 1); /* lines */
  for (size_t left = read_size(from); left > 0 && !from->failed; left--) {
    read_size(from);
    read_size(from);
  }
  for (size_t left = read_size(from); left > 0 && !from->failed; left--) { /* local variables */
    skip_text(from);
    read_size(from);
    read_size(from);
  }
  for (size_t left = read_size(from); left > 0 && !from->failed; left--) skip_text(from);
}

static int add_function(tt_control_code *code) {
  if (code->count == code->capacity) {
    int capacity = code->capacity ? 2 * code->capacity : 16;
    tt_control_function *grown = realloc(code->functions, (size_t)capacity * sizeof *grown);
    if (!grown) return -1;
    code->functions = grown;
    code->capacity = capacity;
  }
  code->functions[code->count] = (tt_control_function){0};
  return code->count++;
}

static void read_function(
    reader *from, tt_control_code *code) {  // NOLINT(misc-no-recursion): as deep as the file nests
  skip_text(from);                          /* the source */
  size_t begin = from->at;
  int index = add_function(code);
  if (index < 0) from->failed = true;
  read_size(from);  /* first line */
  read_size(from);  /* last line */
  skip(from, 3, 1); /* parameters, whether there may be more, registers */
  skip(from, read_size(from), INSTRUCTION);
  skip_constants(from);
  size_t upvalues = read_size(from);
  skip(from, upvalues, UPVALUE);
  for (size_t left = read_size(from); left > 0 && !from->failed; left--) read_function(from, code);
  skip_debug(from);
  if (from->failed) return;
  code->functions[index] =
      (tt_control_function){.at = begin, .size = from->at - begin, .upvalues = (int)upvalues};
}

/* ---- what Lua writes and reads ---- */

static int append(lua_State *lua, const void *bytes, size_t size, void *context) {
  (void)lua;
  tt_bytes *to = context;
  tt_bytes_append(to, bytes, size);
  return to->failed;
}

/* Reads what stands before a function: the place of the file's name is that of the first byte behind it. */
static reader read_header(const tt_bytes *bytes) {
  reader from = {.bytes = bytes->data, .size = bytes->size};
  skip(&from, HEADER + 1, 1);
  return from;
}

void tt_control_code_read(tt_control_code *code, lua_State *lua) {
  if (lua_dump(lua, append, &code->bytes, 0) != 0) luaL_error(lua, "out of memory");
  reader from = read_header(&code->bytes);
  code->source = from.at;
  skip_text(&from);
  code->source_size = from.at - code->source;
  from.at = code->source;
  read_function(&from, code);
  if (from.failed || from.at != from.size)
    luaL_error(lua, "the code of this Lua can't be read (%s)", LUA_RELEASE);
}

void tt_control_code_clear(tt_control_code *code) {
  tt_bytes_free(&code->bytes);
  free(code->functions);
  *code = (tt_control_code){0};
}

int tt_control_code_find(const tt_control_code *code, lua_State *lua) {
  tt_bytes one = {0};
  bool failed = lua_dump(lua, append, &one, 0) != 0;
  reader from = read_header(&one);
  skip_text(&from);
  size_t size = one.size - from.at;
  int found = -1;
  for (int i = 0; i < code->count && found < 0 && !failed && !from.failed; i++)
    if (code->functions[i].size == size &&
        memcmp(code->bytes.data + code->functions[i].at, one.data + from.at, size) == 0)
      found = i;
  tt_bytes_free(&one);
  return found;
}

/* The pieces that a function's own file would consist of. */
typedef struct pieces {
  struct {
    const char *bytes;
    size_t size;
  } of[4];
  int next;
} pieces;

static const char *next_piece(lua_State *lua, void *context, size_t *size) {
  (void)lua;
  pieces *from = context;
  if (from->next == 4) return NULL;
  *size = from->of[from->next].size;
  return from->of[from->next++].bytes;
}

void tt_control_code_make(const tt_control_code *code, int index, lua_State *lua) {
  const tt_control_function *function = &code->functions[index];
  const char upvalues = (char)function->upvalues;
  const char *bytes = (const char *)code->bytes.data;
  pieces from = {.of = {{bytes, HEADER},
                        {&upvalues, 1},
                        {bytes + code->source, code->source_size},
                        {bytes + function->at, function->size}}};
  if (lua_load(lua, next_piece, &from, "=function", "b") != LUA_OK) lua_error(lua);
}
