#include "scene/machine.h"

#include <stddef.h>
#include <string.h>

const char *const tt_machine_sections[] = {"record", "telemetry", "web", "nt4", "foxglove", NULL};

bool tt_setting_is_of_machine(const char *setting) {
  const size_t size = strcspn(setting, ".[="); /* web.token=x, web={token: x} */
  for (const char *const *key = tt_machine_sections; *key; key++)
    if (strlen(*key) == size && strncmp(setting, *key, size) == 0) return true;
  return false;
}
