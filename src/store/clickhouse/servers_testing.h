/* servers_testing.h: the servers that tests of shards and buckets write to: what tests/telemetry/store_clickhouse_test.py gives. */
#ifndef TT_STORE_CLICKHOUSE_SERVERS_TESTING_H
#define TT_STORE_CLICKHOUSE_SERVERS_TESTING_H

#include <stdint.h>

/** URLs of one server, of the other, and of both as shards; NULL: there are none, and all is skipped. */
const char *servers_one(void);
const char *servers_other(void);
const char *servers_both(void);
/** A number that the first server of a URL answers; 0 where it answers nothing. What fails, fails the test. */
int64_t servers_ask(const char *url, const char *sql);
/** Of a test: nothing is stored yet. */
int servers_clean(void **state);

#endif
