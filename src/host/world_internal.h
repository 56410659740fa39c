/* world_internal.h: a world from the inside, shared by the files that make it up: world.c (the tick), run.c (its
 * pace, mailbox and status), world_new.c, commands.c (who may change what), supervise.c (watchdogs), wire_port.c (the wires' way in), world_state.c. */
#ifndef TT_HOST_WORLD_INTERNAL_H
#define TT_HOST_WORLD_INTERNAL_H

#include "sim/compose.h"
#include "host/pace.h"
#include "base/queue.h"
#include "host/world.h"

#include <pthread.h>
#include <stdatomic.h>

#define TT_MAX_SINKS 8
#define TT_NEVER UINT64_MAX
#define TT_SLICE_NS 20000000u /* longest wait before interrupts and mail are looked at */

/** Core's private side of a wire, beside the public tt_wire. */
typedef struct tt_wire_slot {
  tt_wire wire;
  tt_late_policy late;
  uint64_t deadline_ns;
  uint64_t watchdog_steps;   /* 0: off */
  uint64_t last_accept_step; /* TT_NEVER: nothing accepted since reset */
  bool tripped;
  bool open;
  uint64_t drop_logged_ns[TT_DROP_COUNT]; /* when each reason was last said */
  uint64_t drop_unsaid[TT_DROP_COUNT];
} tt_wire_slot;

struct tt_world {
  tt_world_spec spec; /* parts and wires are copied below; its pointers to them are not used */
  tt_composition *composition;
  const tt_model *model;
  tt_physics *physics;
  tt_part **parts;
  tt_net *net;
  bool owns_net;
  tt_wire_slot *wires;
  int wire_count;

  uint64_t step;        /* since the last whole reset */
  uint64_t total_steps; /* never reset: the pace and the duration go by it */
  uint64_t tick;        /* never reset */
  uint32_t epoch;
  uint64_t match_start; /* step at which the match timer was started; TT_NEVER: off */

  double *commands;         /* [command_count] last accepted, SI */
  uint64_t *accepted;       /* [command_count] */
  uint64_t *axis_accepted;  /* [axis_count] */
  int *axis_command;        /* [axis_count] the first of its torque, velocity, max_torque, duty */
  uint64_t sequence;        /* of the last acceptance */
  tt_drive *command_drives; /* [axis_count] from commands alone */
  tt_drive *drives;         /* [axis_count] after parts */
  double *controls;         /* [actuator_count] */
  bool drives_stale;
  tt_submission *scratch;    /* [command_count] */
  unsigned char *part_state; /* [tt_world_largest_part()] one part's state while it is hashed */
  bool parts_actuate;        /* any part takes part in a step */
  bool placed;               /* concept mode: something was moved this tick */

  bool reset_world;  /* asked for, done at the end of receive */
  bool *reset_robot; /* [robot_count] */
  bool paused, stopped;
  uint64_t ticks_to_make; /* while paused */
  bool quit;
  tt_status quit_status;
  tt_error quit_reason;
  uint64_t next_trip; /* step at which the next watchdog is due */

  tt_view *view;
  tt_observer *observers[TT_MAX_SINKS];
  tt_journal_sink *sinks[TT_MAX_SINKS];
  int observer_count, sink_count;
  bool unverifiable;
  tt_feed *feed;     /* recorded inputs, or NULL */
  tt_player *player; /* a kept run that is shown, or NULL */
  size_t next_kept;  /* the first of the player's events that nobody heard yet */

  tt_pacer pacer;
  tt_queue *mail;
  tt_queue *tapped; /* messages of the monitored wire */
  int tap;          /* its index, or −1 */
  atomic_bool interrupted;

  pthread_mutex_t shown_lock; /* the world only ever tries it */
  tt_world_status shown;
  tt_wire_stats *shown_stats;
  tt_wire_state *shown_states;
  uint64_t shown_at;
};

/* commands.c */
/** Checks all, then journals and applies all, or none; `bad` gets the index of the offending one. */
tt_status tt_world_apply(tt_world *world, const char *source, const tt_submission *submissions,
                         int count, int *bad);
/** Sets those of `commands` that have a safe value to it. */
void tt_world_make_safe(tt_world *world, const char *source, const int *commands, int count);
/** Sets values without acceptance: what a journal's TT_ENTRY_SAFE says. */
void tt_world_set_safe(tt_world *world, const tt_submission *submissions, int count);
/** Forgets all commands of `robot`, or with TT_NO_ROBOT every command. */
void tt_world_forget_commands(tt_world *world, int robot);
/** Brings command_drives and controls up to date with the commands. */
void tt_world_refresh_drives(tt_world *world);

/* world.c */
/** A kept run is shown from `time` s on. */
void tt_world_seek(tt_world *world, double time);

/* world_state.c */
/** Bytes of the largest state of a part, once all have declared. */
size_t tt_world_largest_part(const tt_world *world);

/* supervise.c */
void tt_world_supervise(tt_world *world);
void tt_world_fed(tt_world *world, tt_wire_slot *slot);
void tt_world_schedule_watchdogs(tt_world *world);

/* wire_port.c */
tt_wire_slot *tt_wire_slot_of(tt_wire *wire);

/* run.c */
/** Does what other threads asked for; sees interrupts. */
void tt_world_drain_mail(tt_world *world);
/** Hands status and statistics to other threads, if it is time again; if one is just reading them, they get the next.
 *  Also while a lock-step world waits: that is when people want to know for whom, and what was wrong. */
void tt_world_show(tt_world *world, uint64_t now);

/* world.c */
/** Does the resets that were asked for; true if there was one, since its frame 0 wants an answer. */
bool tt_world_apply_resets(tt_world *world);
void tt_world_journal(tt_world *world, const tt_entry *entry);
/** Says so to everybody; nothing if it is so already. */
void tt_world_set_paused(tt_world *world, const char *source, bool paused);
/** Journals something the wall clock or a person decided, tells observers, and logs it. */
void tt_world_event(tt_world *world, const char *source, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tt_world_event_va(tt_world *world, const char *source, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
/** Fills the view from the present state. */
void tt_world_sense(tt_world *world);

#endif
