/* broker_fuzz.c: any token of a subject gives an identifier, which gives a token, which gives it again, or none; any URL an address. */
#include "broker/broker.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char identifier[65], token[3 * 64 + 4], again[65], url[600];
  if (tt_nats_read_token((const char *)data, size, identifier, sizeof identifier)) {
    assert(*identifier && strlen(identifier) < sizeof identifier);
    assert(tt_nats_print_token(token, sizeof token, '%', identifier));
    assert(!strpbrk(token, ". *>\r\n\t"));
    assert(tt_nats_read_token(token, strlen(token), again, sizeof again));
    assert(!strcmp(identifier, again));
  }
  if (size >= sizeof url - 8) return 0;
  memcpy(url, "nats://", 7);
  memcpy(url + 7, data, size);
  url[7 + size] = 0;
  tt_nats_address address;
  tt_error error;
  if (tt_nats_address_parse(url, &address, &error) == TT_OK)
    assert(address.count && address.name && !address.user == !address.password);
  tt_nats_address_clear(&address);
  return 0;
}
