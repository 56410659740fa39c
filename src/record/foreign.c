#include "record/foreign.h"

#include "base/json.h"
#include "base/text.h"
#include "record/foreign_survey.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_TEXT 1000 /* bytes of a text that are told */

/* ---- what the new log begins with ---- */

#define MOST_ELEMENT (TT_SURVEY_MOST_NAME + 32 + TT_STRUCT_MOST_NAME) /* bytes of a signal's name */

static void name_element(const source *from, unsigned element, char name[MOST_ELEMENT]) {
  unsigned leaves = from->layout ? from->layout->count : 1;
  const char *leaf = from->layout ? from->layout->leaves[element % leaves].name : "";
  char place[16] = "";
  if (from->type->array) snprintf(place, sizeof place, "[%u]", element / leaves);
  snprintf(name, MOST_ELEMENT, "%s%s%s%s", from->name, place, *leaf ? "/" : "", leaf);
}

static int compare_texts(const void *one, const void *other) { return strcmp(one, other); }

static bool are_new(void *const *names, const source *from) {
  char name[MOST_ELEMENT];
  for (unsigned i = 0; i < from->elements; i++) {
    name_element(from, i, name);
    if (tfind(name, names, compare_texts)) return false;
  }
  return true;
}

static tt_status enter_names(void **names, const source *from) {
  char name[MOST_ELEMENT];
  for (unsigned i = 0; i < from->elements; i++) {
    name_element(from, i, name);
    char *kept = strdup(name);
    if (kept && tsearch(kept, names, compare_texts)) continue;
    free(kept);
    return TT_NOMEM;
  }
  return TT_OK;
}

/* An entry may be called as an element of an array or struct: the signals of the later one are NAME (2), and so on. */
static tt_status name_apart(const survey *of) {
  void *names = NULL;
  tt_status status = TT_OK;
  for (source *from = of->all; from && status == TT_OK; from = from->next) {
    const size_t plain = strlen(from->name);
    for (unsigned n = 2; status == TT_OK && !are_new(&names, from); n++) {
      char *name;
      if (asprintf(&name, "%.*s (%u)", (int)plain, from->name, n) < 0) {
        status = TT_NOMEM;
      } else {
        free(from->name);
        from->name = name;
      }
    }
    if (status == TT_OK) status = enter_names(&names, from);
  }
  tdestroy(names, free);
  return status;
}

static const char *unit_of_element(const source *from, unsigned element) {
  const char *unit = from->layout ? from->layout->leaves[element % from->layout->count].unit : NULL;
  return unit ? unit : from->unit;
}

static void describe_start(const survey *of, int64_t now, char stamp[32]) {
  time_t start = of->clock ? (time_t)((of->clock + (int64_t)of->begin) / 1000000) : (time_t)now;
  struct tm utc;
  if (start < 0 || !gmtime_r(&start, &utc) || utc.tm_year > 8000) gmtime_r(&(time_t){now}, &utc);
  strftime(stamp, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* What wrote it: the header's text says so, if anything does. */
static char *read_program(const survey *of) {
  const size_t fixed = 12; /* of the header */
  size_t size = of->first - fixed < 100 ? of->first - fixed : 100;
  char *made = strndup(size ? (const char *)of->data + fixed : "another program", size ? size : 15);
  if (made) tt_text_make_safe(made);
  return made;
}

static char *describe_run(const survey *of, const char *name, int64_t now) {
  struct json_object *run = json_object_new_object();
  char stamp[32], *program = read_program(of), *shown = strdup(name);
  if (shown) tt_text_make_safe(shown);
  describe_start(of, now, stamp);
  tt_json_add_text(run, "scene", shown);
  tt_json_add_text(run, "started", stamp);
  tt_json_add_text(run, "program", program);
  tt_json_add_int(run, "left_out", of->left_out);
  tt_json_add_text(run, "left_out_types", of->left_types);
  char *text = run ? strdup(json_object_to_json_string_ext(run, JSON_C_TO_STRING_PLAIN)) : NULL;
  json_object_put(run);
  free(program);
  free(shown);
  return text;
}

/* As tt_describe_sim() makes it, of a world that has nothing but signals. */
static char *describe_model(const survey *of) {
  static const char *const lists[] = {"bodies",    "joints",   "robots", "commands", "shapes",
                                      "materials", "textures", "rays",   "lines",    "stations"};
  struct json_object *model = json_object_new_object();
  struct json_object *signals = tt_json_add_array(model, "signals");
  char name[MOST_ELEMENT];
  tt_json_add_text(model, "type", "model");
  tt_json_add_bool(model, "dynamics", true);
  tt_json_add_int(model, "meshes", 0);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) tt_json_add_array(model, lists[i]);
  for (const source *from = of->all; signals && from; from = from->next)
    for (unsigned i = 0; i < from->elements; i++) {
      struct json_object *signal = json_object_new_object();
      name_element(from, i, name);
      tt_json_add_text(signal, "name", name);
      tt_json_add_text(signal, "unit", unit_of_element(from, i));
      tt_json_add_int(signal, "robot", -1);
      tt_json_add_bool(signal, "command", false);
      json_object_array_add(signals, signal);
    }
  char *text = model ? strdup(json_object_to_json_string_ext(model, JSON_C_TO_STRING_PLAIN)) : NULL;
  json_object_put(model);
  return text;
}

static void put_signal_starts(const source *from, tt_bytes *out) {
  char name[MOST_ELEMENT + 20], element[MOST_ELEMENT], metadata[100];
  for (unsigned i = 0; i < from->elements; i++) {
    struct json_object *about = json_object_new_object();
    tt_json_add_text(about, "unit", unit_of_element(from, i));
    snprintf(metadata, sizeof metadata, "%s",
             json_object_to_json_string_ext(about, JSON_C_TO_STRING_PLAIN));
    json_object_put(about);
    name_element(from, i, element);
    snprintf(name, sizeof name, "/signals/%s", element);
    tt_wpilog_write_start(out, from->first + i, name, "double", metadata, 0);
  }
  if (from->flag) tt_wpilog_write_start(out, from->flag, from->name, "boolean", "", 0);
}

static tt_status put_beginning(const survey *of, const char *name, int64_t now, tt_bytes *out) {
  char *run = describe_run(of, name, now), *model = describe_model(of);
  tt_wpilog_write_header(out, "tether " TETHER_VERSION);
  tt_wpilog_write_start(out, RUN, "/tether/run", "json", "", 0);
  tt_wpilog_write_start(out, MODEL, "/tether/model", "json", "", 0);
  tt_wpilog_write_start(out, EVENTS, "/events", "string", "", 0);
  tt_wpilog_write_start(out, END, "/tether/end", "string", "", 0);
  for (const source *from = of->all; from; from = from->next) put_signal_starts(from, out);
  if (run) tt_wpilog_write_string(out, RUN, 0, run);
  if (model) tt_wpilog_write_string(out, MODEL, 0, model);
  tt_status status = run && model && !out->failed ? TT_OK : TT_NOMEM;
  free(run);
  free(model);
  return status;
}

/* ---- the second reading ---- */

static double read_value(const value_type *type, const uint8_t *at) {
  uint32_t bits;
  float single;
  switch (type->kind) {
    case NUMBER: return tt_wpilog_double(at);
    case INTEGER: return (double)(int64_t)tt_wpilog_uint(at, 8);
    case FLAGS: return *at != 0;
    default: break;
  }
  bits = (uint32_t)tt_wpilog_uint(at, 4);
  memcpy(&single, &bits, sizeof single);
  return (double)single;
}

static double read_element(const source *from, const uint8_t *payload, unsigned element) {
  const tt_struct_layout *layout = from->layout;
  if (!layout) return read_value(from->type, payload + (size_t)element * from->type->size);
  return tt_struct_read(&layout->leaves[element % layout->count],
                        payload + (size_t)(element / layout->count) * layout->size);
}

/* A list of texts as one: u32 count, then each as u32 size and bytes. What is cut short ends it. */
static size_t join_texts(const tt_wpilog_record *record, char out[MOST_TEXT]) {
  size_t at = 4, used = 0;
  uint64_t count = record->size >= 4 ? tt_wpilog_uint(record->payload, 4) : 0;
  for (uint64_t i = 0; i < count && record->size - at >= 4; i++) {
    size_t size = (size_t)tt_wpilog_uint(record->payload + at, 4);
    at += 4;
    if (size > record->size - at || used + size + 2 > MOST_TEXT) break;
    if (used) used += (size_t)sprintf(out + used, ", ");
    memcpy(out + used, record->payload + at, size);
    used += size;
    at += size;
  }
  return used;
}

/* "source: text": a source has no colon, so "NT:/FMSInfo" is NT/FMSInfo. */
static void put_text(source *from, const tt_wpilog_record *record, uint64_t time, tt_bytes *out) {
  char text[TT_SURVEY_MOST_NAME + MOST_TEXT + 8], joined[MOST_TEXT];
  bool same = from->text && from->text_size == record->size &&
              memcmp(from->text, record->payload, record->size) == 0;
  if (same) return;
  from->text = record->payload;
  from->text_size = record->size;
  bool list = from->type->kind == TEXTS;
  size_t told = list ? join_texts(record, joined) : record->size;
  int size = told < MOST_TEXT ? (int)told : MOST_TEXT;
  char *to = text;
  for (const char *at = from->name; *at; at++)
    if (at[0] != ':')
      *to++ = *at;
    else if (at[1] != '/')
      *to++ = '/';
  snprintf(to, sizeof text - (size_t)(to - text), ": %.*s", size,
           list ? joined : (const char *)record->payload);
  tt_text_make_safe(text);
  tt_wpilog_write_string(out, EVENTS, time, text);
}

static void put_record(const survey *of, const tt_wpilog_record *record, size_t end,
                       tt_bytes *out) {
  source *from = tt_survey_source_of(of, record, end);
  if (!from) return;
  uint64_t time = record->timestamp - of->begin;
  if (from->type->kind == TEXT || from->type->kind == TEXTS) {
    put_text(from, record, time, out);
    return;
  }
  unsigned count = tt_survey_elements(from, record);
  if (count > from->elements) count = from->elements;
  for (unsigned i = 0; i < count; i++)
    tt_wpilog_write_double(out, from->first + i, time, read_element(from, record->payload, i));
  if (count && from->flag) tt_wpilog_write_boolean(out, from->flag, time, *record->payload != 0);
}

#define PIECE (1u << 20) /* bytes that are written at a time */

static tt_status flush(const tt_export_sink *sink, tt_bytes *out, size_t least) {
  if (out->failed) return TT_NOMEM;
  if (out->size < least || !out->size) return TT_OK;
  tt_status status = sink->write(sink->context, out->data, out->size);
  tt_bytes_cut(out, 0);
  return status;
}

static tt_status put_in_order(const survey *of, const tt_export_sink *sink, tt_bytes *out) {
  tt_wpilog_record record;
  size_t offset = of->first;
  while (tt_wpilog_next(of->data, of->size, &offset, &record) == TT_OK) {
    put_record(of, &record, offset, out);
    TT_TRY(flush(sink, out, PIECE));
  }
  return TT_OK;
}

typedef struct place {
  uint64_t time;
  size_t offset;
} place;

static int compare_places(const void *one, const void *other) {
  const place *a = one, *b = other;
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static tt_status put_sorted(const survey *of, const tt_export_sink *sink, tt_bytes *out) {
  tt_wpilog_record record;
  size_t count = 0, offset = of->first;
  place *places = calloc((size_t)of->records + 1, sizeof *places);
  if (!places) return TT_NOMEM;
  for (size_t at = offset;
       count < of->records && tt_wpilog_next(of->data, of->size, &offset, &record) == TT_OK;
       at = offset)
    if (record.entry != 0 && tt_survey_source_of(of, &record, offset))
      places[count++] = (place){record.timestamp, at};
  qsort(places, count, sizeof *places, compare_places);
  tt_status status = TT_OK;
  for (size_t i = 0; i < count && status == TT_OK; i++) {
    if (tt_wpilog_next(of->data, of->size, &places[i].offset, &record) == TT_OK)
      put_record(of, &record, places[i].offset, out);
    status = flush(sink, out, PIECE);
  }
  free(places);
  return status;
}

static tt_status write_all(survey *of, const char *name, int64_t now, const tt_export_sink *sink) {
  tt_bytes out = {0};
  tt_status status = name_apart(of);
  if (status == TT_OK) status = put_beginning(of, name, now, &out);
  if (status == TT_OK)
    status = of->ordered ? put_in_order(of, sink, &out) : put_sorted(of, sink, &out);
  tt_wpilog_write_string(&out, END, of->end - of->begin, "ended");
  if (status == TT_OK) status = flush(sink, &out, 0);
  tt_bytes_free(&out);
  return status;
}

/* ---- from outside ---- */

bool tt_foreign_is(const uint8_t *data, size_t size) {
  tt_wpilog_record record;
  tt_wpilog_start start;
  size_t offset;
  if (tt_wpilog_check(data, size, &offset, NULL) != TT_OK) return false;
  while (tt_wpilog_next(data, size, &offset, &record) == TT_OK)
    if (tt_wpilog_decode_start(&record, &start) == TT_OK &&
        tt_survey_is_text(start.name, start.name_size, "/tether/run"))
      return false;
  return true;
}

tt_status tt_foreign_convert(const uint8_t *data, size_t size, const char *name, int64_t now,
                             const tt_export_sink *sink, tt_error *error) {
  survey of = {.data = data, .size = size};
  tt_status status = tt_survey_look_through(&of, error);
  if (status == TT_OK) {
    status = write_all(&of, name, now, sink);
    if (status != TT_OK)
      tt_fail(error, status, "%s", status == TT_NOMEM ? "out of memory" : "can't be written");
  }
  tt_survey_free(&of);
  return status;
}
