/* program.h: a user's program that drives a world over its wires: how it is told where they are, what it may take, and its end.
 *
 * It runs in the care of a small program beside Tether (run_program.c), and so everything that came of it, daemons included, ends with
 * it, and it ends with this process, whatever kills that.
 */
#ifndef TT_APP_PROGRAM_H
#define TT_APP_PROGRAM_H

#include "host/world.h"

#define TT_PROGRAM_VARIABLE 200 /**< bytes of a variable's name */

typedef struct tt_program tt_program;

/** How it stands with it. */
typedef enum tt_program_state {
  TT_PROGRAM_RUNS,
  TT_PROGRAM_EXITED,      /**< by itself; `number` is its status */
  TT_PROGRAM_KILLED,      /**< by signal `number`, or because it was told to end */
  TT_PROGRAM_OUT_OF_TIME, /**< all that follow: it was killed for it */
  TT_PROGRAM_TOO_LOUD,
  TT_PROGRAM_TOO_LARGE,
  TT_PROGRAM_TOO_MANY, /**< processes */
  TT_PROGRAM_LOST /**< who looked after it is gone, or could not start it: `number` is errno, or 0 */
} tt_program_state;

/** What it came to. */
typedef struct tt_program_end {
  tt_program_state state;
  int number;
} tt_program_end;

/** What it is given. Nothing is kept but `ended` and its context. */
typedef struct tt_program_options {
  const char *command; /**< for /bin/sh */
  const char *folder;  /**< it runs in; NULL: this process' */
  /** NAME=VALUE besides this process' own, NULL-terminated; or NULL */
  const char *const *environment;
  bool is_heard; /**< it reads nothing, and what it prints is kept; else it has this process' own */
  double memory; /**< bytes of all its processes together; 0: any */
  double output; /**< bytes that it may print; 0: any; with is_heard */
  double patience; /**< s of wall clock; 0: any */
  int processes;   /**< that it may have at a time; 0: any */
  void (*ended)(
      void *context,
      tt_program_end end); /**< in a thread of its own, once, as soon as it is known; may be NULL */
  void *context;
} tt_program_options;

/** Starts it. TT_FAILED: the machine refused. */
tt_status tt_program_start(const tt_program_options *options, tt_program **program,
                           tt_error *error);
/** Any thread. */
tt_program_end tt_program_state_of(const tt_program *program);
/** Gives it `grace` s to end by itself, has it end, and waits until nothing of it is left; it can take 0.2 s more. What it printed last
 *  is in tt_program_words() then. NULL-safe. */
void tt_program_stop(tt_program *program, double grace);
/** After tt_program_stop(): the end of what it printed, safe to show, with " | " between lines. */
const char *tt_program_words(const tt_program *program);
/** After tt_program_stop(). NULL-safe. */
void tt_program_free(tt_program *program);

/** The variable in which a program finds `name`, of a wire or an axis, with `suffix` behind it: "lockstep-tcp" is TETHER_LOCKSTEP_TCP.
 *  Gives `variable`. */
const char *tt_program_variable(const char *name, const char *suffix,
                                char variable[TT_PROGRAM_VARIABLE]);
/** NAME=VALUE of every wire's address, and room for `more` others before the closing NULL. The caller's: tt_program_environment_free().
 *  NULL: out of memory. */
char **tt_program_environment(const tt_world *world, int more);
/** Adds NAME=VALUE before the NULL; there has to be room. False: out of memory. */
bool tt_program_environment_add(char **environment, const char *variable, const char *value);
void tt_program_environment_free(char **environment);

#endif
