/* policy_driver.c: a Python function drives the robots, in a process of its own, once a tick, in lock-step. */
#include "app/sweep/axes.h"
#include "app/sweep/driver.h"
#include "app/sweep/policy_host.h"
#include "base/clock.h"
#include "base/text.h"
#include "sweep/policy_message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the plan says nothing. Bytes. */
#define MEMORY (4.0 * 1024 * 1024 * 1024)
#define OUTPUT (16.0 * 1024 * 1024)

typedef struct policy_driver {
  const tt_sweep_plan *plan;
  tt_policy_host host;
  tt_control_port port;
  tt_sweep_parameters parameters;
  uint64_t deadline; /* ns: of the run */
  bool timed_out;
  int signal_count, command_count; /* that the policy has found */
  tt_control_source signals[TT_POLICY_MOST_NAMES];
  int commands[TT_POLICY_MOST_NAMES];
  double values[TT_POLICY_MOST_NAMES];
  char bytes[TT_POLICY_LARGEST + TT_POLICY_LONGEST_TEXT];
  tt_policy_message message;
} policy_driver;

static void policy_close(void *self) {
  policy_driver *driver = self;
  if (!driver) return;
  tt_policy_host_stop(&driver->host);
  tt_control_port_clear(&driver->port);
  free(driver);
}

static tt_status policy_open(const tt_sweep_plan *plan, void **self, tt_error *error) {
  policy_driver *driver = calloc(1, sizeof *driver);
  if (!driver) return tt_fail(error, TT_NOMEM, "out of memory");
  driver->plan = plan;
  tt_status status = tt_policy_host_start(&driver->host, plan, error);
  if (status == TT_OK)
    *self = driver;
  else
    policy_close(driver);
  return status;
}

static tt_status policy_begin(void *self, tt_world *world, const tt_sweep_run *run,
                              tt_error *error) {
  policy_driver *driver = self;
  const tt_sweep_plan *plan = driver->plan;
  tt_sweep_parameters_set(&driver->parameters, plan, run);
  driver->signal_count = driver->command_count = 0;
  driver->timed_out = false;
  TT_TRY(tt_control_port_begin(&driver->port, tt_world_sim(world), driver->parameters.list,
                               driver->parameters.count, error));
  TT_TRY(tt_policy_host_begin(&driver->host, plan, run->seed,
                              plan->controller.memory > 0 ? plan->controller.memory : MEMORY,
                              error));
  driver->deadline = tt_monotonic_ns() + (uint64_t)(plan->timeout * 1e9);
  return TT_OK;
}

/* ---- answers ---- */

static bool answer(policy_driver *driver, tt_policy_answer kind, const double *values, int count,
                   const char *text) {
  size_t size = tt_policy_encode(kind, values, count, text, driver->bytes);
  return tt_policy_host_send(&driver->host, driver->bytes, size);
}

static bool answer_parameter(policy_driver *driver, const tt_sweep_value *value) {
  switch (value->kind) {
    case TT_SWEEP_NUMBER: return answer(driver, TT_POLICY_NUMBER, &value->number, 1, NULL);
    case TT_SWEEP_TEXT: return answer(driver, TT_POLICY_TEXT, NULL, 0, value->text);
    case TT_SWEEP_NULL: break;
  }
  return answer(driver, TT_POLICY_NOTHING, NULL, 0, NULL);
}

static bool answer_read(policy_driver *driver, const char *name) {
  tt_control_source source;
  tt_error why;
  if (driver->signal_count == TT_POLICY_MOST_NAMES)
    return answer(driver, TT_POLICY_REFUSED, NULL, 0, "read: too many signals");
  if (tt_control_find_source(&driver->port, name, &source, &why) != TT_OK)
    return answer(driver, TT_POLICY_REFUSED, NULL, 0, why.text);
  if (source.parameter >= 0)
    return answer_parameter(driver, &driver->parameters.list[source.parameter].value);
  driver->signals[driver->signal_count++] = source;
  double value = tt_control_read(&driver->port, &source);
  return answer(driver, TT_POLICY_SIGNAL, &value, 1, NULL);
}

static bool answer_write(policy_driver *driver, const char *name) {
  int command;
  tt_error why;
  if (driver->command_count == TT_POLICY_MOST_NAMES)
    return answer(driver, TT_POLICY_REFUSED, NULL, 0, "write: too many commands");
  if (tt_control_find_command(&driver->port, name, &command, &why) != TT_OK)
    return answer(driver, TT_POLICY_REFUSED, NULL, 0, why.text);
  const tt_command *of = &tt_sim_model(driver->port.sim)->commands[command];
  char unit[TT_UNIT_BEHIND];
  driver->commands[driver->command_count++] = command;
  return answer(driver, TT_POLICY_COMMAND, (const double[]){of->lower, of->upper}, 2,
                tt_unit_behind(of->dimension, unit));
}

/* ---- a tick ---- */

static tt_status apply(policy_driver *driver, tt_error *error) {
  const tt_policy_message *done = &driver->message;
  tt_status status = TT_OK;
  if (done->count != driver->command_count)
    return tt_fail(error, TT_FAILED, "the policy's answer has %d numbers, not %d", done->count,
                   driver->command_count);
  for (int i = 0; i < done->count && status == TT_OK; i++)
    if (!isnan(done->values[i]))
      status = tt_control_write(&driver->port, driver->commands[i], done->values[i], error);
  if (status == TT_OK) return tt_control_apply(&driver->port, error);
  tt_control_forget(&driver->port);
  return TT_FAILED;
}

/* TT_END: the tick is done. */
static tt_status obey(policy_driver *driver, tt_error *error) {
  tt_policy_message *message = &driver->message;
  tt_text_make_safe(message->text);
  switch (message->kind) {
    case TT_POLICY_DONE: {
      tt_status status = apply(driver, error);
      return status == TT_OK ? TT_END : status;
    }
    case TT_POLICY_READ:
      answer_read(driver, message->text); /* where it is gone by now, receiving will say so */
      return TT_OK;
    case TT_POLICY_WRITE: answer_write(driver, message->text); return TT_OK;
    case TT_POLICY_FAILED: return tt_fail(error, TT_FAILED, "%s", message->text);
    case TT_POLICY_FULL:
      return tt_fail(error, TT_FULL, "%s: it takes too much memory", message->text);
  }
  return TT_OK;
}

static tt_status receive(policy_driver *driver, tt_error *error) {
  const tt_sweep_controller *controller = &driver->plan->controller;
  const double most = controller->output > 0 ? controller->output : OUTPUT;
  size_t size = sizeof driver->bytes;
  switch (
      tt_policy_host_receive(&driver->host, driver->deadline, most, driver->bytes, &size, error)) {
    case TT_OK: break;
    case TT_AGAIN:
      driver->timed_out = true;
      return tt_fail(error, TT_FAILED, "the policy took more than %g s (timeout)",
                     driver->plan->timeout);
    case TT_FULL: return tt_fail(error, TT_FULL, "the policy printed more than %.0f bytes", most);
    default: return TT_FAILED;
  }
  if (tt_policy_decode(driver->bytes, size, &driver->message, error) != TT_OK) return TT_FAILED;
  return obey(driver, error);
}

static tt_status policy_tick(void *self, tt_error *error) {
  policy_driver *driver = self;
  for (int i = 0; i < driver->signal_count; i++)
    driver->values[i] = tt_control_read(&driver->port, &driver->signals[i]);
  answer(driver, TT_POLICY_TICK, driver->values, driver->signal_count, NULL);
  tt_status status;
  while ((status = receive(driver, error)) == TT_OK) {
  }
  return status == TT_END ? TT_OK : status;
}

static void policy_end(void *self, tt_sweep_row *row) {
  policy_driver *driver = self;
  tt_policy_host_end(&driver->host, row->status != TT_SWEEP_OK);
  if (driver->timed_out) row->status = TT_SWEEP_TIMEOUT;
  const char *words = driver->host.words.text;
  size_t used = strlen(row->error);
  if (row->status != TT_SWEEP_OK && *words)
    snprintf(row->error + used, sizeof row->error - used, "%s%s", used > 0 ? ": " : "", words);
}

const tt_sweep_driver_ops tt_sweep_policy_driver = {.open = policy_open,
                                                    .close = policy_close,
                                                    .begin = policy_begin,
                                                    .tick = policy_tick,
                                                    .end = policy_end};
