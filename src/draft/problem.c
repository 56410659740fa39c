#include "draft/problem.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes a number of at most nine digits that `text` begins with; bytes that it took. */
static int take_number(const char *text, int *number) {
  int size = 0;
  *number = 0;
  for (; size < 9 && isdigit((unsigned char)text[size]); size++)
    *number = 10 * *number + (text[size] - '0');
  return size;
}

/* The message without the folder's path, wherever it stands. */
static void strip_folder(const char *folder, const char *message, char *out, size_t size) {
  const size_t length = strlen(folder);
  size_t used = 0;
  while (*message && used + 1 < size) {
    if (length > 0 && strncmp(message, folder, length) == 0 && message[length] == '/')
      message += length + 1;
    else
      out[used++] = *message++;
  }
  out[used] = 0;
}

/* "wires.float-udp.sensors[2].unit" of "wires.float-udp.sensors[2].unit: …". */
static void take_key(tt_problem *problem) {
  const char *text = problem->text, *end = strstr(text, ": ");
  if (!end || (size_t)(end - text) >= sizeof problem->key) return;
  for (const char *c = text; c < end; c++)
    if (!isalnum((unsigned char)*c) && !strchr("_-.[]/", *c)) return;
  snprintf(problem->key, sizeof problem->key, "%.*s", (int)(end - text), text);
}

/* "FILE" of "FILE:12: …" or "FILE: …", where it ends in ':'; 0: it names none. */
static size_t file_of(const char *message) {
  for (const char *colon = strchr(message, ':'); colon; colon = strchr(colon + 1, ':')) {
    int number, digits = take_number(colon + 1, &number);
    if (colon[1] != ' ' && !(digits && colon[1 + digits] == ':')) continue;
    const char *dot = colon;
    while (dot > message && colon - dot < 6 && *dot != '.') dot--;
    return *dot == '.' && dot > message ? (size_t)(colon - message) : 0;
  }
  return 0;
}

void tt_problem_read(const char *folder, const char *message, tt_severity severity,
                     tt_problem *problem) {
  char text[sizeof problem->text];
  *problem = (tt_problem){.severity = severity};
  strip_folder(folder, message, text, sizeof text);
  const char *rest = text;
  size_t size = file_of(text);
  if (size > 0 && size < sizeof problem->file) {
    memcpy(problem->file, text, size);
    if (tt_draft_path_is_good(problem->file)) {
      rest = text + size + 1;
      int digits = take_number(rest, &problem->line);
      if (digits && rest[digits] == ':')
        rest += digits + 1;
      else
        problem->line = 0;
      rest += *rest == ' ';
    } else {
      problem->file[0] = 0;
    }
  }
  snprintf(problem->text, sizeof problem->text, "%s", rest);
  if (problem->line) take_key(problem);
}

/* --- where it stands --- */

/* The line of that number, `*length` bytes without its end; NULL: there is none. */
static const char *line_at(const char *text, size_t size, int number, size_t *length) {
  const char *end = text + size;
  for (int i = 1; text && i < number; i++) {
    text = memchr(text, '\n', (size_t)(end - text));
    if (text) text++;
  }
  if (!text || number < 1) return NULL;
  const char *next = memchr(text, '\n', (size_t)(end - text));
  *length = (size_t)((next ? next : end) - text);
  return text;
}

/* What stands between the first quotes of the message; its length, 0: nothing. */
static size_t quoted(const char *message, const char **from) {
  const char *open = strchr(message, '\''), *close = open ? strchr(open + 1, '\'') : NULL;
  if (!close || close - open < 2) return 0;
  *from = open + 1;
  return (size_t)(close - open - 1);
}

/* The last name of a key's path. */
static size_t last_name(const char *key, const char **from) {
  size_t end = strlen(key);
  while (end > 0 && (key[end - 1] == ']' || isdigit((unsigned char)key[end - 1]))) end--;
  while (end > 0 && key[end - 1] == '[') end--;
  size_t start = end;
  while (start > 0 && !strchr(".]", key[start - 1])) start--;
  *from = key + start;
  return end - start;
}

static void find_column(tt_problem *problem, const char *line, size_t length) {
  const char *word, *found = NULL;
  size_t size = quoted(problem->text, &word);
  if (size) found = memmem(line, length, word, size);
  if (!found && (size = last_name(problem->key, &word))) found = memmem(line, length, word, size);
  size_t at = 0;
  while (!found && at < length && isspace((unsigned char)line[at])) at++;
  if (found) at = (size_t)(found - line);
  int column = 1;
  for (size_t i = 0; i < at; i++) column += (line[i] & 0xc0) != 0x80; /* characters, not bytes */
  problem->column = column;
}

/* ", line 12" or "Line number=12", as readers of XML say it. */
static int told_line(const char *message) {
  static const char *const words[] = {"line ", "Line number="};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    int number;
    const char *found = strstr(message, words[i]);
    if (found && take_number(found + strlen(words[i]), &number)) return number;
  }
  return 0;
}

/* The first line that has what the message quotes, in quotes itself: a name in XML. */
static int quoted_line(const char *message, const char *text, size_t size) {
  const char *word;
  size_t length = quoted(message, &word);
  for (const char *at = text; length && (at = memmem(at, (size_t)(text + size - at), word, length));
       at++) {
    if (at == text || !strchr("\"'/", at[-1]) || !at[length] || !strchr("\"'", at[length]))
      continue;
    int line = 1;
    for (const char *c = text; c < at; c++) line += *c == '\n';
    return line;
  }
  return 0;
}

static bool ends_with(const char *text, const char *ending) {
  size_t size = strlen(text), length = strlen(ending);
  return size >= length && strcmp(text + size - length, ending) == 0;
}

void tt_problem_place(tt_problem *problem, const char *text, size_t size) {
  size_t length;
  /* MuJoCo reads a URDF that was rewritten for it: its lines are others. */
  if (!problem->line && !ends_with(problem->file, ".urdf"))
    problem->line = told_line(problem->text);
  if (!problem->line) problem->line = quoted_line(problem->text, text, size);
  const char *line = problem->line ? line_at(text, size, problem->line, &length) : NULL;
  if (line) find_column(problem, line, length);
}
