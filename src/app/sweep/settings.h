/* settings.h: with which settings the scene of a run is loaded. */
#ifndef TT_APP_SWEEP_SETTINGS_H
#define TT_APP_SWEEP_SETTINGS_H

#include "sweep/plan.h"

/** Zero at first. */
typedef struct tt_sweep_settings {
  const char **list; /**< PATH=VALUE, NULL-terminated */
  int count;
  char *texts; /**< behind the list */
} tt_sweep_settings;

/** Those of the plan, the run and its driver (NULL-terminated; or NULL), and what holds for every run of a sweep. With `log` all that decides the run is
 *  among them, its seed and values of models, too, so that the log says it: such a scene's world is not shared. TT_NOMEM. */
tt_status tt_sweep_settings_make(const tt_sweep_plan *plan, const tt_sweep_run *run,
                                 const char *const *driver, const char *log,
                                 tt_sweep_settings *settings, tt_error *error);
void tt_sweep_settings_clear(tt_sweep_settings *settings);

/** Whether an axis sets a value of a model. */
bool tt_sweep_sets_model(const tt_sweep_axis *axis);

#endif
