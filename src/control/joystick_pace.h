/* joystick_pace.h: when a joystick's next message may leave. Pure: the caller brings the clock.
 *
 * A core may read one datagram a loop, and loop no faster than 72 times a second: what comes faster waits in its socket
 * and ages. So each of its heartbeats permits one message, and no two leave within a period of TT_SHARP_PERIOD. A core that
 * sends none for TT_JOYSTICK_PATIENCE is spoken to all the same, period by period: each waiting for the other would be
 * the end.
 */
#ifndef TT_CONTROL_JOYSTICK_PACE_H
#define TT_CONTROL_JOYSTICK_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define TT_JOYSTICK_PATIENCE 0.1 /**< s without a heartbeat after which messages leave anyway */

/** Set `period` and zero the rest: nobody has been heard. Times are ns of one clock. */
typedef struct tt_joystick_pace {
  double period;     /**< s, least time between messages; at least TT_SHARP_PERIOD */
  uint64_t sent_ns;  /**< when the last message left; 0: none has */
  uint64_t heard_ns; /**< when the last heartbeat came; 0: none has */
  bool permitted;    /**< a heartbeat has come since the last message */
} tt_joystick_pace;

/** A heartbeat came. */
void tt_joystick_pace_heard(tt_joystick_pace *pace, uint64_t now);
/** A message left. */
void tt_joystick_pace_sent(tt_joystick_pace *pace, uint64_t now);
/** When the next message may leave if no further heartbeat comes, ns: not after `now` means at once. */
uint64_t tt_joystick_pace_next(const tt_joystick_pace *pace);
/** Whether a heartbeat has come within the last `timeout` s: what the sign shows. */
bool tt_joystick_pace_connected(const tt_joystick_pace *pace, uint64_t now, double timeout);

#endif
