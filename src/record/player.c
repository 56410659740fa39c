#include "record/player.h"

#include "record/linkage.h"
#include "record/moment.h"
#include "record/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A signal of the model and the log's entry that holds it. */
typedef struct track {
  tt_signal signal;
  uint32_t entry;
} track;

struct tt_run_player {
  tt_player player; /* first: the world calls back with it */
  const tt_model *model;
  tt_run_cursor cursor;
  track *tracks;
  int track_count;
  tt_kept_event *events;
  char **texts; /* [event_count] of the events */
};

static void show(tt_player *player, uint64_t step, tt_view *view) {
  tt_run_player *from = (tt_run_player *)player;
  uint64_t time = tt_model_microseconds(from->model, step);
  tt_wpilog_record record;
  if (time >= from->cursor.time)
    tt_run_cursor_advance(&from->cursor, time);
  else
    tt_run_cursor_seek(&from->cursor, time);
  view->contact_count = 0;
  for (int i = 0; i < from->track_count; i++) {
    const tt_signal *signal = &from->tracks[i].signal;
    if (signal->source == TT_SIGNAL_REAL_TIME_FACTOR) continue; /* that of the replay is shown */
    double *place = tt_signal_place(signal, view);
    if (!place || !tt_run_cursor_value(&from->cursor, from->tracks[i].entry, &record)) continue;
    double value = record.size == sizeof value ? tt_wpilog_double(record.payload) : NAN;
    if (isfinite(value)) *place = value;
  }
}

static tt_status find_tracks(tt_run_player *player, const tt_sim *sim, tt_error *error) {
  int count;
  const tt_signal_entry *signals = tt_names_signals(tt_sim_names(sim), &count);
  player->tracks = calloc((size_t)count + 1, sizeof *player->tracks);
  if (!player->tracks) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int i = 0; i < count; i++) {
    char name[TT_WPILOG_MOST_NAME];
    tt_linkage_entry(&signals[i].signal, signals[i].name, name, sizeof name);
    uint32_t entry = tt_run_log_find(player->cursor.log, name);
    if (entry) player->tracks[player->track_count++] = (track){signals[i].signal, entry};
  }
  return player->track_count ? TT_OK
                             : tt_fail(error, TT_INVALID, "the log keeps none of its signals");
}

/* "SOURCE\0TEXT\0", the caller's; NULL when out of memory. */
static char *copy_texts(const tt_run_event *event) {
  char *made = calloc((size_t)event->source_size + (size_t)event->text_size + 2, 1);
  if (!made) return NULL;
  memcpy(made, event->source, (size_t)event->source_size);
  memcpy(made + event->source_size + 1, event->text, (size_t)event->text_size);
  return made;
}

/* The journal wrote them in order of time. */
static tt_status read_events(tt_run_player *player, tt_error *error) {
  tt_run_cursor *cursor = &player->cursor;
  uint32_t count, id = tt_run_log_find(cursor->log, "/events");
  double timestep = tt_model_timestep(player->model);
  tt_wpilog_record record;
  if (!id) return TT_OK;
  size_t most = tt_run_log_entries(cursor->log, &count)[id].records;
  size_t *read = &player->player.event_count;
  player->events = calloc(most + 1, sizeof *player->events);
  player->texts = calloc(most + 1, sizeof *player->texts);
  if (!player->events || !player->texts) return tt_fail(error, TT_NOMEM, "out of memory");
  player->player.events = player->events;
  while (*read < most && tt_run_cursor_next_kept(cursor, &record) == TT_OK) {
    if (record.entry != id) continue;
    tt_run_event event = tt_run_read_event(&record);
    char *texts = copy_texts(&event);
    if (!texts) return tt_fail(error, TT_NOMEM, "out of memory");
    player->texts[*read] = texts;
    player->events[(*read)++] = (tt_kept_event){.step = (uint64_t)(event.time / timestep + 0.5),
                                                .source = texts,
                                                .text = texts + event.source_size + 1};
  }
  tt_run_cursor_rewind(cursor);
  return TT_OK;
}

static uint64_t steps_at(const tt_run_player *player, uint64_t microseconds) {
  return (uint64_t)((double)microseconds / 1e6 / tt_model_timestep(player->model) + 0.5);
}

tt_status tt_run_player_open(const tt_run_log *log, const tt_sim *sim, tt_run_player **made,
                             tt_error *error) {
  *made = NULL;
  tt_run_player *player = calloc(1, sizeof *player);
  if (!player) return tt_fail(error, TT_NOMEM, "out of memory");
  player->player.show = show;
  player->model = tt_sim_model(sim);
  player->player.first = steps_at(player, tt_run_begin(log));
  player->player.steps = steps_at(player, tt_run_log_duration(log));
  tt_status status = tt_run_cursor_open(&player->cursor, log)
                         ? find_tracks(player, sim, error)
                         : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK) status = read_events(player, error);
  if (status != TT_OK) {
    tt_run_player_close(player);
    return status;
  }
  *made = player;
  return TT_OK;
}

tt_player *tt_run_player_contract(tt_run_player *player) { return &player->player; }

void tt_run_player_close(tt_run_player *player) {
  if (!player) return;
  tt_run_cursor_close(&player->cursor);
  free(player->tracks);
  free(player->events);
  for (size_t i = 0; i < player->player.event_count; i++) free(player->texts[i]);
  free(player->texts);
  free(player);
}
