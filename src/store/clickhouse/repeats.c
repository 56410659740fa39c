/* repeats.c: messages that may have been sent again, in another epoch. What is stored of their moments is gathered, and compared here,
 * since of a batch each message may repeat one before it.
 */
#include "store/clickhouse/internal.h"

#include <string.h>
#include <xxhash.h>

/** Moments that are asked for at once, each in one epoch: said in 1.3 MB at most. Fewer where the answer would be too long. */
#define MOMENTS 16384

tt_map_key tt_clickhouse_content(uint64_t device, int64_t key, int64_t device_time,
                                 uint64_t attribute, int64_t seq, const char *text, double number) {
  const double value = text || number == 0 ? 0 : number;  // −0 is 0
  uint64_t fields[7] = {device,    (uint64_t)key, (uint64_t)device_time,
                        attribute, (uint64_t)seq, text != NULL};
  memcpy(&fields[6], &value, sizeof value);
  XXH64_hash_t content = XXH64(fields, sizeof fields, 0);
  if (text) content = XXH64(text, strlen(text), content);
  return (tt_map_key){(int64_t)content, device_time};
}

/** False: out of memory. */
static bool take_values(tt_clickhouse_rows *rows, tt_list *texts, tt_map *found) {
  bool noted = true;
  while (noted && tt_clickhouse_has_row(rows)) {
    const uint64_t device = tt_clickhouse_get_unsigned(rows);
    const int64_t key = tt_clickhouse_get_long(rows), device_time = tt_clickhouse_get_long(rows);
    const uint64_t attribute = tt_clickhouse_get_unsigned(rows);
    const int64_t seq = tt_clickhouse_get_long(rows);
    const bool is_text = tt_clickhouse_get_byte(rows);
    const double number = tt_clickhouse_get_double(rows);
    tt_list_cut(texts, 0);
    tt_clickhouse_get_text(rows, texts);
    noted =
        !texts->failed && tt_map_put(found,
                                     tt_clickhouse_content(device, key, device_time, attribute, seq,
                                                           is_text ? texts->data : NULL, number),
                                     1);
  }
  return noted;
}

typedef enum column { DEVICE, EPOCH, TIME } column;

static int64_t value_of(const tt_clickhouse_moment *moment, column of) {
  return of == DEVICE ? (int64_t)moment->device : of == EPOCH ? moment->key : moment->device_time;
}

/** A condition on a column: each value once. False: out of memory. */
static bool print_in(column of, const tt_clickhouse_moment *moments, uint32_t count, tt_list *sql) {
  static const char *const names[] = {"device", "epoch", "device_time"};
  tt_map seen = {0};
  bool noted = true;
  tt_list_print(sql, "%s IN (", names[of]);
  for (uint32_t i = 0; i < count && noted; i++) {
    const int64_t value = value_of(&moments[i], of);
    if (tt_map_get(&seen, (tt_map_key){value, 0})) continue;
    tt_list_print(sql, of == DEVICE ? "%s%" PRIu64 : "%s%" PRId64, seen.count ? ", " : "", value);
    noted = tt_map_put(&seen, (tt_map_key){value, 0}, 1);
  }
  tt_list_print(sql, ") AND ");
  tt_map_clear(&seen);
  return noted;
}

/* Column by column too: so the server leaves out most by the table's order. A moment is asked for in dozens of epochs, which are said once. */
static bool print_question(const tt_clickhouse_source *source, const tt_clickhouse_moment *moments,
                           uint32_t count, bool limited, tt_list *sql) {
  bool noted = true;
  tt_list_print(sql,
                "SELECT device, epoch, device_time, attribute, seq, is_text, number, text FROM ");
  tt_clickhouse_print_values(source, sql);
  tt_list_print(sql, " WHERE ");
  for (column of = DEVICE; of <= TIME && noted; of++) noted = print_in(of, moments, count, sql);
  tt_list_print(sql, "(device, device_time) IN (");
  for (uint32_t i = 0; i < count; i++) {
    const tt_clickhouse_moment *one = &moments[i];
    if (i && one->device == one[-1].device && one->device_time == one[-1].device_time) continue;
    tt_list_print(sql, "%s(%" PRIu64 ", %" PRId64 ")", i ? ", " : "", one->device,
                  one->device_time);
  }
  tt_list_print(sql, ")");
  if (limited)
    tt_list_print(sql, " ORDER BY rank DESC LIMIT %d BY device, epoch, device_time, attribute",
                  TT_STORE_RECORDS);
  return noted;
}

/** `limited`: of each moment the first values of an attribute, which takes the server longer. */
static tt_status gather_some(const tt_clickhouse_source *source,
                             const tt_clickhouse_moment *moments, uint32_t count, bool limited,
                             tt_map *found, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL), texts = TT_LIST(char, NULL);
  tt_status status = print_question(source, moments, count, limited, &sql)
                         ? tt_clickhouse_ask_list(source, &sql, &answer, error)
                         : tt_clickhouse_no_memory(error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  if (status == TT_OK && !take_values(&rows, &texts, found))
    status = tt_clickhouse_no_memory(error);
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  tt_list_free(&texts);
  return status;
}

void tt_clickhouse_add_moments(const tt_list *boots, uint64_t device, const uint32_t *candidates,
                               int count, int64_t device_time, tt_list *moments) {
  for (int i = 0; i < count; i++) {
    const tt_clickhouse_moment moment = {
        device, tt_list_at(boots, tt_clickhouse_boot, candidates[i]).epoch.key, device_time};
    tt_list_add(moments, &moment, 1);
  }
}

tt_status tt_clickhouse_gather(const tt_clickhouse_source *source, const tt_list *moments,
                               tt_map *found, tt_error *error) {
  if (moments->failed) return tt_clickhouse_no_memory(error);
  bool limited = false;
  for (uint32_t first = 0, most = MOMENTS; first < moments->len;) {
    const uint32_t left = moments->len - first, count = left < most ? left : most;
    tt_status status = gather_some(source, &tt_list_at(moments, tt_clickhouse_moment, first), count,
                                   limited, found, error);
    if (status == TT_FULL && (!limited || count > 1)) {
      if (limited) most = count / 2;
      limited = true;  // a clock that stood still has given a moment any number of values
      continue;
    }
    // What no answer has room for, of one moment, is not known: rather stored twice than never.
    if (status != TT_FULL) TT_TRY(status);
    first += count;
  }
  return TT_OK;
}

/* --- a batch --- */

typedef struct looking {
  tt_clickhouse_source source;
  const tt_store_batch *batch;
  const tt_clickhouse_ids *known;
  const tt_list *unsure; /**< char, by sample */
  tt_list boots;         /**< tt_clickhouse_boot: of devices with unsure messages */
  tt_map doubtful;       /**< device → 1: it has other epochs */
  tt_map found;          /**< what is stored, and what the batch adds */
} looking;

static bool is_unsure(const looking *job, uint32_t sample) {
  return tt_list_at(job->unsure, char, sample);
}

/** Epochs of devices of which some message is unsure. */
static tt_status read_epochs(looking *job, tt_error *error) {
  tt_map seen = {0};
  tt_list devices = TT_LIST(char, NULL);
  bool noted = true;
  for (uint32_t i = 0; i < job->batch->samples.len && noted; i++) {
    const tt_store_sample *sample = &tt_list_at(&job->batch->samples, tt_store_sample, i);
    const tt_map_key key = {sample->device, 0};
    if (!is_unsure(job, i) || tt_map_get(&seen, key)) continue;
    noted = tt_map_put(&seen, key, 1) &&
            tt_list_print(&devices, "%s%" PRIu64, devices.len ? ", " : "",
                          tt_clickhouse_get_id(&job->known->devices, sample->device));
  }
  tt_map_clear(&seen);
  tt_status status = noted && !devices.failed ? TT_OK : tt_clickhouse_no_memory(error);
  if (status == TT_OK && devices.len)
    status = tt_clickhouse_read_boots(&job->source, devices.data, &job->boots, error);
  tt_list_free(&devices);
  return status;
}

/** Other epochs in which a sample's message may stand. */
static int candidates_of(const looking *job, const tt_store_sample *sample,
                         uint32_t candidates[TT_STORE_EPOCHS]) {
  const uint64_t device = tt_clickhouse_get_id(&job->known->devices, sample->device);
  const int64_t *key = tt_map_get(&job->known->epochs, (tt_map_key){sample->device, sample->epoch});
  const char *boot = "";
  for (uint32_t i = tt_clickhouse_boots_end(&job->boots, device); i--;) {
    const tt_clickhouse_boot *one = &tt_list_at(&job->boots, tt_clickhouse_boot, i);
    if (one->device == device && one->epoch.key == *key) boot = one->epoch.boot;
    if (one->device != device || *boot) break;
  }
  return tt_clickhouse_candidates(&job->boots, device, boot, key, candidates);
}

/** Gathers what is stored of the moments of unsure samples: all at once, since a log may bring each of a thousand devices again. */
static tt_status gather_all(looking *job, tt_error *error) {
  tt_list moments = TT_LIST(tt_clickhouse_moment, NULL);
  uint32_t candidates[TT_STORE_EPOCHS];
  bool noted = true;
  for (uint32_t i = 0; i < job->batch->samples.len && noted; i++) {
    const tt_store_sample *sample = &tt_list_at(&job->batch->samples, tt_store_sample, i);
    const int count = is_unsure(job, i) ? candidates_of(job, sample, candidates) : 0;
    if (!count) continue;
    noted = tt_map_put(&job->doubtful, (tt_map_key){sample->device, 0}, 1);
    tt_clickhouse_add_moments(&job->boots,
                              tt_clickhouse_get_id(&job->known->devices, sample->device),
                              candidates, count, sample->device_time, &moments);
  }
  tt_status status = noted ? tt_clickhouse_gather(&job->source, &moments, &job->found, error)
                           : tt_clickhouse_no_memory(error);
  tt_list_free(&moments);
  return status;
}

static tt_map_key content_of(const looking *job, const tt_store_sample *sample,
                             const tt_store_value *value, int64_t key) {
  const bool is_text = value->text != TT_STORE_NUMBER;
  const char *texts = job->batch->text.data;
  return tt_clickhouse_content(tt_clickhouse_get_id(&job->known->devices, sample->device), key,
                               sample->device_time,
                               tt_clickhouse_get_id(&job->known->attributes, value->attribute),
                               sample->seq, is_text ? texts + value->text : NULL, value->number);
}

/** Whether all firm values of a message stand in an epoch. */
static bool stands_in(const looking *job, uint32_t first, uint32_t count, int64_t key) {
  tt_store_firm firm = {0};
  bool any = false;
  while (tt_store_next_firm(job->batch, first, count, &firm)) {
    if (!tt_map_get(&job->found, content_of(job, firm.sample, firm.value, key))) return false;
    any = true;
  }
  return any;
}

static bool is_repeat(const looking *job, uint32_t first, uint32_t count) {
  const tt_store_sample *sample = &tt_list_at(&job->batch->samples, tt_store_sample, first);
  uint32_t candidates[TT_STORE_EPOCHS];
  if (!is_unsure(job, first)) return false;
  const int candidate_count = candidates_of(job, sample, candidates);
  for (int i = 0; i < candidate_count; i++)
    if (stands_in(job, first, count,
                  tt_list_at(&job->boots, tt_clickhouse_boot, candidates[i]).epoch.key))
      return true;
  return false;
}

/** What a message adds may be repeated by one behind it. False: out of memory. */
static bool add_message(looking *job, uint32_t first, uint32_t count) {
  bool noted = true;
  for (uint32_t i = first; i < first + count; i++) {
    const tt_store_sample *sample = &tt_list_at(&job->batch->samples, tt_store_sample, i);
    const int64_t *key =
        tt_map_get(&job->known->epochs, (tt_map_key){sample->device, sample->epoch});
    for (uint32_t v = sample->first; v < sample->first + sample->count && noted; v++) {
      const tt_store_value *value = &tt_list_at(&job->batch->values, tt_store_value, v);
      noted = tt_map_put(&job->found, content_of(job, sample, value, *key), 1);
    }
  }
  return noted;
}

/** False: out of memory. */
static bool mark_repeats(looking *job, tt_list *dropped) {
  const tt_list *samples = &job->batch->samples;
  bool noted = tt_list_fill(dropped, samples->len);
  for (uint32_t i = 0, count; i < samples->len && noted; i += count) {
    count = tt_store_message_size(job->batch, i);
    const int device = tt_list_at(samples, tt_store_sample, i).device;
    if (!tt_map_get(&job->doubtful, (tt_map_key){device, 0})) continue;
    if (is_repeat(job, i, count))
      memset(&tt_list_at(dropped, char, i), 1, count);
    else
      noted = add_message(job, i, count);
  }
  return noted;
}

tt_status tt_clickhouse_drop_repeats(tt_clickhouse *store, const tt_store_batch *batch,
                                     const tt_clickhouse_ids *known, const tt_list *unsure,
                                     tt_list *dropped, tt_error *error) {
  looking job = {.source = tt_clickhouse_source_of(store),
                 .batch = batch,
                 .known = known,
                 .unsure = unsure,
                 .boots = TT_LIST(tt_clickhouse_boot, NULL)};
  tt_status status = read_epochs(&job, error);
  if (status == TT_OK && job.boots.len) status = gather_all(&job, error);
  if (status == TT_OK && job.doubtful.count && !mark_repeats(&job, dropped))
    status = tt_clickhouse_no_memory(error);
  tt_list_free(&job.boots);
  tt_map_clear(&job.doubtful);
  tt_map_clear(&job.found);
  return status;
}
