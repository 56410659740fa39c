#include "app/sweep/kept.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAKING ".making"

/* A run among the best or worst. */
typedef struct place {
  double value; /* the greater the better it is placed */
  uint64_t number;
  char id[33];
  bool fails; /* its log stays for that, too */
} place;

/* The `most` runs placed best, the best first. Which they are does not depend on the order in which they come. */
typedef struct ranking {
  place *places;
  int count, most;
} ranking;

struct tt_sweep_kept {
  const tt_sweep_plan *plan;
  char making[PATH_MAX];
  ranking best, worst;
};

/* ---- rankings ---- */

static bool ranks(const tt_sweep_plan *plan) { return plan->keep.best + plan->keep.worst > 0; }

static bool keeps(const tt_sweep_plan *plan) {
  return plan->keep.all || plan->keep.failures || ranks(plan);
}

static bool is_before(const place *a, const place *b) {
  return a->value != b->value ? a->value > b->value : a->number < b->number;
}

static bool is_in(const ranking *in, const char *id) {
  for (int i = 0; i < in->count; i++)
    if (!memcmp(in->places[i].id, id, sizeof in->places[i].id)) return true;
  return false;
}

/* True: `out` is no longer among them, or never was. */
static bool rank(ranking *in, const place *one, place *out) {
  int at = in->count;
  if (in->most == 0) return false;
  while (at > 0 && is_before(one, &in->places[at - 1])) at--;
  if (at == in->most) return false;
  const bool full = in->count == in->most;
  if (full) *out = in->places[--in->count];
  memmove(&in->places[at + 1], &in->places[at], (size_t)(in->count - at) * sizeof *in->places);
  in->places[at] = *one;
  in->count++;
  return full;
}

/* ---- files ---- */

static void path_of(const tt_sweep_kept *kept, const char *id, char *path, size_t size) {
  snprintf(path, size, "%s/%s.wpilog", kept->plan->keep.folder, id);
}

static bool is_failure(const tt_sweep_row *row) {
  return row->status != TT_SWEEP_OK ||
         (row->success.kind == TT_SWEEP_NUMBER && row->success.number == 0);
}

/* Whatever its rank. */
static bool stays_anyway(const tt_sweep_keep *keep, bool fails) {
  return keep->all || (keep->failures && fails);
}

/* Unless it stays for another reason. */
static void let_go(const tt_sweep_kept *kept, const place *one) {
  char path[PATH_MAX];
  if (stays_anyway(&kept->plan->keep, one->fails) || is_in(&kept->best, one->id) ||
      is_in(&kept->worst, one->id))
    return;
  path_of(kept, one->id, path, sizeof path);
  unlink(path);
}

/* Where it stands among the best; −value: among the worst. False: it takes no part. */
static bool place_of(const tt_sweep_kept *kept, const tt_sweep_row *row, place *one) {
  const tt_sweep_keep *keep = &kept->plan->keep;
  if (!ranks(kept->plan) || row->status != TT_SWEEP_OK) return false;
  const tt_sweep_value *metric = &row->metrics[keep->metric];
  if (metric->kind != TT_SWEEP_NUMBER) return false;
  *one = (place){.number = row->run.number, .fails = is_failure(row)};
  memcpy(one->id, row->run.id, sizeof one->id);
  one->value = keep->greatest_is_best ? metric->number : -metric->number;
  return true;
}

static bool is_kept(const tt_sweep_kept *kept, const char *id) {
  char path[PATH_MAX];
  path_of(kept, id, path, sizeof path);
  return access(path, F_OK) == 0;
}

/* Its log takes part in the rankings; what that pushes out goes. */
static void place_row(tt_sweep_kept *kept, const tt_sweep_row *row) {
  place one, out;
  if (!place_of(kept, row, &one)) return;
  if (rank(&kept->best, &one, &out)) let_go(kept, &out);
  one.value = -one.value;
  if (rank(&kept->worst, &one, &out)) let_go(kept, &out);
}

static bool would_rank(const ranking *in, const place *one) {
  return in->count < in->most || (in->most > 0 && is_before(one, &in->places[in->count - 1]));
}

bool tt_sweep_kept_wants(const tt_sweep_kept *kept, const tt_sweep_row *row) {
  place one;
  if (stays_anyway(&kept->plan->keep, is_failure(row))) return true;
  if (!place_of(kept, row, &one)) return false;
  if (would_rank(&kept->best, &one)) return true;
  one.value = -one.value;
  return would_rank(&kept->worst, &one);
}

static bool stays(const tt_sweep_kept *kept, const tt_sweep_row *row) {
  return stays_anyway(&kept->plan->keep, is_failure(row)) || is_in(&kept->best, row->run.id) ||
         is_in(&kept->worst, row->run.id);
}

tt_status tt_sweep_kept_take(tt_sweep_kept *kept, const tt_sweep_row *row, const char *log,
                             tt_error *error) {
  char path[PATH_MAX];
  if (!kept) return TT_OK;
  if (log || is_kept(kept, row->run.id)) place_row(kept, row);
  path_of(kept, row->run.id, path, sizeof path);
  if (!stays(kept, row)) {
    if (log) unlink(log);
    unlink(path); /* a sweep that was killed before the row was durable may have kept it */
    return TT_OK;
  }
  if (!log) return TT_OK;
  if (rename(log, path) == 0) return TT_OK;
  return tt_fail(error, TT_FAILED, "%s: can't be kept: %s", path, strerror(errno));
}

/* ---- the folder ---- */

static tt_status make_folder(const char *path, tt_error *error) {
  char part[PATH_MAX];
  snprintf(part, sizeof part, "%s", path);
  for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash) *slash = 0;
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      return tt_fail(error, TT_FAILED, "%s: can't be made: %s", part, strerror(errno));
    if (!slash) return TT_OK;
    *slash = '/';
  }
}

static void empty(const char *path) {
  DIR *folder = opendir(path);
  for (const struct dirent *entry; folder && (entry = readdir(folder));)
    if (*entry->d_name != '.') unlinkat(dirfd(folder), entry->d_name, 0);
  if (folder) closedir(folder);
}

static tt_status place_earlier(void *context, const tt_sweep_row *row, tt_error *error) {
  (void)error;
  /* A row whose log nobody kept, as `keep` said less then, takes no place from one that is to come. */
  if (is_kept(context, row->run.id)) place_row(context, row);
  return TT_OK;
}

static tt_status make_rankings(tt_sweep_kept *kept, tt_error *error) {
  const tt_sweep_keep *keep = &kept->plan->keep;
  kept->best.most = keep->best;
  kept->worst.most = keep->worst;
  kept->best.places = calloc((size_t)keep->best + 1, sizeof *kept->best.places);
  kept->worst.places = calloc((size_t)keep->worst + 1, sizeof *kept->worst.places);
  if (kept->best.places && kept->worst.places) return TT_OK;
  return tt_fail(error, TT_NOMEM, "out of memory");
}

/* Parts of a plan may be made at a time, and each empties only its own. */
static tt_status open_folder(tt_sweep_kept *kept, uint64_t first, tt_error *error) {
  const char *folder = kept->plan->keep.folder;
  if (snprintf(kept->making, sizeof kept->making, "%s/" MAKING "-%" PRIu64, folder, first) >=
      (int)sizeof kept->making)
    return tt_fail(error, TT_INVALID, "%s: the folder's path is too long", folder);
  TT_TRY(make_folder(kept->making, error));
  empty(kept->making);
  return TT_OK;
}

static tt_status open_kept(tt_sweep_kept *kept, tt_sweep_results *results, uint64_t first,
                           tt_error *error) {
  TT_TRY(make_rankings(kept, error));
  TT_TRY(open_folder(kept, first, error));
  if (!results || !ranks(kept->plan) || tt_sweep_results_count(results) == 0) return TT_OK;
  return tt_sweep_results_each(results, place_earlier, kept, error);
}

tt_status tt_sweep_kept_open(const tt_sweep_plan *plan, tt_sweep_results *results, uint64_t first,
                             tt_sweep_kept **kept, tt_error *error) {
  *kept = NULL;
  if (!keeps(plan)) return TT_OK;
  tt_sweep_kept *made = calloc(1, sizeof *made);
  if (!made) return tt_fail(error, TT_NOMEM, "out of memory");
  made->plan = plan;
  tt_status status = open_kept(made, results, first, error);
  if (status == TT_OK)
    *kept = made;
  else
    tt_sweep_kept_close(made);
  return status;
}

static void free_rankings(tt_sweep_kept *kept) {
  free(kept->best.places);
  free(kept->worst.places);
}

static tt_status drop_others(void *context, const tt_sweep_row *row, tt_error *error) {
  return tt_sweep_kept_take(context, row, NULL, error);
}

tt_status tt_sweep_kept_settle(const tt_sweep_plan *plan, tt_sweep_results *results,
                               tt_error *error) {
  tt_sweep_kept kept = {.plan = plan};
  if (!ranks(plan)) return TT_OK;
  tt_status status = make_rankings(&kept, error);
  if (status == TT_OK) status = tt_sweep_results_each(results, drop_others, &kept, error);
  free_rankings(&kept);
  return status;
}

/* ---- what is not there ---- */

typedef struct search {
  tt_sweep_kept kept; /* its rankings are of all rows, with a log or without */
  tt_sweep_missing_logs *missing;
  uint64_t first; /* the lowest number among them */
} search;

static void look_for(search *of, uint64_t number, const char *id) {
  if (is_kept(&of->kept, id)) return;
  if (of->missing->count++ > 0 && number > of->first) return;
  of->first = number;
  memcpy(of->missing->first, id, sizeof of->missing->first);
}

static tt_status look_for_row(void *context, const tt_sweep_row *row, tt_error *error) {
  search *of = context;
  place one, out;
  (void)error;
  if (stays_anyway(&of->kept.plan->keep, is_failure(row)))
    look_for(of, row->run.number, row->run.id);
  if (!place_of(&of->kept, row, &one)) return TT_OK;
  rank(&of->kept.best, &one, &out);
  one.value = -one.value;
  rank(&of->kept.worst, &one, &out);
  return TT_OK;
}

static void look_for_ranked(search *of, const ranking *in, const ranking *before) {
  for (int i = 0; i < in->count; i++) {
    const place *one = &in->places[i];
    if (stays_anyway(&of->kept.plan->keep, one->fails) || (before && is_in(before, one->id)))
      continue;
    look_for(of, one->number, one->id);
  }
}

tt_status tt_sweep_kept_missing(const tt_sweep_plan *plan, tt_sweep_results *results,
                                tt_sweep_missing_logs *missing, tt_error *error) {
  search of = {.kept = {.plan = plan}, .missing = missing};
  *missing = (tt_sweep_missing_logs){.count = 0};
  if (!keeps(plan)) return TT_OK;
  tt_status status = make_rankings(&of.kept, error);
  if (status == TT_OK) status = tt_sweep_results_each(results, look_for_row, &of, error);
  if (status == TT_OK) {
    look_for_ranked(&of, &of.kept.best, NULL);
    look_for_ranked(&of, &of.kept.worst, &of.kept.best);
  }
  free_rankings(&of.kept);
  return status;
}

void tt_sweep_kept_close(tt_sweep_kept *kept) {
  if (!kept) return;
  if (*kept->making) {
    empty(kept->making);
    rmdir(kept->making);
  }
  free_rankings(kept);
  free(kept);
}

const char *tt_sweep_kept_folder(const tt_sweep_kept *kept) { return kept ? kept->making : NULL; }
