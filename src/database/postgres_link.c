/* postgres_link.c: libpq without blocking calls: every wait is a poll() with a deadline. */
#include "database/postgres_link.h"

#include "base/log.h"
#include "base/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct tt_postgres_link {
  PGconn *connection;
  bool dead;
  char code[8];
  int64_t begun;              /**< µs, monotonic: when it was asked last */
  const atomic_bool *hurried; /**< NULL: nobody does */
  int64_t hurry_patience;     /**< µs */
};

/** µs between two looks whether somebody hurries. */
#define HURRY_INTERVAL 100000

/** Makes one line of what libpq says, without its line ends. */
static void make_line(char *line) {
  for (char *c = line; (c = strpbrk(c, "\n\r\t"));) *c = ' ';
  for (size_t size = strlen(line); size && line[size - 1] == ' ';) line[--size] = '\0';
}

static tt_status fail(tt_postgres_link *link, const char *text, tt_error *error) {
  char line[512];
  snprintf(line, sizeof line, "%s", text && *text ? text : "the server gives no reason");
  make_line(line);
  if (PQstatus(link->connection) != CONNECTION_OK) link->dead = true;
  return tt_fail(error, TT_FAILED, "postgresql: %s", line);
}

static tt_status late(tt_postgres_link *link, tt_error *error) {
  link->dead = true;
  if (PQsocket(link->connection) < 0) return fail(link, "the connection is lost", error);
  // Of a connection in the making libpq says the half of a sentence that names the server and ends with a colon.
  char said[400], text[500];
  snprintf(said, sizeof said, "%s", PQerrorMessage(link->connection));
  make_line(said);
  const size_t size = strlen(said);
  snprintf(text, sizeof text, "%s%sno answer within %.1f s", said,
           !size                   ? ""
           : said[size - 1] == ':' ? " "
                                   : "; ",
           (double)(tt_monotonic_us() - link->begun) / 1e6);
  return fail(link, text, error);
}

/** Waits until the socket can be read (or written). */
static bool wait_for(tt_postgres_link *link, short events, int64_t deadline) {
  for (bool hurried = !link->hurried;;) {
    const int64_t now = tt_monotonic_us();
    if (!hurried && atomic_load(link->hurried)) {
      hurried = true;
      if (now + link->hurry_patience < deadline) deadline = now + link->hurry_patience;
    }
    const int64_t left = deadline - now;
    if (left <= 0) return false;
    struct pollfd poller = {.fd = PQsocket(link->connection), .events = events};
    if (poller.fd < 0) return false;
    const bool looks = !hurried && left > HURRY_INTERVAL;
    const int ready = poll(&poller, 1, (int)((looks ? HURRY_INTERVAL : left) / 1000 + 1));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

void tt_postgres_obey(tt_postgres_link *link, const atomic_bool *hurried, int64_t patience) {
  link->hurried = hurried;
  link->hurry_patience = patience;
}

/* Else libpq writes them to standard error itself, as the server sent them. */
static void on_notice(void *context, const char *text) {
  (void)context;
  tt_log_info("postgresql: %.*s", (int)strcspn(text, "\n"), text);
}

/** PGRES_POLLING_OK, …_FAILED, or what it was waiting for at the deadline. */
static PostgresPollingStatusType connect_link(tt_postgres_link *link, int64_t deadline) {
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
    if (PQstatus(link->connection) == CONNECTION_BAD) return PGRES_POLLING_FAILED;
    if (!wait_for(link, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline)) break;
    state = PQconnectPoll(link->connection);
  }
  return state;
}

const char *tt_postgres_encoding(const tt_postgres_link *link) {
  const char *encoding = PQparameterStatus(link->connection, "server_encoding");
  return encoding ? encoding : "";
}

/** All texts are UTF-8, whatever the environment or the role says they are. A database in which not all of it has room has the bytes as
 *  they were put there. */
static tt_status set_encoding(tt_postgres_link *link, int64_t deadline, tt_error *error) {
  const char *ours = PQparameterStatus(link->connection, "client_encoding");
  if (strcmp(tt_postgres_encoding(link), "UTF8") || (ours && !strcmp(ours, "UTF8"))) return TT_OK;
  return tt_postgres_run(link, "SET client_encoding = 'UTF8'", 0, NULL, deadline, NULL, error);
}

tt_status tt_postgres_connect(const char *url, int64_t deadline, tt_postgres_link **out,
                              tt_error *error) {
  tt_postgres_link *link = calloc(1, sizeof *link);
  if (!link) return tt_fail(error, TT_NOMEM, "out of memory");
  link->begun = tt_monotonic_us();
  // A server whose machine does not answer is known to be away within two seconds, one that is slow has its deadline. The URL
  // goes last, so that what it says wins over these.
  const char *const keys[] = {"application_name",
                              "connect_timeout",
                              "keepalives_idle",
                              "keepalives_interval",
                              "tcp_user_timeout",
                              "dbname",
                              NULL};
  const char *const values[] = {"tether", "5", "1", "1", "1500", url, NULL};
  link->connection = PQconnectStartParams(keys, values, 1);
  if (link->connection) PQsetNoticeProcessor(link->connection, on_notice, NULL);
  PostgresPollingStatusType state = connect_link(link, deadline);
  const bool waited = state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED;
  if (state != PGRES_POLLING_OK || PQsetnonblocking(link->connection, 1)) {
    tt_status status = !link->connection ? tt_fail(error, TT_NOMEM, "postgresql: out of memory")
                       : waited          ? late(link, error)
                                         : fail(link, PQerrorMessage(link->connection), error);
    tt_postgres_close(link);
    return status;
  }
  const tt_status encoded = set_encoding(link, deadline, error);
  if (encoded != TT_OK) {
    tt_postgres_close(link);
    return encoded;
  }
  *out = link;
  return TT_OK;
}

void tt_postgres_close(tt_postgres_link *link) {
  if (!link) return;
  PQfinish(link->connection);
  free(link);
}

bool tt_postgres_is_alive(const tt_postgres_link *link) {
  return link && !link->dead && PQstatus(link->connection) == CONNECTION_OK;
}

void tt_postgres_bear(tt_postgres_link *link, int factor) {
  // To the kernel a server that is busy for so long is one that is gone. Sockets of files have no such time.
  const int socket = PQsocket(link->connection);
  int time = 0;
  socklen_t size = sizeof time;
  if (getsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &time, &size) || time <= 0) return;
  time = time > INT32_MAX / factor ? INT32_MAX : time * factor;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &time, sizeof time);
}

bool tt_postgres_was_notified(tt_postgres_link *link) {
  bool notified = false;
  if (!PQconsumeInput(link->connection)) link->dead = true;
  for (PGnotify *notice; (notice = PQnotifies(link->connection)); PQfreemem(notice)) {
    notified |= notice->be_pid != PQbackendPID(link->connection);
  }
  return notified;
}

bool tt_postgres_is_mistake(const char *code) {
  static const char *const classes[] = {"0A", "28", "3D", "3F", "42"};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (!strncmp(code, classes[i], 2)) return true;
  return false;
}

/** The SQLSTATE behind the severity in what a connection says that was told to say only this; "" where there is none. */
static const char *code_in(const char *text) {
  const char *last = strstr(text, ":  ");
  for (const char *next = last; next; next = strstr(next + 1, ":  ")) last = next;
  return last && strspn(last + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 ? last + 3 : "";
}

tt_status tt_postgres_check_url(const char *url, tt_error *error) {
  char *why = NULL;
  PQconninfoOption *options = PQconninfoParse(url, &why);
  if (why) make_line(why);
  tt_status status = options ? TT_OK
                     : why   ? tt_fail(error, TT_INVALID, "postgresql: %.400s", why)
                             : tt_fail(error, TT_NOMEM, "postgresql: out of memory");
  PQconninfoFree(options);
  PQfreemem(why);
  return status;
}

bool tt_postgres_is_refused(const char *url) {
  const char *const keys[] = {"connect_timeout", "dbname", NULL};
  const char *const values[] = {"2", url, NULL};
  PGconn *connection = PQconnectStartParams(keys, values, 1);
  // In the words of the server's language only the code can be told.
  PQsetErrorVerbosity(connection, PQERRORS_SQLSTATE);
  tt_postgres_link link = {.connection = connection};
  const int64_t deadline = tt_monotonic_us() + 2000000;
  bool refused = connect_link(&link, deadline) == PGRES_POLLING_FAILED &&
                 tt_postgres_is_mistake(code_in(PQerrorMessage(connection)));
  PQfinish(connection);
  return refused;
}

const char *tt_postgres_last_code(const tt_postgres_link *link) { return link->code; }

static tt_status flush(tt_postgres_link *link, int64_t deadline, tt_error *error) {
  int left;
  while ((left = PQflush(link->connection)) > 0) {
    // The server may have something to say before it reads on.
    if (!wait_for(link, POLLIN | POLLOUT, deadline)) return late(link, error);
    if (!PQconsumeInput(link->connection))
      return fail(link, PQerrorMessage(link->connection), error);
  }
  return left == 0 ? TT_OK : fail(link, PQerrorMessage(link->connection), error);
}

/** The next result, NULL when all were taken. */
static tt_status next_result(tt_postgres_link *link, int64_t deadline, PGresult **result,
                             tt_error *error) {
  while (PQisBusy(link->connection)) {
    if (!wait_for(link, POLLIN, deadline)) return late(link, error);
    if (!PQconsumeInput(link->connection))
      return fail(link, PQerrorMessage(link->connection), error);
  }
  *result = PQgetResult(link->connection);
  return TT_OK;
}

/** Takes all results of a statement; keeps the last, and the first error. */
static tt_status finish(tt_postgres_link *link, int64_t deadline, PGresult **out, tt_error *error) {
  PGresult *kept = NULL, *result;
  tt_status status = TT_OK;
  link->code[0] = 0;
  for (;;) {
    tt_status waited = next_result(link, deadline, &result, error);
    if (waited != TT_OK) {
      PQclear(kept);
      return waited;
    }
    if (!result) break;
    ExecStatusType state = PQresultStatus(result);
    if (state != PGRES_COMMAND_OK && state != PGRES_TUPLES_OK && status == TT_OK) {
      const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
      snprintf(link->code, sizeof link->code, "%s", code ? code : "");
      status = fail(link, PQresultErrorMessage(result), error);
    }
    PQclear(kept);
    kept = result;
  }
  if (status == TT_OK && !kept) status = fail(link, PQerrorMessage(link->connection), error);
  if (status != TT_OK || !out) {
    PQclear(kept);
    return status;
  }
  *out = kept;
  return TT_OK;
}

static tt_status send_statement(tt_postgres_link *link, const char *sql, int count,
                                const char *const *parameters, int64_t deadline, tt_error *error) {
  link->begun = tt_monotonic_us();
  int sent = count
                 ? PQsendQueryParams(link->connection, sql, count, NULL, parameters, NULL, NULL, 0)
                 : PQsendQuery(link->connection, sql);
  if (!sent) return fail(link, PQerrorMessage(link->connection), error);
  return flush(link, deadline, error);
}

tt_status tt_postgres_run(tt_postgres_link *link, const char *sql, int count,
                          const char *const *parameters, int64_t deadline, PGresult **result,
                          tt_error *error) {
  if (link->dead) return fail(link, "the connection is lost", error);
  TT_TRY(send_statement(link, sql, count, parameters, deadline, error));
  return finish(link, deadline, result, error);
}

tt_status tt_postgres_runf(tt_postgres_link *link, int64_t deadline, PGresult **result,
                           tt_error *error, const char *format, ...) {
  char sql[1000];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(sql, sizeof sql, format, arguments);
  va_end(arguments);
  if (size < 0 || (size_t)size >= sizeof sql)
    return tt_fail(error, TT_FAILED, "postgresql: a statement is too long");
  return tt_postgres_run(link, sql, 0, NULL, deadline, result, error);
}

int64_t tt_postgres_integer(const PGresult *result, int row, int column) {
  return strtoll(PQgetvalue(result, row, column), NULL, 10);
}

tt_status tt_postgres_begin_copy(tt_postgres_link *link, const char *sql, int64_t deadline,
                                 tt_error *error) {
  PGresult *result;
  TT_TRY(send_statement(link, sql, 0, NULL, deadline, error));
  TT_TRY(next_result(link, deadline, &result, error));
  bool ready = PQresultStatus(result) == PGRES_COPY_IN;
  if (!ready) fail(link, PQresultErrorMessage(result), error);
  PQclear(result);
  if (ready) return TT_OK;
  tt_error ignored;
  finish(link, deadline, NULL, &ignored);
  return TT_FAILED;
}

tt_status tt_postgres_copy(tt_postgres_link *link, const void *bytes, size_t size, int64_t deadline,
                           tt_error *error) {
  int put;
  while ((put = PQputCopyData(link->connection, bytes, (int)size)) == 0)
    TT_TRY(flush(link, deadline, error));
  if (put < 0) return fail(link, PQerrorMessage(link->connection), error);
  return flush(link, deadline, error);
}

tt_status tt_postgres_end_copy(tt_postgres_link *link, int64_t deadline, tt_error *error) {
  int put;
  while ((put = PQputCopyEnd(link->connection, NULL)) == 0) TT_TRY(flush(link, deadline, error));
  if (put < 0) return fail(link, PQerrorMessage(link->connection), error);
  TT_TRY(flush(link, deadline, error));
  return finish(link, deadline, NULL, error);
}
