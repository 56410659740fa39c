/* inputs_fuzz.c: any bytes as a frame of Tether's, in a process with the stand-in library and one device of each kind: nothing
 * breaks, and what is told of the outputs afterwards is JSON. */
#include "hal.h"
#include "inputs.h"
#include "outputs.h"

#include <json-c/json.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int32_t HAL_GetPort(int32_t channel);
int32_t HAL_InitializePWMPort(int32_t port, const char *where, int32_t *status);
int32_t HAL_InitializeDIOPort(int32_t port, int32_t input, const char *where, int32_t *status);
int32_t HAL_InitializeEncoder(int32_t a, int32_t a_type, int32_t b, int32_t b_type, int32_t reverse,
                              int32_t encoding, int32_t *status);
int32_t HAL_CreateSimDevice(const char *name);
int32_t HAL_CreateSimValue(int32_t device, const char *name, int32_t direction,
                           const hal_value *first);

static void prepare(void) {
  const char *missing;
  int32_t status = 0;
  if (!hal_find(&missing)) abort();
  inputs_find();
  outputs_find();
  HAL_InitializePWMPort(HAL_GetPort(0), "", &status);
  int32_t a = HAL_InitializeDIOPort(HAL_GetPort(0), 1, "", &status);
  HAL_InitializeEncoder(a, 0, a, 0, 0, 0, &status);
  int32_t device = HAL_CreateSimDevice("Gyro:G");
  static const int types[] = {HAL_BOOLEAN, HAL_DOUBLE, HAL_ENUM, HAL_INT, HAL_LONG};
  static const char *const names[] = {"b", "d", "e", "i", "<l"};
  for (int i = 0; i < 5; i++)
    HAL_CreateSimValue(device, names[i], HAL_VALUE_BIDIR, &(hal_value){.type = types[i]});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int prepared;
  if (!prepared++) prepare();
  int64_t step = inputs_take(data, size);
  if (step < -1) abort();
  tt_bytes told = {0};
  outputs_collect(&told, false);
  for (size_t at = 0; at < told.size;) {
    const uint8_t *end = memchr(told.data + at, '\n', told.size - at);
    if (!end) abort();
    told.data[end - told.data] = '\0';
    struct json_object *message = json_tokener_parse((const char *)told.data + at);
    if (!json_object_is_type(message, json_type_object)) abort();
    json_object_put(message);
    at = (size_t)(end - told.data) + 1;
  }
  char which[64];
  if (outputs_changed(which, sizeof which)) abort();
  tt_bytes_free(&told);
  return 0;
}
