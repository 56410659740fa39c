#include "wire/xrp/explain.h"

#include "base/endian.h"
#include "wire/explain.h"
#include "wire/xrp/codec.h"

#include <stdio.h>

static void explain_whole(tt_explanation *to, const char *name, int offset, int size) {
  tt_wire_field *field = tt_explain_field(to, name, "", offset, size);
  if (!field) return;
  unsigned value = 0;
  for (int i = 0; i < size; i++) value = value << 8 | to->bytes[offset + i];
  tt_explain_number(field, (double)value);
}

static double number_at(const uint8_t *at, char type) {
  switch (type) {
    case 'f': return (double)tt_get_float_be(at);
    case 'i': return (double)(int32_t)tt_get_u32_be(at);
    case 'u': return (double)tt_get_u32_be(at);
    default: return (double)at[0];
  }
}

/* What follows the tag at `offset`, whose bytes end at `end`. Returns where the known parts end. */
static int explain_parts(tt_explanation *to, const tt_xrp_tag *tag, const char *owner, int offset,
                         int end) {
  for (int i = 0; i < tag->count; i++) {
    const tt_xrp_part *part = &tag->parts[i];
    int size = tt_xrp_part_size(part);
    char name[64];
    if (offset >= end && i >= tag->least) break;
    snprintf(name, sizeof name, "%s%s%s", owner, *part->name ? ", " : "", part->name);
    tt_wire_field *field = tt_explain_field(to, name, part->unit, offset, size);
    if (field) tt_explain_number(field, number_at(to->bytes + offset, part->type));
    if (field && offset + size > end) field->wrong = true;
    offset += size;
  }
  return offset;
}

/* One tag with its size. Returns where the next begins. */
static int explain_tag(tt_explanation *to, bool incoming, int offset) {
  explain_whole(to, "size", offset, 1);
  if (offset + 1 >= to->size) {
    tt_explain_field(to, "tag", "", offset + 1, 1); /* missing, or not kept */
    return to->whole;
  }
  int end = offset + 1 + to->bytes[offset];
  const tt_xrp_tag *tag = tt_xrp_find_tag(to->bytes[offset + 1]);
  tt_wire_field *field = tt_explain_field(to, "tag", "", offset + 1, 1);
  if (field) snprintf(field->value, sizeof field->value, "0x%02x", to->bytes[offset + 1]);
  if (end == offset + 1) { /* a size of 0: nothing that follows can be told apart */
    if (field) field->wrong = true;
    return to->whole;
  }
  if (!tag || (incoming && tag->number > TT_XRP_DIGITAL)) {
    if (end > offset + 2) {
      field = tt_explain_field(to, "not known here", "", offset + 2, end - offset - 2);
      if (field) snprintf(field->value, sizeof field->value, "%d bytes", end - offset - 2);
    }
    return end;
  }
  char owner[32];
  int at = offset + 2;
  snprintf(owner, sizeof owner, "%s", tag->name);
  if (tag->has_id) {
    if (at < to->size) snprintf(owner, sizeof owner, "%s %d", tag->name, to->bytes[at]);
    char name[48];
    snprintf(name, sizeof name, "%s: which", tag->name);
    explain_whole(to, name, at, 1);
    at++;
  }
  at = explain_parts(to, tag, owner, at, end);
  if (at < end) {
    field = tt_explain_field(to, "surplus", "", at, end - at);
    if (field) {
      snprintf(field->value, sizeof field->value, "%d too many", end - at);
      field->wrong = true;
    }
  }
  return end;
}

void tt_xrp_explain(bool incoming, tt_explanation *to) {
  explain_whole(to, "number", 0, 2);
  explain_whole(to, incoming ? "enabled" : "control", 2, 1);
  int offset = TT_XRP_HEAD;
  while (offset < to->whole && offset < to->size && to->count < to->capacity)
    offset = explain_tag(to, incoming, offset);
}
