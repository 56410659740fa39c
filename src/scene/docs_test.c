/* docs_test.c: every key of every schema is described in docs/scene.md (parts of robots: docs/robots.md; plans: docs/sweep.md), in
 * the section of the mapping it belongs to. */
#include "app/guests.h"
#include "scene/keys.h"
#include "sweep/plan_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct tt_docs {
  char *scene, *robots, *sweep; /**< the pages */
  int keys, missing;
} tt_docs;

static char *read_page(const char *name) {
  char path[512];
  snprintf(path, sizeof path, TETHER_SOURCE_DIR "/docs/%s", name);
  FILE *file = fopen(path, "r");
  if (!file) fail_msg("%s can't be read", path);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  return text;
}

/** Whether `key` stands in backquotes between the heading line `heading` and the next heading with a table of
 *  its own (a heading right below another shares its text). */
static bool section_has(const char *page, const char *heading, const char *key) {
  char line[256], quoted[256];
  snprintf(line, sizeof line, "\n%s\n", heading);
  snprintf(quoted, sizeof quoted, "`%s`", key);
  const char *begin = strstr(page, line);
  if (!begin) return false;
  begin += strlen(line);
  while (!strncmp(begin, "\n#", 2)) begin = strchr(begin + 1, '\n') + 1;
  const char *end = strstr(begin, "\n#"), *found = strstr(begin, quoted);
  return found && (!end || found < end);
}

/** "wires.float-udp.sensors" → "wires.*.sensors" */
static void any_wire(const char *parent, char *any, size_t size) {
  const char *rest = strchr(parent + strlen("wires."), '.');
  snprintf(any, size, "wires.*%s", rest ? rest : "");
}

/** "wires.xrp.motors" → "wires.xrp.*" */
static void any_list(const char *parent, char *any, size_t size) {
  const char *last = strrchr(parent, '.');
  snprintf(any, size, "%.*s.*", (int)(last - parent), parent);
}

static bool is_described(const tt_docs *docs, const char *file, const char *parent,
                         const char *key) {
  char heading[600], any[512];
  if (!strcmp(file, "plan")) {
    snprintf(heading, sizeof heading, *parent ? "### `%s`" : "## Keys of a plan%s", parent);
    return section_has(docs->sweep, heading, key);
  }
  if (!*parent) {
    const char *top = !strcmp(file, "scene")   ? "## Scene keys"
                      : !strcmp(file, "robot") ? "## Robot file"
                                               : "## Arena file";
    return section_has(docs->scene, top, key) ||
           section_has(docs->robots, "# Robots and their parts", key);
  }
  snprintf(heading, sizeof heading, "### `%s`", parent);
  if (section_has(docs->scene, heading, key)) return true;
  if (!strncmp(parent, "wires.", 6)) {
    any_wire(parent, any, sizeof any);
    snprintf(heading, sizeof heading, "### `%s`", any);
    if (section_has(docs->scene, heading, key)) return true;
    any_list(parent, any, sizeof any);
    snprintf(heading, sizeof heading, "### `%s`", any);
    return section_has(docs->scene, heading, key);
  }
  snprintf(heading, sizeof heading, "## %s", parent);
  return !strcmp(file, "robot") && section_has(docs->robots, heading, key);
}

static void check_key(void *context, const char *file, const char *path,
                      const cyaml_schema_value_t *value) {
  (void)value;
  tt_docs *docs = context;
  char parent[500];
  snprintf(parent, sizeof parent, "%s", path);
  char *dot = strrchr(parent, '.');
  const char *key = dot ? path + (dot - parent) + 1 : path;
  if (dot) *dot = 0;
  docs->keys++;
  if (!strcmp(dot ? parent : "", "wires") &&
      !strcmp(file, "scene")) { /* a protocol: has a section of its own */
    char heading[256];
    snprintf(heading, sizeof heading, "\n### `%s`\n", path);
    if (strstr(docs->scene, heading)) return;
  } else if (is_described(docs, file, dot ? parent : "", key)) {
    return;
  }
  docs->missing++;
  print_error("%s file: the key %s is not described\n", file, path);
}

static void test_every_key_is_described(void **state) {
  (void)state;
  tt_docs docs = {.scene = read_page("scene.md"), .robots = read_page("robots.md")};
  tt_pool pool = {0};
  tt_schemas schemas;
  assert_int_equal(tt_schemas_new(&tt_program_guests, &pool, &schemas), TT_OK);
  tt_keys_visit(&schemas, check_key, &docs);
  tt_pool_free(&pool);
  assert_true(docs.keys > 100);
  assert_int_equal(docs.missing, 0);
  free(docs.scene);
  free(docs.robots);
}

/* What a metric takes has a chapter of its own. */
static void check_plan_key(void *context, const char *file, const char *path,
                           const cyaml_schema_value_t *value) {
  if (strncmp(path, "metrics.", strlen("metrics.")) != 0) check_key(context, file, path, value);
}

static void test_every_key_of_a_plan_is_described(void **state) {
  (void)state;
  tt_docs docs = {.sweep = read_page("sweep.md")};
  tt_pool pool = {0};
  tt_keys_visit_schema("plan", tt_plan_schema(&pool), check_plan_key, &docs);
  tt_pool_free(&pool);
  assert_true(docs.keys > 35);
  assert_int_equal(docs.missing, 0);
  free(docs.sweep);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_key_is_described),
                                     cmocka_unit_test(test_every_key_of_a_plan_is_described)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
