/* Whatever Slurm's commands say: a task is taken whole or refused, and its texts end. */
#include "app/sweep/slurm_task.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_slurm_task task;
  uint32_t value;
  char *line = malloc(size + 1);
  if (!line) return 0;
  memcpy(line, data, size);
  line[size] = 0;
  if (tt_slurm_task_read(line, &task) &&
      (!*task.state || strlen(task.state) >= sizeof task.state ||
       strlen(task.node) >= sizeof task.node || strlen(task.reason) >= sizeof task.reason))
    abort();
  tt_slurm_setting_read(line, "MaxArraySize", &value);
  free(line);
  return 0;
}
