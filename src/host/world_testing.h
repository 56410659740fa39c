/* world_testing.h: a world of a scene in YAML, with its journal, for tests: real sockets, no clock. */
#ifndef TT_HOST_WORLD_TESTING_H
#define TT_HOST_WORLD_TESTING_H

#include "base/log.h"
#include "host/world.h"
#include "scene/scene.h"

typedef struct testing_world {
  tt_scene *scene;
  tt_world *world;
  tt_journal_sink *journal;
  int socket;  /**< that sends to its wires */
  float stamp; /**< of the last message of a test */
} testing_world;

/** Every failure fails the test. The world has started and made no tick; its journal keeps a hash of each. */
void testing_open(testing_world *made, const char *text);
void testing_close(testing_world *made);
void testing_tick(testing_world *in, int count);
/** What the log was told, for tt_log_divert(). */
typedef struct testing_said {
  int lines;
  char last[200];
} testing_said;
void testing_keep_last(void *said, tt_log_level level, const char *text);
/** The signal's present value, SI. */
double testing_value(const testing_world *in, const char *name);
int testing_command(const testing_world *in, const char *name);
/** A socket of `type` connected to wire `index`. */
int testing_connect(const testing_world *in, int index, int type);
/** Sends one message to wire `index`; loopback delivers it before sendto() returns. */
void testing_send(testing_world *in, int index, const float *values, int count);
void testing_post(testing_world *in, tt_mail_kind kind, int index, double number);
/** Whether the journal has this text so far. */
bool testing_journaled(const testing_world *in, const char *text);

#endif
