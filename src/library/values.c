/* values.c: the public face: values of the models. See include/tether/tether.h. */
#include "library/library.h"

#include "model/unit.h"

#include <stdlib.h>

enum { FEW = 64, MOST_AT_ONCE = 65536 /* as many as a log's reader takes */ };

static const tt_value *values_of(const tether_sim *sim, int *count) {
  return tt_sim_values(sim->sim, count);
}

int tether_sim_value_count(const tether_sim *sim) {
  int count = 0;
  if (sim) values_of(sim, &count);
  return count;
}

tether_status tether_sim_value_item(const tether_sim *sim, int index, tether_item *item) {
  int count;
  if (!sim || !item) return TETHER_INVALID;
  const tt_value *values = values_of(sim, &count);
  if (index < 0 || index >= count) return TETHER_NOT_FOUND;
  *item = (tether_item){.name = values[index].name,
                        .unit = tt_unit_si(values[index].dimension)->name,
                        .robot = library_robot_name(sim->sim, values[index].robot),
                        .lower = values[index].lower,
                        .upper = values[index].upper};
  return TETHER_OK;
}

tether_status tether_value_find(const tether_sim *sim, const char *name, const char *unit,
                                tether_handle *handle, tether_error *error) {
  tt_error why = {.text = ""};
  int index, count;
  tether_status status = library_check_find(sim, name, handle, error);
  if (status != TETHER_OK) return status;
  if (tt_sim_find_value(sim->sim, name, name, &index, &why) != TT_OK)
    return library_fail(error, TETHER_NOT_FOUND, "%s", why.text);
  *handle = library_handle(sim, LIBRARY_VALUE, index);
  return library_find_unit(name, unit, values_of(sim, &count)[index].dimension, &handle->scale,
                           error);
}

static tether_status check(const tether_sim *sim, const tether_handle *handles,
                           const double *values, int count, tether_error *error) {
  if (count < 0 || (count > 0 && (!handles || !values)))
    return library_fail(error, TETHER_INVALID, "count: %d without arrays of it", count);
  if (count > MOST_AT_ONCE)
    return library_fail(error, TETHER_INVALID, "count: %d; give at most %d at once", count,
                        MOST_AT_ONCE);
  const int known = tether_sim_value_count(sim);
  for (int i = 0; i < count; i++) {
    tether_status status =
        library_check_handle(sim, &handles[i], LIBRARY_VALUE, known, "handles", i, error);
    if (status != TETHER_OK) return status;
  }
  return TETHER_OK;
}

static tether_status set(tether_sim *sim, const tether_handle *handles, const double *values,
                         tt_submission *submissions, int count, tether_error *error) {
  tt_error why = {.text = ""};
  tether_item item;
  int bad = 0;
  for (int i = 0; i < count; i++)
    submissions[i] = (tt_submission){(int)handles[i].index, values[i] * handles[i].scale};
  tt_status status = tt_sim_set_values(sim->sim, "library", submissions, count, &bad, &why);
  if (status != TT_BAD_MESSAGE) return library_finish(status, &why, error);
  tether_sim_value_item(sim, submissions[bad].command, &item);
  const tt_value *of = &values_of(sim, &count)[submissions[bad].command];
  const bool may_be_unset = of->own < item.lower;
  char unit[TT_UNIT_BEHIND];
  return library_fail(error, TETHER_INVALID, "%s: %g is out of its range; give %g to %g%s%s",
                      item.name, submissions[bad].value, item.lower, item.upper,
                      tt_unit_behind(of->dimension, unit),
                      may_be_unset ? ", or -1 for what the model says" : "");
}

tether_status tether_sim_set_values(tether_sim *sim, const tether_handle *handles,
                                    const double *values, int count, tether_error *error) {
  tt_submission few[FEW], *submissions = few;
  tether_status status = library_enter(sim, error);
  if (status != TETHER_OK) return status;
  status = check(sim, handles, values, count, error);
  if (status == TETHER_OK && count > FEW &&
      !(submissions = malloc((size_t)count * sizeof *submissions)))
    status = library_fail(error, TETHER_NO_MEMORY, "out of memory");
  if (status == TETHER_OK) status = set(sim, handles, values, submissions, count, error);
  if (submissions != few) free(submissions);
  return library_leave(sim, status);
}

tether_status tether_sim_get_values(const tether_sim *sim, const tether_handle *handles,
                                    double *values, int count, tether_error *error) {
  library_begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  tether_status status = check(sim, handles, values, count, error);
  if (status != TETHER_OK) return status;
  for (int i = 0; i < count; i++)
    values[i] = tt_sim_present_values(sim->sim)[handles[i].index] / handles[i].scale;
  return TETHER_OK;
}
