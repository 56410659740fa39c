/* Moves the gripper's arm over lockstep-tcp: every frame it gets, it answers with ten velocities.
 *
 * usage: lockstep_tcp [PORT [FRAMES]]      default: 11235 600, on 127.0.0.1
 * build: cc -O2 lockstep_tcp.c -o lockstep_tcp -lm. Byte table: docs/wires/lockstep-tcp.md.
 */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define JOINTS 10

static float get_float(const uint8_t *bytes) {
  uint32_t bits;
  float value;
  memcpy(&bits, bytes, sizeof bits);
  bits = ntohl(bits);
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void put_float(uint8_t *bytes, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = htonl(bits);
  memcpy(bytes, &bits, sizeof bits);
}

static int fail(const char *what) {
  perror(what);
  return 1;
}

int main(int argc, char **argv) {
  struct sockaddr_in simulator = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 11235)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  uint64_t frames = argc > 2 ? strtoull(argv[2], NULL, 10) : 600;
  int link = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (link < 0 || connect(link, (struct sockaddr *)&simulator, sizeof simulator) != 0)
    return fail("connect");
  setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  float swivel = 0;
  for (uint64_t expected = 0; expected <= frames; expected++) {
    uint8_t in[8 + 4 * JOINTS], out[4 * JOINTS] = {0}; /* zeros: the joint rests where it is */
    if (recv(link, in, sizeof in, MSG_WAITALL) != (ssize_t)sizeof in)
      return fail("the simulator has closed the connection");
    uint64_t frame = 0;
    for (int i = 0; i < 8; i++) frame = frame << 8 | in[i];
    swivel = get_float(in + 8);
    if (frame == 0) expected = 0; /* the world was reset */
    if (frame != expected) {
      fprintf(stderr, "frame %llu came where %llu was due\n", (unsigned long long)frame,
              (unsigned long long)expected);
      return 1;
    }
    if (frame % 60 == 0)
      printf("frame %llu  swivel %.3f rad\n", (unsigned long long)frame, (double)swivel);
    put_float(out, 0.5f * cosf((float)frame / 60)); /* rad/s; a frame is 1/60 s */
    if (frame < frames && send(link, out, sizeof out, 0) != (ssize_t)sizeof out)
      return fail("send");
  }
  printf("done: %llu frames, swivel at %.3f rad\n", (unsigned long long)frames, (double)swivel);
  return 0;
}
