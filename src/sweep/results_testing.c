#include "sweep/results_testing.h"

#include "app/guests.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *folder;

int testing_begin(void **state) {
  (void)state;
  folder = g_dir_make_tmp("tether-results-XXXXXX", NULL);
  return !folder;
}

int testing_end(void **state) {
  (void)state;
  char *arguments[] = {"rm", "-rf", folder, NULL};
  const bool done =
      g_spawn_sync(NULL, arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
  g_free(folder);
  return !done;
}

const char *testing_folder(void) { return folder; }

tt_sweep_plan *testing_plan(const char *where, int gains, int repeat, const char *more) {
  GString *text = g_string_new("scene: sharp\nduration: 1 s\naxes:\n  - {name: gain, value: [0.1");
  for (int i = 1; i < gains; i++) g_string_append_printf(text, ", %g", i + 0.1);
  g_string_append_printf(
      text,
      "]}\n  - {name: mode, value: [slow, fast]}\nrepeat: %d\nseed: 7\nmetrics:\n"
      "  - {name: final_y, signal: chassis.y, measure: final}\n"
      "  - {name: top_speed, signal: chassis.vy, measure: greatest}\n"
      "success: final_y > 1\n%s",
      repeat, more ? more : "");
  char *path = g_build_filename(where, "trial.yaml", NULL);
  tt_sweep_plan *plan;
  tt_error error;
  if (tt_sweep_plan_parse(&tt_program_guests, path, text->str, text->len, NULL, 0, &plan, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  g_string_free(text, TRUE);
  g_free(path);
  return plan;
}

void testing_row(const tt_sweep_plan *plan, uint64_t number, const char *host, tt_sweep_row *row) {
  memset(row, 0, sizeof *row);
  tt_sweep_plan_run(plan, number, &row->run);
  row->status = number % 7 == 3 ? TT_SWEEP_CONTROLLER_FAILED : TT_SWEEP_OK;
  if (row->status != TT_SWEEP_OK)
    snprintf(row->error, sizeof row->error, "=1+1, \"said\" it\nwith \xff bytes and \\N ü");
  row->hash = 0xf0e1d2c3b4a59687u * (number + 1);
  row->simulated_time = 1;
  row->wall_time = 0.25 + host[0];
  snprintf(row->host, sizeof row->host, "%s", host);
  row->metrics[0] = (tt_sweep_value){TT_SWEEP_NUMBER, sin((double)row->run.axes[0].number), NULL};
  if (number % 3 != 2)
    row->metrics[1] = (tt_sweep_value){TT_SWEEP_NUMBER, (double)(number % 5), NULL};
  if (number % 5 == 0) row->metrics[1].number = -0.0;
  row->success = (tt_sweep_value){TT_SWEEP_NUMBER, (double)(number % 2), NULL};
}

void testing_add(const tt_sweep_plan *plan, tt_sweep_results *results, uint64_t first, uint64_t end,
                 const char *host) {
  tt_error error;
  tt_sweep_row row;
  for (uint64_t i = first; i < end; i++) {
    testing_row(plan, i, host, &row);
    if (tt_sweep_results_add(results, &row, &error) != TT_OK) fail_msg("%s", error.text);
  }
}

tt_sweep_results *testing_open(const tt_sweep_plan *plan, const char *output, const char *shards) {
  const tt_sweep_results_options options = {.output = shards ? shards : output,
                                            .shards = shards != NULL};
  tt_sweep_results *results;
  tt_error error;
  if (tt_sweep_results_open(plan, &options, &results, &error) != TT_OK) fail_msg("%s", error.text);
  return results;
}

void testing_finish(tt_sweep_results *results) {
  tt_error error;
  if (tt_sweep_results_finish(results, &error) != TT_OK) fail_msg("%s", error.text);
  tt_sweep_results_close(results);
}

static int on_row(void *context, int count, char **values, char **names) {
  const char *between = "";
  for (int i = 0; i < count; i++) {
    if (!strcmp(names[i], "wall_time") || !strcmp(names[i], "host")) continue;
    g_string_append_printf(context, "%s%s", between, values[i] ? values[i] : "NULL");
    between = "\t";
  }
  g_string_append_c(context, '\n');
  return 0;
}

static char *ask(const char *path, const char *sql) {
  sqlite3 *db;
  GString *text = g_string_new(NULL);
  assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
  if (sqlite3_exec(db, sql, on_row, text, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
  sqlite3_close(db);
  return g_string_free(text, FALSE);
}

char *testing_dump(const char *path) {
  return ask(path, "SELECT * FROM run WHERE run IS NOT NULL ORDER BY run");
}

char *testing_ask(const char *path, const char *sql) { return g_strchomp(ask(path, sql)); }
