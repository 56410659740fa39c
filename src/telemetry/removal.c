/* removal.c: values that people have removed: asked for by any thread, removed by the writer, a step at a time between
 * batches.
 */
#include "telemetry/collector_internal.h"

/** Samples looked at in a step, which is to take some 10 ms. */
#define STEP 1000

static bool take_latest(void *context, const tt_store_latest *latest) {
  int64_t *newest = context;
  if (latest->time > *newest) *newest = latest->time;
  return true;
}

/** Behind all there is, so that what comes in meanwhile stays. */
static tt_status find_end(tt_collector *collector, int device, int64_t *end, tt_error *error) {
  tt_store_reader *reader;
  int64_t newest = tt_collector_now();
  TT_TRY(tt_collector_open_reader(collector, &reader, error));
  tt_status status =
      reader->latest ? reader->latest(reader, device, take_latest, &newest, error) : TT_OK;
  reader->close(reader);
  *end = newest < INT64_MAX ? newest + 1 : newest;
  return status;
}

static tt_status resolve(tt_collector *collector, const tt_removal *removal, tt_store_purge *purge,
                         tt_error *error) {
  if (!collector->store->purge)
    return tt_fail(error, TT_INVALID, "the store %s removes no values",
                   collector->store->backend->kind);
  *purge = (tt_store_purge){.device = tt_collector_find_device(collector, removal->device),
                            .attribute = -1,
                            .exact = true,
                            .from = removal->from,
                            .before = removal->before,
                            .limit = STEP};
  if (removal->attribute)
    purge->attribute = tt_collector_find_attribute(collector, removal->attribute);
  if (purge->device < 0) return tt_fail(error, TT_NOT_FOUND, "there is no such device");
  if (removal->attribute && purge->attribute < 0)
    return tt_fail(error, TT_NOT_FOUND, "there is no such attribute");
  return removal->before < INT64_MAX ? TT_OK
                                     : find_end(collector, purge->device, &purge->before, error);
}

bool tt_removal_wait_stored(tt_collector *collector, int64_t end) {
  pthread_mutex_lock(&collector->mutex);
  bool empty = tt_store_batch_is_empty(collector->batch);
  const uint64_t last = empty ? collector->filling - 1 : collector->filling;
  if (!empty) tt_batch_hasten(collector);
  while (collector->durable < last && !collector->stopping && g_get_monotonic_time() < end)
    tt_collector_wait(collector, &collector->removed, end);
  bool stored = collector->durable >= last;
  pthread_mutex_unlock(&collector->mutex);
  return stored;
}

tt_status tt_collector_wait_stored(tt_collector *collector, int64_t patience, tt_error *error) {
  return tt_removal_wait_stored(collector, g_get_monotonic_time() + patience)
             ? TT_OK
             : tt_fail(error, TT_FULL,
                       "it is done, and not stored yet, since the store is behind: until it is, a "
                       "restart forgets it");
}

/** Waits for the writer to have done it, until `end` at most. */
static void wait_removed(tt_collector *collector, tt_removing *job, int64_t end) {
  pthread_mutex_lock(&collector->mutex);
  g_ptr_array_add(collector->removals, job);
  pthread_cond_signal(&collector->work);
  while (job->in_hand ||
         (job->status == TT_AGAIN && !collector->stopping && g_get_monotonic_time() < end)) {
    if (job->in_hand)  // what is being removed now counts, too
      pthread_cond_wait(&collector->removed, &collector->mutex);
    else
      tt_collector_wait(collector, &collector->removed, end);
  }
  g_ptr_array_remove(collector->removals, job);
  pthread_mutex_unlock(&collector->mutex);
}

tt_status tt_collector_remove_values(tt_collector *collector, tt_removal *removal, int64_t patience,
                                     tt_error *error) {
  const int64_t end = g_get_monotonic_time() + patience;
  tt_removing job = {.status = TT_AGAIN};
  removal->removed = 0;
  if (!tt_removal_wait_stored(collector, end))
    return tt_fail(error, TT_AGAIN, "what came before is not stored yet");
  TT_TRY(resolve(collector, removal, &job.purge, error));
  removal->before = job.purge.before;
  wait_removed(collector, &job, end);
  removal->removed = job.removed;
  if (job.status != TT_OK && job.status != TT_AGAIN)
    return tt_fail(error, job.status, "%s", job.error.text);
  return job.status == TT_OK ? TT_OK : tt_fail(error, TT_AGAIN, "there is more to be removed");
}
