#include "app/controller.h"

#include "app/assemble.h"
#include "app/attach/attach.h"
#include "app/comparison.h"
#include "app/versions.h"
#include "base/text.h"
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

/* Where what computed the kept run is another by now, its world differs whatever the program does. */
static void name_versions(const tt_run_log *kept, tt_error *error) {
  char versions[400], differs[sizeof error->text];
  if (!tt_versions_differ(kept, versions, sizeof versions)) return;
  snprintf(differs, sizeof differs, "%s", error->text);
  tt_fail(error, TT_DIFFERS, "%.600s; that may be for another reason than the program: %s", differs,
          versions);
}

static tt_status compare(const tt_controller_check *check, const tt_run_log *kept, const char *path,
                         double tick, tt_error *error) {
  tt_run_log *made;
  TT_TRY(tt_run_log_open(path, &made, error));
  double wanted = (double)tt_run_log_duration(kept) / 1e6;
  double lasted = (double)tt_run_log_duration(made) / 1e6;
  tt_status status =
      lasted < wanted - 1.5 * tick
          ? tt_fail(error, TT_DIFFERS, "the program ended after %.3f of %.3f s", lasted, wanted)
          : tt_comparison_say(kept, made, check->tolerances, check->tolerance_count, error);
  tt_run_log_close(made);
  if (status == TT_DIFFERS) name_versions(kept, error);
  return status;
}

tt_status tt_check_controller(const tt_controller_check *check, const tt_scene *scene,
                              const tt_run_log *kept, tt_error *error) {
  const tt_record_keys *record = tt_scene_section(scene, "record", NULL);
  double tick = (double)scene->io_steps * (double)scene->timestep_num / (double)scene->timestep_den;
  TT_TRY(run(check->command, scene, error));
  return compare(check, kept, record->file, tick, error);
}
