/* look.h: what is known of a draft at one revision of its files: made once, then only read. */
#ifndef TT_DRAFT_LOOK_H
#define TT_DRAFT_LOOK_H

#include "base/bytes.h"
#include "draft/problem.h"

#include <json-c/json.h>

#define TT_DRAFT_MOST_PROBLEMS 200
#define TT_DRAFT_MOST_WIRE 160 /**< bytes of a wire's name, its end included */

/** A client for a wire. */
typedef struct tt_draft_client {
  char wire[TT_DRAFT_MOST_WIRE]; /**< its name */
  const char *language;          /**< static */
  char *file, *text, *start;     /**< its name, its source, the commands that start it */
} tt_draft_client;

/** References are counted; whoever has one may read it in any thread. */
typedef struct tt_draft_look {
  int references;
  uint64_t revision;
  bool runs;         /**< no problem is an error */
  char machine[128]; /**< sections that concern the machine, "record, web"; "" where it has none */
  tt_problem *problems;
  int problem_count;
  /** robots, wires, signals and commands as in docs/web.md; NULL where it doesn't load */
  struct json_object *parts;
  char *model; /**< the message `model` with poses; NULL where there is none */
  tt_bytes *meshes, *textures;
  int mesh_count, texture_count;
  tt_draft_client *clients;
  int client_count;
} tt_draft_look;

/** An empty one, with one reference; NULL when out of memory. */
tt_draft_look *tt_draft_look_new(void);
tt_draft_look *tt_draft_look_ref(tt_draft_look *look);
void tt_draft_look_unref(tt_draft_look *look);

/** Adds one, unless the same stands there already, or there are too many. False: it was not added. While it is made. */
bool tt_draft_look_add(tt_draft_look *look, const tt_problem *problem);
/** Text of the first error; NULL: there is none. */
const tt_problem *tt_draft_look_error(const tt_draft_look *look);

#endif
