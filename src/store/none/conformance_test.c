/* conformance_test.c: what is left of the suite where nothing is kept. */
#include "store/conformance.h"

static const char *url(void) { return "none:"; }

int main(void) {
  static const tt_store_place place = {.url = url};
  return tt_store_conform("none", &place);
}
