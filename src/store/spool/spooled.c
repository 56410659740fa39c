/* spooled.c: a store with a spool around it: the way straight through, the way into the spool, and the way out of it.
 *
 * Samples may pass those that wait. What people set may not, or it would be undone by what they set before; where it can wait nowhere it
 * passes, too, and is set once more behind each batch that waited. Once the spool takes it, it stands there behind what waits, for whoever
 * writes that after a restart.
 */
#include "store/spool/spooled.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/place.h"
#include "store/spool/internal.h"
#include "store/told_state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/** µs from what could not be written to the next try, since each reads the spool. */
#define RETRY_INTERVAL 300000
/** Who sends waits while it is tried: where a try takes long, so many times as long nothing is tried, but not longer than that (µs). */
#define PAUSE 3
#define LONGEST_PAUSE 30000000
#define CATCHING_UP "what was spooled is being written"

typedef struct spooled_store {
  tt_store base;
  tt_store *inner;
  tt_spool *spool;
  /** every name and epoch told so far: a batch that waits is whole in itself */
  tt_catalogue *catalogue;
  tt_store_batch *settings; /**< what people set that the inner store may not have */
  bool unsettled;           /**< some of that waits, or may: all is told again once it has it */
  bool overtaken;           /**< some of that passed what waits, which may undo it */
  bool unwritten;           /**< what passed does not stand behind what waits */
  bool forgetful;           /**< memory ran out, and the catalogue is not whole */
  bool untold;              /**< definitions waited, of which the inner store may not have heard */
  tt_store_loader loader;
  bool loads; /**< the inner store has the loader, and told all, or tells it when it is there */
  bool loads_early;   /**< it has, but not all was in it */
  bool away;          /**< it was said that the inner store is away */
  uint64_t spooled;   /**< values, since the start */
  int64_t next_try;   /**< µs: not before then is what waits tried again */
  int64_t next_write; /**< µs: nor what comes before then, where the inner store was away */
  atomic_bool hurried;
  tt_told_state state;
} spooled_store;

/* --- state --- */

static bool is_behind(const spooled_store *store) { return tt_spool_bytes(store->spool); }

static void set_state(spooled_store *store, const char *trouble) {
  const tt_spool_loss lost = tt_spool_lost(store->spool);
  tt_told_state_set_spooled(&store->state, trouble,
                            &(tt_store_state){.spools = true,
                                              .spooled_bytes = tt_spool_bytes(store->spool),
                                              .spooled_values = store->spooled,
                                              .spool_lost_bytes = lost.bytes,
                                              .spool_lost_samples = lost.samples});
}

static void note_there(spooled_store *store) {
  store->away = false;
  set_state(store, is_behind(store) ? CATCHING_UP : NULL);
}

/** Says it once. */
static void note_away(spooled_store *store, const char *reason) {
  if (!store->away) tt_log_warning("%s; spooling until it is there", reason);
  store->away = true;
  set_state(store, reason);
}

/** What began then (µs, monotonic) was tried in vain. */
static void put_off(spooled_store *store, int64_t begun) {
  const int64_t now = tt_monotonic_us(), pause = PAUSE * (now - begun);
  const int64_t bounded = pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE;
  store->next_try = now + (bounded > RETRY_INTERVAL ? bounded : RETRY_INTERVAL);
}

/** The same, since the inner store is away. */
static void put_off_all(spooled_store *store, int64_t begun, const char *reason) {
  note_away(store, reason);
  put_off(store, begun);
  store->next_write = store->next_try;
}

/** Looks how the inner store is. */
static void note_inner(spooled_store *store) {
  tt_store_state inner;
  store->inner->state(store->inner, &inner);
  if (inner.degraded)
    note_away(store, inner.reason);
  else
    note_there(store);
}

static void spooled_state(tt_store *base, tt_store_state *state) {
  spooled_store *store = (spooled_store *)base;
  tt_store_state inner;
  store->inner->state(store->inner, &inner);
  tt_told_state_get(&store->state, state);
  state->bytes = inner.bytes;
}

/* --- out of the spool --- */

/** Whatever waits may be stored: who put it here could not ask. */
static void doubt_all(tt_store_batch *batch) {
  for (uint32_t i = 0; i < batch->samples.len; i++)
    tt_list_at(&batch->samples, tt_store_sample, i).flags |= TT_SAMPLE_UNSURE;
}

/** What people set, and what waits may have undone. */
static tt_status set_again(spooled_store *store, tt_error *error) {
  if (!store->overtaken) return TT_OK;
  return store->inner->write_foreign(store->inner, store->settings, error);
}

/** Writes what is oldest; of nothing but damage an empty batch, since it is dropped only where the database is. TT_AGAIN: it can't be read now, which the spool has said. */
static tt_status drain_one(spooled_store *store, tt_error *error) {
  tt_store_batch *batch = tt_store_batch_new();
  if (!batch) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = tt_spool_front(store->spool, batch, error);
  if (status == TT_OK) {
    doubt_all(batch);
    status = store->inner->write_foreign(store->inner, batch, error);
    if (status == TT_OK) status = set_again(store, error);
    if (status == TT_OK) tt_spool_pop(store->spool);
  } else if (status == TT_FAILED) {
    status = TT_AGAIN;
  }
  tt_store_batch_free(batch);
  return status == TT_NOT_FOUND ? TT_OK : status;
}

/** Writes all that waits. */
static tt_status drain_all(spooled_store *store, tt_error *error) {
  tt_status status = TT_OK;
  while (status == TT_OK && is_behind(store) && !atomic_load(&store->hurried))
    status = drain_one(store, error);
  return status;
}

/* --- straight through, and into the spool --- */

/** Tells the inner store every name and epoch, of which it may never have heard by these numbers. */
static tt_status tell_all(spooled_store *store, tt_error *error) {
  if (!store->untold) return TT_OK;
  tt_store_batch *all = tt_catalogue_all(store->catalogue);
  tt_status status = all ? store->inner->write(store->inner, all, error)
                         : tt_fail(error, TT_NOMEM, "out of memory");
  tt_store_batch_free(all);
  store->untold = status != TT_OK;
  return status;
}

static tt_status write_through(spooled_store *store, const tt_store_batch *batch, tt_error *error) {
  TT_TRY(tell_all(store, error));
  TT_TRY(store->inner->write(store->inner, batch, error));
  if (!store->unsettled) tt_store_batch_clear(store->settings);
  note_there(store);
  return TT_OK;
}

static tt_status append(spooled_store *store, const tt_store_batch *batch, tt_error *error) {
  tt_store_batch *whole = tt_catalogue_complete(store->catalogue, batch);
  tt_status status = whole ? tt_spool_append(store->spool, whole, error)
                           : tt_fail(error, TT_NOMEM, "out of memory");
  tt_store_batch_free(whole);
  return status;
}

/** Whether what the spool doesn't take may go straight through: nothing waits any more, or nothing that can be read. */
static bool may_pass(spooled_store *store) {
  tt_error ignored;
  if (!is_behind(store)) return false;  // that was tried
  const tt_status status = drain_all(store, &ignored);
  if (!is_behind(store)) return status == TT_OK;
  return status == TT_AGAIN;
}

static tt_status spool_batch(spooled_store *store, const tt_store_batch *batch, const char *reason,
                             tt_error *error) {
  tt_error trouble;
  tt_status status = append(store, batch, error);
  if (status == TT_OK) {
    store->spooled += batch->values.len;
    store->untold = true;
    store->unsettled |= tt_spool_has_settings(batch);
    set_state(store, reason);
    return TT_OK;
  }
  // Where it is full, or its disk, room comes only by the database's being there again.
  const bool passes = status != TT_NOMEM && may_pass(store);
  const tt_status passed = passes ? write_through(store, batch, &trouble) : TT_FAILED;
  const bool overtakes = passed == TT_OK && store->unsettled && is_behind(store);
  store->overtaken |= overtakes;
  store->unwritten |= overtakes && tt_spool_has_settings(batch);
  if (passed == TT_OK) return TT_OK;
  if (passed == TT_INVALID) return tt_fail(error, passed, "%s", trouble.text);
  set_state(store, error->text);
  return status;
}

static tt_status write_or_spool(spooled_store *store, const tt_store_batch *batch,
                                tt_error *error) {
  store->forgetful |= !tt_catalogue_add_batch(store->catalogue, batch) ||
                      !tt_spool_note_settings(store->settings, batch);
  if (store->forgetful) {
    set_state(store, "out of memory");
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  if (is_behind(store) && (batch->devices.len || batch->attributes.len || batch->handlings.len))
    return spool_batch(store, batch, CATCHING_UP, error);
  const int64_t begun = tt_monotonic_us();
  if (is_behind(store) && begun < store->next_write) {
    const tt_store_state before = store->state.now;
    return spool_batch(store, batch, before.reason, error);
  }
  tt_error trouble;
  tt_status status = write_through(store, batch, &trouble);
  if (status == TT_OK) return TT_OK;
  if (status == TT_INVALID) return tt_fail(error, status, "%s", trouble.text);  // nor ever will be
  put_off_all(store, begun, trouble.text);
  return spool_batch(store, batch, trouble.text, error);
}

static tt_status spooled_write(tt_store *base, const tt_store_batch *batch, tt_error *error) {
  spooled_store *store = (spooled_store *)base;
  TT_TRY(write_or_spool(store, batch, error));
  if (batch->samples.len) tt_catalogue_settle(store->catalogue);
  return TT_OK;
}

/** It is whole in itself already. */
static tt_status spooled_write_foreign(tt_store *base, const tt_store_batch *batch,
                                       tt_error *error) {
  spooled_store *store = (spooled_store *)base;
  return store->inner->write_foreign(store->inner, batch, error);
}

/* --- what is known --- */

/** What people set, and waits, is not undone by what the inner store has until then. */
static int learn_name(spooled_store *store, bool device, const char *identifier, const char *name,
                      bool *removed) {
  const tt_store_loader *loader = &store->loader;
  const tt_list *set = device ? &store->settings->devices : &store->settings->attributes;
  name = tt_spool_set_name(set, identifier, name, removed);
  const int index =
      (device ? loader->device : loader->attribute)(loader->context, identifier, name, removed);
  store->forgetful |=
      !tt_catalogue_add_name(store->catalogue, device, index, *removed ? NULL : identifier);
  return index;
}

static int learn_device(void *context, const char *identifier, const char *name, bool *removed) {
  return learn_name(context, true, identifier, name, removed);
}

static int learn_attribute(void *context, const char *identifier, const char *name, bool *removed) {
  return learn_name(context, false, identifier, name, removed);
}

static void pass_pair(void *context, int device, int attribute) {
  const tt_store_loader *loader = &((spooled_store *)context)->loader;
  loader->pair(loader->context, device, attribute);
}

static bool pass_handlings(void *context, const tt_list *handlings) {
  const spooled_store *store = context;
  const tt_store_loader *loader = &store->loader;
  const tt_list *set = &store->settings->handlings;
  if (!set->len) return loader->handlings(loader->context, handlings);
  tt_list all = tt_spool_set_handlings(set, handlings);
  if (!all.failed) loader->handlings(loader->context, &all);
  tt_list_free(&all);
  return false;  // to be told again when it has them
}

static void pass_epoch(void *context, const tt_store_boot *boot) {
  const tt_store_loader *loader = &((spooled_store *)context)->loader;
  loader->epoch(loader->context, boot);
}

static void pass_spooled(void *context, int device, int64_t key, int64_t last_sample,
                         uint64_t content) {
  const tt_store_loader *loader = &((spooled_store *)context)->loader;
  loader->spooled(loader->context, device, key, last_sample, content);
}

static void pass_others(void *context, const tt_store_batch *batch) {
  const tt_store_loader *loader = &((spooled_store *)context)->loader;
  if (loader->others) loader->others(loader->context, batch);
}

/** Once all is in it that waited, so that what it tells is all there is. TT_AGAIN: it tells when it is there. */
static tt_status load_inner(spooled_store *store, tt_error *error) {
  const tt_store_loader loader = {store,          learn_device, learn_attribute, pass_pair,
                                  pass_handlings, pass_epoch,   pass_spooled,    pass_others};
  tt_status status = store->inner->load(store->inner, &loader, error);
  store->loads = status == TT_OK || status == TT_AGAIN;
  return status;
}

/** As long as what waits can't be read; all is told once more when that is in it. TT_AGAIN: as load_inner(). */
static tt_status load_early(spooled_store *store, tt_error *error) {
  if (!store->loader.device || store->loads || store->loads_early) return TT_OK;
  const tt_status status = load_inner(store, error);
  store->loads_early = store->loads;
  store->loads = false;
  return status;
}

/** What waits is told by the spool, since it is in no database yet. */
static tt_status tell_spooled(spooled_store *store, tt_error *error) {
  store->untold = true;
  store->unsettled = true;  // by what can't be read, too
  return tt_spool_tell(store->spool, &store->loader, store->catalogue, store->settings, error);
}

static tt_status spooled_load(tt_store *base, const tt_store_loader *loader, tt_error *error) {
  spooled_store *store = (spooled_store *)base;
  store->loader = *loader;
  tt_status status = drain_all(store, error);
  if (status == TT_OK) {
    status = load_inner(store, error);
    note_inner(store);
    return status;
  }
  const bool unreadable = status == TT_AGAIN;  // which says nothing of the database
  if (unreadable)
    set_state(store, error->text);
  else
    note_away(store, error->text);
  TT_TRY(tell_spooled(store, error));
  status = unreadable ? load_early(store, error) : TT_AGAIN;
  return status == TT_OK ? TT_AGAIN : status;
}

static tt_status spooled_find(tt_store *base, const tt_store_question *question, tt_list *boots,
                              int64_t *key) {
  tt_store *inner = ((spooled_store *)base)->inner;
  return inner->find(inner, question, boots, key);
}

/* --- tending --- */

/** What waits can't be read, and the inner store goes on without it. */
static void tend_inner(spooled_store *store) {
  tt_error error;
  if (load_early(store, &error) != TT_NOMEM) store->inner->tend(store->inner);
}

/** Puts what people set, and what passed, behind what waits: after a restart nobody else knows of it. */
static void write_overtaken(spooled_store *store) {
  tt_error ignored;
  if (store->unwritten) store->unwritten = append(store, store->settings, &ignored) != TT_OK;
}

/** Writes some of what waits. */
static bool tend_spool(spooled_store *store) {
  const int64_t now = tt_monotonic_us();
  if (now < store->next_try) return false;
  tt_error error;
  write_overtaken(store);
  const tt_status status = drain_one(store, &error);
  if (status == TT_OK) {
    note_there(store);
    return true;
  }
  if (status == TT_AGAIN) {
    set_state(store, error.text);
    tend_inner(store);
    put_off(store, now);
  } else {
    put_off_all(store, now, error.text);
  }
  return false;
}

/** What people set is in the inner store, and what others set there meanwhile is to be told. */
static void settle(spooled_store *store) {
  if (!store->unsettled) return;
  tt_store_batch_clear(store->settings);
  store->unsettled = store->overtaken = store->unwritten = store->loads = false;
}

static bool spooled_tend(tt_store *base) {
  spooled_store *store = (spooled_store *)base;
  tt_error error;
  if (atomic_load(&store->hurried)) return false;
  if (is_behind(store)) return tend_spool(store);
  settle(store);
  if (store->loader.device && !store->loads && load_inner(store, &error) == TT_NOMEM) return false;
  bool more = store->inner->tend(store->inner);
  note_inner(store);
  return more;
}

static void spooled_hurry(tt_store *base) {
  spooled_store *store = (spooled_store *)base;
  atomic_store(&store->hurried, true);
  store->inner->hurry(store->inner);
}

/* --- what the inner store can --- */

static tt_status spooled_purge(tt_store *base, const tt_store_purge *purge, int *removed,
                               tt_error *error) {
  spooled_store *store = (spooled_store *)base;
  *removed = 0;
  if (purge->exact && is_behind(store)) return TT_AGAIN; /* what waits is written first */
  const tt_status status = store->inner->purge(store->inner, purge, removed, error);
  if (status != TT_OK && status != TT_AGAIN && !is_behind(store)) note_inner(store);
  return status;
}

static void spooled_forget(tt_store *base, const tt_list *old) {
  tt_store *inner = ((spooled_store *)base)->inner;
  inner->forget(inner, old);
}

static tt_status spooled_seal(tt_store *base, const tt_store_sealing *sealing,
                              tt_store_sealed *sealed, tt_error *error) {
  tt_store *inner = ((spooled_store *)base)->inner;
  return inner->seal(inner, sealing, sealed, error);
}

static void spooled_follow(tt_store *base, bool follows) {
  tt_store *inner = ((spooled_store *)base)->inner;
  inner->follow(inner, follows);
}

static tt_status spooled_open_reader(tt_store *base, tt_store_reader **reader, tt_error *error) {
  tt_store *inner = ((spooled_store *)base)->inner;
  return inner->open_reader(inner, reader, error);
}

/* --- beginning and end --- */

static void spooled_close(tt_store *base) {
  spooled_store *store = (spooled_store *)base;
  if (store->inner) store->inner->close(store->inner);
  tt_spool_close(store->spool);
  tt_catalogue_free(store->catalogue);
  tt_store_batch_free(store->settings);
  tt_told_state_clear(&store->state);
  free(store);
}

/** What waits is for one store, whichever is opened now. */
static tt_status own_spool(spooled_store *store, const tt_store_backend *backend,
                           const tt_store_options *options, tt_error *error) {
  if (!options->url) return TT_OK;
  char *place = tt_store_place(backend->kind, options->url);
  char *was = options->spool_was ? tt_store_place(backend->kind, options->spool_was) : NULL;
  tt_status status = place && (was || !options->spool_was)
                         ? tt_spool_own(store->spool, place, was, error)
                         : tt_fail(error, TT_NOMEM, "out of memory");
  free(place);
  free(was);
  return status;
}

static tt_status open_both(spooled_store *store, const tt_store_backend *backend,
                           const tt_store_options *options, tt_error *error) {
  if (!store->catalogue || !store->settings) return tt_fail(error, TT_NOMEM, "out of memory");
  TT_TRY(tt_spool_open(options->spool, options->spool_limit, &store->spool, error));
  TT_TRY(own_spool(store, backend, options, error));
  tt_store_options inner = *options;
  inner.may_be_away = true;  // it is spooled meanwhile
  TT_TRY(backend->open(&inner, &store->inner, error));
  store->base.backend = store->inner->backend;
  if (store->inner->purge) store->base.purge = spooled_purge;
  if (store->inner->forget) store->base.forget = spooled_forget;
  if (store->inner->seal) store->base.seal = spooled_seal;
  if (store->inner->follow) store->base.follow = spooled_follow;
  if (store->inner->open_reader) store->base.open_reader = spooled_open_reader;
  note_inner(store);
  return TT_OK;
}

tt_status tt_spool_around(const tt_store_backend *backend, const tt_store_options *options,
                          tt_store **out, tt_error *error) {
  spooled_store *store = calloc(1, sizeof *store);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  store->base = (tt_store){.load = spooled_load,
                           .write = spooled_write,
                           .write_foreign = spooled_write_foreign,
                           .find = spooled_find,
                           .tend = spooled_tend,
                           .state = spooled_state,
                           .hurry = spooled_hurry,
                           .close = spooled_close};
  store->catalogue = tt_catalogue_new();
  store->settings = tt_store_batch_new();
  tt_told_state_init(&store->state);
  tt_status status = open_both(store, backend, options, error);
  if (status != TT_OK) {
    spooled_close(&store->base);
    return status;
  }
  *out = &store->base;
  return TT_OK;
}
