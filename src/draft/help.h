/* help.h: what docs/scene.md and docs/robots.md say of a key, for who writes one. The pages are part of the program, and a test sees that
 * every key stands in them. */
#ifndef TT_DRAFT_HELP_H
#define TT_DRAFT_HELP_H

#include <stdbool.h>
#include <stddef.h>

/** A key as its table has it; texts as they stand there, Markdown included. */
typedef struct tt_help {
  char type[256]; /**< "quantity, s, at most 10 s"; "" where its table has no such column */
  /** what holds where it is left out; "" where nothing does, or the table doesn't say */
  char initial[256];
  char text[1200]; /**< what it means; may be "" */
} tt_help;

/** Looks for the key `path` ("wires.float-udp.bind") of a `file`, "scene", "robot" or "arena". False: it has no row, as a protocol, which has
 *  a section. Any thread. */
bool tt_help_find(const char *file, const char *path, tt_help *help);

#endif
