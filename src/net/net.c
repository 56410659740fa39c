/* net.c: the loop of a thread: what is read, how long it spins, when it sleeps. */
#include "base/clock.h"
#include "net/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SPIN_DEFAULT 200000 /* ns */
#define SPIN_LEAST 1000     /* ns; a smaller budget is none */
/* ns: accepts and timers wait at most so long while sockets keep us busy. A turn costs a microsecond, of which a frame in
 * lock-step has fifty. */
#define LOOP_EVERY 500000
#define LOOKS_PER_GLANCE 8 /* at the clock while spinning */
#define SECOND 1000000000u

/* Threads of this process whose waits begin with a spin. */
static atomic_int spinners;

static void on_wake(uv_async_t *async) { (void)async; }

static int available_cores(void) {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

tt_net *tt_net_new(void) {
  tt_net *net = calloc(1, sizeof *net);
  if (!net) return NULL;
  if (uv_loop_init(&net->loop) != 0) {
    free(net);
    return NULL;
  }
  net->spare_descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (uv_async_init(&net->loop, &net->async, on_wake) != 0 || net->spare_descriptor < 0) {
    tt_net_free(net);
    return NULL;
  }
  net->spin = net->spin_max = SPIN_DEFAULT;
  net->cores = available_cores();
  return net;
}

static void count_spinner(tt_net *net, bool spins) {
  if (net->spins != spins) atomic_fetch_add(&spinners, spins ? 1 : -1);
  net->spins = spins;
}

static void close_handle(uv_handle_t *handle, void *context) {
  (void)context;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

void tt_net_free(tt_net *net) {
  if (!net) return;
  while (net->endpoints) net->endpoints->close(net->endpoints);
  uv_walk(&net->loop, close_handle, NULL);
  uv_run(&net->loop, UV_RUN_DEFAULT);
  uv_loop_close(&net->loop);
  if (net->spare_descriptor >= 0) close(net->spare_descriptor);
  free(net->sources);
  count_spinner(net, false);
  free(net);
}

void tt_net_set_spin(tt_net *net, uint64_t max_ns) { net->spin = net->spin_max = max_ns; }

void tt_net_wake(tt_net *net) {
  atomic_store(&net->woken, true);
  uv_async_send(&net->async);
}

tt_status tt_net_add_source(tt_net *net, tt_net_source *source, tt_error *error) {
  if (net->source_count == net->source_capacity) {
    int capacity = net->source_capacity ? net->source_capacity * 2 : TT_DIRECT_SOURCES;
    tt_net_source **sources = realloc(net->sources, (size_t)capacity * sizeof *sources);
    if (!sources) return tt_fail(error, TT_NOMEM, "out of memory");
    net->sources = sources;
    net->source_capacity = capacity;
  }
  source->index = net->source_count;
  net->sources[net->source_count++] = source;
  return TT_OK;
}

static void close_holes(tt_net *net) {
  int kept = 0;
  for (int i = 0; i < net->source_count; i++) {
    if (!net->sources[i]) continue;
    net->sources[kept] = net->sources[i];
    net->sources[kept]->index = kept;
    kept++;
  }
  net->source_count = kept;
  net->holes = false;
}

void tt_net_remove_source(tt_net *net, tt_net_source *source) {
  if (source->index < 0) return;
  net->sources[source->index] = NULL;
  source->index = -1;
  net->holes = true;
  if (!net->reading) close_holes(net);
}

void tt_net_add_endpoint(tt_net *net, tt_endpoint *endpoint) {
  endpoint->previous = NULL;
  endpoint->next = net->endpoints;
  if (net->endpoints) net->endpoints->previous = endpoint;
  net->endpoints = endpoint;
}

void tt_net_remove_endpoint(tt_net *net, tt_endpoint *endpoint) {
  if (endpoint->previous)
    endpoint->previous->next = endpoint->next;
  else
    net->endpoints = endpoint->next;
  if (endpoint->next) endpoint->next->previous = endpoint->previous;
}

tt_status tt_net_bind(const tt_address *address, int type, int *socket_out, tt_error *error) {
  char text[TT_ADDRESS_TEXT];
  tt_address_format(address, text);
  int s = socket(address->any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (s < 0) return tt_fail(error, TT_FAILED, "%s: no socket: %s", text, strerror(errno));
  /* a listener may return while old connections linger; for UDP it would let others steal the port */
  int on = 1;
  if (type == SOCK_STREAM) setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(s, &address->any, tt_address_size(address)) == 0) {
    *socket_out = s;
    return TT_OK;
  }
  int reason = errno;
  close(s);
  if (reason == EADDRINUSE)
    return tt_fail(error, TT_FAILED,
                   "%s: port in use by another program; stop that one or give another port", text);
  if (reason == EADDRNOTAVAIL)
    return tt_fail(error, TT_FAILED,
                   "%s: this machine has no such address; 'ip address' lists those it has", text);
  return tt_fail(error, TT_FAILED, "%s: cannot be bound: %s", text, strerror(reason));
}

static void read_directly(tt_net *net) {
  if (net->source_count > TT_DIRECT_SOURCES) return;
  net->reading = true;
  for (int i = 0; i < net->source_count; i++)
    if (net->sources[i]) net->sources[i]->read(net->sources[i]);
  net->reading = false;
  if (net->holes) close_holes(net);
}

static void turn_loop(tt_net *net, uint64_t now) {
  net->loop_ran = now;
  net->loop_due = false;
  net->reading = true;
  uv_run(&net->loop, UV_RUN_NOWAIT);
  net->reading = false;
  if (net->holes) close_holes(net);
}

/* Without any socket there is nothing to look for: a wake shows in `woken`. */
static bool loop_is_due(const tt_net *net, uint64_t now) {
  if (net->loop_due) return true;
  if (!net->endpoints) return false;
  return net->source_count == 0 || net->source_count > TT_DIRECT_SOURCES ||
         now - net->loop_ran >= LOOP_EVERY;
}

static void look(tt_net *net, uint64_t now) {
  read_directly(net);
  if (loop_is_due(net, now)) turn_loop(net, now);
}

static bool idle(tt_net *net, uint64_t callbacks_before) {
  return net->callbacks == callbacks_before &&
         !atomic_load_explicit(&net->woken, memory_order_relaxed);
}

/* Looks again and again until something happens or `until`. */
static void spin(tt_net *net, uint64_t callbacks_before, uint64_t until) {
  for (uint64_t now = tt_monotonic_ns(); now < until; now = tt_monotonic_ns()) {
    for (int i = 0; i < LOOKS_PER_GLANCE; i++) {
      look(net, now);
      if (!idle(net, callbacks_before)) return;
    }
  }
}

/* Waits in the kernel. libuv's own wait counts in milliseconds, too coarse for a tick; its descriptor may be waited
 * for instead, once the loop has turned and so told the kernel about every socket. */
static void sleep_until(tt_net *net, uint64_t callbacks_before, uint64_t deadline) {
  if (!net->slack_set)
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); /* of this thread; 50 µs otherwise */
  net->slack_set = true;
  for (;;) {
    uint64_t now = tt_monotonic_ns();
    turn_loop(net, now);
    if (!idle(net, callbacks_before) || now >= deadline) return;
    uint64_t wait = deadline - now;
    int loop_ms = uv_backend_timeout(&net->loop);
    if (loop_ms >= 0 && (uint64_t)loop_ms * 1000000 < wait) wait = (uint64_t)loop_ms * 1000000;
    struct timespec timeout = {.tv_sec = (time_t)(wait / SECOND), .tv_nsec = (long)(wait % SECOND)};
    struct pollfd descriptor = {.fd = uv_backend_fd(&net->loop), .events = POLLIN};
    ppoll(&descriptor, 1, &timeout, NULL);
  }
}

/* Who spins needs a core for itself and one for the peer; beyond that it would only take theirs away. */
static bool is_crowded(const tt_net *net) {
  return atomic_load(&spinners) > 1 && 2 * atomic_load(&spinners) > net->cores;
}

/* Spinning paid if the answer came within the largest budget; otherwise spin half as long next time. */
static void adapt(tt_net *net, bool answered, uint64_t elapsed) {
  if (answered && elapsed <= net->spin_max)
    net->spin = net->spin_max;
  else
    net->spin = net->spin / 2 < SPIN_LEAST ? 0 : net->spin / 2;
}

static void wait_for_something(tt_net *net, uint64_t callbacks_before, uint64_t start,
                               uint64_t wait_ns) {
  uint64_t deadline = wait_ns > UINT64_MAX - start ? UINT64_MAX : start + wait_ns;
  count_spinner(net, net->spin > 0);
  uint64_t budget = is_crowded(net) ? 0 : net->spin;
  spin(net, callbacks_before, start + (budget < wait_ns ? budget : wait_ns));
  if (idle(net, callbacks_before)) sleep_until(net, callbacks_before, deadline);
  adapt(net, net->callbacks != callbacks_before, tt_monotonic_ns() - start);
}

bool tt_net_poll(tt_net *net, uint64_t wait_ns) {
  uint64_t before = net->callbacks;
  uint64_t start = tt_monotonic_ns();
  look(net, start);
  if (wait_ns && idle(net, before)) wait_for_something(net, before, start, wait_ns);
  atomic_store_explicit(&net->woken, false, memory_order_relaxed);
  return net->callbacks != before;
}
