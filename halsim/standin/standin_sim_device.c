/* standin_sim_device.c: devices with values by name, as sensors of vendors are simulated. */
#include "standin.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOST_DEVICES 32
#define MOST_VALUES 256

static struct {
  bool used;
  char name[160];
} devices[MOST_DEVICES];
static struct {
  HAL_Handle device; /* 0: none */
  char name[160];
  int32_t direction;
  HAL_Value is;
} sim_values[MOST_VALUES];

HAL_Handle HAL_CreateSimDevice(const char *name) {
  standin_lock();
  HAL_Handle made = 0;
  for (int i = 0; i < MOST_DEVICES && !made; i++) {
    if (devices[i].used) continue;
    devices[i].used = true;
    snprintf(devices[i].name, sizeof devices[i].name, "%s", name);
    made = i + 1;
  }
  standin_unlock();
  return made;
}

void HAL_FreeSimDevice(HAL_Handle device) {
  standin_lock();
  for (int i = 0; i < MOST_VALUES; i++)
    if (sim_values[i].device == device) sim_values[i].device = 0;
  if (device > 0 && device <= MOST_DEVICES) devices[device - 1].used = false;
  standin_unlock();
}

HAL_Handle HAL_CreateSimValue(HAL_Handle device, const char *name, int32_t direction,
                              const HAL_Value *first) {
  standin_lock();
  HAL_Handle made = 0;
  for (int i = 0; i < MOST_VALUES && !made; i++) {
    if (sim_values[i].device) continue;
    sim_values[i].device = device;
    sim_values[i].direction = direction;
    sim_values[i].is = *first;
    snprintf(sim_values[i].name, sizeof sim_values[i].name, "%s", name);
    made = i + 1;
  }
  standin_unlock();
  return made;
}

void HAL_GetSimValue(HAL_Handle value, HAL_Value *to) {
  standin_lock();
  if (value > 0 && value <= MOST_VALUES) *to = sim_values[value - 1].is;
  standin_unlock();
}

void HAL_SetSimValue(HAL_Handle value, const HAL_Value *from) {
  standin_lock();
  if (value > 0 && value <= MOST_VALUES) sim_values[value - 1].is = *from;
  standin_unlock();
}

void HALSIM_EnumerateSimDevices(const char *prefix, void *param,
                                HALSIM_SimDeviceCallback callback) {
  standin_lock();
  for (int i = 0; i < MOST_DEVICES; i++)
    if (devices[i].used && strncmp(devices[i].name, prefix, strlen(prefix)) == 0)
      callback(devices[i].name, param, i + 1);
  standin_unlock();
}

void HALSIM_EnumerateSimValues(HAL_Handle device, void *param, HALSIM_SimValueCallback callback) {
  standin_lock();
  for (int i = 0; i < MOST_VALUES; i++)
    if (device && sim_values[i].device == device)
      callback(sim_values[i].name, param, i + 1, sim_values[i].direction, &sim_values[i].is);
  standin_unlock();
}

HAL_Handle HALSIM_GetSimDeviceHandle(const char *name) {
  standin_lock();
  HAL_Handle found = 0;
  for (int i = 0; i < MOST_DEVICES; i++)
    if (devices[i].used && strcmp(devices[i].name, name) == 0) found = i + 1;
  standin_unlock();
  return found;
}

HAL_Handle HALSIM_GetSimValueHandle(HAL_Handle device, const char *name) {
  standin_lock();
  HAL_Handle found = 0;
  for (int i = 0; i < MOST_VALUES; i++)
    if (device && sim_values[i].device == device && strcmp(sim_values[i].name, name) == 0)
      found = i + 1;
  standin_unlock();
  return found;
}
