/* seal_speed: how quickly a store in SQLite packs days that are over, what it takes then, and what it takes in meanwhile.
 *
 * usage: seal_speed FOLDER      one JSON object, for 1 and for 10 devices whose samples came in turn: values a second of one core
 *                               that are sealed, unsealed and written before and after it; bytes a value of the file, then and before
 */
#include "store/column/signals_testing.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RECORDS 100000 /* of all devices together, at 10 Hz each */
#define TOGETHER 2000  /* of a batch */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool name_all(tt_store_batch *batch, int devices) {
  char name[16];
  bool good = true;
  for (int i = 0; i < devices; i++) {
    tt_store_epoch epoch = {.device = i, .key = i + 1};
    snprintf(name, sizeof name, "D%d", i);
    good = good && tt_store_add_name(&batch->devices, i, name, NULL, TT_NAME_USED) &&
           tt_list_add(&batch->epochs, &epoch, 1);
  }
  for (int i = 0; i < TT_TESTING_SIGNALS; i++) {
    snprintf(name, sizeof name, "S.d.v%d", i);
    good = good && tt_store_add_name(&batch->attributes, i, name, NULL, TT_NAME_USED);
  }
  return good;
}

static bool add_record(tt_store_batch *batch, int devices, uint32_t number) {
  const uint32_t row = number / (uint32_t)devices;
  const tt_column_moment moment = tt_testing_moment(row);
  const tt_store_sample sample = {.device = (int32_t)(number % (uint32_t)devices),
                                  .device_time = moment.device_time,
                                  .time = moment.time,
                                  .first = batch->values.len,
                                  .count = TT_TESTING_SIGNALS};
  for (unsigned i = 0; i < TT_TESTING_SIGNALS; i++) {
    const tt_store_value value = {(int32_t)i, TT_STORE_NUMBER,
                                  tt_testing_signal(TT_TESTING_DECIMALS, i, row)};
    if (!tt_list_add(&batch->values, &value, 1)) return false;
  }
  return tt_list_add(&batch->samples, &sample, 1);
}

/** Records from `first` on. `rate`: values a second. */
static tt_status write_records(tt_store *store, int devices, uint32_t first, double *rate,
                               tt_error *error) {
  double took = 0;
  tt_store_batch *batch = tt_store_batch_new();
  tt_status status = batch && (first || name_all(batch, devices)) ? TT_OK : TT_NOMEM;
  for (uint32_t i = first; i < first + RECORDS && status == TT_OK; i += TOGETHER) {
    for (uint32_t k = i; k < i + TOGETHER && status == TT_OK; k++)
      if (!add_record(batch, devices, k)) status = TT_NOMEM;
    const double started = now();
    if (status == TT_OK) status = store->write(store, batch, error);
    took += now() - started;
    tt_store_batch_clear(batch);
  }
  tt_store_batch_free(batch);
  *rate = RECORDS * TT_TESTING_SIGNALS / took;
  return status;
}

static tt_status seal(tt_store *store, bool undo, double *rate, tt_error *error) {
  const tt_store_sealing sealing = {.undo = undo, .before = INT64_MAX, .budget = 500000};
  tt_store_sealed sealed;
  uint64_t values = 0;
  const double started = now();
  tt_status status;
  do {
    status = store->seal(store, &sealing, &sealed, error);
    values += sealed.values;
  } while (status == TT_AGAIN);
  *rate = (double)values / (now() - started);
  return status;
}

static double bytes_a_value(tt_store *store) {
  tt_store_state state;
  store->state(store, &state);
  return (double)state.bytes / (RECORDS * TT_TESTING_SIGNALS);
}

static tt_status measure(tt_store *store, int devices, tt_error *error) {
  double written, again, sealed, unsealed;
  TT_TRY(write_records(store, devices, 0, &written, error));
  TT_TRY(store->shrink(store, error));
  const double before = bytes_a_value(store);
  TT_TRY(seal(store, false, &sealed, error));
  TT_TRY(store->shrink(store, error));
  const double after = bytes_a_value(store);
  TT_TRY(write_records(store, devices, RECORDS, &again, error));
  TT_TRY(seal(store, true, &unsealed, error));
  printf(
      "%s\"%d\": {\"seal\": %.0f, \"unseal\": %.0f, \"write\": %.0f, \"write_sealed\": %.0f,"
      " \"bytes_before\": %.2f, \"bytes\": %.2f}%s",
      devices == 1 ? "{" : ", ", devices, sealed, unsealed, written, again, before, after,
      devices == 1 ? "" : "}\n");
  return TT_OK;
}

int main(int argc, char **argv) {
  tt_error error = {"out of memory"};
  tt_status status = argc == 2 ? TT_OK : tt_fail(&error, TT_USAGE, "usage: seal_speed FOLDER");
  for (int devices = 1; devices <= 10 && status == TT_OK; devices += 9) {
    char url[4096];
    snprintf(url, sizeof url, "sqlite:%s/seal-%d.sqlite", argv[1], devices);
    const tt_store_options options = {.url = url};
    tt_store *store;
    status = tt_store_open(&options, &store, &error);
    if (status != TT_OK) break;
    status = measure(store, devices, &error);
    store->close(store);
    unlink(url + strlen("sqlite:"));
  }
  if (status != TT_OK) fprintf(stderr, "seal_speed: %s\n", error.text);
  return status != TT_OK;
}
