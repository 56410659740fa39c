/* text.h: how times and texts are written in XML, CSV and JSON. */
#ifndef TT_TELEMETRY_TEXT_H
#define TT_TELEMETRY_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TT_ISO_SIZE 40
/** µs UTC as 2026-11-20T19:30:00.123456Z. */
void tt_iso_format(char text[TT_ISO_SIZE], int64_t us);
/** The same as clocks of a zone show it: 2026-11-20T21:30:00.123456+02:00. NULL: UTC, with Z. */
void tt_iso_format_zone(char text[TT_ISO_SIZE], int64_t us, GTimeZone *zone);
/** "Z", "UTC" (`*zone` is NULL), "+02:00", or an IANA name such as "Europe/Berlin"; `*zone` is to be unreferenced. False:
 *  none of these, or not known to this machine. */
bool tt_zone_parse(const char *text, GTimeZone **zone);
/** ISO 8601 with a zone, or an integer of µs. */
bool tt_iso_parse(const char *text, int64_t *us);

#define TT_MS_SIZE 40
/** µs as milliseconds: "80000", "12.5". */
void tt_ms_format(char text[TT_MS_SIZE], int64_t us);

/** µs as m:ss:mmm ("1:20:050"), rounded down; a minus in front where negative. */
void tt_clock_format(char text[TT_MS_SIZE], int64_t us);

/** Text as content or attribute value of XML. */
void tt_append_xml(GString *out, const char *text);
/** Text as a JSON string, with its quotes. */
void tt_append_json(GString *out, const char *text);
/** Text as a field of CSV (RFC 4180), which no spreadsheet takes for a formula. Not for numbers. */
void tt_append_csv(GString *out, const char *text);

/** Fit for people and every format: UTF-8, 1…`limit` bytes, no control characters. */
bool tt_text_is_fit(const char *text, size_t limit);

#endif
