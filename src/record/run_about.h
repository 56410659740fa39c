/* run_about.h: what people write of a kept run: a name, tags and a note, in a file beside it.
 *
 * NAME.wpilog.about is a JSON object {"name", "tags", "note"}, as docs/web.md has these keys. The log itself stays as it was
 * written, so that it still verifies. Any thread.
 */
#ifndef TT_RECORD_RUN_ABOUT_H
#define TT_RECORD_RUN_ABOUT_H

#include "record/run_folder.h"

#include <json-c/json.h>

#define TT_ABOUT_MOST_NAME 200 /**< bytes */
#define TT_ABOUT_MOST_NOTE 10000
#define TT_ABOUT_MOST_TAG 50
#define TT_ABOUT_MOST_TAGS 20
#define TT_ABOUT_MOST_WAIT 5000 /**< ms for who writes in the same folder */

/** {name, tags, note}; empty ones where nothing was written, or where the file can't be read. The caller's to json_object_put();
 *  NULL: out of memory. */
struct json_object *tt_run_about_read(const tt_kept_run *run);
/** Writes those of `name`, `tags` and `note` that `changes` has; others stay, also those that another
 *  thread or program writes meanwhile, for which this waits `most_wait` ms. TT_INVALID: what `changes` has is no
 *  such thing, and nothing was changed; TT_FAILED: the file can't be written, or the other one still writes. */
tt_status tt_run_about_write(const tt_kept_run *run, struct json_object *changes, int most_wait,
                             tt_error *error);

#endif
