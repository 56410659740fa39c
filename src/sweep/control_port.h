/* control_port.h: what a controller of any language may read of a simulation and write to it, once a tick: names become places,
 * values are checked, and what was written in a tick is applied at once.
 */
#ifndef TT_SWEEP_CONTROL_PORT_H
#define TT_SWEEP_CONTROL_PORT_H

#include "model/signal.h"
#include "sim/sim.h"
#include "sweep/value.h"

/** A value that the controller may read besides signals: that of an axis. */
typedef struct tt_control_parameter {
  const char *name;
  tt_sweep_value value;
} tt_control_parameter;

/** Its owner's, zero at first. */
typedef struct tt_control_port {
  tt_sim *sim;
  const tt_control_parameter *parameters; /**< [parameter_count] */
  int parameter_count;
  int room;          /**< commands that there is room for */
  int written_count; /**< in this tick */
  /** [room], each command once, in the order in which they were first written */
  tt_submission *written;
  int *place; /**< [room] of a command: 1 + its index in `written`, or 0 */
} tt_control_port;

/** What a name stands for. */
typedef struct tt_control_source {
  int parameter; /**< index, or −1: the signal */
  tt_signal signal;
} tt_control_source;

/** A run begins with `sim` and `parameters`, which outlive it. TT_INVALID: a parameter is named like a signal; TT_NOMEM. */
tt_status tt_control_port_begin(tt_control_port *port, tt_sim *sim,
                                const tt_control_parameter *parameters, int count, tt_error *error);
void tt_control_port_clear(tt_control_port *port);

/** What read(NAME) gives. TT_INVALID with the nearest name. */
tt_status tt_control_find_source(const tt_control_port *port, const char *name,
                                 tt_control_source *source, tt_error *error);
/** Which command write(NAME) sets. TT_INVALID with the nearest name. */
tt_status tt_control_find_command(const tt_control_port *port, const char *name, int *command,
                                  tt_error *error);
/** The signal's present value, SI. */
static inline double tt_control_read(const tt_control_port *port, const tt_control_source *source) {
  return tt_signal_read(&source->signal, tt_sim_view(port->sim));
}
/** Has `command` be `value` (SI) with the next tt_control_apply(); the last of a tick holds. TT_INVALID: not finite, or out of its
 *  range. */
tt_status tt_control_write(tt_control_port *port, int command, double value, tt_error *error);
/** What was written in this tick is as if it had not been. */
void tt_control_forget(tt_control_port *port);
/** What was written in this tick takes effect, journaled as of "controller". */
tt_status tt_control_apply(tt_control_port *port, tt_error *error);

#endif
