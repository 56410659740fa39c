/* standin_notifiers_2026.c: a program waits within HAL_WaitForNotifierAlarm(), and a step waits until it is there again. */
#include "standin_clock.h"

#include <stdio.h>

typedef struct notifier {
  bool used, active, alarm_set, waiting;
  char name[64];
  uint64_t alarm;       /* µs */
  uint64_t waits_begun; /* calls of HAL_WaitForNotifierAlarm() */
  pthread_cond_t changed;
} notifier;

static pthread_cond_t somebody_waits = PTHREAD_COND_INITIALIZER;
static notifier notifiers[MOST_NOTIFIERS];

static notifier *of(HAL_Handle handle) {
  return handle > 0 && handle <= MOST_NOTIFIERS && notifiers[handle - 1].used
             ? &notifiers[handle - 1]
             : NULL;
}

uint64_t standin_next_alarm(void) {
  uint64_t next = UINT64_MAX;
  for (int i = 0; i < MOST_NOTIFIERS; i++) {
    const notifier *n = &notifiers[i];
    if (n->used && n->active && n->alarm_set && n->alarm < next) next = n->alarm;
  }
  return next;
}

/* Until nobody of the `of` is active and has still to come to waiting, or to its next wait after `begun`. As in the original
 * a notifier that is stopped meanwhile is noticed after a second. */
static void wait_until_all_wait(const bool concerned[MOST_NOTIFIERS],
                                const uint64_t begun[MOST_NOTIFIERS]) {
  for (;;) {
    bool busy = false;
    for (int i = 0; i < MOST_NOTIFIERS; i++) {
      const notifier *n = &notifiers[i];
      if (!concerned[i] || !n->used || !n->active) continue;
      busy |= begun ? n->waits_begun == begun[i] : !n->waiting;
    }
    if (!busy) return;
    standin_wait_for(&somebody_waits, 1000000);
  }
}

void standin_wait_notifiers(void) {
  bool all[MOST_NOTIFIERS];
  for (int i = 0; i < MOST_NOTIFIERS; i++) all[i] = notifiers[i].used && notifiers[i].active;
  wait_until_all_wait(all, NULL);
}

void standin_wake_notifiers(bool waits) {
  bool woken[MOST_NOTIFIERS] = {0};
  uint64_t begun[MOST_NOTIFIERS] = {0};
  for (int i = 0; i < MOST_NOTIFIERS; i++) {
    notifier *n = &notifiers[i];
    if (!n->used) continue;
    if (waits && (!n->active || !n->alarm_set || standin_present() < n->alarm)) continue;
    woken[i] = true;
    begun[i] = n->waits_begun;
    pthread_cond_broadcast(&n->changed);
  }
  if (waits) wait_until_all_wait(woken, begun);
}

int32_t HALSIM_GetNotifierInfo(struct HALSIM_NotifierInfo *to, int32_t size) {
  pthread_mutex_lock(&standin_clock_lock);
  int32_t count = 0;
  for (int i = 0; i < MOST_NOTIFIERS; i++) {
    const notifier *n = &notifiers[i];
    if (!n->used || !n->active) continue;
    if (count < size) {
      to[count] = (struct HALSIM_NotifierInfo){
          .handle = i + 1, .timeout = n->alarm, .waitTimeValid = n->alarm_set};
      snprintf(to[count].name, sizeof to[count].name, "%s", n->name);
    }
    count++;
  }
  pthread_mutex_unlock(&standin_clock_lock);
  return count;
}

/* --- as a program waits for it --- */

HAL_Handle HAL_InitializeNotifier(int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  HAL_Handle handle = 0;
  for (int i = 0; i < MOST_NOTIFIERS && !handle; i++) {
    if (notifiers[i].used) continue;
    handle = i + 1;
    notifiers[i] = (notifier){
        .used = true, .active = true, .alarm = UINT64_MAX, .changed = PTHREAD_COND_INITIALIZER};
    snprintf(notifiers[i].name, sizeof notifiers[i].name, "Notifier%d", i);
  }
  pthread_mutex_unlock(&standin_clock_lock);
  return handle;
}

void HAL_SetNotifierName(HAL_Handle handle, const char *name, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n = of(handle);
  if (n) snprintf(n->name, sizeof n->name, "%s", name);
  pthread_mutex_unlock(&standin_clock_lock);
}

static void stop(HAL_Handle handle, bool free) {
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n = of(handle);
  if (n) {
    n->active = n->alarm_set = false;
    pthread_cond_broadcast(&n->changed);
    n->used =
        !free || n->waiting; /* its place is used again only where nobody waits for it any more */
  }
  pthread_mutex_unlock(&standin_clock_lock);
}

void HAL_StopNotifier(HAL_Handle handle, int32_t *status) {
  (void)status;
  stop(handle, false);
}

void HAL_CleanNotifier(HAL_Handle handle, int32_t *status) {
  (void)status;
  stop(handle, true);
}

void HAL_UpdateNotifierAlarm(HAL_Handle handle, uint64_t time, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n = of(handle);
  if (n) {
    n->alarm = time;
    n->alarm_set = time != UINT64_MAX;
    pthread_cond_broadcast(&n->changed);
  }
  pthread_mutex_unlock(&standin_clock_lock);
}

void HAL_CancelNotifierAlarm(HAL_Handle handle, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n = of(handle);
  if (n) n->alarm_set = false;
  pthread_mutex_unlock(&standin_clock_lock);
}

uint64_t HAL_WaitForNotifierAlarm(HAL_Handle handle, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  notifier *n = of(handle);
  uint64_t woken_at = 0;
  if (n) {
    n->waiting = true;
    n->waits_begun++;
    pthread_cond_broadcast(&somebody_waits);
    while (n->active) {
      uint64_t now = standin_present();
      if (n->alarm_set && now >= n->alarm) {
        n->alarm_set = false;
        woken_at = now;
        break;
      }
      standin_wait_for(&n->changed,
                       !n->alarm_set || standin_is_paused() ? 1000000000 : n->alarm - now);
    }
    n->waiting = false;
  }
  pthread_mutex_unlock(&standin_clock_lock);
  return woken_at;
}
