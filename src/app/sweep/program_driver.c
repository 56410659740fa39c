/* program_driver.c: a program on the scene's wires: every one in lock-step on a free port, which the program finds in its environment. */
#include "app/guests.h"
#include "app/program.h"
#include "app/sweep/driver.h"
#include "app/sweep/free_port.h"
#include "app/sweep/network.h"
#include "base/log.h"
#include "base/shell.h"
#include "host/scene_wires.h"
#include "scene/scene.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_PROCESSES 256        /* that a program may have at a time */
#define LONGEST_DEADLINE "3600 s" /* of a wire: it is the plan's timeout that ends the wait */
#define FIRST_LOOK_NS 100000      /* whether the program is at its port */
#define LONGEST_LOOK_NS 5000000

/* Where the program has to be. */
typedef struct peer {
  char variable[TT_PROGRAM_VARIABLE], address[64];
  bool tcp;
  int port, lock; /* −1: none */
} peer;

typedef struct driver {
  const tt_sweep_plan *plan;
  char **settings; /* PATH=VALUE, NULL-terminated */
  int setting_count;
  peer *peers;
  int peer_count;
  tt_program *program;
  tt_world *world;
} driver;

/* --- what is set of the scene --- */

static tt_status set(driver *of, int wire, const char *setting, const char *value,
                     tt_error *error) {
  char *text;
  char **more = realloc(of->settings, ((size_t)of->setting_count + 2) * sizeof *more);
  if (more) of->settings = more;
  if (!more || (wire < 0 ? asprintf(&text, "%s%s", setting, value)
                         : asprintf(&text, "wires[%d].%s%s", wire, setting, value)) < 0)
    return tt_fail(error, TT_NOMEM, "out of memory");
  more[of->setting_count++] = text;
  more[of->setting_count] = NULL;
  return TT_OK;
}

/* Behind the last ':' of an address; −1: it has none. */
static int port_of(const char *address) {
  const char *colon = strrchr(address, ':');
  return colon ? atoi(colon + 1) : -1;
}

/* The wire and its program find each other at a port that nobody else takes, or at the scene's own. */
static tt_status place_peer(driver *of, int wire, const char *name, const tt_wire_apart *apart,
                            tt_error *error) {
  peer *new = &of->peers[of->peer_count];
  *new = (peer){.tcp = apart->peer_listens, .port = port_of(apart->peer_at), .lock = -1};
  tt_program_variable(name, "_PEER", new->variable);
  snprintf(new->address, sizeof new->address, "%s", apart->peer_at);
  of->peer_count++;
  if (of->plan->controller.fixed_ports) return TT_OK;
  TT_TRY(tt_free_port_take(new->tcp, &new->port, &new->lock, error));
  snprintf(new->address, sizeof new->address, "127.0.0.1:%d", new->port);
  char key[64];
  snprintf(key, sizeof key, "%s=", apart->peer);
  return set(of, wire, key, new->address, error);
}

static tt_status place_wire(driver *of, int index, const tt_scene_wire *wire, tt_error *error) {
  tt_wire_apart apart = {0};
  if (!wire->schema->apart)
    return tt_fail(
        error, TT_INVALID,
        "%s: nothing in the protocol %s lets the simulation wait for a program, so its runs would "
        "differ; leave the wire out, or give another, such as halsim-step",
        wire->where, wire->schema->key);
  wire->schema->apart(wire->config, &apart);
  TT_TRY(set(of, index, "late=", "wait", error));
  for (int i = 0; apart.others[i]; i++) TT_TRY(set(of, index, apart.others[i], "", error));
  TT_TRY(set(of, index, "deadline=", LONGEST_DEADLINE, error));
  if (apart.peer) TT_TRY(place_peer(of, index, wire->name, &apart, error));
  if (!apart.own || of->plan->controller.fixed_ports) return TT_OK;
  TT_TRY(set(of, index, "allow=", "", error));
  return set(of, index, apart.own, "", error);
}

/* Two things in one variable would be one too few. */
static tt_status check_variables(const driver *of, const tt_scene *scene, tt_error *error) {
  const tt_sweep_plan *plan = of->plan;
  for (int i = 0; i < plan->axis_count; i++) {
    char axis[TT_PROGRAM_VARIABLE], other[TT_PROGRAM_VARIABLE];
    const char *name = plan->axes[i].name, *whose = NULL;
    tt_program_variable(name, "", axis);
    if (!strcmp(axis, "TETHER_DATA")) whose = "where Tether's scenes are";
    if (!strcmp(axis, "TETHER_SEED") && strcmp(name, "seed") != 0) whose = "the run's seed";
    for (int k = 0; k < scene->wire_count && !whose; k++) {
      const char *wire = scene->wires[k].name;
      if (!strcmp(axis, tt_program_variable(wire, "", other)) ||
          !strcmp(axis, tt_program_variable(wire, "_PEER", other)))
        whose = "the address of a wire";
    }
    for (int k = 0; k < i && !whose; k++)
      if (!strcmp(axis, tt_program_variable(plan->axes[k].name, "", other)))
        whose = "the value of another axis";
    if (whose)
      return tt_fail(error, TT_INVALID, "%s.name: the program finds %s in $%s; call '%s' otherwise",
                     plan->axes[i].where, whose, axis, name);
  }
  return TT_OK;
}

static tt_status place_wires(driver *of, const tt_scene *scene, tt_error *error) {
  of->peers = calloc((size_t)scene->wire_count + 1, sizeof *of->peers);
  if (!of->peers) return tt_fail(error, TT_NOMEM, "out of memory");
  TT_TRY(check_variables(of, scene, error));
  TT_TRY(set(of, -1, "pace=", "lockstep", error));
  for (int i = 0; i < scene->wire_count; i++) TT_TRY(place_wire(of, i, &scene->wires[i], error));
  return TT_OK;
}

/* --- open and close --- */

static void close_driver(void *self) {
  driver *of = self;
  if (!of) return;
  for (int i = 0; i < of->peer_count; i++)
    if (of->peers[i].lock >= 0) close(of->peers[i].lock);
  for (int i = 0; i < of->setting_count; i++) free(of->settings[i]);
  free(of->settings);
  free(of->peers);
  free(of);
}

/* Its axes may change what its wires say, but not which there are. */
static tt_status prepare(const tt_sweep_plan *plan, driver **self, tt_error *error) {
  int count = 0;
  tt_scene *scene;
  while (plan->settings && plan->settings[count]) count++;
  TT_TRY(tt_scene_load(&tt_program_guests, plan->scene, plan->settings, count, &scene, error));
  driver *of = calloc(1, sizeof *of);
  tt_status status = of ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
  if (of) of->plan = plan;
  if (of) status = place_wires(of, scene, error);
  tt_scene_free(scene);
  if (status == TT_OK)
    *self = of;
  else
    close_driver(of);
  return status;
}

static tt_status check(const tt_sweep_plan *plan, int jobs, tt_error *error) {
  driver *of;
  TT_TRY(prepare(plan, &of, error));
  close_driver(of);
  return tt_sweep_network_check(plan, jobs, error);
}

static tt_status open_driver(const tt_sweep_plan *plan, void **self, tt_error *error) {
  driver *of;
  tt_error reason;
  TT_TRY(prepare(plan, &of, error));
  if (plan->controller.fixed_ports && tt_network_enter(&reason) != TT_OK)
    tt_log_debug("sweep: %s", reason.text); /* then there is one job alone */
  *self = of;
  return TT_OK;
}

static const char *const *settings(void *self) {
  const driver *of = self;
  return (const char *const *)of->settings;
}

/* --- the command --- */

/* Bare where no shell could make anything else of it, so that it may stand between a person's own quotes; others were refused there
 * when the plan was read. */
static void add_quoted(FILE *to, const char *value) {
  if (tt_shell_is_plain(value))
    fputs(value, to);
  else
    tt_shell_put_quoted(to, value);
}

static const char *value_of(const driver *of, const tt_sweep_run *run, const char *name,
                            size_t size, char text[64]) {
  const tt_sweep_plan *plan = of->plan;
  for (int i = 0; i < plan->axis_count; i++) {
    if (strncmp(plan->axes[i].name, name, size) != 0 || plan->axes[i].name[size]) continue;
    if (run->axes[i].kind == TT_SWEEP_TEXT) return run->axes[i].text;
    return tt_sweep_value_text(&run->axes[i], text, 64);
  }
  if (size != 4 || strncmp(name, "seed", 4) != 0) return NULL;
  snprintf(text, 64, "%llu", (unsigned long long)run->seed);
  return text;
}

/* {gain} is the value of the axis `gain`; what stands in other braces is the shell's. */
static char *command_of(const driver *of, const tt_sweep_run *run) {
  char *command = NULL, text[64];
  size_t length = 0;
  FILE *to = open_memstream(&command, &length);
  if (!to) return NULL;
  for (const char *c = of->plan->controller.text; *c; c++) {
    const char *end = *c == '{' ? strchr(c, '}') : NULL;
    const char *value = end && (c == of->plan->controller.text || c[-1] != '$')
                            ? value_of(of, run, c + 1, (size_t)(end - c - 1), text)
                            : NULL;
    if (value) {
      add_quoted(to, value);
      c = end;
    } else {
      fputc(*c, to);
    }
  }
  if (fclose(to) == 0) return command;
  free(command);
  return NULL;
}

static bool add_axes(const driver *of, const tt_sweep_run *run, char **environment) {
  const tt_sweep_plan *plan = of->plan;
  char variable[TT_PROGRAM_VARIABLE], text[64];
  bool added = true;
  for (int i = 0; i < plan->axis_count && added; i++) {
    const char *name = plan->axes[i].name, *value = value_of(of, run, name, strlen(name), text);
    added = tt_program_environment_add(environment, tt_program_variable(name, "", variable), value);
  }
  snprintf(text, sizeof text, "%llu", (unsigned long long)run->seed);
  return added && tt_program_environment_add(environment, "TETHER_SEED", text);
}

static char **environment_of(const driver *of, const tt_sweep_run *run) {
  char **environment = tt_program_environment(of->world, of->peer_count + of->plan->axis_count + 1);
  bool added = environment != NULL;
  for (int i = 0; i < of->peer_count && added; i++)
    added = tt_program_environment_add(environment, of->peers[i].variable, of->peers[i].address);
  if (added && add_axes(of, run, environment)) return environment;
  tt_program_environment_free(environment);
  return NULL;
}

/* --- a run --- */

/* In the program's watcher's thread. What a program said before it ended by itself still counts, so that the same program ends at the same
 * step; who was ended for a limit has nothing more to say. */
static void on_end(void *world, tt_program_end end) {
  bool by_itself = end.state == TT_PROGRAM_EXITED || end.state == TT_PROGRAM_KILLED;
  tt_world_post(world,
                &(tt_mail){.kind = by_itself ? TT_MAIL_LEFT : TT_MAIL_QUIT, .source = "sweep"});
}

static bool runs(const driver *of) {
  return tt_program_state_of(of->program).state == TT_PROGRAM_RUNS;
}

static bool all_are_there(const driver *of) {
  for (int i = 0; i < of->peer_count; i++)
    if (!tt_port_is_taken(of->peers[i].tcp, of->peers[i].port)) return false;
  return true;
}

/* What is sent before would be lost, and how often would be the clock's choice. */
static void await_peers(const driver *of) {
  struct timespec pause = {.tv_nsec = FIRST_LOOK_NS};
  while (runs(of) && !all_are_there(of)) {
    nanosleep(&pause, NULL);
    if (pause.tv_nsec < LONGEST_LOOK_NS) pause.tv_nsec += pause.tv_nsec / 2;
  }
}

static tt_status begin(void *self, tt_world *world, const tt_sweep_run *run, tt_error *error) {
  driver *of = self;
  of->world = world;
  of->program = NULL;
  char **environment = environment_of(of, run), *command = command_of(of, run);
  tt_program_options options = {.command = command,
                                .folder = of->plan->folder,
                                .environment = (const char *const *)environment,
                                .is_heard = true,
                                .memory = of->plan->controller.memory,
                                .output = of->plan->controller.output,
                                .patience = of->plan->timeout,
                                .processes = MOST_PROCESSES,
                                .ended = on_end,
                                .context = world};
  tt_status status = environment && command ? tt_program_start(&options, &of->program, error)
                                            : tt_fail(error, TT_NOMEM, "out of memory");
  tt_program_environment_free(environment);
  free(command);
  if (status == TT_OK) await_peers(of);
  return status;
}

/* Where it never came to the port that it was told, that is what is wrong with it. */
static tt_status out_of_time(const driver *of, tt_error *error) {
  for (int i = 0; i < of->peer_count; i++)
    if (tt_world_step(of->world) == 0 && !tt_port_is_taken(of->peers[i].tcp, of->peers[i].port))
      return tt_fail(error, TT_FULL,
                     "the program took more than %g s (timeout), and never came to %s: it finds "
                     "the address where it is to %s in $%s",
                     of->plan->timeout, of->peers[i].address,
                     of->peers[i].tcp ? "listen" : "bind its socket", of->peers[i].variable);
  return tt_fail(error, TT_FULL, "the program took more than %g s (timeout)", of->plan->timeout);
}

static tt_status judge(const driver *of, tt_program_end end, tt_error *error) {
  const tt_sweep_controller *controller = &of->plan->controller;
  const double time = tt_world_view(of->world)->time;
  switch (end.state) {
    case TT_PROGRAM_EXITED:
      if (end.number == 0) return TT_CLOSED;
      return tt_fail(error, TT_FAILED, "the program ended with status %d after %.3f s", end.number,
                     time);
    case TT_PROGRAM_KILLED:
      return tt_fail(error, TT_FAILED, "the program was killed by signal %d (%s) after %.3f s",
                     end.number, strsignal(end.number), time);
    case TT_PROGRAM_OUT_OF_TIME: return out_of_time(of, error);
    case TT_PROGRAM_TOO_LOUD:
      return tt_fail(error, TT_FULL, "the program printed more than %.0f bytes (controller.output)",
                     controller->output);
    case TT_PROGRAM_TOO_LARGE:
      return tt_fail(error, TT_FULL, "the program took more than %.0f bytes (controller.memory)",
                     controller->memory);
    case TT_PROGRAM_TOO_MANY:
      return tt_fail(error, TT_FULL, "the program had more than %d processes", MOST_PROCESSES);
    case TT_PROGRAM_LOST:
      return tt_fail(error, TT_FAILED, "what looked after the program is gone: %s",
                     end.number ? strerror(end.number) : "somebody killed run-program");
    case TT_PROGRAM_RUNS: break;
  }
  return TT_OK;
}

/* While the world goes on by what was said before, the program's end is still to come. */
static tt_status tick(void *self, tt_error *error) {
  const driver *of = self;
  tt_program_end end = tt_program_state_of(of->program);
  return tt_world_over(of->world) ? judge(of, end, error) : TT_OK;
}

static void end(void *self, tt_sweep_row *row) {
  driver *of = self;
  tt_program_end how = tt_program_state_of(of->program);
  tt_program_stop(of->program, 0);
  const char *words = of->program ? tt_program_words(of->program) : "";
  size_t used = strlen(row->error);
  if (row->status != TT_SWEEP_OK && how.state == TT_PROGRAM_OUT_OF_TIME)
    row->status = TT_SWEEP_TIMEOUT;
  if (row->status != TT_SWEEP_OK && *words)
    snprintf(row->error + used, sizeof row->error - used, "%s%s", used > 0 ? ": " : "", words);
  tt_program_free(of->program);
  of->program = NULL;
}

const tt_sweep_driver_ops tt_sweep_program_driver = {.check = check,
                                                     .open = open_driver,
                                                     .close = close_driver,
                                                     .begin = begin,
                                                     .tick = tick,
                                                     .end = end,
                                                     .opens_wires = true,
                                                     .settings = settings};
