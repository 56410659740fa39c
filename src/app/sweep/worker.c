#include "app/sweep/worker.h"

#include "app/end_signals.h"
#include "app/sweep/frame.h"
#include "app/sweep/maker.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

const char *tt_sweep_log_path(const char *folder, const tt_sweep_run *run, char *path,
                              size_t size) {
  snprintf(path, size, "%s/%s.wpilog", folder, run->id);
  return path;
}

/* ---- the worker's side ---- */

/* False: the sweep wants no more, or is gone. */
static bool next_order(int orders, tt_sweep_order *order) {
  uint8_t *at = (uint8_t *)order;
  for (size_t done = 0; done < sizeof *order;) {
    ssize_t got = read(orders, at + done, sizeof *order - done);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got > 0) done += (size_t)got;
  }
  return true;
}

static bool answer(int answers, tt_bytes *frame) {
  const bool sent = !frame->failed && tt_file_write_all(answers, frame->data, frame->size);
  tt_bytes_free(frame);
  return sent;
}

static void work(const tt_sweep_plan *plan, const char *log_folder, int orders, int answers) {
  static tt_sweep_row row;
  static tt_sweep_run run;
  tt_sweep_maker *maker = NULL;
  tt_bytes frame = {0};
  tt_error error = {""};
  char log[PATH_MAX];
  bool goes_on = true;
  tt_status status = tt_sweep_maker_new(plan, &maker, &error);
  for (tt_sweep_order order; status == TT_OK && goes_on && next_order(orders, &order);) {
    const bool records = log_folder && order.records;
    tt_sweep_plan_run(plan, order.number, &run);
    if (records) unlink(tt_sweep_log_path(log_folder, &run, log, sizeof log));
    status = tt_sweep_make(maker, &run, records ? log : NULL, &row, &error);
    if (status != TT_OK) break;
    tt_sweep_frame_put_row(&frame, plan, &row);
    goes_on = answer(answers, &frame);
  }
  if (status != TT_OK) {
    tt_sweep_frame_put_end(&frame, status, &error);
    answer(answers, &frame);
  }
  tt_sweep_maker_free(maker);
}

/* The sweep decides when its workers end: a terminal's Ctrl-C, or its end, comes to all of them. A handler, since programs that a worker starts
 * would inherit that a signal is ignored. */
static void leave_it(int number) { (void)number; }

/* From here on the process has nothing of its parent's but memory, standard error, and its two pipes. */
static void become_worker(pid_t parent, int *orders, int *answers) {
  prctl(PR_SET_NAME, "tether-worker"); /* for ps and top */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0); /* it ended before */
  tt_end_signals_catch(leave_it, SA_RESTART);
  signal(SIGPIPE, SIG_IGN);
  int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  /* Up first, so that neither lands on the other. */
  int from = fcntl(*orders, F_DUPFD_CLOEXEC, 5), to = fcntl(*answers, F_DUPFD_CLOEXEC, 5);
  if (nothing < 0 || from < 0 || to < 0) _exit(3);
  *orders = dup3(from, 3, O_CLOEXEC);
  *answers = dup3(to, 4, O_CLOEXEC);
  if (*orders < 0 || *answers < 0 || close_range(5, ~0u, 0) != 0) _exit(3);
  tt_log_set_level(TT_LOG_ERROR);
}

/* ---- the sweep's side ---- */

static void close_pair(const int pipe[2]) {
  close(pipe[0]);
  close(pipe[1]);
}

tt_status tt_sweep_worker_start(const tt_sweep_plan *plan, const char *log_folder,
                                tt_sweep_worker *worker, tt_error *error) {
  int orders[2], answers[2];
  const pid_t parent = getpid();
  if (pipe2(orders, O_CLOEXEC) != 0)
    return tt_fail(error, TT_FAILED, "no pipe for a worker: %s", strerror(errno));
  if (pipe2(answers, O_CLOEXEC) != 0) {
    tt_fail(error, TT_FAILED, "no pipe for a worker: %s", strerror(errno));
    close_pair(orders);
    return TT_FAILED;
  }
  fflush(NULL);
  const pid_t process = fork();
  if (process == 0) {
    become_worker(parent, &orders[0], &answers[1]);
    work(plan, log_folder, orders[0], answers[1]);
    _exit(0);
  }
  if (process < 0) {
    tt_fail(error, TT_FAILED, "no process for a worker: %s; --jobs says how many there are",
            strerror(errno));
    close_pair(orders);
    close_pair(answers);
    return TT_FAILED;
  }
  close(orders[0]);
  close(answers[1]);
  fcntl(answers[0], F_SETFL, O_NONBLOCK);
  *worker = (tt_sweep_worker){process, orders[1], answers[0]};
  return TT_OK;
}
