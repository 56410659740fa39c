/* text.c: writing without locale and without allocation beyond the output. */
#include "telemetry/text.h"

#include "base/text.h"

#include <string.h>
#include <time.h>

/** Without a zone; returns its length. */
static size_t format_moment(char text[TT_ISO_SIZE], int64_t us) {
  int64_t fraction = us % 1000000;
  if (fraction < 0) fraction += 1000000;
  time_t seconds = (time_t)((us - fraction) / 1000000);
  struct tm parts;
  gmtime_r(&seconds, &parts);
  size_t used = strftime(text, TT_ISO_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
  return used +
         (size_t)g_snprintf(text + used, (gulong)(TT_ISO_SIZE - used), ".%06d", (int)fraction);
}

void tt_iso_format(char text[TT_ISO_SIZE], int64_t us) {
  size_t used = format_moment(text, us);
  g_strlcpy(text + used, "Z", TT_ISO_SIZE - used);
}

void tt_iso_format_zone(char text[TT_ISO_SIZE], int64_t us, GTimeZone *zone) {
  if (!zone) {
    tt_iso_format(text, us);
    return;
  }
  int64_t seconds = us / 1000000 - (us % 1000000 < 0);
  int interval = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, seconds);
  // Offsets of old local times have seconds, which ISO 8601 can't say: of a whole minute the moment is the same.
  int minutes = interval < 0 ? 0 : g_time_zone_get_offset(zone, interval) / 60;
  size_t used = format_moment(text, us + (int64_t)minutes * 60 * 1000000);
  g_snprintf(text + used, (gulong)(TT_ISO_SIZE - used), "%c%02d:%02d", minutes < 0 ? '-' : '+',
             ABS(minutes) / 60, ABS(minutes) % 60);
}

/** A name of tzdata's, such as "Europe/Berlin": no path that leads elsewhere, and none of the texts beside it. */
static bool is_zone_name(const char *text) {
  size_t length = strlen(text);
  if (length > 64 || !g_ascii_isalpha(*text) || !strchr(text, '/')) return false;
  return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") ==
         length;
}

static bool is_zone_offset(const char *text) {
  if (strlen(text) != 6 || !strchr("+-", *text) || text[3] != ':') return false;
  for (int i = 1; i < 6; i++) {
    if (i != 3 && !g_ascii_isdigit(text[i])) return false;
  }
  return true;
}

bool tt_zone_parse(const char *text, GTimeZone **zone) {
  *zone = NULL;
  if (!strcmp(text, "Z") || !strcmp(text, "UTC")) return true;
  if (is_zone_offset(text) || is_zone_name(text)) *zone = g_time_zone_new_identifier(text);
  return *zone;
}

bool tt_iso_parse(const char *text, int64_t *us) {
  char *end;
  gint64 number = g_ascii_strtoll(text, &end, 10);
  if (*text && !*end) {
    *us = number;
    return number > -9000000000000000 && number < 9000000000000000;
  }
  GDateTime *time = g_date_time_new_from_iso8601(text, NULL);
  if (!time) return false;
  *us = g_date_time_to_unix(time) * 1000000 + g_date_time_get_microsecond(time);
  g_date_time_unref(time);
  return true;
}

void tt_ms_format(char text[TT_MS_SIZE], int64_t us) {
  const char *sign = us < 0 ? "-" : "";
  uint64_t size = us < 0 ? -(uint64_t)us : (uint64_t)us;
  int used = g_snprintf(text, TT_MS_SIZE, "%s%" G_GUINT64_FORMAT, sign, size / 1000);
  if (size % 1000)
    g_snprintf(text + used, (gulong)(TT_MS_SIZE - used), ".%03d", (int)(size % 1000));
}

void tt_clock_format(char text[TT_MS_SIZE], int64_t us) {
  int64_t ms = us / 1000 - (us % 1000 < 0);
  const char *sign = ms < 0 ? "-" : "";
  if (ms < 0) ms = -ms;
  g_snprintf(text, TT_MS_SIZE, "%s%" G_GINT64_FORMAT ":%02d:%03d", sign, ms / 60000,
             (int)(ms / 1000 % 60), (int)(ms % 1000));
}

void tt_append_xml(GString *out, const char *text) {
  for (const char *c = text; *c;) {
    size_t plain = strcspn(c, "&<>\"'\t\r\n");
    g_string_append_len(out, c, (gssize)plain);
    c += plain;
    switch (*c) {
      case 0: return;
      case '&': g_string_append(out, "&amp;"); break;
      case '<': g_string_append(out, "&lt;"); break;
      case '>': g_string_append(out, "&gt;"); break;
      case '"': g_string_append(out, "&quot;"); break;
      case '\'': g_string_append(out, "&apos;"); break;
      default: g_string_append_printf(out, "&#%d;", *c); break;
    }
    c++;
  }
}

void tt_append_json(GString *out, const char *text) {
  g_string_append_c(out, '"');
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') {
      g_string_append_c(out, '\\');
      g_string_append_c(out, *c);
    } else if ((unsigned char)*c < 0x20) {
      g_string_append_printf(out, "\\u%04x", *c);
    } else {
      g_string_append_c(out, *c);
    }
  }
  g_string_append_c(out, '"');
}

void tt_append_csv(GString *out, const char *text) {
  const char *harmless = tt_text_is_formula(text) ? "'" : "";
  if (!text[strcspn(text, ",\"\r\n")]) {
    g_string_append(out, harmless);
    g_string_append(out, text);
    return;
  }
  g_string_append_c(out, '"');
  g_string_append(out, harmless);
  for (const char *c = text; *c; c++) {
    if (*c == '"') g_string_append_c(out, '"');
    g_string_append_c(out, *c);
  }
  g_string_append_c(out, '"');
}

bool tt_text_is_fit(const char *text, size_t limit) {
  size_t size = strlen(text);
  if (!size || size > limit || !g_utf8_validate(text, (gssize)size, NULL)) return false;
  for (const char *c = text; *c; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) return false;
  }
  return true;
}
