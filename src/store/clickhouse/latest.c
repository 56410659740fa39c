/* latest.c: the newest value of everything, of many devices at once: first what came in the last minute in which a device sent, then, where
 * attributes are missing, those in ever more before that. */
#include "store/clickhouse/internal.h"

#include <stdint.h>
#include <stdlib.h>

/** Devices that are asked for at once, fewer where an answer would be too long. */
#define MOST_DEVICES 256
/** Attributes of devices that are left out because they are found; where there are more, none is. */
#define MOST_LEFT_OUT 4096

/** µs before a device's newest value that are looked through, until every attribute is found. */
static const int64_t spans[] = {60 * SECOND, HOUR, 86400 * SECOND, 30 * 86400 * SECOND, INT64_MAX};

/** A device, and how much of it is found. */
typedef struct wanted {
  int device;
  uint64_t id;
  tt_list boots; /**< tt_clickhouse_boot: a part of `boots` of all */
  /** µs UTC: of its values; at first the begin of the last hour that has some, or had */
  int64_t newest;
  uint64_t expected; /**< attributes of which the store was told that there are values */
  uint64_t found;    /**< of them */
} wanted;

typedef struct finding {
  tt_clickhouse_reader *reader;
  tt_list boots;  /**< tt_clickhouse_boot: of all devices, in order of ids */
  tt_list wanted; /**< wanted: by device */
  tt_map places;  /**< id → index in `wanted` */
  tt_list since;  /**< tt_clickhouse_since: of those of which something is missing */
  tt_list sql, answer, texts;
  tt_list found; /**< tt_store_latest, of each epoch; texts are offsets + 1 until all are there */
} finding;

/* --- what is looked for --- */

static bool is_missing(const wanted *one) { return one->found < one->expected; }

/** Asks for the last so many µs of those devices of which something is missing. False: there are none. */
static bool choose_since(finding *job, int64_t span) {
  tt_list_cut(&job->since, 0);
  for (uint32_t i = 0; i < job->wanted.len; i++) {
    const wanted *one = &tt_list_at(&job->wanted, wanted, i);
    const tt_clickhouse_since since = {one->id, one->boots, tt_saturating_sub(one->newest, span)};
    if (is_missing(one)) tt_list_add(&job->since, &since, 1);
  }
  job->sql.failed |= job->since.failed;
  return job->since.len;
}

/** What is older than what is found need not be looked at. */
static void leave_out_found(finding *job) {
  const tt_list *devices = &job->reader->known.devices,
                *attributes = &job->reader->known.attributes;
  const char *join = " AND tuple(device, attribute) NOT IN (";
  uint64_t found = 0;
  for (uint32_t i = 0; i < job->wanted.len; i++) {
    const wanted *one = &tt_list_at(&job->wanted, wanted, i);
    if (is_missing(one)) found += one->found;
  }
  if (!found || found > MOST_LEFT_OUT) return;
  for (uint32_t i = 0; i < job->found.len; i++) {
    const tt_store_latest *one = &tt_list_at(&job->found, tt_store_latest, i);
    const uint64_t device = tt_clickhouse_get_id(devices, one->device);
    const int64_t place = *tt_map_get(&job->places, (tt_map_key){(int64_t)device, 0});
    if (!is_missing(&tt_list_at(&job->wanted, wanted, place))) continue;
    tt_list_print(&job->sql, "%s(%" PRIu64 ", %" PRIu64 ")", join, device,
                  tt_clickhouse_get_id(attributes, one->cell.attribute));
    join = ", ";
  }
  tt_list_print(&job->sql, ")");
}

static void print_question(finding *job, int64_t span) {
  tt_list_cut(&job->sql, 0);
  tt_list_print(&job->sql,
                "SELECT device, attribute, epoch, argMax(is_text, place), argMax(number, place),"
                " argMax(text, place), max(time), argMax(device_time, place) FROM"
                " (SELECT device, attribute, epoch, device_time, is_text, number, text,"
                " argMax(time_offset, rank) + device_time AS time,"
                " tuple(time, device_time, bitNot(max(rank))) AS place FROM ");
  tt_clickhouse_print_values(&job->reader->source, &job->sql);
  tt_clickhouse_print_since(&job->since, span == INT64_MAX, &job->sql);
  leave_out_found(job);
  tt_list_print(&job->sql,
                " GROUP BY device, attribute, epoch, device_time, seq, is_text, number, text)"
                " GROUP BY device, attribute, epoch");
}

/* --- what is found --- */

static void take_row(finding *job, tt_clickhouse_rows *rows) {
  const int64_t *place = tt_map_get(&job->places, (tt_map_key){tt_clickhouse_get_long(rows), 0});
  tt_store_latest one = {
      .cell.attribute = tt_clickhouse_attribute_of(job->reader, tt_clickhouse_get_unsigned(rows))};
  const int64_t key = tt_clickhouse_get_long(rows);
  const bool is_text = tt_clickhouse_get_byte(rows);
  one.cell.number = tt_clickhouse_get_double(rows);
  const uint32_t text = tt_clickhouse_get_text(rows, &job->texts);
  if (is_text) one.cell.text = (const char *)((uintptr_t)text + 1);
  one.time = tt_clickhouse_get_long(rows);
  one.device_time = tt_clickhouse_get_long(rows);
  if (!place || rows->failed) return;
  const wanted *of = &tt_list_at(&job->wanted, wanted, *place);
  one.device = of->device;
  one.epoch = tt_clickhouse_number_of(&of->boots, key);
  if (one.cell.attribute >= 0 && one.epoch >= 0) tt_list_add(&job->found, &one, 1);
}

static tt_status take_found(finding *job, tt_error *error) {
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&job->answer);
  while (tt_clickhouse_has_row(&rows)) take_row(job, &rows);
  if (job->found.failed || job->texts.failed) return tt_clickhouse_no_memory(error);
  return tt_clickhouse_check(&rows, error);
}

/** By device and attribute, the newest first; of one time the one of the latest epoch. */
static int by_age(const void *a, const void *b) {
  const tt_store_latest *left = a, *right = b;
  if (left->device != right->device) return left->device < right->device ? -1 : 1;
  if (left->cell.attribute != right->cell.attribute)
    return left->cell.attribute < right->cell.attribute ? -1 : 1;
  if (left->time != right->time) return left->time > right->time ? -1 : 1;
  return (left->epoch < right->epoch) - (left->epoch > right->epoch);
}

/** Keeps the newest of each attribute, and counts them. */
static void sort_out(finding *job) {
  tt_store_latest *found = job->found.data;
  uint32_t kept = 0;
  if (!job->found.len) return;
  qsort(found, job->found.len, sizeof *found, by_age);
  for (uint32_t i = 1; i < job->found.len; i++)
    if (found[i].device != found[kept].device ||
        found[i].cell.attribute != found[kept].cell.attribute)
      found[++kept] = found[i];
  tt_list_cut(&job->found, kept + 1);
  for (uint32_t i = 0; i < job->wanted.len; i++) tt_list_at(&job->wanted, wanted, i).found = 0;
  for (uint32_t i = 0, w = 0; i < job->found.len; i++) {
    while (tt_list_at(&job->wanted, wanted, w).device != found[i].device) w++;
    tt_list_at(&job->wanted, wanted, w).found++;
  }
}

/* --- devices --- */

/** Last hour and expected attributes of devices that have values. */
static tt_status measure(finding *job, tt_error *error) {
  tt_list_cut(&job->sql, 0);
  tt_list_print(&job->sql,
                "SELECT device, max(last), uniqExactIf(attribute, is_pair) FROM"
                " (SELECT device, max(hour) AS last, toUInt64(0) AS attribute,"
                " toUInt8(0) AS is_pair FROM ");
  tt_clickhouse_print_table(&job->reader->source, "marked_hour", &job->sql);
  for (int pairs = 0; pairs < 2; pairs++) {
    tt_list_print(&job->sql, " WHERE device IN (");
    for (uint32_t i = 0; i < job->wanted.len; i++)
      tt_list_print(&job->sql, "%s%" PRIu64, i ? ", " : "", tt_list_at(&job->wanted, wanted, i).id);
    tt_list_print(&job->sql, pairs ? ")) GROUP BY device"
                                   : ") GROUP BY device UNION ALL SELECT device,"
                                     " toInt64(-9223372036854775807) AS last, attribute,"
                                     " toUInt8(1) AS is_pair FROM pair");
  }
  TT_TRY(tt_clickhouse_ask_list(&job->reader->source, &job->sql, &job->answer, error));
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&job->answer);
  while (tt_clickhouse_has_row(&rows)) {
    const int64_t *place = tt_map_get(&job->places, (tt_map_key){tt_clickhouse_get_long(&rows), 0});
    const int64_t hour = tt_clickhouse_get_long(&rows);
    const uint64_t expected = tt_clickhouse_get_unsigned(&rows);
    if (!place || rows.failed) continue;
    tt_list_at(&job->wanted, wanted, *place).newest = hour;
    tt_list_at(&job->wanted, wanted, *place).expected = expected;
  }
  return tt_clickhouse_check(&rows, error);
}

/** When the newest values of devices are from. */
static tt_status find_newest(finding *job, tt_error *error) {
  if (!choose_since(job, 0)) return TT_OK;
  tt_list_cut(&job->sql, 0);
  tt_list_print(&job->sql, "SELECT device, max(device_time + time_offset) FROM ");
  tt_clickhouse_print_values(&job->reader->source, &job->sql);
  tt_clickhouse_print_since(&job->since, false, &job->sql);
  tt_list_print(&job->sql, " GROUP BY device");
  TT_TRY(tt_clickhouse_ask_list(&job->reader->source, &job->sql, &job->answer, error));
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&job->answer);
  while (tt_clickhouse_has_row(&rows)) {
    const int64_t *place = tt_map_get(&job->places, (tt_map_key){tt_clickhouse_get_long(&rows), 0});
    const int64_t newest = tt_clickhouse_get_long(&rows);
    if (place && !rows.failed) tt_list_at(&job->wanted, wanted, *place).newest = newest;
  }
  return tt_clickhouse_check(&rows, error);
}

/** The epochs of a device: a part of all. */
static tt_list boots_of(const finding *job, uint64_t id) {
  tt_clickhouse_boot *boots = job->boots.data;
  uint32_t first = 0, end = job->boots.len;
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (boots[middle].device < id)
      first = middle + 1;
    else
      end = middle;
  }
  tt_list part = TT_LIST(tt_clickhouse_boot, NULL);
  if (first < job->boots.len) part.data = &boots[first];
  while (first + part.len < job->boots.len && boots[first + part.len].device == id) part.len++;
  return part;
}

/** Those from one index to before another. */
static tt_status choose(finding *job, int first, int end, tt_error *error) {
  tt_list_cut(&job->wanted, 0);
  tt_list_cut(&job->found, 0);
  tt_list_cut(&job->texts, 0);
  tt_map_clear(&job->places);
  for (int i = first; i < end; i++) {
    wanted one = {.device = i, .id = tt_clickhouse_get_id(&job->reader->known.devices, i)};
    if (!one.id) continue;
    one.boots = boots_of(job, one.id);
    if (!tt_map_put(&job->places, (tt_map_key){(int64_t)one.id, 0}, job->wanted.len) ||
        !tt_list_add(&job->wanted, &one, 1))
      return tt_clickhouse_no_memory(error);
  }
  if (!job->wanted.len) return TT_OK;
  TT_TRY(measure(job, error));
  return find_newest(job, error);
}

static tt_status find_all(finding *job, tt_error *error) {
  for (size_t i = 0; i < sizeof spans / sizeof *spans && choose_since(job, spans[i]); i++) {
    print_question(job, spans[i]);
    TT_TRY(tt_clickhouse_ask_list(&job->reader->source, &job->sql, &job->answer, error));
    TT_TRY(take_found(job, error));
    sort_out(job);
  }
  return TT_OK;
}

/** False: the caller has enough. */
static bool give(finding *job, bool (*take)(void *context, const tt_store_latest *latest),
                 void *context) {
  for (uint32_t i = 0; i < job->found.len; i++) {
    tt_store_latest *latest = &tt_list_at(&job->found, tt_store_latest, i);
    const char *texts = job->texts.data;
    if (latest->cell.text) latest->cell.text = texts + ((uintptr_t)latest->cell.text - 1);
    if (!take(context, latest)) return false;
  }
  return true;
}

static tt_status read_devices(finding *job, int first, int end,
                              bool (*take)(void *context, const tt_store_latest *latest),
                              void *context, tt_error *error) {
  for (int step = MOST_DEVICES, next; first < end; first = next) {
    next = end - first > step ? first + step : end;
    TT_TRY(choose(job, first, next, error));
    tt_status status = find_all(job, error);
    if (status == TT_FULL && step > 1) {
      step /= 8;
      next = first;
      continue;
    }
    TT_TRY(status);
    if (!give(job, take, context)) return TT_OK;
  }
  return TT_OK;
}

tt_status tt_clickhouse_read_latest(tt_store_reader *base, int device,
                                    bool (*take)(void *context, const tt_store_latest *latest),
                                    void *context, tt_error *error) {
  tt_clickhouse_reader *reader = (tt_clickhouse_reader *)base;
  finding job = {.reader = reader,
                 .boots = TT_LIST(tt_clickhouse_boot, NULL),
                 .wanted = TT_LIST(wanted, NULL),
                 .since = TT_LIST(tt_clickhouse_since, NULL),
                 .sql = TT_LIST(char, NULL),
                 .answer = TT_LIST(char, NULL),
                 .texts = TT_LIST(char, NULL),
                 .found = TT_LIST(tt_store_latest, NULL)};
  char id[24];
  const int first = device >= 0 ? device : 0;
  const int end = device >= 0 ? device + 1 : (int)reader->known.devices.len;
  g_snprintf(id, sizeof id, "%" PRIu64, tt_clickhouse_get_id(&reader->known.devices, first));
  tt_status status =
      tt_clickhouse_read_boots(&reader->source, device >= 0 ? id : NULL, &job.boots, error);
  if (status == TT_OK) status = read_devices(&job, first, end, take, context, error);
  tt_list *lists[] = {&job.boots,  &job.wanted, &job.since, &job.sql,
                      &job.answer, &job.texts,  &job.found};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) tt_list_free(lists[i]);
  tt_map_clear(&job.places);
  return status;
}
