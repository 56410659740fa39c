/* unused.c: devices and attributes of which nothing is stored, removed by people. */
#include "telemetry/collector_internal.h"

/** µs that what came before may take to be stored. */
#define STORED_PATIENCE (5 * SECOND)

/** Values come in meanwhile. */
typedef struct search {
  tt_collector *collector;
  bool is_device;
  uint64_t samples; /**< of the collector at the beginning: the reader may not have later ones */
  tt_store_reader *reader; /**< NULL: nothing had to be read yet */
} search;

/** Whether values are put into other stores, where nobody here can look for them. */
static bool is_forwarding(const tt_collector *collector) {
  return collector->store->backend->abilities & TT_STORE_FORWARDS;
}

static search begin(tt_collector *collector, bool is_device) {
  search begun = {.collector = collector, .is_device = is_device};
  pthread_mutex_lock(&collector->mutex);
  begun.samples = collector->samples;
  pthread_mutex_unlock(&collector->mutex);
  return begun;
}

static void end(search *of) {
  if (of->reader) of->reader->close(of->reader);
}

/** The database knows nothing of what waits for it, after a restart not even of which names it is: removed behind it they would take its
 *  values along, which were acknowledged. */
static tt_status check_spool(const tt_collector *collector, tt_error *error) {
  tt_store_state state;
  collector->store->state(collector->store, &state);
  return state.spooled_bytes
             ? tt_fail(error, TT_FAILED, "what came before still waits in the spool")
             : TT_OK;
}

/** A reader that has all samples there were at the beginning. */
static tt_status need_reader(search *of, tt_error *error) {
  if (of->reader) return TT_OK;
  if (!tt_removal_wait_stored(of->collector, g_get_monotonic_time() + STORED_PATIENCE))
    return tt_fail(error, TT_FAILED, "what came before is not stored yet");
  TT_TRY(check_spool(of->collector, error));
  return of->collector->store->open_reader(of->collector->store, &of->reader, error);
}

/** Whether a value is left of a pair: retention and people remove them. */
static tt_status is_left(search *of, int device, int attribute, bool *left, tt_error *error) {
  *left = is_forwarding(of->collector);  // else nothing is kept that could be read
  if (!of->collector->store->open_reader) return TT_OK;
  TT_TRY(need_reader(of, error));
  return of->reader->holds(of->reader, device, attribute, left, error);
}

/** The other side of a pair of which values are stored; −1: there is none, the name is not used. */
static tt_status find_use(search *of, int index, int *user, tt_error *error) {
  tt_collector *collector = of->collector;
  *user = -1;
  for (int other = 0;; other++) {
    int device = of->is_device ? index : other, attribute = of->is_device ? other : index;
    pthread_mutex_lock(&collector->mutex);
    bool past = of->is_device ? (guint)other >= collector->attributes->len
                              : (guint)other >= collector->devices->len;
    bool paired = !past && tt_registry_is_stored(collector, device, attribute);
    pthread_mutex_unlock(&collector->mutex);
    if (past) return TT_OK;
    bool left = false;
    if (paired) TT_TRY(is_left(of, device, attribute, &left, error));
    if (!left) continue;
    *user = other;
    return TT_OK;
  }
}

/** With the mutex held. TT_INVALID: what stands in the way, where `user` is what find_use() has found. */
static tt_status check_unused(const search *of, int index, int user, tt_error *error) {
  tt_collector *collector = of->collector;
  const bool held = of->is_device ? tt_device_at(collector, index)->held
                                  : tt_attribute_at(collector, index)->held;
  const uint64_t last = of->is_device ? tt_device_at(collector, index)->sample
                                      : tt_attribute_at(collector, index)->sample;
  if (held) return tt_fail(error, TT_INVALID, "it belongs to a robot of the world that runs here");
  if (user >= 0)
    return tt_fail(error, TT_INVALID, "values of %s are stored of it",
                   of->is_device ? tt_attribute_at(collector, user)->identifier
                                 : tt_device_at(collector, user)->identifier);
  if (last > of->samples) return tt_fail(error, TT_INVALID, "values of it came meanwhile");
  return TT_OK;
}

/** Removes what is not used; else TT_INVALID says what uses it. */
static tt_status remove_unused(search *of, int index, tt_error *error) {
  int user;
  TT_TRY(check_spool(of->collector, error));
  TT_TRY(find_use(of, index, &user, error));
  pthread_mutex_lock(&of->collector->mutex);
  tt_status status = check_unused(of, index, user, error);
  if (status == TT_OK && !tt_registry_is_removed(of->collector, of->is_device, index))
    status = tt_registry_remove(of->collector, of->is_device, index, error);
  pthread_mutex_unlock(&of->collector->mutex);
  return status;
}

tt_status tt_collector_remove(tt_collector *collector, bool is_device, const char *name,
                              tt_error *error) {
  if (collector->options.log) return tt_collector_refuse(error);
  search of = begin(collector, is_device);
  int index = is_device ? tt_collector_find_device(collector, name)
                        : tt_collector_find_attribute(collector, name);
  if (index < 0)
    return tt_fail(error, TT_NOT_FOUND, "there is no such %s", is_device ? "device" : "attribute");
  tt_status status = remove_unused(&of, index, error);
  end(&of);
  return status;
}

tt_status tt_collector_remove_unused(tt_collector *collector, bool is_device, int *removed,
                                     tt_error *error) {
  tt_status status = TT_OK;
  *removed = 0;
  if (collector->options.log) return tt_collector_refuse(error);
  if (is_forwarding(collector))
    return tt_fail(error, TT_INVALID,
                   "values go into a log here, and nobody knows of which names any are stored "
                   "behind it; remove one by its name");
  search of = begin(collector, is_device);
  int count =
      is_device ? tt_collector_device_count(collector) : tt_collector_attribute_count(collector);
  for (int i = 0; i < count && (status == TT_OK || status == TT_INVALID); i++) {
    pthread_mutex_lock(&collector->mutex);
    bool gone = tt_registry_is_removed(collector, is_device, i);
    pthread_mutex_unlock(&collector->mutex);
    if (gone) continue;
    status = remove_unused(&of, i, error);
    *removed += status == TT_OK;
  }
  end(&of);
  return status == TT_INVALID ? TT_OK : status;
}
