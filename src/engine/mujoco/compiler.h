/* compiler.h: what a simulation and `compile-model` say to each other.
 *
 * Model files come from anywhere, and what reads them was not made for hostile ones. So a program of its own does: it is
 * started with nothing of our environment and no open file of ours but those below, gives up what it doesn't need (confine.c), reads
 * the files and leaves the compiled model. Whatever becomes of it, the caller goes on with a model or an error. Both are of
 * one version of Tether.
 */
#ifndef TT_ENGINE_MUJOCO_COMPILER_H
#define TT_ENGINE_MUJOCO_COMPILER_H

#include "base/bytes.h"
#include "engine/mujoco/physics_internal.h"

#define COMPILER_SECONDS 10 /* of processor time */

/** The files that it has. Its standard output and error go to the caller's log, line by line. */
enum {
  COMPILER_REQUEST, /**< a tt_engine_spec, as below */
  COMPILER_OUTPUT,
  COMPILER_ERRORS,
  COMPILER_REPORT, /**< memory that both share: a compiler_report */
  COMPILER_MODEL,  /**< empty; the compiled model, as mj_saveModel() writes it */
  COMPILER_FILES
};

/** What the program tells; of a dead one, as far as it came. */
typedef struct compiler_report {
  char version[64]; /**< compiler_version(), once it has begun */
  int32_t done;     /**< 1: status and error hold */
  int32_t signal;   /**< that ended it */
  int32_t status;
  tt_error error;
  char at[TT_PATH_SIZE]; /**< the file that it is at */
} compiler_report;

/** Both must be of the same. Static. */
const char *compiler_version(void);

/** A request in bytes, which the caller frees; NULL when out of memory. `folder`: the only one where it may write. */
void *compiler_request(const tt_engine_spec *spec, const char *folder, size_t *size);
/** Reads one. `spec` and `folder` point into it and into memory that stays until the program's end. TT_INVALID: it is none
 *  of this version. */
tt_status compiler_read_request(void *bytes, size_t size, tt_engine_spec *spec,
                                const char **folder);

/** In the program: from here on it can do little else, and write in `folder` only. */
void physics_confine_self(const char *folder);

/* --- for the caller --- */

/** Has compile-model write the compiled model to the open file `model`; blocks until then. Its lines go to the log, and to `said`,
 *  each with its end. TT_INVALID with file and reason
 *  for a model that is wrong, or breaks it; TT_FAILED where the program can't be started, or is no compile-model. */
tt_status physics_compile_apart(const tt_engine_spec *spec, const char *folder, int model,
                                tt_bytes *said, tt_error *error);
/** Hands a line of compile-model's to the log. */
void compiler_say(const char *line);
/** The program's path, as far as it is known. Static. */
const char *physics_compiler(void);
/** s, of the wall clock, for a program that sleeps; tests shorten it. */
extern double physics_compiler_patience;

#endif
