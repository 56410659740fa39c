/* column.c: moments and the values of one attribute as what stands in a frame, and back.
 *
 * A first number says which it is, and how it is written: what a newer program writes otherwise has another one.
 */
#include "store/column/column_internal.h"

#include "base/hash.h"
#include "store/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** What a frame holds. */
enum { KIND_MOMENTS = 1, KIND_COLUMN = 2 };
/** What a column has, or-ed. */
enum { HAS_ROWS = 1, HAS_TEXTS = 2, HAS_NUMBERS = 4, HAS_ALL = 7 };

/** A text with its 0. */
#define MOST_TEXT 4097
/** Bytes of integers that stand for a row at most, and of what says how they are written. */
#define MOST_ROW 64
#define MOST_HEAD 1024

tt_column tt_column_new(void) {
  return (tt_column){TT_LIST(tt_column_value, NULL), TT_LIST(char, NULL)};
}

void tt_column_free(tt_column *column) {
  tt_list_free(&column->values);
  tt_list_free(&column->text);
}

void tt_column_clear(tt_column *column) {
  tt_list_cut(&column->values, 0);
  tt_list_cut(&column->text, 0);
}

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/** A list of so many items of unknown content. False: out of memory. */
static bool make_room(tt_list *list, uint32_t count) {
  tt_list_cut(list, 0);
  if (!tt_list_reserve(list, count)) return false;
  list->len = count;
  return true;
}

/** What reading came to. */
static tt_status judge(const tt_column_source *source, tt_error *error) {
  if (source->failed) return no_memory(error);
  if (source->damaged || source->left)
    return tt_fail(error, TT_INVALID, "damaged: its numbers contradict each other");
  return TT_OK;
}

/* --- moments --- */

static bool is_after(const tt_column_moment *moment, const tt_column_moment *before) {
  return moment->device_time > before->device_time ||
         (moment->device_time == before->device_time && moment->nth > before->nth);
}

/** One number of each moment. */
enum { PART_DEVICE_TIME, PART_OFFSET, PART_SEQ, PART_NTH, MOMENT_PARTS };

static inline uint64_t part_of(const tt_column_moment *moment, unsigned part) {
  if (part == PART_DEVICE_TIME) return (uint64_t)moment->device_time;
  if (part == PART_OFFSET) return (uint64_t)moment->time - (uint64_t)moment->device_time;
  return (uint64_t)(part == PART_SEQ ? moment->seq : moment->nth);
}

static inline void set_part(tt_column_moment *moment, unsigned part, uint64_t number) {
  if (part == PART_DEVICE_TIME) moment->device_time = (int64_t)number;
  if (part == PART_OFFSET) moment->time = (int64_t)((uint64_t)moment->device_time + number);
  if (part == PART_SEQ) moment->seq = (int64_t)number;
  if (part == PART_NTH) moment->nth = (int64_t)number;
}

tt_status tt_column_pack_moments(const tt_list *moments, tt_list *bytes, tt_error *error) {
  const tt_column_moment *all = moments->data;
  const uint32_t count = moments->len;
  if (!count || count > TT_COLUMN_ROWS)
    return tt_fail(error, TT_INVALID, "%u rows in a piece, which has 1 to %d", count,
                   TT_COLUMN_ROWS);
  for (uint32_t i = 1; i < count; i++) {
    if (!is_after(&all[i], &all[i - 1]))
      return tt_fail(error, TT_INVALID, "the rows of a piece are not in order");
  }
  uint64_t *numbers = malloc(count * sizeof *numbers);
  if (!numbers) return no_memory(error);
  tt_column_content content = tt_column_content_new();
  tt_column_put(&content, KIND_MOMENTS);
  tt_column_put(&content, count);
  for (unsigned part = 0; part < MOMENT_PARTS; part++) {
    for (uint32_t i = 0; i < count; i++) numbers[i] = part_of(&all[i], part);
    tt_column_put_integers(&content, numbers, count);
  }
  tt_status status = tt_column_compress(&content, bytes, error);
  tt_column_content_free(&content);
  free(numbers);
  return status;
}

static void read_moments(tt_column_source *source, tt_list *moments) {
  const uint64_t kind = tt_column_get(source), count = tt_column_get(source);
  if (kind != KIND_MOMENTS || !count || count > TT_COLUMN_ROWS) source->damaged = true;
  if (source->damaged) return;
  uint64_t *numbers = malloc(count * sizeof *numbers);
  source->failed = !numbers || !make_room(moments, (uint32_t)count);
  tt_column_moment *all = moments->data;
  for (unsigned part = 0; part < MOMENT_PARTS && !source->failed && !source->damaged; part++) {
    tt_column_get_integers(source, numbers, (uint32_t)count);
    for (uint32_t i = 0; i < count && !source->damaged; i++) set_part(&all[i], part, numbers[i]);
  }
  free(numbers);
  for (uint32_t i = 1; i < count && !source->failed && !source->damaged; i++) {
    if (!is_after(&all[i], &all[i - 1])) source->damaged = true;
  }
}

tt_status tt_column_read_moments(tt_column_source *source, tt_list *moments, tt_error *error) {
  read_moments(source, moments);
  tt_status status = judge(source, error);
  if (status != TT_OK) tt_list_cut(moments, 0);
  return status;
}

tt_status tt_column_unpack_moments(const void *bytes, size_t size, tt_list *moments,
                                   tt_error *error) {
  uint8_t *content;
  size_t content_size;
  tt_list_cut(moments, 0);
  TT_TRY(tt_column_decompress(bytes, size, MOST_HEAD + MOST_ROW * TT_COLUMN_ROWS, &content,
                              &content_size, error));
  tt_column_source source = {content, content_size, false, false};
  tt_status status = tt_column_read_moments(&source, moments, error);
  free(content);
  return status;
}

/* --- values --- */

/** The different texts of a column, and which each value has. */
typedef struct dictionary {
  tt_list text;     /**< char */
  uint32_t count;   /**< texts */
  uint64_t *places; /**< of each value: 0 is a number, else a text's place + 1 */
} dictionary;

/** False: out of memory. */
static bool look_up(const tt_column *column, dictionary *dictionary) {
  tt_map known = {0}; /* hash and size of a text → its place above, its offset below */
  bool enough = true;
  for (uint32_t i = 0; i < column->values.len && enough; i++) {
    const tt_column_value *value = &tt_list_at(&column->values, tt_column_value, i);
    dictionary->places[i] = 0;
    if (value->text == TT_COLUMN_NUMBER) continue;
    const char *text = (const char *)column->text.data + value->text;
    const size_t size = strlen(text) + 1;
    const tt_map_key key = {(int64_t)tt_hash_bytes(TT_HASH_START, text, size), (int64_t)size};
    const int64_t *found = tt_map_get(&known, key);
    const char *first = dictionary->text.data;
    if (found && first && !memcmp(first + (uint32_t)*found, text, size)) {
      dictionary->places[i] = (uint64_t)*found >> 32;
      continue;
    }
    dictionary->places[i] = ++dictionary->count;
    const uint64_t entry = (uint64_t)dictionary->count << 32 | dictionary->text.len;
    enough = tt_list_add(&dictionary->text, text, size) &&
             (found || tt_map_put(&known, key, (int64_t)entry));
  }
  tt_map_clear(&known);
  return enough;
}

/** Whether a column can be read back. */
static tt_status check(const tt_column *column, uint32_t rows, tt_error *error) {
  const tt_column_value *values = column->values.data;
  const char *text = column->text.data;
  const uint32_t count = column->values.len, size = column->text.len;
  bool good = rows <= TT_COLUMN_ROWS && (!size || !text[size - 1]);
  for (uint32_t i = 0; i < count && good; i++) {
    good = values[i].row < rows && (!i || values[i].row > values[i - 1].row);
    if (!good) break;
    if (values[i].text == TT_COLUMN_NUMBER)
      good = isfinite(values[i].number);
    else
      good = values[i].text < size && strnlen(text + values[i].text, MOST_TEXT) < MOST_TEXT;
  }
  return good ? TT_OK : tt_fail(error, TT_INVALID, "values that no piece can hold");
}

/** Puts what a column is made of. False: out of memory. */
static bool put_column(tt_column_content *content, const tt_column *column, uint32_t rows,
                       dictionary *dictionary, double *numbers) {
  const tt_column_value *values = column->values.data;
  const uint32_t count = column->values.len;
  uint32_t number_count = 0;
  if (!look_up(column, dictionary)) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (values[i].text == TT_COLUMN_NUMBER) numbers[number_count++] = values[i].number;
  }
  const bool has_rows = count < rows, has_texts = number_count < count;
  tt_column_put(content, KIND_COLUMN);
  tt_column_put(content, (has_rows ? HAS_ROWS : 0) | (has_texts ? HAS_TEXTS : 0) |
                             (number_count ? HAS_NUMBERS : 0));
  tt_column_put(content, count);
  if (has_texts) {
    tt_column_put(content, dictionary->count);
    tt_column_put(content, dictionary->text.len);
    uint8_t *text = tt_column_put_part(content, dictionary->text.len);
    if (!text) return false;
    memcpy(text, dictionary->text.data, dictionary->text.len);
    tt_column_put_integers(content, dictionary->places, count);
  }
  if (number_count) tt_column_put_numbers(content, numbers, number_count);
  if (has_rows) {
    for (uint32_t i = 0; i < count; i++) dictionary->places[i] = values[i].row;
    tt_column_put_integers(content, dictionary->places, count);
  }
  return !content->bytes.failed;
}

tt_status tt_column_pack(const tt_column *column, uint32_t rows, tt_list *bytes, tt_error *error) {
  TT_TRY(check(column, rows, error));
  const size_t count = column->values.len;
  dictionary dictionary = {.text = TT_LIST(char, NULL),
                           .places = malloc((count + 1) * sizeof *dictionary.places)};
  double *numbers = malloc((count + 1) * sizeof *numbers);
  tt_column_content content = tt_column_content_new();
  tt_status status =
      dictionary.places && numbers && put_column(&content, column, rows, &dictionary, numbers)
          ? tt_column_compress(&content, bytes, error)
          : no_memory(error);
  tt_column_content_free(&content);
  tt_list_free(&dictionary.text);
  free(dictionary.places);
  free(numbers);
  return status;
}

/** Texts into the column, and the offset of each. */
static void read_dictionary(tt_column_source *source, tt_column *column, uint32_t texts,
                            size_t size, uint32_t *offsets) {
  const char *text = (const char *)tt_column_get_part(source, size);
  if (!text) return;
  if (size && !tt_list_add(&column->text, text, size)) {
    source->failed = true;
    return;
  }
  size_t at = 0;
  for (uint32_t i = 0; i < texts; i++) {
    const size_t length = strnlen(text + at, size - at);
    if (at + length >= size || length >= MOST_TEXT) {
      source->damaged = true;
      return;
    }
    offsets[i] = (uint32_t)at;
    at += length + 1;
  }
  source->damaged |= at != size;
}

/** Which values are texts. The count of the others. */
static uint32_t read_texts(tt_column_source *source, tt_column *column, uint64_t *places) {
  tt_column_value *values = column->values.data;
  const uint32_t count = column->values.len;
  const uint64_t texts = tt_column_get(source), size = tt_column_get(source);
  if (texts > count || size > texts * MOST_TEXT) source->damaged = true;
  if (source->damaged) return 0;
  uint32_t *offsets = malloc((texts + 1) * sizeof *offsets), numbers = 0;
  source->failed = !offsets;
  if (offsets) read_dictionary(source, column, (uint32_t)texts, size, offsets);
  if (!source->failed && !source->damaged) tt_column_get_integers(source, places, count);
  for (uint32_t i = 0; i < count && !source->failed && !source->damaged; i++) {
    if (places[i] > texts) {
      source->damaged = true;
    } else if (places[i]) {
      values[i].text = offsets[places[i] - 1];
      values[i].number = 0;
    } else {
      values[i].text = TT_COLUMN_NUMBER;
      numbers++;
    }
  }
  free(offsets);
  return numbers;
}

static void read_numbers(tt_column_source *source, tt_column *column, uint32_t count, bool all,
                         double *numbers) {
  tt_column_value *values = column->values.data;
  tt_column_get_numbers(source, numbers, count);
  if (source->failed || source->damaged) return;
  if (all) {
    for (uint32_t i = 0; i < count; i++) {
      values[i] = (tt_column_value){i, TT_COLUMN_NUMBER, numbers[i]};
    }
    return;
  }
  for (uint32_t i = 0, next = 0; i < column->values.len; i++) {
    if (values[i].text == TT_COLUMN_NUMBER) values[i].number = numbers[next++];
  }
}

static void read_rows(tt_column_source *source, tt_column *column, uint32_t rows,
                      uint64_t *numbers) {
  tt_column_value *values = column->values.data;
  tt_column_get_integers(source, numbers, column->values.len);
  if (source->damaged) return;
  for (uint32_t i = 0; i < column->values.len; i++) {
    values[i].row = (uint32_t)numbers[i];
    if (numbers[i] >= rows || (i && numbers[i] <= numbers[i - 1])) source->damaged = true;
  }
}

static void read_column(tt_column_source *source, uint32_t rows, tt_column *column) {
  const uint64_t kind = tt_column_get(source), has = tt_column_get(source);
  const uint64_t said = tt_column_get(source);
  if (kind != KIND_COLUMN || has > HAS_ALL || said > rows || (!(has & HAS_ROWS) && said != rows) ||
      (said && !(has & (HAS_TEXTS | HAS_NUMBERS))))
    source->damaged = true;
  if (source->damaged) return;
  const uint32_t count = (uint32_t)said;
  // Places, then rows, or numbers.
  uint64_t *scratch = malloc((count + 1) * sizeof *scratch);
  source->failed = !scratch || !make_room(&column->values, count);
  uint32_t numbers = count;
  if (!source->failed && has & HAS_TEXTS) numbers = read_texts(source, column, scratch);
  if (!(has & HAS_NUMBERS) != !numbers) source->damaged = true;
  if (!source->failed && !source->damaged && numbers)
    read_numbers(source, column, numbers, !(has & HAS_TEXTS), (double *)scratch);
  tt_column_value *values = column->values.data;
  for (uint32_t i = 0; !source->failed && i < count && has & HAS_TEXTS; i++) values[i].row = i;
  if (!source->failed && !source->damaged && has & HAS_ROWS)
    read_rows(source, column, rows, scratch);
  free(scratch);
}

tt_status tt_column_read(tt_column_source *source, uint32_t rows, tt_column *column,
                         tt_error *error) {
  read_column(source, rows, column);
  tt_status status = judge(source, error);
  if (status != TT_OK) tt_column_clear(column);
  return status;
}

tt_status tt_column_unpack(const void *bytes, size_t size, uint32_t rows, tt_column *column,
                           tt_error *error) {
  uint8_t *content;
  size_t content_size;
  tt_column_clear(column);
  if (rows > TT_COLUMN_ROWS)
    return tt_fail(error, TT_INVALID, "damaged: a piece has no %u rows", rows);
  TT_TRY(tt_column_decompress(bytes, size, MOST_HEAD + (size_t)(MOST_ROW + MOST_TEXT) * rows,
                              &content, &content_size, error));
  tt_column_source source = {content, content_size, false, false};
  tt_status status = tt_column_read(&source, rows, column, error);
  free(content);
  return status;
}
