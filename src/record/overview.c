#include "record/overview_internal.h"

#include "record/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tt_extremes nothing = {NAN, NAN};
static const tt_overview_span empty = {UINT64_MAX, 0};

/* ---- making and ending ---- */

static bool list_signals(tt_overview *overview) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(overview->log, &count);
  overview->entry_count = count;
  overview->track_of = malloc(((size_t)count + 1) * sizeof *overview->track_of);
  overview->tracks = calloc((size_t)count + 1, sizeof *overview->tracks);
  if (!overview->track_of || !overview->tracks) return false;
  for (uint32_t i = 0; i <= count; i++) overview->track_of[i] = -1;
  for (uint32_t i = 1; i < count; i++) {
    if (tt_entry_role_of(&entries[i]) != TT_ROLE_SIGNAL) continue;
    overview->track_of[i] = (int32_t)overview->track_count;
    overview->tracks[overview->track_count++] = (tt_overview_track){.entry = i, .value = NAN};
  }
  return true;
}

tt_overview *tt_overview_new(const tt_run_log *log) {
  tt_overview *overview = calloc(1, sizeof *overview);
  if (!overview) return NULL;
  overview->log = log;
  overview->every = TT_OVERVIEW_FIRST_EVERY;
  overview->spans = calloc(TT_OVERVIEW_PARTS, sizeof *overview->spans);
  overview->open = tt_run_cursor_open(&overview->cursor, log);
  if (overview->spans && overview->open && list_signals(overview)) return overview;
  tt_overview_free(overview);
  return NULL;
}

void tt_overview_free(tt_overview *overview) {
  if (!overview) return;
  if (overview->open) tt_run_cursor_close(&overview->cursor);
  for (size_t i = 0; i < overview->track_count; i++) free(overview->tracks[i].parts);
  free(overview->tracks);
  free(overview->track_of);
  free(overview->spans);
  free(overview);
}

/* ---- taking in ---- */

static void halve(tt_overview *overview) {
  size_t left = (overview->parts + 1) / 2;
  for (size_t i = 0; i < left; i++) {
    tt_overview_span a = overview->spans[2 * i];
    tt_overview_span b = 2 * i + 1 < overview->parts ? overview->spans[2 * i + 1] : empty;
    overview->spans[i] = (tt_overview_span){a.first < b.first ? a.first : b.first,
                                            a.last > b.last ? a.last : b.last};
  }
  for (size_t t = 0; t < overview->track_count; t++) {
    tt_overview_track *track = &overview->tracks[t];
    track->begin /= 2;
    for (size_t i = 0; track->parts && i < left; i++)
      track->parts[i] = tt_extremes_join(
          track->parts[2 * i], 2 * i + 1 < overview->parts ? track->parts[2 * i + 1] : nothing);
  }
  overview->parts = left;
  overview->every *= 2;
}

bool tt_overview_track_grow(tt_overview_track *track) {
  track->parts = malloc(TT_OVERVIEW_PARTS * sizeof *track->parts);
  return track->parts != NULL;
}

/* It is no longer what it always was. */
static bool unfold(tt_overview_track *track, size_t part) {
  if (!tt_overview_track_grow(track)) return false;
  for (size_t i = 0; i <= part; i++)
    track->parts[i] = i < track->begin ? nothing : (tt_extremes){track->value, track->value};
  return true;
}

/* The value of a sample in the last part, of which it may be the first. */
static bool take_value(tt_overview_track *track, double value, size_t part, bool first) {
  if (isnan(track->value)) {
    track->value = value;
    track->begin = part;
    return true;
  }
  if (value != track->value) {
    if (!track->parts && !unfold(track, part)) return false;
    tt_extremes before = first ? nothing : track->parts[part];
    track->parts[part] = tt_extremes_join(before, (tt_extremes){value, value});
    track->value = value;
  } else if (first && track->parts) {
    track->parts[part] = (tt_extremes){value, value};
  }
  return true;
}

/* Parts in which there was no sample keep what was before. */
static void add_parts(tt_overview *overview, size_t until) {
  for (; overview->parts <= until; overview->parts++) {
    overview->spans[overview->parts] = empty;
    for (size_t t = 0; t < overview->track_count; t++) {
      const tt_overview_track *track = &overview->tracks[t];
      if (track->parts) track->parts[overview->parts] = (tt_extremes){track->value, track->value};
    }
  }
}

static tt_status take_sample(tt_overview *overview, uint64_t time) {
  while (time / overview->every >= TT_OVERVIEW_PARTS) halve(overview);
  size_t part = (size_t)(time / overview->every);
  if (part >= overview->parts)
    add_parts(overview, part);
  else
    part = overview->parts - 1; /* a log whose times go back is none of ours */
  tt_overview_span *span = &overview->spans[part];
  bool first = span->first > span->last;
  if (first) span->first = time;
  if (first || time > span->last) span->last = time;
  overview->taken = time;
  for (size_t t = 0; t < overview->track_count; t++) {
    tt_overview_track *track = &overview->tracks[t];
    double value;
    if (tt_run_cursor_number(&overview->cursor, track->entry, &value) &&
        !take_value(track, value, part, first))
      return TT_NOMEM;
  }
  return TT_OK;
}

tt_status tt_overview_take(tt_overview *overview, unsigned samples) {
  for (unsigned i = 0; i < samples; i++) {
    TT_TRY(tt_run_cursor_next_sample(&overview->cursor));
    TT_TRY(take_sample(overview, overview->cursor.time));
  }
  return TT_OK;
}

/* ---- looking ---- */

uint64_t tt_overview_every(const tt_overview *overview) { return overview->every; }

size_t tt_overview_complete(const tt_overview *overview) {
  return overview->parts ? overview->parts - 1 : 0;
}

bool tt_overview_times(const tt_overview *overview, size_t part, uint64_t *first, uint64_t *last) {
  *first = overview->spans[part].first;
  *last = overview->spans[part].last;
  return *first <= *last;
}

tt_extremes tt_overview_part(const tt_overview *overview, uint32_t entry, size_t part) {
  int32_t index = entry < overview->entry_count ? overview->track_of[entry] : -1;
  if (index < 0) return nothing;
  const tt_overview_track *track = &overview->tracks[index];
  if (track->parts) return track->parts[part];
  return part >= track->begin ? (tt_extremes){track->value, track->value} : nothing;
}

size_t tt_overview_bytes(const tt_overview *overview) {
  size_t tracks = 0;
  for (size_t t = 0; t < overview->track_count; t++) tracks += overview->tracks[t].parts != NULL;
  return tracks * TT_OVERVIEW_PARTS * sizeof(tt_extremes) +
         overview->entry_count * sizeof(tt_run_entry);
}
