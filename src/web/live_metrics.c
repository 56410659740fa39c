/* live_metrics.c: figures of a world and its wires for Prometheus, from the copies that pages are shown. */
#include "web/live_internal.h"
#include "web/metrics.h"

/** A wire at the moment of a scrape. */
typedef struct shown_wire {
  const char *name, *protocol;
  tt_wire_stats stats;
  tt_wire_state state;
} shown_wire;

/** Its two labels, and room for one of the sample's own. */
typedef struct wire_labels {
  tt_metric_label all[3];
} wire_labels;

static wire_labels label(const shown_wire *wire) {
  const wire_labels made = {.all = {{"wire", wire->name}, {"protocol", wire->protocol}, {"", ""}}};
  return made;
}

static wire_labels label_more(const shown_wire *wire, const char *name, const char *value) {
  wire_labels made = label(wire);
  made.all[2] = (tt_metric_label){name, value};
  return made;
}

/** One count of each wire. */
static void write_counts(GString *out, const shown_wire *wires, int count, const char *name,
                         const char *help, size_t offset) {
  tt_metric_family(out, name, TT_METRIC_COUNTER, help);
  for (int i = 0; i < count; i++) {
    const wire_labels labels = label(&wires[i]);
    const char *stats = (const char *)&wires[i].stats;
    uint64_t value;
    memcpy(&value, stats + offset, sizeof value);
    tt_metric_sample(out, name, labels.all, 2, (double)value);
  }
}

static void write_drops(GString *out, const shown_wire *wires, int count) {
  static const char name[] = "tether_wire_dropped_messages_total";
  tt_metric_family(out, name, TT_METRIC_COUNTER, "Messages that changed nothing, by reason.");
  for (int i = 0; i < count; i++) {
    for (int drop = 0; drop < TT_DROP_COUNT; drop++) {
      const wire_labels labels = label_more(&wires[i], "reason", tt_drop_text((tt_drop)drop));
      tt_metric_sample(out, name, labels.all, 3, (double)wires[i].stats.dropped[drop]);
    }
  }
}

static void write_states(GString *out, const shown_wire *wires, int count) {
  static const char *const states[] = {"waiting", "driving", "late", "silent"};
  static const char name[] = "tether_wire_state";
  tt_metric_family(out, name, TT_METRIC_GAUGE, "1 for the state that the wire is in, else 0.");
  for (int i = 0; i < count; i++) {
    for (int state = 0; state < 4; state++) {
      const wire_labels labels = label_more(&wires[i], "state", states[state]);
      tt_metric_sample(out, name, labels.all, 3, wires[i].state == (tt_wire_state)state);
    }
  }
}

static void write_round_trips(GString *out, const shown_wire *wires, int count) {
  tt_metric_family(out, "tether_wire_round_trip_seconds", TT_METRIC_SUMMARY,
                   "From a message to its answer, where the protocol has one.");
  for (int i = 0; i < count; i++) {
    const wire_labels labels = label(&wires[i]);
    tt_metric_sample(out, "tether_wire_round_trip_seconds_sum", labels.all, 2,
                     wires[i].stats.round_trip_sum);
    tt_metric_sample(out, "tether_wire_round_trip_seconds_count", labels.all, 2,
                     (double)wires[i].stats.round_trips);
  }
}

static void write_wires(tt_live *live, GString *out) {
  static const struct {
    const char *name, *help;
    size_t offset;
  } counts[] = {
      {"tether_wire_received_messages_total", "Messages that came whole.",
       offsetof(tt_wire_stats, received)},
      {"tether_wire_accepted_messages_total", "Messages that were applied.",
       offsetof(tt_wire_stats, accepted)},
      {"tether_wire_sent_messages_total", "Messages that were sent.",
       offsetof(tt_wire_stats, sent)},
      {"tether_wire_send_failures_total", "Messages that could not be sent.",
       offsetof(tt_wire_stats, send_failed)},
      {"tether_wire_watchdog_trips_total", "Times a silent controller's robot was made safe.",
       offsetof(tt_wire_stats, watchdog_trips)},
      {"tether_wire_late_answers_total", "Ticks at which the answer was late.",
       offsetof(tt_wire_stats, late)},
      {"tether_wire_repeated_messages_total", "Messages sent again in lock-step, and answered.",
       offsetof(tt_wire_stats, repeated)},
  };
  const int count = tt_world_wire_count(live->world);
  shown_wire *wires = g_new0(shown_wire, count + 1);
  for (int i = 0; i < count; i++) {
    const tt_wire *wire = tt_world_wire_at(live->world, i);
    wires[i].name = wire->name;
    wires[i].protocol = wire->ops->protocol;
    tt_world_get_wire(live->world, i, &wires[i].stats, &wires[i].state);
  }
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    write_counts(out, wires, count, counts[i].name, counts[i].help, counts[i].offset);
  write_drops(out, wires, count);
  write_states(out, wires, count);
  write_round_trips(out, wires, count);
  g_free(wires);
}

void tt_live_write_metrics(void *context, GString *out) {
  tt_live *live = context;
  tt_world_status now;
  tt_world_get_status(live->world, &now);
  const struct {
    const char *name;
    tt_metric_kind kind;
    const char *help;
    double value;
  } figures[] = {
      {"tether_world_time_seconds", TT_METRIC_GAUGE, "Simulated time; a reset begins at 0.",
       now.time},
      {"tether_world_steps_total", TT_METRIC_COUNTER, "Steps of physics.", (double)now.step},
      {"tether_world_ticks_total", TT_METRIC_COUNTER, "Ticks: wires are heard and told.",
       (double)now.tick},
      {"tether_world_late_ticks_total", TT_METRIC_COUNTER, "Ticks that began too late.",
       (double)now.late_ticks},
      {"tether_world_real_time_factor", TT_METRIC_GAUGE,
       "Simulated time by wall time, lately; 0 while it is paused.", now.real_time_factor},
      {"tether_world_speed_factor", TT_METRIC_GAUGE, "The real-time factor that is asked for.",
       now.speed},
      {"tether_world_paused", TT_METRIC_GAUGE, "1 while it is paused.", now.paused},
      {"tether_world_stopped", TT_METRIC_GAUGE, "1 while an e-stop holds it.", now.stopped},
      {"tether_world_robots", TT_METRIC_GAUGE, "Robots.", now.robots},
      {"tether_world_enabled_robots", TT_METRIC_GAUGE, "Robots that their driver stations enable.",
       now.enabled},
      {"tether_world_waiting_orders", TT_METRIC_GAUGE,
       "Orders of pages and others that wait for the next tick.",
       (double)tt_world_waiting_mail(live->world)},
      {"tether_pages", TT_METRIC_GAUGE, "Pages that show the world.", live->pages->len},
      {"tether_pages_waiting_views", TT_METRIC_GAUGE, "Views of the world that wait for pages.",
       (double)tt_view_queue_waiting(live->views)},
      {"tether_pages_lost_views_total", TT_METRIC_COUNTER,
       "Views that pages did not get because too many waited.",
       (double)tt_view_queue_lost(live->views)},
  };
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    tt_metric_single(out, figures[i].name, figures[i].kind, figures[i].help, figures[i].value);
  write_wires(live, out);
}
