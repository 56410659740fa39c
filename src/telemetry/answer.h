/* answer.h: what became of messages that came together, and how their sender is told: the same whatever they came by. */
#ifndef TT_TELEMETRY_ANSWER_H
#define TT_TELEMETRY_ANSWER_H

#include "telemetry/collector.h"

typedef struct tt_answer {
  uint64_t taken, refused; /**< messages, or points of line protocol */
  bool full;               /**< the store was behind: the rest was not taken */
  unsigned code;           /**< HTTP, where a body could not be read to its end; else 0 */
  struct {
    unsigned long line, column;
    char text[256];  /**< "": none */
  } first;           /**< refusal */
  GString *refusals; /**< JSON objects, those that are listed */
  int listed;
  uint64_t dropped; /**< values that don't fit their attributes */
  GString *drops;   /**< JSON texts, why */
  int drops_listed;
} tt_answer;

/** To be cleared. */
void tt_answer_begin(tt_answer *answer);
void tt_answer_clear(tt_answer *answer);
/** Counts a refusal of so many messages or points, and lists it unless there are too many. */
void tt_answer_refuse(tt_answer *answer, const tt_message_refusal *refusal, uint64_t count);
/** Counts the values of the message just taken that don't fit, the first of each message with its reason. */
void tt_answer_drop(tt_answer *answer, const tt_origin *origin);
/** {"stored":2,"refused":0,"reasons":[]} and a line feed: docs/telemetry-in.md. All that was taken is durable by then. */
void tt_answer_append(const tt_answer *answer, GString *text);

#endif
