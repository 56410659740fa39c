/* stage.c: values that may be there already. They are put into a table of the transaction's own, what is there is
 * taken out of it, and the rest is moved.
 */
#include "store/postgres/internal.h"

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

tt_status tt_postgres_is_doubtful(tt_postgres *store, const tt_store_batch *batch,
                                  const tt_list *unsure, const tt_postgres_ids *known,
                                  bool *doubtful, tt_error *error) {
  tt_map devices = {0};
  tt_list ids = TT_LIST(char, NULL);
  bool noted = true;
  *doubtful = false;
  for (uint32_t i = 0; i < batch->samples.len && noted; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    tt_map_key key = {sample->device, 0};
    if (!tt_list_at(unsure, char, i) || tt_map_get(&devices, key)) continue;
    noted = tt_map_put(&devices, key, 1) &&
            tt_list_print(&ids, "%s%d", ids.len ? "," : "{",
                          tt_postgres_get_id(&known->devices, sample->device));
  }
  tt_map_clear(&devices);
  tt_status status =
      noted && tt_list_print(&ids, "}") ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
  const char *parameters[] = {ids.data};
  PGresult *result;
  if (status == TT_OK) {
    status = tt_postgres_run(store->link,
                             "SELECT 1 FROM boot WHERE device = ANY ($1)"
                             " GROUP BY device, boot HAVING count(*) > 1 LIMIT 1",
                             1, parameters, tt_postgres_deadline(store), &result, error);
  }
  tt_list_free(&ids);
  TT_TRY(status);
  *doubtful = PQntuples(result);
  PQclear(result);
  return TT_OK;
}

/** From when to when samples of an epoch are. */
typedef struct stretch {
  int device, epoch; /**< as the database calls them */
  int64_t from, to;  /**< µs, inclusive */
} stretch;

/** False: out of memory. */
static bool list_stretches(const tt_store_batch *batch, const tt_postgres_ids *known,
                           tt_list *stretches) {
  tt_map places = {0};
  bool noted = true;
  for (uint32_t i = 0; i < batch->samples.len && noted; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const tt_map_key key = {sample->device, sample->epoch};
    const int64_t at = sample->device_time, *place = tt_map_get(&places, key);
    stretch *there = place ? &tt_list_at(stretches, stretch, *place) : NULL;
    if (there && at < there->from) there->from = at;
    if (there && at > there->to) there->to = at;
    const int64_t *epoch = there ? NULL : tt_map_get(&known->epochs, key);
    if (!epoch) continue;
    const stretch added = {tt_postgres_get_id(&known->devices, sample->device), (int)*epoch, at,
                           at};
    noted = tt_map_put(&places, key, stretches->len) && tt_list_add(stretches, &added, 1);
  }
  tt_map_clear(&places);
  return noted;
}

tt_status tt_postgres_find_records(tt_postgres *store, const tt_store_batch *batch,
                                   const tt_postgres_ids *known, bool *any, tt_error *error) {
  tt_list stretches = TT_LIST(stretch, NULL), sql = TT_LIST(char, NULL);
  PGresult *result = NULL;
  tt_status status = list_stretches(batch, known, &stretches) ? TT_OK : TT_NOMEM;
  tt_list_print(&sql, "SELECT FROM (VALUES ");
  for (uint32_t i = 0; i < stretches.len; i++) {
    const stretch *one = &tt_list_at(&stretches, stretch, i);
    tt_list_print(&sql, "%s(%d, %d, '%" PRId64 "'::bigint, '%" PRId64 "'::bigint)", i ? ", " : "",
                  one->device, one->epoch, one->from, one->to);
  }
  tt_list_print(&sql,
                ") s (device, epoch, first, last) CROSS JOIN LATERAL (SELECT FROM numbered_value v"
                " WHERE v.device = s.device AND v.epoch = s.epoch"
                " AND v.device_time BETWEEN s.first AND s.last AND (v.nth > 1 OR v.seq IS NULL)"
                " LIMIT 1) v LIMIT 1");
  if (status != TT_OK || sql.failed)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  else if (stretches.len)
    status = tt_postgres_query(store, sql.data, &result, error);
  *any = status == TT_OK && result && PQntuples(result);
  PQclear(result);
  tt_list_free(&stretches);
  tt_list_free(&sql);
  return status;
}

tt_status tt_postgres_begin_stage(tt_postgres *store, tt_error *error) {
  return tt_postgres_do(store,
                        "CREATE TEMP TABLE staging (LIKE numbered_value, sample integer,"
                        " message integer, unsure boolean, firm boolean, last integer)"
                        " ON COMMIT DROP",
                        error);
}

/** Of two rows with aliases. */
#define SAME_MOMENT(a, b)                                                                          \
  a ".device = " b ".device AND " a ".epoch = " b ".epoch AND " a ".device_time = " b              \
    ".device_time AND " a ".day = " b ".day"
#define SAME_VALUE(a, b)                                                                           \
  a ".attribute = " b ".attribute AND " a ".seq IS NOT DISTINCT FROM " b ".seq AND (" a            \
    ".number = " b ".number OR " a ".text = " b ".text)"

/** Where a value stands in another epoch. Each is looked for by itself (LIMIT): in a plain join the server goes through all epochs of a
 *  device to come to one, as long as it knows nothing of how many there are. */
#define STANDS_IN_OTHER                                                                            \
  " CROSS JOIN LATERAL (SELECT FROM any_value v WHERE v.device = s.device"                         \
  "  AND v.epoch = other.epoch AND v.device_time = s.device_time"                                  \
  "  AND v.nth < " TEXT_OF(TT_STORE_RECORDS) " AND v.day = " TT_POSTGRES_DAY(                      \
      "s.device_time", "other.anchor") " AND " SAME_VALUE("v", "s") " LIMIT 1) v"

/** Messages of which one epoch has every firm value, as it is stored, or stands in those that are meant of the messages before. */
#define REPEATED(meant)                                                                            \
  "SELECT DISTINCT message FROM (SELECT message, count(*) AS count FROM (SELECT * FROM stored"     \
  " UNION SELECT message, epoch, sample, attribute FROM before" meant                              \
  ") v GROUP BY message, epoch) found JOIN wanted USING (message, count)"

/** Messages of which every firm value stands in one other epoch of the same boot, or in an earlier message of it. The first value of each
 *  is looked for in all of these, dozens; the others only where it stands. What stands in messages that may be left out themselves does
 *  not count yet. It says whether such messages are left: then it is done again, without those that were left out. */
static const char drop_repeats[] =
    "WITH other AS MATERIALIZED (SELECT d.device, d.epoch AS own, o.epoch, o.anchor"
    "  FROM (SELECT DISTINCT device, epoch FROM staging WHERE unsure) d"
    "  JOIN boot m ON m.device = d.device AND m.epoch = d.epoch CROSS JOIN LATERAL"
    "  (SELECT epoch, anchor FROM boot b WHERE b.device = d.device AND b.boot = m.boot"
    "    AND b.epoch <> d.epoch ORDER BY epoch DESC LIMIT " TEXT_OF(TT_STORE_EPOCHS) ") o),"
    " first AS (SELECT DISTINCT ON (message) * FROM staging WHERE unsure AND firm"
    "  ORDER BY message, sample, attribute),"
    " before AS MATERIALIZED (SELECT s.message, other.epoch, s.sample, s.attribute, o.message AS by"
    "  FROM staging s JOIN other ON other.device = s.device AND other.own = s.epoch"
    "  JOIN staging o ON o.device = s.device AND o.epoch = other.epoch"
    "   AND o.device_time = s.device_time AND o.message < s.message AND " SAME_VALUE("o", "s")
    "  WHERE s.unsure AND s.firm),"
    " likely AS MATERIALIZED (SELECT s.message, other.* FROM first s"
    "  JOIN other ON other.device = s.device AND other.own = s.epoch" STANDS_IN_OTHER
    " UNION SELECT s.message, other.* FROM first s JOIN before USING (message, sample, attribute)"
    "  JOIN other ON other.device = s.device AND other.own = s.epoch"
    "   AND other.epoch = before.epoch),"
    " stored AS MATERIALIZED (SELECT s.message, other.epoch, s.sample, s.attribute"
    "  FROM likely other JOIN staging s ON s.message = other.message" STANDS_IN_OTHER
    "  WHERE s.unsure AND s.firm),"
    " wanted AS (SELECT message, count(*) AS count FROM staging WHERE firm GROUP BY message),"
    " perhaps AS MATERIALIZED (" REPEATED("") "),"
    " surely AS MATERIALIZED (" REPEATED(" WHERE by NOT IN (SELECT message FROM perhaps)") "),"
    " gone AS (DELETE FROM staging WHERE message IN (SELECT message FROM surely))"
    " SELECT count(*) FROM perhaps WHERE message NOT IN (SELECT message FROM surely)";

/** Notes the last record of each moment. */
static const char note_last[] =
    "UPDATE staging s SET last = m.nth FROM (SELECT DISTINCT device, epoch, device_time, day"
    "  FROM staging) d CROSS JOIN LATERAL (SELECT max(nth) AS nth FROM any_value v "
    "WHERE " SAME_MOMENT("v", "d") ") m WHERE " SAME_MOMENT("s", "d");

static const char drop_what_is_there[] =
    "DELETE FROM staging s USING any_value v WHERE " SAME_MOMENT(
        "v", "s") " AND v.nth > s.last - " TEXT_OF(TT_STORE_RECORDS) " AND " SAME_VALUE("v", "s");

static const char drop_what_comes_twice[] =
    "DELETE FROM staging s USING (SELECT ctid, row_number() OVER (PARTITION BY device, epoch,"
    "  device_time, attribute, day, seq, number, text ORDER BY sample) AS times FROM staging) t"
    " WHERE t.ctid = s.ctid AND t.times > 1";

/** What a sample says besides what its moment has is a record of its own: all its values have the same number. */
static const char number_records[] =
    "WITH row AS (SELECT s.*, row_number() OVER (PARTITION BY device, epoch, device_time, day,"
    "  attribute ORDER BY sample) AS times FROM staging s),"
    " own AS (SELECT DISTINCT device, epoch, device_time, day, last, sample FROM row s"
    "  WHERE times > 1 OR seq IS NOT NULL OR EXISTS"
    "   (SELECT 1 FROM value v WHERE " SAME_MOMENT("v", "s") " AND v.attribute = s.attribute)),"
    " numbered AS (SELECT sample, coalesce(last, 0) + row_number() OVER (PARTITION BY device,"
    "  epoch, device_time, day ORDER BY sample) AS nth FROM own)"
    " UPDATE staging s SET nth = n.nth FROM numbered n WHERE n.sample = s.sample";

#define COLUMNS "device, epoch, device_time, attribute, day, time, number, text"
static const char move[] = "INSERT INTO value (" COLUMNS ") SELECT " COLUMNS
                           " FROM staging WHERE nth = 0"
                           " ORDER BY sample";
static const char move_numbered[] = "INSERT INTO numbered_value (" COLUMNS
                                    ", nth, seq)"
                                    " SELECT " COLUMNS
                                    ", nth, seq FROM staging WHERE nth > 0"
                                    " ORDER BY sample";

/** Each time the first of those that are left is decided. */
static tt_status drop_all_repeats(tt_postgres *store, tt_error *error) {
  for (int64_t left = 1; left;) {
    PGresult *result;
    TT_TRY(tt_postgres_query(store, drop_repeats, &result, error));
    left = tt_postgres_integer(result, 0, 0);
    PQclear(result);
  }
  return TT_OK;
}

tt_status tt_postgres_end_stage(tt_postgres *store, bool doubtful, tt_error *error) {
  static const char *const steps[] = {
      note_last, drop_what_is_there, drop_what_comes_twice, number_records, move, move_numbered};
  TT_TRY(tt_postgres_do(store, "ANALYZE staging", error));
  if (doubtful) TT_TRY(drop_all_repeats(store, error));
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    TT_TRY(tt_postgres_do(store, steps[i], error));
  return TT_OK;
}
