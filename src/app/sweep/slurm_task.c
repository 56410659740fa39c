#include "app/sweep/slurm_task.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies a column without the spaces around it, and goes on behind it. */
static bool take_text(const char **line, size_t width, char *text, size_t size) {
  size_t length = strnlen(*line, width);
  const char *column = *line;
  *line += length;
  while (length && isspace((unsigned char)*column)) column++, length--;
  while (length && isspace((unsigned char)column[length - 1])) length--;
  if (!length || length >= size) return false;
  memcpy(text, column, length);
  text[length] = 0;
  return true;
}

static bool read_number(const char *text, uint32_t *number) {
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || errno || value > UINT32_MAX) return false;
  *number = (uint32_t)value;
  return true;
}

static bool take_number(const char **line, size_t width, uint32_t *number) {
  char text[20];
  return take_text(line, width, text, sizeof text) && read_number(text, number);
}

bool tt_slurm_task_read(const char *line, tt_slurm_task *task) {
  *task = (tt_slurm_task){.array = 0};
  return take_number(&line, 16, &task->array) && take_number(&line, 16, &task->number) &&
         take_text(&line, 16, task->state, sizeof task->state) &&
         take_number(&line, 16, &task->restarts) &&
         take_text(&line, 64, task->node, sizeof task->node) &&
         take_text(&line, 64, task->reason, sizeof task->reason);
}

bool tt_slurm_task_is_over(const tt_slurm_task *task) {
  static const char *const over[] = {"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",
                                     "FAILED",    "NODE_FAIL", "OUT_OF_MEMORY", "LAUNCH_FAILED",
                                     "PREEMPTED", "REVOKED",   "TIMEOUT"};
  for (size_t i = 0; i < sizeof over / sizeof *over; i++)
    if (strcmp(task->state, over[i]) == 0) return true;
  return false;
}

bool tt_slurm_array_text(bool (*wanted)(const void *context, uint32_t number), const void *context,
                         uint32_t count, char *text, size_t size) {
  size_t length = 0;
  *text = 0;
  for (uint32_t first = 1; first <= count; first++) {
    if (!wanted(context, first)) continue;
    uint32_t last = first;
    while (last < count && wanted(context, last + 1)) last++;
    int wrote = snprintf(text + length, size - length, last > first ? "%s%u-%u" : "%s%u",
                         length ? "," : "", first, last);
    if (wrote < 0 || (size_t)wrote >= size - length) return false;
    length += (size_t)wrote;
    first = last;
  }
  return true;
}

bool tt_slurm_setting_read(const char *line, const char *name, uint32_t *value) {
  size_t length = strlen(name);
  if (strncmp(line, name, length) != 0) return false;
  line += length;
  line += strspn(line, " \t");
  if (*line++ != '=') return false;
  return take_number(&line, 64, value);
}
