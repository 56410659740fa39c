/* conformance.c: runs the cases for a backend, and compares the tables of docs/telemetry-backends.md with what it did. */
#include "store/conformance.h"

#include <stdio.h>

#define DOC TETHER_SOURCE_DIR "/docs/telemetry-backends.md"
#define MOST_CASES 100

static const tt_store_case *const groups[] = {
    tt_store_records_cases, tt_store_repeats_cases,  tt_store_foreign_cases, tt_store_answers_cases,
    tt_store_buckets_cases, tt_store_versions_cases, tt_store_faults_cases,  tt_store_sealing_cases,
    tt_store_removal_cases, tt_store_copies_cases,   tt_store_away_cases,    tt_store_log_cases,
};

static const struct {
  const char *name;
  tt_store_ability ability;
} abilities[] = {{"reads", TT_STORE_READS},      {"purges", TT_STORE_PURGES},
                 {"seals", TT_STORE_SEALS},      {"shared", TT_STORE_SHARED},
                 {"remote", TT_STORE_REMOTE},    {"copies", TT_STORE_COPIES},
                 {"forwards", TT_STORE_FORWARDS}};
#define ABILITIES (sizeof abilities / sizeof *abilities)

static const tt_store_backend *backend;
static const tt_store_place *place;
static const tt_store_case *cases[MOST_CASES];
static bool ran[MOST_CASES];
static int case_count;

static void gather_cases(void) {
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
    for (const tt_store_case *one = groups[g]; one->name; one++) {
      if (case_count == MOST_CASES) abort();
      cases[case_count++] = one;
    }
}

static void run_case(void **state) {
  const int number = *(const int *)*state;
  const tt_store_case *one = cases[number];
  if ((one->needs & backend->abilities) != one->needs || (one->possible && !one->possible(place)))
    skip();
  one->test(state);
  ran[number] = true;
}

/* --- the tables --- */

/** The cells of a row of Markdown: [0] is empty, [1] the first. To be freed by g_strfreev(). */
static char **cells_of(const char *line) {
  char **cells = g_strsplit(line, "|", -1);
  for (char **cell = cells; *cell; cell++) g_strstrip(*cell);
  return cells;
}

/** The column of a kind in a table whose first head is `head`; 0: none. `*row`: the first one behind the heads. */
static guint find_table(char **lines, const char *head, char ***row) {
  guint column = 0;
  for (char **line = lines; *line && !column; line++) {
    if (!g_str_has_prefix(*line, head)) continue;
    char **cells = cells_of(*line);
    for (guint i = 2; i < g_strv_length(cells); i++)
      if (!strcmp(cells[i], backend->kind)) column = i;
    g_strfreev(cells);
    *row = line + 2;
  }
  return column;
}

/** What a table says of a row; to be freed. */
static char *find_cell(char **row, const char *name, guint column) {
  char *cell = NULL;
  for (; *row && **row == '|' && !cell; row++) {
    char **cells = cells_of(*row);
    if (column < g_strv_length(cells) && !strcmp(cells[1], name)) cell = g_strdup(cells[column]);
    g_strfreev(cells);
  }
  return cell;
}

static guint count_rows(char **row) {
  guint count = 0;
  while (row[count] && *row[count] == '|') count++;
  return count;
}

static void assert_row(char **row, const char *name, guint column, bool said) {
  char *cell = find_cell(row, name, column);
  const char *expected = said ? "✓" : "–";
  if (!cell || strcmp(cell, expected))
    fail_msg(DOC ": '%s' of %s should be '%s', not '%s'", name, backend->kind, expected,
             cell ? cell : "missing");
  g_free(cell);
}

static void the_tables_are_true(void **state) {
  (void)state;
  char *text, **row;
  assert_true(g_file_get_contents(DOC, &text, NULL, NULL));
  char **lines = g_strsplit(text, "\n", -1);
  guint column = find_table(lines, "| ability |", &row);
  if (!column) fail_msg(DOC ": no column '%s' of abilities", backend->kind);
  for (size_t i = 0; i < ABILITIES; i++)
    assert_row(row, abilities[i].name, column, backend->abilities & abilities[i].ability);
  assert_int_equal(count_rows(row), ABILITIES);
  column = find_table(lines, "| case |", &row);
  if (!column) fail_msg(DOC ": no column '%s' of cases", backend->kind);
  for (int i = 0; i < case_count; i++) assert_row(row, cases[i]->name, column, ran[i]);
  assert_int_equal(count_rows(row), case_count);
  g_strfreev(lines);
  g_free(text);
}

/* --- running --- */

static int clean(void **state) {
  void *none = NULL;
  (void)state;
  return tt_testing_clean(&none);
}

int tt_store_conform(const char *kind, const tt_store_place *where) {
  static int numbers[MOST_CASES];
  static struct CMUnitTest tests[MOST_CASES + 1];
  for (const tt_store_backend *const *one = tt_store_backends; *one; one++)
    if (!strcmp((*one)->kind, kind)) backend = *one;
  if (!backend) abort();
  place = where;
  tt_testing_at(backend, where);
  gather_cases();
  for (int i = 0; i < case_count; i++) {
    numbers[i] = i;
    tests[i] = (struct CMUnitTest){.name = cases[i]->name,
                                   .test_func = run_case,
                                   .setup_func = clean,
                                   .initial_state = &numbers[i]};
  }
  tests[case_count] =
      (struct CMUnitTest){.name = "the tables are true", .test_func = the_tables_are_true};
  const size_t count = (size_t)case_count + 1;
  // cmocka_run_group_tests() takes arrays whose size the compiler knows.
  int failed = _cmocka_run_group_tests(kind, tests, count, tt_testing_begin, tt_testing_end);
  int skipped = 0;
  for (int i = 0; i < case_count; i++) skipped += !ran[i];
  printf("conformance of %s: %d cases, %d skipped or failed\n", kind, case_count, skipped);
  return failed;
}
