/* shell.h: words for sh. */
#ifndef TT_BASE_SHELL_H
#define TT_BASE_SHELL_H

#include <stdbool.h>
#include <stdio.h>

/** Whether sh sees nothing else in a text, bare or within quotes, than the text itself. */
bool tt_shell_is_plain(const char *text);
/** Writes a text as one word, within quotes. */
void tt_shell_put_quoted(FILE *to, const char *text);
/** The quote, ' or ", in which the character at `at` of a command stands; 0: in none. */
char tt_shell_quote_at(const char *command, const char *at);

#endif
