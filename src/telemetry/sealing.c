/* sealing.c: see its header. */
#include "telemetry/sealing.h"

#include "base/clock.h"
#include "base/log.h"

#include <inttypes.h>

#define SECOND INT64_C(1000000)
/** µs between steps, and for one: whoever waits for an acknowledgement waits no longer than for another batch. */
#define STEP_INTERVAL (SECOND / 10)
#define STEP (SECOND / 50)
#define PASS_INTERVAL (600 * SECOND)

const char *tt_sealing_advice(const tt_store *store, const tt_store_state *state, int64_t after) {
  if (!store->seal || after || state->bytes < TT_SEALING_LARGE) return NULL;
  return "the store is large; telemetry.seal_after, for example '604800 s', packs days that are "
         "over "
         "into about a tenth";
}

static void advise(tt_sealing *sealing, tt_store *store) {
  tt_store_state state;
  store->state(store, &state);
  const char *advice = tt_sealing_advice(store, &state, 0);
  if (advice && !sealing->has_advised)
    tt_log_info("telemetry: %s (%.1f GB now)", advice, (double)state.bytes / 1e9);
  sealing->has_advised |= advice != NULL;
}

static void end_pass(tt_sealing *sealing) {
  if (sealing->values)
    tt_log_info("telemetry: %" PRIu64 " values of days that are over were packed, and take %.1f MB",
                sealing->values, (double)sealing->bytes / 1e6);
  sealing->under_way = false;
  sealing->values = sealing->bytes = 0;
  sealing->has_failed = false;
}

static void fail_pass(tt_sealing *sealing, const tt_error *error) {
  if (!sealing->has_failed)
    tt_log_warning("telemetry: can't pack days that are over, trying again: %s", error->text);
  sealing->has_failed = true;
  sealing->under_way = false;
}

static void step(tt_sealing *sealing, tt_store *store, int64_t after, int64_t now) {
  if (!sealing->under_way) sealing->before = now - after;
  sealing->under_way = true;
  const tt_store_sealing asked = {.before = sealing->before, .budget = STEP};
  tt_store_sealed sealed;
  tt_error error;
  tt_status status = store->seal(store, &asked, &sealed, &error);
  if (status == TT_OK || status == TT_AGAIN) {
    sealing->values += sealed.values;
    sealing->bytes += sealed.bytes;
  }
  if (status == TT_OK) end_pass(sealing);
  if (status != TT_OK && status != TT_AGAIN) fail_pass(sealing, &error);
}

void tt_sealing_tend(tt_sealing *sealing, tt_store *store, int64_t after, int64_t now) {
  if (!store->seal || tt_monotonic_us() < sealing->next) return;
  if (after)
    step(sealing, store, after, now);
  else
    advise(sealing, store);
  // Behind the step: what it takes is not more than a part of the time.
  sealing->next = tt_monotonic_us() + (sealing->under_way ? STEP_INTERVAL : PASS_INTERVAL);
}
