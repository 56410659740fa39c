/* writer.c: the thread that writes the batch being filled: after 100 ms, when it is large, or at once when somebody waits
 * for an acknowledgement; what arrives meanwhile makes up the next.
 */
#include "base/log.h"
#include "store/map.h"
#include "telemetry/collector_internal.h"

#include <limits.h>
#include <math.h>
#include <time.h>

#define TEND_INTERVAL (SECOND / 10)
#define PURGE_INTERVAL (30LL * SECOND)
/** By which a store may be behind with what is old: SQLite keeps that of a day together. */
#define DAY (24LL * 3600 * SECOND)
/** µs UTC, before all that is stored. */
#define NEVER (INT64_MIN / 2)
/** For which what is old may hold up the rest. */
#define PURGE_TIME (SECOND / 50)
/** Behind a step that took longer nothing old is removed for so many times as long, whatever it said: a database may be too slow for
 *  many. What stores do at once takes less. */
#define STEP_TIME (SECOND / 2)
#define REST_TIMES 3

/* --- what is durable --- */

bool tt_collector_wait_room(tt_collector *collector, int64_t timeout) {
  int64_t end = g_get_monotonic_time() + timeout;
  pthread_mutex_lock(&collector->mutex);
  while (tt_batch_is_full(collector) && !collector->stopping) {
    if (!tt_collector_wait(collector, &collector->room, end)) break;
  }
  bool room = !tt_batch_is_full(collector);
  pthread_mutex_unlock(&collector->mutex);
  return room;
}

uint64_t tt_collector_durable(tt_collector *collector) {
  pthread_mutex_lock(&collector->mutex);
  uint64_t durable = collector->durable;
  pthread_mutex_unlock(&collector->mutex);
  return durable;
}

void tt_collector_on_durable(tt_collector *collector, void (*wake)(void *context), void *context) {
  tt_durable_listener added = {wake, context};
  pthread_mutex_lock(&collector->mutex);
  g_array_append_val(collector->listeners, added);
  pthread_mutex_unlock(&collector->mutex);
}

void tt_collector_off_durable(tt_collector *collector, void (*wake)(void *context), void *context) {
  pthread_mutex_lock(&collector->mutex);
  for (guint i = 0; i < collector->listeners->len; i++) {
    tt_durable_listener *known = &g_array_index(collector->listeners, tt_durable_listener, i);
    if (known->wake != wake || known->context != context) continue;
    g_array_remove_index_fast(collector->listeners, i);
    break;
  }
  pthread_mutex_unlock(&collector->mutex);
}

static void announce(tt_collector *collector, uint64_t ticket, uint64_t values) {
  pthread_mutex_lock(&collector->mutex);
  collector->durable = ticket;
  collector->writing_started = 0;
  collector->stored_values += values;
  collector->batches++;
  pthread_cond_broadcast(&collector->removed);
  for (guint i = 0; i < collector->listeners->len; i++) {
    tt_durable_listener *told = &g_array_index(collector->listeners, tt_durable_listener, i);
    told->wake(told->context);
  }
  pthread_mutex_unlock(&collector->mutex);
}

/* --- batches and what is old --- */

static void write_batch(tt_collector *collector, tt_store_batch *batch, uint64_t ticket) {
  if (tt_put_batch(collector, batch, false))
    announce(collector, ticket, batch->values.len);
  else
    tt_log_error("telemetry: %u values could not be stored; none of them was acknowledged",
                 batch->values.len);
}

/** µs UTC by which values are old or not. With the mutex held. */
static int64_t read_clock(tt_collector *collector) {
  int64_t now;
  const int64_t passed = tt_wall_read(&now);
  tt_retention_look(&collector->retention, now, passed, collector->newest_stored);
  return collector->retention.now;
}

/** As read_clock(), for a round that begins. */
static int64_t look_at_clock(tt_collector *collector) {
  pthread_mutex_lock(&collector->mutex);
  int64_t now = read_clock(collector);
  collector->purge_due = false;
  pthread_mutex_unlock(&collector->mutex);
  return now;
}

/** What is old by now: tt_store_old. */
static tt_list find_old(tt_collector *collector, int64_t now) {
  tt_list old = TT_LIST(tt_store_old, NULL);
  int count = tt_collector_attribute_count(collector);
  for (int i = 0; i < count; i++) {
    pthread_mutex_lock(&collector->mutex);
    double retention = tt_attribute_at(collector, i)->handling.retention;
    pthread_mutex_unlock(&collector->mutex);
    const tt_store_old one = {i, now - llround(retention * SECOND)};
    if (retention > 0) tt_list_add(&old, &one, 1);
  }
  return old;
}

/** What is old by now, on its way out, pair by pair between two batches. */
typedef struct purging {
  tt_list old; /**< tt_store_old */
  uint32_t at; /**< of `old`… */
  int device;  /**< …and of its devices: where it goes on */
  int whole; /**< the device that is asked for what was removed, too, another with each round… */
  bool asks; /**< …if it is due… */
  int64_t asked_at;   /**< …and when it was the last time, as `now` */
  int64_t now;        /**< µs UTC by which values are old */
  uint64_t forgotten; /**< as the collector had it when the round began… */
  int64_t since;      /**< …and µs UTC: that was seen first */
  tt_map failed;      /**< device → the attribute that could not be removed in this round… */
  tt_map failed_last; /**< …and in the last, behind which this one goes on */
  int64_t rests;      /**< µs, monotonic: until then nothing is removed */
  int64_t done;       /**< µs, monotonic: when there was no more of it last */
} purging;

/** A store that can't be asked now is tried again at leisure. */
static bool is_away(tt_collector *collector) {
  tt_store_state state = {.degraded = false};
  collector->store->state(collector->store, &state);
  return state.degraded;
}

static bool is_purging(const purging *of) { return of->at < of->old.len; }

/** Half a minute behind the last, and when something was set; but never within one, whose end would not get its turn. */
static bool is_purge_due(tt_collector *collector, const purging *last) {
  if (is_purging(last)) return false;
  pthread_mutex_lock(&collector->mutex);
  bool due = collector->purge_due;
  pthread_mutex_unlock(&collector->mutex);
  return due || g_get_monotonic_time() - last->done > PURGE_INTERVAL;
}

/** Whether the device was asked for what was removed when all values of the attribute were old, so that none is left. */
static bool is_settled(const purging *of, const tt_store_old *one) {
  const int64_t kept = of->now - one->before;
  return of->asked_at - kept > of->since + DAY;
}

/** Whether more than hardly anything that was removed has become old since the device was asked. */
static bool is_due_again(const purging *of) {
  for (uint32_t i = 0; i < of->old.len; i++) {
    const tt_store_old *one = &tt_list_at(&of->old, tt_store_old, i);
    if (of->now - of->asked_at >= (of->now - one->before) / 8 && !is_settled(of, one)) return true;
  }
  return false;
}

/** The attribute behind which this round goes on with the device that is asked for what was removed; NULL: it leaves out none. */
static int64_t *find_failed(const purging *of) {
  return tt_map_get(&of->failed_last, (tt_map_key){of->whole, 0});
}

/** The next device is asked for what was removed, where it is due. With the mutex held. */
static void choose_next(tt_collector *collector, purging *of) {
  of->whole = (of->whole + 1) % (int)collector->devices->len;
  tt_device *device = tt_device_at(collector, of->whole);
  of->asked_at = device->asked == of->forgotten ? device->asked_at : NEVER;
  of->asks = is_due_again(of);
  if (!of->asks) return;
  device->asked = of->forgotten;
  device->asked_at = of->now;
  int64_t *failed = find_failed(of);
  if (failed) *failed = -1;  // it is asked for all
}

/** Of a device that failed the last round has left out some, for which this one asks: it is the same asking. */
static void choose_whole(tt_collector *collector, purging *of) {
  pthread_mutex_lock(&collector->mutex);
  // What was removed is older than that; the wall's clock may be ahead of the one by which values are old.
  if (of->forgotten != collector->forgotten) of->since = MAX(of->now, g_get_real_time());
  of->forgotten = collector->forgotten;
  if (collector->devices->len && !find_failed(of)) choose_next(collector, of);
  pthread_mutex_unlock(&collector->mutex);
}

static void begin_purging(tt_collector *collector, purging *of) {
  tt_store *store = collector->store;
  tt_list_free(&of->old);
  of->at = 0;
  of->device = 0;
  tt_map_clear(&of->failed_last);
  of->failed_last = of->failed;
  of->failed = (tt_map){.count = 0};
  of->done = g_get_monotonic_time();
  if (!store->purge) return;
  of->now = look_at_clock(collector);
  of->old = find_old(collector, of->now);
  choose_whole(collector, of);
  if (!store->forget) return;
  // Who is away when we begin tells its newest sample later, and would keep what it is told now until then.
  if (!is_away(collector)) store->forget(store, &of->old);
  tt_list_free(&of->old);
}

/** A device that fails may do so with each attribute, which may take long. So a round asks it until it fails once, and the next one for
 *  what is behind that: all of it gets its turn. */
static bool is_left_out(const purging *of, int attribute) {
  const tt_map_key device = {of->device, 0};
  const int64_t *last = tt_map_get(&of->failed_last, device);
  return tt_map_get(&of->failed, device) || (last && attribute <= *last);
}

/** Whether there may be values of the attribute of the device at which it is. Of a name that was removed nothing says so any more, though
 *  behind a log there may be some. To look for them may take long, so it is done for one device in a round. With the mutex held. */
static bool may_be_stored(const tt_collector *collector, const tt_store_old *one,
                          const purging *of) {
  if (tt_registry_is_stored(collector, of->device, one->attribute))
    return !is_left_out(of, one->attribute);
  return collector->options.log && of->asks && of->device == of->whole &&
         tt_registry_was_removed(collector, of->device, one->attribute) && !is_settled(of, one) &&
         !is_left_out(of, one->attribute);
}

/** A round may last long, or wait for a database that tells its newest sample only then: what is to be kept longer by now is, also where
 *  the clock turns out to be wrong. False: all of it is. With the mutex held. */
static bool look_again(tt_collector *collector, tt_store_old *one, purging *of) {
  of->now = MIN(of->now, read_clock(collector));
  const double retention = tt_attribute_at(collector, one->attribute)->handling.retention;
  one->before = MIN(one->before, of->now - llround(retention * SECOND));
  return retention > 0;
}

/** Finds where to go on, from `device` on: a device of which there may be values of the attribute. */
static bool find_stored(tt_collector *collector, tt_store_old *one, purging *of) {
  pthread_mutex_lock(&collector->mutex);
  const int count = (int)collector->devices->len;
  if (!look_again(collector, one, of)) of->device = count;
  while (of->device < count && !may_be_stored(collector, one, of)) of->device++;
  pthread_mutex_unlock(&collector->mutex);
  return of->device < count;
}

/** Said once in a round; what was removed is asked for anew. */
static void note_failed(tt_collector *collector, const tt_store_purge *purge, purging *of,
                        const char *why) {
  pthread_mutex_lock(&collector->mutex);
  tt_device *device = tt_device_at(collector, purge->device);
  device->asked = 0;
  if (!of->failed.count)
    tt_log_warning("telemetry: can't remove old values of %s of device %s: %s",
                   tt_attribute_at(collector, purge->attribute)->identifier, device->identifier,
                   why);
  pthread_mutex_unlock(&collector->mutex);
  tt_map_put(&of->failed, (tt_map_key){purge->device, 0}, purge->attribute);
}

/** A step of one device, or on to the next attribute. One that fails doesn't hold up the devices behind it.
 *  TT_AGAIN: there is more of the device. */
static tt_status purge_next(tt_collector *collector, purging *of) {
  tt_store_old *one = &tt_list_at(&of->old, tt_store_old, of->at);
  if (!find_stored(collector, one, of)) {
    of->at++;
    of->device = 0;
    return TT_OK;
  }
  const tt_store_purge purge = {
      .device = of->device, .attribute = one->attribute, .before = one->before, .limit = 2000};
  int removed;
  tt_error error;
  tt_status status = collector->store->purge(collector->store, &purge, &removed, &error);
  if (status == TT_AGAIN) return status;
  of->device++;
  if (status != TT_OK) note_failed(collector, &purge, of, error.text);
  return status;
}

/** By the wall's clock, unlike retention: nothing is lost where that is wrong, and what is stored may be older than a day when
 *  this program begins. */
static void seal_some(tt_collector *collector) {
  tt_sealing_tend(&collector->sealing, collector->store, collector->options.seal_after,
                  g_get_real_time());
}

/* --- what people want to be gone --- */

/** With the mutex held; NULL: there is none. */
static tt_removing *next_of(tt_collector *collector) {
  return collector->removals->len ? collector->removals->pdata[0] : NULL;
}

/** Removes some of what people want to be gone; true: there is more. */
static bool remove_some(tt_collector *collector) {
  tt_error error = {""};
  int removed = 0;
  pthread_mutex_lock(&collector->mutex);
  tt_removing *job = next_of(collector);
  if (job) job->in_hand = true;
  pthread_mutex_unlock(&collector->mutex);
  if (!job) return false;
  tt_status status = collector->store->purge(collector->store, &job->purge, &removed, &error);
  pthread_mutex_lock(&collector->mutex);
  job->removed += (uint64_t)removed;
  job->status = status;
  job->error = error;
  job->in_hand = false;
  if (status != TT_AGAIN) g_ptr_array_remove(collector->removals, job);
  pthread_cond_broadcast(&collector->removed);
  bool more = next_of(collector);
  pthread_mutex_unlock(&collector->mutex);
  return more && !is_away(collector);
}

/* --- the thread --- */

/** Waits until there is a batch to write or something to tend; `busy`: not at all. True: `spare` was exchanged for a batch. */
static bool wait_for_batch(tt_collector *collector, bool busy, uint64_t *ticket, bool *stop) {
  bool taken = false;
  pthread_mutex_lock(&collector->mutex);
  int64_t tend = g_get_monotonic_time() + TEND_INTERVAL;
  for (;;) {
    int64_t now = g_get_monotonic_time(), end = tend;
    if (!tt_store_batch_is_empty(collector->batch)) {
      int64_t due = collector->batch_started + collector->options.batch_interval;
      taken = collector->urgent || collector->stopping || now >= due;
      if (due < end) end = due;
    }
    if (taken || collector->stopping || busy || now >= tend) break;
    tt_collector_wait(collector, &collector->work, end);
  }
  if (taken) {
    tt_store_batch *full = collector->batch;
    collector->batch = collector->spare;
    collector->spare = full;
    collector->writing_started = collector->batch_started;
    *ticket = collector->filling++;
    collector->urgent = false;
    pthread_cond_broadcast(&collector->room);
  }
  *stop = collector->stopping && tt_store_batch_is_empty(collector->batch);
  pthread_mutex_unlock(&collector->mutex);
  return taken;
}

static bool is_stopping(tt_collector *collector) {
  pthread_mutex_lock(&collector->mutex);
  bool stopping = collector->stopping;
  pthread_mutex_unlock(&collector->mutex);
  return stopping;
}

/** Whether something else waits for this thread. What waits in a log is only known to who takes of it, so it is looked there after each step. */
static bool is_wanted(tt_collector *collector) {
  pthread_mutex_lock(&collector->mutex);
  bool wanted =
      collector->stopping || collector->options.log || !tt_store_batch_is_empty(collector->batch);
  pthread_mutex_unlock(&collector->mutex);
  return wanted;
}

/** Removes some of what is old, and leaves the rest to the next turn where something waits. True: some of it can be removed now. */
static bool purge_some(tt_collector *collector, purging *of) {
  int64_t now = g_get_monotonic_time();
  const int64_t end = now + PURGE_TIME;
  while (is_purging(of) && now >= of->rests) {
    const tt_status status = purge_next(collector, of);
    of->done = g_get_monotonic_time();
    const int64_t took = of->done - now;
    if (took > STEP_TIME) of->rests = of->done + REST_TIMES * took;
    now = of->done;
    if (status == TT_AGAIN && is_away(collector)) return false;
    if (of->done >= end || (!collector->options.log && is_wanted(collector))) break;
  }
  return is_purging(of) && now >= of->rests;
}

gpointer tt_writer_run(gpointer data) {
  tt_collector *collector = data;
  const bool tended = !collector->options.untended;
  purging old = {
      .old = TT_LIST(tt_store_old, NULL),
      .whole = g_random_int_range(0, INT_MAX),  // each gets its turn, however short we run
      .done = g_get_monotonic_time()};
  if (tended) look_at_clock(collector);
  for (bool stop = false, removing = false, purging_now = false, more = false; !stop;) {
    uint64_t ticket = 0;
    if (collector->options.log) {
      tt_follow(collector, more || purging_now);
      stop = is_stopping(collector);
    } else if (wait_for_batch(collector, removing || purging_now, &ticket, &stop)) {
      write_batch(collector, collector->spare, ticket);
      tt_store_batch_clear(collector->spare);
    }
    if (collector->store->follow)
      collector->store->follow(collector->store, tt_feed_reader_count(collector->hub) > 0);
    do more = collector->store->tend(collector->store);
    while (more && !stop && !is_wanted(collector));
    removing = !stop && remove_some(collector);
    if (!stop && tended) seal_some(collector);
    if (stop || !tended) continue;
    if (is_purge_due(collector, &old)) begin_purging(collector, &old);
    purging_now = purge_some(collector, &old);
  }
  tt_list_free(&old.old);
  tt_map_clear(&old.failed);
  tt_map_clear(&old.failed_last);
  return NULL;
}
