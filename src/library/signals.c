/* signals.c: the public face: commands and signals. See include/tether/tether.h. */
#include "library/library.h"

#include "model/unit.h"

#include <math.h>
#include <stdlib.h>

#define MOST_AT_ONCE 65536 /* commands: as many as a log's reader takes */

/* Handles are of signals that a simulation has whatever it is driven by: the clock's own are not among them. */
static const tt_signal_entry *signals_of(const tether_sim *sim, int *count) {
  return tt_names_signals(tt_sim_names(sim->sim), count);
}

tether_status library_check_signals(const tether_sim *sim, const tether_handle *signals, int count,
                                    tether_error *error) {
  int known;
  signals_of(sim, &known);
  for (int i = 0; i < count; i++) {
    tether_status status =
        library_check_handle(sim, &signals[i], LIBRARY_SIGNAL, known, "signals", i, error);
    if (status != TETHER_OK) return status;
  }
  return TETHER_OK;
}

const char *library_robot_name(const tt_sim *sim, int robot) {
  return robot == TT_NO_ROBOT ? "" : tt_sim_model(sim)->robots[robot].name;
}

int tether_sim_signal_count(const tether_sim *sim) {
  int count = 0;
  if (sim) signals_of(sim, &count);
  return count;
}

int tether_sim_command_count(const tether_sim *sim) {
  return sim ? tt_sim_model(sim->sim)->command_count : 0;
}

tether_status tether_sim_signal_item(const tether_sim *sim, int index, tether_item *item) {
  int count;
  if (!sim || !item) return TETHER_INVALID;
  const tt_signal_entry *entries = signals_of(sim, &count);
  if (index < 0 || index >= count) return TETHER_NOT_FOUND;
  *item = (tether_item){.name = entries[index].name,
                        .unit = tt_unit_si(entries[index].signal.dimension)->name,
                        .robot = library_robot_name(sim->sim, entries[index].robot),
                        .lower = -INFINITY,
                        .upper = INFINITY};
  return TETHER_OK;
}

tether_status tether_sim_command_item(const tether_sim *sim, int index, tether_item *item) {
  if (!sim || !item) return TETHER_INVALID;
  const tt_model *model = tt_sim_model(sim->sim);
  if (index < 0 || index >= model->command_count) return TETHER_NOT_FOUND;
  const tt_command *command = &model->commands[index];
  *item = (tether_item){.name = tt_names_command(tt_sim_names(sim->sim), index),
                        .unit = tt_unit_si(command->dimension)->name,
                        .robot = library_robot_name(sim->sim, command->robot),
                        .lower = command->lower,
                        .upper = command->upper};
  return TETHER_OK;
}

/* With one robot its name may be left out. */
static int only_robot(const tether_sim *sim) {
  return tt_sim_model(sim->sim)->robot_count == 1 ? 0 : TT_NO_ROBOT;
}

tether_status library_find_unit(const char *name, const char *unit, tt_dimension dimension,
                                double *scale, tether_error *error) {
  *scale = 1;
  if (!unit) return TETHER_OK;
  const tt_unit *found = tt_unit_find(unit);
  if (found && found->dimension == dimension) {
    *scale = found->scale;
    return TETHER_OK;
  }
  return library_fail(error, TETHER_NOT_FOUND, "%s: '%s' is no unit of it; give one of %s", name,
                      unit, tt_unit_names(dimension));
}

tether_status library_check_find(const tether_sim *sim, const char *name,
                                 const tether_handle *handle, tether_error *error) {
  library_begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  if (!name) return library_fail(error, TETHER_INVALID, "name: NULL");
  if (!handle) return library_fail(error, TETHER_INVALID, "handle: NULL; give where to put it");
  return TETHER_OK;
}

/* The index of a signal in the list of all: it has no number of its own. */
static int index_of(const tether_sim *sim, const tt_signal *signal) {
  int count;
  const tt_signal_entry *entries = signals_of(sim, &count);
  for (int i = 0; i < count; i++) {
    const tt_signal *other = &entries[i].signal;
    if (other->source == signal->source && other->index == signal->index &&
        other->component == signal->component)
      return i;
  }
  return -1;
}

tether_status tether_signal_find(const tether_sim *sim, const char *name, const char *unit,
                                 tether_handle *handle, tether_error *error) {
  tt_error why = {.text = ""};
  tt_signal signal;
  tether_status status = library_check_find(sim, name, handle, error);
  if (status != TETHER_OK) return status;
  if (tt_names_find_signal(tt_sim_names(sim->sim), name, only_robot(sim), "signal", &signal,
                           &why) != TT_OK)
    return library_fail(error, TETHER_NOT_FOUND, "%s", why.text);
  int index = index_of(sim, &signal);
  if (index < 0) return library_fail(error, TETHER_NOT_FOUND, "%s: not a signal of its own", name);
  *handle = library_handle(sim, LIBRARY_SIGNAL, index);
  return library_find_unit(name, unit, signal.dimension, &handle->scale, error);
}

tether_status tether_command_find(const tether_sim *sim, const char *name, const char *unit,
                                  tether_handle *handle, tether_error *error) {
  tt_error why = {.text = ""};
  int command;
  tether_status status = library_check_find(sim, name, handle, error);
  if (status != TETHER_OK) return status;
  if (tt_names_find_command(tt_sim_names(sim->sim), name, only_robot(sim), "command", &command,
                            &why) != TT_OK)
    return library_fail(error, TETHER_NOT_FOUND, "%s", why.text);
  *handle = library_handle(sim, LIBRARY_COMMAND, command);
  return library_find_unit(name, unit, tt_sim_model(sim->sim)->commands[command].dimension,
                           &handle->scale, error);
}

static tether_status refuse_value(const tether_sim *sim, int command, double value,
                                  tether_error *error) {
  tether_item item;
  char unit[TT_UNIT_BEHIND];
  tether_sim_command_item(sim, command, &item);
  tt_unit_behind(tt_sim_model(sim->sim)->commands[command].dimension, unit);
  return library_fail(error, TETHER_INVALID, "%s: %g is out of its range; give %g to %g%s",
                      item.name, value, item.lower, item.upper, unit);
}

/* Resolves the handles of `io` into `submissions`. */
static tether_status gather(const tether_sim *sim, const tether_io *io, tt_submission *submissions,
                            tether_error *error) {
  const int known = tt_sim_model(sim->sim)->command_count;
  for (int i = 0; i < io->command_count; i++) {
    const tether_handle *handle = &io->commands[i];
    tether_status status =
        library_check_handle(sim, handle, LIBRARY_COMMAND, known, "commands", i, error);
    if (status != TETHER_OK) return status;
    submissions[i] = (tt_submission){(int)handle->index, io->command_values[i] * handle->scale};
  }
  return TETHER_OK;
}

/* For all commands of the scene there is room from the beginning. */
static bool make_room(tether_sim *sim, size_t count) {
  if (count <= sim->room) return true;
  tt_submission *grown = realloc(sim->submissions, count * sizeof *grown);
  if (!grown) return false;
  sim->submissions = grown;
  sim->room = count;
  return true;
}

tether_status library_apply(tether_sim *sim, const tether_io *ios, int io_count,
                            tether_error *error) {
  int count = 0, bad = 0;
  size_t all = 0;
  for (int i = 0; i < io_count; i++) all += (size_t)ios[i].command_count;
  if (all == 0) return TETHER_OK;
  if (all > MOST_AT_ONCE)
    return library_fail(error, TETHER_INVALID, "count: %zu commands are too many; give at most %d",
                        all, MOST_AT_ONCE);
  if (!make_room(sim, all)) return library_fail(error, TETHER_NO_MEMORY, "out of memory");
  tt_submission *submissions = sim->submissions;
  tether_status status = TETHER_OK;
  for (int i = 0; i < io_count && status == TETHER_OK; i++) {
    status = gather(sim, &ios[i], submissions + count, error);
    count += ios[i].command_count;
  }
  if (status == TETHER_OK && tt_sim_apply(sim->sim, "library", submissions, count, &bad) != TT_OK)
    status = refuse_value(sim, submissions[bad].command, submissions[bad].value, error);
  return status;
}

tether_status tether_sim_apply(tether_sim *sim, const tether_handle *commands, const double *values,
                               int count, tether_error *error) {
  tether_io io = {.commands = commands, .command_values = values, .command_count = count};
  tether_status entered = library_enter(sim, error);
  if (entered != TETHER_OK) return entered;
  if (count < 0 || (count > 0 && (!commands || !values)))
    return library_leave(
        sim, library_fail(error, TETHER_INVALID, "count: %d without arrays of it", count));
  return library_leave(sim, library_apply(sim, &io, 1, error));
}

tether_status library_read(const tether_sim *sim, const tether_handle *signals, double *values,
                           int count, tether_error *error) {
  int known;
  tether_status status = library_check_signals(sim, signals, count, error);
  if (status != TETHER_OK) return status;
  const tt_signal_entry *entries = signals_of(sim, &known);
  const tt_view *view = tt_sim_view(sim->sim);
  for (int i = 0; i < count; i++)
    values[i] = tt_signal_read(&entries[signals[i].index].signal, view) / signals[i].scale;
  return TETHER_OK;
}

tether_status tether_sim_read(const tether_sim *sim, const tether_handle *signals, double *values,
                              int count, tether_error *error) {
  library_begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  if (count < 0 || (count > 0 && (!signals || !values)))
    return library_fail(error, TETHER_INVALID, "count: %d without arrays of it", count);
  return library_read(sim, signals, values, count, error);
}

tether_status tether_sim_read_commands(const tether_sim *sim, const tether_handle *commands,
                                       double *values, int count, tether_error *error) {
  library_begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  if (count < 0 || (count > 0 && (!commands || !values)))
    return library_fail(error, TETHER_INVALID, "count: %d without arrays of it", count);
  const double *in_force = tt_sim_commands(sim->sim);
  const int known = tt_sim_model(sim->sim)->command_count;
  for (int i = 0; i < count; i++) {
    tether_status status =
        library_check_handle(sim, &commands[i], LIBRARY_COMMAND, known, "commands", i, error);
    if (status != TETHER_OK) return status;
    values[i] = in_force[commands[i].index] / commands[i].scale;
  }
  return TETHER_OK;
}
