#include "draft/help.h"

#include <stdio.h>
#include <string.h>

extern const char tt_draft_scene_page[], tt_draft_robots_page[]; /* docs/scene.md, docs/robots.md */

#define MOST_CELLS 5

typedef struct slice {
  const char *text;
  size_t size;
} slice;

/* --- tables --- */

static slice trim(slice of) {
  while (of.size && *of.text == ' ') of.text++, of.size--;
  while (of.size && of.text[of.size - 1] == ' ') of.size--;
  return of;
}

/* The cells of a table's line; how many. A '|' in backquotes ends none. */
static int split(const char *line, size_t size, slice cells[MOST_CELLS]) {
  int count = 0;
  bool quoted = false;
  size_t start = 1;
  for (size_t i = 1; i < size && count < MOST_CELLS; i++) {
    if (line[i] == '`') quoted = !quoted;
    if (line[i] != '|' || quoted) continue;
    cells[count++] = trim((slice){line + start, i - start});
    start = i + 1;
  }
  return count;
}

static bool is(slice cell, const char *text) {
  return cell.size == strlen(text) && memcmp(cell.text, text, cell.size) == 0;
}

static void copy(slice from, char *to, size_t size) {
  snprintf(to, size, "%.*s", (int)from.size, from.text);
}

/* Puts the cells where the table's first line says they belong. */
static void take(const slice *heads, const slice *cells, int count, tt_help *help) {
  *help = (tt_help){.type = ""};
  for (int i = 1; i < count; i++) {
    if (is(heads[i], "type")) copy(cells[i], help->type, sizeof help->type);
    if (is(heads[i], "default")) copy(cells[i], help->initial, sizeof help->initial);
    if (is(heads[i], "meaning")) copy(cells[i], help->text, sizeof help->text);
  }
}

static const char *end_of(const char *line) {
  const char *end = strchr(line, '\n');
  return end ? end : line + strlen(line);
}

/* The row that begins with the key, in one of the tables between `begin` and `end`. */
static bool find_row(const char *begin, const char *end, const char *key, tt_help *help) {
  char quoted[128];
  slice heads[MOST_CELLS] = {{"", 0}}, cells[MOST_CELLS];
  int head_count = 0;
  snprintf(quoted, sizeof quoted, "`%.100s`", key);
  for (const char *line = begin; line < end; line = end_of(line) + 1) {
    if (*line != '|') continue;
    int count = split(line, (size_t)(end_of(line) - line), cells);
    if (count > 1 && is(cells[0], "key")) {
      head_count = count;
      memcpy(heads, cells, sizeof heads);
    } else if (count > 1 && count == head_count &&
               memmem(cells[0].text, cells[0].size, quoted, strlen(quoted))) {
      return take(heads, cells, count, help), true;
    }
    if (!*end_of(line)) break;
  }
  return false;
}

/* In the section of that heading. A heading right below another one shares its text. */
static bool find_in(const char *page, const char *heading, const char *key, tt_help *help) {
  char line[300];
  snprintf(line, sizeof line, "\n%.290s\n", heading);
  const char *begin = strstr(page, line);
  if (!begin) return false;
  begin += strlen(line);
  while (strncmp(begin, "\n#", 2) == 0) begin = end_of(begin + 1) + 1;
  const char *end = strstr(begin, "\n#");
  return find_row(begin, end ? end : begin + strlen(begin), key, help);
}

/* The first paragraph of that section. */
static bool find_paragraph(const char *page, const char *heading, tt_help *help) {
  char line[300];
  snprintf(line, sizeof line, "\n%.290s\n\n", heading);
  const char *begin = strstr(page, line);
  if (!begin) return false;
  begin += strlen(line);
  if (*begin == '|') return true; /* the table says it all */
  const char *end = strstr(begin, "\n\n");
  copy((slice){begin, end ? (size_t)(end - begin) : strlen(begin)}, help->text, sizeof help->text);
  for (char *c = help->text; *c; c++)
    if (*c == '\n') *c = ' ';
  return true;
}

/* --- which section --- */

static bool find_below(const char *parent, const char *key, tt_help *help) {
  char heading[300];
  const char *rest = strchr(parent, '.'), *last;
  snprintf(heading, sizeof heading, "### `%.200s`", parent);
  if (find_in(tt_draft_scene_page, heading, key, help)) return true;
  if (strncmp(parent, "wires.", 6) != 0) return false;
  rest = strchr(rest + 1, '.'); /* of any wire: wires.*.sensors */
  snprintf(heading, sizeof heading, "### `wires.*%.200s`", rest ? rest : "");
  if (find_in(tt_draft_scene_page, heading, key, help)) return true;
  last = strrchr(parent, '.'); /* of any list of this one: wires.xrp.* */
  snprintf(heading, sizeof heading, "### `%.*s.*`", (int)(last - parent), parent);
  return find_in(tt_draft_scene_page, heading, key, help);
}

bool tt_help_find(const char *file, const char *path, tt_help *help) {
  char parent[256], heading[300];
  const char *dot = strrchr(path, '.'), *key = dot ? dot + 1 : path;
  snprintf(parent, sizeof parent, "%.*s", dot ? (int)(dot - path) : 0, path);
  *help = (tt_help){.type = ""};
  if (!*parent) {
    const char *top = !strcmp(file, "scene")   ? "## Scene keys"
                      : !strcmp(file, "robot") ? "## Robot file"
                                               : "## Arena file";
    if (find_in(tt_draft_scene_page, top, key, help)) return true;
    snprintf(heading, sizeof heading, "## %.200s", key); /* a kind of part */
    return !strcmp(file, "robot") && find_paragraph(tt_draft_robots_page, heading, help);
  }
  snprintf(heading, sizeof heading, "## %.200s", parent);
  return find_below(parent, key, help) ||
         (!strcmp(file, "robot") && find_in(tt_draft_robots_page, heading, key, help));
}
