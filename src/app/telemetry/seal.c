/* seal.c: `tether telemetry seal` and `unseal`: a store's days that are over are packed, or unpacked, while one waits. */
#include "app/progress.h"
#include "app/telemetry/action.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>

/** µs for one step. Devices that sent at the same time are packed together in one, which writes less. */
#define STEP 500000

/** Whether something is stored there: opening a store would make it. */
static tt_status check(const tt_store_options *options, tt_error *error) {
  const tt_store_backend *backend;
  tt_store_reader *reader;
  TT_TRY(tt_store_backend_of(options->url, &backend, error));
  if (!(backend->abilities & TT_STORE_SEALS))
    return tt_fail(error, TT_INVALID, "%s: this kind of store packs nothing", options->url);
  tt_status status = backend->open_reader(options, &reader, error);
  if (status == TT_OK) reader->close(reader);
  return status == TT_VERSION ? TT_OK : status;  // it is upgraded, or refused with the reason
}

static uint64_t size_of(tt_store *store) {
  tt_store_state state;
  store->state(store, &state);
  return state.bytes;
}

static double done(int64_t from, int64_t until, int64_t to) {
  return to > from ? (double)(until - from) / (double)(to - from) : 1;
}

/** Step by step until all is done. `total` gets what all steps did. */
static tt_status work(tt_store *store, bool undo, tt_store_sealed *total, tt_error *error) {
  const int64_t now = tt_clock_us(CLOCK_REALTIME);
  const tt_store_sealing sealing = {undo, undo ? INT64_MAX : now, STEP};
  tt_progress progress = tt_progress_start(undo ? "unsealing" : "sealing");
  tt_store_sealed sealed;
  tt_status status;
  int64_t from = 0;
  do {
    status = store->seal(store, &sealing, &sealed, error);
    if (!total->values) from = sealed.until;
    total->values += sealed.values;
    total->bytes += sealed.bytes;
    tt_progress_show(&progress, done(from, sealed.until, now));
  } while (status == TT_AGAIN);
  tt_progress_end(&progress);
  return status;
}

static void report(bool undo, const tt_store_sealed *total, uint64_t before, uint64_t after) {
  if (!total->values) {
    tt_print(stdout, "nothing to %s\n", undo ? "unseal" : "seal");
    return;
  }
  tt_print(stdout, "%s %" PRIu64 " values", undo ? "unsealed" : "sealed", total->values);
  if (!undo)
    tt_print(stdout, ", which take %.2f bytes each now",
             (double)total->bytes / (double)total->values);
  tt_print(stdout, "; the store has %.1f MB, before it had %.1f MB\n", (double)after / 1e6,
           (double)before / 1e6);
}

static tt_status seal_store(tt_store *store, bool undo, tt_error *error) {
  const uint64_t before = size_of(store);
  tt_store_sealed total = {0};
  tt_error reason;
  TT_TRY(work(store, undo, &total, error));
  tt_status shrunk = store->shrink(store, &reason);
  report(undo, &total, before, size_of(store));
  // All is packed, and the room is used by what comes next.
  if (shrunk != TT_OK) tt_print(stderr, "tether: %s\n", reason.text);
  return TT_OK;
}

static tt_status run(int argc, char **argv, bool undo, tt_error *error) {
  if (argc != 2 || argv[1][0] == '-')
    return tt_fail(error, TT_USAGE, "telemetry %s takes one STORE, and nothing else", argv[0]);
  const tt_store_options options = {.url = argv[1]};
  tt_store *store;
  TT_TRY(check(&options, error));
  TT_TRY(tt_store_open(&options, &store, error));
  tt_status status = seal_store(store, undo, error);
  store->close(store);
  return status;
}

static tt_status run_seal(int argc, char **argv, tt_error *error) {
  return run(argc, argv, false, error);
}

static tt_status run_unseal(int argc, char **argv, tt_error *error) {
  return run(argc, argv, true, error);
}

const tt_telemetry_action tt_telemetry_seal = {"seal", run_seal};
const tt_telemetry_action tt_telemetry_unseal = {"unseal", run_unseal};
