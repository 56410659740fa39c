/* entries.c: what a journal tells takes effect again. It stands above all else here: an entry may be any change. */
#include "sim/sim_internal.h"

static bool of_this(const tt_sim *sim, const tt_entry *entry) {
  for (int i = 0; i < entry->count; i++)
    if (entry->submissions[i].command < 0 ||
        entry->submissions[i].command >= sim->model->command_count)
      return false;
  return true;
}

/* That one: what else was asked for has its own entry. */
static void reset_again(tt_sim *sim, int robot) {
  if (sim->owner && sim->owner->reset) {
    sim->owner->reset(sim->owner, robot);
    return;
  }
  tt_sim_reset(sim, robot);
  tt_sim_sense(sim);
  tt_sim_mark(sim);
}

static tt_status restore_again(tt_sim *sim, const tt_entry *entry) {
  TT_TRY(tt_sim_restore(sim, entry->state, entry->state_size, NULL));
  if (sim->owner && sim->owner->restored)
    sim->owner->restored(sim->owner);
  else
    tt_sim_mark(sim);
  return TT_OK;
}

tt_status tt_sim_apply_entry(tt_sim *sim, const tt_entry *entry) {
  switch (entry->kind) {
    case TT_ENTRY_COMMANDS:
      return tt_sim_apply(sim, entry->source, entry->submissions, entry->count, NULL);
    case TT_ENTRY_SAFE:
      if (!of_this(sim, entry)) return TT_BAD_MESSAGE;
      tt_sim_set_safe(sim, entry->submissions, entry->count);
      return TT_OK;
    case TT_ENTRY_RESET:
      if (entry->robot < TT_NO_ROBOT || entry->robot >= sim->model->robot_count)
        return TT_BAD_MESSAGE;
      tt_sim_answer_reset(sim, entry->robot);
      reset_again(sim, entry->robot);
      return TT_OK;
    case TT_ENTRY_SEED: tt_sim_seed(sim, entry->seed); return TT_OK;
    case TT_ENTRY_STATE: return restore_again(sim, entry);
    case TT_ENTRY_VALUES:
      return tt_sim_set_values(sim, entry->source, entry->submissions, entry->count, NULL, NULL);
    case TT_ENTRY_EVENT:
    case TT_ENTRY_HASH:
    case TT_ENTRY_FLAG: return TT_OK;
  }
  return TT_OK;
}
