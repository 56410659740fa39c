/* live_internal.h: shared by live.c (the hub), live_request.c (what pages ask), live_drive.c (what they command), live_frame.c (what they get next),
 * live_phantom.c, live_joystick.c, live_scenery.c, live_page.c (what waits for a page), live_metrics.c and live_json.c (texts). Each uses
 * those behind it. */
#ifndef TT_WEB_LIVE_INTERNAL_H
#define TT_WEB_LIVE_INTERNAL_H

#include "base/queue.h"
#include "host/wanted.h"
#include "record/phantom.h"
#include "web/live.h"
#include "web/live_order.h"

#include <json-c/json.h>

#include <stdatomic.h>

#define TT_LIVE_FRAMES_UNDER_WAY 2

/** What a page has asked to plot. */
typedef struct tt_live_subscription {
  uint32_t number;
  tt_signal signals[TT_LIVE_MOST_SIGNALS];
  int count;
  double period;   /* s simulated between samples */
  double next;     /* s of the run at which the next is due */
  double seen;     /* s of the run of the view before */
  GArray *samples; /* doubles: time, values, time, values … */
  uint32_t lost;
  int64_t sent; /* µs monotonic of the last message */
} tt_live_subscription;

typedef struct tt_live_joystick tt_live_joystick;

/** One open page. Web's thread. */
typedef struct tt_live_page {
  tt_live *live;
  SoupWebsocketConnection *connection;
  tt_web_stream *stream;
  tt_role role; /* what whoever looks at it may do */
  GQueue texts; /* GString, oldest first */
  uint32_t sequence, acknowledged;
  uint64_t pose_shown; /* live->pose_number of the last pose frame */
  int64_t pose_sent;   /* µs monotonic */
  uint64_t frames_dropped;
  bool contacts;
  int monitor; /* wire, or −1 */
  tt_live_subscription plot;
  /** GString, oldest first: messages with the last samples of subscriptions that are over */
  GQueue left;
  tt_live_joystick *joystick;
  bool *commands;              /* by command: this page gave it its value last, of all pages */
  uint8_t held[TT_MAX_ROBOTS]; /* joysticks of driver stations that this page moves, a bit each */
} tt_live_page;

/** An event on its way to the pages; texts are cut to their room. */
typedef struct tt_live_event {
  uint64_t step;
  char source[32];
  char text[224];
} tt_live_event;

/** Used by the web's thread alone, but for what the world's thread publishes into. */
struct tt_live {
  tt_observer observer; /* first: the world calls back with it */
  tt_live_options options;
  tt_web *web;
  tt_world *world;
  const tt_model *model;
  char token[32]; /* of this run of the program */
  GString *model_text;
  tt_view_queue *views;
  tt_queue *events;
  atomic_int watchers;  /* pages connected: without any, publishing costs one load */
  atomic_uint openings; /* how often there was a page where there had been none */
  /** the world's thread: since when, in wall time, another view may be pushed */
  uint64_t next_push_ns;
  double next_push_time;
  uint32_t seen_epoch; /* of the view before, whether or not it was pushed */
  uint64_t seen_step;  /* total steps */
  unsigned pushed_for; /* the opening whose pages it was pushed to; 0: it was not pushed */

  GPtrArray *pages;
  tt_wanted *wanted;   /* what they command */
  GPtrArray *phantoms; /* racer; live_phantom.c */
  guint phantoms_opening;
  int next_phantom;
  GSource *timer;
  tt_view *latest;
  bool awaits_view; /* `latest` is of a time when nobody looked */
  uint64_t pose_number;
  uint64_t lost;
  int64_t status_at; /* µs monotonic of the last status */
  int64_t message_at;
  /** tt_tapped: the newest of each monitored wire and direction; empty between two turns */
  GArray *messages;
};

/* live_json.c */
GString *tt_live_hello(const tt_live *live, tt_role role);
GString *tt_live_model(const tt_live *live);
GString *tt_live_status(tt_live *live, const tt_live_page *page);
GString *tt_live_message(const tt_live *live, const tt_tapped *message);
GString *tt_live_event_text(const tt_live_event *event);
GString *tt_live_error(const char *text);

/* live_metrics.c */
/** See tt_web_add_metrics(); `context` is the tt_live. */
void tt_live_write_metrics(void *context, GString *out);

/* live_page.c */
/** Queues a text; the page owns it. When too many wait, the oldest events give way. */
void tt_live_page_say(tt_live_page *page, GString *text);
/** The same to every page. Takes the text over. */
void tt_live_say_to_all(tt_live *live, GString *text);
/** s since the run began: goes on through resets, as the time of its log does. */
double tt_live_run_time(const tt_view *view);
/** Takes what the page plots out of a view. */
void tt_live_page_sample(tt_live_page *page, const tt_view *view, uint64_t lost);
/** The same of what a page has just asked for, where the world is paused: no view may come for long. */
void tt_live_page_sample_standing(tt_live_page *page);
/** Appends the message of all samples that wait; none waits then. */
void tt_live_page_put_samples(tt_live_subscription *plot, GString *frame);
/** The page plots something else from now on: samples that wait are sent before those to come. */
void tt_live_page_end_plot(tt_live_page *page);

/** Appends the bytes of a number, little-endian. */
void tt_live_put_u16(GString *to, unsigned value);
void tt_live_put_u32(GString *to, uint32_t value);
void tt_live_put_f32(GString *to, double value);
void tt_live_put_f64(GString *to, double value);

/* live_drive.c */
/** Does what a page commands, which was checked. */
void tt_live_page_commands(tt_live_page *page, const tt_live_order *order);
/** Moves a joystick of a driver station: TT_DS_JOYSTICK. */
void tt_live_page_moves(tt_live_page *page, const tt_ds_order *order);
/** It is gone: its commands are to be safe, and the joysticks that it moves unplugged. What the world has no room for waits in
 *  live->wanted. */
void tt_live_page_lets_go(tt_live_page *page);

/* live_frame.c */
/** See tt_web_stream_source.next; `context` is the page. */
bool tt_live_next_frame(void *context, GString *frame, bool *binary);

/* live_scenery.c */
/** Meshes and textures by HTTP. */
void tt_live_add_scenery(tt_live *live);

/* live_request.c */
void tt_live_request(tt_live_page *page, const char *text, size_t size);
/** The page monitors a wire from now on; −1: none. False: the world is busy, and does not show its messages. */
bool tt_live_monitor(tt_live_page *page, int wire);

/* live_phantom.c */
void tt_live_phantoms_new(tt_live *live);
void tt_live_phantoms_free(tt_live *live);
/** Tells a new page which there are. */
void tt_live_phantoms_greet(tt_live_page *page);
void tt_live_phantom_add(tt_live_page *page, const char *id);
void tt_live_phantom_remove(tt_live_page *page, int id);
unsigned tt_live_phantom_count(const tt_live *live);
/** Appends the part of a pose frame that is theirs. */
void tt_live_put_phantoms(GString *to, tt_live *live);
/** A mesh of a phantom by the id that its shapes name. */
bool tt_live_phantom_mesh(const tt_live *live, long id, const uint8_t **bytes, size_t *size);

/* live_joystick.c */
/** Sends `values` (TT_JOYSTICK_VALUES) to the core at this address from now on; "": no longer. */
void tt_live_joystick_set(tt_live_page *page, const char *core, int port, const int *values);
void tt_live_joystick_free(tt_live_joystick *joystick);

#endif
