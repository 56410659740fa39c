/* run_picture.h: the picture of a kept run that lies beside it, so that a list of runs shows it at once. */
#ifndef TT_RECORD_RUN_PICTURE_H
#define TT_RECORD_RUN_PICTURE_H

#include "record/run_folder.h"
#include "record/wpilog.h"

/** Appends the SVG of tt_export_svg(): the one beside the log, or a new one, which then lies there, as long as the run is over. A
 *  picture that is older than its log is made anew. Reads the whole log where there is none yet. Any thread. TT_INVALID: the log
 *  can't be read; TT_NOMEM. */
tt_status tt_kept_run_picture(const tt_kept_run *run, tt_bytes *svg, tt_error *error);

#endif
