/* values.c: the values of the model that may be changed: masses, frictions, gears, noises. */
#include "base/nearest.h"
#include "sim/sim_internal.h"

#include <math.h>
#include <string.h>

const tt_value *tt_sim_values(const tt_sim *sim, int *count) {
  return tt_composition_values(sim->composition, count);
}

const double *tt_sim_present_values(const tt_sim *sim) { return sim->values; }

tt_status tt_sim_find_value(const tt_sim *sim, const char *name, const char *where, int *index,
                            tt_error *error) {
  int count;
  const tt_value *values = tt_sim_values(sim, &count);
  tt_nearest nearest = tt_nearest_start(name);
  for (*index = 0; *index < count; ++*index) {
    if (strcmp(values[*index].name, name) == 0) return TT_OK;
    tt_nearest_offer(&nearest, values[*index].name);
  }
  return tt_fail(error, TT_INVALID, "%s: there is no such value%s", where,
                 tt_nearest_hint(&nearest));
}

/* What the model's own files say is taken, even if nobody may ask for it. */
bool tt_sim_value_is_good(const tt_sim *sim, int index, double value) {
  int count;
  const tt_value *values = tt_sim_values(sim, &count);
  if (index < 0 || index >= count || !isfinite(value)) return false;
  return value == values[index].own ||
         (value >= values[index].lower && value <= values[index].upper);
}

/* The engine's first: it may fail, and then nothing has changed. */
tt_status tt_sim_put_values(tt_sim *sim, const double *values, tt_error *error) {
  const size_t size = (size_t)sim->value_count * sizeof *values;
  if (memcmp(values, sim->values, size) == 0) return TT_OK;
  for (int i = 0; i < sim->value_count; i++)
    if (!tt_sim_value_is_good(sim, i, values[i])) return TT_INVALID;
  tt_status status = tt_engine_set_values(sim->engine, values, error);
  if (status != TT_OK) { /* an engine that failed over them has the old ones after its reset */
    tt_engine_set_values(sim->engine, sim->values, NULL);
    return status;
  }
  for (int i = 0; i < sim->value_count; i++) {
    int own, part = tt_composition_value_part(sim->composition, i, &own);
    if (part != TT_NO_PART) sim->parts[part]->ops->set_value(sim->parts[part], own, values[i]);
  }
  memcpy(sim->values, values, size);
  return TT_OK;
}

void tt_sim_settle_values(tt_sim *sim) {
  memcpy(sim->first_values, sim->values, (size_t)sim->value_count * sizeof *sim->values);
}

tt_status tt_sim_set_values(tt_sim *sim, const char *source, const tt_submission *values, int count,
                            int *bad, tt_error *error) {
  for (int i = 0; i < count; i++) {
    if (tt_sim_value_is_good(sim, values[i].command, values[i].value)) continue;
    if (bad) *bad = i;
    return TT_BAD_MESSAGE;
  }
  memcpy(sim->wanted, sim->values, (size_t)sim->value_count * sizeof *sim->wanted);
  for (int i = 0; i < count; i++) sim->wanted[values[i].command] = values[i].value;
  TT_TRY(tt_sim_put_values(sim, sim->wanted, error));
  tt_sim_journal(
      sim, &(tt_entry){
               .kind = TT_ENTRY_VALUES, .source = source, .submissions = values, .count = count});
  return TT_OK;
}
