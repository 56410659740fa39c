/* figures.c: what a server counts, and how many answers are in the making. */
#include "web/internal.h"

void tt_web_count(tt_web *web, uint64_t *counter) {
  pthread_mutex_lock(&web->mutex);
  ++*counter;
  pthread_mutex_unlock(&web->mutex);
}

void tt_web_get_stats(tt_web *web, tt_web_stats *stats) {
  pthread_mutex_lock(&web->mutex);
  *stats = web->stats;
  pthread_mutex_unlock(&web->mutex);
}

#define MOST_CHORES 2

static int slots_of(const tt_web *web, tt_web_slot_kind kind) {
  const int most = web->options.max_streams;
  return kind == TT_WEB_CHORES && most > MOST_CHORES ? MOST_CHORES : most;
}

bool tt_web_take_slot(tt_web *web, tt_web_slot_kind kind) {
  pthread_mutex_lock(&web->mutex);
  bool free_slot = web->slots[kind] < slots_of(web, kind);
  web->slots[kind] += free_slot;
  pthread_mutex_unlock(&web->mutex);
  return free_slot;
}

void tt_web_give_slot(tt_web *web, tt_web_slot_kind kind) {
  pthread_mutex_lock(&web->mutex);
  web->slots[kind]--;
  pthread_mutex_unlock(&web->mutex);
}

int tt_web_slots_taken(tt_web *web) {
  int taken = 0;
  pthread_mutex_lock(&web->mutex);
  for (int kind = 0; kind < TT_WEB_SLOT_KINDS; kind++) taken += web->slots[kind];
  pthread_mutex_unlock(&web->mutex);
  return taken;
}
