/* world_internal.h: a world from the inside, shared by the files that make it up: world.c (the tick), world_run.c (its
 * pace), world_input.c (what comes in), world_output.c (what goes out), world_new.c, supervise.c (watchdogs), wire_port.c (the wires' way in), world_state.c, and its
 * sources. */
#ifndef TT_HOST_WORLD_INTERNAL_H
#define TT_HOST_WORLD_INTERNAL_H

#include "host/pace.h"
#include "base/log.h"
#include "base/queue.h"
#include "host/source.h"
#include "host/world.h"

#include <pthread.h>
#include <stdatomic.h>

#define TT_MAIL_CAPACITY 1024 /* orders that wait in the mailbox */
#define TT_SLICE_NS 20000000u /* longest wait before interrupts and mail are looked at */

/** Core's private side of a wire, beside the public tt_wire. */
typedef struct tt_wire_slot {
  tt_wire wire;
  uint64_t deadline_ns;
  uint64_t answered_ns;      /* wall clock of the latest answer in lock-step */
  uint64_t watchdog_steps;   /* 0: off */
  uint64_t last_accept_step; /* TT_NEVER: nothing accepted since reset */
  bool tripped;
  bool given_up; /* it was late, with a policy to go on, and has not been heard since */
  bool open;
  bool tapped; /* its messages are shown */
  tt_log_hold drops[TT_DROP_COUNT];
} tt_wire_slot;

/** Whose mail a command obeys; "": nobody's, since a wire commanded it last, or nobody did. */
typedef struct tt_sender {
  char name[sizeof((tt_mail *)0)->source];
} tt_sender;

/** Used by the world's thread alone, but for what is atomic or guarded by a mutex. */
struct tt_world {
  tt_world_spec spec; /* parts and wires are copied below; its pointers to them are not used */
  tt_sim *sim;
  tt_sim_owner owner;    /* this world, as the simulation knows it */
  tt_source *source;     /* where its views come from */
  const tt_clock *clock; /* the source's */
  const tt_model *model;
  const tt_view *view; /* the simulation's */
  tt_net *net;
  bool owns_net;
  tt_wire_slot *wires;
  int wire_count;

  uint64_t tick;            /* never reset */
  uint64_t steps_gone_back; /* in all, where people went back in a kept run */
  bool paused, stopped;
  /* While paused: the wire whose command did it, where nobody has wanted it since; NULL: somebody else did. */
  tt_wire *paused_by;
  uint64_t ticks_to_make; /* while paused */
  bool has_timeouts;      /* some wire has ops->poll */
  uint64_t polled_at;     /* wall clock of the last look at wires' timeouts, ns */
  bool quit;
  uint64_t left_at; /* wall clock, ns: since then nobody is there to answer; 0: somebody may be */
  tt_status quit_status;
  tt_error quit_reason;
  uint64_t next_trip; /* step at which the next watchdog is due */

  tt_driver_stations stations;
  tt_driver_station *told; /* [stations.count] as people know them */
  int *concerned;          /* [command_count] for use within one call */
  tt_sender *senders;      /* [command_count] */
  uint64_t match_began;    /* total_steps */
  bool period_changed;     /* and nobody was told yet */

  tt_observer *observers[TT_MAX_SINKS];
  int observer_count;

  tt_pacer pacer;
  tt_queue *mail;
  tt_log_hold refused[2]; /* commands out of their range, and those that there are not */
  tt_queue *tapped;       /* messages of monitored wires */
  atomic_bool interrupted;

  pthread_mutex_t shown_lock; /* the world only ever tries it */
  tt_world_status shown;
  tt_wire_stats *shown_stats;
  tt_wire_state *shown_states;
  tt_driver_station *shown_stations;
  uint64_t shown_at;
};

/* world.c */
extern const tt_sim_owner tt_world_as_owner;
/** The wires of `robot`, or with TT_NO_ROBOT all, begin anew. */
void tt_world_restart_wires(tt_world *world, int robot);

/* world_input.c */
/** What wires and pages command: checks all, then applies all, or none; `bad` gets the index of the offending one. While
 *  the emergency stop holds, or a kept run is shown, what is right is heard and changes nothing; so is what is meant for a
 *  disabled robot, but where the sender's peers know of it themselves (`tells_peers`, of its tt_wire_ops). */
tt_status tt_world_apply(tt_world *world, const char *source, bool tells_peers,
                         const tt_submission *submissions, int count, int *bad);
/** The commands of `robot`, or with TT_NO_ROBOT all, obey nobody any more. */
void tt_world_forget_senders(tt_world *world, int robot);
/** Does what other threads asked for; sees interrupts. */
void tt_world_drain_mail(tt_world *world);
/** Says so to everybody, if it is not so already. Ticks that were asked for are not made. */
void tt_world_set_paused(tt_world *world, const char *source, bool paused);

/* world_stations.c */
/** After world.model and .spec are set. False: out of memory. */
bool tt_world_open_stations(tt_world *world);
void tt_world_close_stations(tt_world *world);
/** Does what is good, journals what people want to know of it, and makes the robots safe that it disabled. */
void tt_world_order_station(tt_world *world, const tt_ds_order *order);
/** How every robot's driver station stands: where a run begins. Nothing where a kept run is shown. */
void tt_world_journal_stations(tt_world *world);
/** A run that goes on from a saved state may begin with robots disabled that were driven then: they are made safe,
 *  after its first state's hash was journaled. */
void tt_world_begin_stations(tt_world *world);
/** A match that goes on has come to the present step: what robots are told is that of the view that is sensed next. */
void tt_world_advance_match(tt_world *world);
/** Robots that this disabled are made safe. After the state's hash was journaled: the next step is the first without them. */
void tt_world_follow_match(tt_world *world);
/** After world.stopped was changed. */
void tt_world_stop_stations(tt_world *world);
/** Whether a command that was checked takes effect now. */
bool tt_world_lets_pass(const tt_world *world, const tt_submission *submission, bool tells_peers);

/* world_output.c */
/** Whether an open wire has its turn in the present step. */
bool tt_wire_due(const tt_world *world, const tt_wire_slot *slot);
/** Fills the view from the present state. */
void tt_world_sense(tt_world *world);
/** Hands the view to the wires that are due: those of `robot`, or with TT_NO_ROBOT all. */
void tt_world_send(tt_world *world, int robot);
/** Journals the state's hash and hands the view to the observers. */
void tt_world_publish(tt_world *world);
/** The view as it is, to observers that show it. */
void tt_world_show_view(tt_world *world);
/** Hands status and statistics to other threads, if it is time again; if one is just reading them, they get the next.
 *  Also while a lock-step world waits: that is when people want to know for whom, and what was wrong. */
void tt_world_show(tt_world *world, uint64_t now);

/* world_event.c */
/** Observers hear of it; it is not journaled. */
void tt_world_show_event(tt_world *world, uint64_t step, const char *source, const char *text);
/** As tt_sim_event(). */
void tt_world_event(tt_world *world, const char *source, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tt_world_event_va(tt_world *world, const char *source, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* supervise.c */
void tt_world_supervise(tt_world *world);
void tt_world_fed(tt_world *world, tt_wire_slot *slot);
void tt_world_schedule_watchdogs(tt_world *world);

/* wire_port.c */
tt_wire_slot *tt_wire_slot_of(tt_wire *wire);

#endif
