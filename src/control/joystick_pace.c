/* joystick_pace.c: when a joystick's next message may leave. See joystick_pace.h. */
#include "control/joystick_pace.h"

static uint64_t after(uint64_t time, double seconds) { return time + (uint64_t)(seconds * 1e9); }

void tt_joystick_pace_heard(tt_joystick_pace *pace, uint64_t now) {
  pace->heard_ns = now;
  pace->permitted = true;
}

void tt_joystick_pace_sent(tt_joystick_pace *pace, uint64_t now) {
  pace->sent_ns = now;
  pace->permitted = false;
}

uint64_t tt_joystick_pace_next(const tt_joystick_pace *pace) {
  uint64_t earliest = pace->sent_ns == 0 ? 0 : after(pace->sent_ns, pace->period);
  if (pace->permitted || pace->heard_ns == 0) return earliest;
  uint64_t anyway = after(pace->heard_ns, TT_JOYSTICK_PATIENCE);
  return anyway > earliest ? anyway : earliest;
}

bool tt_joystick_pace_connected(const tt_joystick_pace *pace, uint64_t now, double timeout) {
  return pace->heard_ns != 0 && now < after(pace->heard_ns, timeout);
}
