/* topics.h: the topics that show a world, and their values from a view. */
#ifndef TT_NT4_TOPICS_H
#define TT_NT4_TOPICS_H

#include "game/field.h"
#include "host/world.h"
#include "nt4/sink.h"

typedef struct tt_nt4_topics tt_nt4_topics;

/** What is shown, and how. */
typedef struct tt_nt4_topics_options {
  const char *source;      /**< who commands by these topics, in the journal; static */
  tt_field field;          /**< poses are given in its frame */
  const char *field_table; /**< where the Field2d is: "/SmartDashboard/Field" */
  bool commands;           /**< commands are topics, and who writes one commands */
  bool station;            /**< what the first robot's driver station says, as FMSInfo */
} tt_nt4_topics_options;

/** Announces them all. World and sink outlive it. */
tt_status tt_nt4_topics_new(tt_nt4_sink *sink, tt_world *world,
                            const tt_nt4_topics_options *options, tt_nt4_topics **topics,
                            tt_error *error);
/** NULL-safe. */
void tt_nt4_topics_free(tt_nt4_topics *topics);
/** Gives those that somebody wants their values of `view`. */
void tt_nt4_topics_set(tt_nt4_topics *topics, const tt_view *view);

/** What others wrote since enters the world: each turn of the loop. */
void tt_nt4_topics_post(tt_nt4_topics *topics);

#endif
