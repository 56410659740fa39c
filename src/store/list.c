/* list.c */
#include "store/list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *item_at(const tt_list *list, uint32_t index) {
  return (char *)list->data + (size_t)index * list->item_size;
}

void tt_list_free(tt_list *list) {
  tt_list_cut(list, 0);
  free(list->data);
  list->data = NULL;
  list->room = 0;
}

/** Of the first room, which is an item's at least: there are lists of lists. */
#define FIRST_BYTES 128

bool tt_list_grow(tt_list *list, size_t more) {
  if (list->failed) return false;
  size_t needed = list->len + more, room = list->room ? list->room : FIRST_BYTES / list->item_size;
  if (!room) room = 1;
  while (room < needed) room *= 2;
  void *moved = needed <= UINT32_MAX / 2 ? realloc(list->data, room * list->item_size) : NULL;
  if (!moved) return false;
  list->data = moved;
  list->room = (uint32_t)room;
  return true;
}

static bool fail(tt_list *list) {
  list->failed = true;
  return false;
}

void tt_list_cut(tt_list *list, uint32_t len) {
  while (list->clear && list->len > len) list->clear(item_at(list, --list->len));
  if (list->len > len) list->len = len;
  if (!len) list->failed = false;
}

void tt_list_remove(tt_list *list, uint32_t index) {
  if (list->clear) list->clear(item_at(list, index));
  list->len--;
  if (index != list->len) memcpy(item_at(list, index), item_at(list, list->len), list->item_size);
}

bool tt_list_fill(tt_list *list, uint32_t len) {
  if (len <= list->len) return true;
  if (!tt_list_reserve(list, len - list->len)) return false;
  memset(item_at(list, list->len), 0, (size_t)(len - list->len) * list->item_size);
  list->len = len;
  return true;
}

bool tt_list_print(tt_list *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (size < 0 || !tt_list_reserve(text, (size_t)size + 1)) return fail(text);
  va_start(arguments, format);
  vsnprintf(item_at(text, text->len), (size_t)size + 1, format, arguments);
  va_end(arguments);
  text->len += (uint32_t)size;
  return true;
}
