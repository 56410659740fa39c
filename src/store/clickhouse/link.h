/* link.h: requests to one server of ClickHouse by HTTP. One thread at a time, any thread. */
#ifndef TT_STORE_CLICKHOUSE_LINK_H
#define TT_STORE_CLICKHOUSE_LINK_H

#include "store/clickhouse/address.h"
#include "store/list.h"

/** Bytes of one answer at most. */
#define TT_CLICKHOUSE_ANSWER (64u << 20)

typedef struct tt_clickhouse_link tt_clickhouse_link;

/** Connects with the first request. The address must stay. `patience`: s without a byte after which a request fails. */
tt_status tt_clickhouse_link_new(const tt_clickhouse_address *address, int shard, unsigned patience,
                                 tt_clickhouse_link **link, tt_error *error);
/** NULL-safe. */
void tt_clickhouse_link_free(tt_clickhouse_link *link);
/** From now on; ends the connection. */
void tt_clickhouse_link_wait(tt_clickhouse_link *link, unsigned patience);

/** Ends the request that is under way, if it was under way at the last call, too, and all that come after it: for who is to end and has to do
 *  with a server that stands still. Any thread, by turns. */
void tt_clickhouse_link_cut(tt_clickhouse_link *link);

/** Whether the database is there already, in which statements are meant from then on. */
void tt_clickhouse_link_use(tt_clickhouse_link *link, bool database);
/** Sends a statement; `data`: what it inserts, in Native, or NULL. `answer` becomes what is answered, in RowBinary, once all of it is
 *  known to be right; NULL: nothing is. TT_FULL: the answer is too long; else TT_FAILED. The
 *  statement may have been run nevertheless, and once more where a connection ended that had been idle. */
tt_status tt_clickhouse_ask(tt_clickhouse_link *link, const char *sql, const tt_list *data,
                            tt_list *answer, tt_error *error);
/** Whether the last error was that the server refuses who asks: somebody has to change what is set. */
bool tt_clickhouse_is_refused(const tt_clickhouse_link *link);

/** Whether the last request was not answered in time. */
bool tt_clickhouse_was_late(const tt_clickhouse_link *link);

#endif
