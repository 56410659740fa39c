/* hal.c */
#include "hal.h"

#include <assert.h>
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

hal_functions hal;
static void *library;

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Java and Python load it where no other library sees it, under a path of their own; there is also libwpiHaljni.so, which is
 * another. The one that can step is the right one. */
static int look_at(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  (void)context;
  if (!info->dlpi_name || strncmp(base_name(info->dlpi_name), "libwpiHal", 9) != 0) return 0;
  void *handle = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
  if (handle && dlsym(handle, "HALSIM_StepTiming")) library = handle;
  return library != NULL;
}

void *hal_symbol(const char *name) { return dlsym(library ? library : RTLD_DEFAULT, name); }

bool hal_find(const char **missing) {
  dl_iterate_phdr(look_at, NULL);
  *missing = NULL;
  /* POSIX has dlsym() give functions as void pointers. */
#define FIND(type, name, arguments) *(void **)&hal.name = hal_symbol(#name);
#define FIND_OR_SAY(type, name, arguments)                                                         \
  FIND(type, name, arguments)                                                                      \
  if (!hal.name) *missing = #name;
  HAL_OPTIONAL(FIND)
  HAL_NEEDED(FIND_OR_SAY)
  return !*missing;
}

bool hal_notifiers_signal(void) { return hal.HAL_AcknowledgeNotifierAlarm != NULL; }

/* HALSIM_NotifierInfo of the two seasons: it grew, so that the places in an array are other ones, too. */
typedef struct info_2026 {
  int32_t handle;
  char name[64];
  uint64_t timeout;
  int32_t timeout_set;
} info_2026;
typedef struct info_2027 {
  int32_t handle;
  char name[64];
  uint64_t alarm, interval;
  int32_t overruns;
} info_2027;
static_assert(sizeof(info_2026) == 88 && sizeof(info_2027) == 96, "as their C compiler has them");

int hal_list_notifiers(hal_notifier notifiers[HAL_MOST_NOTIFIERS]) {
  union {
    info_2026 of_2026[HAL_MOST_NOTIFIERS];
    info_2027 of_2027[HAL_MOST_NOTIFIERS];
  } infos;
  memset(&infos, 0, sizeof infos);
  int32_t count = hal.HALSIM_GetNotifierInfo(&infos, HAL_MOST_NOTIFIERS);
  if (count > HAL_MOST_NOTIFIERS) count = HAL_MOST_NOTIFIERS;
  for (int32_t i = 0; i < count; i++) {
    const info_2026 *old = &infos.of_2026[i];
    const info_2027 *new = &infos.of_2027[i];
    bool signals = hal_notifiers_signal();
    notifiers[i].handle = signals ? new->handle : old->handle;
    notifiers[i].alarm = signals ? new->alarm : old->timeout_set ? old->timeout : UINT64_MAX;
    snprintf(notifiers[i].name, sizeof notifiers[i].name, "%.63s", signals ? new->name : old->name);
  }
  return count;
}

static int look_for_vendor(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  const char **found = context;
  if (info->dlpi_name && strstr(base_name(info->dlpi_name), "CTRE_Phoenix"))
    *found = "CTRE Phoenix";
  return *found != NULL;
}

const char *hal_library_of_its_own_time(void) {
  const char *found = NULL;
  dl_iterate_phdr(look_for_vendor, &found);
  return found;
}
