/* find.c: whether a message is stored, asked on a connection of its own, so that nobody waits for the writer. */
#include "base/log.h"
#include "store/clickhouse/internal.h"

#include <stdio.h>

/** s for an answer, since who asks is receiving messages… */
#define ANSWER_PATIENCE 1
/** …and µs until the next attempt, if there was none. */
#define QUESTION_INTERVAL (5 * SECOND)
/** Epochs of which is told, besides the one that has the message. */
#define LATEST 4

/** A message, by what the database calls its parts. */
typedef struct asked {
  tt_clickhouse_source source;
  uint64_t device;
  uint64_t attributes[TT_STORE_VALUES];
  tt_store_firm firm[TT_STORE_VALUES];
  int count;
  const tt_store_batch *batch;
} asked;

static void take_question(tt_clickhouse *store, const tt_store_question *question, asked *to) {
  tt_store_firm firm = {0};
  pthread_mutex_lock(&store->mutex);
  to->device = tt_clickhouse_get_id(&store->known.devices, question->device);
  while (to->count < TT_STORE_VALUES &&
         tt_store_next_firm(question->batch, 0, question->batch->samples.len, &firm)) {
    to->attributes[to->count] =
        tt_clickhouse_get_id(&store->known.attributes, firm.value->attribute);
    to->firm[to->count++] = firm;
  }
  pthread_mutex_unlock(&store->mutex);
}

static bool stands_in(const asked *message, int64_t key, const tt_map *found) {
  for (int i = 0; i < message->count; i++) {
    const tt_store_value *value = message->firm[i].value;
    const tt_store_sample *sample = message->firm[i].sample;
    const char *texts = message->batch->text.data;
    const tt_map_key content = tt_clickhouse_content(
        message->device, key, sample->device_time, message->attributes[i], sample->seq,
        value->text == TT_STORE_NUMBER ? NULL : texts + value->text, value->number);
    if (!tt_map_get(found, content)) return false;
  }
  return message->count;
}

/** `*place`: of the epoch in `boots` that has the message; −1: none does. */
static tt_status find_epoch(const asked *message, const char *boot, const tt_list *boots,
                            int *place, tt_error *error) {
  uint32_t candidates[TT_STORE_EPOCHS];
  const int count = tt_clickhouse_candidates(boots, message->device, boot, NULL, candidates);
  tt_list moments = TT_LIST(tt_clickhouse_moment, NULL);
  tt_map found = {0};
  for (int i = 0; i < message->count; i++)
    tt_clickhouse_add_moments(boots, message->device, candidates, count,
                              message->firm[i].sample->device_time, &moments);
  tt_status status = tt_clickhouse_gather(&message->source, &moments, &found, error);
  *place = -1;
  for (int i = 0; i < count && status == TT_OK && *place < 0; i++)
    if (stands_in(message, tt_list_at(boots, tt_clickhouse_boot, candidates[i]).epoch.key, &found))
      *place = (int)candidates[i];
  tt_list_free(&moments);
  tt_map_clear(&found);
  return status;
}

/** Adds the latest epochs, and the one that was found. */
static tt_status tell_boots(const asked *message, const tt_list *boots, int place, int device,
                            tt_list *out, tt_error *error) {
  tt_list ids = TT_LIST(uint64_t, NULL), latest = TT_LIST(tt_store_boot, NULL);
  tt_list_add(&ids, &message->device, 1);
  for (uint32_t i = 0; i < boots->len; i++) {
    tt_store_boot boot = {.epoch = tt_list_at(boots, tt_clickhouse_boot, i).epoch};
    boot.epoch.device = 0;
    if (i + LATEST >= boots->len || (int)i == place) tt_list_add(&latest, &boot, 1);
  }
  tt_status status = ids.failed || latest.failed
                         ? tt_clickhouse_no_memory(error)
                         : tt_clickhouse_read_newest(&message->source, &ids, &latest, error);
  for (uint32_t i = 0; i < latest.len && status == TT_OK; i++) {
    tt_store_boot *boot = &tt_list_at(&latest, tt_store_boot, i);
    boot->epoch.device = device;
    if (!tt_list_add(out, boot, 1)) status = tt_clickhouse_no_memory(error);
  }
  tt_list_free(&ids);
  tt_list_free(&latest);
  return status;
}

static tt_status answer(const asked *message, const tt_store_question *question, tt_list *out,
                        int64_t *key, bool *found, tt_error *error) {
  char device[24];
  int place = -1;
  tt_list boots = TT_LIST(tt_clickhouse_boot, NULL);
  snprintf(device, sizeof device, "%" PRIu64, message->device);
  tt_status status = tt_clickhouse_read_boots(&message->source, device, &boots, error);
  if (status == TT_OK) status = find_epoch(message, question->boot, &boots, &place, error);
  if (status == TT_OK) status = tell_boots(message, &boots, place, question->device, out, error);
  *found = place >= 0;
  if (*found) *key = tt_list_at(&boots, tt_clickhouse_boot, place).epoch.key;
  tt_list_free(&boots);
  return status;
}

static tt_status connect_asked(tt_clickhouse *store, tt_error *error) {
  if (store->asked) return TT_OK;
  TT_TRY(tt_clickhouse_link_new(&store->address, 0, ANSWER_PATIENCE, &store->asked, error));
  tt_clickhouse_link_use(store->asked, true);
  return TT_OK;
}

tt_status tt_clickhouse_find(tt_store *base, const tt_store_question *question, tt_list *boots,
                             int64_t *key) {
  tt_clickhouse *store = (tt_clickhouse *)base;
  if (atomic_load(&store->away) || tt_monotonic_us() < store->next_question) return TT_AGAIN;
  asked message = {.batch = question->batch};
  take_question(store, question, &message);
  if (!message.device) return TT_NOT_FOUND;
  tt_error error;
  bool found;
  tt_status status = connect_asked(store, &error);
  message.source = (tt_clickhouse_source){store->asked, &store->address};
  if (status == TT_OK) status = answer(&message, question, boots, key, &found, &error);
  if (status == TT_OK) return found ? TT_OK : TT_NOT_FOUND;
  tt_log_warning("%s; what is sent again is looked for when it is written", error.text);
  tt_clickhouse_link_free(store->asked);
  store->asked = NULL;
  store->next_question = tt_monotonic_us() + QUESTION_INTERVAL;
  return TT_AGAIN;
}
