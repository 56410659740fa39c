/* bench_driver.h: the same plain controller for every bench that steps a world: it keeps what it knows moving. */
#ifndef TT_APP_BENCH_DRIVER_H
#define TT_APP_BENCH_DRIVER_H

#include "host/world.h"

/** A feed of commands, a function of the world's view alone. */
typedef struct tt_bench_driver tt_bench_driver;

/** Robots with tracks drive a slalom with the arm held level; other robots swing their first joint and hold the rest,
 *  as clients/c/lockstep_tcp.c does. Idle: nobody is told anything. */
tt_status tt_bench_driver_new(tt_world *world, uint64_t io_steps, bool idle,
                              tt_bench_driver **driver, tt_error *error);
void tt_bench_driver_free(tt_bench_driver *driver);
/** While `torques` is not NULL, the torque of every axis is written there, [steps][axis_count], a step late: the last
 *  one is for the caller to add. */
void tt_bench_driver_record(tt_bench_driver *driver, double *torques);
/** Writes the torques of the step just made. */
void tt_bench_driver_keep_torques(tt_bench_driver *driver);

#endif
