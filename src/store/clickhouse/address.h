/* address.h: a URL of ClickHouse, taken apart: clickhouse://[USER[:PASSWORD]@]HOST[:PORT][,HOST…][/DATABASE][?OPTIONS]. */
#ifndef TT_STORE_CLICKHOUSE_ADDRESS_H
#define TT_STORE_CLICKHOUSE_ADDRESS_H

#include "base/status.h"

#include <stdbool.h>

#define TT_CLICKHOUSE_SHARDS 64

/** One server. */
typedef struct tt_clickhouse_shard {
  char host[256]; /**< of IPv6 with its brackets */
  int port;       /**< of HTTP; default 8123, with TLS 8443 */
  int native;     /**< where other shards read of it; default 9000 */
} tt_clickhouse_shard;

typedef struct tt_clickhouse_address {
  char *user, *password; /**< "" where they are not said */
  char *database;        /**< default "tether" */
  char *ca;              /**< file of certificates that are trusted; NULL: those of the system */
  bool tls;
  tt_clickhouse_shard shards[TT_CLICKHOUSE_SHARDS];
  int shard_count;
} tt_clickhouse_address;

/** TT_INVALID: the message says what is wrong with it. To be cleared, also when it failed. */
tt_status tt_clickhouse_address_parse(const char *url, tt_clickhouse_address *address,
                                      tt_error *error);
void tt_clickhouse_address_clear(tt_clickhouse_address *address);

#endif
