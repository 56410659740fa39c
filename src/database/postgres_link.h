/* postgres_link.h: a connection to PostgreSQL on which nothing waits beyond a deadline, whatever the server does. */
#ifndef TT_DATABASE_POSTGRES_LINK_H
#define TT_DATABASE_POSTGRES_LINK_H

#include "base/status.h"

#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tt_postgres_link tt_postgres_link;

/* Deadlines are µs of tt_monotonic_us(). After a missed one the link is dead. */

/** Connects; to be closed. TT_INVALID: the URL is none; TT_FAILED: why there is no connection. One thread at a time. */
tt_status tt_postgres_connect(const char *url, int64_t deadline, tt_postgres_link **link,
                              tt_error *error);
/** Of the database, as it calls it: "UTF8". Where it is that, texts are UTF-8 on the connection, too. */
const char *tt_postgres_encoding(const tt_postgres_link *link);
/** NULL-safe. */
void tt_postgres_close(tt_postgres_link *link);
bool tt_postgres_is_alive(const tt_postgres_link *link);
/** Lets a server that does not take what it is sent, but whose machine is there, do so `factor` times as long as a new link does. */
void tt_postgres_bear(tt_postgres_link *link, int factor);
/** Once `hurried` is set, by any thread, nothing is waited for longer than `patience` (µs) from then on, whatever the deadline. */
void tt_postgres_obey(tt_postgres_link *link, const atomic_bool *hurried, int64_t patience);
/** Whether another connection has notified this one since the last call. Never waits; may find the link dead. */
bool tt_postgres_was_notified(tt_postgres_link *link);
/** TT_INVALID: why libpq can't read it. */
tt_status tt_postgres_check_url(const char *url, tt_error *error);
/** Whether a server answers, on a connection of its own, that it lets us in never. Blocks for up to two seconds. */
bool tt_postgres_is_refused(const char *url);
/** Whether an SQLSTATE says that somebody has to mend something: who we are, what we may do, which database. */
bool tt_postgres_is_mistake(const char *code);
/** SQLSTATE of the last error, "" if none. */
const char *tt_postgres_last_code(const tt_postgres_link *link);

/** Runs a statement, or several without parameters. `result` (may be NULL) gets the last one's, to be cleared. */
tt_status tt_postgres_run(tt_postgres_link *link, const char *sql, int count,
                          const char *const *parameters, int64_t deadline, PGresult **result,
                          tt_error *error);
/** The same of a statement that is printed first; of numbers and names of ours, since nothing is quoted. At most 1,000
 *  bytes. */
tt_status tt_postgres_runf(tt_postgres_link *link, int64_t deadline, PGresult **result,
                           tt_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/** Of a result in text. */
int64_t tt_postgres_integer(const PGresult *result, int row, int column);

/** COPY … FROM STDIN: begin, pieces in any sizes, end, which waits for the answer. TT_FAILED: what the server says. */
tt_status tt_postgres_begin_copy(tt_postgres_link *link, const char *sql, int64_t deadline,
                                 tt_error *error);
tt_status tt_postgres_copy(tt_postgres_link *link, const void *bytes, size_t size, int64_t deadline,
                           tt_error *error);
tt_status tt_postgres_end_copy(tt_postgres_link *link, int64_t deadline, tt_error *error);

#endif
