/* web_process.h: the pages of `tether sweep --web`, in a process of their own: the sweep has one thread, since it forks its workers. */
#ifndef TT_APP_SWEEP_WEB_PROCESS_H
#define TT_APP_SWEEP_WEB_PROCESS_H

#include "base/status.h"

#include <sys/types.h>

typedef struct tt_sweep_web_process {
  pid_t process;     /**< 0: none */
  char address[256]; /**< "http://127.0.0.1:8080" */
} tt_sweep_web_process;

/** Starts it, as tt_sweep_web_open() would here, before anything is open that it should not have. It ends with this process, however that ends. */
tt_status tt_sweep_web_process_start(const char *address, tt_sweep_web_process *web,
                                     tt_error *error);
/** Ends it. Nothing for none. */
void tt_sweep_web_process_stop(tt_sweep_web_process *web);

#endif
