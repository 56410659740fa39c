#include "record/foreign.h"

#include "base/json.h"
#include "base/text.h"
#include "record/foreign_struct.h"
#include "record/wpilog.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_IDS 1000000u
#define MOST_SOURCES 20000u    /* entries that are looked at */
#define MOST_RECORDS 20000000u /* that are sorted: 320 MB */
#define MOST_NAME 300          /* bytes; an entry with a longer one is left out */
#define MOST_UNIT 40
#define MOST_METADATA 1000
#define MOST_TEXT 1000 /* bytes of a text that are told */
#define MOST_TYPES 200 /* bytes of the list of types that are left out */
#define FLAG "DS:"     /* the driver station's flags stay what they are, too: they tell modes */

/* ---- what there may be ---- */

typedef enum value_kind {
  LEFT_OUT,
  NUMBER,
  SINGLE,
  INTEGER,
  FLAGS,
  TEXT,
  TEXTS,
  STRUCT
} value_kind;

typedef struct value_type {
  const char *name;
  value_kind kind;
  unsigned size; /* bytes of an element */
  bool array;
} value_type;

static const value_type types[] = {
    {"double", NUMBER, 8, false},  {"float", SINGLE, 4, false},  {"int64", INTEGER, 8, false},
    {"boolean", FLAGS, 1, false},  {"string", TEXT, 1, false},   {"json", TEXT, 1, false},
    {"double[]", NUMBER, 8, true}, {"float[]", SINGLE, 4, true}, {"int64[]", INTEGER, 8, true},
    {"boolean[]", FLAGS, 1, true}, {"string[]", TEXTS, 1, true}};
/* "struct:NAME", "struct:NAME[]"; how large one is its layout says. */
static const value_type struct_type = {"struct:", STRUCT, 0, false},
                        structs_type = {"struct:", STRUCT, 0, true};

/* An entry of the log that is read. */
typedef struct source {
  struct source *next; /* in the order in which they were announced */
  const value_type *type;
  tt_struct_layout *layout; /* of a struct; else NULL */
  char *name, *unit;
  unsigned elements; /* the most that a record of it has */
  uint32_t first;    /* id of its first signal; the others follow */
  uint32_t flag;     /* id under which it stays a flag; 0: it is none */
  const uint8_t *text;
  size_t text_size; /* told last */
} source;

/* An id of the log. */
typedef struct log_entry {
  source *first, *latest; /* what it was announced as first and last; NULL: not yet, or left out */
  bool announced, finished, renewed;
} log_entry;

/* An id that was announced as something else, after it was finished. */
typedef struct renewal {
  uint32_t id;
  size_t from;    /* offset: records behind it are of … */
  source *source; /* NULL: left out */
} renewal;

/* The log as a whole. */
typedef struct survey {
  const uint8_t *data;
  size_t size, first;
  log_entry *by_id; /* [ids] */
  size_t ids;
  renewal *renewals; /* by id and place once all are known */
  size_t renewal_count, renewal_capacity;
  source *all, **end_of_all;
  uint32_t count;
  void *by_name; /* tsearch() */
  tt_schemas schemas;
  uint32_t signals;
  uint64_t records, begin, end,
      last; /* µs: the least and greatest time, and that of the last record */
  bool ordered, any;
  int64_t clock; /* µs since 1970 at time 0 of the log, as an entry says; 0: none does */
  unsigned left_out;
  char left_types[MOST_TYPES];
} survey;

static void keep(void *one) { (void)one; }

static void free_source(source *one) {
  free(one->name);
  free(one->unit);
  free(one->layout);
  free(one);
}

static void free_survey(survey *of) {
  tdestroy(of->by_name, keep);
  for (source *one = of->all, *next; one; one = next) {
    next = one->next;
    free_source(one);
  }
  free(of->by_id);
  free(of->renewals);
  tt_schemas_clear(&of->schemas);
}

/* ---- reading what is announced ---- */

static bool is_text(const char *text, uint32_t size, const char *expected) {
  return size == strlen(expected) && memcmp(text, expected, size) == 0;
}

static const value_type *type_of(const tt_wpilog_start *start) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (is_text(start->type, start->type_size, types[i].name)) return &types[i];
  size_t size = start->type_size, before = strlen(struct_type.name);
  if (size <= before || memcmp(start->type, struct_type.name, before) != 0) return NULL;
  return memcmp(start->type + size - 2, "[]", 2) == 0 ? &structs_type : &struct_type;
}

/* NULL: it can't be laid out, or there is no memory, which leaves it out, too. */
static tt_struct_layout *lay_out(const survey *of, const tt_wpilog_start *start,
                                 const value_type *type) {
  size_t before = strlen(struct_type.name);
  tt_struct_layout *made = malloc(sizeof *made);
  if (!made || tt_struct_lay_out(&of->schemas, start->type + before,
                                 start->type_size - before - (type->array ? 2 : 0), made) == TT_OK)
    return made;
  free(made);
  return NULL;
}

static void leave_out(survey *of, const tt_wpilog_start *start) {
  char type[60];
  size_t used = strlen(of->left_types);
  snprintf(type, sizeof type, "%.*s", (int)(start->type_size < 50 ? start->type_size : 50),
           start->type);
  tt_text_make_safe(type);
  of->left_out++;
  if (!strstr(of->left_types, type) && used + strlen(type) + 3 < sizeof of->left_types)
    snprintf(of->left_types + used, sizeof of->left_types - used, "%s%s", used ? ", " : "", type);
}

/* The unit that the metadata names: {"unit": "m"}. */
static char *unit_of(const tt_wpilog_start *start) {
  struct json_object *metadata = NULL;
  if (start->metadata_size && start->metadata_size <= MOST_METADATA)
    tt_json_read(start->metadata, start->metadata_size, TT_JSON_STRICT, &metadata, NULL);
  const char *unit = tt_json_text(metadata, "unit");
  char *made = strdup(*unit && strlen(unit) <= MOST_UNIT ? unit : "1");
  json_object_put(metadata);
  if (made) tt_text_make_safe(made);
  return made;
}

/* "/RealOutputs/Drive" is called RealOutputs/Drive. */
static char *name_of(const tt_wpilog_start *start) {
  bool slash = start->name_size && *start->name == '/';
  char *made = strndup(start->name + slash, start->name_size - slash);
  if (made) tt_text_make_safe(made);
  return made;
}

static int compare_names(const void *one, const void *other) {
  return strcmp(((const source *)one)->name, ((const source *)other)->name);
}

static bool make_room(survey *of, uint32_t id) {
  size_t ids = of->ids ? of->ids : 64;
  while (ids <= id) ids *= 2;
  if (ids == of->ids) return true;
  log_entry *grown = realloc(of->by_id, ids * sizeof *grown);
  if (!grown) return false;
  memset(grown + of->ids, 0, (ids - of->ids) * sizeof *grown);
  of->by_id = grown;
  of->ids = ids;
  return true;
}

/* As a struct of so many bytes; 0: as what is none. */
static bool is_laid_out_alike(const source *one, unsigned size) {
  return (one->layout ? one->layout->size : 0) == size;
}

static tt_status renew(survey *of, uint32_t id, size_t from, source *as) {
  if (of->by_id[id].latest == as) return TT_OK; /* it goes on */
  if (of->renewal_count == of->renewal_capacity) {
    size_t capacity = of->renewal_capacity ? 2 * of->renewal_capacity : 64;
    renewal *grown = realloc(of->renewals, capacity * sizeof *grown);
    if (!grown) return TT_NOMEM;
    of->renewals = grown;
    of->renewal_capacity = capacity;
  }
  of->renewals[of->renewal_count++] = (renewal){id, from, as};
  of->by_id[id].latest = as;
  of->by_id[id].renewed = true;
  return TT_OK;
}

/* From `from` on, or, of an id that was not finished before, everywhere: what is announced too late counts, too. */
static tt_status call(survey *of, uint32_t id, size_t from, source *as) {
  log_entry *which = &of->by_id[id];
  tt_status status = TT_OK;
  if (which->finished || which->renewed)
    status = renew(of, id, from, as);
  else
    which->first = which->latest = as;
  which->announced = true;
  which->finished = false;
  return status;
}

/* A name that was there before, under another id, goes on under this one. NULL in `as`: it is left out. */
static tt_status add_source(survey *of, const tt_wpilog_start *start, const value_type *type,
                            source **as) {
  tt_struct_layout *layout = type->kind == STRUCT ? lay_out(of, start, type) : NULL;
  if (type->kind == STRUCT && !layout) {
    leave_out(of, start);
    return TT_OK;
  }
  source *made = calloc(1, sizeof *made);
  if (!made) {
    free(layout);
    free(made);
    return TT_NOMEM;
  }
  *made = (source){.type = type, .layout = layout, .name = name_of(start), .unit = unit_of(start)};
  unsigned size = layout ? layout->size : 0;
  source **found = made->name && made->unit ? tsearch(made, &of->by_name, compare_names) : NULL;
  if (found && *found == made) {
    *of->end_of_all = made;
    of->end_of_all = &made->next;
    of->count++;
    *as = made;
    return TT_OK;
  }
  free_source(made);
  if (!found) return TT_NOMEM;
  if ((*found)->type == type && is_laid_out_alike(*found, size))
    *as = *found;
  else
    leave_out(of, start);
  return TT_OK;
}

/* Behind the slash with which it may begin. */
static bool has_name(const tt_wpilog_start *start) {
  return start->name_size > (start->name_size && *start->name == '/');
}

/* An id that is announced again goes on as what it was, but where it was finished before. */
static tt_status take_start(survey *of, const tt_wpilog_start *start, size_t from) {
  const value_type *type = type_of(start);
  const uint32_t id = start->entry;
  const bool schema = is_text(start->type, start->type_size, "structschema");
  source *as = NULL;
  if (id == 0 || id >= MOST_IDS) {
    if (!schema) leave_out(of, start);
    return TT_OK;
  }
  if (!make_room(of, id)) return TT_NOMEM;
  if (of->by_id[id].latest && !of->by_id[id].finished) return TT_OK;
  if (schema) return call(of, id, from, NULL); /* read before */
  if (type && of->count < MOST_SOURCES && has_name(start) && start->name_size <= MOST_NAME)
    TT_TRY(add_source(of, start, type, &as));
  else
    leave_out(of, start);
  return call(of, id, from, as);
}

/* `from`: what follows it. */
static tt_status take_control(survey *of, const tt_wpilog_record *record, size_t from) {
  tt_wpilog_start start;
  uint32_t ended = tt_wpilog_decode_finish(record);
  if (ended < of->ids) of->by_id[ended].finished = of->by_id[ended].announced;
  if (tt_wpilog_decode_start(record, &start) != TT_OK) return TT_OK; /* says nothing we need */
  return take_start(of, &start, from);
}

static int compare_renewals(const void *one, const void *other) {
  const renewal *a = one, *b = other;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return a->from < b->from ? -1 : a->from > b->from;
}

/* ---- the first reading ---- */

/* `end`: offset behind the record. */
static source *source_of(const survey *of, const tt_wpilog_record *record, size_t end) {
  if (record->entry >= of->ids) return NULL;
  const log_entry *which = &of->by_id[record->entry];
  size_t low = 0, high = which->renewed ? of->renewal_count : 0;
  const renewal here = {.id = record->entry, .from = end};
  while (low < high) { /* how many are before it */
    size_t middle = low + (high - low) / 2;
    if (compare_renewals(&of->renewals[middle], &here) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  const bool renewed = low > 0 && of->renewals[low - 1].id == record->entry;
  return renewed ? of->renewals[low - 1].source : which->first;
}

/* Of structs the numbers, but only of whole ones. */
static unsigned count_numbers(const source *from, const tt_wpilog_record *record) {
  const tt_struct_layout *layout = from->layout;
  size_t count = record->size / layout->size, most = TT_FOREIGN_MOST_ELEMENTS / layout->count;
  if (!from->type->array) return record->size == layout->size ? layout->count : 0;
  return (unsigned)(count < most ? count : most) * layout->count;
}

static unsigned count_elements(const source *from, const tt_wpilog_record *record) {
  if (from->type->kind == TEXT || from->type->kind == TEXTS) return 0;
  if (from->layout) return count_numbers(from, record);
  if (!from->type->array) return record->size == from->type->size;
  size_t count = record->size / from->type->size;
  return count < TT_FOREIGN_MOST_ELEMENTS ? (unsigned)count : TT_FOREIGN_MOST_ELEMENTS;
}

/* What WPILib and AdvantageKit say of the time of the day. */
static void read_clock(survey *of, const source *from, const tt_wpilog_record *record) {
  static const char *const names[] = {"systemTime", "SystemStats/EpochTimeMicros"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!of->clock && from->type->kind == INTEGER && record->size == 8 &&
        strcmp(from->name, names[i]) == 0)
      of->clock = (int64_t)(tt_wpilog_uint(record->payload, 8) - record->timestamp);
}

static void take_record(survey *of, const tt_wpilog_record *record, size_t end) {
  source *from = source_of(of, record, end);
  if (!from) return;
  unsigned elements = count_elements(from, record);
  if (elements > from->elements) from->elements = elements;
  read_clock(of, from, record);
  if (!of->any || record->timestamp < of->begin) of->begin = record->timestamp;
  if (of->any && record->timestamp < of->last) of->ordered = false;
  if (record->timestamp > of->end) of->end = record->timestamp;
  of->last = record->timestamp;
  of->any = true;
  of->records++;
}

static void take_schema(survey *of, const tt_wpilog_record *record) {
  tt_wpilog_start start;
  if (record->entry != 0)
    tt_schemas_take(&of->schemas, record->entry, record->payload, record->size);
  else if (tt_wpilog_decode_start(record, &start) == TT_OK &&
           is_text(start.type, start.type_size, "structschema"))
    tt_schemas_announce(&of->schemas, start.entry, start.name, start.name_size);
}

/* Schemas first, since a struct may be announced before its own, then announcements: what is announced too late counts, too. */
static tt_status read_all(survey *of) {
  tt_wpilog_record record;
  for (size_t offset = of->first; tt_wpilog_next(of->data, of->size, &offset, &record) == TT_OK;)
    take_schema(of, &record);
  for (size_t offset = of->first; tt_wpilog_next(of->data, of->size, &offset, &record) == TT_OK;)
    if (record.entry == 0) TT_TRY(take_control(of, &record, offset));
  if (of->renewal_count)
    qsort(of->renewals, of->renewal_count, sizeof *of->renewals, compare_renewals);
  for (size_t offset = of->first; tt_wpilog_next(of->data, of->size, &offset, &record) == TT_OK;)
    if (record.entry != 0) take_record(of, &record, offset);
  return TT_OK;
}

/* Ids begin behind those of what every log has. */
enum { RUN = 1, MODEL, EVENTS, END, FIRST_SIGNAL };

static void number_signals(survey *of) {
  uint32_t next = FIRST_SIGNAL;
  for (source *from = of->all; from; from = from->next) {
    if (of->signals + from->elements > TT_FOREIGN_MOST_SIGNALS) {
      of->left_out++;
      from->elements = 0;
    }
    from->first = next;
    next += from->elements;
    of->signals += from->elements;
    if (from->type->kind == FLAGS && from->elements && strncmp(from->name, FLAG, 3) == 0)
      from->flag = next++;
  }
}

static tt_status look_through(survey *of, tt_error *error) {
  of->ordered = true;
  TT_TRY(tt_wpilog_check(of->data, of->size, &of->first, error));
  of->end_of_all = &of->all;
  if (read_all(of) != TT_OK) return tt_fail(error, TT_NOMEM, "out of memory");
  number_signals(of);
  if (!of->any || !of->count)
    return tt_fail(error, TT_INVALID, "has no numbers, flags or texts that could be shown%s%s%s",
                   *of->left_types ? " (but " : "", of->left_types, *of->left_types ? ")" : "");
  if (!of->ordered && of->records > MOST_RECORDS)
    return tt_fail(error, TT_INVALID,
                   "has %llu records that are not in order of time; at most %u can be put in order",
                   (unsigned long long)of->records, MOST_RECORDS);
  return TT_OK;
}

/* ---- what the new log begins with ---- */

#define MOST_ELEMENT (MOST_NAME + 32 + TT_STRUCT_MOST_NAME) /* bytes of a signal's name */

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
  char text[MOST_NAME + MOST_TEXT + 8], joined[MOST_TEXT];
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
  source *from = source_of(of, record, end);
  if (!from) return;
  uint64_t time = record->timestamp - of->begin;
  if (from->type->kind == TEXT || from->type->kind == TEXTS) {
    put_text(from, record, time, out);
    return;
  }
  unsigned count = count_elements(from, record);
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
    if (record.entry != 0 && source_of(of, &record, offset))
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
        is_text(start.name, start.name_size, "/tether/run"))
      return false;
  return true;
}

tt_status tt_foreign_convert(const uint8_t *data, size_t size, const char *name, int64_t now,
                             const tt_export_sink *sink, tt_error *error) {
  survey of = {.data = data, .size = size};
  tt_status status = look_through(&of, error);
  if (status == TT_OK) {
    status = write_all(&of, name, now, sink);
    if (status != TT_OK)
      tt_fail(error, status, "%s", status == TT_NOMEM ? "out of memory" : "can't be written");
  }
  free_survey(&of);
  return status;
}
