/* defined.c: what the database calls devices, attributes and epochs, and what this connection has seen in the database, so that
 * batches that say it once more need no statement, and no turn of their own.
 *
 * The database never gives an identifier another id, nor an epoch another number or anchor; ranges of epochs only grow. So what was
 * seen stays true whatever others write, remove or rename, as long as the tables are the same ones. What was seen within a
 * transaction that is rolled back is not true: then all is forgotten, and so it is with the connection.
 */
#include "base/hash.h"
#include "store/postgres/internal.h"

#include <stdlib.h>
#include <string.h>

/** Names, and epochs, that are remembered; at one more all are forgotten first. Some 10 MB each at most. */
#define MOST_DEFINED 65536
/** Where the second hash of an identifier begins. */
#define SECOND_HASH 0x9e3779b97f4a7c15u

typedef struct seen_name {
  char *identifier;
  int id;
  bool device;
} seen_name;

typedef struct seen_epoch {
  int number;
  int64_t anchor, offset_low, offset_high;
} seen_epoch;

/* --- tt_postgres_ids --- */

tt_postgres_ids tt_postgres_ids_new(void) {
  return (tt_postgres_ids){.devices = TT_LIST(int, NULL), .attributes = TT_LIST(int, NULL)};
}

void tt_postgres_ids_clear(tt_postgres_ids *known) {
  tt_list_free(&known->devices);
  tt_list_free(&known->attributes);
  tt_map_clear(&known->anchors);
  tt_map_clear(&known->epochs);
}

bool tt_postgres_set_epoch(tt_postgres_ids *known, int device, int epoch, int number,
                           int64_t anchor) {
  return tt_map_put(&known->anchors, (tt_map_key){device, epoch}, anchor) &&
         tt_map_put(&known->epochs, (tt_map_key){device, epoch}, number);
}

void tt_postgres_ids_keep(tt_postgres_ids *known, const tt_catalogue *catalogue) {
  tt_postgres_ids kept = {0};
  bool ok = true;
  tt_store_batch *all = tt_catalogue_all(catalogue);
  for (uint32_t i = 0; all && i < all->epochs.len && ok; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&all->epochs, tt_store_epoch, i);
    const tt_map_key key = {epoch->device, epoch->number};
    const int64_t *anchor = tt_map_get(&known->anchors, key);
    const int64_t *number = tt_map_get(&known->epochs, key);
    if (anchor && number)
      ok = tt_postgres_set_epoch(&kept, epoch->device, epoch->number, (int)*number, *anchor);
  }
  if (all && ok) {
    tt_map_clear(&known->anchors);
    tt_map_clear(&known->epochs);
    known->anchors = kept.anchors;
    known->epochs = kept.epochs;
  } else {  // out of memory: another time
    tt_map_clear(&kept.anchors);
    tt_map_clear(&kept.epochs);
  }
  tt_store_batch_free(all);
}

/* --- what was seen --- */

static void clear_name(void *item) { free(((seen_name *)item)->identifier); }

tt_postgres_defined tt_postgres_defined_none(void) {
  return (tt_postgres_defined){.names = TT_LIST(seen_name, clear_name),
                               .epochs = TT_LIST(seen_epoch, NULL)};
}

static void forget_names(tt_postgres_defined *seen) {
  tt_list_free(&seen->names);
  tt_map_clear(&seen->name_places);
}

static void forget_epochs(tt_postgres_defined *seen) {
  tt_list_free(&seen->epochs);
  tt_map_clear(&seen->epoch_places);
}

void tt_postgres_defined_clear(tt_postgres_defined *seen) {
  forget_names(seen);
  forget_epochs(seen);
}

/* --- names --- */

/** Where a name stands, or belongs: hashes may meet by chance, or be made to. */
static tt_map_key key_of(const tt_postgres_defined *seen, bool device, const char *identifier) {
  const size_t size = strlen(identifier);
  tt_map_key key = {(int64_t)tt_hash_bytes(TT_HASH_START + device, identifier, size),
                    (int64_t)tt_hash_bytes(SECOND_HASH, identifier, size)};
  const int64_t *place;
  while ((place = tt_map_get(&seen->name_places, key))) {
    const seen_name *name = &tt_list_at(&seen->names, seen_name, *place);
    if (name->device == device && !strcmp(name->identifier, identifier)) break;
    key.b++;
  }
  return key;
}

void tt_postgres_defined_name(tt_postgres_defined *seen, bool device, const char *identifier,
                              int id) {
  if (seen->names.len >= MOST_DEFINED) forget_names(seen);
  const tt_map_key key = key_of(seen, device, identifier);
  if (tt_map_get(&seen->name_places, key)) return;
  const seen_name name = {strdup(identifier), id, device};
  const uint32_t place = seen->names.len;
  // Out of memory it is not remembered.
  if (!name.identifier || !tt_list_add(&seen->names, &name, 1))
    free(name.identifier);
  else if (!tt_map_put(&seen->name_places, key, place))
    tt_list_cut(&seen->names, place);
}

/** Whether a name says no more than what is there, and then its id; 0: it may. */
static int find_name(const tt_postgres_defined *seen, bool device, const tt_store_name *name) {
  if (name->name || name->state != TT_NAME_KNOWN) return 0;
  const int64_t *place = tt_map_get(&seen->name_places, key_of(seen, device, name->identifier));
  return place ? tt_list_at(&seen->names, seen_name, *place).id : 0;
}

bool tt_postgres_learn_name(tt_postgres *store, bool device, const tt_store_name *name,
                            tt_postgres_ids *known) {
  const int id = find_name(&store->defined, device, name);
  if (!id) return false;
  pthread_mutex_lock(&store->mutex);
  bool learnt = tt_postgres_set_id(device ? &known->devices : &known->attributes, name->index, id);
  pthread_mutex_unlock(&store->mutex);
  return learnt;
}

/* --- epochs --- */

void tt_postgres_defined_epoch(tt_postgres_defined *seen, int device, int64_t key,
                               const tt_store_epoch *epoch) {
  if (seen->epochs.len >= MOST_DEFINED) forget_epochs(seen);
  const seen_epoch added = {epoch->number, epoch->anchor, epoch->offset_low, epoch->offset_high};
  const tt_map_key at = {device, key};
  const int64_t *place = tt_map_get(&seen->epoch_places, at);
  const uint32_t next = seen->epochs.len;
  if (place)
    tt_list_at(&seen->epochs, seen_epoch, *place) = added;
  else if (tt_list_add(&seen->epochs, &added, 1) && !tt_map_put(&seen->epoch_places, at, next))
    tt_list_cut(&seen->epochs, next);
}

static seen_epoch *find_epoch(const tt_postgres *store, const tt_store_epoch *epoch,
                              const tt_postgres_ids *known) {
  const tt_map_key at = {tt_postgres_get_id(&known->devices, epoch->device), epoch->key};
  const int64_t *place = tt_map_get(&store->defined.epoch_places, at);
  return place ? &tt_list_at(&store->defined.epochs, seen_epoch, *place) : NULL;
}

static bool covers(const seen_epoch *there, const tt_store_epoch *epoch) {
  return epoch->offset_low >= there->offset_low && epoch->offset_high <= there->offset_high;
}

bool tt_postgres_outgrows(const tt_postgres *store, const tt_store_epoch *epoch,
                          const tt_postgres_ids *known) {
  const seen_epoch *there = find_epoch(store, epoch, known);
  return there && !covers(there, epoch);
}

bool tt_postgres_learn_epoch(const tt_postgres *store, const tt_store_epoch *epoch,
                             tt_postgres_ids *known) {
  const seen_epoch *there = find_epoch(store, epoch, known);
  return there && covers(there, epoch) &&
         tt_postgres_set_epoch(known, epoch->device, epoch->number, there->number, there->anchor);
}

/* --- a batch --- */

bool tt_postgres_learn(tt_postgres *store, const tt_store_batch *batch, tt_postgres_ids *known) {
  bool all = !batch->handlings.len && !batch->pairs.len;
  for (uint32_t i = 0; i < batch->devices.len && all; i++)
    all =
        tt_postgres_learn_name(store, true, &tt_list_at(&batch->devices, tt_store_name, i), known);
  for (uint32_t i = 0; i < batch->attributes.len && all; i++)
    all = tt_postgres_learn_name(store, false, &tt_list_at(&batch->attributes, tt_store_name, i),
                                 known);
  for (uint32_t i = 0; i < batch->epochs.len && all; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&batch->epochs, tt_store_epoch, i);
    const seen_epoch *there = find_epoch(store, epoch, known);
    all = there &&
          tt_postgres_set_epoch(known, epoch->device, epoch->number, there->number, there->anchor);
  }
  return all;
}
