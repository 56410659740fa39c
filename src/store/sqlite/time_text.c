/* time_text.c */
#include "store/sqlite/time_text.h"

#include <string.h>

#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)

static void put_digits(char *at, unsigned digits, uint32_t number) {
  while (digits--) {
    at[digits] = (char)('0' + number % 10);
    number /= 10;
  }
}

/** Years that begin in March have their leap day last; 400 of them have always as many days. */
static void put_date(char *text, uint32_t days) {
  const uint32_t day = days + 719468;  // since March of the year 0
  const uint32_t era = day / 146097, of_era = day % 146097;
  const uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const uint32_t month = (5 * of_year + 2) / 153;  // from March
  put_digits(text, 4, 400 * era + year + (month >= 10));
  put_digits(text + 5, 2, month < 10 ? month + 3 : month - 9);
  put_digits(text + 8, 2, of_year - (153 * month + 2) / 5 + 1);
}

bool tt_sqlite_put_time_text(int64_t time, char text[TT_SQLITE_TIME_TEXT_SIZE]) {
  if (time < 0 || time >= TT_SQLITE_TIME_TEXT_END) return false;
  const uint32_t seconds = (uint32_t)(time % DAY / SECOND);
  memcpy(text, "....-..-..T..:..:..........Z", TT_SQLITE_TIME_TEXT_SIZE);
  put_date(text, (uint32_t)(time / DAY));
  put_digits(text + 11, 2, seconds / 3600);
  put_digits(text + 14, 2, seconds / 60 % 60);
  put_digits(text + 17, 2, seconds % 60);
  put_digits(text + 20, 6, (uint32_t)(time % SECOND));
  text[26] = 'Z';
  text[27] = 0;
  return true;
}

int64_t tt_sqlite_time_from_text(const char *bytes, size_t size, bool behind) {
  const size_t length = TT_SQLITE_TIME_TEXT_SIZE - 1, common = size < length ? size : length;
  int64_t low = 0, high = TT_SQLITE_TIME_TEXT_END;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    char text[TT_SQLITE_TIME_TEXT_SIZE];
    tt_sqlite_put_time_text(middle, text);
    int order = memcmp(text, bytes, common);
    if (!order) order = (length > size) - (length < size);
    if (order > 0 || (!order && !behind))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
