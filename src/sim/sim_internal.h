/* sim_internal.h: a simulation from the inside, shared by the files that make it up. Each uses those before it:
 * journal.c, sense.c, commands.c, values.c, state.c, sim.c, entries.c. */
#ifndef TT_SIM_SIM_INTERNAL_H
#define TT_SIM_SIM_INTERNAL_H

#include "sim/compose.h"
#include "sim/sim.h"

/** One thread at a time. */
struct tt_sim {
  tt_engine *engine;
  tt_part **parts;
  int part_count;
  bool dynamics, hash_a_tick;
  tt_composition *composition;
  const tt_model *model;
  tt_scenery scenery;
  tt_sim_owner *owner;

  tt_clock clock;
  uint64_t placed_at;   /* total steps when placing was last done, in concept mode */
  uint64_t match_start; /* step at which the match timer was started; TT_NEVER: off */

  double *commands;         /* [command_count] last accepted, SI */
  uint64_t *accepted;       /* [command_count] */
  uint64_t *axis_accepted;  /* [axis_count] */
  int *axis_command;        /* [axis_count] the first of its torque, velocity, max_torque, duty */
  uint64_t sequence;        /* of the last acceptance */
  tt_drive *command_drives; /* [axis_count] from commands alone */
  tt_supply *supplies;      /* [robot_count] */
  tt_drive *drives;         /* [axis_count] after parts */
  double *controls;         /* [actuator_count] */
  bool drives_stale, has_actuators;
  tt_submission *scratch; /* [command_count] */
  bool parts_actuate;     /* any part takes part in a step */
  void *part_state;       /* room for the largest state of a part, for the hash */

  double *values;              /* [value_count] present */
  double *first_values;        /* of a new simulation of this scene */
  double *wanted, *old_values; /* scratch */
  int value_count;

  bool reset_world;  /* asked for */
  bool *reset_robot; /* [robot_count] */

  tt_view *view;
  tt_journal_sink *sinks[TT_MAX_SINKS];
  int sink_count;
  bool unverifiable;
};

/* journal.c */
void tt_sim_journal(tt_sim *sim, const tt_entry *entry);

/* commands.c */
/** A reset of this kind is being done: what was asked of it is asked no more. */
void tt_sim_answer_reset(tt_sim *sim, int robot);
/** Sets values without acceptance: what a journal's TT_ENTRY_SAFE says. */
void tt_sim_set_safe(tt_sim *sim, const tt_submission *submissions, int count);
/** Forgets all commands of `robot`, or with TT_NO_ROBOT every command. */
void tt_sim_forget_commands(tt_sim *sim, int robot);
/** Brings command_drives and controls up to date with the commands. */
void tt_sim_refresh_drives(tt_sim *sim);

/* values.c */
/** Whether value `index` may be `value`. */
bool tt_sim_value_is_good(const tt_sim *sim, int index, double value);
/** Makes them those of `values` [value_count], unjournaled. TT_INVALID: one is out of its range. */
tt_status tt_sim_put_values(tt_sim *sim, const double *values, tt_error *error);

/* state.c */
/** Bytes of the largest state that a part has. */
size_t tt_sim_largest_part_state(const tt_sim *sim);

#endif
