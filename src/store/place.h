/* place.h: which store a URL means, without who asks and how: told to people, and compared. */
#ifndef TT_STORE_PLACE_H
#define TT_STORE_PLACE_H

#include <stdbool.h>

/** The place that a URL of a kind of store means, "KIND://HOST[,HOST…]/NAME[?host=…]": without user, password and options. To be
 *  freed; NULL: out of memory. */
char *tt_store_place(const char *kind, const char *url);
/** Whether two places are the same store, also where one names more of its servers than the other. */
bool tt_store_is_place(const char *place, const char *other);

#endif
