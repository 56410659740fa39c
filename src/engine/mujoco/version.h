/* version.h: what decides the bits of a step besides its inputs. A run's log keeps it, so that `tether verify` can say
 * why another program computes another run. */
#ifndef TT_ENGINE_MUJOCO_VERSION_H
#define TT_ENGINE_MUJOCO_VERSION_H

/** Raise it with every change of what a step computes from the same state and inputs, or of what tt_world_hash() covers:
 *  in physics, in motors and other parts, in the order of a tick, in a shipped scene's model. Not for new keys whose
 *  default leaves the bits alone. Write what changed into CHANGELOG.md, and make the hashes of
 *  tests/reference_hashes.txt anew (its head says how).
 *
 *  1: the first that is counted. Logs from before say none.
 *  2: stops are as hard as the timestep allows; bodies without mass have their centre where their frame is; sharp stands
 *     level; a URDF's effort and velocity hold.
 *  3: a URDF's mimicking joints follow; a motor's voltage is its battery's.
 *  4: joints that mimic others begin where they are held, and touch the servos of their own trees alone; a robot's reset
 *     begins the rest of awake pieces anew; with physics: off, parts of a rotation that nobody commanded are 0. */
#define TT_PHYSICS_VERSION 4

/** Libraries and processor whose last bits may differ. Static texts. */
typedef struct tt_platform {
  const char *mujoco; /**< "2.2.2": of the library in use */
  /** "2.36": of the C library in use, whose functions of mathematics are meant. */
  const char *libc;
  const char *cpu; /**< "x86_64+fma": those functions choose their instructions by the processor */
} tt_platform;
/** Of this process. Any thread. */
tt_platform tt_platform_get(void);

#endif
