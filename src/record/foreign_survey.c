/* foreign_survey.c */
#include "record/foreign_survey.h"

#include "base/json.h"
#include "base/text.h"
#include "record/foreign.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_IDS 1000000u
#define MOST_SOURCES 20000u    /* entries that are looked at */
#define MOST_RECORDS 20000000u /* that are sorted: 320 MB */
#define MOST_UNIT 40
#define MOST_METADATA 1000
#define FLAG "DS:" /* the driver station's flags stay what they are, too: they tell modes */

/* ---- what there may be ---- */

static const value_type types[] = {
    {"double", NUMBER, 8, false},  {"float", SINGLE, 4, false},  {"int64", INTEGER, 8, false},
    {"boolean", FLAGS, 1, false},  {"string", TEXT, 1, false},   {"json", TEXT, 1, false},
    {"double[]", NUMBER, 8, true}, {"float[]", SINGLE, 4, true}, {"int64[]", INTEGER, 8, true},
    {"boolean[]", FLAGS, 1, true}, {"string[]", TEXTS, 1, true}};
/* "struct:NAME", "struct:NAME[]"; how large one is its layout says. */
static const value_type struct_type = {"struct:", STRUCT, 0, false},
                        structs_type = {"struct:", STRUCT, 0, true};

static void keep(void *one) { (void)one; }

static void free_source(source *one) {
  free(one->name);
  free(one->unit);
  free(one->layout);
  free(one);
}

void tt_survey_free(survey *of) {
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

bool tt_survey_is_text(const char *text, uint32_t size, const char *expected) {
  return size == strlen(expected) && memcmp(text, expected, size) == 0;
}

static const value_type *type_of(const tt_wpilog_start *start) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (tt_survey_is_text(start->type, start->type_size, types[i].name)) return &types[i];
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
  const bool schema = tt_survey_is_text(start->type, start->type_size, "structschema");
  source *as = NULL;
  if (id == 0 || id >= MOST_IDS) {
    if (!schema) leave_out(of, start);
    return TT_OK;
  }
  if (!make_room(of, id)) return TT_NOMEM;
  if (of->by_id[id].latest && !of->by_id[id].finished) return TT_OK;
  if (schema) return call(of, id, from, NULL); /* read before */
  if (type && of->count < MOST_SOURCES && has_name(start) &&
      start->name_size <= TT_SURVEY_MOST_NAME)
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

source *tt_survey_source_of(const survey *of, const tt_wpilog_record *record, size_t end) {
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

unsigned tt_survey_elements(const source *from, const tt_wpilog_record *record) {
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
  source *from = tt_survey_source_of(of, record, end);
  if (!from) return;
  unsigned elements = tt_survey_elements(from, record);
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
           tt_survey_is_text(start.type, start.type_size, "structschema"))
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

tt_status tt_survey_look_through(survey *of, tt_error *error) {
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
