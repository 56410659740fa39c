/* wire.h: the contract that every protocol fills. One folder a protocol, deletable as a unit: codec (pure:
 * bytes ↔ message struct, both directions, no I/O, no allocation per message), adapter (this contract), its
 * part of the scene schema, tests, fuzz target, byte table in docs/wires/, sample clients.
 *
 * All calls come from the world's own thread. None may block or touch the physics: an adapter reads the
 * view it is given and submits named commands; nothing else. An adapter never includes another adapter.
 */
#ifndef TT_HOST_WIRE_H
#define TT_HOST_WIRE_H

#include "model/signal.h"
#include "base/drop.h"
#include "base/status.h"
#include "game/driver_station.h"
#include "model/view.h"
#include "net/net.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct tt_wire tt_wire;

/** What people want to know about a wire; written by host and adapter in the world's thread. */
typedef struct tt_wire_stats {
  uint64_t received; /**< messages that arrived whole */
  uint64_t accepted; /**< of those, applied */
  uint64_t sent;     /**< messages handed to the socket */
  uint64_t send_failed;
  uint64_t dropped[TT_DROP_COUNT];
  uint64_t watchdog_trips;
  uint64_t late; /**< ticks where this wire's answer was late */
  /** messages sent again in lock-step and then answered: with any, a run need not repeat bit for bit */
  uint64_t repeated;
  uint64_t round_trips;
  double round_trip_last, round_trip_min, round_trip_max,
      round_trip_sum; /**< s, send → answer, where the protocol has one */
  char peer[64];      /**< last peer heard, "127.0.0.1:5802" or "" */
  char bad_peer[64];
  char bad_text[160]; /**< what was wrong with the last bad message, naming the field */
  uint8_t bad_bytes[256];
  int bad_size;  /**< bytes of it kept in bad_bytes */
  int bad_whole; /**< its own size, bytes */
} tt_wire_stats;

/** A wire's state as people see it. */
typedef enum tt_wire_state {
  TT_WIRE_WAITING, /**< nobody has spoken yet, or the peer is gone */
  TT_WIRE_DRIVING, /**< commands arrive in time */
  TT_WIRE_LATE,    /**< lock-step: the world waits for it */
  TT_WIRE_SILENT,  /**< the watchdog tripped */
} tt_wire_state;

/** What to do when a lock-step controller has not answered within `deadline` (wall clock). */
typedef enum tt_late_policy {
  TT_LATE_WAIT,
  TT_LATE_HOLD,
  TT_LATE_ZERO,
  TT_LATE_EJECT
} tt_late_policy;

/** A field of a message, for monitors: the byte table come alive. */
typedef struct tt_wire_field {
  char name[64];
  char value[64];
  char unit[16];    /**< as on the wire; "" where it has none */
  int offset, size; /**< bytes; 0 where it is missing */
  bool wrong;       /**< the message was, or would be, refused for it */
} tt_wire_field;

/** One message of a wire, and its fields as they are found; filled by the functions of wire/explain.h. */
typedef struct tt_explanation {
  const uint8_t *bytes;
  int size;  /**< bytes that are here */
  int whole; /**< the message's own size: more than `size` where its end was not kept */
  tt_wire_field *fields;
  int capacity, count;
} tt_explanation;

/** What a client in some language is made of: client/client.h says how. Static texts. */
typedef struct tt_wire_client {
  const char *language; /**< "python", "java", "c", "cpp" */
  const char *pattern;
} tt_wire_client;

typedef struct tt_wire_ops {
  const char *protocol; /**< "float-udp" */

  /** Resolves names and opens sockets. `config` is the adapter's own struct as config loaded and checked
   *  it; valid as long as the wire. Fills wire->self. May allocate. Errors name key and remedy. */
  tt_status (*open)(tt_wire *wire, const void *config, tt_error *error);

  /** Timeouts: called after each look at the network, at *receive* and while the world waits. `seconds` of wall clock since the
   *  last call; time for which the world was paused does not count. May be NULL. */
  void (*poll)(tt_wire *wire, double seconds);

  /** Called at *receive* of each of its ticks after the network was polled: submits what has arrived
   *  (tt_wire_submit) and drops the rest (tt_wire_drop). */
  void (*receive)(tt_wire *wire);

  /** While the world is paused, after the network was polled: whether what has arrived asks for a reset, which is not to wait until
   *  the world goes on; receive() follows then. NULL: no message of this protocol does. */
  bool (*wants_reset)(tt_wire *wire);

  /** Of a wire in lock-step (tt_wire.lockstep): true while the world has to wait for an answer of this wire
   *  (or for its first client, where the wire asks for that). The world polls the network meanwhile. NULL: never. */
  bool (*must_wait)(const tt_wire *wire);

  /** Called at *send* of each of its ticks, and once before the first step: `view` is the present. */
  void (*send)(tt_wire *wire, const tt_view *view);

  /** The world or this wire's robot was reset (by anyone): forget sequence numbers, start over. May be NULL. */
  void (*reset)(tt_wire *wire);

  /** The late policy EJECT: close the peer and wait for the next. Lock-step only. */
  void (*eject)(tt_wire *wire);

  /** The world stands, since another wire waits for a peer that went: whoever left this one, and whose end is to end the
   *  program, ends it now, where no next frame may come. Lock-step only. */
  void (*end_left)(tt_wire *wire);

  /** The address it really has, "127.0.0.1:11235", for the ready line. Static until the next call. */
  const char *(*address)(const tt_wire *wire);

  /** Takes a message of this wire, good or bad, apart for monitors and error reports: every field of its byte table,
   *  in order; `incoming`: the direction is to the simulator. Any thread; reads only what open() made. */
  void (*explain)(const tt_wire *wire, bool incoming, tt_explanation *to);

  /** Closes sockets and frees self. */
  void (*close)(tt_wire *wire);

  /** Lists what this protocol calls the things of a model where it does not use names, for `tether check`.
   *  May be NULL. */
  void (*list_ids)(const tt_model *model, FILE *to);

  /** Lists which command or signal each name of this wire's peer is, where those names have a device and a field, for
   *  `tether check`. May be NULL: then the lists of its schema say it. */
  void (*list_names)(const tt_wire *wire, FILE *to);

  /** Which lists of its schema are of commands; the others are of signals. NULL-terminated, or NULL: none. */
  const char *const *command_lists;
  /** Clients that can be made for its lists; up to one without a language, or NULL: none. */
  const tt_wire_client *clients;
} tt_wire_ops;

/** Core's side of a wire. An adapter reads it, calls the functions below, and writes only `self`, and
 *  `stats` where the comment says so. */
struct tt_wire {
  const tt_wire_ops *ops;
  const char *name;      /**< as in the ready line and --set */
  const char *where;     /**< "scenes/frc2011.yaml: wires.float-udp", begins error messages */
  int robot;             /**< the robot it drives, or TT_NO_ROBOT: the whole world */
  uint64_t period_steps; /**< its interval; send is called at multiples of it, receive as well */
  double watchdog;       /**< s simulated; 0 off */
  const tt_names *names;
  const tt_model *model;
  tt_net *net;
  struct tt_world *world;
  tt_wire_stats stats;
  tt_wire_state state; /**< by the host; an adapter sets TT_WIRE_WAITING when its peer is gone */
  /** commands this wire lists: what its watchdog makes safe; set by the adapter in open() */
  const int *owned;
  int owned_count;
  /** Its peers are told of the driver station (tt_wire_driver_station) and end their outputs themselves when it disables them:
   *  what they command passes while their robot is disabled, though not while an e-stop is held. Every other wire has no such
   *  notion, and a disabled robot is one whose commands are safe and stay so. Set by the adapter in open(). */
  bool tells_driver_station;
  bool check_only; /**< resolve names, open no socket (tether check) */
  bool lockstep;   /**< the world waits for its answers: by its schema and the scene's pace */
  bool realtime;   /**< the scene's pace is that of the clock */
  tt_late_policy late;
  double deadline; /**< s wall clock, of `late` */
  void *self;
};

/** Validates all (finite, within the command's range), then journals and applies all, or none: TT_BAD_MESSAGE
 *  with `bad` (may be NULL) the index of the offending one. Feeds the watchdog. World's thread, during receive(). */
tt_status tt_wire_submit(tt_wire *wire, const tt_submission *submissions, int count, int *bad);

/** In lock-step: the answer is there to what was sent at `sent_at` (tt_monotonic_ns()): its round trip is counted, and its deadline
 *  begins anew where more answers are to come. */
void tt_wire_answered(tt_wire *wire, uint64_t sent_at);

/** The same for what was accepted before and holds again, since an order for a limited time is over; without counting as heard. */
tt_status tt_wire_submit_again(tt_wire *wire, const tt_submission *submissions, int count);

/** Says that a valid message came without commands (keeps the watchdog quiet). */
void tt_wire_alive(tt_wire *wire);

/** Sets those of `commands` that have a safe value to it, journaled, without counting as heard: for what a message
 *  ordered for a limited time only. */
void tt_wire_make_safe(tt_wire *wire, const int *commands, int count);

/** A message that changed nothing: counts it, keeps it for people, logs the first of each reason a second.
 *  `format` names the offending field, for example "field 3 (arm torque) is NaN". */
void tt_wire_drop(tt_wire *wire, tt_drop reason, const char *peer, const uint8_t *bytes,
                  size_t size, const char *format, ...) __attribute__((format(printf, 6, 7)));

/** A whole message arrived, or one was handed to the socket (`sent`: whether it took it): counts it, and shows it
 *  to whoever monitors this wire, cut at TT_TAPPED_BYTES. Costs one comparison while nobody does. */
void tt_wire_received(tt_wire *wire, const void *bytes, size_t size);
void tt_wire_sent(tt_wire *wire, const void *bytes, size_t size, bool sent);
#define TT_TAPPED_BYTES 1024

/** Journals and publishes something that happened on this wire ("connected 127.0.0.1:4711"). */
void tt_wire_event(tt_wire *wire, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** In real time, at send: is this wire's next message due already, since the machine was late? What would leave now is
 *  the past, and the present follows at once. */
bool tt_wire_is_behind(const tt_wire *wire);

/** Asks for a reset of this wire's robot (world, if TT_NO_ROBOT), done before the next step. A kept run that is shown goes on, for
 *  this and the next: it obeys and waits for nobody. */
void tt_wire_request_reset(tt_wire *wire);
/** Asks the program to end, done at the end of this tick. `status` becomes its exit status' cause. */
void tt_wire_request_stop(tt_wire *wire, tt_status status, const char *reason);

/** The driver station of this wire's robot, or of the first one where it drives the whole world. World's thread: at *send* it
 *  belongs to the view. Never NULL. */
const tt_driver_station *tt_wire_driver_station(const tt_wire *wire);

/** The view as last sensed: what ops->send was given last. */
const tt_view *tt_wire_view(const tt_wire *wire);
/** Simulated time now, s, and step: both begin at 0 again when the world is reset. */
double tt_wire_time(const tt_wire *wire);
uint64_t tt_wire_step(const tt_wire *wire);
/** Simulated time since the program began, s: it never turns back, neither at a reset nor with another scene. */
double tt_wire_run_time(const tt_wire *wire);

/** All protocols, NULL-terminated: the only place that lists them (made of src/wire/registry.c.in). */
extern const tt_wire_ops *const tt_wire_protocols[];

#endif
