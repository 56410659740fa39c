#include "nt4/service.h"

#include "base/log.h"
#include "nt4/server.h"
#include "nt4/topics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define QUEUE_VIEWS 8       /* only the newest counts */
#define LOOK_EVERY 5000000u /* ns: the shortest period that a client can ask for */

struct tt_nt4_service {
  tt_observer observer; /* first: observers are found by it */
  tt_view_queue *queue;
  tt_net *net;
  tt_nt4_server *server;
  tt_nt4_topics *topics;
  uint64_t period; /* ns */
  pthread_t thread;
  bool running;
  atomic_bool stopping;
};

static void publish(tt_observer *observer, const tt_view *view) {
  tt_nt4_service *service = (tt_nt4_service *)observer;
  tt_view_queue_push(service->queue, view);
}

/* Of the views that wait only the newest is shown. */
static void show_newest(tt_nt4_service *service, bool due) {
  const tt_view *view;
  while ((view = tt_view_queue_front(service->queue, NULL))) {
    bool newest = tt_view_queue_waiting(service->queue) == 1;
    if (newest && !due) return; /* it may yet be superseded */
    if (newest) tt_nt4_topics_set(service->topics, view);
    tt_view_queue_pop(service->queue);
    if (newest) return;
  }
}

static void *serve(void *context) {
  tt_nt4_service *service = context;
  uint64_t next = 0;
  while (!atomic_load(&service->stopping)) {
    tt_net_poll(service->net, LOOK_EVERY);
    uint64_t now = tt_net_now();
    show_newest(service, now >= next);
    if (now >= next) next = now + service->period;
    tt_nt4_flush(service->server);
  }
  return NULL;
}

static tt_status listen_on(tt_nt4_service *service, const tt_nt4_keys *keys, tt_error *error) {
  tt_allow allow = {.cidrs = (const char *const *)keys->allow, .count = (int)keys->allow_count};
  tt_error why;
  tt_status status = tt_nt4_server_open(service->net, keys->listen, &allow, &service->server, &why);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "nt4.listen: %s", why.text);
}

static tt_status start(tt_nt4_service *service, tt_world *world, const tt_nt4_keys *keys,
                       const tt_field *field, tt_error *error) {
  const tt_model *model = tt_world_model(world);
  service->net = tt_net_new();
  service->queue = tt_view_queue_new(model, QUEUE_VIEWS);
  if (!service->net || !service->queue) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_net_set_spin(service->net, 0);
  TT_TRY(listen_on(service, keys, error));
  TT_TRY(tt_nt4_topics_new(service->server, model, tt_world_names(world), field, &service->topics,
                           error));
  if (tt_world_add_observer(world, &service->observer) != TT_OK)
    return tt_fail(error, TT_FAILED, "nt4: the world has as many observers as it can");
  service->running = pthread_create(&service->thread, NULL, serve, service) == 0;
  return service->running ? TT_OK : tt_fail(error, TT_FAILED, "nt4: no thread is left");
}

tt_status tt_nt4_service_open(tt_world *world, const tt_nt4_keys *keys, const tt_field *field,
                              tt_nt4_service **out, tt_error *error) {
  *out = NULL;
  tt_nt4_service *service = calloc(1, sizeof *service);
  if (!service) return tt_fail(error, TT_NOMEM, "out of memory");
  service->observer.publish = publish;
  service->period = (uint64_t)(keys->period_seconds * 1e9);
  tt_status status = start(service, world, keys, field, error);
  if (status != TT_OK) {
    tt_nt4_service_close(service);
    return status;
  }
  *out = service;
  return TT_OK;
}

const char *tt_nt4_service_address(const tt_nt4_service *service) {
  return tt_nt4_server_address(service->server);
}

void tt_nt4_service_close(tt_nt4_service *service) {
  if (!service) return;
  atomic_store(&service->stopping, true);
  if (service->running) {
    tt_net_wake(service->net);
    pthread_join(service->thread, NULL);
  }
  tt_nt4_server_close(service->server);
  tt_nt4_topics_free(service->topics);
  tt_net_free(service->net);
  tt_view_queue_free(service->queue);
  free(service);
}
