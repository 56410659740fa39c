/* standin_notifiers_2027.c: an alarm signals an object that a program waits for with others, and the program acknowledges it when
 * it has done its work; a step waits for that alone. */
#include "standin_clock.h"

#include <stdio.h>

typedef struct notifier {
  bool used, signaled; /* signaled: and not acknowledged */
  bool object;         /* what WPI_WaitForObject() waits for; it takes it away */
  char name[64];
  uint64_t alarm, interval; /* µs; UINT64_MAX: none */
} notifier;

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static notifier notifiers[MOST_NOTIFIERS];

static notifier *of(HAL_Handle handle) {
  return handle > 0 && handle <= MOST_NOTIFIERS && notifiers[handle - 1].used
             ? &notifiers[handle - 1]
             : NULL;
}

uint64_t standin_next_alarm(void) {
  uint64_t next = UINT64_MAX;
  for (int i = 0; i < MOST_NOTIFIERS; i++)
    if (notifiers[i].used && notifiers[i].alarm < next) next = notifiers[i].alarm;
  return next;
}

void standin_wait_notifiers(void) {
  for (int i = 0; i < MOST_NOTIFIERS; i++)
    while (notifiers[i].used && notifiers[i].signaled) standin_wait_for(&changed, 1000);
}

void standin_wake_notifiers(bool waits) {
  for (int i = 0; i < MOST_NOTIFIERS; i++) {
    notifier *n = &notifiers[i];
    if (!n->used || n->alarm > standin_present()) continue;
    n->alarm = n->interval > 0 ? n->alarm + n->interval : UINT64_MAX;
    n->object = n->signaled = true;
  }
  pthread_cond_broadcast(&changed);
  if (waits) standin_wait_notifiers();
}

int32_t HALSIM_GetNotifierInfo(struct HALSIM_NotifierInfo *to, int32_t size) {
  pthread_mutex_lock(&standin_clock_lock);
  int32_t count = 0;
  for (int i = 0; i < MOST_NOTIFIERS; i++) {
    const notifier *n = &notifiers[i];
    if (!n->used) continue;
    if (count < size) {
      to[count] = (struct HALSIM_NotifierInfo){
          .handle = i + 1, .alarmTime = n->alarm, .intervalTime = n->interval};
      snprintf(to[count].name, sizeof to[count].name, "%s", n->name);
    }
    count++;
  }
  pthread_mutex_unlock(&standin_clock_lock);
  return count;
}

HAL_Handle HAL_CreateNotifier(int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  HAL_Handle handle = 0;
  for (int i = 0; i < MOST_NOTIFIERS && !handle; i++) {
    if (notifiers[i].used) continue;
    handle = i + 1;
    notifiers[i] = (notifier){.used = true, .alarm = UINT64_MAX};
    snprintf(notifiers[i].name, sizeof notifiers[i].name, "Notifier%d", i);
  }
  pthread_mutex_unlock(&standin_clock_lock);
  return handle;
}

void HAL_SetNotifierName(HAL_Handle handle, const struct WPI_String *name, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n = of(handle);
  if (n) snprintf(n->name, sizeof n->name, "%.*s", (int)name->len, name->str);
  pthread_mutex_unlock(&standin_clock_lock);
}

void HAL_DestroyNotifier(HAL_Handle handle) {
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n = of(handle);
  if (n) n->used = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&standin_clock_lock);
}

void HAL_SetNotifierAlarm(HAL_Handle handle, uint64_t alarm, uint64_t interval, HAL_Bool absolute,
                          HAL_Bool acknowledges, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n = of(handle);
  if (n) {
    n->alarm = absolute ? alarm : alarm + standin_present();
    n->interval = interval;
    if (acknowledges) n->signaled = false;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&standin_clock_lock);
}

void HAL_AcknowledgeNotifierAlarm(HAL_Handle handle, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n = of(handle);
  if (n) n->signaled = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&standin_clock_lock);
}

/* 0: there is no such object any more. */
uint32_t WPI_WaitForObject(uint32_t handle) {
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n;
  while ((n = of((HAL_Handle)handle)) && !n->object) standin_wait_for(&changed, 1000000);
  if (n) n->object = false;
  pthread_mutex_unlock(&standin_clock_lock);
  return n ? handle : 0;
}
