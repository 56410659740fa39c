/* simulated.c: the world's thread queues views; a thread of our own turns them into samples. */
#include "telemetry/simulated.h"

#include "base/log.h"
#include "model/signal.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define QUEUE_VIEWS 512
#define POLL_INTERVAL 5000 /* µs */
#define REFERENCES 2       /* texts that say which log keeps the run */

/** One robot as a device. */
typedef struct robot {
  const char *name; /**< the model's */
  int device, epoch;
  tt_signal *signals;
  tt_direct_value *values; /**< count signals, then the texts of the run's log… */
  GPtrArray *identifiers;  /**< …and their attributes */
  int count;
  bool referred; /**< the store has the texts of this epoch */
} robot;

struct tt_simulated {
  tt_observer observer; /**< first: observers are found by it */
  tt_collector *collector;
  tt_view_queue *queue;
  GThread *thread;
  atomic_bool stopping;
  robot *robots;
  int robot_count;
  int64_t interval;             /**< µs simulated */
  char *references[REFERENCES]; /**< NULL: nothing keeps the run */
  bool begun;
  uint32_t world_epoch;
  int64_t offset;      /**< µs: UTC − simulated time */
  int64_t last_stored; /**< µs simulated */
  uint64_t lost_said;
};

static void publish(tt_observer *observer, const tt_view *view) {
  tt_view_queue_push(((tt_simulated *)observer)->queue, view);
}

/** Letters that XML allows in a name; the kind before a colon goes. */
static void append_name(GString *out, const char *name) {
  for (; *name; name++)
    g_string_append_c(out, g_ascii_isalnum(*name) || strchr("._-", *name) ? *name : '_');
}

static char *identifier_of(const char *name, const char *robot_name, bool command) {
  size_t prefix = strlen(robot_name);
  if (command && g_str_has_prefix(name, "command:")) name += strlen("command:");
  if (!strncmp(name, robot_name, prefix) && name[prefix] == '/') name += prefix + 1;
  GString *identifier = g_string_new(command ? "Command." : "State.");
  append_name(identifier, name);
  if (!strchr(name, '.')) g_string_append(identifier, ".value");
  return g_string_free(identifier, FALSE);
}

/** The texts of the first sample of an epoch that is stored. */
static void prepare_references(const tt_simulated *simulated, robot *prepared) {
  static const char *const identifiers[REFERENCES] = {"Run.log.id", "Run.log.file"};
  if (!simulated->references[0]) return;
  for (int i = 0; i < REFERENCES; i++) {
    prepared->values[prepared->count + i].text = simulated->references[i];
    g_ptr_array_add(prepared->identifiers, g_strdup(identifiers[i]));
  }
}

static void prepare_robot(tt_simulated *simulated, tt_world *world, int index) {
  const tt_robot *known = &tt_world_model(world)->robots[index];
  robot *prepared = &simulated->robots[index];
  int count;
  const tt_signal_entry *entries = tt_names_signals(tt_world_names(world), &count);
  prepared->name = known->name;
  prepared->signals = g_new(tt_signal, count + 1);
  prepared->values = g_new0(tt_direct_value, count + REFERENCES);
  prepared->identifiers = g_ptr_array_new_with_free_func(g_free);
  for (int i = 0; i < count; i++) {
    if (entries[i].robot != index) continue;
    bool command = entries[i].signal.source == TT_SIGNAL_COMMAND;
    g_ptr_array_add(prepared->identifiers, identifier_of(entries[i].name, known->name, command));
    prepared->signals[prepared->count++] = entries[i].signal;
  }
  prepare_references(simulated, prepared);
}

static tt_status too_many(tt_error *error) {
  return tt_fail(error, TT_FULL,
                 "telemetry: the robots have more devices or attributes than allowed; raise "
                 "telemetry.max_devices or telemetry.max_attributes");
}

/** Whether the collector may know all robots: else it is to hear of none. */
static bool has_room(const tt_simulated *simulated) {
  GPtrArray *devices = g_ptr_array_new(), *attributes = g_ptr_array_new();
  for (int i = 0; i < simulated->robot_count; i++) {
    const robot *prepared = &simulated->robots[i];
    g_ptr_array_add(devices, (gpointer)prepared->name);
    g_ptr_array_extend(attributes, prepared->identifiers, NULL, NULL);
  }
  const bool room =
      tt_collector_has_room(simulated->collector, true, (const char *const *)devices->pdata,
                            (int)devices->len) &&
      tt_collector_has_room(simulated->collector, false, (const char *const *)attributes->pdata,
                            (int)attributes->len);
  g_ptr_array_unref(devices);
  g_ptr_array_unref(attributes);
  return room;
}

static tt_status register_robot(tt_simulated *simulated, robot *prepared) {
  TT_TRY(tt_collector_device(simulated->collector, prepared->name, &prepared->device));
  for (guint i = 0; i < prepared->identifiers->len; i++)
    TT_TRY(tt_collector_attribute(simulated->collector, prepared->identifiers->pdata[i],
                                  &prepared->values[i].attribute));
  return TT_OK;
}

/** A run begins, or the world was reset as a whole: simulated time starts again. */
static void begin_epoch(tt_simulated *simulated, const tt_view *view, int64_t time) {
  simulated->begun = true;
  simulated->world_epoch = view->epoch;
  simulated->offset = tt_collector_now() - time;
  simulated->last_stored = INT64_MIN;
  for (int i = 0; i < simulated->robot_count; i++) {
    robot *known = &simulated->robots[i];
    known->referred = !simulated->references[0];
    known->epoch =
        tt_collector_begin_epoch(simulated->collector, known->device, time, simulated->offset);
    if (known->epoch < 0) simulated->begun = false;  // out of memory: again with the next view
  }
}

static void take_view(tt_simulated *simulated, const tt_view *view) {
  int64_t time = llround(view->time * 1e6);
  if (!simulated->begun || view->epoch != simulated->world_epoch)
    begin_epoch(simulated, view, time);
  bool store =
      simulated->last_stored == INT64_MIN || time - simulated->last_stored >= simulated->interval;
  if (store) simulated->last_stored = time;
  for (int i = 0; i < simulated->robot_count; i++) {
    robot *known = &simulated->robots[i];
    if (known->epoch < 0) continue;
    for (int s = 0; s < known->count; s++)
      known->values[s].number = tt_signal_read(&known->signals[s], view);
    int count = known->count + (store && !known->referred ? REFERENCES : 0);
    tt_status stored = tt_collector_record(simulated->collector, known->device, known->epoch, time,
                                           simulated->offset, known->values, count, store);
    if (store && stored == TT_OK) known->referred = true;
  }
}

static void take_waiting(tt_simulated *simulated) {
  const tt_view *view;
  while ((view = tt_view_queue_front(simulated->queue, NULL))) {
    take_view(simulated, view);
    tt_view_queue_pop(simulated->queue);
  }
  uint64_t lost = tt_view_queue_lost(simulated->queue);
  if (lost > simulated->lost_said) {
    tt_log_warning("telemetry: %" G_GUINT64_FORMAT " ticks were too quick to be collected", lost);
    simulated->lost_said = lost * 2;
  }
}

static gpointer run(gpointer data) {
  tt_simulated *simulated = data;
  while (!atomic_load(&simulated->stopping)) {
    take_waiting(simulated);
    g_usleep(POLL_INTERVAL);
  }
  take_waiting(simulated);
  return NULL;
}

tt_status tt_simulated_new(tt_world *world, tt_collector *collector,
                           const tt_simulated_options *options, tt_simulated **out,
                           tt_error *error) {
  tt_simulated *simulated = g_new0(tt_simulated, 1);
  simulated->observer.publish = publish;
  simulated->collector = collector;
  simulated->interval = llround(options->store_interval * 1e6);
  simulated->references[0] = g_strdup(options->run);
  if (options->log)  // a path may have any bytes, and stores take UTF-8 alone
    simulated->references[1] = g_utf8_make_valid(options->log, -1);
  simulated->robot_count = tt_world_model(world)->robot_count;
  simulated->robots = g_new0(robot, simulated->robot_count + 1);
  simulated->queue = tt_view_queue_new(tt_world_model(world), QUEUE_VIEWS);
  tt_status status = simulated->queue ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
  for (int i = 0; i < simulated->robot_count; i++) prepare_robot(simulated, world, i);
  if (status == TT_OK) {
    status = tt_world_add_observer(world, &simulated->observer);
    if (status != TT_OK)
      tt_fail(error, status, "telemetry: the world has as many observers as it can");
  }
  if (status != TT_OK) {
    tt_simulated_free(simulated);
    return status;
  }
  *out = simulated;
  return TT_OK;
}

tt_status tt_simulated_begin(tt_simulated *simulated, tt_error *error) {
  if (!has_room(simulated)) return too_many(error);
  for (int i = 0; i < simulated->robot_count; i++)
    if (register_robot(simulated, &simulated->robots[i]) != TT_OK) return too_many(error);
  simulated->thread = g_thread_new("simulated", run, simulated);
  return TT_OK;
}

uint64_t tt_simulated_lost(const tt_simulated *simulated) {
  return tt_view_queue_lost(simulated->queue);
}

void tt_simulated_free(tt_simulated *simulated) {
  if (!simulated) return;
  atomic_store(&simulated->stopping, true);
  if (simulated->thread) g_thread_join(simulated->thread);
  tt_view_queue_free(simulated->queue);
  for (int i = 0; i < simulated->robot_count; i++) {
    g_free(simulated->robots[i].signals);
    g_free(simulated->robots[i].values);
    g_ptr_array_unref(simulated->robots[i].identifiers);
  }
  g_free(simulated->robots);
  for (int i = 0; i < REFERENCES; i++) g_free(simulated->references[i]);
  g_free(simulated);
}
