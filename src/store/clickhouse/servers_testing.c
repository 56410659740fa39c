/* servers_testing.c */
#include "store/clickhouse/servers_testing.h"

#include "store/clickhouse/internal.h"
#include "store/conformance.h"

const char *servers_one(void) { return g_getenv("TETHER_TEST_CLICKHOUSE"); }
const char *servers_other(void) { return g_getenv("TETHER_TEST_CLICKHOUSE_OTHER"); }
const char *servers_both(void) { return g_getenv("TETHER_TEST_CLICKHOUSE_BOTH"); }

int64_t servers_ask(const char *url, const char *sql) {
  tt_clickhouse_address address;
  tt_clickhouse_link *link = NULL;
  tt_error error;
  tt_list answer = TT_LIST(char, NULL);
  if (tt_clickhouse_address_parse(url, &address, &error) != TT_OK ||
      tt_clickhouse_link_new(&address, 0, 30, &link, &error) != TT_OK ||
      tt_clickhouse_ask(link, sql, NULL, &answer, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  const int64_t number = answer.len ? tt_clickhouse_get_long(&rows) : 0;
  tt_clickhouse_link_free(link);
  tt_clickhouse_address_clear(&address);
  tt_list_free(&answer);
  return number;
}

int servers_clean(void **state) {
  (void)state;
  servers_ask(servers_one(), "DROP DATABASE IF EXISTS tether");
  servers_ask(servers_other(), "DROP DATABASE IF EXISTS tether");
  return 0;
}
