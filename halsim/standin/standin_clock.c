/* standin_clock.c: the clock that can be paused and stepped. Notifiers, who wait for it, are another file for each season. */
#include "standin_clock.h"

#include <time.h>

pthread_mutex_t standin_clock_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t began, paused_at, stepped; /* µs; paused_at 0: it runs */
static bool started;

static uint64_t wall(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t standin_present(void) { return (paused_at ? paused_at : wall()) + stepped - began; }
bool standin_is_paused(void) { return paused_at != 0; }

void standin_wait_for(pthread_cond_t *condition, uint64_t microseconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  uint64_t end = (uint64_t)until.tv_sec * 1000000 + (uint64_t)until.tv_nsec / 1000 + microseconds;
  until =
      (struct timespec){.tv_sec = (time_t)(end / 1000000), .tv_nsec = (long)(end % 1000000) * 1000};
  pthread_cond_timedwait(condition, &standin_clock_lock, &until);
}

uint64_t HAL_GetFPGATime(int32_t *status) {
  (void)status;
  pthread_mutex_lock(&standin_clock_lock);
  uint64_t now = standin_present();
  pthread_mutex_unlock(&standin_clock_lock);
  return now;
}

void standin_restart_clock(void) {
  pthread_mutex_lock(&standin_clock_lock);
  began = wall();
  stepped = 0;
  if (paused_at) paused_at = began;
  pthread_mutex_unlock(&standin_clock_lock);
}

void HALSIM_RestartTiming(void) { standin_restart_clock(); }

void HALSIM_PauseTiming(void) {
  pthread_mutex_lock(&standin_clock_lock);
  if (!paused_at) paused_at = wall();
  pthread_mutex_unlock(&standin_clock_lock);
}

void HALSIM_ResumeTiming(void) {
  pthread_mutex_lock(&standin_clock_lock);
  if (paused_at) began += wall() - paused_at;
  paused_at = 0;
  standin_wake_notifiers(false);
  pthread_mutex_unlock(&standin_clock_lock);
}

HAL_Bool HALSIM_IsTimingPaused(void) {
  pthread_mutex_lock(&standin_clock_lock);
  HAL_Bool paused = paused_at != 0;
  pthread_mutex_unlock(&standin_clock_lock);
  return paused;
}

void standin_program_started(void) {
  pthread_mutex_lock(&standin_clock_lock);
  started = true;
  pthread_mutex_unlock(&standin_clock_lock);
}

HAL_Bool HALSIM_GetProgramStarted(void) {
  pthread_mutex_lock(&standin_clock_lock);
  HAL_Bool is = started;
  pthread_mutex_unlock(&standin_clock_lock);
  return is;
}

void HALSIM_StepTiming(uint64_t microseconds) {
  pthread_mutex_lock(&standin_clock_lock);
  standin_wait_notifiers();
  while (microseconds > 0) {
    uint64_t until = standin_next_alarm() - standin_present();
    uint64_t step = microseconds < until ? microseconds : until;
    stepped += step;
    microseconds -= step;
    standin_wake_notifiers(true);
  }
  pthread_mutex_unlock(&standin_clock_lock);
}

void HALSIM_StepTimingAsync(uint64_t microseconds) {
  pthread_mutex_lock(&standin_clock_lock);
  stepped += microseconds;
  standin_wake_notifiers(false);
  pthread_mutex_unlock(&standin_clock_lock);
}

uint64_t HALSIM_GetNextNotifierTimeout(void) {
  pthread_mutex_lock(&standin_clock_lock);
  uint64_t next = standin_next_alarm();
  pthread_mutex_unlock(&standin_clock_lock);
  return next;
}

int32_t HALSIM_GetNumNotifiers(void) { return HALSIM_GetNotifierInfo(NULL, 0); }
