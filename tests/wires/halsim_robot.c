/* halsim_robot.c: stands in for a robot program on WPILib in tests: what its HALSim says over the WebSocket, frame by frame as
 * a real program of season 2026 does, and a TimedRobot of 20 ms that drives so far on its encoders and stops.
 *
 *   halsim_robot --listen 127.0.0.1:0 [--metres 2]      as with halsim_ws_server
 *   halsim_robot --connect ws://127.0.0.1:3300/wpilibws  as with halsim_ws_client: never again after a connection that was up
 *
 * It prints "listening ADDRESS", "connected", "disconnected", "enabled", "disabled" and "arrived METRES", and goes on until it is
 * ended.
 */
#include "base/clock.h"
#include "halsim/message.h"
#include "websocket/websocket.h"

#include <json-c/json.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP 20000000u /* ns */
#define SLEW 0.02      /* of full speed, a loop */
#define WHEEL_RADIUS 0.0762
#define COUNTS_A_TURN 1440.0
#define METRES_A_COUNT (2 * M_PI * WHEEL_RADIUS / COUNTS_A_TURN)

typedef struct robot {
  tt_net *net;
  tt_websocket *websocket;
  double metres; /* to drive */
  double count[2], speed[2], start[2];
  bool told[2]; /* of an encoder: it was heard of since the connection */
  bool enabled, was_enabled, arrived;
  int still; /* loops without a count */
  double before;
} robot;

static void say_value(robot *robot, const char *type, const char *device, const char *key,
                      tt_halsim_sort sort, double number) {
  char text[512];
  tt_halsim_value value = {.key = key, .sort = sort, .number = number};
  size_t size = tt_halsim_write(type, device, &value, 1, text, sizeof text);
  if (robot->websocket) tt_websocket_send(robot->websocket, true, text, size);
}

static void say_number(robot *robot, const char *type, int index, const char *key, double number) {
  char device[16];
  snprintf(device, sizeof device, "%d", index);
  say_value(robot, type, device, key, TT_HALSIM_NUMBER, number);
}

static void say_flag(robot *robot, const char *type, int index, const char *key, bool on) {
  char device[16];
  snprintf(device, sizeof device, "%d", index);
  say_value(robot, type, device, key, TT_HALSIM_FLAG, on);
}

static void say_encoder(robot *robot, int index) {
  char device[16], text[512];
  bool made = index < 2;
  tt_halsim_value values[] = {
      {.key = "<channel_a", .sort = TT_HALSIM_WHOLE, .number = 2 * index},
      {.key = "<channel_b", .sort = TT_HALSIM_WHOLE, .number = 2 * index + 1},
      {.key = "<init", .sort = TT_HALSIM_FLAG, .number = made}};
  snprintf(device, sizeof device, "%d", index);
  size_t size = made ? tt_halsim_write("Encoder", device, values, 3, text, sizeof text)
                     : tt_halsim_write("Encoder", device, values + 2, 1, text, sizeof text);
  tt_websocket_send(robot->websocket, true, text, size);
  say_number(robot, "Encoder", index, ">count", 0);
  say_number(robot, "Encoder", index, ">period", 1.7976931348623157e308);
  say_flag(robot, "Encoder", index, "<reverse_direction", false);
  say_number(robot, "Encoder", index, "<samples_to_avg", 0);
}

static void say_pwm(robot *robot, int index, double speed) {
  say_number(robot, "PWM", index, "<raw", rint(1500 + 500 * speed));
  say_number(robot, "PWM", index, "<speed", speed);
  say_number(robot, "PWM", index, "<position", 0.5 + speed / 2);
}

/* Everything that the HAL has, used or not: some 1,500 frames. */
static void say_everything(robot *robot) {
  static const char *const analog[] = {">voltage",     "<avg_bits",     "<oversample_bits",
                                       "<accum_count", "<accum_center", "<accum_deadband",
                                       ">accum_value"};
  static const char *const pcm[] = {">on", "<closed_loop", ">pressure_switch", ">current"};
  char device[16];
  for (int i = 0; i < 8; i++) {
    say_flag(robot, "AI", i, "<init", false);
    for (int k = 0; k < 7; k++) say_number(robot, "AI", i, analog[k], 0);
  }
  for (int i = 0; i < 63; i++) {
    say_flag(robot, "CTREPCM", i, "<init", false);
    for (int k = 0; k < 4; k++) say_flag(robot, "CTREPCM", i, pcm[k], k == 1);
  }
  for (int i = 0; i < 31; i++) {
    say_flag(robot, "DIO", i, "<init", i < 4);
    say_flag(robot, "DIO", i, "<>value", true);
    say_number(robot, "DIO", i, "<pulse_length", 0);
    say_flag(robot, "DIO", i, "<input", true);
  }
  for (int i = 0; i < 8; i++) say_encoder(robot, i);
  for (int i = 0; i < 20; i++) {
    say_flag(robot, "PWM", i, "<init", i < 2);
    say_number(robot, "PWM", i, "<speed", i < 2 ? robot->speed[i] : 0);
    say_number(robot, "PWM", i, "<position", i < 2 ? 0.5 : 0);
    say_number(robot, "PWM", i, "<raw", i < 2 ? 1500 : 0);
    say_number(robot, "PWM", i, "<period_scale", 0);
    say_flag(robot, "PWM", i, "<zero_latch", false);
  }
  for (int i = 0; i < 4; i++) {
    say_flag(robot, "Relay", i, "<init_fwd", false);
    say_flag(robot, "Relay", i, "<fwd", false);
  }
  for (int m = 0; m < 63; m++) {
    for (int c = 0; c < 8; c++) {
      snprintf(device, sizeof device, "%d,%d", m, c);
      say_value(robot, "Solenoid", device, "<output", TT_HALSIM_FLAG, 0);
    }
  }
  for (int i = 0; i < 6; i++) {
    say_flag(robot, "dPWM", i, "<init", false);
    say_number(robot, "dPWM", i, "<duty_cycle", 0);
    say_number(robot, "dPWM", i, "<dio_pin", 0);
  }
  for (int i = 0; i < 300; i++) say_number(robot, "PDP", i, "<current", 0); /* other vendors' */
}

/* What a program answers to new data of the driver station. */
static void answer_station(robot *robot) {
  for (int i = 0; i < 6; i++) say_number(robot, "Joystick", i, "<rumble_left", 0);
  say_value(robot, "DriverStation", "", ">new_data", TT_HALSIM_FLAG, 1);
}

static void on_open(void *context, tt_websocket *websocket) {
  robot *robot = context;
  robot->websocket = websocket;
  robot->told[0] = robot->told[1] = false;
  printf("connected\n");
  say_everything(robot);
}

static void take(robot *robot, const tt_halsim_message *message) {
  tt_halsim_value values[TT_HALSIM_MOST_VALUES];
  int count = tt_halsim_values(message, values);
  bool new_data = false;
  for (int i = 0; i < count; i++) {
    const char *key = values[i].key;
    if (strcmp(message->type, "Encoder") == 0 && strcmp(key, ">count") == 0) {
      int index = atoi(message->device);
      if (index < 0 || index > 1) continue;
      robot->count[index] = values[i].number;
      robot->told[index] = true;
      say_number(robot, "Encoder", index, ">count", values[i].number); /* an echo */
    }
    if (strcmp(message->type, "DriverStation") != 0) continue;
    if (strcmp(key, ">enabled") == 0) robot->enabled = values[i].number != 0;
    new_data |= strcmp(key, ">new_data") == 0;
  }
  if (new_data) answer_station(robot);
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  tt_halsim_message message;
  tt_error error;
  if (!text || tt_halsim_read((const char *)bytes, size, &message, &error) != TT_OK) {
    tt_websocket_close(websocket, 1003, "no JSON"); /* as HALSim does */
    return;
  }
  take(context, &message);
  tt_halsim_message_clear(&message);
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  robot *robot = context;
  (void)code;
  if (!websocket || robot->websocket != websocket) return;
  robot->websocket = NULL;
  printf("disconnected: %s\n", reason);
}

static void on_request(void *context, const tt_websocket_request *request,
                       tt_websocket_answer *answer) {
  const robot *robot = context;
  if (strcmp(request->path, "/wpilibws") == 0) answer->status = robot->websocket ? 409 : 101;
}

static double driven(const robot *robot) {
  return ((robot->count[0] - robot->start[0]) + (robot->count[1] - robot->start[1])) / 2 *
         METRES_A_COUNT;
}

static void set_speed(robot *robot, double speed) {
  for (int i = 0; i < 2; i++) {
    if (robot->speed[i] == speed) continue; /* a value that stays equal is not repeated */
    robot->speed[i] = speed;
    say_pwm(robot, i, speed);
  }
}

/* A TimedRobot's loop. WPILib itself sets outputs to 0 while it is disabled. */
static void periodic(robot *robot) {
  if (robot->enabled != robot->was_enabled) {
    printf("%s\n", robot->enabled ? "enabled" : "disabled");
    robot->was_enabled = robot->enabled;
  }
  if (!robot->enabled || !robot->told[0] || !robot->told[1]) {
    memcpy(robot->start, robot->count, sizeof robot->start);
    set_speed(robot, 0);
    return;
  }
  double left = robot->metres - driven(robot);
  double speed = fabs(left) < 0.01 ? 0 : fmax(-0.6, fmin(0.6, 1.5 * left));
  double most = robot->speed[0] + SLEW, least = robot->speed[0] - SLEW; /* so that no wheel slips */
  speed = fmax(least, fmin(most, rint(speed * 1000) / 1000));
  set_speed(robot, speed);
  robot->still = driven(robot) == robot->before && speed == 0 ? robot->still + 1 : 0;
  robot->before = driven(robot);
  if (robot->still < 25 || robot->arrived) return;
  robot->arrived = true;
  printf("arrived %.3f\n", driven(robot));
}

static tt_status open_socket(robot *robot, const char *listen, const char *url, tt_error *error) {
  tt_websocket_options options = tt_websocket_options_default();
  tt_websocket_client *client;
  tt_websocket_server *server;
  options.handler = (tt_websocket_handler){on_request, on_open, on_message, on_close};
  options.context = robot;
  options.max_queued = 8 << 20;
  options.url = url;
  if (url) return tt_websocket_connect(robot->net, &options, &client, error);
  options.address = listen;
  TT_TRY(tt_websocket_listen(robot->net, &options, &server, error));
  printf("listening %s\n", tt_websocket_server_address(server));
  return TT_OK;
}

int main(int count, char **arguments) {
  robot robot = {.net = tt_net_new(), .metres = 2};
  const char *listen = "127.0.0.1:0", *url = NULL;
  tt_error error;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(arguments[i], "--listen") == 0) listen = arguments[i + 1];
    if (strcmp(arguments[i], "--connect") == 0) url = arguments[i + 1];
    if (strcmp(arguments[i], "--metres") == 0) robot.metres = strtod(arguments[i + 1], NULL);
  }
  tt_net_set_spin(robot.net, 0);
  if (open_socket(&robot, listen, url, &error) != TT_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  for (uint64_t next = tt_monotonic_ns() + LOOP;; next += LOOP) {
    for (uint64_t now = tt_monotonic_ns(); now < next; now = tt_monotonic_ns())
      tt_net_poll(robot.net, next - now);
    periodic(&robot);
  }
}
