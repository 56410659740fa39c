/* conformance_test.c: the suite on a nats-server of its own (tests/telemetry/store_nats_test.py). */
#include "store/conformance.h"
#include "store/jetstream/link.h"

#include <stdio.h>

static const char *url(void) { return g_getenv("TETHER_TEST_NATS"); }

/** No stream, and no bucket. */
static bool clean(const char *address) {
  tt_nats_link *link;
  tt_error error;
  jsErrCode code = 0;
  if (tt_nats_link_open(address, &link, &error) != TT_OK) return false;
  natsStatus stream = js_DeleteStream(tt_nats_link_js(link), tt_nats_link_name(link), NULL, &code);
  natsStatus bucket = js_DeleteKeyValue(tt_nats_link_js(link), tt_nats_link_name(link));
  tt_nats_link_close(link);
  return stream == NATS_OK && bucket == NATS_OK;
}

int main(void) {
  static const tt_store_place place = {.url = url, .clean = clean};
  if (url()) return tt_store_conform("jetstream", &place);
  puts("skipped: needs TETHER_TEST_NATS");
  return 0;
}
