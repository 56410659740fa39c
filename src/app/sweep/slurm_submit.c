#include "app/sweep/slurm_submit.h"

#include "app/sweep/slurm_task.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/shell.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TASKS 1000u
/* A task of few runs costs more than they do. */
#define LEAST_CHUNK 10u
/* Of one word of a command line; the kernel takes 128 KiB. */
#define MOST_ARRAY_TEXT 100000u

tt_status tt_slurm_call(const char *const *words, tt_call *call, tt_error *error) {
  tt_status status = tt_call_start(words, "SQUEUE_", call, error);
  if (status != TT_NOT_FOUND) return status;
  return tt_fail(error, TT_FAILED,
                 "%s: there is no such program here: --slurm needs Slurm's commands (package "
                 "slurm-client); --shard works with other launchers",
                 words[0]);
}

/* What Slurm refuses, and what may help. */
static const char *remedy(const char *complaint) {
  static const struct {
    const char *part, *remedy;
  } known[] = {
      {"partition", "sinfo lists the partitions"},
      {"array", "a greater --chunk makes fewer tasks"},
      {"time", "--time takes minutes, or H:M:S; sinfo lists each partition's limit"},
      {"contact", "slurmctld has to run, and SLURM_CONF to name the cluster's file"},
      {"limit", "a greater --chunk makes fewer tasks, --array-limit runs fewer at a time"},
      {"account", "SBATCH_ACCOUNT names an account"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcasestr(complaint, known[i].part)) return known[i].remedy;
  return "other options of sbatch are given by its variables, such as SBATCH_ACCOUNT or "
         "SBATCH_MEM_PER_CPU";
}

static tt_status refused(const tt_call *call, tt_error *error) {
  char complaint[500];
  tt_call_complaint(call, complaint, sizeof complaint);
  return tt_fail(error, TT_FAILED, "%s; %s", *complaint ? complaint : "sbatch said nothing",
                 remedy(complaint));
}

/* How many tasks an array may have here. */
static tt_status ask_limit(uint32_t *most, tt_error *error) {
  const char *words[] = {"scontrol", "show", "config", NULL};
  char line[1000];
  tt_call call = {0};
  TT_TRY(tt_slurm_call(words, &call, error));
  tt_call_wait(&call);
  FILE *answer = call.exit == 0 ? tt_call_answer(&call) : NULL;
  tt_status status = answer ? TT_OK : refused(&call, error);
  uint32_t size = 1001; /* Slurm's own */
  while (answer && fgets(line, sizeof line, answer))
    if (tt_slurm_setting_read(line, "MaxArraySize", &size)) break;
  if (answer) fclose(answer);
  tt_call_end(&call);
  if (status == TT_OK && size < 2)
    return tt_fail(error, TT_FAILED,
                   "slurm: this cluster takes no arrays (MaxArraySize is %" PRIu32
                   "); --shard works with other launchers",
                   size);
  *most = size - 1; /* the greatest number of a task */
  return status;
}

static tt_status choose_count(tt_slurm_array *array, uint32_t most, tt_error *error) {
  uint64_t runs = tt_sweep_plan_runs(array->plan), chunk = (uint64_t)array->options->chunk;
  uint64_t least = (runs + most - 1) / most;
  if (chunk && chunk < least)
    return tt_fail(error, TT_FAILED,
                   "--chunk %" PRIu64 ": makes more than the %" PRIu32
                   " tasks that an array may have here (MaxArraySize); at least %" PRIu64,
                   chunk, most, least);
  if (!chunk) chunk = (runs + MOST_TASKS - 1) / MOST_TASKS;
  if (!array->options->chunk && chunk < LEAST_CHUNK) chunk = LEAST_CHUNK;
  if (chunk < least) chunk = least;
  array->count = (uint32_t)((runs + chunk - 1) / chunk);
  return TT_OK;
}

static void name_array(tt_slurm_array *array) {
  uint64_t hash =
      tt_hash_bytes(TT_HASH_START, array->plan->runs_identity, sizeof array->plan->runs_identity);
  hash = tt_hash_bytes(hash, array->plan->columns_identity, sizeof array->plan->columns_identity);
  hash = tt_hash_bytes(hash, array->folder, strlen(array->folder));
  snprintf(array->name, sizeof array->name, "tether-sweep-%016" PRIx64, hash);
}

static void write_quoted(FILE *script, const char *text) {
  fputc(' ', script);
  tt_shell_put_quoted(script, text);
}

static void write_script(FILE *script, const tt_slurm_array *array, const char *program) {
  fputs(
      "#!/bin/sh\n"
      "# A task of the array that `tether sweep --slurm` submits: one shard of a plan.\n"
      "for file in",
      script);
  write_quoted(script, program);
  write_quoted(script, array->plan->path);
  write_quoted(script, array->folder);
  fputs(
      "; do\n"
      "  [ -r \"$file\" ] && continue\n"
      "  echo \"$file: ${SLURMD_NODENAME:-this node} can't read it; it has to stand where every "
      "node finds it\"\n"
      "  exit 1\n"
      "done\n"
      "exec",
      script);
  write_quoted(script, program);
  fputs(" sweep", script);
  write_quoted(script, array->plan->path);
  fprintf(script, " --shard \"$SLURM_ARRAY_TASK_ID/%" PRIu32 "\" --jobs %d --shards", array->count,
          array->options->jobs);
  write_quoted(script, array->folder);
  for (const char *const *setting = array->options->settings; setting && *setting; setting++) {
    fputs(" --set", script);
    write_quoted(script, *setting);
  }
  fputs(" 2>&1\n", script);
}

static tt_status make_script(const tt_slurm_array *array, tt_error *error) {
  char program[PATH_MAX], path[PATH_MAX];
  if (strpbrk(array->folder, "%\\"))
    return tt_fail(error, TT_FAILED, "%s: Slurm takes no '%%' and no '\\' in the name of a folder",
                   array->folder);
  if (!tt_file_own(program))
    return tt_fail(error, TT_FAILED, "slurm: this program's own file can't be told");
  snprintf(path, sizeof path, "%.4080s/task.sh", array->folder);
  FILE *script = fopen(path, "we");
  if (!script) return tt_fail(error, TT_FAILED, "%s: can't be written: %s", path, strerror(errno));
  write_script(script, array, program);
  bool failed = ferror(script);
  if (fclose(script) != 0 || failed)
    return tt_fail(error, TT_FAILED, "%s: can't be written: %s", path, strerror(errno));
  return TT_OK;
}

tt_status tt_slurm_prepare(const tt_sweep_plan *plan, const tt_sweep_slurm_options *options,
                           tt_slurm_array *array, tt_error *error) {
  uint32_t most;
  *array = (tt_slurm_array){.plan = plan, .options = options};
  snprintf(array->folder, sizeof array->folder, "%s", options->folder);
  TT_TRY(ask_limit(&most, error));
  TT_TRY(choose_count(array, most, error));
  name_array(array);
  return make_script(array, error);
}

/* Which tasks; all of them where the list were too long: one whose rows are there ends at once. */
static void write_tasks(const tt_slurm_array *array,
                        bool (*wanted)(const void *context, uint32_t number), const void *context,
                        char *text, size_t size) {
  size_t length = (size_t)snprintf(text, size, "--array=");
  if (!tt_slurm_array_text(wanted, context, array->count, text + length, size - length - 20))
    snprintf(text + length, size - length, "1-%" PRIu32, array->count);
  length = strlen(text);
  if (array->options->array_limit)
    snprintf(text + length, size - length, "%%%d", array->options->array_limit);
}

static tt_status submit(const tt_slurm_array *array, const char *tasks, tt_error *error) {
  char name[80], cores[40], output[PATH_MAX + 40], partition[200], limit[100],
      script[PATH_MAX + 20], id[40] = "";
  snprintf(name, sizeof name, "--job-name=%s", array->name);
  snprintf(cores, sizeof cores, "--cpus-per-task=%d", array->options->jobs);
  snprintf(output, sizeof output, "--output=%s/task-%%a.log", array->folder);
  snprintf(script, sizeof script, "%s/task.sh", array->folder);
  const char *words[16] = {"sbatch",     "--parsable", "--requeue", "--open-mode=truncate",
                           "--ntasks=1", cores,        name,        output,
                           tasks};
  int count = 9;
  if (array->options->partition) {
    snprintf(partition, sizeof partition, "--partition=%s", array->options->partition);
    words[count++] = partition;
  }
  if (array->options->time) {
    snprintf(limit, sizeof limit, "--time=%s", array->options->time);
    words[count++] = limit;
  }
  words[count++] = script;
  tt_call call = {0};
  TT_TRY(tt_slurm_call(words, &call, error));
  tt_call_wait(&call);
  FILE *answer = call.exit == 0 ? tt_call_answer(&call) : NULL;
  bool taken = answer && fgets(id, sizeof id, answer);
  if (answer) fclose(answer);
  tt_status status = taken ? TT_OK : refused(&call, error);
  tt_call_end(&call);
  id[strspn(id, "0123456789")] = 0;
  if (taken)
    tt_print(stderr, "slurm: array %s is submitted; scancel %s ends it, squeue --job=%s shows it\n",
             id, id, id);
  return status;
}

tt_status tt_slurm_submit(const tt_slurm_array *array,
                          bool (*wanted)(const void *context, uint32_t number), const void *context,
                          tt_error *error) {
  char *tasks = malloc(MOST_ARRAY_TEXT);
  if (!tasks) return tt_fail(error, TT_NOMEM, "out of memory");
  write_tasks(array, wanted, context, tasks, MOST_ARRAY_TEXT);
  tt_status status = submit(array, tasks, error);
  free(tasks);
  return status;
}

void tt_slurm_cancel(const tt_slurm_array *array) {
  char name[80];
  tt_call call = {0};
  snprintf(name, sizeof name, "--name=%s", array->name);
  const char *words[] = {"scancel", "--me", "--quiet", name, NULL};
  tt_status status = tt_slurm_call(words, &call, NULL);
  if (status == TT_OK) tt_call_wait(&call);
  if (status != TT_OK || call.exit != 0)
    tt_log_warning("slurm: tasks may go on; scancel --me %s ends them", name);
  tt_call_end(&call);
}

void tt_slurm_last_words(const tt_slurm_array *array, uint32_t number, char *text, size_t size) {
  char path[PATH_MAX + 40], line[1000];
  *text = 0;
  snprintf(path, sizeof path, "%s/task-%" PRIu32 ".log", array->folder, number);
  FILE *log;
  if (tt_file_open(path, &log, NULL) != TT_OK) return;
  if (fseek(log, 0, SEEK_END) == 0 && ftell(log) > (long)sizeof line)
    fseek(log, -(long)sizeof line, SEEK_END);
  else
    rewind(log);
  for (bool own = false;
       fgets(line, sizeof line, log);) { /* what this program says of an error counts more */
    bool error = strncmp(line, "tether: ", 8) == 0;
    line[strcspn(line, "\n")] = 0;
    if (*line && (error || !own)) snprintf(text, size, "%s", line);
    own = own || error;
  }
  fclose(log);
}
