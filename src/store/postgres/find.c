/* find.c: whether a message is stored, asked on a connection of its own, so that nobody waits for the writer. */
#include "base/log.h"
#include "store/postgres/internal.h"

#include <stdio.h>

/** µs for a connection or an answer, since who asks is receiving messages… */
#define ANSWER_DEADLINE SECOND
/** …and until the next attempt, if there was none. */
#define QUESTION_INTERVAL (5 * SECOND)

static int attribute_id(tt_postgres *store, int index) {
  pthread_mutex_lock(&store->mutex);
  int id = tt_postgres_get_id(&store->known.attributes, index);
  pthread_mutex_unlock(&store->mutex);
  return id;
}

static int device_id(tt_postgres *store, int index) {
  pthread_mutex_lock(&store->mutex);
  int id = tt_postgres_get_id(&store->known.devices, index);
  pthread_mutex_unlock(&store->mutex);
  return id;
}

/** The question as SQL, its texts as parameters. */
typedef struct sql_question {
  tt_list sql;
  const char *parameters[1 + TT_STORE_VALUES];
  int parameter_count, value_count;
} sql_question;

static void add_value(tt_postgres *store, sql_question *to, const tt_store_batch *batch,
                      const tt_store_sample *sample, const tt_store_value *value) {
  tt_list_print(&to->sql, "%s(%" PRId64 "::bigint, %" PRId64 "::bigint, %d, ",
                to->value_count++ ? ", " : "", sample->device_time, sample->seq,
                attribute_id(store, value->attribute));
  if (value->text == TT_STORE_NUMBER) {
    tt_list_print(&to->sql, "%.17g::double precision, NULL::text)", value->number);
  } else {
    to->parameters[to->parameter_count++] = (const char *)batch->text.data + value->text;
    tt_list_print(&to->sql, "NULL::double precision, $%d::text)", to->parameter_count);
  }
}

static void print_question(tt_postgres *store, sql_question *to, int device,
                           const tt_store_question *question) {
  const tt_store_batch *batch = question->batch;
  *to = (sql_question){.sql = TT_LIST(char, NULL), .parameters = {question->boot}};
  to->parameter_count = 1;
  tt_list_print(&to->sql, "WITH q (device_time, seq, attribute, number, text) AS (VALUES ");
  tt_store_firm firm = {0};
  while (to->value_count < TT_STORE_VALUES &&
         tt_store_next_firm(batch, 0, batch->samples.len, &firm))
    add_value(store, to, batch, firm.sample, firm.value);
  tt_list_print(&to->sql,
                ") SELECT e.epoch FROM (SELECT epoch, anchor FROM boot WHERE device = %d"
                " AND boot = $1 ORDER BY epoch DESC LIMIT %d) e CROSS JOIN q CROSS JOIN LATERAL"
                " (SELECT FROM any_value v WHERE v.device = %d AND v.epoch = e.epoch"
                " AND v.device_time = q.device_time AND v.nth < %d AND v.attribute = q.attribute"
                " AND v.day = " TT_POSTGRES_DAY("q.device_time", "e.anchor")
                " AND coalesce(v.seq, 0) = q.seq AND (v.number = q.number OR v.text = q.text)"
                " LIMIT 1) v GROUP BY e.epoch HAVING count(*) = %d ORDER BY e.epoch DESC LIMIT 1",
                device, TT_STORE_EPOCHS, device, TT_STORE_RECORDS, to->value_count);
}

static tt_status connect_asked(tt_postgres *store, int64_t deadline, tt_error *error) {
  if (store->asked) return TT_OK;
  TT_TRY(tt_postgres_connect(store->url, deadline, &store->asked, error));
  return tt_postgres_run(store->asked, "SET search_path = tether", 0, NULL, deadline, NULL, error);
}

/** `*number`: of the epoch that has the message, −1: none does. */
static tt_status find_epoch(tt_postgres *store, int device, const tt_store_question *question,
                            int64_t deadline, int *number, tt_error *error) {
  sql_question asked;
  PGresult *result;
  print_question(store, &asked, device, question);
  tt_status status = TT_NOT_FOUND;
  if (asked.sql.failed) {
    status = tt_fail(error, TT_NOMEM, "out of memory");
  } else if (asked.value_count) {
    status = tt_postgres_run(store->asked, asked.sql.data, asked.parameter_count, asked.parameters,
                             deadline, &result, error);
  }
  tt_list_free(&asked.sql);
  *number = -1;
  if (status == TT_NOT_FOUND) return TT_OK;
  TT_TRY(status);
  if (PQntuples(result)) *number = (int)tt_postgres_integer(result, 0, 0);
  PQclear(result);
  return TT_OK;
}

tt_status tt_postgres_find(tt_store *base, const tt_store_question *question, tt_list *boots,
                           int64_t *key) {
  tt_postgres *store = (tt_postgres *)base;
  const int64_t now = tt_monotonic_us();
  if (atomic_load(&store->away) || now < store->next_question) return TT_AGAIN;
  const int device = device_id(store, question->device);
  if (!device) return TT_NOT_FOUND;
  tt_error error;
  int number;
  tt_status status = connect_asked(store, now + ANSWER_DEADLINE, &error);
  if (status == TT_OK)
    status = find_epoch(store, device, question, now + ANSWER_DEADLINE, &number, &error);
  if (status == TT_OK) {
    status = tt_postgres_load_boots(store->asked, device, question->device, number,
                                    now + ANSWER_DEADLINE, boots, &error);
  }
  if (status != TT_OK) {
    tt_log_warning("%s; what is sent again is looked for when it is written", error.text);
    tt_postgres_close(store->asked);
    store->asked = NULL;
    store->next_question = tt_monotonic_us() + QUESTION_INTERVAL;
    return TT_AGAIN;
  }
  for (uint32_t i = 0; i < boots->len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(boots, tt_store_boot, i).epoch;
    if (epoch->number == number) *key = epoch->key;
  }
  return number < 0 ? TT_NOT_FOUND : TT_OK;
}
