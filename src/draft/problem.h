/* problem.h: what is wrong with a file, and where, taken from the message that says it. */
#ifndef TT_DRAFT_PROBLEM_H
#define TT_DRAFT_PROBLEM_H

#include "draft/files.h"

/** How bad it is. */
typedef enum tt_severity { TT_SEVERITY_ERROR, TT_SEVERITY_WARNING } tt_severity;

/** Something that is wrong. */
typedef struct tt_problem {
  /** relative to the draft's folder; "" where none is named, or one that lies elsewhere */
  char file[TT_DRAFT_MOST_PATH];
  char key[256];    /**< the key's path as --set takes it; "" where none is named */
  int line, column; /**< from 1; 0: unknown */
  tt_severity severity;
  char text[1024]; /**< without file and line */
} tt_problem;

/** Reads "FILE:LINE: KEY: what is wrong" or "FILE: what is wrong", where FILE may lie below `folder` (an absolute path). Whatever `message`
 *  is, the result holds: file is "" or a good path, text is not longer than the message. */
void tt_problem_read(const char *folder, const char *message, tt_severity severity,
                     tt_problem *problem);

/** Finds line and column in the file's text, of `size` bytes with a 0 behind them: the line that a reader of XML told of, the last
 *  word of the key, or what the message has in quotes. */
void tt_problem_place(tt_problem *problem, const char *text, size_t size);

#endif
