/* results_internal.h: a table from the inside, shared by results.c (what all outputs have in common), results_there.c (which rows are
 * there), results_row.c (columns, and a row as cells), results_table.c (tables of SQL: what they are made of, whose they are), results_sqlite.c, results_postgres.c and
 * results_folder.c (where rows are kept), and results_csv.c.
 */
#ifndef TT_SWEEP_RESULTS_INTERNAL_H
#define TT_SWEEP_RESULTS_INTERNAL_H

#include "base/bytes.h"
#include "sweep/results.h"

/* --- results_row.c --- */

/** What stands in a column, but for NULL. */
typedef enum tt_results_kind {
  TT_RESULTS_INTEGER,
  TT_RESULTS_NUMBER,
  TT_RESULTS_TEXT
} tt_results_kind;

/** A column of the table. */
typedef struct tt_results_column {
  const char *name, *role, *unit; /**< the plan's, or static */
  tt_results_kind kind;
} tt_results_column;

/** The columns that every table begins with. */
#define TT_RESULTS_FIXED 9
#define TT_RESULTS_MOST (TT_RESULTS_FIXED + TT_SWEEP_MAX_AXES + TT_SWEEP_MAX_METRICS + 1)

/** All of a table, in its order. */
typedef struct tt_results_columns {
  tt_results_column list[TT_RESULTS_MOST];
  int count;
} tt_results_columns;

/** Those of a plan. TT_INVALID: a name is reserved, or there twice (`a` and `A` are the same to SQL). */
tt_status tt_results_columns_of(const tt_sweep_plan *plan, tt_results_columns *columns,
                                tt_error *error);

/** What stands in a cell. */
typedef struct tt_results_cell {
  bool none; /**< NULL */
  tt_results_kind kind;
  int64_t integer;
  double number;    /**< finite, and not −0, which SQLite does not keep */
  const char *text; /**< UTF-8; the row's or `buffer` */
  char buffer[1024];
} tt_results_cell;

/** Fills the cell of a column. */
void tt_results_cell_of(const tt_sweep_plan *plan, const tt_results_columns *columns, int column,
                        const tt_sweep_row *row, tt_results_cell *cell);
/** As text: numbers in the fewest digits that give them again. The cell's, or `text`; "" for none. */
const char *tt_results_cell_text(const tt_results_cell *cell, char text[static 40]);
/** The status of that name. False: there is none. */
bool tt_results_status_of(const char *name, tt_sweep_status *status);

/* --- where rows are kept --- */

/** Of tt_sweep_results_each(). */
typedef tt_status (*tt_results_visit)(void *context, const tt_sweep_row *row, tt_error *error);

/** One kind of output. All calls in the thread of the results. */
typedef struct tt_results_backend {
  /** Opens or makes it, sets `self`, and marks the rows that are there. On failure close() follows, where `self` is set. */
  tt_status (*open)(tt_sweep_results *results, tt_error *error);
  void (*close)(void *self);
  tt_status (*add)(void *self, const tt_sweep_row *row, tt_error *error);
  /** Also where nothing was added. */
  tt_status (*commit)(void *self, tt_error *error);
  /** After the last commit. */
  tt_status (*finish)(void *self, tt_error *error);
  /** The plan's rows in its order; NULL: it can't. `row->run` has only its number, the rest is filled by results.c. */
  tt_status (*each)(void *self, tt_results_visit visit, void *context, tt_error *error);
} tt_results_backend;

/** Each stands in a file of its own. */
extern const tt_results_backend tt_results_sqlite, tt_results_postgres, tt_results_folder;

struct tt_sweep_results {
  const tt_results_backend *backend;
  void *self; /**< the backend's */
  const tt_sweep_plan *plan;
  tt_sweep_results_options options; /**< `output` is set */
  const char *name;                 /**< for people; the backend's, where it is not `output` */
  tt_results_columns columns;
  uint64_t runs, count, durable; /**< of `count` rows, so many are surely in the table */
  uint8_t *there;                /**< a bit a run */
  tt_status status;
  tt_error error; /**< what came in between; TT_OK: nothing did */
};

/* --- results_there.c --- */

/** Notes that a row is there. TT_INVALID: the plan has no such run. */
tt_status tt_results_mark(tt_sweep_results *results, uint64_t number, tt_error *error);

/* --- results_table.c --- */

/** Takes a row of an answer; another status than TT_OK ends it, and is handed on. */
typedef tt_status (*tt_results_on_row)(void *context, const char *const *values, tt_error *error);

/** What SQL is said to. */
typedef struct tt_results_sql {
  void *self;
  /** Runs statements; each row of the last as texts (NULL: none). `on_row` may be NULL. */
  tt_status (*run)(void *self, const char *sql, tt_results_on_row on_row, void *context,
                   tt_error *error);
  const char *name;     /**< of the output, for people */
  const char *is_there; /**< a query: how many tables there are */
  const char *begin;    /**< of a transaction that writes */
  const char *key,
      *key_cast; /**< what tells rows apart whatever their numbers, and what stands behind its value as text */
  const char *types[3]; /**< by tt_results_kind */
} tt_results_sql;

/** Makes the tables where there are none, or looks whose they are, and marks the rows that are there. */
tt_status tt_results_look(tt_sweep_results *results, const tt_results_sql *sql, tt_error *error);
/** Adds a column's name in quotes. */
void tt_results_put_name(tt_bytes *sql, const char *name);
/** Adds text. */
void tt_results_put(tt_bytes *sql, const char *text);
/** Adds the columns that results.c can't make of a number again, with commas: run, status, error, hash, simulated_time,
 *  wall_time, host, metrics, success. */
void tt_results_put_stored(tt_bytes *sql, const tt_results_columns *columns);
/** How many these are, and which: of the columns, in that order. Returns the count. */
int tt_results_stored(const tt_results_columns *columns, int stored[static TT_RESULTS_MOST]);
/** Puts a cell of a stored column, of which there is something, into a row; `text` or `number` by its kind. TT_INVALID: that is not what
 *  a sweep writes. */
tt_status tt_results_take(const tt_sweep_plan *plan, int column, const char *text, double number,
                          tt_sweep_row *row, tt_error *error);

#endif
