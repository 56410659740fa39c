#include "web/run_job.h"

bool tt_run_job_find(const tt_run_job *job, tt_kept_run *run, tt_web_answer *answer) {
  bool found = tt_kept_run_find(job->runs, job->question.id, run);
  if (!found) tt_web_answer_error(answer, TT_NOT_FOUND, "there is no such run");
  return found;
}

tt_history *tt_run_job_history(const tt_run_job *job, tt_web_answer *answer) {
  tt_kept_run run;
  tt_history *history = NULL;
  if (tt_run_job_find(job, &run, answer))
    answer->status = tt_histories_take(job->histories, run.path, &history, &answer->error);
  tt_kept_run_clear(&run);
  return history;
}

tt_run_log *tt_run_job_log(const tt_run_job *job, tt_web_answer *answer) {
  tt_kept_run run;
  tt_run_log *log = NULL;
  if (tt_run_job_find(job, &run, answer))
    answer->status = tt_run_log_open(run.path, &log, &answer->error);
  tt_kept_run_clear(&run);
  return log;
}
