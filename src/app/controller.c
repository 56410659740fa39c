#include "app/controller.h"

#include "app/assemble.h"
#include "app/attach.h"
#include "core/text.h"
#include "record/section.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_SHOWN 20
#define LAST_WORDS_MS 500

/* The program on the wires, and who waits for its end. */
typedef struct controller {
  tt_world *world;
  pid_t process;
  pthread_t watcher;
} controller;

/* "lockstep-tcp" is TETHER_LOCKSTEP_TCP. */
static void announce_wires(const tt_world *world) {
  for (int i = 0; i < tt_world_wire_count(world); i++) {
    const tt_wire *wire = tt_world_wire_at(world, i);
    char name[160];
    snprintf(name, sizeof name, "TETHER_%s", wire->name);
    for (char *c = name; *c; c++)
      *c = (char)(isalnum((unsigned char)*c) ? toupper((unsigned char)*c) : '_');
    setenv(name, wire->ops->address(wire), 1);
  }
}

/* A lock-step world would wait for ever for a program that is gone. */
static void *watch(void *context) {
  controller *of = context;
  siginfo_t about;
  while (waitid(P_PID, (id_t)of->process, &about, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  tt_world_post(of->world, &(tt_mail){.kind = TT_MAIL_QUIT, .source = "verify"});
  return NULL;
}

static tt_status start(controller *of, const char *command, tt_error *error) {
  char *const arguments[] = {"sh", "-c", (char *)command, NULL};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP); /* so that it ends with its children */
  posix_spawnattr_setpgroup(&attributes, 0);
  int failed = posix_spawn(&of->process, "/bin/sh", NULL, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  if (failed)
    return tt_fail(error, TT_FAILED, "%s: can't be started: %s", command, strerror(failed));
  if (pthread_create(&of->watcher, NULL, watch, of) == 0) return TT_OK;
  kill(-of->process, SIGKILL);
  waitpid(of->process, NULL, 0);
  return tt_fail(error, TT_FAILED, "can't start a thread");
}

/* A program that saw the run through may say its last words; one that waits for more is told to end. */
static void stop(controller *of) {
  siginfo_t about = {.si_pid = 0};
  for (int i = 0; i < LAST_WORDS_MS && !about.si_pid; i++) {
    if (waitid(P_PID, (id_t)of->process, &about, WEXITED | WNOHANG | WNOWAIT) != 0) break;
    usleep(1000);
  }
  kill(-of->process, SIGTERM);
  pthread_join(of->watcher, NULL);
  waitpid(of->process, NULL, 0);
}

/* Runs the scene with the program; the scene's own settings say where its log goes. */
static tt_status run(const char *command, const tt_scene *scene, tt_error *error) {
  tt_assembly assembly = {.hash_every_tick = true};
  tt_scene_options options = {.scene = scene->path, .no_web = true};
  controller of = {0};
  void *recorder = NULL;
  TT_TRY(tt_assemble(scene, &assembly, &of.world, error));
  tt_run_reference kept = {.id = ""};
  tt_attach_context context = {
      .scene = scene, .options = &options, .world = of.world, .run = &kept, .unlisted = true};
  tt_status status = tt_record_attachment.open(&context, &recorder, error);
  announce_wires(of.world);
  if (status == TT_OK) status = start(&of, command, error);
  if (status == TT_OK) {
    status = tt_world_run(of.world, error);
    stop(&of);
  }
  tt_world_detach(of.world);
  if (recorder) tt_record_attachment.close(recorder);
  tt_world_free(of.world);
  return status;
}

static int largest_first(const void *a, const void *b) {
  const tt_deviation *left = a, *right = b;
  double x = left->first < 0 ? INFINITY : left->first,
         y = right->first < 0 ? INFINITY : right->first;
  return x < y ? -1 : x > y;
}

static tt_status report(tt_deviation *deviations, int count, tt_error *error) {
  int outside = 0;
  double worst = 0;
  const char *name = "";
  qsort(deviations, (size_t)count, sizeof *deviations, largest_first);
  for (int i = 0; i < count; i++) {
    const tt_deviation *of = &deviations[i];
    if (of->largest > worst) worst = of->largest, name = of->name;
    if (of->first < 0 || outside++ >= MOST_SHOWN) continue;
    if (of->missing)
      tt_print(stdout, "%s: missing\n", of->name);
    else
      tt_print(stdout, "%s: beyond %g from %.3f s on, by up to %g at %.3f s\n", of->name,
               of->tolerance, of->first, of->largest, of->at);
  }
  if (outside > MOST_SHOWN) tt_print(stdout, "and %d more\n", outside - MOST_SHOWN);
  if (outside)
    return tt_fail(error, TT_DIFFERS, "%d of %d signals leave their tolerance", outside, count);
  if (worst > 0)
    tt_print(stdout, "within tolerances: %d signals; the largest difference is %g, of %s\n", count,
             worst, name);
  else
    tt_print(stdout, "equal: %d signals\n", count);
  return TT_OK;
}

static tt_status compare(const tt_controller_check *check, const tt_run_log *kept, const char *path,
                         double tick, tt_error *error) {
  tt_run_log *made;
  tt_deviation *deviations = NULL;
  int count = 0;
  TT_TRY(tt_run_log_open(path, &made, error));
  tt_status status = tt_compare_runs(kept, made, check->tolerances, check->tolerance_count,
                                     &deviations, &count, error);
  double wanted = (double)tt_run_log_duration(kept) / 1e6;
  double lasted = (double)tt_run_log_duration(made) / 1e6;
  if (status == TT_OK && lasted < wanted - 1.5 * tick)
    status = tt_fail(error, TT_DIFFERS, "the program ended after %.3f of %.3f s", lasted, wanted);
  if (status == TT_OK) status = report(deviations, count, error);
  free(deviations);
  tt_run_log_close(made);
  return status;
}

tt_status tt_check_controller(const tt_controller_check *check, const tt_scene *scene,
                              const tt_run_log *kept, tt_error *error) {
  const tt_record_keys *record = tt_scene_section(scene, "record", NULL);
  double tick = (double)scene->io_steps * (double)scene->timestep_num / (double)scene->timestep_den;
  TT_TRY(run(check->command, scene, error));
  return compare(check, kept, record->file, tick, error);
}
