/* schema.c: the tables in ClickHouse, and how a database of an older version becomes one of this.
 *
 * Every shard has all tables, and all that is defined; values stand on the shard that the device's id chooses. There are no
 * transactions: each statement of a step may be run again, and the version comes last.
 */
#include "base/log.h"
#include "store/clickhouse/internal.h"

#include <stdio.h>

#define VERSION 3

/** `fact` of a name: that it is there, its human name, whether it was removed. `at`: the change that said it. */
static const char *const definitions[] = {
    "CREATE TABLE IF NOT EXISTS name (kind UInt8, id UInt64, identifier String, fact UInt8,"
    " text String, at Int64, version UInt64) ENGINE = ReplacingMergeTree(version)"
    " ORDER BY (kind, identifier, fact)",
    "CREATE TABLE IF NOT EXISTS pair (device UInt64, attribute UInt64, at Int64, version UInt64)"
    " ENGINE = ReplacingMergeTree(version) ORDER BY (device, attribute)",
    "CREATE TABLE IF NOT EXISTS handling (pattern String, removed UInt8, type UInt8, mode UInt8,"
    " has_unit UInt8, unit String, scale Float64, offset Float64, min_interval Float64,"
    " retention Float64, at Int64, version UInt64) ENGINE = ReplacingMergeTree(version)"
    " ORDER BY pattern",
    // What is told of an epoch: its range is all that was told, everything else what was told first.
    "CREATE TABLE IF NOT EXISTS boot (device UInt64, key Int64, number Int32, anchor Int64,"
    " offset_low Int64, offset_high Int64, boot String, is_new UInt8, at Int64)"
    " ENGINE = ReplacingMergeTree ORDER BY (device, key, at)",
    // See hours.c.
    "CREATE TABLE IF NOT EXISTS marked_hour (device UInt64, hour Int64, id UInt64)"
    " ENGINE = ReplacingMergeTree ORDER BY (device, hour, id)",
    // See passed.c; since version 3.
    "CREATE TABLE IF NOT EXISTS passed (device UInt64, log Int64, place UInt64)"
    " ENGINE = ReplacingMergeTree(place) ORDER BY (device, log)",
    // Minutes (1) and hours (2), right where their version is that of their hour's row (0), whose `count` says which marks it
    // covers; of several versions the greatest counts.
    "CREATE TABLE IF NOT EXISTS bucket (size UInt8, device UInt64, start Int64, attribute UInt64,"
    " count UInt64, least Float64, greatest Float64, sum Float64, last Float64, last_time Int64,"
    " version UInt64) ENGINE = ReplacingMergeTree(version)"
    " ORDER BY (size, device, start, attribute)",
};

/* --- values --- */

/** Columns of `value`, and a codec for servers that have them. */
static const struct {
  const char *name, *type, *codec;
} columns[] = {
    {"device", "UInt64", "Delta, ZSTD"},     {"epoch", "Int64", "Delta, ZSTD"},
    {"device_time", "Int64", "Delta, ZSTD"}, {"attribute", "UInt64", "Delta, ZSTD"},
    {"seq", "Int64", "Delta, ZSTD"},         {"is_text", "UInt8", "ZSTD"},
    {"number", "Float64", "Gorilla, ZSTD"},  {"text", "String", "ZSTD"},
    {"time_offset", "Int64", "Delta, ZSTD"}, {"rank", "UInt64", "Delta, ZSTD"},
};
#define COLUMNS (sizeof columns / sizeof *columns)

void tt_clickhouse_print_value_table(const tt_clickhouse_abilities *abilities, tt_list *sql) {
  tt_list_print(sql, "CREATE TABLE IF NOT EXISTS " TT_CLICKHOUSE_VALUES " (");
  for (size_t i = 0; i < COLUMNS; i++) {
    tt_list_print(sql, "%s%s %s", i ? ", " : "", columns[i].name, columns[i].type);
    if (abilities->codecs) tt_list_print(sql, " CODEC(%s)", columns[i].codec);
  }
  tt_list_print(sql,
                ") ENGINE = ReplacingMergeTree(rank) ORDER BY (device, epoch, device_time,"
                " attribute, seq, is_text, number, text) PRIMARY KEY (device, epoch, device_time)");
  if (abilities->syncs)
    tt_list_print(sql, " SETTINGS fsync_after_insert = 1, fsync_part_directory = 1");
}

/** Joins names to `rows`, which have the id by which they are meant. */
#define NAMED(kind, id, name, identifier)                                                          \
  " ANY LEFT JOIN (SELECT id AS " id ", any(identifier) AS " identifier                            \
  ", argMaxIf(text, version, fact = 1) AS " name " FROM name WHERE kind = " kind                   \
  " GROUP BY id) USING (" id ")"

void tt_clickhouse_print_view(const tt_clickhouse_source *source, tt_list *sql) {
  tt_list_print(
      sql,
      "CREATE VIEW IF NOT EXISTS telemetry AS SELECT"
      " if(device_name = '', device_identifier, device_name) AS device,"
      " toDateTime(intDiv(microseconds, 1000000), 'UTC') AS time, microseconds,"
      " if(attribute_name = '', attribute_identifier, attribute_name) AS attribute,"
      " is_text, number, text, device_time, epoch, seq,"
      " device_identifier, attribute_identifier"
      " FROM (SELECT * FROM (SELECT device AS device_id, attribute AS attribute_id, epoch,"
      " device_time, seq, is_text, number, text,"
      " argMax(time_offset, rank) + device_time AS microseconds FROM ");
  tt_clickhouse_print_values(source, sql);
  tt_list_print(
      sql, " GROUP BY device, attribute, epoch, device_time, seq, is_text, number, text)" NAMED(
               "0", "device_id", "device_name",
               "device_identifier") ")" NAMED("1", "attribute_id", "attribute_name",
                                              "attribute_identifier"));
}

/* --- versions --- */

static tt_status ask_number(const tt_clickhouse_source *source, const char *sql, int64_t *number,
                            tt_error *error) {
  tt_list answer = TT_LIST(char, NULL);
  tt_status status = tt_clickhouse_ask(source->link, sql, NULL, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  if (status == TT_OK) {
    *number = tt_clickhouse_get_long(&rows);
    status = tt_clickhouse_check(&rows, error);
  }
  tt_list_free(&answer);
  return status;
}

/** Of the tables; 0: there are none. */
static tt_status read_version(const tt_clickhouse_source *source, int64_t *version,
                              tt_error *error) {
  char sql[256];
  snprintf(sql, sizeof sql,
           "SELECT toInt64(count()) FROM system.tables WHERE database = '%s'"
           " AND name = 'schema_version'",
           source->address->database);
  tt_clickhouse_link_use(source->link, false);
  *version = 0;
  TT_TRY(ask_number(source, sql, version, error));
  if (!*version) return TT_OK;
  tt_clickhouse_link_use(source->link, true);
  return ask_number(source, "SELECT toInt64(max(version)) FROM schema_version", version, error);
}

static tt_status refuse_newer(int64_t version, tt_error *error) {
  return tt_fail(error, TT_VERSION,
                 "the database was made by a newer Tether (schema %" PRId64
                 ", this program knows up to %d); use that program, or another database",
                 version, VERSION);
}

tt_status tt_clickhouse_check_version(const tt_clickhouse_source *source, tt_error *error) {
  int64_t version;
  TT_TRY(read_version(source, &version, error));
  if (!version) return tt_fail(error, TT_NOT_FOUND, "no telemetry is stored in the database");
  if (version > VERSION) return refuse_newer(version, error);
  if (version == VERSION) return TT_OK;
  return tt_fail(error, TT_VERSION,
                 "the database was made by an older Tether (schema %" PRId64
                 ", this program reads %d); let a collector or a writer of this program open it,"
                 " which upgrades it",
                 version, VERSION);
}

static tt_status run(const tt_clickhouse_source *source, const char *sql, tt_error *error) {
  return tt_clickhouse_ask(source->link, sql, NULL, NULL, error);
}

static tt_status find_abilities(const tt_clickhouse_source *source,
                                tt_clickhouse_abilities *abilities, tt_error *error) {
  int64_t codecs, syncs;
  TT_TRY(ask_number(source,
                    "SELECT toInt64(count()) FROM system.columns WHERE database = 'system'"
                    " AND table = 'columns' AND name = 'compression_codec'",
                    &codecs, error));
  TT_TRY(ask_number(source,
                    "SELECT toInt64(count()) FROM system.merge_tree_settings"
                    " WHERE name IN ('fsync_after_insert', 'fsync_part_directory')",
                    &syncs, error));
  *abilities = (tt_clickhouse_abilities){.codecs = codecs, .syncs = syncs == 2};
  return TT_OK;
}

static tt_status make_tables(const tt_clickhouse_source *source, tt_error *error) {
  tt_clickhouse_abilities abilities;
  tt_list sql = TT_LIST(char, NULL);
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
    TT_TRY(run(source, definitions[i], error));
  TT_TRY(find_abilities(source, &abilities, error));
  tt_clickhouse_print_value_table(&abilities, &sql);
  tt_status status = tt_clickhouse_ask_list(source, &sql, NULL, error);
  tt_list_free(&sql);
  return status;
}

/** Programs that are older don't find their table any more, and are refused when they connect again. */
static tt_status rename_values(const tt_clickhouse_source *source, tt_error *error) {
  int64_t there;
  TT_TRY(ask_number(source,
                    "SELECT toInt64(count()) FROM system.tables WHERE database = currentDatabase()"
                    " AND name = '" TT_CLICKHOUSE_OLD_VALUES "'",
                    &there, error));
  if (!there) return TT_OK;
  tt_log_info(
      "clickhouse: made by an older Tether and upgraded now; older programs can't open it "
      "afterwards");
  return run(source, "RENAME TABLE " TT_CLICKHOUSE_OLD_VALUES " TO " TT_CLICKHOUSE_VALUES, error);
}

/** All hours of version 1, device by device, since that may take a while. Done twice it changes nothing. */
static tt_status mark_all(const tt_clickhouse_source *source, tt_error *error) {
  tt_list answer = TT_LIST(char, NULL);
  tt_status status = tt_clickhouse_ask(source->link, "SELECT DISTINCT id FROM name WHERE kind = 0",
                                       NULL, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && tt_clickhouse_has_row(&rows)) {
    char sql[512];
    snprintf(sql, sizeof sql,
             "INSERT INTO marked_hour SELECT DISTINCT device, hour, toUInt64(1) FROM"
             " (SELECT device, toInt64(%" PRId64
             ") AS length, device_time + time_offset AS time,"
             " time - ((time %% length) + length) %% length AS hour FROM " TT_CLICKHOUSE_VALUES
             " WHERE device = %" PRIu64 ")",
             HOUR, tt_clickhouse_get_unsigned(&rows));
    status = run(source, sql, error);
  }
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  tt_list_free(&answer);
  return status;
}

/** Made anew, since it reads of the shards that the URL names now. */
static tt_status make_view(const tt_clickhouse_source *source, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL);
  TT_TRY(run(source, "DROP TABLE IF EXISTS telemetry", error));
  tt_clickhouse_print_view(source, &sql);
  tt_status status = tt_clickhouse_ask_list(source, &sql, NULL, error);
  tt_list_free(&sql);
  return status;
}

tt_status tt_clickhouse_upgrade(const tt_clickhouse_source *source, bool view, tt_error *error) {
  int64_t version;
  char sql[256];
  TT_TRY(read_version(source, &version, error));
  if (version > VERSION) return refuse_newer(version, error);
  if (version < VERSION) {
    tt_clickhouse_link_use(source->link, false);
    snprintf(sql, sizeof sql, "CREATE DATABASE IF NOT EXISTS %s", source->address->database);
    TT_TRY(run(source, sql, error));
    tt_clickhouse_link_use(source->link, true);
    TT_TRY(rename_values(source, error));
    TT_TRY(make_tables(source, error));
    if (version == 1) TT_TRY(mark_all(source, error));
    TT_TRY(run(source,
               "CREATE TABLE IF NOT EXISTS schema_version (version UInt32)"
               " ENGINE = MergeTree ORDER BY version",
               error));
    snprintf(sql, sizeof sql, "INSERT INTO schema_version VALUES (%d)", VERSION);
    TT_TRY(run(source, sql, error));
  }
  return view || version < VERSION ? make_view(source, error) : TT_OK;
}
