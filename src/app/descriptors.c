#include "app/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NEEDED 64   /* a scene with pages, a store and some clients takes about 40 */
#define USEFUL 4096 /* as many clients as every limit together lets in */

void tt_fill_standard_files(void) {
  int opened = open("/dev/null", O_RDWR);
  while (opened >= 0 && opened <= STDERR_FILENO) opened = open("/dev/null", O_RDWR);
  if (opened >= 0) close(opened);
}

tt_status tt_need_descriptors(tt_error *error) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return TT_OK;
  if (limit.rlim_cur < USEFUL && limit.rlim_cur < limit.rlim_max) {
    struct rlimit raised = {limit.rlim_max < USEFUL ? limit.rlim_max : USEFUL, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  if (limit.rlim_cur >= NEEDED) return TT_OK;
  return tt_fail(error, TT_FAILED,
                 "this process may open %llu files at once, and %d are needed: raise the limit, "
                 "for example with 'ulimit -n 1024'",
                 (unsigned long long)limit.rlim_cur, NEEDED);
}

tt_status tt_flush_output(tt_error *error) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return TT_OK;
  return tt_fail(error, TT_FAILED, "standard output: can't write: %s",
                 errno ? strerror(errno) : "some of it was lost");
}
