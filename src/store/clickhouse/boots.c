/* boots.c: epochs, and what is newest of them. Their numbers are given here: each has the one by which it was told, or, where
 * an earlier one has that, the next; so every process gives the same ones.
 */
#include "store/clickhouse/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b) {
  const tt_clickhouse_boot *left = a, *right = b;
  if (left->device != right->device) return left->device < right->device ? -1 : 1;
  return (left->epoch.number > right->epoch.number) - (left->epoch.number < right->epoch.number);
}

/** Of epochs from `first` on, in the order in which they were added. False: out of memory. */
static bool give_numbers(tt_list *boots, uint32_t first) {
  tt_map taken = {0};
  bool noted = true;
  int most = -1;
  for (uint32_t i = first; i < boots->len && noted; i++) {
    tt_clickhouse_boot *boot = &tt_list_at(boots, tt_clickhouse_boot, i);
    const int64_t device = (int64_t)boot->device;
    if (i == first || boot[-1].device != boot->device) most = -1;
    int *number = &boot->epoch.number;
    if (*number < 0 || tt_map_get(&taken, (tt_map_key){device, *number})) *number = most + 1;
    if (*number > most) most = *number;
    noted = tt_map_put(&taken, (tt_map_key){device, *number}, 1);
  }
  tt_map_clear(&taken);
  if (noted && boots->len > first)
    qsort(&tt_list_at(boots, tt_clickhouse_boot, first), boots->len - first,
          sizeof(tt_clickhouse_boot), by_number);
  return noted;
}

static tt_clickhouse_boot take_boot(tt_clickhouse_rows *rows, tt_list *texts) {
  tt_clickhouse_boot boot = {.device = tt_clickhouse_get_unsigned(rows), .epoch.device = -1};
  boot.epoch.key = tt_clickhouse_get_long(rows);
  boot.epoch.number = tt_clickhouse_get_int(rows);
  boot.epoch.anchor = tt_clickhouse_get_long(rows);
  boot.epoch.offset_low = tt_clickhouse_get_long(rows);
  boot.epoch.offset_high = tt_clickhouse_get_long(rows);
  tt_list_cut(texts, 0);
  tt_clickhouse_get_text(rows, texts);
  boot.at = tt_clickhouse_get_long(rows);
  if (!texts->failed)
    snprintf(boot.epoch.boot, sizeof boot.epoch.boot, "%s", (const char *)texts->data);
  return boot;
}

tt_status tt_clickhouse_read_boots(const tt_clickhouse_source *source, const char *devices,
                                   tt_list *boots, tt_error *error) {
  const uint32_t first = boots->len;
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL), texts = TT_LIST(char, NULL);
  tt_list_print(&sql,
                "SELECT device, key, argMin(number, at), argMin(anchor, at), min(offset_low),"
                " max(offset_high), argMin(boot, at), min(at) AS added FROM boot");
  if (devices) tt_list_print(&sql, " WHERE device IN (%s)", devices);
  tt_list_print(&sql, " GROUP BY device, key ORDER BY device, added, key");
  tt_status status = tt_clickhouse_ask_list(source, &sql, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && tt_clickhouse_has_row(&rows)) {
    const tt_clickhouse_boot boot = take_boot(&rows, &texts);
    tt_list_add(boots, &boot, 1);
  }
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  if (status == TT_OK && (boots->failed || texts.failed || !give_numbers(boots, first)))
    status = tt_clickhouse_no_memory(error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  tt_list_free(&texts);
  return status;
}

/** Adds what an answer says to epochs, which `places` finds. */
static void take_newest(tt_clickhouse_rows *rows, const tt_map *places, tt_list *latest) {
  while (tt_clickhouse_has_row(rows)) {
    const int64_t device = tt_clickhouse_get_long(rows), key = tt_clickhouse_get_long(rows);
    const int64_t device_time = tt_clickhouse_get_long(rows), time = tt_clickhouse_get_long(rows);
    const int64_t *place = tt_map_get(places, (tt_map_key){device, key});
    if (!place || rows->failed) continue;
    tt_store_boot *boot = &tt_list_at(latest, tt_store_boot, *place);
    boot->has_sample = true;
    boot->device_time = device_time;
    boot->time = time;
  }
}

tt_status tt_clickhouse_read_newest(const tt_clickhouse_source *source, const tt_list *devices,
                                    tt_list *latest, tt_error *error) {
  if (!latest->len) return TT_OK;
  tt_map places = {0};
  bool noted = true;
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  tt_list_print(&sql,
                "SELECT device, epoch, max(device_time) AS newest,"
                " argMax(time_offset, tuple(device_time, rank)) + newest FROM ");
  tt_clickhouse_print_values(source, &sql);
  tt_list_print(&sql, " WHERE tuple(device, epoch) IN (");
  for (uint32_t i = 0; i < latest->len && noted; i++) {
    const tt_store_epoch *epoch = &tt_list_at(latest, tt_store_boot, i).epoch;
    const uint64_t device = tt_list_at(devices, uint64_t, epoch->device);
    noted = tt_map_put(&places, (tt_map_key){(int64_t)device, epoch->key}, i) &&
            tt_list_print(&sql, "%s(%" PRIu64 ", %" PRId64 ")", i ? ", " : "", device, epoch->key);
  }
  tt_list_print(&sql, ") GROUP BY device, epoch");
  tt_status status =
      noted ? tt_clickhouse_ask_list(source, &sql, &answer, error) : tt_clickhouse_no_memory(error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  if (status == TT_OK) take_newest(&rows, &places, latest);
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  tt_map_clear(&places);
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status;
}

uint32_t tt_clickhouse_boots_end(const tt_list *boots, uint64_t device) {
  uint32_t low = 0, high = boots->len;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (tt_list_at(boots, tt_clickhouse_boot, middle).device <= device)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int tt_clickhouse_candidates(const tt_list *boots, uint64_t device, const char *boot,
                             const int64_t *except, uint32_t candidates[TT_STORE_EPOCHS]) {
  int count = 0;
  for (uint32_t i = tt_clickhouse_boots_end(boots, device); i-- && count < TT_STORE_EPOCHS;) {
    const tt_clickhouse_boot *one = &tt_list_at(boots, tt_clickhouse_boot, i);
    if (one->device != device) break;
    if (!strcmp(one->epoch.boot, boot) && (!except || *except != one->epoch.key))
      candidates[count++] = i;
  }
  return count;
}
