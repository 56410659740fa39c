/* run_folder.h: the folder of kept runs: which there are, what file each is, which is pinned, which makes room.
 *
 * A run is a file NAME.wpilog in the folder. A run that was recorded elsewhere is NAME.wpilog.elsewhere, a line that says
 * where. NAME.wpilog.pinned beside either pins it: it never makes room. NAME.wpilog.about has what people wrote of it
 * (run_about.h), NAME.wpilog.picture where its robots went (run_picture.h). Names begin with the date. Any thread; programs
 * may share a folder.
 */
#ifndef TT_RECORD_RUN_FOLDER_H
#define TT_RECORD_RUN_FOLDER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_RUN_ENDING ".wpilog"
#define TT_RUN_ID 256         /**< bytes of an id, its end included */
#define TT_RUN_ABOUT ".about" /**< behind `beside`, as the next */
#define TT_RUN_PICTURE ".picture"

/** One of the list. Texts are the list's. */
typedef struct tt_kept_run {
  char *id;   /**< "2026-11-20T19-52-07-frc2011.wpilog" */
  char *path; /**< of its file */
  /** "FOLDER/ID": names of what lies beside it begin so, also where its file is elsewhere */
  char *beside;
  bool elsewhere; /**< recorded into a file that is not in the folder */
  bool pinned;
  /** since 1970: when it was last written, of one elsewhere when it was listed */
  int64_t written_ns;
} tt_kept_run;

typedef struct tt_kept_runs {
  tt_kept_run *runs; /**< newest first */
  size_t count;
} tt_kept_runs;

/** Those whose file is there, whatever is in it. A folder that can't be read has none. TT_NOMEM. Free it with
 *  tt_kept_runs_free(), also after failure. */
tt_status tt_kept_runs_list(const char *folder, tt_kept_runs *runs);
void tt_kept_runs_free(tt_kept_runs *runs);

/** The run called `id`: an id may come from anybody. False unless it is a plain file of this folder, or one that was recorded
 *  elsewhere by this user. Free it with tt_kept_run_clear(), also after failure. */
bool tt_kept_run_find(const char *folder, const char *id, tt_kept_run *run);
void tt_kept_run_clear(tt_kept_run *run);
/** The id of the run whose file is `path`; "" where the list has none. */
void tt_kept_run_name(const char *folder, const char *path, char id[TT_RUN_ID]);
/** Pins it, or no longer. TT_NOT_FOUND: there is no such run. */
tt_status tt_kept_run_pin(const char *folder, const char *id, bool pinned, tt_error *error);
/** Removes it with what lies beside it; of one recorded elsewhere the entry in the list only, its file stays. TT_NOT_FOUND;
 *  TT_INVALID: it is pinned, or still being recorded. */
tt_status tt_kept_run_remove(const char *folder, const char *id, tt_error *error);

/** A path in `folder` for a run of `scene` that begins now: the newest of the list. */
tt_status tt_kept_runs_new_path(const char *folder, const char *scene, char *path, size_t size,
                                tt_error *error);
/** Makes an empty file of such a path, which no other program has. TT_FULL: the disk has no room for it; TT_FAILED. */
tt_status tt_kept_runs_claim(const char *folder, const char *scene, char *path, size_t size,
                             tt_error *error);
/** Puts the file at `path`, a run of `scene` that begins now, into the list, once. Nothing to do where it lies in the folder. */
tt_status tt_kept_runs_note(const char *folder, const char *scene, const char *path,
                            tt_error *error);
/** Says that the run whose file is `path` was just recorded: where the clock was set back, so that others seem to be newer, its
 *  file gets a later time than theirs. */
void tt_kept_run_is_newest(const char *folder, const char *path);
/** Removes the oldest, by the times of their files, until `keep` are left, and as many recorded elsewhere, of which the files stay; and until those in the
 *  folder take at most `bytes` together, indexes included. The newest stays, and what is still being recorded; what is pinned
 *  stays and is not counted, but takes its bytes. */
void tt_kept_runs_make_room(const char *folder, uint64_t keep, uint64_t bytes);

#endif
