/* results_postgres.c: a table in PostgreSQL, in a schema of its own: `sweep_NAME` of a plan NAME.yaml.
 *
 * Rows wait here and are written by one COPY, which is one transaction. The server holds an advisory lock for as long as the
 * connection lives, against a second sweep. A connection that is lost is made again: either all rows of the last COPY are there,
 * or none.
 */
#include "base/log.h"
#include "base/clock.h"
#include "database/postgres_link.h"
#include "sweep/results_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** µs for one statement; who is extended or read may take longer. */
#define DEADLINE (600LL * 1000000)
#define COMMIT_DEADLINE (60LL * 1000000)
/** How long a server that is gone is waited for, and between two tries. */
#define PATIENCE (30LL * 1000000)
#define RETRY_INTERVAL 500000
#define CONNECT_DEADLINE (10LL * 1000000)
/** Of the advisory lock, beside the hash of the schema's name: "TTSW". */
#define LOCK_CLASS "1414812503"
/** Rows that are read at once. */
#define READ_ROWS 1000
/** The longest name that PostgreSQL keeps whole, bytes. */
#define MOST_NAME 63

typedef struct server {
  const tt_sweep_plan *plan;
  const tt_results_columns *columns;
  const char *url; /**< the options' */
  tt_postgres_link *link;
  char schema[MOST_NAME + 1];
  char name[MOST_NAME + 32]; /**< for people: the address may have a password */
  tt_bytes copy;             /**< rows that were added */
  uint64_t last;             /**< the number of the last of them */
} server;

static int64_t deadline(void) { return tt_monotonic_us() + DEADLINE; }

/* --- what results_table.c says --- */

static tt_status give_rows(const PGresult *result, tt_results_on_row on_row, void *context,
                           tt_error *error) {
  const char *values[8];
  const int count = PQnfields(result) < 8 ? PQnfields(result) : 8;
  for (int row = 0; row < PQntuples(result); row++) {
    for (int i = 0; i < count; i++)
      values[i] = PQgetisnull(result, row, i) ? NULL : PQgetvalue(result, row, i);
    TT_TRY(on_row(context, values, error));
  }
  return TT_OK;
}

static tt_status run(void *self, const char *sql, tt_results_on_row on_row, void *context,
                     tt_error *error) {
  const server *to = self;
  PGresult *result = NULL;
  TT_TRY(tt_postgres_run(to->link, sql, 0, NULL, deadline(), &result, error));
  tt_status status = on_row ? give_rows(result, on_row, context, error) : TT_OK;
  PQclear(result);
  return status;
}

/* --- opening --- */

static tt_status name_schema(server *to, tt_error *error) {
  const char *slash = strrchr(to->plan->path, '/');
  const char *name = slash ? slash + 1 : to->plan->path;
  const char *point = strrchr(name, '.');
  const int size = (int)(point && point > name ? (size_t)(point - name) : strlen(name));
  if (size + 6 > MOST_NAME)
    return tt_fail(error, TT_INVALID,
                   "%s: the plan's name is too long for a schema of PostgreSQL, which may have %d "
                   "bytes; give the file a shorter one",
                   to->plan->path, MOST_NAME - 6);
  snprintf(to->schema, sizeof to->schema, "sweep_%.*s", size, name);
  snprintf(to->name, sizeof to->name, "postgresql: schema %s", to->schema);
  return TT_OK;
}

/** PostgreSQL would cut longer names, and has columns of its own. */
static tt_status check_names(const server *to, tt_error *error) {
  static const char *const taken[] = {"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"};
  for (int i = TT_RESULTS_FIXED; i < to->columns->count; i++) {
    const char *name = to->columns->list[i].name;
    if (strlen(name) > MOST_NAME)
      return tt_fail(error, TT_INVALID,
                     "%s: '%s' is longer than the %d bytes that PostgreSQL keeps; take a shorter "
                     "name",
                     to->plan->path, name, MOST_NAME);
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
      if (!strcmp(name, taken[k]))
        return tt_fail(error, TT_INVALID,
                       "%s: '%s' is a column of every table of PostgreSQL; take another name",
                       to->plan->path, name);
  }
  return TT_OK;
}

static tt_status refuse(const server *to, tt_error *error) {
  PGresult *result;
  tt_status status = tt_postgres_runf(
      to->link, deadline(), &result, NULL,
      "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype ="
      " 'advisory' AND granted AND classid = " LOCK_CLASS
      " AND objid = hashtext(current_schema())"
      "::bigint & 4294967295 AND datname = current_database()");
  const bool known = status == TT_OK && PQntuples(result);
  tt_fail(error, TT_FAILED,
          "%s: another sweep writes there (%s); end that, or give this plan another name", to->name,
          known ? PQgetvalue(result, 0, 0) : "unknown");
  if (status == TT_OK) PQclear(result);
  return TT_FAILED;
}

/** A sweep that was killed holds its lock until the server has noticed. */
static tt_status take_lock(const server *to, tt_error *error) {
  tt_error why;
  tt_status status = tt_postgres_runf(to->link, deadline(), NULL, &why,
                                      "SET lock_timeout = '3s'; SELECT pg_advisory_lock(" LOCK_CLASS
                                      ", hashtext(current_schema())); SET lock_timeout = 0");
  if (status == TT_OK) return TT_OK;
  const bool held = !strcmp(tt_postgres_last_code(to->link), "55P03");
  return held ? refuse(to, error) : tt_fail(error, status, "%s", why.text);
}

static tt_status prepare(const server *to, tt_error *error) {
  char host[65] = "", application[128];
  tt_bytes sql = {0};
  gethostname(host, sizeof host - 1);
  snprintf(application, sizeof application, "tether sweep, process %ld on %s", (long)getpid(),
           host);
  tt_results_put(&sql,
                 "SET client_min_messages = warning; SET synchronous_commit = on;"
                 " SET standard_conforming_strings = on; SET extra_float_digits = 1;"
                 " CREATE SCHEMA IF NOT EXISTS ");
  tt_results_put_name(&sql, to->schema);
  tt_results_put(&sql, "; SET search_path = ");
  tt_results_put_name(&sql, to->schema);
  tt_results_put(&sql, "; SET application_name = ");
  tt_results_put_name(&sql, application);
  tt_bytes_append(&sql, "", 1);
  tt_status status = sql.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                : run((void *)to, (const char *)sql.data, NULL, NULL, error);
  tt_bytes_free(&sql);
  return status;
}

static tt_status connect_alone(server *to, tt_error *error) {
  TT_TRY(tt_postgres_connect(to->url, tt_monotonic_us() + CONNECT_DEADLINE, &to->link, error));
  TT_TRY(prepare(to, error));
  return take_lock(to, error);
}

static tt_status open_server(tt_sweep_results *results, server *to, tt_error *error) {
  TT_TRY(name_schema(to, error));
  TT_TRY(check_names(to, error));
  TT_TRY(connect_alone(to, error));
  const tt_results_sql sql = {
      .self = to,
      .run = run,
      .name = to->name,
      .is_there = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()",
      .begin = "BEGIN",
      .key = "ctid",
      .key_cast = "::tid",
      .types = {"bigint", "double precision", "text"}};
  return tt_results_look(results, &sql, error);
}

static tt_status postgres_open(tt_sweep_results *results, tt_error *error) {
  server *to = calloc(1, sizeof *to);
  if (!to) return tt_fail(error, TT_NOMEM, "out of memory");
  to->plan = results->plan;
  to->columns = &results->columns;
  to->url = results->options.output;
  results->self = to;
  results->name = to->name;
  return open_server(results, to, error);
}

static void postgres_close(void *self) {
  server *to = self;
  // The server notices a closed connection some time later; the next sweep shall find no lock.
  if (tt_postgres_is_alive(to->link))
    tt_postgres_runf(to->link, tt_monotonic_us() + CONNECT_DEADLINE, NULL, NULL,
                     "SELECT pg_advisory_unlock_all()");
  tt_postgres_close(to->link);
  tt_bytes_free(&to->copy);
  free(to);
}

/* --- rows --- */

/** As COPY takes text. */
static void put_cell(tt_bytes *to, const tt_results_cell *cell) {
  char number[40];
  if (cell->none) {
    tt_results_put(to, "\\N");
    return;
  }
  for (const char *text = tt_results_cell_text(cell, number); *text; text++) {
    switch (*text) {
      case '\t': tt_results_put(to, "\\t"); break;
      case '\n': tt_results_put(to, "\\n"); break;
      case '\r': tt_results_put(to, "\\r"); break;
      case '\\': tt_results_put(to, "\\\\"); break;
      default: tt_bytes_append(to, text, 1); break;
    }
  }
}

static tt_status postgres_add(void *self, const tt_sweep_row *row, tt_error *error) {
  server *to = self;
  tt_results_cell cell;
  for (int i = 0; i < to->columns->count; i++) {
    tt_results_cell_of(to->plan, to->columns, i, row, &cell);
    if (i) tt_results_put(&to->copy, "\t");
    put_cell(&to->copy, &cell);
  }
  tt_results_put(&to->copy, "\n");
  to->last = row->run.number;
  return to->copy.failed ? tt_fail(error, TT_NOMEM, "out of memory") : TT_OK;
}

static tt_status write_rows(server *to, tt_error *error) {
  const int64_t end = tt_monotonic_us() + COMMIT_DEADLINE;
  TT_TRY(tt_postgres_begin_copy(to->link, "COPY run FROM STDIN", end, error));
  TT_TRY(tt_postgres_copy(to->link, to->copy.data, to->copy.size, end, error));
  return tt_postgres_end_copy(to->link, end, error);
}

/** On a new connection: the answer to the last COPY may have been lost, too, and somebody else may have been there meanwhile. */
static tt_status write_again(server *to, tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_runf(to->link, deadline(), &result, error,
                          "SELECT (SELECT count(*) FROM run WHERE run = %" PRIu64 "), value"
                          " FROM sweep WHERE key = 'runs_identity'",
                          to->last));
  const bool ours = PQntuples(result) && !strcmp(PQgetvalue(result, 0, 1), to->plan->runs_identity);
  const bool there = ours && tt_postgres_integer(result, 0, 0) > 0;
  PQclear(result);
  if (!ours)
    return tt_fail(error, TT_FAILED, "%s: another sweep has changed it meanwhile", to->name);
  return there ? TT_OK : write_rows(to, error);
}

static tt_status reconnect(server *to, tt_error *error) {
  const int64_t end = tt_monotonic_us() + PATIENCE;
  tt_status status;
  tt_log_warning("%s; trying again for %lld s", error->text, PATIENCE / 1000000);
  do {
    tt_postgres_close(to->link);
    to->link = NULL;
    status = connect_alone(to, error);
    if (status == TT_OK || tt_postgres_is_alive(to->link)) return status;
    usleep(RETRY_INTERVAL);
  } while (tt_monotonic_us() < end);
  return status;
}

static tt_status postgres_commit(void *self, tt_error *error) {
  server *to = self;
  if (!to->copy.size) return TT_OK;
  tt_status status = write_rows(to, error);
  if (status != TT_OK && !tt_postgres_is_alive(to->link)) {
    TT_TRY(reconnect(to, error));
    status = write_again(to, error);
  }
  if (status == TT_OK) tt_bytes_cut(&to->copy, 0);
  return status;
}

static tt_status postgres_finish(void *self, tt_error *error) {
  (void)self, (void)error;
  return TT_OK;
}

static tt_status read_row(const server *from, const PGresult *result, int place, tt_sweep_row *row,
                          tt_error *error) {
  int stored[TT_RESULTS_MOST];
  const int count = tt_results_stored(from->columns, stored);
  tt_error why;
  memset(row, 0, sizeof *row);
  for (int i = 0; i < count; i++) {
    if (PQgetisnull(result, place, i)) continue;
    const char *text = PQgetvalue(result, place, i);
    const bool is_text = from->columns->list[stored[i]].kind == TT_RESULTS_TEXT;
    if (tt_results_take(from->plan, stored[i], text, is_text ? 0 : strtod(text, NULL), row, &why) !=
        TT_OK)
      return tt_fail(error, TT_INVALID, "%s: %s", from->name, why.text);
  }
  return TT_OK;
}

/** Rows from number `*next` on, which moves behind the last of them. */
static tt_status read_some(const server *from, const char *columns, int64_t *next,
                           tt_sweep_row *row, tt_results_visit visit, void *context,
                           tt_error *error) {
  char rest[120];
  tt_bytes sql = {0};
  PGresult *result;
  snprintf(rest, sizeof rest, " FROM run WHERE run >= %lld ORDER BY run LIMIT %d", (long long)*next,
           READ_ROWS);
  tt_results_put(&sql, columns);
  tt_results_put(&sql, rest);
  tt_bytes_append(&sql, "", 1);
  tt_status status = sql.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                : tt_postgres_run(from->link, (const char *)sql.data, 0, NULL,
                                                  deadline(), &result, error);
  tt_bytes_free(&sql);
  TT_TRY(status);
  const int count = PQntuples(result);
  for (int i = 0; status == TT_OK && i < count; i++) {
    status = read_row(from, result, i, row, error);
    if (status == TT_OK) status = visit(context, row, error);
    *next = (int64_t)row->run.number + 1;
  }
  PQclear(result);
  return status == TT_OK && !count ? TT_END : status;
}

static tt_status postgres_each(void *self, tt_results_visit visit, void *context, tt_error *error) {
  const server *from = self;
  tt_bytes columns = {0};
  tt_results_put(&columns, "SELECT ");
  tt_results_put_stored(&columns, from->columns);
  tt_bytes_append(&columns, "", 1);
  tt_sweep_row *row = malloc(sizeof *row);
  tt_status status = row && !columns.failed ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
  int64_t next = 0;
  while (status == TT_OK)
    status = read_some(from, (const char *)columns.data, &next, row, visit, context, error);
  tt_bytes_free(&columns);
  free(row);
  return status == TT_END ? TT_OK : status;
}

const tt_results_backend tt_results_postgres = {postgres_open,   postgres_close,  postgres_add,
                                                postgres_commit, postgres_finish, postgres_each};
