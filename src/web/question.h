/* question.h: what a job in a thread of its own keeps of its request, and how it answers. */
#ifndef TT_WEB_QUESTION_H
#define TT_WEB_QUESTION_H

#include "web/server.h"

#include <json-c/json.h>

/** A request that its answer outlives. Copies: who asked, and the server, may have gone. */
typedef struct tt_web_question {
  char *method;
  char *rest;  /**< what follows the route's path */
  char *id;    /**< of `rest`, what stands before its first '/' */
  char *below; /**< what follows that: "signals", "meshes/3"; NULL: there is no '/' */
  char *query; /**< still encoded, or NULL */
  tt_role role;
  GBytes *body;
} tt_web_question;

/** Web's thread; tt_web_question_clear() it, in any thread. */
void tt_web_question_keep(tt_web_question *question, const tt_web_request *request);
void tt_web_question_clear(tt_web_question *question);
/** The body, which is to be one JSON object, to be put; NULL after answering what it is instead. */
struct json_object *tt_web_question_json(const tt_web_question *question, tt_web_answer *answer);

/** The body is `object`, which is taken over; NULL: out of memory. */
void tt_web_answer_json(tt_web_answer *answer, struct json_object *object);
/** Answers with `code` and the error's text, which stands in the answer already. */
void tt_web_answer_refusal(tt_web_answer *answer, unsigned code);
/** Answers with an error. */
void tt_web_answer_error(tt_web_answer *answer, tt_status status, const char *text);

#endif
