/* descriptors.h: how many files and sockets this process may open at once. */
#ifndef TT_APP_DESCRIPTORS_H
#define TT_APP_DESCRIPTORS_H

#include "base/status.h"

/** Raises the soft limit where the hard one allows it. TT_FAILED, with what to do, when too few are allowed for any command:
 *  GLib and libuv would end the program without a word. Call it before any thread starts. */
tt_status tt_need_descriptors(tt_error *error);

#endif
