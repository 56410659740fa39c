/* lockstep_client.c: the clients whose speed script/bench measures, and the echo that is their limit.
 *
 * usage: lockstep_client echo RECEIVE SEND       spins; prints its port; sends SEND bytes for every RECEIVE bytes
 *        lockstep_client spin|block PORT FRAMES SEND RECEIVE WARM_UP
 *            SEND bytes of velocities out, RECEIVE bytes of frame in; prints seconds for FRAMES of them, after WARM_UP
 *        lockstep_client datagram-echo RECEIVE SEND
 *        lockstep_client float-udp|sharp-json PORT FRAMES SEND RECEIVE WARM_UP
 *            the same over UDP, spinning; the first datagram only says who is there
 * The client is the same against the echo as against the simulator.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 2048

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* All of `size` bytes; false at the end of the stream. */
static bool receive(int link, uint8_t *bytes, size_t size, bool spin) {
  size_t got = 0;
  while (got < size) {
    ssize_t part = recv(link, bytes + got, size - got, spin ? MSG_DONTWAIT : MSG_WAITALL);
    if (part == 0) return false;
    if (part > 0) got += (size_t)part;
    if (part < 0 && errno != EAGAIN && errno != EINTR) return false;
  }
  return true;
}

static void no_delay(int link) {
  int on = 1;
  setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* One client after the other, for ever: the caller ends it. Each is sent SEND bytes first, as frame 0. */
_Noreturn static void echo(size_t receive_size, size_t send_size) {
  uint8_t in[MOST], out[MOST] = {0};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int server = socket(AF_INET, SOCK_STREAM, 0);
  if (server < 0 || bind(server, (struct sockaddr *)&address, size) != 0 || listen(server, 1) != 0)
    fail("listen");
  getsockname(server, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    int link = accept(server, NULL, NULL);
    if (link < 0) fail("accept");
    no_delay(link);
    do {
      if (send(link, out, send_size, MSG_NOSIGNAL) != (ssize_t)send_size) break;
    } while (receive(link, in, receive_size, true));
    close(link);
  }
}

/* The first joint swings, the others rest: what tt_bench_driver does in the simulator. */
static void write_velocities(uint8_t *bytes, uint64_t frame) {
  float value = 0.5f * cosf((float)frame / 60);
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = htobe32(bits);
  memcpy(bytes, &bits, sizeof bits);
}

static int drive(bool spin, int port, uint64_t frames, size_t send_size, size_t receive_size,
                 uint64_t warm_up) {
  uint8_t in[MOST], out[MOST] = {0};
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int link = socket(AF_INET, SOCK_STREAM, 0);
  if (link < 0 || connect(link, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  no_delay(link);
  double started = 0;
  if (!receive(link, in, receive_size, spin)) fail("frame 0");
  for (uint64_t frame = 0; frame < warm_up + frames; frame++) {
    if (frame == warm_up) started = now();
    write_velocities(out, frame);
    if (send(link, out, send_size, MSG_NOSIGNAL) != (ssize_t)send_size) fail("send");
    if (!receive(link, in, receive_size, spin)) fail("receive");
  }
  printf("%.9f\n", now() - started);
  return 0;
}

/* --- over UDP: whoever speaks is answered, a datagram for a datagram --- */

_Noreturn static void echo_datagrams(size_t receive_size, size_t send_size) {
  uint8_t in[MOST], out[MOST] = {0};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in peer;
  socklen_t size = sizeof address;
  int link = socket(AF_INET, SOCK_DGRAM, 0);
  if (link < 0 || bind(link, (struct sockaddr *)&address, size) != 0) fail("bind");
  getsockname(link, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    ssize_t got;
    do {
      size = sizeof peer;
      got = recvfrom(link, in, sizeof in, MSG_DONTWAIT, (struct sockaddr *)&peer, &size);
    } while (got != (ssize_t)receive_size);
    sendto(link, out, send_size, 0, (struct sockaddr *)&peer, size);
  }
}

/* As write_velocities(), little-endian; or the vehicle's wheels. */
static void write_command(bool text, uint8_t *bytes, size_t size, uint64_t frame) {
  float value = 0.5f * cosf((float)frame / 60);
  char command[MOST];
  if (text) {
    snprintf(command, sizeof command,
             "{ 'leftDriveMotorSpeed': %04d, 'rightDriveMotorSpeed': 0100, 'elevatorMotorSpeed': "
             "0000, 'back': 0, 'guide': 0, 'start': 0 }",
             (int)(200 * value));
    memcpy(bytes, command, size);
  } else {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = htole32(bits);
    memcpy(bytes, &bits, sizeof bits);
  }
}

static int drive_datagrams(bool text, int port, uint64_t frames, size_t send_size,
                           size_t receive_size, uint64_t warm_up) {
  uint8_t in[MOST], out[MOST] = {0};
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int link = socket(AF_INET, SOCK_DGRAM, 0);
  if (link < 0 || connect(link, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  double started = 0;
  for (uint64_t frame = 0; frame < 1 + warm_up + frames; frame++) {
    if (frame == 1 + warm_up) started = now();
    write_command(text, out, send_size, frame);
    if (send(link, out, send_size, 0) != (ssize_t)send_size) fail("send");
    while (recv(link, in, sizeof in, MSG_DONTWAIT) != (ssize_t)receive_size) {
    }
  }
  printf("%.9f\n", now() - started);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "datagram-echo") == 0) {
    size_t in = (size_t)atoi(argv[2]), out = (size_t)atoi(argv[3]);
    if (in <= MOST && out <= MOST) echo_datagrams(in, out);
  } else if (argc == 4 && strcmp(argv[1], "echo") == 0) {
    size_t in = (size_t)atoi(argv[2]), out = (size_t)atoi(argv[3]);
    if (in <= MOST && out <= MOST) echo(in, out);
  } else if (argc == 7) {
    size_t out = (size_t)atoi(argv[4]), in = (size_t)atoi(argv[5]);
    bool text = strcmp(argv[1], "sharp-json") == 0;
    if (in <= MOST && out <= MOST && out >= 4 && (text || strcmp(argv[1], "float-udp") == 0))
      return drive_datagrams(text, atoi(argv[2]), strtoull(argv[3], NULL, 10), out, in,
                             strtoull(argv[6], NULL, 10));
    if (in <= MOST && out <= MOST && out >= 4)
      return drive(strcmp(argv[1], "spin") == 0, atoi(argv[2]), strtoull(argv[3], NULL, 10), out,
                   in, strtoull(argv[6], NULL, 10));
  }
  fprintf(stderr, "usage: see the head of lockstep_client.c\n");
  return 2;
}
