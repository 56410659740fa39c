/* problem_fuzz.c: any bytes as a file's path, as a message, and as the file that it is about: a line each, then the rest. */
#include "draft/problem.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A path that is taken stays in its folder, whoever joins it to that. */
static void check_path(const char *path) {
  if (!tt_draft_path_is_good(path)) return;
  if (*path == '/' || strstr(path, "//") || strchr(path, '\\') || !*path) abort();
  for (const char *name = path; name; name = strchr(name, '/') ? strchr(name, '/') + 1 : NULL)
    if (*name == '.' || !*name) abort();
}

static char *take_line(const uint8_t **data, size_t *size) {
  const uint8_t *end = *size ? memchr(*data, '\n', *size) : NULL;
  const size_t length = end ? (size_t)(end - *data) : *size;
  char *line = strndup((const char *)*data, length);
  if (!line) abort();
  *data += length + (end != NULL);
  *size -= length + (end != NULL);
  return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_problem problem;
  char *path = take_line(&data, &size), *message = take_line(&data, &size);
  char *text = malloc(size + 1);
  if (!text) abort();
  if (size) memcpy(text, data, size);
  text[size] = 0;
  check_path(path);
  tt_problem_read("/drafts/a", message, TT_SEVERITY_ERROR, &problem);
  if (*problem.file && !tt_draft_path_is_good(problem.file)) abort();
  if (strlen(problem.text) > strlen(message) || problem.line < 0) abort();
  tt_problem_place(&problem, text, size);
  if (problem.line < 0 || problem.column < 0) abort();
  free(path);
  free(message);
  free(text);
  return 0;
}
