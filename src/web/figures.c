/* figures.c: what a server counts, and how many answers are in the making. */
#include "web/internal.h"

void tt_web_count(tt_web *web, uint64_t *counter) {
  g_mutex_lock(&web->mutex);
  ++*counter;
  g_mutex_unlock(&web->mutex);
}

void tt_web_get_stats(tt_web *web, tt_web_stats *stats) {
  g_mutex_lock(&web->mutex);
  *stats = web->stats;
  g_mutex_unlock(&web->mutex);
}

bool tt_web_take_slot(tt_web *web) {
  g_mutex_lock(&web->mutex);
  bool free_slot = web->slots < web->options.max_streams;
  web->slots += free_slot;
  g_mutex_unlock(&web->mutex);
  return free_slot;
}

void tt_web_give_slot(tt_web *web) {
  g_mutex_lock(&web->mutex);
  web->slots--;
  g_mutex_unlock(&web->mutex);
}

int tt_web_slots_taken(tt_web *web) {
  g_mutex_lock(&web->mutex);
  int slots = web->slots;
  g_mutex_unlock(&web->mutex);
  return slots;
}
