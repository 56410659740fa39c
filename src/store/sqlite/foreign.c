/* foreign.c: a batch of another process, or of another time, in the words of this file: names by their identifiers,
 * epochs by their keys.
 */
#include "store/map.h"
#include "store/sqlite/internal.h"

typedef enum statement {
  FIND_DEVICE,
  FIND_ATTRIBUTE,
  ADD_DEVICE,
  ADD_ATTRIBUTE,
  FIND_EPOCH,
  ADD_EPOCH,
  STATEMENT_COUNT
} statement;

static const char *const statement_texts[STATEMENT_COUNT] = {
    [FIND_DEVICE] = "SELECT id FROM device WHERE identifier = ?1",
    [FIND_ATTRIBUTE] = "SELECT id FROM attribute WHERE identifier = ?1",
    [ADD_DEVICE] = "INSERT INTO device (identifier) VALUES (?1) RETURNING id",
    [ADD_ATTRIBUTE] = "INSERT INTO attribute (identifier) VALUES (?1) RETURNING id",
    [FIND_EPOCH] = "SELECT epoch FROM boot WHERE device = ?1 AND key = ?2",
    // Its number, or, where that is another one's, the next.
    [ADD_EPOCH] =
        "INSERT INTO boot (device, epoch, anchor, offset_low, offset_high, key, boot) VALUES (?1,"
        " CASE WHEN EXISTS (SELECT 1 FROM boot WHERE device = ?1 AND epoch = ?3)"
        "  THEN (SELECT max(epoch) + 1 FROM boot WHERE device = ?1) ELSE ?3 END,"
        " ?4, ?5, ?6, ?2, ?7) RETURNING epoch",
};

typedef struct translation {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_map devices, attributes; /**< index there → index here */
  tt_map epochs;              /**< device there, number there → number here */
  bool news;                  /**< something was added */
} translation;

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

static tt_status not_whole(const translation *job, const char *what, int index, tt_error *error) {
  return tt_fail(error, TT_INVALID, "%s: a batch of another process does not say what %s %d is",
                 job->path, what, index);
}

/** Runs a prepared and bound statement. The first column of its row, −1: there was none. */
static tt_status ask(translation *job, statement which, int64_t *answer, tt_error *error) {
  sqlite3_stmt *prepared = job->statements[which];
  int result = sqlite3_step(prepared);
  *answer = result == SQLITE_ROW ? sqlite3_column_int64(prepared, 0) : -1;
  if (result == SQLITE_ROW) result = sqlite3_step(prepared);  // so that what it does is done
  sqlite3_reset(prepared);
  return result == SQLITE_DONE ? TT_OK : tt_sqlite_fail(job->db, job->path, "can't write", error);
}

static tt_status ask_text(translation *job, statement which, const char *text, int64_t *answer,
                          tt_error *error) {
  sqlite3_bind_text(job->statements[which], 1, text, -1, SQLITE_STATIC);
  return ask(job, which, answer, error);
}

/* --- names --- */

static tt_status translate_name(translation *job, bool device, const tt_store_name *name,
                                tt_store_name *own, tt_error *error) {
  int64_t id;
  TT_TRY(ask_text(job, device ? FIND_DEVICE : FIND_ATTRIBUTE, name->identifier, &id, error));
  job->news |= id < 0 || name->name || name->state != TT_NAME_KNOWN;
  if (id < 0)
    TT_TRY(ask_text(job, device ? ADD_DEVICE : ADD_ATTRIBUTE, name->identifier, &id, error));
  *own = *name;
  own->index = (int)id - 1;
  return TT_OK;
}

static tt_status translate_names(translation *job, bool device, const tt_list *names, tt_list *own,
                                 tt_error *error) {
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    tt_store_name here;
    TT_TRY(translate_name(job, device, name, &here, error));
    if (!tt_map_put(device ? &job->devices : &job->attributes, (tt_map_key){name->index, 0},
                    here.index) ||
        !tt_store_add_name(own, here.index, here.identifier, here.name, here.state))
      return no_memory(error);
  }
  return TT_OK;
}

static tt_status find_index(const translation *job, bool device, int index, int32_t *own,
                            tt_error *error) {
  const int64_t *found =
      tt_map_get(device ? &job->devices : &job->attributes, (tt_map_key){index, 0});
  if (!found) return not_whole(job, device ? "device" : "attribute", index, error);
  *own = (int32_t)*found;
  return TT_OK;
}

static tt_status translate_pairs(translation *job, const tt_list *pairs, tt_list *own,
                                 tt_error *error) {
  for (uint32_t i = 0; i < pairs->len; i++) {
    tt_store_pair pair = tt_list_at(pairs, tt_store_pair, i);
    TT_TRY(find_index(job, true, pair.device, &pair.device, error));
    TT_TRY(find_index(job, false, pair.attribute, &pair.attribute, error));
    tt_list_add(own, &pair, 1);
  }
  return TT_OK;
}

/* --- epochs --- */

static tt_status translate_epoch(translation *job, const tt_store_epoch *epoch, tt_store_epoch *own,
                                 tt_error *error) {
  *own = *epoch;
  TT_TRY(find_index(job, true, epoch->device, &own->device, error));
  int64_t number;
  sqlite3_stmt *find = job->statements[FIND_EPOCH], *add = job->statements[ADD_EPOCH];
  sqlite3_bind_int(find, 1, own->device + 1);
  sqlite3_bind_int64(find, 2, epoch->key);
  TT_TRY(ask(job, FIND_EPOCH, &number, error));
  if (number < 0) {
    sqlite3_bind_int(add, 1, own->device + 1);
    sqlite3_bind_int64(add, 2, epoch->key);
    sqlite3_bind_int(add, 3, epoch->number);
    sqlite3_bind_int64(add, 4, epoch->anchor);
    sqlite3_bind_int64(add, 5, epoch->offset_low);
    sqlite3_bind_int64(add, 6, epoch->offset_high);
    sqlite3_bind_text(add, 7, epoch->boot, -1, SQLITE_STATIC);
    TT_TRY(ask(job, ADD_EPOCH, &number, error));
    job->news = true;
  }
  own->number = (int)number;
  return tt_map_put(&job->epochs, (tt_map_key){epoch->device, epoch->number}, number)
             ? TT_OK
             : no_memory(error);
}

static tt_status translate_epochs(translation *job, const tt_list *epochs, tt_list *own,
                                  tt_error *error) {
  for (uint32_t i = 0; i < epochs->len; i++) {
    tt_store_epoch here;
    TT_TRY(translate_epoch(job, &tt_list_at(epochs, tt_store_epoch, i), &here, error));
    tt_list_add(own, &here, 1);
  }
  return TT_OK;
}

/* --- samples --- */

static tt_status translate_samples(translation *job, const tt_store_batch *batch,
                                   tt_store_batch *own, tt_error *error) {
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    tt_store_sample sample = tt_list_at(&batch->samples, tt_store_sample, i);
    const int64_t *epoch = tt_map_get(&job->epochs, (tt_map_key){sample.device, sample.epoch});
    if (!epoch) return not_whole(job, "epoch", sample.epoch, error);
    sample.epoch = (int32_t)*epoch;
    TT_TRY(find_index(job, true, sample.device, &sample.device, error));
    tt_list_add(&own->samples, &sample, 1);
  }
  for (uint32_t i = 0; i < batch->values.len; i++) {
    tt_store_value value = tt_list_at(&batch->values, tt_store_value, i);
    TT_TRY(find_index(job, false, value.attribute, &value.attribute, error));
    tt_list_add(&own->values, &value, 1);
  }
  tt_list_add(&own->text, batch->text.data, batch->text.len);
  own->log = batch->log;
  return TT_OK;
}

static tt_status translate(translation *job, const tt_store_batch *batch, tt_store_batch *own,
                           tt_error *error) {
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v2(job->db, statement_texts[i], -1, &job->statements[i], NULL) != SQLITE_OK)
      return tt_sqlite_fail(job->db, job->path, "can't prepare", error);
  }
  TT_TRY(translate_names(job, true, &batch->devices, &own->devices, error));
  TT_TRY(translate_names(job, false, &batch->attributes, &own->attributes, error));
  TT_TRY(translate_pairs(job, &batch->pairs, &own->pairs, error));
  TT_TRY(translate_epochs(job, &batch->epochs, &own->epochs, error));
  TT_TRY(translate_samples(job, batch, own, error));
  for (uint32_t i = 0; i < batch->handlings.len; i++)
    tt_store_add_handling(&own->handlings, &tt_list_at(&batch->handlings, tt_handling, i));
  return tt_store_batch_has_failed(own) ? no_memory(error) : TT_OK;
}

tt_status tt_sqlite_translate(sqlite3 *db, const char *path, const tt_store_batch *batch,
                              tt_store_batch *own, bool *news, tt_error *error) {
  translation job = {.db = db, .path = path, .news = batch->pairs.len || batch->handlings.len};
  tt_status status = translate(&job, batch, own, error);
  *news = job.news;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(job.statements[i]);
  tt_map_clear(&job.devices);
  tt_map_clear(&job.attributes);
  tt_map_clear(&job.epochs);
  return status;
}
