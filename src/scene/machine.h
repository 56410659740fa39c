/* machine.h: the sections of a scene that say what the machine does, and not what happens on the field: files, stores, ports, tokens. */
#ifndef TT_SCENE_MACHINE_H
#define TT_SCENE_MACHINE_H

#include "base/status.h"
#include "scene/pool.h"
#include "scene/tree.h"

#include <stdbool.h>

/** Their keys; NULL-terminated. */
extern const char *const tt_machine_sections[];

/** Who may not administer may not have the scene in the file at `path`, which nobody else writes now: it has some of them. TT_INVALID with
 *  `*denied`; or the file can't be read. */
tt_status tt_machine_check_file(const char *path, bool *denied, tt_error *error);
/** The same of the sections of a scene, as tt_scene.machine names them. */
tt_status tt_machine_check(const char *sections, bool *denied, tt_error *error);

/** Of a YAML file's text: whether it has a token that only who administers may read. TT_INVALID with `*denied`. So has any
 *  in which the word stands, also in a comment: while it is typed, it may be anything. */
tt_status tt_machine_check_secrets(const char *text, size_t size, bool *denied, tt_error *error);

/** What is said to who may not administer in place of what is wrong in a file that may have a token: that may show a part of its line. */
extern const char tt_machine_withheld[];
/** Is the scene in the file at `path` one that may have a token, `error`, which says what is wrong in it, says that instead, and still in
 *  which of its lines. */
void tt_machine_withhold(const char *path, tt_error *error);

/** Has a text the word token? Anywhere: one ':', ' ' or '#' that is amiss makes something else of a token. "tokens" is another word; in a text
 *  that is not `whole` only where it ends there. */
bool tt_machine_has_word(const char *text, size_t size, bool whole);

/** Is the setting PATH=VALUE one of them, or of a key in one? */
bool tt_setting_is_of_machine(const char *setting);

/** Those that a document has, "record, web"; "" where it has none; the pool's. NULL when out of memory. */
const char *tt_machine_list(const tt_document *document, tt_pool *pool);

#endif
