/* store.c: `tether store`: what collectors put into a log goes into a store; any number of these share the work. */
#include "app/commands/command.h"
#include "app/program_config.h"
#include "app/telemetry/serving.h"
#include "base/log.h"
#include "base/text.h"
#include "telemetry/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 200

typedef struct store_job {
  const char *log, *store, *name, *replay, *listen; /**< NULL: not given */
} store_job;

/** An empty one would be none, and what it has stored would be remembered nowhere. */
static tt_status check_name(const char *name, tt_error *error) {
  const size_t size = strlen(name);
  bool fits = size && size <= LONGEST_NAME && tt_text_is_utf8(name, size);
  for (size_t i = 0; i < size; i++)
    fits = fits && (unsigned char)name[i] > ' ' && name[i] != 0x7f && !strchr(".*>/\\", name[i]);
  return fits ? TT_OK
              : tt_fail(error, TT_USAGE,
                        "--name '%.80s': a name has 1 to %d bytes, without spaces and . * > / \\; "
                        "left out, it is store",
                        name, LONGEST_NAME);
}

static tt_status open_log(void *context, tt_store_log **log, tt_error *error) {
  const store_job *job = context;
  const tt_store_backend *backend;
  TT_TRY(tt_store_backend_of(job->store, &backend, error));
  tt_store_log_options options = {.url = job->log,
                                  .name = job->name ? job->name : "store",
                                  .replay = INT64_MAX,
                                  .portion = backend->portion};
  if (job->replay && tt_table_time_parse("--replay", job->replay, tt_collector_now(),
                                         &options.replay, error) != TT_OK)
    return TT_USAGE;
  TT_TRY(tt_store_backend_of(job->log, &backend, error));
  if (!(backend->abilities & TT_STORE_FORWARDS))
    return tt_fail(error, TT_INVALID,
                   "--log %s: this is no log; docs/fleet.md says which there are", job->log);
  return backend->open_log(&options, log, error);
}

static void say_ready(void *context, tt_telemetry *telemetry, const char *web) {
  const store_job *job = context;
  (void)telemetry;
  char log[1200], store[1200];
  tt_store_print_url(job->log, log, sizeof log);
  tt_store_print_url(job->store, store, sizeof store);
  tt_print(stderr, "ready log=%s store=%s%s%s\n", log, store, web ? " web=" : "", web ? web : "");
}

static void say_end(void *context, const tt_collector_stats *stats) {
  (void)context;
  tt_log_info("store: %" PRIu64 " values stored", stats->stored_values);
}

static tt_status set_keys(store_job *job, tt_serving_keys *keys, const char *path,
                          tt_error *error) {
  TT_TRY(tt_serving_check(keys, path, error));
  if (job->store) TT_TRY(tt_serving_set_store(keys, job->store, error));
  job->store = keys->telemetry->store;
  if (!job->log || !job->store)
    return tt_fail(error, TT_USAGE, "store takes --log URL and --store URL");
  if (keys->telemetry->listen || keys->telemetry->nats)
    return tt_fail(error, TT_INVALID,
                   "%s: telemetry.%s: devices send to `tether collect --log %s`; leave it out",
                   path, keys->telemetry->listen ? "listen" : "nats", job->log);
  if (!job->listen) return TT_OK;
  free(keys->web->listen);
  keys->web->listen = NULL;
  return tt_default_string(&keys->web->listen, job->listen, error);
}

static tt_status serve(store_job *job, tt_serving_keys *keys, const char *path, tt_error *error) {
  TT_TRY(set_keys(job, keys, path, error));
  const tt_serving serving = {.keys = keys,
                              .pages = keys->web->listen,
                              .open_log = open_log,
                              .say_ready = say_ready,
                              .say_end = say_end,
                              .context = job};
  return tt_serve(&serving, error);
}

static tt_status run(int argc, char **argv, tt_error *error) {
  store_job job = {.log = NULL};
  const tt_program_option options[] = {{"--log", &job.log},       {"--store", &job.store},
                                       {"--name", &job.name},     {"--replay", &job.replay},
                                       {"--listen", &job.listen}, {NULL, NULL}};
  tt_program_config file;
  TT_TRY(tt_program_config_load(argc, argv, options, &tt_serving_schema, NULL, &file, error));
  tt_status status = job.name ? check_name(job.name, error) : TT_OK;
  if (status == TT_OK) status = serve(&job, file.keys, file.path, error);
  if (status != TT_OK) tt_program_config_explain(&file, error);
  tt_program_config_free(&file);
  return status;
}

const tt_app_command tt_app_store = {
    .name = "store",
    .usage =
        "[CONFIG] --log URL --store URL [--name NAME] [--replay FROM] [--listen ADDRESS] "
        "[--set PATH=VALUE]…",
    .summary = "Stores what collectors put into a log; any number of these share the work",
    .help =
        "  CONFIG           a YAML file with the sections telemetry and web, as `tether collect` "
        "has them\n"
        "  --log URL        nats://HOST[,HOST…][/STREAM], as `tether collect --log` has it\n"
        "  --store URL      of a store, as `tether collect --store` has it\n"
        "  --name NAME      who have the same name share the work; each name gets all; default: "
        "store\n"
        "  --replay FROM    begins with what came since then (ISO 8601, or '-1 h'): for a NAME "
        "that is new\n"
        "  --listen ADDRESS pages, tables and /metrics of the store, for example 127.0.0.1:8081; "
        "default: none\n"
        "  --set PATH=VALUE change a key, for example --set web.max_connections=64\n",
    .run = run,
};
