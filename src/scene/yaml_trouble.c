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

static line line_from(const char *text, const char *end, size_t number) {
  line found = {.text = text, .number = number};
  while (found.text + found.length < end && !strchr("\r\n", found.text[found.length]))
    found.length++;
  while (found.indent < found.length && strchr(" \t", found.text[found.indent])) found.indent++;
  return found;
}

static line line_at(const char *text, size_t size, size_t index) {
  const char *end = text + size, *next;
  size_t number = 1;
  for (; index > 0 && (next = memchr(text, '\n', (size_t)(end - text))); index--, number++)
    text = next + 1;
  return line_from(text, end, number);
}

/* Bytes before its first key or value: indentation, and the dashes of lists. */
static int begin_of(const line *of) {
  int at = of->indent;
  while (at + 1 < of->length && of->text[at] == '-' && of->text[at + 1] == ' ')
    for (at++; at < of->length && of->text[at] == ' ';) at++;
  return at;
}

/* The last one above that says something; number 0: none does. */
static line line_above(const char *text, const line *of) {
  line found = {0};
  size_t number = 1;
  for (const char *next; text < of->text; text = next + 1) {
    line over = line_from(text, of->text, number++);
    if (over.indent < over.length && over.text[over.indent] != '#') found = over;
    next = memchr(text, '\n', (size_t)(of->text - text));
    if (!next) break;
  }
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

/* Whether a ':' in it ends a key. */
static bool has_key(const line *of) {
  for (int i = begin_of(of); i < of->length; i++)
    if (of->text[i] == ':' && (i + 1 == of->length || strchr(" \t", of->text[i + 1]))) return true;
  return false;
}

static bool ends_with_colon(const line *of) {
  int end = of->length;
  while (end > 0 && strchr(" \t", of->text[end - 1])) end--;
  return end > 0 && of->text[end - 1] == ':';
}

/* Whether a key was meant where the line begins, which has none, and not more of the text that the line above it began. */
static bool lacks_key(const line *of, const line *above) {
  if (!of->number || has_key(of)) return false;
  return !above->number || begin_of(above) >= of->indent || ends_with_colon(above);
}

static tt_status refuse_key(const char *path, const line *of, size_t start, tt_error *error) {
  const char *word = of->text + start;
  const size_t rest = (size_t)of->length - start;
  const int length = tt_yaml_shown(word, rest);
  if ((size_t)length < rest && word[length] == ':')
    return tt_fail(error, TT_INVALID, "%s:%zu: in '%.*s:' a space is missing behind the ':'", path,
                   of->number, length, word);
  /* It may be a value: a token on a line of its own. */
  if (memchr(word, ':', rest))
    return tt_fail(error, TT_INVALID,
                   "%s:%zu: the key of this line needs a ':' with a space behind it", path,
                   of->number);
  return tt_fail(error, TT_INVALID, "%s:%zu: a ':' is missing behind the key of this line", path,
                 of->number);
}

/* What libyaml says of the end of something, where in truth a line stands at the wrong place. */
static const char *const misplaced[] = {"did not find expected key",
                                        "did not find expected '-' indicator",
                                        "did not find expected <document start>", NULL};

/* Where one thing stands, and what it lacks. `above`: the two lines before. */
static tt_status explain(const yaml_parser_t *parser, const char *path, const line *here,
                         const line above[2], const line *opened, tt_error *error) {
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
    if (lacks_key(above, above + 1)) return refuse_key(path, above, (size_t)begin_of(above), error);
    return tt_fail(error, TT_INVALID,
                   "%s:%zu: this line is indented deeper than the one above, which has its value "
                   "already" ALIKE,
                   path, here->number);
  }
  if (strcmp(problem, "block sequence entries are not allowed in this context") == 0)
    return tt_fail(error, TT_INVALID, "%s:%zu: a list begins in a line of its own, below its key",
                   path, here->number);
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
  if (strcmp(problem, "could not find expected ':'") == 0)
    return refuse_key(path, opened, byte_at(opened, parser->context_mark.column), error);
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
    return tt_fail(error, TT_INVALID,
                   "%s: this is not UTF-8 text (%s at byte %zu); save it as UTF-8", path,
                   parser->problem, parser->problem_offset);
  }
  line here = line_at(text, size, parser->problem_mark.line);
  line opened = line_at(text, size, parser->context_mark.line);
  line above[2] = {line_above(text, &here)};
  if (above->number) above[1] = line_above(text, above);
  return explain(parser, path, &here, above, &opened, error);
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
