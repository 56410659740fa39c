/* history_routes.c: what pages look up in a kept run, also one that is still being recorded: its model, where everything was,
 * signals, values and messages. */
#include "web/history_routes.h"

#include "base/json.h"
#include "record/moment.h"
#include "record/run_json.h"
#include "record/trace.h"
#include "web/live_internal.h"
#include "web/run_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 64
#define MOST_POINTS 20000
#define DEFAULT_POINTS 2000
#define MOST_FRAMES 2000
#define DEFAULT_RATE 60.0 /* Hz */
#define MOST_MESSAGES 1000
#define DEFAULT_MESSAGES 100

/* ---- what is asked for ---- */

typedef struct question {
  GPtrArray *names;
  double from, to, at, before, rate; /* s, Hz; NAN: not given */
  guint64 points, limit;
  bool binary;
} question;

static bool take_number(const char *text, double *number) {
  char *end;
  *number = g_ascii_strtod(text, &end);
  return *text && *end == 0 && isfinite(*number) && *number >= 0;
}

static bool take_count(const char *text, guint64 least, guint64 most, guint64 *count) {
  return g_ascii_string_to_unsigned(text, 10, least, most, count, NULL);
}

static bool take_format(question *asked, const char *text) {
  asked->binary = strcmp(text, "binary") == 0;
  return asked->binary || strcmp(text, "json") == 0;
}

/* A key that means nothing is no mistake: pages of other versions ask, too. */
static bool take(question *asked, const char *key, const char *text) {
  if (strcmp(key, "name") == 0) {
    g_ptr_array_add(asked->names, g_strdup(text));
    return asked->names->len <= MOST_NAMES;
  }
  if (strcmp(key, "from") == 0) return take_number(text, &asked->from);
  if (strcmp(key, "to") == 0) return take_number(text, &asked->to);
  if (strcmp(key, "at") == 0) return take_number(text, &asked->at);
  if (strcmp(key, "before") == 0) return take_number(text, &asked->before);
  if (strcmp(key, "rate") == 0) return take_number(text, &asked->rate) && asked->rate > 0;
  if (strcmp(key, "points") == 0) return take_count(text, 2, MOST_POINTS, &asked->points);
  if (strcmp(key, "limit") == 0) return take_count(text, 1, MOST_MESSAGES, &asked->limit);
  if (strcmp(key, "format") == 0) return take_format(asked, text);
  return true;
}

static void free_question(question *asked) { g_ptr_array_unref(asked->names); }

/* False after answering what makes no sense; free_question() it in any case. */
static bool read_question(const tt_run_job *job, question *asked, tt_web_answer *answer) {
  char **pairs = g_strsplit(job->question.query ? job->question.query : "", "&", -1);
  bool good = true;
  *asked = (question){g_ptr_array_new_with_free_func(g_free),
                      NAN,
                      NAN,
                      NAN,
                      NAN,
                      NAN,
                      DEFAULT_POINTS,
                      DEFAULT_MESSAGES,
                      false};
  for (char **pair = pairs; *pair && good; pair++) {
    char *value = strchr(*pair, '=');
    if (!value) continue;
    *value++ = 0;
    g_strdelimit(value, "+", ' ');
    char *decoded = g_uri_unescape_string(value, NULL);
    good = decoded && take(asked, *pair, decoded);
    g_free(decoded);
  }
  g_strfreev(pairs);
  if (!good)
    tt_web_answer_error(answer, TT_INVALID,
                        "give name=SIGNAL at most 64 times, times in s from 0 on (from, to, at, "
                        "before), rate in Hz, points=2 to 20000, limit=1 to 1000, "
                        "format=json or binary");
  return good;
}

/* ---- signals ---- */

static void put_traces(tt_web_answer *answer, const tt_traces *traces, bool binary) {
  tt_bytes bytes = {0};
  if (!binary) {
    tt_web_answer_json(answer, tt_traces_json(traces));
    return;
  }
  tt_traces_put(traces, &bytes);
  answer->type = "application/octet-stream";
  if (bytes.failed)
    tt_web_answer_error(answer, TT_NOMEM, "out of memory");
  else
    g_string_append_len(answer->body, (const char *)bytes.data, (gssize)bytes.size);
  tt_bytes_free(&bytes);
}

static void answer_signals(const tt_run_job *job, const question *asked, tt_web_answer *answer) {
  tt_traces traces;
  tt_trace_wish wish = {.names = (const char *const *)asked->names->pdata,
                        .count = (int)asked->names->len,
                        .from = isnan(asked->from) ? 0 : asked->from,
                        .to = isnan(asked->to) ? INFINITY : asked->to,
                        .points = (unsigned)asked->points};
  tt_history *history = tt_run_job_history(job, answer);
  if (!history) return;
  answer->status = tt_traces_read(tt_history_log(history), tt_history_overview(history), &wish,
                                  &traces, &answer->error);
  tt_history_give(history);
  if (answer->status != TT_OK) return;
  put_traces(answer, &traces, asked->binary);
  tt_traces_clear(&traces);
}

static void work_on_signals(void *context, tt_web_answer *answer) {
  question asked;
  bool good = read_question(context, &asked, answer);
  if (good && asked.names->len == 0)
    tt_web_answer_error(answer, TT_INVALID, "give name=SIGNAL once to 64 times");
  else if (good)
    answer_signals(context, &asked, answer);
  free_question(&asked);
}

/* ---- model and meshes ---- */

/* Textures are not kept: what they lie on has its colour. */
static void leave_textures_out(struct json_object *model) {
  size_t count;
  struct json_object *materials = tt_json_list(model, "materials", &count);
  if (json_object_is_type(model, json_type_object)) tt_json_add_array(model, "textures");
  for (size_t i = 0; i < count; i++) {
    struct json_object *material = json_object_array_get_idx(materials, i);
    if (json_object_is_type(material, json_type_object)) tt_json_add_int(material, "texture", -1);
  }
}

static void work_on_model(void *context, tt_web_answer *answer) {
  tt_run_cursor cursor;
  struct json_object *model = NULL;
  tt_history *history = tt_run_job_history(context, answer);
  if (history && tt_run_cursor_open(&cursor, tt_history_log(history))) {
    tt_run_cursor_seek(&cursor, 0);
    model = tt_run_cursor_json(&cursor, "/tether/model");
    tt_run_cursor_close(&cursor);
  }
  leave_textures_out(model);
  if (model)
    tt_web_answer_json(answer, model);
  else if (history)
    tt_web_answer_error(answer, TT_NOT_FOUND, "the run does not keep what it looks like");
  tt_history_give(history);
}

static void answer_mesh(const tt_run_log *log, const char *name, tt_web_answer *answer) {
  tt_run_cursor cursor;
  tt_wpilog_record record;
  if (!tt_run_cursor_open(&cursor, log)) {
    tt_web_answer_error(answer, TT_NOMEM, "out of memory");
    return;
  }
  tt_run_cursor_seek(&cursor, 0);
  answer->type = "application/octet-stream";
  if (tt_run_cursor_value(&cursor, tt_run_log_find(log, name), &record))
    g_string_append_len(answer->body, (const char *)record.payload, (gssize)record.size);
  else
    tt_web_answer_error(answer, TT_NOT_FOUND, "there is no such mesh");
  tt_run_cursor_close(&cursor);
}

static void work_on_mesh(void *context, tt_web_answer *answer) {
  char name[64];
  guint64 number;
  const tt_run_job *job = context;
  if (!take_count(strchr(job->question.below, '/') + 1, 0, G_MAXUINT32, &number)) {
    tt_web_answer_error(answer, TT_NOT_FOUND, "there is no such mesh");
    return;
  }
  g_snprintf(name, sizeof name, "/tether/meshes/%" G_GUINT64_FORMAT, number);
  tt_history *history = tt_run_job_history(job, answer);
  if (history) answer_mesh(tt_history_log(history), name, answer);
  tt_history_give(history);
}

/* ---- frames ---- */

/* As the stream's message, with its size before it. */
static void put_frame(GString *to, const tt_run_bodies *bodies, const tt_run_cursor *cursor,
                      uint32_t sequence, double time) {
  double pose[7];
  tt_live_put_u32(to, 24 + 28 * (uint32_t)bodies->count);
  g_string_append_c(to, 1);
  g_string_append_c(to, 0);
  tt_live_put_u16(to, 0); /* phantoms */
  tt_live_put_u32(to, sequence);
  tt_live_put_f64(to, time);
  tt_live_put_u32(to, tt_run_log_epoch(cursor->log, tt_run_microseconds(time)));
  tt_live_put_u16(to, (unsigned)bodies->count);
  tt_live_put_u16(to, 0); /* contacts */
  for (int b = 0; b < bodies->count; b++) {
    tt_run_bodies_pose(bodies, cursor, b, pose);
    for (int k = 0; k < 7; k++) tt_live_put_f32(to, pose[k]);
  }
}

/* Which times are asked for, at most MOST_FRAMES; those behind the end are not. */
typedef struct frame_times {
  double first, every; /* s */
  uint32_t count;
} frame_times;

static frame_times choose_times(const question *asked, double duration) {
  if (!isnan(asked->at)) return (frame_times){fmin(asked->at, duration), 0, 1};
  double from = isnan(asked->from) ? 0 : asked->from;
  double to = isnan(asked->to) ? duration : fmin(asked->to, duration);
  double every = 1 / (isnan(asked->rate) ? DEFAULT_RATE : asked->rate);
  double count = from <= to ? floor((to - from) / every + 1e-9) + 1 : 0;
  return (frame_times){from, every, count < MOST_FRAMES ? (uint32_t)count : MOST_FRAMES};
}

static tt_status put_frames(GString *to, const tt_run_log *log, const question *asked,
                            tt_error *error) {
  tt_run_bodies bodies;
  tt_run_cursor cursor;
  TT_TRY(tt_run_bodies_read(log, &bodies, error));
  frame_times times = choose_times(asked, (double)tt_run_log_duration(log) / 1e6);
  if (!tt_run_cursor_open(&cursor, log)) {
    tt_run_bodies_clear(&bodies);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  uint64_t begin = tt_run_begin(log); /* before it everything is where it begins */
  for (uint32_t i = 0; i < times.count; i++) {
    double time = i ? times.first + i * times.every : times.first; /* every: up to inf */
    uint64_t at = tt_run_microseconds(time);
    if (at < begin) at = begin;
    if (i == 0)
      tt_run_cursor_seek(&cursor, at);
    else
      tt_run_cursor_advance(&cursor, at);
    put_frame(to, &bodies, &cursor, i, time);
  }
  tt_run_cursor_close(&cursor);
  tt_run_bodies_clear(&bodies);
  return TT_OK;
}

static void work_on_frames(void *context, tt_web_answer *answer) {
  question asked;
  tt_history *history = NULL;
  if (read_question(context, &asked, answer)) history = tt_run_job_history(context, answer);
  answer->type = "application/octet-stream";
  if (history)
    answer->status = put_frames(answer->body, tt_history_log(history), &asked, &answer->error);
  tt_history_give(history);
  free_question(&asked);
}

/* ---- values and messages ---- */

static void work_on_values(void *context, tt_web_answer *answer) {
  question asked;
  tt_history *history = NULL;
  if (read_question(context, &asked, answer)) history = tt_run_job_history(context, answer);
  if (history) {
    const tt_run_log *log = tt_history_log(history);
    double end = (double)tt_run_log_duration(log) / 1e6;
    tt_web_answer_json(answer,
                       tt_run_values_json(log, isnan(asked.at) ? end : fmin(asked.at, end)));
  }
  tt_history_give(history);
  free_question(&asked);
}

static void work_on_messages(void *context, tt_web_answer *answer) {
  question asked;
  tt_history *history = NULL;
  if (read_question(context, &asked, answer)) history = tt_run_job_history(context, answer);
  if (history)
    tt_web_answer_json(answer, tt_run_messages_json(tt_history_log(history),
                                                    isnan(asked.before) ? 1e12 : asked.before,
                                                    (unsigned)asked.limit));
  tt_history_give(history);
  free_question(&asked);
}

/* ---- which there are ---- */

tt_web_work *tt_history_work(const char *below) {
  static const struct {
    const char *name;
    tt_web_work *work;
  } works[] = {{"signals", work_on_signals},
               {"model", work_on_model},
               {"frames", work_on_frames},
               {"values", work_on_values},
               {"messages", work_on_messages}};
  for (size_t i = 0; i < sizeof works / sizeof *works; i++)
    if (strcmp(below, works[i].name) == 0) return works[i].work;
  return strncmp(below, "meshes/", 7) == 0 ? work_on_mesh : NULL;
}
