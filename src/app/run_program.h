/* run_program.h: what app/program.c and `run-program`, in whose care a user's program runs, say to each other.
 *
 * run-program MEMORY PROCESSES COMMAND, with a stream socket as its descriptor 3. It runs COMMAND by /bin/sh. Its parent writes a byte to
 * have the program end (SIGTERM, and SIGKILL a little later); the end of the socket, which the parent's own end brings, too, has it killed
 * at once. When nothing of it is left, run-program writes one run_program_report and ends.
 */
#ifndef TT_APP_RUN_PROGRAM_H
#define TT_APP_RUN_PROGRAM_H

#include <stdint.h>

#define RUN_PROGRAM_SOCKET 3

/** How it ended. */
typedef enum run_program_end {
  RUN_PROGRAM_EXITED,    /**< `number`: its status */
  RUN_PROGRAM_KILLED,    /**< `number`: the signal, or 0 where its parent had it end */
  RUN_PROGRAM_MEMORY,    /**< all of its processes together used more than MEMORY bytes */
  RUN_PROGRAM_PROCESSES, /**< it had more than PROCESSES processes */
  RUN_PROGRAM_FAILED     /**< it was not started; `number`: errno */
} run_program_end;

/** The last message; plain data. */
typedef struct run_program_report {
  int32_t end, number;
} run_program_report;

#endif
