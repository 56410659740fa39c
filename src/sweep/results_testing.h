/* results_testing.h: what tests of tables and shards share: plans of a few thousand runs, and rows that nobody had to simulate.
 * One thread; what fails, fails the test.
 */
#ifndef TT_SWEEP_RESULTS_TESTING_H
#define TT_SWEEP_RESULTS_TESTING_H

#include "sweep/results.h"

/** A plan of `gains` × 2 modes × `repeat` runs, as if it stood in `folder`/trial.yaml; to be freed. `more`: further lines, or NULL. */
tt_sweep_plan *testing_plan(const char *folder, int gains, int repeat, const char *more);
/** The row of a run, which follows from its number and `salt`: the same for every caller but for wall_time and host. */
void testing_row(const tt_sweep_plan *plan, uint64_t number, const char *host, tt_sweep_row *row);
/** Adds the rows of [first, end). */
void testing_add(const tt_sweep_plan *plan, tt_sweep_results *results, uint64_t first, uint64_t end,
                 const char *host);
/** Opens a table, or the plan's shards where `shards` names a folder. */
tt_sweep_results *testing_open(const tt_sweep_plan *plan, const char *output, const char *shards);
/** Commits, finishes, closes. */
void testing_finish(tt_sweep_results *results);
/** Every row of a file of SQLite as lines, in the order of `run`, without wall_time and host; to be freed. */
char *testing_dump(const char *path);
/** What a query answers, "5"; of one row and column. */
char *testing_ask(const char *path, const char *sql);

/** Makes a folder; its path. Removes it with all in it. */
const char *testing_folder(void);
int testing_begin(void **state);
int testing_end(void **state);

#endif
