/* control_port.c: names and values of a controller, checked as those of a wire are. */
#include "sweep/control_port.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE "controller"

/* With one robot its name may be left out. */
static int robot_of(const tt_control_port *port) {
  return tt_sim_model(port->sim)->robot_count == 1 ? 0 : TT_NO_ROBOT;
}

static tt_status find_signal(const tt_control_port *port, const char *name, tt_signal *signal,
                             tt_error *error) {
  return tt_names_find_signal(tt_sim_names(port->sim), name, robot_of(port), "read", signal, error);
}

static tt_status make_room(tt_control_port *port, tt_error *error) {
  int count = tt_sim_model(port->sim)->command_count;
  tt_control_forget(port);
  if (count <= port->room) return TT_OK;
  tt_submission *written = realloc(port->written, (size_t)count * sizeof *written);
  if (written) port->written = written;
  int *place = realloc(port->place, (size_t)count * sizeof *place);
  if (place) port->place = place;
  if (!written || !place) return tt_fail(error, TT_NOMEM, "out of memory");
  memset(place, 0, (size_t)count * sizeof *place);
  port->room = count;
  return TT_OK;
}

tt_status tt_control_port_begin(tt_control_port *port, tt_sim *sim,
                                const tt_control_parameter *parameters, int count,
                                tt_error *error) {
  port->sim = sim;
  port->parameters = parameters;
  port->parameter_count = count;
  for (int i = 0; i < count; i++) {
    tt_signal signal;
    if (find_signal(port, parameters[i].name, &signal, NULL) == TT_OK)
      return tt_fail(
          error, TT_INVALID,
          "axis '%s': a signal is called so, too, and read(\"%s\") would mean either; choose "
          "another name",
          parameters[i].name, parameters[i].name);
  }
  return make_room(port, error);
}

void tt_control_port_clear(tt_control_port *port) {
  free(port->written);
  free(port->place);
  *port = (tt_control_port){0};
}

tt_status tt_control_find_source(const tt_control_port *port, const char *name,
                                 tt_control_source *source, tt_error *error) {
  tt_nearest nearest = tt_nearest_start(name);
  for (int i = 0; i < port->parameter_count; i++) {
    *source = (tt_control_source){.parameter = i};
    if (strcmp(port->parameters[i].name, name) == 0) return TT_OK;
    tt_nearest_offer(&nearest, port->parameters[i].name);
  }
  source->parameter = -1;
  tt_status status = find_signal(port, name, &source->signal, error);
  if (status == TT_OK || !nearest.best) return status;
  return tt_fail(error, TT_INVALID, "read: no signal or axis is called '%s'%s", name,
                 tt_nearest_hint(&nearest));
}

tt_status tt_control_find_command(const tt_control_port *port, const char *name, int *command,
                                  tt_error *error) {
  return tt_names_find_command(tt_sim_names(port->sim), name, robot_of(port), "write", command,
                               error);
}

tt_status tt_control_write(tt_control_port *port, int command, double value, tt_error *error) {
  const tt_submission submission = {command, value};
  if (tt_sim_check(port->sim, &submission, 1, NULL) != TT_OK) {
    const tt_command *of = &tt_sim_model(port->sim)->commands[command];
    char unit[TT_UNIT_BEHIND];
    return tt_fail(error, TT_INVALID, "write: %s: %g is out of its range; give %g to %g%s",
                   tt_names_command(tt_sim_names(port->sim), command), value, of->lower, of->upper,
                   tt_unit_behind(of->dimension, unit));
  }
  if (!port->place[command]) port->place[command] = ++port->written_count;
  port->written[port->place[command] - 1] = submission;
  return TT_OK;
}

void tt_control_forget(tt_control_port *port) {
  for (int i = 0; i < port->written_count; i++) port->place[port->written[i].command] = 0;
  port->written_count = 0;
}

tt_status tt_control_apply(tt_control_port *port, tt_error *error) {
  tt_status status = TT_OK;
  if (port->written_count > 0 &&
      tt_sim_apply(port->sim, SOURCE, port->written, port->written_count, NULL) != TT_OK)
    status = tt_fail(error, TT_FAILED, "the simulation refuses what was written");
  tt_control_forget(port);
  return status;
}
