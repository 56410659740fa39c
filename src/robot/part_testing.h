/* part_testing.h: a bench on which tests put parts, in a world with the real physics. Everything that fails fails the test. */
#ifndef TT_ROBOT_PART_TESTING_H
#define TT_ROBOT_PART_TESTING_H

#include "host/world.h"

#include <cyaml/cyaml.h>

#define BENCH_PI 3.14159265358979323846
/** rad/s. */
#define BENCH_RPM (BENCH_PI / 30)
#define BENCH_PARTS 8
/** s. */
#define BENCH_TIMESTEP (1.0 / 1000)
#define BENCH_IO_STEPS 10

/** Two CIMs with two gears on a flywheel; N·m and rad/s of the first gear at 12 V. */
#define BENCH_TRACK                                                                                \
  "{name: track, joint: flywheel, model: cim, count: 2, gears: [12.75, 5], efficiency: 0.9}"
#define BENCH_STALL (2.42 * 2 * 12.75 * 0.9)
#define BENCH_FREE (5310 * BENCH_RPM / 12.75)
/** A gyro of the bench's turntable. */
#define BENCH_DRIFTING "{name: heading, body: turntable, bias: 0.01 rad/s, noise: 0.1 rad/s}"

/** A part as its robot file would say it. */
typedef struct bench_part {
  const char *kind, *yaml;
} bench_part;

/** Parts in their world, which is stepped by hand. */
typedef struct bench {
  void *configs[BENCH_PARTS];
  cyaml_schema_value_t schemas[BENCH_PARTS];
  tt_world *world;
  int count;
} bench;

/** A world of testdata/rig.xml with these parts; not set up, it has no world, and is torn down all the same. */
tt_status bench_try(bench *made, const bench_part *parts, int count, tt_error *error);
void bench_set_up(bench *made, const bench_part *parts, int count);
void bench_tear_down(bench *made);

/** The signal's present value, SI. */
double bench_value(const bench *on, const char *name);
void bench_command(const bench *on, const char *name, double value);
/** `seconds` of simulated time. */
void bench_run(const bench *on, double seconds);
/** `part`: of what is expected. */
void bench_assert_near(double value, double expected, double part);

#endif
