/* run_worlds.c: `tether run` where every client of the lockstep-tcp wire has a world of its own.
 *
 * The main thread listens. A client's connection goes to a thread of its own, which assembles a world whose wire
 * adopts it, and runs that until the client is gone. The model is compiled once; every world has a clone of it.
 */
#include "app/run_worlds.h"

#include "app/assemble.h"
#include "host/scene_wires.h"
#include "base/log.h"
#include "base/text.h"
#include "wire/lockstep_tcp/lockstep_tcp.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLICE_NS 50000000u /* how long a signal may wait */

typedef struct tt_worlds tt_worlds;

/* A client's world and its thread. */
typedef struct tt_seat {
  tt_worlds *worlds;
  pthread_t thread;
  tt_lockstep_tcp_config config; /* the scene's, with the client's connection */
  tt_world *world;               /* under the lock; NULL before and after */
  bool taken;                    /* main thread only: `thread` is to be joined */
  bool finished;                 /* under the lock: the thread ends now */
} tt_seat;

struct tt_worlds {
  const tt_scene *scene;
  const tt_lockstep_tcp_config *config;
  tt_world *pattern; /* never runs: checks every name, and owns the physics that is cloned */
  tt_seat *seats;
  int seat_count;
  pthread_mutex_t lock;
  bool ending; /* under the lock */
};

/* --- the thread of a world --- */

/* The main thread may interrupt `world` from here on; NULL: no longer. */
static void show_world(tt_seat *seat, tt_world *world) {
  pthread_mutex_lock(&seat->worlds->lock);
  seat->world = world;
  if (world && seat->worlds->ending) tt_world_interrupt(world);
  pthread_mutex_unlock(&seat->worlds->lock);
}

static tt_status serve_client(tt_seat *seat, tt_error *error) {
  tt_assembly assembly = {.engine = tt_sim_engine(tt_world_sim(seat->worlds->pattern)),
                          .wire_config = &seat->config};
  tt_world *world;
  tt_status status = tt_assemble(seat->worlds->scene, &assembly, &world, error);
  close(seat->config.connection); /* the world has its own copy */
  if (status != TT_OK) return status;
  show_world(seat, world);
  status = tt_world_run(world, error);
  show_world(seat, NULL);
  tt_world_free(world);
  return status;
}

static void *seat_main(void *untyped) {
  tt_seat *seat = untyped;
  tt_error error = {0};
  if (serve_client(seat, &error) != TT_OK) tt_log_error("a client's world ended: %s", error.text);
  pthread_mutex_lock(&seat->worlds->lock);
  seat->finished = true;
  pthread_mutex_unlock(&seat->worlds->lock);
  return NULL;
}

/* --- the main thread --- */

static bool is_finished(tt_seat *seat) {
  pthread_mutex_lock(&seat->worlds->lock);
  bool finished = seat->finished;
  pthread_mutex_unlock(&seat->worlds->lock);
  return finished;
}

static tt_seat *free_seat(tt_worlds *worlds) {
  for (int i = 0; i < worlds->seat_count; i++) {
    tt_seat *seat = &worlds->seats[i];
    if (seat->taken && is_finished(seat)) {
      pthread_join(seat->thread, NULL);
      seat->taken = false;
    }
    if (!seat->taken) return seat;
  }
  return NULL;
}

static void on_open(void *context, tt_tcp *tcp) {
  tt_worlds *worlds = context;
  char peer[64];
  snprintf(peer, sizeof peer, "%s", tt_tcp_peer(tcp));
  tt_seat *seat = free_seat(worlds);
  if (!seat) {
    tt_log_warning("refused %s: %d worlds are in use (max_worlds)", peer, worlds->seat_count);
    tt_tcp_close(tcp, "refused");
    return;
  }
  int connection = tt_tcp_release(tcp);
  if (connection < 0) {
    tt_log_warning("refused %s: no file descriptor is left; raise 'ulimit -n'", peer);
    return;
  }
  *seat = (tt_seat){.worlds = worlds, .config = *worlds->config};
  seat->config.connection = connection;
  seat->taken = pthread_create(&seat->thread, NULL, seat_main, seat) == 0;
  if (seat->taken) return;
  tt_log_warning("refused %s: no thread is left", peer);
  close(connection);
}

static void on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  (void)context, (void)tcp, (void)bytes, (void)size; /* of a refused client that is not gone yet */
}

static void on_close(void *context, tt_tcp *tcp, const char *reason) {
  (void)context, (void)tcp, (void)reason;
}

static void end_worlds(tt_worlds *worlds) {
  pthread_mutex_lock(&worlds->lock);
  worlds->ending = true;
  for (int i = 0; i < worlds->seat_count; i++)
    if (worlds->seats[i].world) tt_world_interrupt(worlds->seats[i].world);
  pthread_mutex_unlock(&worlds->lock);
  for (int i = 0; i < worlds->seat_count; i++)
    if (worlds->seats[i].taken) pthread_join(worlds->seats[i].thread, NULL);
}

static void say_ready(const tt_scene_wire *wire, const tt_tcp_server *server) {
  tt_log_info("every client has a world of its own: nothing is recorded, no telemetry, no pages");
  tt_print(stderr, "ready %s=%s\n", wire->name, tt_tcp_server_address(server));
}

static tt_status listen_and_serve(tt_worlds *worlds, tt_net *net, bool (*stop_asked)(void),
                                  tt_error *error) {
  const tt_scene_wire *wire = &worlds->scene->wires[0];
  const tt_wire_common *common = &worlds->config->common;
  tt_tcp_options options = tt_tcp_options_default();
  options.address = worlds->config->listen;
  options.max_connections = 1024; /* those that on_open refuses are told by us */
  options.allow = (tt_allow){(const char *const *)common->allow, (int)common->allow_count};
  options.handler = (tt_tcp_handler){.on_open = on_open, .on_data = on_data, .on_close = on_close};
  options.context = worlds;
  tt_tcp_server *server;
  tt_error reason;
  tt_status status = tt_tcp_listen(net, &options, &server, &reason);
  if (status != TT_OK) return tt_fail(error, status, "%s: %s", wire->where, reason.text);
  say_ready(wire, server);
  while (!stop_asked()) tt_net_poll(net, SLICE_NS);
  tt_tcp_server_close(server);
  end_worlds(worlds);
  return TT_OK;
}

static tt_status serve(tt_worlds *worlds, bool (*stop_asked)(void), tt_error *error) {
  tt_assembly pattern = {.check_only = true};
  TT_TRY(tt_assemble(worlds->scene, &pattern, &worlds->pattern, error));
  worlds->seats = calloc((size_t)worlds->seat_count, sizeof *worlds->seats);
  tt_net *net = tt_net_new();
  if (net) tt_net_set_spin(net, 0); /* it only listens */
  tt_status status = worlds->seats && net ? listen_and_serve(worlds, net, stop_asked, error)
                                          : tt_fail(error, TT_NOMEM, "out of memory");
  tt_net_free(net);
  free(worlds->seats);
  tt_world_free(worlds->pattern);
  return status;
}

static const tt_lockstep_tcp_config *per_connection(const tt_scene *scene, int index) {
  const tt_scene_wire *wire = &scene->wires[index];
  const tt_lockstep_tcp_config *config = wire->config;
  if (tt_wire_protocols[wire->protocol] != &tt_lockstep_tcp_ops) return NULL;
  return strcmp(config->worlds, "per-connection") == 0 ? config : NULL;
}

bool tt_runs_worlds(const tt_scene *scene) {
  for (int i = 0; i < scene->wire_count; i++)
    if (per_connection(scene, i)) return true;
  return false;
}

tt_status tt_run_worlds(const tt_scene *scene, bool (*stop_asked)(void), tt_error *error) {
  if (scene->wire_count != 1)
    return tt_fail(error, TT_INVALID,
                   "%s: worlds: per-connection needs its wire to be the scene's only one; take the "
                   "others out",
                   scene->path);
  const tt_lockstep_tcp_config *config = per_connection(scene, 0);
  tt_worlds worlds = {.scene = scene, .config = config, .seat_count = (int)config->max_worlds};
  pthread_mutex_init(&worlds.lock, NULL);
  tt_status status = serve(&worlds, stop_asked, error);
  pthread_mutex_destroy(&worlds.lock);
  return status;
}
