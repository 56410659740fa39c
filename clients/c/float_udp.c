/* Drives the frc2011 robot over float-udp: holds the arm level and drives in a gentle arc.
 *
 * usage: float_udp [SIMULATOR_PORT [LISTEN_PORT [SECONDS]]]      default: 5801 5802 5, all on 127.0.0.1
 * build: cc -O2 float_udp.c -o float_udp. Byte table: docs/wires/float-udp.md.
 * Written for little-endian machines, as nearly all are: the floats go out as they stand in memory.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

struct sensors {
  float time, left_angle, right_angle, arm_angle,
      wrist_angle; /* s, rad; arm and wrist positive down */
  float left_speed, right_speed, arm_speed, wrist_speed, yaw_rate; /* rad/s */
};
struct actuators {
  float stamp, left_track, right_track, arm,
      wrist;  /* stamp: any number that grows; torques in in·lbf */
  float grip; /* 0 nothing, 1…4 a kind of game piece */
};
_Static_assert(sizeof(struct sensors) == 40 && sizeof(struct actuators) == 24, "no padding");

static float clamp(float value, float most) {
  return value > most ? most : value < -most ? -most : value;
}

static struct actuators control(const struct sensors *s, float stamp) {
  return (struct actuators){
      .stamp = stamp,
      .left_track = clamp(20 * (4 - s->left_speed), 60), /* towards 4 rad/s */
      .right_track = clamp(20 * (5 - s->right_speed), 60),
      .arm = clamp(-400 * s->arm_angle - 80 * s->arm_speed - 150,
                   400), /* 150: something against gravity */
      .wrist = clamp(-60 * s->wrist_angle - 10 * s->wrist_speed, 60),
  };
}

static struct sockaddr_in here(const char *port) {
  return (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)atoi(port)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int main(int argc, char **argv) {
  struct sockaddr_in simulator = here(argc > 1 ? argv[1] : "5801");
  struct sockaddr_in own = here(argc > 2 ? argv[2] : "5802");
  double seconds = argc > 3 ? atof(argv[3]) : 5;
  int link = socket(AF_INET, SOCK_DGRAM, 0);
  if (link < 0 || bind(link, (struct sockaddr *)&own, sizeof own) != 0) {
    perror("float_udp");
    return 1;
  }
  struct sensors sensors;
  int messages = 0;
  float start = 0;
  do {
    if (recv(link, &sensors, sizeof sensors, MSG_TRUNC) != (ssize_t)sizeof sensors) continue;
    if (messages++ == 0) start = sensors.time;
    struct actuators actuators = control(&sensors, (float)messages);
    sendto(link, &actuators, sizeof actuators, 0, (struct sockaddr *)&simulator, sizeof simulator);
    if (messages % 100 == 1)
      printf("t %.2f s  wheels %.2f %.2f rad  arm %.2f rad\n", (double)sensors.time,
             (double)sensors.left_angle, (double)sensors.right_angle, (double)sensors.arm_angle);
  } while (messages == 0 || sensors.time - start < seconds);
  printf("done: %d messages, wheels at %.2f %.2f rad\n", messages, (double)sensors.left_angle,
         (double)sensors.right_angle);
  return 0;
}
