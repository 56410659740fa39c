#include "store/told_state.h"

#include <stdio.h>

void tt_told_state_init(tt_told_state *told) {
  *told = (tt_told_state){.now = {.degraded = false}};
  pthread_mutex_init(&told->mutex, NULL);
}

void tt_told_state_clear(tt_told_state *told) { pthread_mutex_destroy(&told->mutex); }

static void set_trouble(tt_store_state *state, const char *trouble) {
  state->degraded = trouble;
  snprintf(state->reason, sizeof state->reason, "%.255s", trouble ? trouble : "");
}

void tt_told_state_set(tt_told_state *told, const char *trouble) {
  pthread_mutex_lock(&told->mutex);
  set_trouble(&told->now, trouble);
  pthread_mutex_unlock(&told->mutex);
}

void tt_told_state_set_spooled(tt_told_state *told, const char *trouble,
                               const tt_store_state *state) {
  pthread_mutex_lock(&told->mutex);
  told->now = *state;
  set_trouble(&told->now, trouble);
  pthread_mutex_unlock(&told->mutex);
}

void tt_told_state_get(tt_told_state *told, tt_store_state *state) {
  pthread_mutex_lock(&told->mutex);
  *state = told->now;
  pthread_mutex_unlock(&told->mutex);
}
