#include "host/watcher.h"

#include "base/clock.h"
#include "base/queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define QUEUE_VIEWS 8       /* only the newest counts */
#define QUEUE_EVENTS 256    /* further ones are lost */
#define LOOK_EVERY 5000000u /* ns */

struct tt_watcher {
  tt_observer observer; /* first: observers are found by it */
  tt_watcher_options options;
  tt_world *world;
  tt_view_queue *views;
  tt_queue *events;
  tt_view *newest;
  bool seen; /* `newest` holds a view */
  tt_net *net;
  pthread_t thread;
  bool running;
  atomic_bool stopping;
};

static void publish(tt_observer *observer, const tt_view *view) {
  tt_view_queue_push(((tt_watcher *)observer)->views, view);
}

static void tell(tt_observer *observer, uint64_t step, const char *source, const char *text) {
  tt_told told = {.step = step};
  snprintf(told.source, sizeof told.source, "%s", source);
  snprintf(told.text, sizeof told.text, "%s", text);
  tt_queue_push(((tt_watcher *)observer)->events, &told);
}

static void take_newest(tt_watcher *watcher) {
  const tt_view *view;
  while ((view = tt_view_queue_front(watcher->views, NULL))) {
    if (tt_view_queue_waiting(watcher->views) <= 1) {
      tt_view_copy(watcher->newest, view);
      watcher->seen = true;
    }
    tt_view_queue_pop(watcher->views);
  }
}

static void *watch(void *context) {
  tt_watcher *watcher = context;
  const tt_watcher_options *options = &watcher->options;
  uint64_t next = 0;
  tt_told told;
  while (!atomic_load(&watcher->stopping)) {
    tt_net_poll(watcher->net, LOOK_EVERY);
    take_newest(watcher);
    while (tt_queue_pop(watcher->events, &told))
      if (options->hear) options->hear(options->context, &told);
    uint64_t now = tt_monotonic_ns();
    if (watcher->seen && now >= next) {
      options->show(options->context, watcher->newest);
      next = now + (uint64_t)(options->period * 1e9);
    }
    options->turn(options->context);
  }
  return NULL;
}

tt_watcher *tt_watcher_new(tt_world *world, const tt_watcher_options *options) {
  const tt_model *model = tt_world_model(world);
  tt_watcher *watcher = calloc(1, sizeof *watcher);
  if (!watcher) return NULL;
  watcher->observer = (tt_observer){.publish = publish, .event = tell};
  watcher->options = *options;
  watcher->world = world;
  watcher->views = tt_view_queue_new(model, QUEUE_VIEWS);
  watcher->events = tt_queue_new(QUEUE_EVENTS, sizeof(tt_told));
  watcher->newest = tt_view_new(model);
  watcher->net = tt_net_new();
  if (!watcher->views || !watcher->events || !watcher->newest || !watcher->net) {
    tt_watcher_free(watcher);
    return NULL;
  }
  tt_net_set_spin(watcher->net, 0);
  return watcher;
}

void tt_watcher_free(tt_watcher *watcher) {
  if (!watcher) return;
  tt_net_free(watcher->net);
  tt_view_free(watcher->newest);
  tt_queue_free(watcher->events);
  tt_view_queue_free(watcher->views);
  free(watcher);
}

tt_net *tt_watcher_net(tt_watcher *watcher) { return watcher->net; }

tt_status tt_watcher_start(tt_watcher *watcher, tt_error *error) {
  const char *name = watcher->options.name;
  if (tt_world_add_observer(watcher->world, &watcher->observer) != TT_OK)
    return tt_fail(error, TT_FAILED, "%s: the world has as many observers as it can", name);
  watcher->running = pthread_create(&watcher->thread, NULL, watch, watcher) == 0;
  return watcher->running ? TT_OK : tt_fail(error, TT_FAILED, "%s: no thread is left", name);
}

void tt_watcher_stop(tt_watcher *watcher) {
  if (!watcher || !watcher->running) return;
  atomic_store(&watcher->stopping, true);
  tt_net_wake(watcher->net);
  pthread_join(watcher->thread, NULL);
  watcher->running = false;
}
