/* derive.c: makes the entries that a log does not hold, record by record. */
#include "model/kinematics.h"
#include "record/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POSE_NUMBERS 7
#define MOST_SUBMISSIONS 65536

struct tt_derived {
  const tt_derivation *of;
  const tt_run_entry *entries; /* of the log */
  tt_view *view;               /* the present sample */
  double *told;                /* [command_count] accepted up to here; the next sample shows them */
  tt_journal_scratch scratch;
  bool open;                             /* there is a sample */
  bool settled;                          /* its kinematics are done */
  uint64_t time;                         /* µs of it */
  uint32_t next;                         /* made entry that tt_derived_next() looks at */
  bool *known;                           /* [count] was it ever handed out? */
  uint8_t (*payloads)[POSE_NUMBERS * 8]; /* [count] as last handed out */
};

tt_derived *tt_derived_new(const tt_derivation *derivation, const tt_run_entry *entries) {
  const tt_model *model = &derivation->linkage.model;
  size_t commands = (size_t)model->command_count, count = derivation->count;
  tt_derived *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->of = derivation;
  made->entries = entries;
  made->view = tt_view_new(model);
  made->told = calloc(commands + 1, sizeof *made->told);
  made->scratch.capacity = commands < MOST_SUBMISSIONS ? (int)commands : MOST_SUBMISSIONS;
  made->scratch.submissions = calloc(commands + 1, sizeof *made->scratch.submissions);
  made->known = calloc(count + 1, sizeof *made->known);
  made->payloads = calloc(count + 1, sizeof *made->payloads);
  if (made->view && made->told && made->scratch.submissions && made->known && made->payloads) {
    tt_derived_rewind(made);
    return made;
  }
  tt_derived_free(made);
  return NULL;
}

void tt_derived_free(tt_derived *derived) {
  if (!derived) return;
  tt_view_free(derived->view);
  free(derived->told);
  free(derived->scratch.submissions);
  free(derived->known);
  free(derived->payloads);
  free(derived);
}

void tt_derived_rewind(tt_derived *derived) {
  const tt_model *model = &derived->of->linkage.model;
  memset(derived->view->block, 0, derived->view->block_size);
  memset(derived->told, 0, (size_t)model->command_count * sizeof *derived->told);
  memset(derived->known, 0, (size_t)derived->of->count * sizeof *derived->known);
  for (int b = 0; b < model->body_count; b++) derived->view->body_rotation[b][0] = 1;
  derived->view->step = 0;
  derived->view->time = derived->view->match_time = derived->view->real_time_factor = 0;
  derived->open = derived->settled = false;
  derived->time = 0;
  derived->next = derived->of->count;
}

static const tt_track *track_of(const tt_derived *derived, const tt_wpilog_record *record) {
  static const tt_track none = {.kind = TT_TRACK_NONE};
  return record->entry < derived->of->first ? &derived->of->tracks[record->entry] : &none;
}

static bool marks_sample(const tt_derived *derived, const tt_wpilog_record *record) {
  return tt_journal_marks_sample(derived->entries[record->entry].name, record);
}

bool tt_derived_begins(const tt_derived *derived, const tt_wpilog_record *record) {
  switch (track_of(derived, record)->kind) {
    case TT_TRACK_JOURNAL: return marks_sample(derived, record);
    case TT_TRACK_SIGNAL: return !derived->open || record->timestamp != derived->time;
    default: return false;
  }
}

static void begin(tt_derived *derived, uint64_t time) {
  derived->open = true;
  derived->time = time;
  derived->next = 0;
}

static void feed_journal(tt_derived *derived, const tt_wpilog_record *record) {
  tt_entry entry;
  const tt_model *model = &derived->of->linkage.model;
  if (tt_journal_decode(derived->entries[record->entry].name, record->payload, record->size,
                        &derived->scratch, &entry) != TT_OK)
    return;
  const int commands = entry.kind == TT_ENTRY_VALUES ? 0 : entry.count;
  for (int i = 0; i < commands; i++) {
    const tt_submission *told = &entry.submissions[i];
    if (told->command < model->command_count && isfinite(told->value))
      derived->told[told->command] = told->value;
  }
  if (!marks_sample(derived, record)) return;
  memcpy(derived->view->commands, derived->told,
         (size_t)model->command_count * sizeof *derived->told);
  derived->view->step = entry.step;
  derived->view->time = tt_model_time(model, entry.step);
}

static void feed_commands(tt_derived *derived, const tt_wpilog_record *record) {
  size_t count = (size_t)derived->of->linkage.model.command_count;
  if (record->size != 8 * count) return;
  for (size_t i = 0; i < count; i++) {
    double value = tt_wpilog_double(record->payload + 8 * i);
    derived->told[i] = derived->view->commands[i] = isfinite(value) ? value : 0;
  }
}

static void feed_signal(tt_derived *derived, const tt_signal *signal,
                        const tt_wpilog_record *record) {
  double *place = tt_signal_place(signal, derived->view);
  double value = record->size == sizeof value ? tt_wpilog_double(record->payload) : NAN;
  if (place && isfinite(value)) *place = value;
}

void tt_derived_feed(tt_derived *derived, const tt_wpilog_record *record) {
  const tt_track *track = track_of(derived, record);
  if (track->kind == TT_TRACK_NONE) return;
  if (tt_derived_begins(derived, record)) begin(derived, record->timestamp);
  derived->settled = false;
  if (track->kind == TT_TRACK_JOURNAL)
    feed_journal(derived, record);
  else if (track->kind == TT_TRACK_COMMANDS)
    feed_commands(derived, record);
  else
    feed_signal(derived, &track->signal, record);
}

/* ---- handing it out ---- */

static void put_doubles(uint8_t *to, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) tt_wpilog_put_double(to + 8 * i, values[i]);
}

/* Bodies that hang on others are where these, and the joints between, put them. */
static void settle(tt_derived *derived) {
  if (!derived->settled) tt_kinematics(derived->view);
  derived->settled = true;
}

/* Writes the entry's payload; returns its size. */
static size_t make(tt_derived *derived, uint32_t index, uint8_t payload[POSE_NUMBERS * 8]) {
  const tt_derived_entry *what = &derived->of->made[index];
  double pose[POSE_NUMBERS];
  settle(derived);
  if (!what->body) {
    pose[0] = tt_signal_read(&what->signal, derived->view);
    put_doubles(payload, pose, 1);
    return 8;
  }
  memcpy(pose, derived->view->body_position[what->body], 3 * sizeof(double));
  memcpy(pose + 3, derived->view->body_rotation[what->body], 4 * sizeof(double));
  tt_field_from_arena(&derived->of->field, pose);
  put_doubles(payload, pose, POSE_NUMBERS);
  return POSE_NUMBERS * sizeof(double);
}

static void hand_out(tt_derived *derived, uint32_t index, const uint8_t *payload, size_t size,
                     tt_wpilog_record *record) {
  memcpy(derived->payloads[index], payload, size);
  *record = (tt_wpilog_record){.entry = derived->of->first + index,
                               .timestamp = derived->time,
                               .payload = derived->payloads[index],
                               .size = size};
}

bool tt_derived_next(tt_derived *derived, tt_wpilog_record *record) {
  uint8_t payload[POSE_NUMBERS * 8];
  while (derived->open && derived->next < derived->of->count) {
    uint32_t index = derived->next++;
    size_t size = make(derived, index, payload);
    if (derived->known[index] && memcmp(derived->payloads[index], payload, size) == 0) continue;
    derived->known[index] = true;
    hand_out(derived, index, payload, size, record);
    return true;
  }
  return false;
}

bool tt_derived_value(tt_derived *derived, uint32_t entry, tt_wpilog_record *record) {
  uint8_t payload[POSE_NUMBERS * 8];
  if (!derived->open) return false;
  uint32_t index = entry - derived->of->first;
  size_t size = make(derived, index, payload);
  if (memcmp(derived->payloads[index], payload, size) != 0)
    derived->known[index] = false; /* tt_derived_next() is still to tell of it */
  hand_out(derived, index, payload, size, record);
  return true;
}

static bool needs_kinematics(const tt_signal *signal) {
  return signal->source >= TT_SIGNAL_BODY_POSITION && signal->source <= TT_SIGNAL_BODY_SPIN;
}

double tt_derived_number(tt_derived *derived, uint32_t entry) {
  const tt_derived_entry *what = &derived->of->made[entry - derived->of->first];
  if (!derived->open || what->body) return NAN;
  if (needs_kinematics(&what->signal)) settle(derived);
  return tt_signal_read(&what->signal, derived->view);
}
