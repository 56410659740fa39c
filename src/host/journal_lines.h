/* journal_lines.h: a journal sink that keeps every entry as a readable line, for tests to look at. */
#ifndef TT_HOST_JOURNAL_LINES_H
#define TT_HOST_JOURNAL_LINES_H

#include "sim/journal.h"

/** NULL when out of memory; free it with journal_lines_close(). */
tt_journal_sink *journal_lines_open(void);
void journal_lines_close(tt_journal_sink *sink);
/** All lines so far. Valid until the next entry. */
const char *journal_lines_text(const tt_journal_sink *sink);

#endif
