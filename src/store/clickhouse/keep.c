/* keep.c: makes the buckets of hours that have changed: a day of a device at a time, in steps, between what is written. What was made of a
 * day is inserted as one block, so it is there whole or not at all; of two programs that make the same hour the later one counts, and
 * whether it is right is seen by its marks.
 *
 * An hour is made once it is quiet. Who makes it forgets its own mark at the beginning: what it writes there meanwhile gets a mark
 * that was not covered.
 */
#include "store/clickhouse/internal.h"

#include <glib.h>
#include <stdlib.h>

#define LEAST_STEP (60 * SECOND)
/** What a step has at least once some got through: a server that is slow or far away answers no sooner where less is asked for. */
#define USUAL_STEP (600 * SECOND)
/** µs until it is tried again after it failed. */
#define RETRY_LATER (10 * SECOND)
/** Hours of others that are watched at most. */
#define MOST_WATCHED 100000

struct tt_clickhouse_making {
  uint64_t device;
  tt_list hours;   /**< tt_clickhouse_hour: `marks` are those that are covered */
  tt_list boots;   /**< tt_clickhouse_boot */
  tt_list minutes; /**< tt_clickhouse_part */
  int64_t at, end; /**< µs: what is still to be folded */
  /** tt_clickhouse_mark: hours of others; `ids` all marks, `marked` when they were seen first */
  GHashTable *watched;
  int64_t step;         /**< µs of values */
  int64_t next_try;     /**< µs: it failed, and is not tried before then */
  int64_t looked;       /**< µs: when hours of others were looked at last */
  uint32_t next_device; /**< of whose hours */
};

tt_clickhouse_making *tt_clickhouse_new_making(void) {
  tt_clickhouse_making *making = calloc(1, sizeof *making);
  if (!making) return NULL;
  making->hours = TT_LIST(tt_clickhouse_hour, NULL);
  making->boots = TT_LIST(tt_clickhouse_boot, NULL);
  making->minutes = TT_LIST(tt_clickhouse_part, NULL);
  making->watched = tt_clickhouse_new_marks();
  making->step = LEAST_STEP;
  return making;
}

void tt_clickhouse_forget_making(tt_clickhouse_making *making) {
  tt_list_cut(&making->hours, 0);
  tt_list_cut(&making->boots, 0);
  tt_list_cut(&making->minutes, 0);
}

void tt_clickhouse_free_making(tt_clickhouse_making *making) {
  if (!making) return;
  tt_list_free(&making->hours);
  tt_list_free(&making->boots);
  tt_list_free(&making->minutes);
  g_hash_table_destroy(making->watched);
  free(making);
}

/* --- what is to be made --- */

static int64_t day_of(int64_t hour) { return tt_bucket_start(TT_BUCKET_DAY, hour); }

/** An hour of ours that is quiet; NULL: none is. */
static const tt_clickhouse_mark *find_quiet(tt_clickhouse *store, int64_t now) {
  GHashTableIter iter;
  gpointer mark;
  g_hash_table_iter_init(&iter, store->marks);
  while (g_hash_table_iter_next(&iter, &mark, NULL))
    if (now - ((const tt_clickhouse_mark *)mark)->written >= tt_clickhouse_paces.quiet) return mark;
  return NULL;
}

/** Whether the server is still removing values. */
static tt_status is_removing(tt_clickhouse *store, bool *removing, tt_error *error) {
  *removing = false;
  for (int i = 0; i < store->address.shard_count && !*removing; i++) {
    const tt_clickhouse_source source = {store->links[i], &store->address};
    int64_t waiting;
    TT_TRY(tt_clickhouse_count_mutations(&source, &waiting, error));
    *removing = waiting > 0;
  }
  return TT_OK;
}

/** Hours of others once nobody relies on their marks any more. */
static bool is_settled(tt_clickhouse *store, uint64_t device, const tt_clickhouse_hour *hour,
                       int64_t now) {
  GHashTable *watched = store->making->watched;
  tt_clickhouse_mark *seen = tt_clickhouse_find_mark(watched, device, hour->start);
  if (!seen) {
    if (g_hash_table_size(watched) >= MOST_WATCHED) return false;
    seen = tt_clickhouse_add_mark(watched, device, hour->start);
  }
  if (seen->ids != hour->marks) seen->marked = now;
  seen->ids = hour->marks;
  return now - seen->marked >= tt_clickhouse_paces.settled;
}

/** Whether all marks that are not covered are ours, or settled. Of ours it is known then that nobody relies on them. */
static bool may_be_made(tt_clickhouse *store, uint64_t device, const tt_clickhouse_hour *hour,
                        int64_t now) {
  if (hour->version && hour->covers == hour->marks) {
    g_hash_table_remove(store->making->watched,
                        &(tt_clickhouse_mark){.device = device, .hour = hour->start});
    return false;
  }
  const tt_clickhouse_mark *own = tt_clickhouse_find_mark(store->marks, device, hour->start);
  if (!own) return is_settled(store, device, hour, now);
  if (now - own->written < tt_clickhouse_paces.quiet) return false;
  const uint64_t others = hour->marks ^ own->ids;
  const bool alone = hour->version ? others == hour->covers : !others;
  g_hash_table_remove(store->marks, own);
  return alone;
}

/** Begins with hours of a device from one time to another, inclusive. */
static tt_status begin(tt_clickhouse *store, uint64_t device, int64_t from, int64_t to,
                       tt_error *error) {
  tt_clickhouse_making *making = store->making;
  const tt_clickhouse_source source = tt_clickhouse_source_of(store);
  tt_clickhouse_forget_making(making);
  making->device = device;
  TT_TRY(tt_clickhouse_read_hours(&source, device, from, to, &making->hours, error));
  const int64_t now = tt_monotonic_us();
  uint32_t kept = 0;
  for (uint32_t i = 0; i < making->hours.len; i++) {
    const tt_clickhouse_hour hour = tt_list_at(&making->hours, tt_clickhouse_hour, i);
    if (kept && day_of(hour.start) != day_of(making->at)) break;
    if (!may_be_made(store, device, &hour, now)) continue;
    if (!kept) making->at = hour.start;
    making->end = hour.start + HOUR - 1;
    tt_list_at(&making->hours, tt_clickhouse_hour, kept++) = hour;
  }
  tt_list_cut(&making->hours, kept);
  if (!kept) return TT_OK;
  char id[24];
  g_snprintf(id, sizeof id, "%" PRIu64, device);
  return tt_clickhouse_read_boots(&source, id, &making->boots, error);
}

/** Hours of all devices are looked at far more often than they settle, where there are less than a thousand. */
static bool may_watch(const tt_clickhouse_making *making, int64_t now) {
  return now - making->looked >= tt_clickhouse_paces.settled / 1200;
}

/** Looks at one device after another for hours of which others made marks. */
static tt_status watch(tt_clickhouse *store, int64_t now, tt_error *error) {
  tt_clickhouse_making *making = store->making;
  if (!may_watch(making, now) || !store->known.devices.len) return TT_OK;
  making->looked = now;
  const uint32_t place = making->next_device++ % store->known.devices.len;
  const uint64_t device = tt_clickhouse_get_id(&store->known.devices, (int)place);
  return device ? begin(store, device, INT64_MIN, INT64_MAX, error) : TT_OK;
}

static tt_status find_work(tt_clickhouse *store, tt_error *error) {
  const int64_t now = tt_monotonic_us();
  const tt_clickhouse_mark *quiet = find_quiet(store, now);
  if (tt_clickhouse_is_forgetting(store) || (!quiet && !may_watch(store->making, now)))
    return TT_OK;
  bool removing;
  TT_TRY(is_removing(store, &removing, error));
  if (removing) return TT_OK;
  if (!quiet) return watch(store, now, error);
  const int64_t day = day_of(quiet->hour);
  return begin(store, quiet->device, day, day + 24 * HOUR - 1, error);
}

/* --- making --- */

static void put_row(tt_clickhouse_block *block, int size, uint64_t device, uint64_t attribute,
                    const tt_bucket *bucket, uint64_t version) {
  tt_clickhouse_put_byte(block, 0, (uint8_t)size);
  tt_clickhouse_put_unsigned(block, 1, device);
  tt_clickhouse_put_long(block, 2, bucket->start);
  tt_clickhouse_put_unsigned(block, 3, attribute);
  tt_clickhouse_put_unsigned(block, 4, bucket->count);
  tt_clickhouse_put_double(block, 5, bucket->least);
  tt_clickhouse_put_double(block, 6, bucket->greatest);
  tt_clickhouse_put_double(block, 7, bucket->sum);
  tt_clickhouse_put_double(block, 8, bucket->last);
  tt_clickhouse_put_long(block, 9, bucket->last_time);
  tt_clickhouse_put_unsigned(block, 10, version);
  block->rows++;
}

/** Later than any before, and nobody else's. */
static uint64_t new_version(uint64_t before) {
  const uint64_t now = (uint64_t)(tt_wall_us() / 1000) << 20 | (g_random_int() & 0xfffff);
  return now > before ? now : before + 1 + (g_random_int() & 0xfffff);
}

/** Puts the buckets of a size into a block, those of hours that are to be made. */
static void put_buckets(const tt_clickhouse_making *making, tt_bucket_size size,
                        const tt_list *parts, tt_clickhouse_block *block) {
  for (uint32_t i = 0; i < parts->len; i++) {
    const tt_clickhouse_part *one = &tt_list_at(parts, tt_clickhouse_part, i);
    const tt_clickhouse_hour *hour =
        tt_clickhouse_find_hour(&making->hours, tt_bucket_start(TT_BUCKET_HOUR, one->bucket.start));
    if (hour)
      put_row(block, (int)size, making->device, one->attribute, &one->bucket, hour->version);
  }
}

static void put_all(tt_clickhouse_making *making, tt_clickhouse_block *block) {
  for (uint32_t i = 0; i < making->hours.len; i++) {
    tt_clickhouse_hour *hour = &tt_list_at(&making->hours, tt_clickhouse_hour, i);
    const tt_bucket of = {.start = hour->start, .count = hour->marks};
    hour->version = new_version(hour->version);
    put_row(block, 0, making->device, 0, &of, hour->version);
  }
  tt_clickhouse_merge_parts(&making->minutes);
  put_buckets(making, TT_BUCKET_MINUTE, &making->minutes, block);
  for (uint32_t i = 0; i < making->minutes.len; i++) {
    tt_bucket *bucket = &tt_list_at(&making->minutes, tt_clickhouse_part, i).bucket;
    bucket->start = tt_bucket_start(TT_BUCKET_HOUR, bucket->start);
  }
  tt_clickhouse_merge_parts(&making->minutes);
  put_buckets(making, TT_BUCKET_HOUR, &making->minutes, block);
}

static tt_status insert_all(tt_clickhouse *store, tt_error *error) {
  static const char *const columns[] = {
      "size",  "UInt8",   "device",    "UInt64",  "start",    "Int64",   "attribute", "UInt64",
      "count", "UInt64",  "least",     "Float64", "greatest", "Float64", "sum",       "Float64",
      "last",  "Float64", "last_time", "Int64",   "version",  "UInt64",  NULL};
  tt_clickhouse_making *making = store->making;
  const int shard = tt_clickhouse_shard_of(making->device, store->address.shard_count);
  tt_clickhouse_block block = tt_clickhouse_block_of(columns);
  put_all(making, &block);
  tt_status status = tt_clickhouse_insert(store, shard, "bucket", &block, error);
  tt_clickhouse_block_free(&block);
  tt_clickhouse_forget_making(making);
  return status;
}

/** Of an hour all minutes are of one step, or each is. */
static tt_status fold_step(tt_clickhouse *store, tt_error *error) {
  tt_clickhouse_making *making = store->making;
  const int64_t before = tt_monotonic_us();
  const tt_clickhouse_folding folding = {
      .source = tt_clickhouse_source_of(store),
      .device = making->device,
      .boots = &making->boots,
      .size = TT_BUCKET_MINUTE,
      .from = making->at,
      .to = making->step > making->end - making->at ? making->end : making->at + making->step - 1};
  TT_TRY(tt_clickhouse_fold(&folding, &making->minutes, error));
  making->at = folding.to + 1;
  const int64_t took = tt_monotonic_us() - before;
  if (took > tt_clickhouse_paces.step && making->step / 2 >= USUAL_STEP)
    making->step = tt_bucket_round_up(TT_BUCKET_MINUTE, making->step / 2);
  else if ((took < tt_clickhouse_paces.step / 3 || making->step < USUAL_STEP) &&
           making->step < 24 * HOUR)
    making->step *= 2;
  return TT_OK;
}

void tt_clickhouse_make_buckets(tt_clickhouse *store, bool *more) {
  tt_error unheard;
  tt_clickhouse_making *making = store->making;
  tt_status status = TT_OK;
  *more = false;
  if (tt_monotonic_us() < making->next_try) return;
  if (!making->hours.len)
    status = find_work(store, &unheard);
  else if (making->at <= making->end)
    status = fold_step(store, &unheard);
  else
    status = insert_all(store, &unheard);
  if (status != TT_OK) {
    tt_clickhouse_forget_making(making);
    making->step = LEAST_STEP;
    making->next_try = tt_monotonic_us() + RETRY_LATER;
  }
  *more = making->hours.len > 0;
}
