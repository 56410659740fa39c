/* text.h: text from outside (files, peers, names), made safe for people to read: on a terminal, in a log.
 *
 * Whatever the program says goes through tt_print() or tt_log(); tests/architecture_test.py sees to it.
 */
#ifndef TT_BASE_TEXT_H
#define TT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Bytes of the UTF-8 character that `text` begins with, and which it is. 0: none begins there that ends by `end`, behind `text`. */
size_t tt_text_character(const char *text, const char *end, uint32_t *code);
/** Whether all of it is UTF-8; a 0 is a character like any other. */
bool tt_text_is_utf8(const char *text, size_t size);

/** Makes `text` safe to show, in place: a '?' for each control character (those of a terminal, line ends among them), for
 *  each character that turns the direction of writing or ends a line (U+202E, U+2028, …), and for each byte that is no UTF-8.
 *  Never longer than it was. */
void tt_text_make_safe(char *text);

/** Cuts `text` so that it has at most `size` bytes, between two characters. Returns what is left, bytes. */
size_t tt_text_cut(char *text, size_t size);
/** The same for at most `columns` characters, each taken for one column of a terminal. */
size_t tt_text_cut_columns(char *text, size_t columns);

/** Whether `text` is what `pattern` says, in which * stands for any characters, ? for one, and all else for itself. */
bool tt_text_matches(const char *text, const char *pattern);

/** Whether a spreadsheet that opens a CSV would take `text` for a formula, and run what it says. Whoever writes text into a
 *  CSV puts an apostrophe before it, as csvCell() of the pages does. */
bool tt_text_is_formula(const char *text);

/** Prints as fprintf() does, in one write, made safe as above. Only the line ends at the beginning and at the end of
 *  `format` itself stay line ends. Any thread. */
void tt_print(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Prints each line of `text`, made safe, behind `indent`. Nothing for an empty text. Any thread. */
void tt_print_lines(FILE *to, const char *indent, const char *text);

#endif
