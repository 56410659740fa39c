/* telemetry_year.c: a store of SQLite in which one device has sent twelve signals once a second for some days, until now,
 * written directly as packed columns. Prints values, bytes a value without the buckets and with them, the million values a
 * second of which buckets were made, and when the device ended (µs UTC).
 *
 *   telemetry_year FILE DAYS
 *   telemetry_year FILE 0 DEVICES    a segment of each of so many devices, side by side; prints the records of all
 */
#include "base/clock.h"
#include "store/column/signals_testing.h"
#include "store/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIGNALS TT_TESTING_SIGNALS
#define SECOND INT64_C(1000000)

static tt_error error;

static int die(const char *what) {
  fprintf(stderr, "telemetry_year: %s\n", what);
  exit(1);
}

static tt_store *open_store(const char *path) {
  char url[4096];
  snprintf(url, sizeof url, "sqlite:%s", path);
  const tt_store_options options = {.url = url};
  tt_store *store;
  if (tt_store_open(&options, &store, &error) != TT_OK) die(error.text);
  return store;
}

/** Devices, of which each has the same signals and one epoch. */
static void write_names(const char *path, int64_t anchor, int devices) {
  tt_store *store = open_store(path);
  tt_store_batch *batch = tt_store_batch_new();
  char name[32];
  if (!batch) die("out of memory");
  for (int device = 0; device < devices; device++) {
    const tt_store_epoch epoch = {
        .device = device, .anchor = anchor, .offset_low = anchor, .offset_high = anchor, .key = 1};
    snprintf(name, sizeof name, device ? "YEAR%d" : "YEAR", device);
    tt_store_add_name(&batch->devices, device, name, NULL, TT_NAME_USED);
    tt_list_add(&batch->epochs, &epoch, 1);
  }
  for (int i = 0; i < SIGNALS; i++) {
    snprintf(name, sizeof name, "Input.signal.s%d", i);
    tt_store_add_name(&batch->attributes, i, name, NULL, TT_NAME_USED);
    for (int device = 0; device < devices; device++) {
      const tt_store_pair pair = {device, i};
      tt_list_add(&batch->pairs, &pair, 1);
    }
  }
  if (tt_store_batch_has_failed(batch)) die("out of memory");
  if (store->write(store, batch, &error) != TT_OK) die(error.text);
  tt_store_batch_free(batch);
  store->close(store);
}

/* --- segments --- */

typedef struct writer {
  sqlite3 *db;
  sqlite3_stmt *segment, *packed;
  tt_list moments, bytes;
  tt_column column;
} writer;

static void execute(sqlite3 *db, const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL)) die(sqlite3_errmsg(db));
}

static void run(const writer *to, sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) die(sqlite3_errmsg(to->db));
  sqlite3_reset(statement);
}

static void write_segment(writer *to, int device, int64_t anchor, uint32_t first, uint32_t rows) {
  tt_list_cut(&to->moments, 0);
  tt_list_cut(&to->bytes, 0);
  for (uint32_t row = first; row < first + rows; row++) {
    const tt_column_moment moment = {.device_time = row * SECOND, .time = row * SECOND + anchor};
    tt_list_add(&to->moments, &moment, 1);
  }
  if (tt_column_pack_moments(&to->moments, &to->bytes, &error) != TT_OK) die(error.text);
  const int64_t from = first * SECOND, last = (first + rows - 1) * SECOND;
  const int64_t numbers[] = {device + 1, 0, from, last, from + anchor, last + anchor, rows};
  for (int i = 0; i < 7; i++) sqlite3_bind_int64(to->segment, i + 1, numbers[i]);
  sqlite3_bind_blob(to->segment, 8, to->bytes.data, (int)to->bytes.len, SQLITE_STATIC);
  run(to, to->segment);
  const int64_t id = sqlite3_last_insert_rowid(to->db);
  for (unsigned signal = 0; signal < SIGNALS; signal++) {
    tt_column_clear(&to->column);
    tt_list_cut(&to->bytes, 0);
    if (!tt_testing_fill(&to->column, TT_TESTING_DECIMALS, signal, first, rows))
      die("out of memory");
    if (tt_column_pack(&to->column, rows, &to->bytes, &error) != TT_OK) die(error.text);
    sqlite3_bind_int64(to->packed, 1, id);
    sqlite3_bind_int(to->packed, 2, (int)signal + 1);
    sqlite3_bind_int(to->packed, 3, (int)rows);
    sqlite3_bind_blob(to->packed, 4, to->bytes.data, (int)to->bytes.len, SQLITE_STATIC);
    run(to, to->packed);
  }
}

static writer open_writer(const char *path) {
  writer to = {.moments = TT_LIST(tt_column_moment, NULL),
               .bytes = TT_LIST(char, NULL),
               .column = tt_column_new()};
  if (sqlite3_open(path, &to.db)) die(sqlite3_errmsg(to.db));
  execute(to.db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  if (sqlite3_prepare_v2(to.db,
                         "INSERT INTO segment (device, epoch, first, last, time_first, time_last,"
                         " rows, moments) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                         -1, &to.segment, NULL) ||
      sqlite3_prepare_v2(to.db,
                         "INSERT INTO packed (segment, attribute, count, data)"
                         " VALUES (?1, ?2, ?3, ?4)",
                         -1, &to.packed, NULL))
    die(sqlite3_errmsg(to.db));
  return to;
}

static void close_writer(writer *to) {
  sqlite3_finalize(to->segment);
  sqlite3_finalize(to->packed);
  sqlite3_close(to->db);
  tt_list_free(&to->moments);
  tt_list_free(&to->bytes);
  tt_column_free(&to->column);
}

/** All but the mark of its hours in one transaction each day. */
static void write_days(const char *path, int64_t anchor, uint32_t days) {
  writer to = open_writer(path);
  for (uint32_t day = 0; day < days; day++) {
    execute(to.db, "BEGIN");
    for (uint32_t at = day * 86400; at < (day + 1) * 86400; at += TT_COLUMN_ROWS) {
      const uint32_t left = (day + 1) * 86400 - at;
      write_segment(&to, 0, anchor, at, left < TT_COLUMN_ROWS ? left : TT_COLUMN_ROWS);
    }
    execute(to.db, "COMMIT");
  }
  char sql[256];
  const int64_t hour = 3600 * SECOND;
  snprintf(sql, sizeof sql, "INSERT INTO stale VALUES (1, %lld, %lld)", (long long)(anchor / hour),
           (long long)((anchor + days * 24 * hour) / hour));
  execute(to.db, sql);
  close_writer(&to);
}

/** As many rows as make a segment of so many signals. */
#define SIDE_ROWS (65536 / SIGNALS)

static int write_side_by_side(const char *path, int devices) {
  const int64_t anchor = tt_wall_us() - SIDE_ROWS * SECOND;
  write_names(path, anchor, devices);
  writer to = open_writer(path);
  execute(to.db, "BEGIN");
  for (int device = 0; device < devices; device++) write_segment(&to, device, anchor, 0, SIDE_ROWS);
  execute(to.db, "COMMIT");
  close_writer(&to);
  printf("%d\n", devices * SIDE_ROWS);
  return 0;
}

/* --- buckets --- */

/** Hours that are over, and whose buckets are not made. */
static int64_t hours_left(const char *path) {
  sqlite3 *db;
  sqlite3_stmt *query = NULL;
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ||
      sqlite3_prepare_v2(db,
                         "SELECT coalesce(sum(min(last, ?1) - first + 1), 0) FROM stale"
                         " WHERE first <= ?1",
                         -1, &query, NULL))
    die(sqlite3_errmsg(db));
  sqlite3_bind_int64(query, 1, tt_wall_us() / (3600 * SECOND) - 1);
  if (sqlite3_step(query) != SQLITE_ROW) die(sqlite3_errmsg(db));
  const int64_t left = sqlite3_column_int64(query, 0);
  sqlite3_finalize(query);
  sqlite3_close(db);
  return left;
}

/** µs in which the store worked at them. */
static int64_t make_buckets(const char *path) {
  tt_store *store = open_store(path);
  int64_t worked = 0;
  while (hours_left(path)) {
    for (int i = 0; i < 100; i++) {
      const int64_t begun = tt_monotonic_us();
      store->tend(store);
      worked += tt_monotonic_us() - begun;
      usleep(1000);
    }
  }
  store->close(store);
  return worked;
}

static double size_of(const char *path) {
  struct stat file;
  return stat(path, &file) ? 0 : (double)file.st_size;
}

int main(int count, char **arguments) {
  const char *path = arguments[1];
  if (count == 4 && !strcmp(arguments[2], "0")) return write_side_by_side(path, atoi(arguments[3]));
  if (count != 3) die("give FILE and DAYS");
  const uint32_t days = (uint32_t)strtoul(arguments[2], NULL, 10);
  if (!days || days > 3660) die("DAYS is from 1 to 3660");
  const double values = 86400.0 * days * SIGNALS;
  const int64_t anchor = tt_wall_us() - days * 86400 * SECOND;
  write_names(path, anchor, 1);
  write_days(path, anchor, days);
  const double bare = size_of(path);
  const int64_t worked = make_buckets(path);
  printf("%.0f %.3f %.3f %.3f %.0f\n", values, bare / values, size_of(path) / values,
         values / (double)worked, (double)(anchor + days * 86400 * SECOND));
  return 0;
}
