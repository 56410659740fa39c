/* schema.c: the tables of a file, and how one of an older version becomes one of this. */
#include "base/log.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/packed_table.h"

#define APPLICATION_ID 0x54544c4d /* "TTLM" */

/** One view for people: of rows… */
#define ROWS                                                                                       \
  " SELECT coalesce(device.name, device.identifier) AS device,"                                    \
  "  " TT_SQLITE_TIME_TEXT("sample.time") " AS time,"                                              \
  "  coalesce(attribute.name, attribute.identifier) AS attribute, value.value AS value,"           \
  "  sample.time AS time_us, sample.device_time AS device_time_us, sample.epoch AS epoch,"         \
  "  device.identifier AS device_identifier, attribute.identifier AS attribute_identifier"         \
  " FROM sample JOIN value ON value.sample = sample.id"                                            \
  " JOIN device ON device.id = sample.device JOIN attribute ON attribute.id = value.attribute;"
/** …and of what is packed, which comes first because it is older. */
#define PACKED                                                                                     \
  " SELECT device, time, attribute, value, time_us, device_time_us, epoch, device_identifier,"     \
  "  attribute_identifier FROM " TT_SQLITE_PACKED_TABLE " UNION ALL"
#define VIEW "CREATE VIEW telemetry AS" ROWS
#define VIEW_OF_ALL "CREATE VIEW telemetry AS" PACKED ROWS

/** The minute and the hour of a time, rounded down. */
#define MINUTE(time) "((" time " - (" time " % 60000000 + 60000000) % 60000000) / 60000000)"
#define HOUR(time) "((" time " - (" time " % 3600000000 + 3600000000) % 3600000000) / 3600000000)"

/** Each step brings a file from version n to n + 1; a new file goes through all of them. */
static const char *const migrations[] = {
    // 0 → 1: the tables.
    "CREATE TABLE device (id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT "
    "UNIQUE);"
    "CREATE TABLE attribute (id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT "
    "UNIQUE);"
    "CREATE TABLE handling (pattern TEXT PRIMARY KEY, type INTEGER NOT NULL, mode INTEGER NOT "
    "NULL, unit TEXT,"
    " scale REAL NOT NULL, offset REAL NOT NULL, min_interval REAL NOT NULL, retention REAL NOT "
    "NULL) WITHOUT ROWID;"
    "CREATE TABLE boot (device INTEGER NOT NULL, epoch INTEGER NOT NULL, anchor INTEGER NOT NULL,"
    " offset_low INTEGER NOT NULL, offset_high INTEGER NOT NULL, PRIMARY KEY (device, epoch)) "
    "WITHOUT ROWID;"
    "CREATE TABLE sample (id INTEGER PRIMARY KEY, device INTEGER NOT NULL, epoch INTEGER NOT NULL,"
    " device_time INTEGER NOT NULL, time INTEGER NOT NULL, UNIQUE (device, epoch, device_time));"
    "CREATE TABLE value (sample INTEGER NOT NULL, attribute INTEGER NOT NULL, value NOT NULL,"
    " PRIMARY KEY (sample, attribute)) WITHOUT ROWID;",
    // 1 → 2: the view.
    VIEW,
    // 2 → 3: epochs have an identity and may have the device's name of its start; of one moment there may be several
    // samples, numbered by `nth`, whose messages may have numbers of the device's own.
    "ALTER TABLE boot ADD COLUMN key INTEGER;"
    "UPDATE boot SET key = epoch;"
    "ALTER TABLE boot ADD COLUMN boot TEXT NOT NULL DEFAULT '';"
    "DROP VIEW telemetry;"
    "CREATE TABLE sample_3 (id INTEGER PRIMARY KEY, device INTEGER NOT NULL, epoch INTEGER NOT "
    "NULL,"
    " device_time INTEGER NOT NULL, nth INTEGER NOT NULL, seq INTEGER, time INTEGER NOT NULL,"
    " UNIQUE (device, epoch, device_time, nth));"
    "INSERT INTO sample_3 SELECT id, device, epoch, device_time, 0, NULL, time FROM sample;"
    "DROP TABLE sample;"
    "ALTER TABLE sample_3 RENAME TO sample;" VIEW,
    // 3 → 4: of which devices there are values of which attributes; names that were removed.
    "CREATE TABLE pair (device INTEGER NOT NULL, attribute INTEGER NOT NULL,"
    " PRIMARY KEY (device, attribute)) WITHOUT ROWID;"
    "INSERT INTO pair SELECT DISTINCT s.device, v.attribute FROM sample s JOIN value v"
    " ON v.sample = s.id;"
    "ALTER TABLE device ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attribute ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;",
    // 4 → 5: days that are over as packed columns. A segment has the moments of some records of an epoch, `packed` the values
    // of each attribute in them. Neither's ids are used again: what is known by one stays true.
    "CREATE TABLE segment (id INTEGER PRIMARY KEY AUTOINCREMENT, device INTEGER NOT NULL,"
    " epoch INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,"
    " time_first INTEGER NOT NULL, time_last INTEGER NOT NULL, rows INTEGER NOT NULL,"
    " moments BLOB NOT NULL, UNIQUE (device, epoch, first));"
    "CREATE TABLE packed (id INTEGER PRIMARY KEY AUTOINCREMENT, segment INTEGER NOT NULL,"
    " attribute INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL,"
    " UNIQUE (segment, attribute));"
    // Buckets of minutes and hours, many a page; hours since 1970 whose buckets are to be made: see marks.h. Those of what
    // was stored before are.
    "CREATE TABLE bucket_page (device INTEGER NOT NULL, size INTEGER NOT NULL, page INTEGER NOT NULL,"
    " attribute INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (device, size, page, attribute));"
    "CREATE TABLE stale (device INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,"
    " PRIMARY KEY (device, first)) WITHOUT ROWID;"
    "INSERT INTO stale SELECT device, " HOUR("low") " AS first, max(" HOUR("high") ") FROM ("
    "  SELECT device,"
    "   offset_low + (SELECT min(device_time) FROM sample s"
    "    WHERE s.device = b.device AND s.epoch = b.epoch) AS low,"
    "   offset_high + (SELECT max(device_time) FROM sample s"
    "    WHERE s.device = b.device AND s.epoch = b.epoch) AS high FROM boot b)"
    " WHERE low IS NOT NULL GROUP BY device, first;",
    // 5 → 6: of each device the place in a log of the last message that was unsure: see passed.h.
    ("CREATE TABLE passed (device INTEGER NOT NULL, log INTEGER NOT NULL, place INTEGER NOT NULL,"
     " PRIMARY KEY (device, log)) WITHOUT ROWID;"),
    // 6 → 7: in which minute each attribute of a device was said last: see newest.h. Of what was stored before, nothing is known but
    // when the device was heard last.
    "CREATE TABLE newest (device INTEGER NOT NULL, attribute INTEGER NOT NULL,"
    " minute INTEGER NOT NULL, PRIMARY KEY (device, attribute)) WITHOUT ROWID;"
    "INSERT INTO newest SELECT device, attribute, " MINUTE("high") " FROM pair JOIN ("
    "  SELECT device, max(offset_high + max(coalesce("
    "   (SELECT max(device_time) FROM sample s WHERE s.device = b.device AND s.epoch = b.epoch),"
    "   (SELECT last FROM segment g WHERE g.device = b.device AND g.epoch = b.epoch"
    "    ORDER BY first DESC LIMIT 1)), coalesce("
    "   (SELECT last FROM segment g WHERE g.device = b.device AND g.epoch = b.epoch"
    "    ORDER BY first DESC LIMIT 1),"
    "   (SELECT max(device_time) FROM sample s WHERE s.device = b.device"
    "    AND s.epoch = b.epoch)))) AS high FROM boot b GROUP BY device) USING (device)"
    " WHERE high IS NOT NULL;",
    // 7 → 8: a device that says which start it is may have many: those of one name are found, not gone through.
    "CREATE INDEX IF NOT EXISTS boot_label ON boot (device, boot, epoch);",
};
#define VERSION ((int)(sizeof migrations / sizeof *migrations))

tt_status tt_sqlite_show_packed(sqlite3 *db, const char *path, bool packed, tt_error *error) {
  TT_TRY(tt_sqlite_execute(
      db, path, "DROP VIEW IF EXISTS telemetry; DROP TABLE IF EXISTS " TT_SQLITE_PACKED_TABLE,
      error));
  return tt_sqlite_execute(db, path,
                           packed ? "CREATE VIRTUAL TABLE " TT_SQLITE_PACKED_TABLE
                                    " USING \"" TT_SQLITE_PACKED_MODULE "\";" VIEW_OF_ALL
                                  : VIEW,
                           error);
}

/** TT_INVALID: it is another program's. TT_VERSION: a newer program's. `*version` 0: it is empty. */
static tt_status read_version(sqlite3 *db, const char *path, int *version, tt_error *error) {
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(
          db, "SELECT user_version, application_id FROM pragma_user_version, pragma_application_id",
          -1, &query, NULL) != SQLITE_OK ||
      sqlite3_step(query) != SQLITE_ROW) {
    tt_status status = tt_sqlite_fail(db, path, "this is no database", error);
    sqlite3_finalize(query);
    return status;
  }
  *version = sqlite3_column_int(query, 0);
  int application = sqlite3_column_int(query, 1);
  sqlite3_finalize(query);
  if (application != 0 && application != APPLICATION_ID) {
    return tt_fail(error, TT_INVALID,
                   "%s: belongs to another program (application id %#x); give another file", path,
                   (unsigned)application);
  }
  if (*version > VERSION) {
    return tt_fail(error, TT_VERSION,
                   "%s: made by a newer Tether (schema %d, this program knows up to %d); "
                   "use that program or give another file",
                   path, *version, VERSION);
  }
  return TT_OK;
}

tt_status tt_sqlite_check_version(sqlite3 *db, const char *path, tt_error *error) {
  int version;
  TT_TRY(read_version(db, path, &version, error));
  if (!version) return tt_fail(error, TT_NOT_FOUND, "%s: no telemetry is stored in it", path);
  if (version == VERSION) return TT_OK;
  return tt_fail(error, TT_VERSION,
                 "%s: made by an older Tether (schema %d, this program reads %d); collect into it "
                 "once, or open it with that program",
                 path, version, VERSION);
}

tt_status tt_sqlite_upgrade(sqlite3 *db, const char *path, tt_error *error) {
  int version;
  TT_TRY(read_version(db, path, &version, error));
  if (version && version < VERSION)
    tt_log_info(
        "%s: made by an older Tether (schema %d) and brought to schema %d now, which takes a "
        "while where it is large; older programs can't open it afterwards",
        path, version, VERSION);
  for (; version < VERSION; version++) {
    char *sql = sqlite3_mprintf(
        "BEGIN IMMEDIATE; %s PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT",
        migrations[version], version + 1, APPLICATION_ID);
    tt_status status = sql ? tt_sqlite_execute(db, path, sql, error)
                           : tt_fail(error, TT_NOMEM, "%s: out of memory", path);
    sqlite3_free(sql);
    TT_TRY(status);
  }
  return TT_OK;
}
