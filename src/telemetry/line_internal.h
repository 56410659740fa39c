/* line_internal.h: shared by line_protocol.c (lines in a stream, points in messages) and line_content.c (what stands in a
 * line). */
#ifndef TT_TELEMETRY_LINE_INTERNAL_H
#define TT_TELEMETRY_LINE_INTERNAL_H

#include "store/list.h"
#include "telemetry/line_protocol.h"
#include "telemetry/message_build.h"

/** A tag or a field. */
typedef struct tt_line_pair {
  tt_piece key, value;
  size_t column; /**< of its key, from 1… */
  unsigned long line;
} tt_line_pair;

/** A line that was read; its pieces lie in the line's own bytes, which were changed, or are static. */
typedef struct tt_line {
  tt_piece measurement;
  tt_list tags,
      fields; /**< tt_line_pair; tags in order of their keys, fields with values as MESSAGE has them */
  int64_t time;               /**< µs, or TT_MESSAGE_NO_TIME */
  unsigned long line, column; /**< where reading went wrong */
  char reason[256];           /**< why it did; "" */
} tt_line;

/** Empty, to be read into again and again, and cleared. */
void tt_line_init(tt_line *line);
void tt_line_clear(tt_line *line);
/** Reads a line without its end, which begins at line `number`. False: `line` says why and where. */
bool tt_line_read(tt_line *line, char *bytes, size_t size, unsigned long number,
                  const tt_line_options *options);
#endif
