/* list.h: an array that grows, and text. Memory that runs out ends nothing: what is added then is left out, and the list
 * says so (`failed`) until it is emptied, so that a row of additions can be looked at once, behind the last.
 *
 * Used by one thread at a time. A list is zero at first but for the size of its items (TT_LIST()).
 */
#ifndef TT_STORE_LIST_H
#define TT_STORE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct tt_list {
  void *data; /**< NULL while nothing was added */
  uint32_t len, room;
  uint32_t item_size;
  bool failed;
  void (*clear)(void *item); /**< ends an item that goes away; NULL: nothing is to be ended */
} tt_list;

/** An empty list of a type; `clear_item`: see `clear`. */
#define TT_LIST(type, clear_item) ((tt_list){.item_size = sizeof(type), .clear = (clear_item)})

/** The item at an index, which must be there. */
#define tt_list_at(list, type, index) (((type *)(list)->data)[index])

/** Ends its items and gives its memory back; it is empty afterwards. */
void tt_list_free(tt_list *list);
/** Of tt_list_reserve(): takes more memory. */
bool tt_list_grow(tt_list *list, size_t more);

/** Makes room for so many more items; adding them then can't fail. False: out of memory, and it is as before. */
static inline bool tt_list_reserve(tt_list *list, size_t more) {
  return more <= list->room - list->len && !list->failed ? true : tt_list_grow(list, more);
}

/** Adds items that the caller writes, all of them. NULL: out of memory, now or before, or there are none. */
static inline void *tt_list_add_room(tt_list *list, size_t count) {
  if (!tt_list_reserve(list, count)) {
    list->failed = true;
    return NULL;
  }
  const size_t first = list->len;
  list->len += (uint32_t)count;
  return count ? (char *)list->data + first * list->item_size : NULL;
}

/** Adds copies of items. False: out of memory, now or before: nothing was added, and the items are still the caller's. */
static inline bool tt_list_add(tt_list *list, const void *items, size_t count) {
  void *room = tt_list_add_room(list, count);
  if (room) memcpy(room, items, count * list->item_size);
  return room || !list->failed;
}

/** Ends what stands behind the first `len` items. Emptied (0), it has not failed any more. */
void tt_list_cut(tt_list *list, uint32_t len);
/** Ends an item, whose place the last one takes. */
void tt_list_remove(tt_list *list, uint32_t index);
/** Makes it so long with zeros, if it is shorter. False: out of memory, and it is as before. */
bool tt_list_fill(tt_list *list, uint32_t len);

/* --- a list of char is text; a 0 that is not counted stands behind it --- */

/** Adds formatted text. */
bool tt_list_print(tt_list *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
