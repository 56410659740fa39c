#include "base/shell.h"

#include <ctype.h>
#include <string.h>

bool tt_shell_is_plain(const char *text) {
  static const char plain[] = "_-+.,/:@%^=";
  const char *c = text;
  while (*c && (isalnum((unsigned char)*c) || strchr(plain, *c))) c++;
  return *text && !*c;
}

void tt_shell_put_quoted(FILE *to, const char *text) {
  fputc('\'', to);
  for (const char *c = text; *c; c++) {
    if (*c == '\'')
      fputs("'\\''", to);
    else
      fputc(*c, to);
  }
  fputc('\'', to);
}

/* A comment begins where a word could, and ends with its line. */
static const char *skip_comment(const char *command, const char *c) {
  const bool begins = *c == '#' && (c == command || strchr(" \t\n;|&()", c[-1]));
  return begins ? c + strcspn(c, "\n") : c;
}

char tt_shell_quote_at(const char *command, const char *at) {
  char quote = 0;
  for (const char *c = command; *c && c < at; c++) {
    if (!quote) c = skip_comment(command, c);
    if (!*c || c >= at) return 0;
    if (*c == '\\' && quote != '\'' && c[1])
      c++;
    else if (quote ? *c == quote : *c == '\'' || *c == '"')
      quote = quote ? 0 : *c;
  }
  return quote;
}
