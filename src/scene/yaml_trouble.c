#include "scene/yaml_trouble.h"

#include <stdbool.h>
#include <string.h>

#define ALIKE "; indent keys that belong together alike, with spaces"

/* A line of the file. */
typedef struct line {
  const char *text;
  size_t number; /* from 1 */
  int length;    /* bytes, without its end */
  int indent;    /* spaces and tabs before its first character */
} line;

static line line_at(const char *text, size_t size, size_t index) {
  const char *end = text + size, *next;
  line found = {.text = text, .number = 1};
  while (index-- > 0 && (next = memchr(found.text, '\n', (size_t)(end - found.text)))) {
    found.text = next + 1;
    found.number++;
  }
  while (found.text + found.length < end && !strchr("\r\n", found.text[found.length]))
    found.length++;
  while (found.indent < found.length && strchr(" \t", found.text[found.indent])) found.indent++;
  return found;
}

/* libyaml counts characters. */
static size_t byte_at(const line *of, size_t column) {
  size_t at = 0;
  while (at < (size_t)of->length && column-- > 0)
    for (at++; at < (size_t)of->length && (of->text[at] & 0xc0) == 0x80;) at++;
  return at;
}

static bool begins_with_tab(const line *of, size_t column) {
  if (memchr(of->text, '\t', (size_t)of->indent)) return true;
  return column < (size_t)of->length && of->text[column] == '\t';
}

static bool has_colon_before(const line *of, size_t column) {
  for (size_t i = (size_t)of->indent; i + 1 < column && i + 1 < (size_t)of->length; i++)
    if (of->text[i] == ':' && of->text[i + 1] == ' ') return true;
  return false;
}

static bool is_one_of(const char *text, const char *const *list) {
  for (; *list; list++)
    if (strcmp(text, *list) == 0) return true;
  return false;
}

int tt_yaml_shown(const char *text, size_t size) {
  size_t length = 0;
  while (length < size && text[length] && !strchr(": \t\r\n=", text[length])) length++;
  return (int)length;
}

/* What libyaml says of the end of something, where in truth a line stands at the wrong place. */
static const char *const misplaced[] = {"did not find expected key",
                                        "did not find expected '-' indicator",
                                        "did not find expected <document start>", NULL};

/* Where one thing stands, and what it lacks. */
static tt_status explain(const yaml_parser_t *parser, const char *path, const line *here,
                         const line *opened, tt_error *error) {
  const char *problem = parser->problem ? parser->problem : "it can't be parsed";
  const char *context = parser->context ? parser->context : "";
  size_t column = byte_at(here, parser->problem_mark.column);
  if (begins_with_tab(here, column))
    return tt_fail(error, TT_INVALID,
                   "%s:%zu: a tab stands before the text of this line; YAML is indented with "
                   "spaces: put spaces in its place",
                   path, here->number);
  if (strcmp(problem, "mapping values are not allowed in this context") == 0) {
    if (has_colon_before(here, column))
      return tt_fail(error, TT_INVALID,
                     "%s:%zu: a second ': ' stands in this line; put the text that holds it in "
                     "quotes",
                     path, here->number);
    return tt_fail(error, TT_INVALID,
                   "%s:%zu: this line is indented deeper than the one above, which has its value "
                   "already" ALIKE,
                   path, here->number);
  }
  if (is_one_of(problem, misplaced) && !strstr(context, "flow")) {
    if (column <= (size_t)here->indent)
      return tt_fail(
          error, TT_INVALID,
          "%s:%zu: the indentation of this line (%d space%s) is that of no line it could "
          "belong to" ALIKE,
          path, here->number, here->indent, here->indent == 1 ? "" : "s");
    return tt_fail(error, TT_INVALID,
                   "%s:%zu: more text follows where a value has ended; put all of it in quotes, "
                   "and write a quote within them twice",
                   path, here->number);
  }
  if (strcmp(problem, "could not find expected ':'") == 0) {
    const size_t start = byte_at(opened, parser->context_mark.column);
    const char *word = opened->text + start;
    const size_t rest = (size_t)opened->length - start;
    const int length = tt_yaml_shown(word, rest);
    if ((size_t)length < rest && word[length] == ':')
      return tt_fail(error, TT_INVALID, "%s:%zu: in '%.*s:' a space is missing behind the ':'",
                     path, opened->number, length, word);
    /* It may be a value: a token on a line of its own. */
    if (memchr(word, ':', rest))
      return tt_fail(error, TT_INVALID,
                     "%s:%zu: the key of this line needs a ':' with a space behind it", path,
                     opened->number);
    return tt_fail(error, TT_INVALID, "%s:%zu: a ':' is missing behind the key of this line", path,
                   opened->number);
  }
  if (strcmp(problem, "found character that cannot start any token") == 0 &&
      column < (size_t)here->length)
    return tt_fail(error, TT_INVALID, "%s:%zu: text can't begin with '%c'; put it in quotes", path,
                   here->number, here->text[column]);
  if (strcmp(problem, "found unexpected end of stream") == 0 && strstr(context, "quoted"))
    return tt_fail(error, TT_INVALID, "%s:%zu: the quotes that open here are never closed", path,
                   opened->number);
  if (strcmp(problem, "found unknown escape character") == 0)
    return tt_fail(error, TT_INVALID,
                   "%s:%zu: within \" a \\ begins an escape that there is not; put the text in ' "
                   "instead",
                   path, here->number);
  bool flow = strstr(context, "flow");
  return tt_fail(
      error, TT_INVALID, "%s:%zu: this is not YAML: %s%s%s%s", path, here->number, problem,
      *context ? " " : "", context,
      flow ? "; text that begins with [ or {, as the address [::1]:5801, needs quotes" : "");
}

tt_status tt_yaml_trouble(const yaml_parser_t *parser, const char *path, const char *text,
                          size_t size, tt_error *error) {
  if (parser->error == YAML_MEMORY_ERROR) return tt_fail(error, TT_NOMEM, "out of memory");
  if (parser->error == YAML_READER_ERROR) {
    bool wide = size > 1 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2));
    if (wide) return tt_fail(error, TT_INVALID, "%s: this is UTF-16 text; save it as UTF-8", path);
    return tt_fail(error, TT_INVALID, "%s: this is not UTF-8 text (%s at byte %zu)", path,
                   parser->problem, parser->problem_offset);
  }
  line here = line_at(text, size, parser->problem_mark.line);
  line opened = line_at(text, size, parser->context_mark.line);
  return explain(parser, path, &here, &opened, error);
}

tt_status tt_yaml_check_marks(const char *path, const char *text, size_t size, tt_error *error) {
  const char *mark = size > 3 ? memmem(text + 1, size - 1, "\xef\xbb\xbf", 3) : NULL;
  if (!mark) return TT_OK;
  size_t number = 1;
  for (const char *at = text; at < mark; at++) number += *at == '\n';
  return tt_fail(error, TT_INVALID,
                 "%s:%zu: a byte order mark (U+FEFF), which cannot be seen, stands in this line; "
                 "remove it",
                 path, number);
}
