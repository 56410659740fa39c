/* telemetry_limits.c: what bounds a collector of telemetry on this machine, without one: the bare parser, bare inserts of the
 * same rows, bare COPY. Prints values a second.
 *
 *   telemetry_limits expat FILE              attributes of the messages in FILE
 *   telemetry_limits sqlite FILE SAMPLES N   SAMPLES samples of N values, as the collector's tables have them, one
 *                                            prepared insert a row, 5,000 samples a transaction
 *   telemetry_limits rows FILE SAMPLES N     the same, all N values of a sample by one insert
 *   telemetry_limits copy URL SAMPLES N [D]  the same into PostgreSQL; of D devices, RUN samples of each in turn
 */
#include "wait_for_go.h"

#include <endian.h>
#include <expat.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH_SAMPLES 5000
#define RUN 250
#define PIECE 1024

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int die(const char *what) {
  fprintf(stderr, "telemetry_limits: %s\n", what);
  exit(1);
}

/* --- expat --- */

typedef struct counter {
  XML_Parser parser;
  long attributes;
  int depth, finished;
  size_t end;
} counter;

static void on_start(void *user, const char *name, const char **attributes) {
  counter *count = user;
  (void)name;
  count->depth++;
  for (; *attributes; attributes += 2) count->attributes += count->depth == 3;
}

static void on_end(void *user, const char *name) {
  counter *count = user;
  (void)name;
  if (--count->depth) return;
  count->finished = 1;
  count->end = (size_t)XML_GetCurrentByteIndex64(count->parser) +
               (size_t)XML_GetCurrentByteCount64(count->parser);
  XML_StopParser(count->parser, XML_FALSE);
}

static double parse(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) die(path);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(size + 1);
  if (!text || fread(text, 1, size, file) != size) die("can't read");
  fclose(file);
  counter count = {.parser = XML_ParserCreate(NULL)};
  wait_for_go();
  double start = now();
  for (size_t at = 0; at < size;) {
    XML_ParserReset(count.parser, NULL);
    XML_SetUserData(count.parser, &count);
    XML_SetElementHandler(count.parser, on_start, on_end);
    count.finished = 0;
    size_t piece = size - at < PIECE ? size - at : PIECE; /* expat copies what it is given */
    XML_Parse(count.parser, text + at, (int)piece, 0);
    if (!count.finished) die("a message is longer than a piece");
    at += count.end;
    while (at < size && text[at] == '\n') at++;
  }
  double took = now() - start;
  XML_ParserFree(count.parser);
  free(text);
  return (double)count.attributes / took;
}

/* --- SQLite --- */

static void run(sqlite3 *db, const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL)) die(sqlite3_errmsg(db));
}

/** One insert for `rows` values of a sample. */
static sqlite3_stmt *prepare_values(sqlite3 *db, int rows) {
  char sql[4096] = "INSERT INTO value VALUES (?, ?, ?)";
  if (rows > 200) die("at most 200 rows an insert");
  for (int i = 1; i < rows; i++) strcat(sql, ", (?, ?, ?)");
  sqlite3_stmt *put;
  if (sqlite3_prepare_v2(db, sql, -1, &put, NULL)) die(sqlite3_errmsg(db));
  return put;
}

static double insert(const char *path, long samples, int values, int rows) {
  if (values % rows) die("the values of a sample are to be a multiple of the rows of an insert");
  sqlite3 *db;
  sqlite3_stmt *put_sample, *put_value;
  if (sqlite3_open(path, &db)) die(sqlite3_errmsg(db));
  run(db,
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;"
      "PRAGMA wal_autocheckpoint = 4000;"
      "CREATE TABLE sample (id INTEGER PRIMARY KEY, device INTEGER NOT NULL, epoch INTEGER NOT "
      "NULL,"
      " device_time INTEGER NOT NULL, time INTEGER NOT NULL, UNIQUE (device, epoch, device_time));"
      "CREATE TABLE value (sample INTEGER NOT NULL, attribute INTEGER NOT NULL, value NOT NULL,"
      " PRIMARY KEY (sample, attribute)) WITHOUT ROWID");
  sqlite3_prepare_v2(db,
                     "INSERT INTO sample (device, epoch, device_time, time) VALUES (1, 0, ?1, ?2)",
                     -1, &put_sample, NULL);
  put_value = prepare_values(db, rows);
  double start = now();
  for (long i = 0; i < samples; i++) {
    if (i % BATCH_SAMPLES == 0) run(db, "BEGIN");
    sqlite3_bind_int64(put_sample, 1, i);
    sqlite3_bind_int64(put_sample, 2, 1700000000000000 + i);
    if (sqlite3_step(put_sample) != SQLITE_DONE) die(sqlite3_errmsg(db));
    sqlite3_reset(put_sample);
    sqlite3_int64 id = sqlite3_last_insert_rowid(db);
    for (int v = 0; v < values; v++) {
      int first = 3 * (v % rows);
      sqlite3_bind_int64(put_value, first + 1, id);
      sqlite3_bind_int(put_value, first + 2, v + 1);
      sqlite3_bind_double(put_value, first + 3, (double)i * 0.5 + v);
      if (v % rows != rows - 1) continue;
      if (sqlite3_step(put_value) != SQLITE_DONE) die(sqlite3_errmsg(db));
      sqlite3_reset(put_value);
    }
    if (i % BATCH_SAMPLES == BATCH_SAMPLES - 1 || i == samples - 1) run(db, "COMMIT");
  }
  double took = now() - start;
  sqlite3_finalize(put_sample);
  sqlite3_finalize(put_value);
  sqlite3_close(db);
  return (double)samples * values / took;
}

/* --- PostgreSQL --- */

static void put(char **at, const void *bytes, size_t size) {
  memcpy(*at, bytes, size);
  *at += size;
}

static void put_field(char **at, uint64_t value, int size) {
  uint32_t length = htobe32((uint32_t)size), four = htobe32((uint32_t)value);
  uint64_t eight = htobe64(value);
  put(at, &length, 4);
  put(at, size == 4 ? (void *)&four : (void *)&eight, (size_t)size);
}

static void execute(PGconn *connection, const char *sql, ExecStatusType expected) {
  PGresult *result = PQexec(connection, sql);
  if (PQresultStatus(result) != expected) die(PQresultErrorMessage(result));
  PQclear(result);
}

static double copy(const char *url, long samples, int values, int devices) {
  PGconn *connection = PQconnectdb(url);
  if (PQstatus(connection) != CONNECTION_OK) die(PQerrorMessage(connection));
  execute(connection,
          "SET client_min_messages = warning; DROP TABLE IF EXISTS bare; CREATE TABLE bare (device "
          "integer NOT NULL,"
          " epoch integer NOT NULL, device_time bigint NOT NULL, attribute integer NOT NULL, day "
          "date NOT NULL,"
          " time timestamptz NOT NULL, number double precision, text text,"
          " PRIMARY KEY (device, epoch, device_time, attribute, day))",
          PGRES_COMMAND_OK);
  char *piece = malloc((size_t)values * 128 + 64);
  double start = now();
  for (long i = 0; i < samples; i++) {
    char *at = piece;
    if (i % BATCH_SAMPLES == 0) {
      execute(connection, "BEGIN", PGRES_COMMAND_OK);
      execute(connection, "COPY bare FROM STDIN (FORMAT binary)", PGRES_COPY_IN);
      put(&at, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    }
    for (int v = 0; v < values; v++) {
      uint16_t fields = htobe16(8);
      uint32_t null = 0xffffffff;
      double number = (double)i * 0.5 + v;
      uint64_t bits;
      memcpy(&bits, &number, 8);
      put(&at, &fields, 2);
      put_field(&at, (uint64_t)(i / RUN % devices) + 1, 4);
      put_field(&at, 0, 4);
      put_field(&at, (uint64_t)i, 8);
      put_field(&at, (uint64_t)v + 1, 4);
      put_field(&at, 9000, 4);
      put_field(&at, 800000000000000 + (uint64_t)i, 8);
      put_field(&at, bits, 8);
      put(&at, &null, 4);
    }
    if (PQputCopyData(connection, piece, (int)(at - piece)) != 1) die(PQerrorMessage(connection));
    if (i % BATCH_SAMPLES != BATCH_SAMPLES - 1 && i != samples - 1) continue;
    PQputCopyData(connection, "\377\377", 2);
    PQputCopyEnd(connection, NULL);
    for (PGresult *result; (result = PQgetResult(connection)); PQclear(result)) {
      if (PQresultStatus(result) != PGRES_COMMAND_OK) die(PQresultErrorMessage(result));
    }
    execute(connection, "COMMIT", PGRES_COMMAND_OK);
  }
  double took = now() - start;
  execute(connection, "DROP TABLE bare", PGRES_COMMAND_OK);
  PQfinish(connection);
  free(piece);
  return (double)samples * values / took;
}

int main(int argc, char **argv) {
  double rate = 0;
  if (argc == 3 && !strcmp(argv[1], "expat")) {
    rate = parse(argv[2]);
  } else if (argc == 5 && !strcmp(argv[1], "sqlite")) {
    rate = insert(argv[2], atol(argv[3]), atoi(argv[4]), 1);
  } else if (argc == 5 && !strcmp(argv[1], "rows")) {
    rate = insert(argv[2], atol(argv[3]), atoi(argv[4]), atoi(argv[4]));
  } else if ((argc == 5 || argc == 6) && !strcmp(argv[1], "copy")) {
    rate = copy(argv[2], atol(argv[3]), atoi(argv[4]), argc == 6 ? atoi(argv[5]) : 1);
  } else {
    die("expat FILE, sqlite or rows FILE SAMPLES VALUES, or copy URL SAMPLES VALUES [DEVICES]");
  }
  printf("%.0f\n", rate);
  return 0;
}
