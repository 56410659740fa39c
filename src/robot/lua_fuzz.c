/* lua_fuzz.c: any text as a sensor's file: it loads or is refused, and a call ends with a finite number or an error. */
#include "robot/lua_script.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tt_status read_signal(void *context, const char *name, double *value, tt_error *error) {
  (void)context;
  if (strlen(name) > 20) return tt_fail(error, TT_INVALID, "there is no signal '%s'", name);
  *value = (double)strlen(name);
  return TT_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const tt_lua_limits limits = {.instructions = 20000, .memory = 1 << 18};
  const tt_lua_host host = {.read = read_signal, .noise = {1}, .step = 3};
  tt_lua_script *script;
  tt_error error;
  if (tt_lua_script_new((const char *)data, size, "fuzz.lua", "sense", limits, &script, &error) !=
      TT_OK)
    return 0;
  double first = 0, second = 0;
  tt_status one = tt_lua_script_call(script, &host, &first, &error);
  tt_status two = tt_lua_script_call(script, &host, &second, &error);
  /* Nothing survives a call: the second is as the first. */
  if (one != two || memcmp(&first, &second, sizeof first) != 0 || !isfinite(first)) abort();
  tt_lua_script_free(script);
  return 0;
}
