/* strangers.c: who is told of by the burst of a thousand messages with which a program begins, and is really used. */
#include "halsim/strangers.h"

#include "halsim/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types whose devices exist only where the program made one. */
static bool is_made_by_program(const char *type) {
  return strcmp(type, "SimDevice") == 0 || strcmp(type, "Gyro") == 0 ||
         strcmp(type, "Accel") == 0 || strcmp(type, "DutyCycle") == 0 ||
         strncmp(type, "CAN", 3) == 0;
}

static bool is_of_people(const char *type) {
  return strcmp(type, "Joystick") == 0 || strcmp(type, "DriverStation") == 0;
}

static bool is_used(const char *type, const char *device, const tt_halsim_value *values,
                    int count) {
  bool used = is_made_by_program(type) && strcmp(device, "BuiltInAccel") != 0;
  for (int i = 0; i < count; i++) {
    const char *key = values[i].key;
    if (strncmp(key, "<init", 5) == 0) return values[i].number != 0;
    if (strcmp(type, "Solenoid") == 0 && strcmp(key, "<output") == 0) used = values[i].number != 0;
  }
  return used;
}

void tt_halsim_strangers_hear(tt_halsim_strangers_list *list, const char *type, const char *device,
                              const tt_halsim_value *values, int count) {
  if (count == 0 || is_of_people(type) || !is_used(type, device, values, count)) return;
  char room[TT_HALSIM_NAME];
  const char *key = values[0].key + tt_halsim_prefix(values[0].key);
  tt_halsim_rename(&type, &device, &key, room);
  for (int i = 0; i < list->count; i++)
    if (strcmp(list->used[i].type, type) == 0 && strcmp(list->used[i].device, device) == 0) return;
  if (!list->used) list->used = calloc(TT_HALSIM_MOST_STRANGERS, sizeof *list->used);
  if (!list->used || list->count == TT_HALSIM_MOST_STRANGERS) return;
  tt_halsim_used *used = &list->used[list->count++];
  snprintf(used->type, sizeof used->type, "%s", type);
  snprintf(used->device, sizeof used->device, "%s", device);
}

void tt_halsim_strangers_clear(tt_halsim_strangers_list *list) {
  free(list->used);
  *list = (tt_halsim_strangers_list){.used = NULL};
}
