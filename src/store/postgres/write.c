/* write.c: a batch is one transaction, its values one binary COPY into the table itself; only when a value
 * was there already, or may be in another record or epoch, does the batch go through a staging table (stage.c).
 *
 * One lock keeps collectors apart: those that write what is new share it; who defines something, or looks at what is there,
 * has it alone, so that it sees all that the others have written and none of them writes meanwhile.
 */
#include "store/postgres/internal.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define UNIQUE_VIOLATION "23505"
/** Of `value`, in the order in which they are copied. */
#define COLUMNS "device, epoch, device_time, attribute, day, time, number, text"

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/* --- definitions --- */

/* Texts below have the numbers in them, and so have files. */
_Static_assert(TT_NAME_KNOWN == 0 && TT_NAME_USED == 1 && TT_NAME_REMOVED == 2, "as in PUT_NAME");
_Static_assert(TT_VALUE_FLAG == 3 && TT_MODE_IGNORE == 3, "the last of those kept in `handling`");

#define PUT_NAME(table)                                                                            \
  "INSERT INTO " table                                                                             \
  " AS t (identifier, name, removed) VALUES ($1, nullif($2, ''), $3 = '2')"                        \
  " ON CONFLICT (identifier) DO UPDATE SET"                                                        \
  " name = CASE WHEN $2 = '' THEN NULL ELSE coalesce($2, t.name) END,"                             \
  " removed = CASE $3 WHEN '0' THEN t.removed ELSE $3 = '2' END RETURNING id, (xmax = 0)::integer"

/** Two collectors may give one name to two things, or move it while nobody stores: the later one has it. */
static tt_status take_from_others(tt_postgres *store, bool devices, const tt_store_name *name,
                                  tt_error *error) {
  const char *parameters[] = {name->name, name->identifier};
  if (!name->name || !*name->name) return TT_OK;
  return tt_postgres_run(
      store->link,
      devices ? "UPDATE device SET name = NULL WHERE name = $1 AND identifier <> $2"
              : "UPDATE attribute SET name = NULL WHERE name = $1 AND identifier <> $2",
      2, parameters, tt_postgres_deadline(store), NULL, error);
}

/** `*news` becomes true where a name is more than what the database has of it. */
static tt_status put_names(tt_postgres *store, bool devices, const tt_list *names,
                           tt_postgres_ids *known, bool *news, tt_error *error) {
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    if (tt_postgres_learn_name(store, devices, name, known)) continue;
    TT_TRY(take_from_others(store, devices, name, error));
    const char state[] = {(char)('0' + name->state), 0};
    const char *parameters[] = {name->identifier, name->name, state};
    PGresult *result;
    TT_TRY(tt_postgres_run(store->link, devices ? PUT_NAME("device") : PUT_NAME("attribute"), 3,
                           parameters, tt_postgres_deadline(store), &result, error));
    const int id = (int)tt_postgres_integer(result, 0, 0);
    *news |= tt_postgres_integer(result, 0, 1) || name->name || name->state != TT_NAME_KNOWN;
    PQclear(result);
    pthread_mutex_lock(&store->mutex);
    bool noted =
        tt_postgres_set_id(devices ? &known->devices : &known->attributes, name->index, id);
    pthread_mutex_unlock(&store->mutex);
    if (!noted) return no_memory(error);
    tt_postgres_defined_name(&store->defined, devices, name->identifier, id);
    if (name->state != TT_NAME_REMOVED) continue;
    TT_TRY(tt_postgres_runf(store->link, tt_postgres_deadline(store), NULL, error,
                            "DELETE FROM pair WHERE %s = %d", devices ? "device" : "attribute",
                            id));
  }
  return TT_OK;
}

static tt_status put_pairs(tt_postgres *store, const tt_list *pairs, const tt_postgres_ids *known,
                           tt_error *error) {
  if (!pairs->len) return TT_OK;
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(&sql, "INSERT INTO pair (device, attribute) VALUES ");
  for (uint32_t i = 0; i < pairs->len; i++) {
    const tt_store_pair *pair = &tt_list_at(pairs, tt_store_pair, i);
    tt_list_print(&sql, "%s(%d, %d)", i ? ", " : "",
                  tt_postgres_get_id(&known->devices, pair->device),
                  tt_postgres_get_id(&known->attributes, pair->attribute));
  }
  tt_list_print(&sql, " ON CONFLICT DO NOTHING");
  tt_status status = sql.failed ? no_memory(error) : tt_postgres_do(store, sql.data, error);
  tt_list_free(&sql);
  return status;
}

/** Its number, or, where that is another one's, the next. */
#define NUMBER                                                                                     \
  "CASE WHEN EXISTS (SELECT 1 FROM boot WHERE device = $1 AND epoch = $2 AND key <> $6)"           \
  " THEN (SELECT max(epoch) + 1 FROM boot WHERE device = $1) ELSE $2 END"

/** `*there`: as the database has it; `*added` becomes true where it had it not before. */
static tt_status put_epoch(tt_postgres *store, int device, const tt_store_epoch *epoch,
                           tt_store_epoch *there, bool *added, tt_error *error) {
  const int64_t numbers[6] = {
      device, epoch->number, epoch->anchor, epoch->offset_low, epoch->offset_high, epoch->key};
  char texts[6][24];
  const char *parameters[7];
  for (int p = 0; p < 6; p++) {
    snprintf(texts[p], sizeof texts[p], "%" PRId64, numbers[p]);
    parameters[p] = texts[p];
  }
  parameters[6] = epoch->boot;
  PGresult *result;
  TT_TRY(tt_postgres_run(
      store->link,
      "INSERT INTO boot AS t (device, epoch, anchor, offset_low, offset_high, key, boot)"
      " VALUES ($1, " NUMBER
      ", $3, $4, $5, $6, $7) ON CONFLICT (device, key) DO UPDATE SET"
      " offset_low = least(t.offset_low, excluded.offset_low),"
      " offset_high = greatest(t.offset_high, excluded.offset_high)"
      " RETURNING epoch, anchor, offset_low, offset_high, (xmax = 0)::integer",
      7, parameters, tt_postgres_deadline(store), &result, error));
  *there = (tt_store_epoch){.number = (int)tt_postgres_integer(result, 0, 0),
                            .anchor = tt_postgres_integer(result, 0, 1),
                            .offset_low = tt_postgres_integer(result, 0, 2),
                            .offset_high = tt_postgres_integer(result, 0, 3)};
  *added |= tt_postgres_integer(result, 0, 4);
  PQclear(result);
  return TT_OK;
}

static tt_status put_epochs(tt_postgres *store, const tt_list *epochs, tt_postgres_ids *known,
                            bool *added, tt_error *error) {
  if (epochs->len)
    TT_TRY(
        tt_postgres_do(store, "SELECT pg_advisory_xact_lock(" TT_POSTGRES_RANGES_LOCK ")", error));
  for (uint32_t i = 0; i < epochs->len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(epochs, tt_store_epoch, i);
    if (tt_postgres_learn_epoch(store, epoch, known)) continue;
    const int device = tt_postgres_get_id(&known->devices, epoch->device);
    tt_store_epoch there;
    TT_TRY(put_epoch(store, device, epoch, &there, added, error));
    tt_postgres_defined_epoch(&store->defined, device, epoch->key, &there);
    if (!tt_postgres_set_epoch(known, epoch->device, epoch->number, there.number, there.anchor))
      return no_memory(error);
  }
  return TT_OK;
}

static tt_status put_handling(tt_postgres *store, const tt_handling *handling, tt_error *error) {
  const char *pattern[] = {handling->pattern};
  TT_TRY(tt_postgres_run(store->link, "DELETE FROM handling WHERE pattern = $1", 1, pattern,
                         tt_postgres_deadline(store), NULL, error));
  if (handling->removed) return TT_OK;
  char numbers[6][32];
  snprintf(numbers[0], sizeof *numbers, "%d", handling->type);
  snprintf(numbers[1], sizeof *numbers, "%d", handling->mode);
  snprintf(numbers[2], sizeof *numbers, "%.17g", handling->scale);
  snprintf(numbers[3], sizeof *numbers, "%.17g", handling->offset);
  snprintf(numbers[4], sizeof *numbers, "%.17g", handling->min_interval);
  snprintf(numbers[5], sizeof *numbers, "%.17g", handling->retention);
  const char *parameters[] = {handling->pattern, numbers[0], numbers[1], handling->unit,
                              numbers[2],        numbers[3], numbers[4], numbers[5]};
  return tt_postgres_run(store->link,
                         "INSERT INTO handling VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", 8,
                         parameters, tt_postgres_deadline(store), NULL, error);
}

static tt_status put_definitions(tt_postgres *store, const tt_store_batch *batch,
                                 tt_postgres_ids *known, tt_error *error) {
  bool news = batch->handlings.len || batch->pairs.len;
  TT_TRY(put_names(store, true, &batch->devices, known, &news, error));
  TT_TRY(put_names(store, false, &batch->attributes, known, &news, error));
  TT_TRY(put_pairs(store, &batch->pairs, known, error));
  TT_TRY(put_epochs(store, &batch->epochs, known, &news, error));
  for (uint32_t i = 0; i < batch->handlings.len; i++) {
    TT_TRY(put_handling(store, &tt_list_at(&batch->handlings, tt_handling, i), error));
  }
  // Of a batch of another process our own collector has not heard either.
  if (news && known != &store->known) store->stale = true;
  return news ? tt_postgres_do(store, "NOTIFY " CHANNEL, error) : TT_OK;
}

/* --- values --- */

static void put_16(tt_list *out, uint16_t number) {
  number = htobe16(number);
  tt_list_add(out, &number, sizeof number);
}

static void put_32(tt_list *out, int32_t number) {
  uint32_t swapped = htobe32((uint32_t)number);
  tt_list_add(out, &swapped, sizeof swapped);
}

static void put_64(tt_list *out, int64_t number) {
  uint64_t swapped = htobe64((uint64_t)number);
  tt_list_add(out, &swapped, sizeof swapped);
}

/** Where rows go. */
typedef enum target {
  VALUES,   /**< samples whose messages have no number */
  NUMBERED, /**< those that have one */
  STAGING,  /**< all, to be looked at first */
} target;

/** What is the same in all rows of a sample. */
typedef struct row_head {
  target target;
  int32_t device, epoch, day;
  const tt_store_sample *sample;
  int32_t number, message; /**< of the sample and its message in the batch */
  bool unsure;
} row_head;

/** One field of COPY BINARY, with its size. */
static void put_field_32(tt_list *out, int32_t number) {
  put_32(out, 4);
  put_32(out, number);
}

static void put_field_64(tt_list *out, int64_t number) {
  put_32(out, 8);
  put_64(out, number);
}

static void put_field_flag(tt_list *out, bool flag) {
  const char byte = (char)flag;
  put_32(out, 1);
  tt_list_add(out, &byte, 1);
}

static void put_null(tt_list *out) { put_32(out, -1); }

/** One row: a count of fields, then each. */
static void put_row(tt_list *out, const tt_store_batch *batch, const row_head *head,
                    int32_t attribute, const tt_store_value *value, bool firm) {
  static const uint16_t fields[] = {[VALUES] = 8, [NUMBERED] = 10, [STAGING] = 14};
  const tt_store_sample *sample = head->sample;
  put_16(out, fields[head->target]);
  put_field_32(out, head->device);
  put_field_32(out, head->epoch);
  put_field_64(out, sample->device_time);
  put_field_32(out, attribute);
  put_field_32(out, head->day);
  put_field_64(out, sample->time - POSTGRES_EPOCH);
  if (value->text == TT_STORE_NUMBER) {
    int64_t bits;
    memcpy(&bits, &value->number, sizeof bits);
    put_field_64(out, bits);
    put_null(out);
  } else {
    const char *text = (const char *)batch->text.data + value->text;
    size_t size = strlen(text);
    put_null(out);
    put_32(out, (int32_t)size);
    tt_list_add(out, text, size);
  }
  if (head->target == VALUES) return;
  put_field_32(out, head->target == NUMBERED);
  if (sample->seq)
    put_field_64(out, sample->seq);
  else
    put_null(out);
  if (head->target == NUMBERED) return;
  put_field_32(out, head->number);
  put_field_32(out, head->message);
  put_field_flag(out, head->unsure);
  put_field_flag(out, firm);
}

/** Sends what was put together; the piece is empty afterwards. */
static tt_status send_piece(tt_postgres *store, tt_list *piece, tt_error *error) {
  if (piece->failed) return no_memory(error);
  tt_status status =
      tt_postgres_copy(store->link, piece->data, piece->len, tt_postgres_deadline(store), error);
  tt_list_cut(piece, 0);
  return status;
}

typedef struct writing {
  tt_postgres *store;
  const tt_store_batch *batch;
  tt_postgres_ids *known;
  bool staged;
  bool alone;     /**< nobody else may be writing */
  tt_list unsure; /**< char, for each sample: its message may be one sent again */
} writing;

static tt_status put_sample(const writing *job, tt_list *piece, row_head *head, tt_error *error) {
  const tt_store_sample *sample = head->sample;
  const int64_t *epoch =
      tt_map_get(&job->known->epochs, (tt_map_key){sample->device, sample->epoch});
  int64_t day;
  TT_TRY(tt_postgres_day_of(job->known, sample, &day, error));
  head->device = tt_postgres_get_id(&job->known->devices, sample->device);
  head->epoch = epoch ? (int32_t)*epoch : sample->epoch;
  head->day = (int32_t)(day - POSTGRES_EPOCH / DAY);
  head->unsure = tt_list_at(&job->unsure, char, head->number);
  for (uint32_t v = 0; v < sample->count; v++) {
    const tt_store_value *value =
        &tt_list_at(&job->batch->values, tt_store_value, sample->first + v);
    const int attribute = tt_postgres_get_id(&job->known->attributes, value->attribute);
    if (!attribute)
      return tt_fail(error, TT_INVALID, "attribute %d is not known to the database",
                     value->attribute);
    put_row(piece, job->batch, head, attribute, value, v + sample->thinned < sample->count);
  }
  return TT_OK;
}

static tt_status copy_rows(const writing *job, target to, tt_error *error) {
  static const char signature[] = "PGCOPY\n\377\r\n\0";
  static const char *const copies[] = {
      [VALUES] = "COPY value (" COLUMNS ") FROM STDIN (FORMAT binary)",
      [NUMBERED] = "COPY numbered_value (" COLUMNS ", nth, seq) FROM STDIN (FORMAT binary)",
      [STAGING] = "COPY staging (" COLUMNS ", nth, seq, " TT_POSTGRES_STAGED
                  ") FROM STDIN (FORMAT binary)"};
  tt_postgres *store = job->store;
  const tt_list *samples = &job->batch->samples;
  TT_TRY(tt_postgres_begin_copy(store->link, copies[to], tt_postgres_deadline(store), error));
  tt_list piece = TT_LIST(char, NULL);
  tt_list_add(&piece, signature, 11);
  put_64(&piece, 0);  // flags, and no header extension
  row_head head = {.target = to};
  tt_status status = TT_OK;
  for (uint32_t i = 0; i < samples->len && status == TT_OK; i++) {
    head.sample = &tt_list_at(samples, tt_store_sample, i);
    head.number = (int32_t)i;
    if (!i || !(head.sample->flags & TT_SAMPLE_CONTINUES)) head.message = (int32_t)i;
    bool numbered = head.sample->seq;
    if (to != STAGING && numbered != (to == NUMBERED)) continue;
    status = put_sample(job, &piece, &head, error);
    if (status == TT_OK && piece.len > 1 << 16) status = send_piece(store, &piece, error);
  }
  put_16(&piece, UINT16_MAX);
  if (status == TT_OK) status = send_piece(store, &piece, error);
  tt_list_free(&piece);
  TT_TRY(status);
  return tt_postgres_end_copy(store->link, tt_postgres_deadline(store), error);
}

/** What is new, as it should be; what is there already stops it. */
static tt_status copy_new(const writing *job, tt_error *error) {
  bool has[2] = {false};
  for (uint32_t i = 0; i < job->batch->samples.len; i++)
    has[tt_list_at(&job->batch->samples, tt_store_sample, i).seq ? NUMBERED : VALUES] = true;
  if (has[VALUES]) TT_TRY(copy_rows(job, VALUES, error));
  return has[NUMBERED] ? copy_rows(job, NUMBERED, error) : TT_OK;
}

/* --- the transaction --- */

/** Whether some of its messages say that they may be ones sent again. */
static bool is_unsure(const writing *job) {
  const tt_list *samples = &job->batch->samples;
  for (uint32_t i = 0; i < samples->len; i++) {
    if (tt_list_at(samples, tt_store_sample, i).flags & TT_SAMPLE_UNSURE) return true;
  }
  return false;
}

/** Begins it, in the tables of which `defined` tells: a backup that was restored meanwhile has brought others. */
static tt_status begin(tt_postgres *store, bool alone, tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_query(store,
                           alone
                               ? "BEGIN; SELECT 'boot'::regclass::oid, pg_advisory_xact_lock(7602)"
                               : "BEGIN; SELECT 'boot'::regclass::oid,"
                                 " pg_advisory_xact_lock_shared(7602)",
                           &result, error));
  const int64_t tables = tt_postgres_integer(result, 0, 0);
  PQclear(result);
  if (store->tables && store->tables != tables)
    return tt_fail(error, TT_FAILED, "postgresql: the tables are others than they were");
  store->tables = tables;
  return TT_OK;
}

static tt_status put_samples(writing *job, bool doubtful, tt_error *error) {
  tt_postgres *store = job->store;
  TT_TRY(tt_postgres_need_partitions(store, job->batch, job->known, error));
  TT_TRY(tt_postgres_mark(store, job->batch, job->known, error));
  TT_TRY(tt_postgres_say_newest(store, job->batch, job->known, error));
  if (!job->staged) return copy_new(job, error);
  TT_TRY(tt_postgres_begin_stage(store, error));
  TT_TRY(copy_rows(job, STAGING, error));
  return tt_postgres_end_stage(store, doubtful, error);
}

/** TT_AGAIN: not beside others. */
static tt_status write_once(writing *job, tt_error *error) {
  tt_postgres *store = job->store;
  const tt_store_batch *batch = job->batch;
  bool unsure, doubtful = false, records = false;
  bool defines = !tt_postgres_learn(store, batch, job->known);
  bool alone = job->alone || job->staged || is_unsure(job) || defines;
  if (!defines) TT_TRY(tt_postgres_widen(store, batch, job->known, error));
  TT_TRY(begin(store, alone, error));
  if (defines) TT_TRY(put_definitions(store, batch, job->known, error));
  TT_TRY(tt_postgres_find_unsure(store, batch, job->known, &job->unsure, &unsure, error));
  if (!job->staged) TT_TRY(tt_postgres_find_records(store, batch, job->known, &records, error));
  if ((unsure || records) && !alone)
    return tt_fail(error, TT_AGAIN, "some of it may be there, and has to be looked for");
  if (unsure)
    TT_TRY(tt_postgres_is_doubtful(store, batch, &job->unsure, job->known, &doubtful, error));
  job->staged |= doubtful || records;
  if (batch->samples.len) TT_TRY(put_samples(job, doubtful, error));
  if (unsure) TT_TRY(tt_postgres_note_passed(store, batch, job->known, error));
  return tt_postgres_do(store, "COMMIT", error);
}

/** Whether it may come to its end in another way: nobody else writing, or looking at what is there. */
static bool finds_another_way(writing *job, tt_status status) {
  const tt_postgres_link *link = job->store->link;
  if (status == TT_OK || !tt_postgres_is_alive(link)) return false;
  bool *way = status == TT_AGAIN ? &job->alone : &job->staged;
  bool found =
      !*way && (status == TT_AGAIN || !strcmp(tt_postgres_last_code(link), UNIQUE_VIOLATION));
  *way |= found;
  return found;
}

tt_status tt_postgres_write_batch(tt_postgres *store, const tt_store_batch *batch,
                                  tt_postgres_ids *known, tt_error *error) {
  writing job = {.store = store, .batch = batch, .known = known, .unsure = TT_LIST(char, NULL)};
  const int64_t begun = tt_monotonic_us();
  tt_status status = write_once(&job, error);
  while (finds_another_way(&job, status)) {
    tt_error ignored;
    tt_postgres_forget_said(store);
    tt_postgres_defined_clear(&store->defined);
    tt_map_clear(&store->partitions);  // one that was made in it is gone
    tt_list_cut(&job.unsure, 0);
    status = tt_postgres_do(store, "ROLLBACK", &ignored);
    if (status == TT_OK) status = write_once(&job, error);
  }
  tt_list_free(&job.unsure);
  if (batch->samples.len) tt_postgres_note_pace(store, tt_monotonic_us() - begun, status);
  if (status != TT_OK)
    tt_postgres_disconnect(store);  // whatever it was, a fresh connection is in a known state
  return status;
}
