#include "wire/sharp_json/explain.h"

#include "wire/explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the reader is. */
typedef struct cursor {
  const char *text;
  int at, size;
} cursor;

static bool is_at(const cursor *from, char c) {
  return from->at < from->size && from->text[from->at] == c;
}

static void skip_blanks(cursor *from) {
  while (from->at < from->size && strchr(" \t\r\n", from->text[from->at]) != NULL &&
         from->text[from->at] != '\0')
    from->at++;
}

static bool skip(cursor *from, char c) {
  skip_blanks(from);
  bool found = is_at(from, c);
  from->at += found;
  return found;
}

/** Behind `name` in quotes and its colon; false where the message doesn't have that. */
static bool go_to_key(cursor *from, const char *name) {
  int length = (int)strlen(name);
  for (int i = 0; i + length + 2 <= from->size; i++) {
    char quote = from->text[i];
    if (quote != '\'' && quote != '"') continue;
    if (memcmp(from->text + i + 1, name, (size_t)length) != 0) continue;
    if (from->text[i + 1 + length] != quote) continue;
    from->at = i + length + 2;
    return skip(from, ':');
  }
  return false;
}

/** Bytes up to the next blank, comma or bracket. */
static int token_size(const cursor *from) {
  int size = 0;
  while (from->at + size < from->size && from->text[from->at + size] != '\0' &&
         strchr(" \t\r\n,:[]{}", from->text[from->at + size]) == NULL)
    size++;
  return size;
}

static bool is_number_within(const char *token, int lower, int upper) {
  char *end;
  double number = strtod(token, &end);
  if (end == token || *end != '\0' || !isfinite(number)) return false;
  return nearbyint(number) >= lower && nearbyint(number) <= upper;
}

static void explain_number(tt_explanation *to, const tt_sharp_key *key, const char *name,
                           cursor *from) {
  skip_blanks(from);
  int size = token_size(from);
  bool cut = from->at + size >= to->size && to->whole > to->size;
  tt_wire_field *field = cut ? NULL : tt_explain_field(to, name, key->unit, from->at, size);
  from->at += size;
  if (!field) return;
  snprintf(field->value, sizeof field->value, "%.*s", size, from->text + from->at - size);
  field->wrong = !is_number_within(field->value, key->lower, key->upper);
  if (size == 0) snprintf(field->value, sizeof field->value, "nothing");
}

static void explain_kept(tt_explanation *to, const tt_sharp_key *key, const char *name) {
  if (to->whole > to->size) return; /* it may stand in the part that is not here */
  tt_wire_field *field = tt_explain_field(to, name, key->unit, to->size, 0);
  if (field) snprintf(field->value, sizeof field->value, "kept");
}

/** A number whose key is not there: perhaps its alias is. */
static void explain_other(const tt_sharp_format *format, int value, tt_explanation *to,
                          const tt_sharp_key *key, const char *name) {
  const tt_sharp_alias *alias = tt_sharp_alias_of(format, value);
  cursor from = {(const char *)to->bytes, 0, to->size};
  if (alias != NULL && go_to_key(&from, alias->name))
    explain_number(to, key, alias->name, &from);
  else
    explain_kept(to, key, name);
}

/** The key's numbers, of which the first is `value` of all. */
static void explain_key(const tt_sharp_format *format, int value, tt_explanation *to,
                        const tt_sharp_key *key) {
  cursor from = {(const char *)to->bytes, 0, to->size};
  bool found = go_to_key(&from, key->name);
  if (found && key->array) skip(&from, '[');
  for (int i = 0; i < key->count; i++) {
    char name[64];
    snprintf(name, sizeof name, key->array ? "%s[%d]" : "%s", key->name, i);
    if (i > 0) skip(&from, ',');
    if (found)
      explain_number(to, key, name, &from);
    else
      explain_other(format, value + i, to, key, name);
  }
}

void tt_sharp_explain(const tt_sharp_format *format, tt_explanation *to) {
  int value = 0;
  for (int i = 0; i < format->key_count; i++) {
    explain_key(format, value, to, &format->keys[i]);
    value += format->keys[i].count;
  }
}
