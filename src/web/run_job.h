/* run_job.h: a request for kept runs, scenes, trials or layouts on its way in a thread of its own, and how it is answered. */
#ifndef TT_WEB_RUN_JOB_H
#define TT_WEB_RUN_JOB_H

#include "record/run_folder.h"
#include "record/run_log.h"
#include "web/histories.h"
#include "web/question.h"

typedef struct tt_run_job {
  struct tt_run_routes *routes;
  const char *runs;         /**< the folder of kept runs, the routes' */
  tt_histories *histories;  /**< the routes' */
  tt_web_question question; /**< of a path below a run, whose id is the run's */
} tt_run_job;

/** The kept run that the job is about; false after answering that there is none. tt_kept_run_clear() it in any case. */
bool tt_run_job_find(const tt_run_job *job, tt_kept_run *run, tt_web_answer *answer);
/** The same to look into; NULL after answering why not. tt_history_give() it. */
tt_history *tt_run_job_history(const tt_run_job *job, tt_web_answer *answer);
/** Its log, the caller's to tt_run_log_close(); NULL after answering why not. */
tt_run_log *tt_run_job_log(const tt_run_job *job, tt_web_answer *answer);

#endif
