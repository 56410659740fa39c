/* wait_for_go.h: bare programs that begin together. */
#ifndef WAIT_FOR_GO_H
#define WAIT_FOR_GO_H

#include <stdio.h>
#include <stdlib.h>

/** With TETHER_LIMITS_WAIT=1: says that it is ready, and returns when a line comes. */
static inline void wait_for_go(void) {
  if (!getenv("TETHER_LIMITS_WAIT")) return;
  puts("ready");
  fflush(stdout);
  getchar();
}

#endif
