/* descriptors.h: the files and sockets that this process may have open at once, and those it begins with. */
#ifndef TT_APP_DESCRIPTORS_H
#define TT_APP_DESCRIPTORS_H

#include "base/status.h"

/** Whoever starts a program may have closed its standard input, output or error. The next file that is opened would stand in
 *  there, and what is said would land in it: that of nothing does instead. Call it before anything is opened. */
void tt_fill_standard_files(void);
/** Raises the soft limit where the hard one allows it. TT_FAILED, with what to do, when too few are allowed for any command:
 *  GLib and libuv would end the program without a word. Call it before any thread starts. */
tt_status tt_need_descriptors(tt_error *error);
/** Writes out what was printed. TT_FAILED, with the reason, where some of it was lost, now or before. */
tt_status tt_flush_output(tt_error *error);

#endif
