/* packed_table_test.c: the view `telemetry` says the same of what is packed as it said of its rows. */
#include "store/column/signals_testing.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/packed_table.h"
#include "store/sqlite/time_text.h"
#include "store/store_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROWS 200
#define SEGMENT_ROWS 37

static tt_error error;

/** The five queries of docs/telemetry.md, and what else people ask. */
static const char *const queries[] = {
    "SELECT attribute, value, max(time) FROM telemetry WHERE device = 'Red robot' GROUP BY "
    "attribute",
    "SELECT device, time, min(value) FROM telemetry WHERE attribute = 'S.d.v1' GROUP BY device",
    "SELECT substr(time, 1, 16) AS minute, avg(abs(value)) FROM telemetry WHERE attribute = 'Speed'"
    " GROUP BY minute",
    "SELECT time, gap / 1e6 AS seconds FROM (SELECT time, time_us - lag(time_us) OVER (ORDER BY"
    " time_us) AS gap FROM telemetry WHERE device = 'Red robot' AND attribute = 'Speed')"
    " WHERE gap > 100000",
    "SELECT device, epoch, min(time) FROM telemetry GROUP BY device, epoch ORDER BY device, epoch",
    "SELECT * FROM telemetry ORDER BY device_identifier, epoch, device_time_us, attribute, value",
    "SELECT count(*), sum(typeof(value) = 'text') FROM telemetry",
    "SELECT device_time_us, value FROM telemetry WHERE device_identifier = 'R1' AND"
    " attribute_identifier = 'S.d.v2' AND device_time_us BETWEEN 9000000 AND 12000000 ORDER BY 1, "
    "2",
    "SELECT count(*) FROM telemetry WHERE time_us > 1767225610000000.5 AND time_us <= 1767225615e6",
    "SELECT count(*), sum(time_us) FROM telemetry WHERE time >= '2026-01-01T00:00:09' AND time <"
    " '2026-01-01T00:00:12.3'",
    "SELECT count(*) FROM telemetry WHERE time > '2026-01-01T00:00:10.200419Z' AND epoch = 0",
    "SELECT count(*) FROM telemetry WHERE time = '2026-01-01T00:00:04.200419Z'",
    "SELECT count(*) FROM telemetry WHERE time <= '2026-01-01t00:00:10' COLLATE NOCASE",
    "SELECT count(*) FROM telemetry WHERE time < '1970'",
    "SELECT count(*) FROM telemetry WHERE time BETWEEN 5 AND 'x'",
    "SELECT count(*) FROM telemetry WHERE time IS NULL OR time_us < 0",
    "SELECT count(*) FROM telemetry WHERE device = 'red ROBOT' COLLATE NOCASE",
    "SELECT count(*) FROM telemetry WHERE device IN ('Red robot', '5') AND epoch = 1",
    "SELECT count(*) FROM telemetry WHERE device = 5",
    "SELECT count(*) FROM telemetry WHERE device_identifier = 5",
    "SELECT count(*) FROM telemetry WHERE device = NULL OR time_us < NULL",
    "SELECT count(*) FROM telemetry WHERE epoch < 'x' AND time_us > '1767225610000000'",
    "SELECT count(*) FROM telemetry a JOIN telemetry b ON a.device_time_us = b.device_time_us AND"
    " a.device = b.device AND a.epoch = b.epoch AND a.attribute = 'Speed' AND b.attribute = "
    "'S.d.v1'",
};
#define QUERIES (sizeof queries / sizeof *queries)

static sqlite3 *open_file(bool registered) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(tt_testing_file(), &db), SQLITE_OK);
  tt_sqlite_harden(db);
  if (registered) assert_int_equal(tt_sqlite_register_packed(db), SQLITE_OK);
  return db;
}

static void run(sqlite3 *db, const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
    fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

/** All that a query gives, a line a row; or its error. To be freed. */
static char *ask(sqlite3 *db, const char *sql) {
  GString *text = g_string_new(NULL);
  sqlite3_stmt *query = NULL;
  int result = sqlite3_prepare_v2(db, sql, -1, &query, NULL);
  while (result == SQLITE_OK || result == SQLITE_ROW) {
    result = sqlite3_step(query);
    for (int i = 0; result == SQLITE_ROW && i < sqlite3_column_count(query); i++) {
      const char *cell = (const char *)sqlite3_column_text(query, i);
      g_string_append_printf(text, "%s%s", cell ? cell : "NULL",
                             i + 1 < sqlite3_column_count(query) ? "|" : "\n");
    }
  }
  if (result != SQLITE_DONE) {
    g_string_printf(text, "error %d: %s", result, sqlite3_errmsg(db));
  }
  sqlite3_finalize(query);
  return g_string_free(text, false);
}

static void assert_says(sqlite3 *db, const char *sql, const char *part) {
  char *answer = ask(db, sql);
  if (!strstr(answer, part)) fail_msg("%s: %s", sql, answer);
  g_free(answer);
}

/** Two devices, the first with two epochs and gaps; numbers, texts, and several records of a moment. */
static void fill(void) {
  tt_store *store = tt_testing_open();
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "R1", "Red robot");
  tt_testing_add_name(&batch->devices, 1, "5", NULL);
  tt_testing_add_name(&batch->attributes, 0, "S.d.speed", "Speed");
  tt_testing_add_name(&batch->attributes, 1, "S.d.v1", NULL);
  tt_testing_add_name(&batch->attributes, 2, "S.d.v2", NULL);
  for (int epoch = 0; epoch < 3; epoch++) {
    tt_testing_add_epoch(batch, epoch == 2, epoch % 2, 0, 0, 0, "");
    for (uint32_t row = 0; row < ROWS; row++) {
      if (row % 50 == 49) continue;
      const tt_column_moment moment = tt_testing_moment(row + (uint32_t)epoch * 1000);
      tt_testing_add_sample(batch, epoch == 2, epoch % 2, moment.device_time, moment.time);
      tt_testing_add_value(batch, 0, NULL, tt_testing_signal(TT_TESTING_DECIMALS, 4, row));
      if (row % 3)
        tt_testing_add_value(batch, 1, NULL, tt_testing_signal(TT_TESTING_DOUBLES, 0, row));
      if (row % 7 == 0) tt_testing_add_value(batch, 2, row % 2 ? "on" : "", 0);
      if (row % 60 == 0) {
        tt_testing_add_sample(batch, epoch == 2, epoch % 2, moment.device_time, moment.time);
        tt_testing_add_value(batch, 0, NULL, -0.0);
      }
    }
  }
  static const int64_t odd_times[] = {0,
                                      -1,
                                      -61000001,
                                      -62167219200000000,
                                      -99999999999999999,
                                      253402300799999999,
                                      253402300800000000,
                                      INT64_MAX,
                                      INT64_MIN};
  for (int i = 0; i < (int)(sizeof odd_times / sizeof *odd_times); i++) {
    tt_testing_add_sample(batch, 1, 0, INT64_C(900000000) + i, odd_times[i]);
    tt_testing_add_value(batch, 0, NULL, i);
  }
  tt_testing_write(store, batch);
  store->close(store);
}

static void bind_bytes(sqlite3_stmt *query, int index, tt_list *bytes) {
  sqlite3_bind_blob(query, index, bytes->data, (int)bytes->len, SQLITE_TRANSIENT);
  tt_list_free(bytes);
}

static void put_columns(sqlite3 *db, int64_t segment, const int64_t *ids, uint32_t rows) {
  for (int attribute = 1; attribute <= 3; attribute++) {
    tt_column column = tt_column_new();
    tt_list bytes = TT_LIST(char, NULL);
    sqlite3_stmt *query;
    sqlite3_prepare_v2(db, "SELECT value FROM value WHERE sample = ?1 AND attribute = ?2", -1,
                       &query, NULL);
    for (uint32_t row = 0; row < rows; row++, sqlite3_reset(query)) {
      sqlite3_bind_int64(query, 1, ids[row]);
      sqlite3_bind_int(query, 2, attribute);
      if (sqlite3_step(query) != SQLITE_ROW) continue;
      tt_column_value value = {row, TT_COLUMN_NUMBER, sqlite3_column_double(query, 0)};
      if (sqlite3_column_type(query, 0) == SQLITE_TEXT) {
        value = (tt_column_value){row, column.text.len, 0};
        tt_list_add(&column.text, sqlite3_column_text(query, 0),
                    (size_t)sqlite3_column_bytes(query, 0) + 1);
      }
      tt_list_add(&column.values, &value, 1);
    }
    sqlite3_finalize(query);
    if (column.values.len) {
      assert_int_equal(tt_column_pack(&column, rows, &bytes, &error), TT_OK);
      sqlite3_prepare_v2(
          db, "INSERT INTO packed (segment, attribute, count, data) VALUES (?1, ?2, ?3, ?4)", -1,
          &query, NULL);
      sqlite3_bind_int64(query, 1, segment);
      sqlite3_bind_int(query, 2, attribute);
      sqlite3_bind_int(query, 3, (int)column.values.len);
      bind_bytes(query, 4, &bytes);
      assert_int_equal(sqlite3_step(query), SQLITE_DONE);
      sqlite3_finalize(query);
    }
    tt_column_free(&column);
  }
}

/** Packs the first rows of an epoch that are left. How many. */
static uint32_t pack_some(sqlite3 *db, int device, int epoch) {
  tt_list moments = TT_LIST(tt_column_moment, NULL), ids = TT_LIST(int64_t, NULL);
  tt_list bytes = TT_LIST(char, NULL);
  sqlite3_stmt *query;
  sqlite3_prepare_v2(db,
                     "SELECT id, device_time, time, seq, nth FROM sample WHERE device = ?1 AND"
                     " epoch = ?2 ORDER BY device_time, nth",
                     -1, &query, NULL);
  sqlite3_bind_int(query, 1, device);
  sqlite3_bind_int(query, 2, epoch);
  int64_t least = INT64_MAX, greatest = INT64_MIN;
  while (sqlite3_step(query) == SQLITE_ROW) {
    const tt_column_moment moment = {sqlite3_column_int64(query, 1), sqlite3_column_int64(query, 2),
                                     sqlite3_column_int64(query, 3),
                                     sqlite3_column_int64(query, 4)};
    if (moments.len >= SEGMENT_ROWS && !moment.nth) break;
    const int64_t id = sqlite3_column_int64(query, 0);
    tt_list_add(&moments, &moment, 1);
    tt_list_add(&ids, &id, 1);
    if (moment.time < least) least = moment.time;
    if (moment.time > greatest) greatest = moment.time;
  }
  sqlite3_finalize(query);
  const uint32_t rows = moments.len;
  if (rows) {
    assert_int_equal(tt_column_pack_moments(&moments, &bytes, &error), TT_OK);
    sqlite3_prepare_v2(db,
                       "INSERT INTO segment (device, epoch, first, last, time_first, time_last,"
                       " rows, moments) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                       -1, &query, NULL);
    sqlite3_bind_int(query, 1, device);
    sqlite3_bind_int(query, 2, epoch);
    sqlite3_bind_int64(query, 3, tt_list_at(&moments, tt_column_moment, 0).device_time);
    sqlite3_bind_int64(query, 4, tt_list_at(&moments, tt_column_moment, rows - 1).device_time);
    sqlite3_bind_int64(query, 5, least);
    sqlite3_bind_int64(query, 6, greatest);
    sqlite3_bind_int(query, 7, (int)rows);
    bind_bytes(query, 8, &bytes);
    assert_int_equal(sqlite3_step(query), SQLITE_DONE);
    sqlite3_finalize(query);
    put_columns(db, sqlite3_last_insert_rowid(db), ids.data, rows);
    sqlite3_prepare_v2(db, "DELETE FROM sample WHERE id = ?1", -1, &query, NULL);
    for (uint32_t i = 0; i < rows; i++, sqlite3_reset(query)) {
      sqlite3_bind_int64(query, 1, tt_list_at(&ids, int64_t, i));
      assert_int_equal(sqlite3_step(query), SQLITE_DONE);
    }
    sqlite3_finalize(query);
    run(db, "DELETE FROM value WHERE sample NOT IN (SELECT id FROM sample)");
  }
  tt_list_free(&moments);
  tt_list_free(&ids);
  return rows;
}

/** Packs so many segments of each epoch. */
static void pack(sqlite3 *db, unsigned segments) {
  run(db, "BEGIN");
  for (int epoch = 0; epoch < 3; epoch++) {
    for (unsigned i = 0; i < segments && pack_some(db, 1 + (epoch == 2), epoch % 2); i++) {
    }
  }
  assert_int_equal(tt_sqlite_show_packed(db, "file", true, &error), TT_OK);
  run(db, "COMMIT");
}

static void test_the_view_says_the_same(void **state) {
  (void)state;
  fill();
  sqlite3 *db = open_file(true);
  char *before[QUERIES];
  for (size_t i = 0; i < QUERIES; i++) {
    before[i] = ask(db, queries[i]);
    assert_null(strstr(before[i], "error"));
  }
  for (unsigned segments = 0; segments < 5;
       segments += 2) {  // nothing, some and the rest is packed
    pack(db, segments);
    for (size_t i = 0; i < QUERIES; i++) {
      char *after = ask(db, queries[i]);
      if (strcmp(before[i], after))
        fail_msg("%s\nbefore:\n%s\nafter:\n%s", queries[i], before[i], after);
      g_free(after);
    }
  }
  assert_says(db, "SELECT count(*) FROM value", "0\n");
  assert_int_equal(tt_sqlite_show_packed(db, "file", false, &error), TT_OK);
  assert_says(db, "SELECT count(*) FROM telemetry", "0\n");
  for (size_t i = 0; i < QUERIES; i++) g_free(before[i]);
  sqlite3_close(db);
}

static void test_without_the_extension_it_says_what_to_load(void **state) {
  (void)state;
  fill();
  sqlite3 *db = open_file(true);
  pack(db, 1);
  sqlite3_close(db);
  db = open_file(false);
  for (size_t i = 0; i < QUERIES; i++)
    assert_says(db, queries[i], ".load /usr/lib/tether/tether-telemetry.so");
  assert_says(db, "SELECT count(*) FROM sample", "\n");  // the rest of the file is as it was
  sqlite3_close(db);
}

/** An attached file is read itself, not the main one. */
static void test_an_attached_file(void **state) {
  (void)state;
  fill();
  sqlite3 *db = open_file(true), *other;
  char *before = ask(db, queries[4]);
  pack(db, 9);
  sqlite3_close(db);
  assert_int_equal(sqlite3_open(":memory:", &other), SQLITE_OK);
  assert_int_equal(tt_sqlite_register_packed(other), SQLITE_OK);
  char *attach = g_strdup_printf("ATTACH '%s' AS \"the other\"", tt_testing_file());
  run(other, attach);
  assert_says(other,
              "SELECT device, epoch, min(time) FROM \"the other\".telemetry GROUP BY device, epoch"
              " ORDER BY device, epoch",
              before);
  g_free(attach);
  g_free(before);
  sqlite3_close(other);
}

static void test_damage_is_an_error_where_it_is_read(void **state) {
  (void)state;
  static const struct {
    const char *damage, *query, *says;
  } damages[] = {
      {"UPDATE packed SET data = substr(data, 1, length(data) - 1) WHERE segment = 2 AND attribute "
       "= 1",
       "SELECT count(*) FROM telemetry WHERE attribute = 'Speed'",
       "segment 2, attribute 1: damaged"},
      {"UPDATE packed SET data = x'' WHERE segment = 2 AND attribute = 2",
       "SELECT min(value) FROM telemetry", "segment 2, attribute 2: damaged"},
      {"UPDATE packed SET count = count + 1 WHERE segment = 2 AND attribute = 3",
       "SELECT count(*) FROM telemetry", "segment 2, attribute 3: damaged"},
      {"UPDATE segment SET moments = zeroblob(20) WHERE id = 3", "SELECT count(*) FROM telemetry",
       "segment 3, its times: damaged"},
      {"UPDATE segment SET rows = rows - 1 WHERE id = 3", "SELECT count(*) FROM telemetry",
       "segment 3, its times: damaged"},
      {"UPDATE segment SET rows = 'many' WHERE id = 3", "SELECT count(*) FROM telemetry",
       "segment 3, its times: damaged"},
      {"DROP TABLE packed", "SELECT count(*) FROM telemetry", "no such table: main.packed"},
      {"DROP TABLE segment; CREATE VIEW segment AS SELECT 1 AS id, 1 AS device, 0 AS epoch, time_us"
       " AS first, 0 AS last, 0 AS time_first, 0 AS time_last, 9 AS rows, x'' AS moments FROM"
       " packed_value",
       "SELECT count(*) FROM telemetry", "packed telemetry is made of itself"},
  };
  fill();
  sqlite3 *db = open_file(true);
  pack(db, 9);
  // What is not asked for is not looked at.
  const char *elsewhere =
      "SELECT count(*) FROM telemetry WHERE attribute = 'Speed' AND"
      " device = 'Red robot' AND epoch = 0 AND device_time_us >= 17000000";
  char *before = ask(db, elsewhere);
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    run(db, "BEGIN");
    run(db, damages[i].damage);
    assert_says(db, damages[i].query, damages[i].says);
    if (!strstr(damages[i].damage, "DROP")) assert_says(db, elsewhere, before);
    run(db, "ROLLBACK");
  }
  g_free(before);
  sqlite3_close(db);
}

/** Our own text of a time is SQLite's. */
static void test_texts_of_times(void **state) {
  (void)state;
  sqlite3 *db = open_file(false);
  sqlite3_stmt *query;
  char text[TT_SQLITE_TIME_TEXT_SIZE];
  uint64_t random = 1;
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT " TT_SQLITE_TIME_TEXT("?1"), -1, &query, NULL),
                   SQLITE_OK);
  for (int64_t day = 0; day * 86400000000 < TT_SQLITE_TIME_TEXT_END; day += day % 7 ? 1 : 300) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const int64_t time = day * 86400000000 + (int64_t)(random >> 11) % 86400000000;
    sqlite3_bind_int64(query, 1, time);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    assert_true(tt_sqlite_put_time_text(time, text));
    assert_string_equal(text, (const char *)sqlite3_column_text(query, 0));
    assert_int_equal(tt_sqlite_time_from_text(text, strlen(text), false), time);
    assert_int_equal(tt_sqlite_time_from_text(text, strlen(text), true), time + 1);
    sqlite3_reset(query);
  }
  sqlite3_finalize(query);
  sqlite3_close(db);
  assert_false(tt_sqlite_put_time_text(-1, text));
  assert_false(tt_sqlite_put_time_text(TT_SQLITE_TIME_TEXT_END, text));
  assert_int_equal(tt_sqlite_time_from_text("1970-01-01T00:00:01", 19, false), 1000000);
  assert_int_equal(tt_sqlite_time_from_text("", 0, false), 0);
  assert_int_equal(tt_sqlite_time_from_text("x", 1, true), TT_SQLITE_TIME_TEXT_END);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_texts_of_times, tt_testing_clean),
      cmocka_unit_test_setup(test_the_view_says_the_same, tt_testing_clean),
      cmocka_unit_test_setup(test_without_the_extension_it_says_what_to_load, tt_testing_clean),
      cmocka_unit_test_setup(test_an_attached_file, tt_testing_clean),
      cmocka_unit_test_setup(test_damage_is_an_error_where_it_is_read, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}
