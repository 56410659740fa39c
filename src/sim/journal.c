/* journal.c: what a simulation tells: its journal, for those who keep it, and events, for people. */
#include "base/log.h"
#include "sim/sim_internal.h"

#include <stdio.h>

static void tell(tt_sim *sim, const char *source, const char *text) {
  if (sim->owner && sim->owner->event) sim->owner->event(sim->owner, sim->clock.step, source, text);
}

/* A sink takes no more: said once, loudly, wherever people look. */
static void lose_proof(tt_sim *sim) {
  char text[120];
  if (sim->unverifiable) return;
  sim->unverifiable = true;
  snprintf(text, sizeof text, "not kept any more: this run can't be verified from step %llu on",
           (unsigned long long)sim->clock.step);
  tell(sim, "journal", text);
  tt_log_error("journal: %s", text);
}

void tt_sim_journal(tt_sim *sim, const tt_entry *entry) {
  tt_entry stamped = *entry;
  stamped.step = sim->clock.step;
  stamped.total_step = sim->clock.total_steps;
  for (int i = 0; i < sim->sink_count; i++)
    if (sim->sinks[i]->write(sim->sinks[i], &stamped) != TT_OK) lose_proof(sim);
}

void tt_sim_event_va(tt_sim *sim, const char *source, const char *format, va_list arguments) {
  char text[256];
  vsnprintf(text, sizeof text, format, arguments);
  tt_sim_journal(sim, &(tt_entry){.kind = TT_ENTRY_EVENT, .source = source, .text = text});
  tell(sim, source, text);
  tt_log_info("%s: %s", source, text);
}

void tt_sim_event(tt_sim *sim, const char *source, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tt_sim_event_va(sim, source, format, arguments);
  va_end(arguments);
}

void tt_sim_flag(tt_sim *sim, const char *source, const char *name, bool holds) {
  tt_sim_journal(
      sim, &(tt_entry){.kind = TT_ENTRY_FLAG, .source = source, .text = name, .holds = holds});
}

tt_status tt_sim_add_journal(tt_sim *sim, tt_journal_sink *sink) {
  if (sim->sink_count == TT_MAX_SINKS) return TT_FULL;
  sim->sinks[sim->sink_count++] = sink;
  return TT_OK;
}

void tt_sim_count_anew(tt_sim *sim) {
  sim->clock.total_steps = sim->placed_at = 0;
  sim->view->total_step = 0;
}

void tt_sim_detach(tt_sim *sim) {
  sim->sink_count = 0;
  sim->unverifiable = false;
}
