#include "app/last_words.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define MOST (sizeof((tt_last_words *)0)->text - 1)

void tt_last_words_add(tt_last_words *words, const char *bytes, size_t size) {
  words->printed += (double)size;
  if (size > MOST) {
    bytes += size - MOST;
    size = MOST;
  }
  size_t kept = words->size + size > MOST ? MOST - size : words->size;
  memmove(words->text, words->text + words->size - kept, kept);
  memcpy(words->text + kept, bytes, size);
  words->size = kept + size;
}

static size_t put(char *to, size_t used, const char *text) {
  size_t left = MOST - used, size = strlen(text) < left ? strlen(text) : left;
  memcpy(to + used, text, size);
  return used + size;
}

void tt_last_words_settle(tt_last_words *words) {
  static const char blank[] = " \t\r\n";
  char joined[sizeof words->text];
  size_t used = 0;
  for (size_t i = 0; i < words->size; i++)
    if (!words->text[i]) words->text[i] = '?';
  words->text[words->size] = 0;
  for (const char *at = words->text + strspn(words->text, blank); *at;) {
    size_t length = strcspn(at, "\n"), shown = length;
    while (shown > 0 && strchr(blank, at[shown - 1])) shown--;
    if (used > 0 && shown > 0) used = put(joined, used, " | ");
    char line[sizeof words->text];
    memcpy(line, at, shown);
    line[shown] = 0;
    used = put(joined, used, line);
    at += length;
    at += strspn(at, "\r\n");
  }
  memcpy(words->text, joined, used);
  words->text[used] = 0;
  tt_text_make_safe(words->text);
  words->size = strlen(words->text);
}
