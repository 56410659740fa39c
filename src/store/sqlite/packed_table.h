/* packed_table.h: packed columns as a table of SQLite, a row a value, for the view `telemetry`: inside the program, and as
 * tether-telemetry.so in any other program that has SQLite.
 */
#ifndef TT_STORE_SQLITE_PACKED_TABLE_H
#define TT_STORE_SQLITE_PACKED_TABLE_H

#include <sqlite3.h>

/** The module's name stands in the file, and in the error of a program that has not loaded it: it says how to. */
#define TT_SQLITE_PACKED_MODULE                                                                    \
  "tether-telemetry, which in sqlite3 is loaded by: .load /usr/lib/tether/tether-telemetry.so"
/** Its table in a file of which anything is packed, with the columns that TT_SQLITE_PACKED_COLUMNS names. */
#define TT_SQLITE_PACKED_TABLE "packed_value"
/** As those of the view are declared, so that they compare alike. */
#define TT_SQLITE_PACKED_COLUMNS                                                                   \
  "device, time, attribute, value NOT NULL, time_us INTEGER, device_time_us INTEGER,"              \
  " epoch INTEGER, device_identifier TEXT, attribute_identifier TEXT"
/** The text of a time in µs UTC, an expression `t`. */
#define TT_SQLITE_TIME_TEXT(t)                                                                     \
  "strftime('%Y-%m-%dT%H:%M:', " t                                                                 \
  " / 1000000, 'unixepoch') ||"                                                                    \
  " printf('%02d.%06dZ', " t " / 1000000 % 60, " t " % 1000000)"

/** Makes the module known to a connection; a code of SQLite's. */
int tt_sqlite_register_packed(sqlite3 *db);

#endif
