/* compile_model.c: the program compile-model, which a simulation starts to have its models read and compiled; see
 * compiler.h. It is not for people. */
#include "base/log.h"
#include "engine/mujoco/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char EMPTY_ARENA[] =
    "<mujoco model=\"floor\"><asset>"
    "<texture name=\"floor\" type=\"2d\" builtin=\"checker\" rgb1=\".55 .55 .55\" "
    "rgb2=\".6 .6 .6\" width=\"64\" height=\"64\"/>"
    "<material name=\"floor\" texture=\"floor\" texrepeat=\"20 20\"/></asset>"
    "<worldbody><light pos=\"0 0 5\"/>"
    "<geom name=\"floor\" type=\"plane\" size=\"20 20 0.1\" material=\"floor\"/>"
    "</worldbody></mujoco>";

/* Sanitizers end a program that asks for more memory than there is; here they answer as other allocators do. */
/* NOLINTBEGIN(bugprone-reserved-identifier): names that they look for */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }
/* NOLINTEND(bugprone-reserved-identifier) */

static compiler_report *report;

/* The caller may not be able to ask the kernel what became of its child. The signal's default is set when this is called,
 * not here: where a library of the program's was interrupted that holds locks, the second signal has to end it. */
static void on_crash(int number) {
  report->signal = number;
  raise(number);
}

/* A model that is nested too deeply leaves no stack to run a handler on. */
static void tell_crashes(void) {
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGXFSZ};
  static char stack[1 << 16];
  struct sigaction action = {.sa_handler = on_crash,
                             .sa_flags = SA_ONSTACK | SA_NODEFER | (int)SA_RESETHAND};
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
    sigaction(crashes[i], &action, NULL);
}

static tt_status load_arena(physics_workshop *shop, const char *file, physics_submodel *submodel,
                            tt_error *error) {
  if (file) return physics_submodel_load(shop, file, NULL, submodel, error);
  char path[TT_PATH_SIZE];
  physics_workshop_path(shop, ".xml", path);
  FILE *f = fopen(path, "w");
  bool written = f && fputs(EMPTY_ARENA, f) >= 0;
  if (f && fclose(f) != 0) written = false;
  if (!written) return tt_fail(error, TT_FAILED, "%s: cannot be written", path);
  return physics_submodel_load(shop, path, NULL, submodel, error);
}

/* What the simulation will do with the model at its start, tried where it may fail. */
static void try_model(void *context) {
  const mjModel *m = context;
  physics_start *start = NULL;
  mjData *data = physics_start_new(m, &start) == TT_OK ? physics_own_data(start) : NULL;
  if (!data) mju_error("out of memory");
  mj_forward(m, data);
  physics_own_data_free(data, start);
  physics_start_free(start);
}

static tt_status compile(const tt_engine_spec *spec, const char *folder, tt_error *error) {
  physics_workshop shop = {.search_path = spec->search_path, .at = report->at};
  char path[32], fatal[512];
  mjModel *model;
  physics_submodel *submodels = physics_submodels_new(spec);
  if (!submodels) return TT_NOMEM;
  snprintf(shop.scratch.folder, sizeof shop.scratch.folder, "%s", folder);
  snprintf(path, sizeof path, "/proc/self/fd/%d", COMPILER_MODEL);
  TT_TRY(load_arena(&shop, spec->arena_file, &submodels[0], error));
  for (int i = 0; i < spec->robot_count; i++)
    TT_TRY(physics_submodel_load(&shop, spec->robots[i].model_file, &spec->robots[i],
                                 &submodels[i + 1], error));
  TT_TRY(physics_compose(&shop, spec, submodels, &model, error));
  if (!physics_guard(try_model, model, fatal, sizeof fatal))
    return tt_fail(error, TT_INVALID, "%s: compiles, but cannot run: %s", shop.at, fatal);
  mj_saveModel(model, path, NULL, 0);
  return TT_OK;
}

static void *map(int file, size_t size) {
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? NULL : at;
}

int main(void) {
  tt_engine_spec spec;
  const char *folder;
  struct stat request = {0}, shared = {0};
  bool asked = fstat(COMPILER_REQUEST, &request) == 0 && fstat(COMPILER_REPORT, &shared) == 0 &&
               S_ISREG(request.st_mode) && S_ISREG(shared.st_mode) && request.st_size > 0 &&
               shared.st_size == sizeof *report;
  void *bytes = asked ? map(COMPILER_REQUEST, (size_t)request.st_size) : NULL;
  report = asked ? map(COMPILER_REPORT, sizeof *report) : NULL;
  if (!bytes || !report) {
    tt_log_error("compile-model: it is started by Tether, which says what to compile");
    return 2;
  }
  snprintf(report->version, sizeof report->version, "%s", compiler_version());
  if (compiler_read_request(bytes, (size_t)request.st_size, &spec, &folder) != TT_OK) return 1;
  tell_crashes();
  physics_confine_self(folder);
  physics_hooks_install();
  report->status = (int32_t)compile(&spec, folder, &report->error);
  report->done = 1;
  _exit(0); /* what was allocated goes with the process */
}
