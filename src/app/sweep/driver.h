/* driver.h: who drives the robots of a run: nobody, a Lua file, a Python function, or a program on the wires. */
#ifndef TT_APP_SWEEP_DRIVER_H
#define TT_APP_SWEEP_DRIVER_H

#include "host/world.h"
#include "sweep/plan.h"

/** One kind of controller. The maker calls begin() with a world that stands at its start, tick() before each tick of the world, and
 *  end() after the last, also when the run failed; not where begin() did. All in one thread. */
typedef struct tt_sweep_driver_ops {
  /** What is wrong with the plan that only the driver knows, before anything is made by `jobs` processes. TT_INVALID. May be NULL. */
  tt_status (*check)(const tt_sweep_plan *plan, int jobs, tt_error *error);
  /** Once in a process. */
  tt_status (*open)(const tt_sweep_plan *plan, void **self, tt_error *error);
  void (*close)(void *self);
  /** TT_INVALID: the plan is wrong; TT_FAILED, TT_FULL: as tick(), and nothing is left of it. */
  tt_status (*begin)(void *self, tt_world *world, const tt_sweep_run *run, tt_error *error);
  /** Whoever lets the world wait sees to it that it goes on (TT_MAIL_QUIT) when nobody will answer any more; at the plan's timeout the maker does.
   *  TT_OK; TT_CLOSED: a program ended by itself with status 0, and the run is over; TT_FAILED: the controller failed; TT_FULL: at a limit. */
  tt_status (*tick)(void *self, tt_error *error);
  /** Adds a program's last words to the row's error. */
  void (*end)(void *self, tt_sweep_row *row);
  /** the world is made with its wires, anew for each run; settings() says where and how they are open */
  bool opens_wires;
  /** PATH=VALUE of the scene of every run, behind the plan's own, NULL-terminated: lock-step, free ports. The driver's, after open().
   *  May be NULL: none. */
  const char *const *(*settings)(void *self);
} tt_sweep_driver_ops;

/** By tt_sweep_controller_kind; NULL for TT_SWEEP_NO_CONTROLLER. Each stands in a file of its own. */
extern const tt_sweep_driver_ops tt_sweep_lua_driver, tt_sweep_policy_driver,
    tt_sweep_program_driver;

#endif
