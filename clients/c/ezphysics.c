/* A controller for the ezphysics wire: swings every joint of the robot to and fro. For little-endian machines.
 *
 *   cc -o ezphysics clients/c/ezphysics.c -lm && tether run ezphysics & ./ezphysics [port] [states]
 *
 * Waits for each state, prints a body now and then, and answers with a servo command for every joint.
 */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PI 3.14159265358979323846

enum { LIMB = 2, JOINTAXIS = 3, TIMESTAMP = 5, AXIS_MOTOR = 3, MOST = 1 << 20 };

typedef struct packet {
  uint32_t type, size, object, index;
} packet;

static void read_all(int wire, void *bytes, size_t size) {
  if (recv(wire, bytes, size, MSG_WAITALL) == (ssize_t)size) return;
  fprintf(stderr, "the simulator has closed the connection\n");
  exit(1);
}

/* Adds a servo command for one joint: velocity and greatest torque of up to three axes. */
static size_t add_motor(char *out, size_t at, uint32_t joint, float velocity, float torque) {
  const packet header = {AXIS_MOTOR, 24, joint, 0};
  const float numbers[6] = {velocity, torque, velocity, torque, velocity, torque};
  memcpy(out + at, &header, sizeof header);
  memcpy(out + at + sizeof header, numbers, sizeof numbers);
  return at + sizeof header + sizeof numbers;
}

int main(int argc, char **argv) {
  static char in[MOST], out[MOST];
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argc > 1 ? argv[1] : "5803"))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int wire = socket(AF_INET, SOCK_STREAM, 0), one = 1, states = argc > 2 ? atoi(argv[2]) : 1000;
  int32_t step = 0;
  if (connect(wire, (struct sockaddr *)&address, sizeof address) != 0) {
    perror("connect");
    return 1;
  }
  setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  for (int n = 0; n < states; n++) {
    uint32_t header[2], motors = 0, last = 0;
    float limb[21] = {0}, step_size = 0;
    read_all(wire, header, sizeof header); /* size of the message, number of packets */
    if (header[0] > MOST) return 1;
    read_all(wire, in, header[0] - sizeof header);
    size_t used = sizeof header;
    for (char *at = in; header[1] > 0; header[1]--) {
      packet packet;
      memcpy(&packet, at, sizeof packet);
      at += sizeof packet;
      if (packet.type == TIMESTAMP) memcpy(&step, at, 4), memcpy(&step_size, at + 4, 4);
      if (packet.type == LIMB && packet.object == 1) memcpy(limb, at, sizeof limb);
      if (packet.type == JOINTAXIS && packet.object != last) { /* the timestamp came first */
        float velocity = 0.5f * (float)cos(2 * PI * step * (double)step_size);
        used = add_motor(out, used, last = packet.object, velocity, 20);
        motors++;
      }
      at += packet.size;
    }
    if (n % 100 == 0)
      printf("t %7.3f s  body 1 at height %.3f m\n", (double)(step * step_size), (double)limb[2]);
    const uint32_t answer[2] = {(uint32_t)used, motors};
    memcpy(out, answer, sizeof answer);
    send(wire, out, used, MSG_NOSIGNAL);
  }
  printf("done: step %d\n", step);
  close(wire);
  return 0;
}
