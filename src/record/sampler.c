#include "record/sampler.h"

#include "game/pose_struct.h"
#include "record/linkage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS_EVERY 10000000u /* µs: as often as a reader's keyframes */
#define FACTOR_EVERY 1000000u    /* µs: the real-time factor trembles all the time */
#define HEAD 7u                  /* bytes of a record's: lengths, id, size, and time in four */

struct tt_sampler {
  const tt_model *model;
  const tt_names *names;
  const tt_signal_entry *signals;
  int signal_count;
  tt_field field;
  bool *keeps; /* [body_count] */
  /* [signal_count + body_count] ids of signals, then of poses; 0: follows from others */
  uint32_t *entries;
  bool *known;        /* the same: was it written since the last forgetting? */
  double *last;       /* [signal_count] as written */
  double (*poses)[7]; /* [body_count] as written */
  double *told;       /* [command_count] what a reader takes for the commands in force */
  uint8_t *commands;  /* [8 command_count] payload */
  uint32_t all_commands;
  uint64_t next_commands, next_factor; /* µs */
};

static bool allocate(tt_sampler *sampler, bool placed) {
  size_t signals = (size_t)sampler->signal_count, bodies = (size_t)sampler->model->body_count;
  size_t commands = (size_t)sampler->model->command_count;
  sampler->keeps = tt_linkage_keeps(sampler->model, placed);
  sampler->entries = calloc(signals + bodies + 1, sizeof *sampler->entries);
  sampler->known = calloc(signals + bodies + 1, sizeof *sampler->known);
  sampler->last = calloc(signals + 1, sizeof *sampler->last);
  sampler->poses = calloc(bodies + 1, sizeof *sampler->poses);
  sampler->told = calloc(commands + 1, sizeof *sampler->told);
  sampler->commands = calloc(commands + 1, 8);
  return sampler->keeps && sampler->entries && sampler->known && sampler->last && sampler->poses &&
         sampler->told && sampler->commands;
}

tt_sampler *tt_sampler_new(const tt_model *model, const tt_names *names, bool placed,
                           const tt_field *field) {
  tt_sampler *sampler = calloc(1, sizeof *sampler);
  if (!sampler) return NULL;
  sampler->model = model;
  sampler->names = names;
  sampler->signals = tt_names_signals(names, &sampler->signal_count);
  sampler->field = *field;
  if (allocate(sampler, placed)) return sampler;
  tt_sampler_free(sampler);
  return NULL;
}

void tt_sampler_free(tt_sampler *sampler) {
  if (!sampler) return;
  free(sampler->keeps);
  free(sampler->entries);
  free(sampler->known);
  free(sampler->last);
  free(sampler->poses);
  free(sampler->told);
  free(sampler->commands);
  free(sampler);
}

/* ---- announcing ---- */

static void announce_signals(tt_sampler *sampler, tt_bytes *out, uint32_t *next) {
  for (int i = 0; i < sampler->signal_count; i++) {
    const tt_signal_entry *entry = &sampler->signals[i];
    char name[TT_WPILOG_MOST_NAME], metadata[80];
    if (tt_linkage_follows(sampler->model, sampler->keeps, &entry->signal)) continue;
    tt_linkage_entry(&entry->signal, entry->name, name, sizeof name);
    snprintf(metadata, sizeof metadata, "{\"unit\":\"%s\"}",
             tt_unit_si(entry->signal.dimension)->name);
    sampler->entries[i] = (*next)++;
    tt_wpilog_write_start(out, sampler->entries[i], name, "double", metadata, 0);
  }
}

static void announce_schemas(tt_bytes *out, uint32_t *next) {
  for (size_t i = 0; i < TT_POSE_SCHEMAS; i++) {
    tt_wpilog_write_start(out, *next, tt_pose_schemas[i].name, "structschema", "", 0);
    tt_wpilog_write_string(out, (*next)++, 0, tt_pose_schemas[i].text);
  }
}

static void announce_poses(tt_sampler *sampler, tt_bytes *out, uint32_t *next) {
  for (int b = 1; b < sampler->model->body_count; b++) {
    char name[TT_WPILOG_MOST_NAME];
    if (!tt_linkage_shows(sampler->model, sampler->keeps, b)) continue;
    snprintf(name, sizeof name, "/poses/%s", sampler->model->bodies[b].name);
    sampler->entries[sampler->signal_count + b] = *next;
    tt_wpilog_write_start(out, (*next)++, name, "struct:Pose3d", "", 0);
  }
}

static void announce_linkage(tt_sampler *sampler, tt_bytes *out, uint32_t *next) {
  char *linkage = tt_linkage_describe(sampler->model, sampler->names, sampler->keeps);
  tt_wpilog_write_start(out, *next, TT_LINKAGE, "json", "", 0);
  if (linkage)
    tt_wpilog_write_string(out, (*next)++, 0, linkage);
  else
    out->failed = 1;
  free(linkage);
}

/* Signals first: an id below 256 takes a byte less in each record. */
void tt_sampler_announce(tt_sampler *sampler, tt_bytes *out, uint32_t *next) {
  announce_signals(sampler, out, next);
  announce_poses(sampler, out, next);
  sampler->all_commands = (*next)++;
  tt_wpilog_write_start(out, sampler->all_commands, TT_COMMANDS_ENTRY, "raw", "", 0);
  announce_schemas(out, next);
  announce_linkage(sampler, out, next);
}

/* ---- samples ---- */

static void write_commands(tt_sampler *sampler, tt_bytes *out, const tt_view *view,
                           uint64_t timestamp) {
  size_t count = (size_t)sampler->model->command_count;
  bool as_told = memcmp(sampler->told, view->commands, count * sizeof *sampler->told) == 0;
  if (as_told && timestamp < sampler->next_commands) return;
  for (size_t i = 0; i < count; i++) {
    sampler->told[i] = view->commands[i];
    tt_wpilog_put_double(sampler->commands + 8 * i, view->commands[i]);
  }
  sampler->next_commands = timestamp + COMMANDS_EVERY;
  tt_wpilog_write(out, sampler->all_commands, timestamp, sampler->commands, 8 * count);
}

static bool moved(const double *last, const double *now, int count) {
  for (int i = 0; i < count; i++)
    if (!(fabs(now[i] - last[i]) <= TT_RECORD_RESOLUTION)) return true;
  return false;
}

static void write_signals(tt_sampler *sampler, tt_bytes *out, const tt_view *view,
                          uint64_t timestamp) {
  for (int i = 0; i < sampler->signal_count; i++) {
    if (!sampler->entries[i]) continue;
    const tt_signal *signal = &sampler->signals[i].signal;
    double value = tt_signal_read(signal, view);
    if (sampler->known[i] && !moved(&sampler->last[i], &value, 1)) continue;
    if (signal->source == TT_SIGNAL_REAL_TIME_FACTOR) {
      if (sampler->known[i] && timestamp < sampler->next_factor) continue;
      sampler->next_factor = timestamp + FACTOR_EVERY;
    }
    sampler->known[i] = true;
    sampler->last[i] = value;
    tt_wpilog_write_double(out, sampler->entries[i], timestamp, value);
  }
}

static void write_poses(tt_sampler *sampler, tt_bytes *out, const tt_view *view,
                        uint64_t timestamp) {
  for (int b = 1; b < sampler->model->body_count; b++) {
    uint32_t entry = sampler->entries[sampler->signal_count + b];
    bool *known = &sampler->known[sampler->signal_count + b];
    double pose[7];
    uint8_t payload[TT_POSE_STRUCT_BYTES];
    if (!entry) continue;
    memcpy(pose, view->body_position[b], 3 * sizeof(double));
    memcpy(pose + 3, view->body_rotation[b], 4 * sizeof(double));
    tt_field_from_arena(&sampler->field, pose);
    if (*known && !moved(sampler->poses[b], pose, 7)) continue;
    *known = true;
    memcpy(sampler->poses[b], pose, sizeof pose);
    tt_pose_struct_write(pose, payload);
    tt_wpilog_write(out, entry, timestamp, payload, sizeof payload);
  }
}

void tt_sampler_write(tt_sampler *sampler, tt_bytes *out, const tt_view *view, uint64_t timestamp) {
  write_commands(sampler, out, view, timestamp);
  write_signals(sampler, out, view, timestamp);
  write_poses(sampler, out, view, timestamp);
}

void tt_sampler_forget(tt_sampler *sampler) {
  size_t entries = (size_t)sampler->signal_count + (size_t)sampler->model->body_count;
  memset(sampler->known, 0, entries * sizeof *sampler->known);
  sampler->next_commands = 0;
}

void tt_sampler_hear(tt_sampler *sampler, const tt_entry *entry) {
  if (entry->kind != TT_ENTRY_COMMANDS && entry->kind != TT_ENTRY_SAFE) return;
  for (int i = 0; i < entry->count; i++)
    if (entry->submissions[i].command < sampler->model->command_count)
      sampler->told[entry->submissions[i].command] = entry->submissions[i].value;
}

uint64_t tt_sampler_most_bytes(const tt_sampler *sampler) {
  uint64_t bytes = 0;
  for (int i = 0; i < sampler->signal_count; i++) {
    if (!tt_linkage_follows(sampler->model, sampler->keeps, &sampler->signals[i].signal))
      bytes += HEAD + sizeof(double);
  }
  for (int b = 1; b < sampler->model->body_count; b++)
    if (tt_linkage_shows(sampler->model, sampler->keeps, b)) bytes += HEAD + 7 * sizeof(double);
  return bytes;
}
