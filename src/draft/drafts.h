/* drafts.h: the scenes that people are making, each a folder of its own below one that the program keeps. */
#ifndef TT_DRAFT_DRAFTS_H
#define TT_DRAFT_DRAFTS_H

#include "draft/check.h"

#define TT_DRAFT_MOST 32      /**< that are kept */
#define TT_DRAFT_ID 17        /**< bytes of an id: 16 hexadecimal digits and the end */
#define TT_DRAFT_MOST_NAME 64 /**< bytes of a name, its end included */

/** All functions: any thread; they block for files, and tt_drafts_look() for as long as models take to compile. */
typedef struct tt_drafts tt_drafts;

/** Drafts in `folder`, an absolute path that exists. `maker` outlives it. NULL when out of memory. */
tt_drafts *tt_drafts_new(const char *folder, const tt_draft_maker *maker);
void tt_drafts_free(tt_drafts *drafts);

/** Letters, digits, `_` and `-`: what a scene of one's own may be called. */
bool tt_draft_name_is_good(const char *name);

/** A draft. */
typedef struct tt_draft {
  char id[TT_DRAFT_ID];
  char name[TT_DRAFT_MOST_NAME];
  char main[TT_DRAFT_MOST_NAME + 8]; /**< the scene's file, name.yaml */
  char folder[512];                  /**< absolute */
  int64_t changed;                   /**< ns since 1970 */
  bool untouched; /**< a copy of a scene, as it was made: nobody has done anything in it */
} tt_draft;

/** Who changes drafts. One who does not administer changes and removes no file that may have a token, or that can't be read, nor a draft
 *  that has one: he is answered TT_INVALID or TT_FAILED, and `denied`. NULL stands for the program itself, which may. */
typedef struct tt_draft_author {
  bool administers;
  bool denied; /**< the answer; false before the call */
} tt_draft_author;

/** A new scene on an empty floor. Where there are too many drafts, one goes that the author may remove: an untouched one before others,
 *  and of these the one that changed longest ago. TT_INVALID: its name; TT_FAILED, TT_FULL: the disk; TT_FULL and `denied`: he may remove
 *  none of them. */
tt_status tt_drafts_begin(tt_drafts *drafts, const char *name, tt_draft *draft,
                          tt_draft_author *author, tt_error *error);
/** A scene that is there (its file `path`), with copies of its files. Also TT_INVALID: it does not load; TT_FULL with `*large`: it has more
 *  files, or larger ones, than a draft may. */
tt_status tt_drafts_copy(tt_drafts *drafts, const char *path, tt_draft *draft, bool *large,
                         tt_draft_author *author, tt_error *error);
/** The draft of that id. TT_NOT_FOUND. */
tt_status tt_drafts_find(tt_drafts *drafts, const char *id, tt_draft *draft, tt_error *error);
/** At most TT_DRAFT_MOST, the last changed first, untouched ones behind the others; free() the list. TT_NOMEM. */
tt_status tt_drafts_list(tt_drafts *drafts, tt_draft **list, int *count, tt_error *error);
tt_status tt_drafts_remove(tt_drafts *drafts, const char *id, tt_draft_author *author,
                           tt_error *error);

/** tt_draft_file_write() and tt_draft_file_remove(), one at a time. `revision`: of the files that are written over, 0 of whichever
 *  there are, and then of those that were written; NULL: nobody asks. TT_STALE: others have changed them since. */
tt_status tt_drafts_write(tt_drafts *drafts, const tt_draft *draft, const char *path,
                          const void *bytes, size_t size, uint64_t *revision,
                          tt_draft_author *author, tt_error *error);
/** The same over a file that has one of `count` texts, of which only the hashes are known (tt_draft_text_hash()); 0: there is none. TT_STALE:
 *  it has another. `revision`: of the files then. */
tt_status tt_drafts_write_over(tt_drafts *drafts, const tt_draft *draft, const char *path,
                               const void *bytes, size_t size, const uint32_t *known, int count,
                               uint64_t *revision, tt_draft_author *author, tt_error *error);
/** FNV-1a, which pages can say, too. */
uint32_t tt_draft_text_hash(const void *bytes, size_t size);
tt_status tt_drafts_unlink(tt_drafts *drafts, const tt_draft *draft, const char *path,
                           tt_draft_author *author, tt_error *error);

/** What is known of it now; unref it. Made anew where a file changed. TT_NOT_FOUND, TT_NOMEM. */
tt_status tt_drafts_look(tt_drafts *drafts, const tt_draft *draft, tt_draft_look **look,
                         tt_error *error);

/** Copies it to `scenes`/`name`, where `tether run name` finds it; `path` is the scene's file there. TT_FULL with `*taken`: there is one
 *  of that name, and `replace` is false. TT_INVALID: the name, or with `*denied`, unless `administers`, what is copied or replaced has
 *  sections that concern the machine, or what is replaced may have a token; TT_FAILED. */
tt_status tt_drafts_save(tt_drafts *drafts, const tt_draft *draft, const char *scenes,
                         const char *name, bool replace, bool administers, char path[512],
                         bool *taken, bool *denied, tt_error *error);
/** Deletes `scenes`/`name` with all its files. Any thread. TT_NOT_FOUND: no such scene was saved there; TT_INVALID with `*denied`, unless
 *  `administers`: it has sections that concern the machine, or may have a token; TT_FAILED. */
tt_status tt_draft_saved_remove(const char *scenes, const char *name, bool administers,
                                bool *denied, tt_error *error);

#endif
