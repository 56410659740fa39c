/* stream.h: what every wire over TCP with one peer does with its connection: who is there, what it sent and nobody has read yet,
 * what it is still owed, and what becomes of the world when it goes.
 *
 * A second peer is told that somebody is there, and closed; but while the last answers of one that left are still to be obeyed,
 * the next one waits for that: in real time they are all taken for one tick. Whoever says something and goes while he waits
 * has his turn, too, and the next one waits behind him. What comes stands in one buffer until the
 * adapter takes it. With more than `enough` in it the peer is not listened to until the world has caught up: it feels TCP's own
 * backpressure.
 */
#ifndef TT_WIRE_STREAM_H
#define TT_WIRE_STREAM_H

#include "host/wire_keys.h"
#include "host/wire.h"

/** What becomes of the wire's robot (EXIT: of the program) when the peer goes. */
typedef enum tt_wire_disconnect { TT_WIRE_KEEP, TT_WIRE_RESET, TT_WIRE_EXIT } tt_wire_disconnect;
/** What a checked key `on_disconnect` says: keep, reset or exit. */
tt_wire_disconnect tt_wire_disconnect_of(const char *text);

/** What an adapter does with its stream. All in the world's thread. */
typedef struct tt_wire_stream_use {
  const char *whom;    /**< what it calls its peer, "client"; static */
  const char *refusal; /**< what a second peer is dropped with, "one client at a time"; static */
  const char *listen;  /**< an address; kept */
  const char *connect; /**< instead of listening: an address to connect to; kept. NULL: none */
  int connection;      /**< instead of both: a descriptor, as of tt_tcp_adopt(); 0: none */
  size_t enough;       /**< bytes */
  size_t max_queued;   /**< bytes unsent at which the peer is cut; 0: as tt_tcp_options_default() */
  bool answers_ahead;  /**< it may answer messages that are not sent yet */
  tt_wire_disconnect then;     /**< when the peer goes */
  void (*met)(tt_wire *wire);  /**< somebody is there: says what stands. May be NULL */
  void (*take)(tt_wire *wire); /**< takes what it can from the front of `bytes` */
  void (*lost)(tt_wire *wire); /**< its peer is gone, and all members but these here are zero */
} tt_wire_stream_use;

#define TT_WIRE_MOST_WAITING 4
/** Who waits, unheard, until those before are obeyed: in order of their coming, and all but the last have gone. */
typedef struct tt_wire_queue {
  tt_tcp *of[TT_WIRE_MOST_WAITING];
  int count;
} tt_wire_queue;

/** A wire's connection: the first member of its `self`, which the adapter allocates, zero at first. */
typedef struct tt_wire_stream {
  tt_wire_stream_use use;
  tt_tcp_server *server;
  tt_tcp_client *connector;
  uint8_t *bytes; /**< what came and was not taken yet */
  size_t size;    /**< of that */
  tt_tcp *tcp;    /**< NULL: nobody */
  tt_wire_queue waiting;
  bool paused;
  /** Lock-step: the newest message is the present, and was not obeyed yet. Only then the world waits, who comes is told it, and
   * what comes is taken. */
  bool stands;
  /** It has answered the newest message, or, out of lock-step, said anything; by the adapter. */
  bool answered;
  bool said;        /**< an answer, if a late one, waits for its tick; by the adapter */
  bool left;        /**< it is gone, which counts when the next message stands; `tcp` is NULL */
  bool hurries;     /**< it is gone, and all that it said ahead is taken for the one tick */
  uint64_t owed;    /**< messages sent that it has not answered; by the adapter */
  uint64_t stale;   /**< of those, sent before a reset; the adapter counts them down */
  uint64_t sent_at; /**< wall clock, ns, of the newest, for statistics; by the adapter */
} tt_wire_stream;

/** Keeps `use`, and opens the wire's socket unless the wire is only checked. Errors begin with the wire's place in the scene. */
tt_status tt_wire_open_stream(tt_wire *wire, const tt_wire_stream_use *use,
                              const tt_wire_common *common, tt_error *error);
/** Takes `size` bytes from the front; none where a peer that is gone took them along. */
void tt_wire_stream_taken(tt_wire_stream *stream, size_t size);
/** Hands bytes to the socket and counts them as one message. The peer may be gone afterwards. */
void tt_wire_send_stream(tt_wire *wire, const void *bytes, size_t size);
/** At send, before the message: it stands, and wants an answer of its own. */
void tt_wire_stand_stream(tt_wire_stream *stream);
/** While taking: whether one more answer is to be taken. */
bool tt_wire_stream_wants(const tt_wire_stream *stream);
/** At receive: whether the message has its answer, which is obeyed now. The world may come to receive again before the next
 * message leaves (another robot was reset): nobody is asked twice then. */
bool tt_wire_obey_stream(tt_wire_stream *stream);
/** At send, after the message: takes what had come before it, and ends a peer that left and whose answers are all done. */
void tt_wire_reread_stream(tt_wire *wire);
/** At a reset: what is owed is stale. */
void tt_wire_reset_stream(tt_wire *wire);
/** Ends the connection, if there is one, for `reason`, and does what `then` says: after the last tick of one that hurries. */
void tt_wire_end_stream(tt_wire *wire, const char *reason);
/* Operations of every such wire: must_wait, eject, end_left, address, and close, which frees `self` and is called after an error while
 * opening, too. */
bool tt_wire_stream_must_wait(const tt_wire *wire);
void tt_wire_eject_stream(tt_wire *wire);
void tt_wire_end_left_stream(tt_wire *wire);
const char *tt_wire_stream_address(const tt_wire *wire);
void tt_wire_close_stream(tt_wire *wire);

#endif
