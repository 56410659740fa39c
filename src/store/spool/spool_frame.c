/* spool_frame.c: a head, then the batch's lists one behind the other. A list of structs says how large each is, so that a
 * program whose structs have grown at their ends reads those of one before it.
 */
#include "store/spool/spool_frame.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/** No text of UTF-8 holds it, and no numbers side by side do. */
static const uint8_t MARK[TT_FRAME_MARK] = {0xff, 'T', 'e', 't',  'h',  'e',  'r',  '\n',
                                            0xfe, 'f', 'r', 0xf5, 0xc0, 0x1a, 0xfc, 0xff};
/** A batch that says more is none: indices are counted from 0, without gaps. */
#define MOST_INDICES (1 << 24)
/** A name's index has its state above it. */
#define STATE_SHIFT 28

typedef struct frame_head {
  uint8_t mark[TT_FRAME_MARK];
  uint64_t position; /**< so that no copy of it elsewhere is taken for one */
  uint64_t writer;
  uint32_t size, samples;
  uint64_t batch_sum;
  uint64_t head_sum; /**< of all above */
} frame_head;

static uint64_t sum_of(const void *bytes, size_t size) {
  return tt_hash_bytes(TT_HASH_START, bytes, size);
}

/* --- a batch as bytes --- */

static void put_number(tt_list *out, uint32_t number) { tt_list_add(out, &number, sizeof number); }

/** NULL is told apart from "". */
static void put_text(tt_list *out, const char *text) {
  size_t size = text ? strlen(text) + 1 : 0;
  put_number(out, (uint32_t)size);
  tt_list_add(out, text, size);
}

static void put_structs(tt_list *out, const tt_list *structs) {
  put_number(out, structs->len);
  put_number(out, structs->item_size);
  tt_list_add(out, structs->data, (size_t)structs->len * structs->item_size);
}

static void put_names(tt_list *out, const tt_list *names) {
  put_number(out, names->len);
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    put_number(out, (uint32_t)name->index | (uint32_t)name->state << STATE_SHIFT);
    put_text(out, name->identifier);
    put_text(out, name->name);
  }
}

static void put_handlings(tt_list *out, const tt_list *handlings) {
  put_number(out, handlings->len);
  put_number(out, handlings->item_size);
  for (uint32_t i = 0; i < handlings->len; i++) {
    const tt_handling *handling = &tt_list_at(handlings, tt_handling, i);
    put_text(out, handling->pattern);
    put_text(out, handling->unit);
    tt_handling rest = *handling;
    rest.pattern = rest.unit = NULL;
    tt_list_add(out, &rest, sizeof rest);
  }
}

static void put_batch(tt_list *out, const tt_store_batch *batch) {
  put_names(out, &batch->devices);
  put_names(out, &batch->attributes);
  put_handlings(out, &batch->handlings);
  put_structs(out, &batch->epochs);
  put_structs(out, &batch->samples);
  put_structs(out, &batch->values);
  put_number(out, batch->text.len);
  tt_list_add(out, batch->text.data, batch->text.len);
  put_structs(out, &batch->pairs);
}

bool tt_frame_encode(tt_list *bytes, const tt_store_batch *batch, uint64_t writer,
                     uint64_t position) {
  const uint32_t start = bytes->len;
  frame_head head = {.position = position, .writer = writer, .samples = batch->samples.len};
  tt_list_add(bytes, &head, sizeof head);
  put_batch(bytes, batch);
  if (bytes->failed || bytes->len - start - sizeof head > TT_FRAME_MOST) return false;
  uint8_t *frame = (uint8_t *)bytes->data + start;
  memcpy(head.mark, MARK, sizeof MARK);
  head.size = bytes->len - start - (uint32_t)sizeof head;
  head.batch_sum = sum_of(frame + sizeof head, head.size);
  head.head_sum = sum_of(&head, offsetof(frame_head, head_sum));
  memcpy(frame, &head, sizeof head);
  return true;
}

/* --- heads --- */

_Static_assert(sizeof(frame_head) == TT_FRAME_HEAD, "TT_FRAME_HEAD is the larger of both heads");

bool tt_frame_read_head(const uint8_t *bytes, size_t size, uint64_t position, tt_frame *frame) {
  frame_head head;
  if (size < sizeof head || memcmp(bytes, MARK, sizeof MARK))
    return tt_frame_read_old_head(bytes, size, frame);
  memcpy(&head, bytes, sizeof head);
  if (head.head_sum != sum_of(&head, offsetof(frame_head, head_sum)) || head.position != position ||
      head.size > TT_FRAME_MOST)
    return false;
  *frame = (tt_frame){
      .writer = head.writer, .head_size = sizeof head, .size = head.size, .samples = head.samples};
  memcpy(frame->sum, &head.batch_sum, sizeof head.batch_sum);
  return true;
}

bool tt_frame_is_whole(const tt_frame *frame, const uint8_t *bytes) {
  uint8_t sum[32] = {0};
  if (frame->old) {
    tt_sha256(bytes, frame->size, sum);
  } else {
    const uint64_t number = sum_of(bytes, frame->size);
    memcpy(sum, &number, sizeof number);
  }
  return !memcmp(sum, frame->sum, sizeof sum);
}

size_t tt_frame_find(const uint8_t *bytes, size_t size) {
  const uint8_t *marked = memmem(bytes, size, MARK, sizeof MARK);
  size_t end = marked ? (size_t)(marked - bytes) : size;
  const uint8_t *old = memmem(bytes, end, TT_FRAME_OLD_MAGIC, 4);
  return old ? (size_t)(old - bytes) : end;
}

/* --- bytes as a batch --- */

typedef struct cursor {
  const uint8_t *next, *end;
  bool old, bad;
} cursor;

static const void *take_bytes(cursor *from, size_t size) {
  if (from->bad || (size_t)(from->end - from->next) < size) {
    from->bad = true;
    return NULL;
  }
  const void *taken = from->next;
  from->next += size;
  return taken;
}

static uint32_t take_number(cursor *from) {
  uint32_t number = 0;
  const void *bytes = take_bytes(from, sizeof number);
  if (bytes) memcpy(&number, bytes, sizeof number);
  return number;
}

/** In the bytes themselves; NULL: none was put. */
static const char *take_text(cursor *from) {
  uint32_t size = take_number(from);
  const char *text = size ? take_bytes(from, size) : NULL;
  if (text && text[size - 1]) from->bad = true;
  return from->bad ? NULL : text;
}

/** How many structs come, and how large each is; `old_size`: what it was before it was said. */
static uint32_t take_count(cursor *from, uint32_t old_size, uint32_t *size) {
  uint32_t count = take_number(from);
  *size = from->old ? old_size : take_number(from);
  if (!*size || count > (size_t)(from->end - from->next) / *size) from->bad = true;
  return from->bad ? 0 : count;
}

/** A struct of that size; parts that it has not are 0, parts that ours has not are left out. */
static void take_struct(cursor *from, uint32_t size, void *to, size_t to_size) {
  memset(to, 0, to_size);
  const void *bytes = take_bytes(from, size);
  if (bytes) memcpy(to, bytes, size < to_size ? size : to_size);
}

/** Adds names, leaving out those that were said already and say nothing new. */
static void take_names(cursor *from, tt_map *known, tt_list *names) {
  uint32_t count = take_number(from);
  for (uint32_t i = 0; i < count && !from->bad && !names->failed; i++) {
    const uint32_t number = take_number(from);
    const tt_name_state state = (tt_name_state)(number >> STATE_SHIFT);
    const int index = (int)(number & ((1u << STATE_SHIFT) - 1));
    const char *identifier = take_text(from), *name = take_text(from);
    if (!identifier || index >= MOST_INDICES || state > TT_NAME_REMOVED) from->bad = true;
    if (from->bad) return;
    if (!name && state == TT_NAME_KNOWN && tt_map_get(known, (tt_map_key){index, 0})) continue;
    tt_store_add_name(names, index, identifier, name, state);
    tt_map_put(known, (tt_map_key){index, 0}, 1);  // not noted, it is said twice
  }
}

/* Sizes of structs before they were said, which is where members begin that have come since. */
#define OLD_HANDLING 64
#define OLD_EPOCH 32
#define OLD_SAMPLE 32
#define OLD_VALUE 16
_Static_assert(offsetof(tt_handling, retention) + sizeof(double) == OLD_HANDLING,
               "new members come behind the old ones");
_Static_assert(offsetof(tt_store_epoch, offset_high) + sizeof(int64_t) == OLD_EPOCH,
               "new members come behind the old ones");
_Static_assert(offsetof(tt_store_sample, count) + sizeof(uint32_t) == OLD_SAMPLE,
               "new members come behind the old ones");
_Static_assert(offsetof(tt_store_value, number) + sizeof(double) == OLD_VALUE,
               "new members come behind the old ones");

static void take_handlings(cursor *from, tt_list *handlings) {
  uint32_t size, count = take_count(from, OLD_HANDLING, &size);
  for (uint32_t i = 0; i < count && !from->bad && !handlings->failed; i++) {
    const char *pattern = take_text(from), *unit = take_text(from);
    tt_handling handling;
    take_struct(from, size, &handling, sizeof handling);
    handling.pattern = (char *)pattern;  // which are copied
    handling.unit = (char *)unit;
    if (!pattern) from->bad = true;
    if (!from->bad) tt_store_add_handling(handlings, &handling);
  }
}

static void take_epochs(cursor *from, tt_map *known, tt_list *epochs) {
  uint32_t size, count = take_count(from, OLD_EPOCH, &size);
  for (uint32_t i = 0; i < count && !from->bad && !epochs->failed; i++) {
    tt_store_epoch epoch;
    take_struct(from, size, &epoch, sizeof epoch);
    if (epoch.device < 0 || epoch.device >= MOST_INDICES) from->bad = true;
    if (size == OLD_EPOCH) epoch.key = epoch.number;  // as databases of that time are upgraded
    epoch.boot[TT_BOOT_SIZE - 1] = 0;
    if (from->bad) break;
    tt_map_key key = {epoch.device, epoch.number};
    const int64_t *place = tt_map_get(known, key);
    if (!place) {
      tt_map_put(known, key, epochs->len);  // not noted, it is said twice
      tt_list_add(epochs, &epoch, 1);
      continue;
    }
    tt_store_epoch *said = &tt_list_at(epochs, tt_store_epoch, *place);
    if (epoch.offset_low < said->offset_low) said->offset_low = epoch.offset_low;
    if (epoch.offset_high > said->offset_high) said->offset_high = epoch.offset_high;
  }
}

/** Offsets of samples and values count from what the batch holds already. */
static void take_samples(cursor *from, tt_store_batch *batch) {
  const uint32_t first_value = batch->values.len, first_sample = batch->samples.len;
  const uint32_t first_text = batch->text.len;
  uint32_t size, count = take_count(from, OLD_SAMPLE, &size);
  for (uint32_t i = 0; i < count && !batch->samples.failed; i++) {
    tt_store_sample sample;
    take_struct(from, size, &sample, sizeof sample);
    if (sample.device < 0 || sample.device >= MOST_INDICES) from->bad = true;
    tt_list_add(&batch->samples, &sample, 1);
  }
  count = take_count(from, OLD_VALUE, &size);
  for (uint32_t i = 0; i < count && !batch->values.failed; i++) {
    tt_store_value value;
    take_struct(from, size, &value, sizeof value);
    if (value.attribute < 0 || value.attribute >= MOST_INDICES) from->bad = true;
    tt_list_add(&batch->values, &value, 1);
  }
  const uint32_t text_size = take_number(from);
  const char *text = take_bytes(from, text_size);
  if (text_size && text && text[text_size - 1]) from->bad = true;
  tt_list_add(&batch->text, text, text ? text_size : 0);
  for (uint32_t i = first_sample; i < batch->samples.len; i++) {
    tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    if (sample->first > batch->values.len - first_value ||
        sample->count > batch->values.len - first_value - sample->first)
      from->bad = true;
    sample->first += first_value;
  }
  for (uint32_t i = first_value; i < batch->values.len; i++) {
    tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, i);
    if (value->text == TT_STORE_NUMBER) continue;
    if (value->text >= text_size) from->bad = true;
    value->text += first_text;
  }
}

/** Frames of older programs end before them. */
static void take_pairs(cursor *from, tt_list *pairs) {
  if (from->next == from->end) return;
  uint32_t size, count = take_count(from, sizeof(tt_store_pair), &size);
  for (uint32_t i = 0; i < count && !pairs->failed; i++) {
    tt_store_pair pair;
    take_struct(from, size, &pair, sizeof pair);
    if (pair.device < 0 || pair.device >= MOST_INDICES || pair.attribute < 0 ||
        pair.attribute >= MOST_INDICES)
      from->bad = true;
    tt_list_add(pairs, &pair, 1);
  }
}

void tt_frame_known_clear(tt_frame_known *known) {
  tt_map_clear(&known->devices);
  tt_map_clear(&known->attributes);
  tt_map_clear(&known->epochs);
}

tt_status tt_frame_decode(const tt_frame *frame, const uint8_t *bytes, tt_frame_known *known,
                          tt_store_batch *batch) {
  cursor from = {bytes, bytes + frame->size, frame->old, false};
  const tt_store_batch before = *batch;
  take_names(&from, &known->devices, &batch->devices);
  take_names(&from, &known->attributes, &batch->attributes);
  take_handlings(&from, &batch->handlings);
  take_epochs(&from, &known->epochs, &batch->epochs);
  take_samples(&from, batch);
  take_pairs(&from, &batch->pairs);
  const bool failed = tt_store_batch_has_failed(batch);
  if (!failed && !from.bad && from.next == from.end) return TT_OK;
  tt_list_cut(&batch->devices, before.devices.len);
  tt_list_cut(&batch->attributes, before.attributes.len);
  tt_list_cut(&batch->handlings, before.handlings.len);
  tt_list_cut(&batch->samples, before.samples.len);
  tt_list_cut(&batch->values, before.values.len);
  tt_list_cut(&batch->text, before.text.len);
  tt_list_cut(&batch->pairs, before.pairs.len);
  tt_frame_known_clear(known);  // what is said twice does no harm
  return failed ? TT_NOMEM : TT_BAD_MESSAGE;
}
