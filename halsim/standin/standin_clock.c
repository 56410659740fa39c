/* standin_clock.c: the clock that can be paused and stepped, and notifiers, who wait for it. */
#include "standin.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define MOST_NOTIFIERS 32

typedef struct notifier {
  bool used, active, alarm_set, waiting;
  char name[64];
  uint64_t alarm;       /* µs */
  uint64_t waits_begun; /* calls of HAL_WaitForNotifierAlarm() */
  pthread_cond_t changed;
} notifier;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t somebody_waits = PTHREAD_COND_INITIALIZER;
static notifier notifiers[MOST_NOTIFIERS];
static uint64_t began, paused_at, stepped; /* µs; paused_at 0: it runs */
static bool started;

static uint64_t wall(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static uint64_t present(void) { return (paused_at ? paused_at : wall()) + stepped - began; }

/* At most `microseconds` of wall clock. */
static void wait_for(pthread_cond_t *condition, uint64_t microseconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  uint64_t end = (uint64_t)until.tv_sec * 1000000 + (uint64_t)until.tv_nsec / 1000 + microseconds;
  until =
      (struct timespec){.tv_sec = (time_t)(end / 1000000), .tv_nsec = (long)(end % 1000000) * 1000};
  pthread_cond_timedwait(condition, &lock, &until);
}

static notifier *of(HAL_Handle handle) {
  return handle > 0 && handle <= MOST_NOTIFIERS && notifiers[handle - 1].used
             ? &notifiers[handle - 1]
             : NULL;
}

uint64_t HAL_GetFPGATime(int32_t *status) {
  (void)status;
  pthread_mutex_lock(&lock);
  uint64_t now = present();
  pthread_mutex_unlock(&lock);
  return now;
}

/* --- as a simulator steers it --- */

void standin_restart_clock(void) {
  pthread_mutex_lock(&lock);
  began = wall();
  stepped = 0;
  if (paused_at) paused_at = began;
  pthread_mutex_unlock(&lock);
}

void HALSIM_RestartTiming(void) { standin_restart_clock(); }

void HALSIM_PauseTiming(void) {
  pthread_mutex_lock(&lock);
  if (!paused_at) paused_at = wall();
  pthread_mutex_unlock(&lock);
}

void HALSIM_ResumeTiming(void) {
  pthread_mutex_lock(&lock);
  if (paused_at) began += wall() - paused_at;
  paused_at = 0;
  for (int i = 0; i < MOST_NOTIFIERS; i++)
    if (notifiers[i].used) pthread_cond_broadcast(&notifiers[i].changed);
  pthread_mutex_unlock(&lock);
}

HAL_Bool HALSIM_IsTimingPaused(void) {
  pthread_mutex_lock(&lock);
  HAL_Bool paused = paused_at != 0;
  pthread_mutex_unlock(&lock);
  return paused;
}

void standin_program_started(void) {
  pthread_mutex_lock(&lock);
  started = true;
  pthread_mutex_unlock(&lock);
}

HAL_Bool HALSIM_GetProgramStarted(void) {
  pthread_mutex_lock(&lock);
  HAL_Bool is = started;
  pthread_mutex_unlock(&lock);
  return is;
}

static uint64_t next_alarm(void) {
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
    wait_for(&somebody_waits, 1000000);
  }
}

static void wake_and_wait(void) {
  bool woken[MOST_NOTIFIERS] = {0};
  uint64_t begun[MOST_NOTIFIERS] = {0};
  for (int i = 0; i < MOST_NOTIFIERS; i++) {
    notifier *n = &notifiers[i];
    if (!n->used || !n->active || !n->alarm_set || present() < n->alarm) continue;
    woken[i] = true;
    begun[i] = n->waits_begun;
    pthread_cond_broadcast(&n->changed);
  }
  wait_until_all_wait(woken, begun);
}

void HALSIM_StepTiming(uint64_t microseconds) {
  pthread_mutex_lock(&lock);
  bool all[MOST_NOTIFIERS];
  for (int i = 0; i < MOST_NOTIFIERS; i++) all[i] = notifiers[i].used && notifiers[i].active;
  wait_until_all_wait(all, NULL);
  while (microseconds > 0) {
    uint64_t until = next_alarm() - present();
    uint64_t step = microseconds < until ? microseconds : until;
    stepped += step;
    microseconds -= step;
    wake_and_wait();
  }
  pthread_mutex_unlock(&lock);
}

void HALSIM_StepTimingAsync(uint64_t microseconds) {
  pthread_mutex_lock(&lock);
  stepped += microseconds;
  for (int i = 0; i < MOST_NOTIFIERS; i++)
    if (notifiers[i].used) pthread_cond_broadcast(&notifiers[i].changed);
  pthread_mutex_unlock(&lock);
}

uint64_t HALSIM_GetNextNotifierTimeout(void) {
  pthread_mutex_lock(&lock);
  uint64_t next = next_alarm();
  pthread_mutex_unlock(&lock);
  return next;
}

int32_t HALSIM_GetNumNotifiers(void) { return HALSIM_GetNotifierInfo(NULL, 0); }

int32_t HALSIM_GetNotifierInfo(struct HALSIM_NotifierInfo *to, int32_t size) {
  pthread_mutex_lock(&lock);
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
  pthread_mutex_unlock(&lock);
  return count;
}

/* --- as a program waits for it --- */

HAL_Handle HAL_InitializeNotifier(int32_t *status) {
  (void)status;
  pthread_mutex_lock(&lock);
  HAL_Handle handle = 0;
  for (int i = 0; i < MOST_NOTIFIERS && !handle; i++) {
    if (notifiers[i].used) continue;
    handle = i + 1;
    notifiers[i] = (notifier){
        .used = true, .active = true, .alarm = UINT64_MAX, .changed = PTHREAD_COND_INITIALIZER};
    snprintf(notifiers[i].name, sizeof notifiers[i].name, "Notifier%d", i);
  }
  pthread_mutex_unlock(&lock);
  return handle;
}

void HAL_SetNotifierName(HAL_Handle handle, const char *name, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&lock);
  notifier *n = of(handle);
  if (n) snprintf(n->name, sizeof n->name, "%s", name);
  pthread_mutex_unlock(&lock);
}

static void stop(HAL_Handle handle, bool free) {
  pthread_mutex_lock(&lock);
  notifier *n = of(handle);
  if (n) {
    n->active = n->alarm_set = false;
    pthread_cond_broadcast(&n->changed);
    n->used =
        !free || n->waiting; /* its place is used again only where nobody waits for it any more */
  }
  pthread_mutex_unlock(&lock);
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
  pthread_mutex_lock(&lock);
  notifier *n = of(handle);
  if (n) {
    n->alarm = time;
    n->alarm_set = time != UINT64_MAX;
    pthread_cond_broadcast(&n->changed);
  }
  pthread_mutex_unlock(&lock);
}

void HAL_CancelNotifierAlarm(HAL_Handle handle, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&lock);
  notifier *n = of(handle);
  if (n) n->alarm_set = false;
  pthread_mutex_unlock(&lock);
}

uint64_t HAL_WaitForNotifierAlarm(HAL_Handle handle, int32_t *status) {
  (void)status;
  pthread_mutex_lock(&lock);
  notifier *n = of(handle);
  uint64_t woken_at = 0;
  if (n) {
    n->waiting = true;
    n->waits_begun++;
    pthread_cond_broadcast(&somebody_waits);
    while (n->active) {
      uint64_t now = present();
      if (n->alarm_set && now >= n->alarm) {
        n->alarm_set = false;
        woken_at = now;
        break;
      }
      wait_for(&n->changed, !n->alarm_set || paused_at ? 1000000000 : n->alarm - now);
    }
    n->waiting = false;
  }
  pthread_mutex_unlock(&lock);
  return woken_at;
}
