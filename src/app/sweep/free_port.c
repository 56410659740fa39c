#include "app/sweep/free_port.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST 10000 /* below are services that have names */
#define LAST 65535
#define LISTENS 0x0A /* TCP_LISTEN, in /proc/net/tcp */

/* The kernel's own choices: 32768 to 60999 where it can't be read. */
static void read_chosen(int *first, int *last) {
  *first = 32768;
  *last = 60999;
  FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
  if (file && fscanf(file, "%d %d", first, last) != 2) *first = 32768, *last = 60999;
  if (file) fclose(file);
}

/* A name that the kernel forgets with its last descriptor; −1: it is somebody's. */
static int lock_port(int port) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int size = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tether-port-%d", port);
  int lock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
  if (lock >= 0 && bind(lock, (struct sockaddr *)&name, length) == 0) return lock;
  if (lock >= 0) close(lock);
  return -1;
}

static bool can_be_bound(bool tcp, int port) {
  struct sockaddr_in at = {.sin_family = AF_INET,
                           .sin_port = htons((uint16_t)port),
                           .sin_addr.s_addr = htonl(INADDR_ANY)};
  int tried = socket(AF_INET, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
  bool free = tried >= 0 && bind(tried, (struct sockaddr *)&at, sizeof at) == 0;
  if (tried >= 0) close(tried);
  return free;
}

tt_status tt_free_port_take(bool tcp, int *port, int *lock, tt_error *error) {
  int first, last, count = LAST - FIRST + 1;
  read_chosen(&first, &last);
  for (int i = 0; i < count; i++) {
    *port = FIRST + (int)(((unsigned)getpid() * 16 + (unsigned)i) % (unsigned)count);
    if (*port >= first && *port <= last) continue;
    *lock = lock_port(*port);
    if (*lock < 0) continue;
    if (can_be_bound(tcp, *port)) return TT_OK;
    close(*lock);
  }
  return tt_fail(error, TT_FAILED, "no port of 127.0.0.1 is free from %d to %d", FIRST, LAST);
}

static bool is_listed(const char *path, bool tcp, int port) {
  char line[512];
  bool found = false;
  FILE *file = fopen(path, "re");
  while (file && !found && fgets(line, sizeof line, file)) {
    unsigned own, state;
    if (sscanf(line, "%*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &own, &state) != 2) continue;
    found = own == (unsigned)port && (!tcp || state == LISTENS);
  }
  if (file) fclose(file);
  return found;
}

bool tt_port_is_taken(bool tcp, int port) {
  return is_listed(tcp ? "/proc/thread-self/net/tcp" : "/proc/thread-self/net/udp", tcp, port) ||
         is_listed(tcp ? "/proc/thread-self/net/tcp6" : "/proc/thread-self/net/udp6", tcp, port);
}
