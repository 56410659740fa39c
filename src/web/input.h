/* input.h: what comes over a connection, in turns.
 *
 * libsoup reads a WebSocket until nothing is left, answers pings itself, and goes through frames of six bytes as long as
 * they come: who sends fast enough would have the web's thread for itself. This stream stands beneath libsoup and says
 * "nothing more now" when a turn's bytes are used up. Of those who use up whole turns one is read in each round of the main
 * loop, one after the other, besides everybody else.
 */
#ifndef TT_WEB_INPUT_H
#define TT_WEB_INPUT_H

#include <gio/gio.h>

#define TT_TYPE_WEB_INPUT (tt_web_input_get_type())
G_DECLARE_FINAL_TYPE(TtWebInput, tt_web_input, TT, WEB_INPUT, GFilterInputStream)

/** Whose turn it is, among all inputs of one main context. {0} at first. */
typedef struct tt_web_turns {
  gint64 round;    /**< µs, GLib's time of this round of the main loop */
  gboolean served; /**< one that used up its turn before had another in this round */
  guint64 lap;     /**< in which each of them has one */
} tt_web_turns;

/** The input of an accepted connection; `turns` outlives it. */
TtWebInput *tt_web_input_new(GSocketConnection *accepted, tt_web_turns *turns);

/** A WebSocket begins: its frames cost more than their bytes. At most `message` bytes may come between two calls of
 *  tt_web_input_whole(), or reading fails: libsoup joins fragments without a limit. */
void tt_web_input_expect_frames(TtWebInput *input, size_t message);
/** A whole message (or a pong) was read. */
void tt_web_input_whole(TtWebInput *input);
/** Bytes that were read since. */
guint64 tt_web_input_unfinished(const TtWebInput *input);

/** Between two requests, or within one. libsoup 3.2 keeps a connection for ever that ends between two, but not one that ends within a
 *  request: so one that rests gives the first byte of a request before its end. Reading something ends the rest. */
void tt_web_input_rest(TtWebInput *input, gboolean rests);
/** A body that is to be whole is coming, or has come: where the connection ends before, reading fails. libsoup takes that end for the end
 *  of a chunked body. */
void tt_web_input_body(TtWebInput *input, gboolean comes);

#endif
