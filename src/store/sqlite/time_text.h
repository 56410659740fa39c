/* time_text.h: times as the view `telemetry` writes them, quicker than SQLite does, and back. Plain functions; any thread. */
#ifndef TT_STORE_SQLITE_TIME_TEXT_H
#define TT_STORE_SQLITE_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of the text, with its 0. */
#define TT_SQLITE_TIME_TEXT_SIZE 28
/** µs UTC: times from 0 to before this have a text of that size, and later ones a greater text. */
#define TT_SQLITE_TIME_TEXT_END INT64_C(253402300800000000)

/** "2026-01-01T00:00:04.200419Z", as TT_SQLITE_TIME_TEXT() gives it. False: another time, of another text. */
bool tt_sqlite_put_time_text(int64_t time, char text[TT_SQLITE_TIME_TEXT_SIZE]);
/** The first time from 0 on whose text is not less than some bytes, or (`behind`) is greater than they; at most the end. */
int64_t tt_sqlite_time_from_text(const char *bytes, size_t size, bool behind);

#endif
