/* A robot that sends telemetry to Tether: cc -o telemetry telemetry.c && ./telemetry [HOST] [PORT] [DEVICE]
 *
 * One XML document a message, any number on one connection; ack='yes' asks to be told when it is stored durably. `boot` tells
 * this run from earlier ones and `seq` each message from the others, so that one that is sent again is known for sure.
 */
#define _POSIX_C_SOURCE 200809L
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int connect_to(const char *host, const char *port) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
  if (getaddrinfo(host, port, &hints, &found)) return -1;
  int fd = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
  if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen)) {
    close(fd);
    fd = -1;
  }
  freeaddrinfo(found);
  return fd;
}

int main(int argc, char **argv) {
  const char *host = argc > 1 ? argv[1] : "127.0.0.1", *port = argc > 2 ? argv[2] : "5804";
  const char *device = argc > 3 ? argv[3] : "C";
  unsigned boot; /* another one after each start */
  if (getrandom(&boot, sizeof boot, 0) != sizeof boot) return 1;
  int fd = connect_to(host, port);
  if (fd < 0) {
    fprintf(stderr, "%s:%s does not answer\n", host, port);
    return 1;
  }
  for (int i = 0; i < 50; i++) {
    char text[512], answer[256];
    int size = snprintf(text, sizeof text,
                        "<MESSAGE id='%s' time='%ld' boot='%08x' seq='%d' ack='yes'><Output "
                        "time='0'><drive velocity='%d'/></Output>"
                        "<Input time='-5'><battery level='%.2f'/></Input></MESSAGE>\n",
                        device, milliseconds(), boot, i, i, 12 - i / 100.0);
    if (write(fd, text, (size_t)size) != size) return 1;
    ssize_t got = read(fd, answer, sizeof answer - 1);
    if (got <= 0) return 1;
    answer[got] = 0;
    fputs(answer, stdout);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  }
  close(fd);
  return 0;
}
