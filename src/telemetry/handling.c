/* handling.c: what people set for attributes, and what it does to their values. */
#include "telemetry/collector_internal.h"
#include "telemetry/number.h"
#include "telemetry/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** 1.5 KiB for each attribute of a device that has a minimum interval. */
#define KEPT_MOMENTS 96

const char *const tt_value_type_names[] = {"auto", "number", "text", "flag", NULL};
const char *const tt_value_mode_names[] = {"both", "store", "forward", "ignore", NULL};
_Static_assert(sizeof tt_value_type_names / sizeof *tt_value_type_names == TT_VALUE_FLAG + 2 &&
                   sizeof tt_value_mode_names / sizeof *tt_value_mode_names == TT_MODE_IGNORE + 2,
               "a name for each");

tt_handling tt_handling_default(void) { return (tt_handling){.scale = 1}; }

/* --- values --- */

static bool parse_flag(const char *text, double *number) {
  static const char *const yes[] = {"1", "true", "yes", "on", NULL}, *const no[] = {"0", "false",
                                                                                    "no", "off",
                                                                                    NULL};
  for (int i = 0; yes[i]; i++) {
    bool set = !g_ascii_strcasecmp(text, yes[i]);
    if (!set && g_ascii_strcasecmp(text, no[i])) continue;
    *number = set;
    return true;
  }
  return false;
}

bool tt_handling_convert(const tt_handling *handling, const char **text, double *number) {
  switch (handling->type) {
    case TT_VALUE_TEXT: return true;
    case TT_VALUE_FLAG:
      if (!parse_flag(*text, number)) return false;
      *text = NULL;
      return true;
    case TT_VALUE_NUMBER:
    case TT_VALUE_AUTO: break;
  }
  if (!tt_number_parse(*text, number)) return handling->type == TT_VALUE_AUTO;
  *number = *number * handling->scale + handling->offset;
  *text = NULL;
  return isfinite(*number);
}

/** Moments at which values of one attribute of a device were kept lately, in the order in which that was: what is sent again, and a
 *  backlog that comes behind something newer, are thinned by them as they were, or will have been, the first time. */
typedef struct kept_moments {
  int count, next;
  struct {
    int epoch;
    int64_t device_time;
  } of[KEPT_MOMENTS];
} kept_moments;

/** One that was kept less than `interval` before or after; the latest ones are looked at first. */
static bool is_near(const kept_moments *kept, int epoch, int64_t device_time, int64_t interval) {
  for (int i = 1; i <= kept->count; i++) {
    const int at = (kept->next + KEPT_MOMENTS - i) % KEPT_MOMENTS;
    if (kept->of[at].epoch == epoch && llabs(device_time - kept->of[at].device_time) < interval)
      return true;
  }
  return false;
}

bool tt_handling_is_due(const tt_handling *handling, tt_device *from, int epoch,
                        int attribute_index, int64_t device_time) {
  if (handling->min_interval <= 0) return true;
  if (!from->kept) from->kept = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  gpointer key = GINT_TO_POINTER(attribute_index + 1);
  kept_moments *kept = g_hash_table_lookup(from->kept, key);
  if (!kept) {
    kept = g_new0(kept_moments, 1);
    g_hash_table_insert(from->kept, key, kept);
  }
  if (is_near(kept, epoch, device_time, llround(handling->min_interval * SECOND))) return false;
  kept->of[kept->next].epoch = epoch;
  kept->of[kept->next].device_time = device_time;
  kept->next = (kept->next + 1) % KEPT_MOMENTS;
  kept->count = MIN(kept->count + 1, KEPT_MOMENTS);
  return true;
}

/* --- the set --- */

bool tt_handling_is_pattern(const char *identifier) { return strpbrk(identifier, "*?"); }

void tt_handlings_init(tt_collector *collector) { collector->handlings = tt_handling_list(); }

void tt_handlings_resolve(tt_collector *collector, tt_attribute *resolved) {
  const tt_handling *set = tt_handling_of(&collector->handlings, resolved->identifier);
  resolved->handling = set ? *set : tt_handling_default();
}

/** Where some values are to be kept for another time, what is old is looked for at once. */
static void resolve_all(tt_collector *collector) {
  for (guint i = 0; i < collector->attributes->len; i++) {
    tt_attribute *resolved = tt_attribute_at(collector, (int)i);
    const double before = resolved->handling.retention;
    tt_handlings_resolve(collector, resolved);
    const double retention = resolved->handling.retention;
    collector->purge_due |= retention > 0 && retention != before;
    collector->forgotten += retention > 0 && !(before > 0 && before <= retention);
  }
}

bool tt_handlings_load(void *context, const tt_list *handlings) {
  tt_collector *collector = context;
  pthread_mutex_lock(&collector->mutex);
  bool own = collector->batch->handlings.len;
  if (!own) {
    tt_list_cut(&collector->handlings, 0);
    for (guint i = 0; i < handlings->len; i++)
      tt_store_add_handling(&collector->handlings, &tt_list_at(handlings, tt_handling, i));
    own = collector->handlings.failed;  // to be told again
    resolve_all(collector);
  }
  pthread_mutex_unlock(&collector->mutex);
  return !own;
}

static void drop_handling(tt_collector *collector, const char *pattern) {
  for (guint i = 0; i < collector->handlings.len; i++) {
    tt_handling *handling = &tt_list_at(&collector->handlings, tt_handling, i);
    if (strcmp(handling->pattern, pattern)) continue;
    tt_list_remove(&collector->handlings, i);
    return;
  }
}

/** Replaces what is set for the pattern (or only takes it away), and looks up every attribute anew. */
static tt_status apply_handling(tt_collector *collector, const tt_handling *handling,
                                tt_error *error) {
  tt_batch_begin(collector);
  tt_handling copy;
  if (!tt_list_reserve(&collector->handlings, 1) || !tt_handling_copy(&copy, handling))
    return tt_fail(error, TT_NOMEM, "out of memory");
  if (!tt_store_add_handling(&collector->batch->handlings, handling)) {
    tt_handling_clear(&copy);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  drop_handling(collector, copy.pattern);
  if (copy.removed) {
    tt_handling_clear(&copy);
  } else {
    tt_list_add(&collector->handlings, &copy, 1);
  }
  resolve_all(collector);
  collector->purge_due |= handling->retention > 0;  // also where it was so before: somebody waits
  return TT_OK;
}

static tt_status change_handling(tt_collector *collector, const tt_handling *handling,
                                 tt_error *error) {
  pthread_mutex_lock(&collector->mutex);
  tt_status status = apply_handling(collector, handling, error);
  pthread_mutex_unlock(&collector->mutex);
  return status;
}

tt_status tt_handling_check(const tt_handling *handling, tt_error *error) {
  if (!handling->pattern || !tt_text_is_fit(handling->pattern, 200)) {
    return tt_fail(error, TT_INVALID,
                   "a pattern is UTF-8 of 1 to 200 bytes without control characters");
  }
  if (handling->unit && *handling->unit && !tt_text_is_fit(handling->unit, 32)) {
    return tt_fail(error, TT_INVALID,
                   "a unit is UTF-8 of at most 32 bytes without control characters");
  }
  if (!isfinite(handling->scale) || !isfinite(handling->offset) || handling->scale == 0) {
    return tt_fail(error, TT_INVALID, "scale and offset are finite numbers, and scale is not 0");
  }
  if (!(handling->min_interval >= 0) || !(handling->retention >= 0) ||
      handling->min_interval > 1e9 || handling->retention > 1e10) {
    return tt_fail(error, TT_INVALID, "min_interval and retention are seconds, 0 or more");
  }
  return TT_OK;
}

tt_status tt_collector_set_handling(tt_collector *collector, const tt_handling *handling,
                                    tt_error *error) {
  if (collector->options.log) return tt_collector_refuse(error);
  TT_TRY(tt_handling_check(handling, error));
  return change_handling(collector, handling, error);
}

tt_status tt_collector_remove_handling(tt_collector *collector, const char *pattern,
                                       tt_error *error) {
  bool found = false;
  if (collector->options.log) return tt_collector_refuse(error);
  pthread_mutex_lock(&collector->mutex);
  for (guint i = 0; i < collector->handlings.len && !found; i++) {
    found = !strcmp(tt_list_at(&collector->handlings, tt_handling, i).pattern, pattern);
  }
  pthread_mutex_unlock(&collector->mutex);
  if (!found) return tt_fail(error, TT_NOT_FOUND, "no handling is set for '%s'", pattern);
  tt_handling removed = {.pattern = (char *)pattern, .removed = true};
  return change_handling(collector, &removed, error);
}

tt_list tt_collector_handlings(tt_collector *collector) {
  tt_list copies = tt_handling_list();
  pthread_mutex_lock(&collector->mutex);
  for (guint i = 0; i < collector->handlings.len; i++)
    tt_store_add_handling(&copies, &tt_list_at(&collector->handlings, tt_handling, i));
  pthread_mutex_unlock(&collector->mutex);
  return copies;
}
