/* write.c: a batch into the shards: what it defines into all of them, the values of each device into one, as one block, of which
 * the server stores all or nothing; before that, marks of hours whose buckets change (hours.c).
 */
#include "store/clickhouse/internal.h"

#include <stdio.h>
#include <stdlib.h>

/** Bits of `rank` for samples of one moment in one batch. */
#define TURN_BITS 22

tt_clickhouse_block tt_clickhouse_value_block(void) {
  static const char *const columns[] = {
      "device", "UInt64", "epoch",       "Int64",   "device_time", "Int64",  "attribute",
      "UInt64", "seq",    "Int64",       "is_text", "UInt8",       "number", "Float64",
      "text",   "String", "time_offset", "Int64",   "rank",        "UInt64", NULL};
  return tt_clickhouse_block_of(columns);
}

typedef struct writing {
  tt_clickhouse *store;
  const tt_store_batch *batch;
  const tt_clickhouse_ids *known;
  tt_list unsure;                        /**< char, by sample */
  tt_list dropped;                       /**< char, by sample; empty: none is */
  tt_list columns;                       /**< column: of the sample in hand */
  const tt_store_sample *before;         /**< the last one that was put; NULL: none */
  const struct place *last;              /**< where that stands… */
  uint64_t turn;                         /**< …and how many of its moment stand before it */
  tt_map_key hour;                       /**< device's id and hour of it */
  tt_map hours;                          /**< the same → 1: those it writes to */
  tt_list written[TT_CLICKHOUSE_SHARDS]; /**< tt_clickhouse_mark: the same */
  tt_list fresh[TT_CLICKHOUSE_SHARDS];   /**< of them, those that need a mark first */
  int64_t began;                         /**< µs */
} writing;

/** Whether everything is known that its samples need. */
static tt_status look_through(const writing *job, tt_error *error) {
  const tt_list *values = &job->batch->values;
  for (uint32_t i = 0; i < job->batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&job->batch->samples, tt_store_sample, i);
    if (!tt_clickhouse_get_id(&job->known->devices, sample->device) ||
        !tt_map_get(&job->known->epochs, (tt_map_key){sample->device, sample->epoch}))
      return tt_fail(error, TT_INVALID, "epoch %d of device %d is not known to the database",
                     sample->epoch, sample->device);
    for (uint32_t v = sample->first; v < sample->first + sample->count; v++) {
      const int attribute = tt_list_at(values, tt_store_value, v).attribute;
      if (!tt_clickhouse_get_id(&job->known->attributes, attribute))
        return tt_fail(error, TT_INVALID, "attribute %d is not known to the database", attribute);
    }
  }
  return TT_OK;
}

/** Notes the hour of a sample, and whether it needs a mark: where there is none on which this program may rely yet. False: out of memory. */
static bool note_hour(writing *job, int shard, uint64_t device, int64_t time) {
  const int64_t hour = tt_bucket_start(TT_BUCKET_HOUR, time);
  const tt_map_key key = {(int64_t)device, hour};
  const tt_clickhouse_mark mark = {.device = device, .hour = hour};
  if (job->last && key.a == job->hour.a && key.b == job->hour.b) return true;
  job->hour = key;
  if (tt_map_get(&job->hours, key)) return true;
  if (!tt_map_put(&job->hours, key, shard) || !tt_list_add(&job->written[shard], &mark, 1))
    return false;
  tt_clickhouse_mark *there = tt_clickhouse_find_mark(job->store->marks, device, hour);
  if (there && job->began - there->marked < tt_clickhouse_paces.relied) {
    there->written = job->began;
    return true;
  }
  return tt_list_add(&job->fresh[shard], &mark, 1);
}

/** Where a row belongs in the table's order. The server need not sort a block that has it already. */
typedef struct place {
  uint64_t device;
  int64_t epoch, device_time;
  uint32_t sample; /**< of the batch: samples of one moment stay in their order */
} place;

/** The rank of a sample behind the one that was put last. */
static uint64_t rank_of(writing *job, const place *at) {
  const place *last = job->last;
  const bool same = last && last->device == at->device && last->epoch == at->epoch &&
                    last->device_time == at->device_time;
  job->turn = !same ? 0 : job->turn + (job->turn < (1 << TURN_BITS) - 1);
  return ~((uint64_t)job->store->stored << TURN_BITS | job->turn);
}

#define ORDER(a, b) ((a) > (b)) - ((a) < (b))

static int by_place(const void *a, const void *b) {
  const place *left = a, *right = b;
  if (left->device != right->device) return ORDER(left->device, right->device);
  if (left->epoch != right->epoch) return ORDER(left->epoch, right->epoch);
  if (left->device_time != right->device_time) return ORDER(left->device_time, right->device_time);
  return ORDER(left->sample, right->sample);
}

/** A value of a sample, and its attribute's id. */
typedef struct column {
  uint64_t attribute;
  uint32_t value; /**< of the sample's */
} column;

static int by_attribute(const void *a, const void *b) {
  const column *left = a, *right = b;
  return ORDER(left->attribute, right->attribute);
}

static const tt_store_value *value_at(const writing *job, const tt_store_sample *sample,
                                      uint32_t i) {
  return &tt_list_at(&job->batch->values, tt_store_value, sample->first + i);
}

/** Whether a sample has the attributes of the one before it, which are in order: as nearly every one does. */
static bool is_alike(const writing *job, const tt_store_sample *sample) {
  const tt_store_sample *before = job->before;
  if (!before || before->count != sample->count) return false;
  for (uint32_t i = 0; i < sample->count; i++)
    if (value_at(job, before, i)->attribute != value_at(job, sample, i)->attribute) return false;
  return true;
}

/** The values of a sample as the table orders them. False: out of memory. */
static bool sort_values(writing *job, const tt_store_sample *sample) {
  const bool is_sorted = is_alike(job, sample);
  job->before = sample;
  if (is_sorted) return true;
  tt_list_cut(&job->columns, 0);
  column *columns = tt_list_add_room(&job->columns, sample->count);
  if (!columns) return !sample->count;
  for (uint32_t i = 0; i < sample->count; i++)
    columns[i] = (column){
        tt_clickhouse_get_id(&job->known->attributes, value_at(job, sample, i)->attribute), i};
  qsort(columns, sample->count, sizeof *columns, by_attribute);
  return true;
}

/** What the values of a sample have for themselves. */
static void put_values(const writing *job, const tt_store_sample *sample,
                       tt_clickhouse_block *block) {
  const char *texts = job->batch->text.data;
  for (uint32_t i = 0; i < sample->count; i++) {
    const column *one = &tt_list_at(&job->columns, column, i);
    const tt_store_value *value = value_at(job, sample, one->value);
    const bool is_text = value->text != TT_STORE_NUMBER;
    tt_clickhouse_put_unsigned(block, 3, one->attribute);
    tt_clickhouse_put_byte(block, 5, is_text);
    tt_clickhouse_put_double(block, 6, is_text ? 0 : value->number + 0.0);  // −0 is 0
    tt_clickhouse_put_text(block, 7, is_text ? texts + value->text : "");
  }
}

static bool put_sample(writing *job, const tt_store_sample *sample, const place *at) {
  const uint64_t device = at->device;
  const int shard = tt_clickhouse_shard_of(device, job->store->address.shard_count);
  tt_clickhouse_block *block = &job->store->blocks[shard];
  const int64_t offset = (int64_t)((uint64_t)sample->time - (uint64_t)sample->device_time);
  const uint64_t rank = rank_of(job, at);
  if (!note_hour(job, shard, device, sample->time) || !sort_values(job, sample)) return false;
  tt_clickhouse_put_unsigned_times(block, 0, device, sample->count);
  tt_clickhouse_put_long_times(block, 1, at->epoch, sample->count);
  tt_clickhouse_put_long_times(block, 2, sample->device_time, sample->count);
  tt_clickhouse_put_long_times(block, 4, sample->seq, sample->count);
  tt_clickhouse_put_long_times(block, 8, offset, sample->count);
  tt_clickhouse_put_unsigned_times(block, 9, rank, sample->count);
  put_values(job, sample, block);
  block->rows += sample->count;
  job->last = at;
  return true;
}

static tt_status insert_blocks(writing *job, tt_error *error) {
  tt_clickhouse *store = job->store;
  for (int i = 0; i < store->address.shard_count; i++) {
    if (!store->blocks[i].rows) continue;
    TT_TRY(tt_clickhouse_mark_hours(store, i, &job->fresh[i], error));
    TT_TRY(tt_clickhouse_insert(store, i, TT_CLICKHOUSE_VALUES, &store->blocks[i], error));
  }
  return TT_OK;
}

/** Marks all hours once more, where it took so long that others may have made their buckets meanwhile. */
static tt_status mark_late(writing *job, tt_error *error) {
  if (tt_monotonic_us() - job->began < tt_clickhouse_paces.relied / 2) return TT_OK;
  for (int i = 0; i < job->store->address.shard_count; i++)
    TT_TRY(tt_clickhouse_mark_hours(job->store, i, &job->written[i], error));
  return TT_OK;
}

/** Places of all samples that are kept, in order. */
static void sort_samples(const writing *job, tt_list *places) {
  for (uint32_t i = 0; i < job->batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&job->batch->samples, tt_store_sample, i);
    const tt_map_key epoch = {sample->device, sample->epoch};
    if (job->dropped.len && tt_list_at(&job->dropped, char, i)) continue;
    const place at = {.device = tt_clickhouse_get_id(&job->known->devices, sample->device),
                      .epoch = *tt_map_get(&job->known->epochs, epoch),
                      .device_time = sample->device_time,
                      .sample = i};
    tt_list_add(places, &at, 1);
  }
  if (places->len) qsort(places->data, places->len, sizeof(place), by_place);
}

static tt_status put_samples(writing *job, tt_error *error) {
  const int64_t now = tt_wall_us() / 1000;
  job->store->stored = now > job->store->stored ? now : job->store->stored + 1;
  tt_list places = TT_LIST(place, NULL);
  sort_samples(job, &places);
  bool put = !places.failed;
  for (uint32_t i = 0; i < places.len && put; i++) {
    const place *at = &tt_list_at(&places, place, i);
    put = put_sample(job, &tt_list_at(&job->batch->samples, tt_store_sample, at->sample), at);
  }
  job->last = NULL;
  tt_list_free(&places);
  if (!put) return tt_clickhouse_no_memory(error);
  TT_TRY(insert_blocks(job, error));
  return mark_late(job, error);
}

static bool defines(const tt_store_batch *batch) {
  return batch->devices.len || batch->attributes.len || batch->handlings.len || batch->epochs.len ||
         batch->pairs.len;
}

static tt_status write_all(writing *job, tt_error *error) {
  TT_TRY(look_through(job, error));
  if (defines(job->batch))
    TT_TRY(tt_clickhouse_put_definitions(job->store, job->batch, job->known, error));
  if (!job->batch->samples.len) return TT_OK;
  TT_TRY(tt_clickhouse_find_unsure(job->store, job->batch, job->known, &job->unsure, error));
  TT_TRY(tt_clickhouse_note_passed(job->store, job->batch, job->known, error));
  TT_TRY(tt_clickhouse_drop_repeats(job->store, job->batch, job->known, &job->unsure, &job->dropped,
                                    error));
  return put_samples(job, error);
}

tt_status tt_clickhouse_write_batch(tt_clickhouse *store, const tt_store_batch *batch,
                                    tt_clickhouse_ids *known, tt_error *error) {
  writing job = {.store = store,
                 .batch = batch,
                 .known = known,
                 .unsure = TT_LIST(char, NULL),
                 .dropped = TT_LIST(char, NULL),
                 .columns = TT_LIST(column, NULL),
                 .began = tt_monotonic_us()};
  if (!tt_clickhouse_learn(store, batch, known)) return tt_clickhouse_no_memory(error);
  for (int i = 0; i < store->address.shard_count; i++)
    job.written[i] = job.fresh[i] = TT_LIST(tt_clickhouse_mark, NULL);
  tt_status status = write_all(&job, error);
  for (int i = 0; i < store->address.shard_count; i++) {
    tt_clickhouse_block_clear(&store->blocks[i]);
    tt_list_free(&job.written[i]);
    tt_list_free(&job.fresh[i]);
  }
  if (status != TT_OK && status != TT_INVALID) g_hash_table_remove_all(store->marks);
  tt_map_clear(&job.hours);
  tt_list_free(&job.unsure);
  tt_list_free(&job.dropped);
  tt_list_free(&job.columns);
  return status;
}
