/* halsim_ws_testing.h: a world with a halsim-ws wire and a program at its other end, in one thread, tick by tick. For tests. */
#ifndef TT_WIRE_HALSIM_WS_HALSIM_WS_TESTING_H
#define TT_WIRE_HALSIM_WS_HALSIM_WS_TESTING_H

#include "host/world.h"
#include "scene/scene.h"
#include "websocket/websocket.h"

/** A robot program: its end of the WebSocket, and what it heard. */
typedef struct tt_rig_program {
  tt_net *net;
  tt_websocket_server *server; /**< or */
  tt_websocket_client *client;
  tt_websocket *websocket; /**< NULL: not connected */
  int opened, closed, code;
  uint64_t frames; /**< heard since the connection */
  char *text;      /**< all of them, a line each, since the beginning */
  size_t size, capacity;
} tt_rig_program;

/** Owned; opened and closed by the functions below. */
typedef struct tt_rig {
  tt_scene *scene;
  tt_world *world;
  tt_rig_program program; /**< that of the first wire */
} tt_rig;

/** A world of `scene` whose first wire connects to rig->program, which listens, or, `listens`, the other way round. Its first
 *  view stands. Fails the test where that is not possible. */
void tt_rig_open(tt_rig *rig, const char *scene, const char *const *settings, int count,
                 bool listens);
void tt_rig_close(tt_rig *rig);
/** The program is made anew: it listens at `address` (free port 0), or connects to `url`. */
void tt_rig_program_listen(tt_rig_program *program, const char *address);
void tt_rig_program_connect(tt_rig_program *program, const char *url);
/** Ends the program. */
void tt_rig_program_close(tt_rig_program *program);
/** Handles what has come at either end, until `*what` reaches `least`. Fails the test after its patience. */
void tt_rig_pump(tt_rig *rig, const uint64_t *what, uint64_t least);
/** Until the program is connected, from its end and ours. */
void tt_rig_connected(tt_rig *rig);
/** A tick; then until the program has heard all that left. */
void tt_rig_tick(tt_rig *rig);
/** The program says this, and the wire has received it. */
void tt_rig_say(tt_rig *rig, const char *text);
const tt_wire *tt_rig_wire(const tt_rig *rig, int index);
/** Last accepted value of a command. */
double tt_rig_command(const tt_rig *rig, const char *name);
double tt_rig_signal(const tt_rig *rig, const char *name);

#endif
