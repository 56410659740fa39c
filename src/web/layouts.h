/* layouts.h: layouts of plots that people saved by name, kept in an SQLite file. What is in one is the pages' affair. */
#ifndef TT_WEB_LAYOUTS_H
#define TT_WEB_LAYOUTS_H

#include "base/status.h"

#include <json-c/json.h>

#define TT_LAYOUT_LONGEST_NAME 100 /**< bytes */
#define TT_LAYOUTS_MOST 1000       /**< in one file */

typedef struct tt_layouts tt_layouts;

/** Opens the file, making it where it is missing. Cheap: several programs may use it at the same time. */
tt_status tt_layouts_open(const char *path, tt_layouts **layouts, tt_error *error);
/** NULL-safe. */
void tt_layouts_close(tt_layouts *layouts);

/* `*made` is the caller's: the answer, as docs/web.md has it. TT_NOT_FOUND: there is none of this name. */
/** By name, without what is in them. */
tt_status tt_layouts_list(tt_layouts *layouts, struct json_object **made, tt_error *error);
tt_status tt_layouts_get(tt_layouts *layouts, const char *name, struct json_object **made,
                         tt_error *error);
/** Saves `layout`, in place of one of the same name. TT_INVALID: no name for people; TT_FULL: there are TT_LAYOUTS_MOST. */
tt_status tt_layouts_put(tt_layouts *layouts, const char *name, struct json_object *layout,
                         struct json_object **made, tt_error *error);
/** Answers the layout as it was. */
tt_status tt_layouts_remove(tt_layouts *layouts, const char *name, struct json_object **made,
                            tt_error *error);

#endif
