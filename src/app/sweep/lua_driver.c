/* lua_driver.c: a Lua file drives the robots: its function control(read, write), before each tick. */
#include "app/sweep/axes.h"
#include "app/sweep/driver.h"
#include "sweep/control.h"

#include <stdlib.h>

typedef struct lua_driver {
  const tt_sweep_plan *plan;
  tt_control *control;
  tt_sweep_parameters parameters;
} lua_driver;

static void lua_close(void *self) {
  lua_driver *driver = self;
  if (!driver) return;
  tt_control_free(driver->control);
  free(driver);
}

static tt_status lua_open(const tt_sweep_plan *plan, void **self, tt_error *error) {
  lua_driver *driver = calloc(1, sizeof *driver);
  if (!driver) return tt_fail(error, TT_NOMEM, "out of memory");
  driver->plan = plan;
  tt_error why;
  tt_status status = tt_control_new(plan->controller.text, &driver->control, &why);
  if (status != TT_OK) {
    lua_close(driver);
    return tt_fail(error, status, "%s: %s", plan->controller.where, why.text);
  }
  *self = driver;
  return TT_OK;
}

static tt_status lua_begin(void *self, tt_world *world, const tt_sweep_run *run, tt_error *error) {
  lua_driver *driver = self;
  tt_sweep_parameters_set(&driver->parameters, driver->plan, run);
  return tt_control_begin(driver->control, tt_world_sim(world), driver->parameters.list,
                          driver->parameters.count, run->seed, error);
}

static tt_status lua_tick(void *self, tt_error *error) {
  return tt_control_tick(((lua_driver *)self)->control, error);
}

static void lua_end(void *self, tt_sweep_row *row) {
  (void)self;
  (void)row; /* all that it said is in the row already */
}

const tt_sweep_driver_ops tt_sweep_lua_driver = {
    .open = lua_open, .close = lua_close, .begin = lua_begin, .tick = lua_tick, .end = lua_end};
