/* link.c */
#include "link.h"

#include "wire/halsim_step/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of `peer` and of sending */
static int peer = -1;
/* What has come: a frame, and what came behind it. */
static uint8_t *buffer;
static size_t filled, used;
#define BUFFER_BYTES (TT_STEP_LENGTH + TT_STEP_MOST_BYTES)

/* --- connecting --- */

static bool split(const char *address, char host[LINK_TEXT], const char **port) {
  const char *colon = strrchr(address, ':');
  size_t size = colon ? (size_t)(colon - address) : 0;
  bool bracketed = size > 1 && address[0] == '[' && colon[-1] == ']';
  if (!colon || size == 0 || size >= LINK_TEXT || !colon[1]) return false;
  snprintf(host, LINK_TEXT, "%.*s", (int)(bracketed ? size - 2 : size), address + bracketed);
  *port = colon + 1;
  return true;
}

static bool wait_connected(int fd) {
  int trouble = 0;
  socklen_t size = sizeof trouble;
  struct pollfd one = {.fd = fd, .events = POLLOUT};
  if (poll(&one, 1, 1000) <= 0) {
    errno = ETIMEDOUT;
    return false;
  }
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &trouble, &size) != 0 || trouble == 0)
    return trouble == 0;
  errno = trouble;
  return false;
}

/* From here on it blocks: a frame then costs one call. A peer that does not read holds a send for five seconds; one whose machine
 * is gone is noticed within some seconds, too. */
static void set_options(int fd) {
  int on = 1, idle = 2, interval = 1, count = 3, unheard = 5000;
  struct timeval most = {.tv_sec = 5};
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard, sizeof unheard);
}

static int connect_to(const struct addrinfo *to) {
  int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (connect(fd, to->ai_addr, to->ai_addrlen) == 0 ||
      (errno == EINPROGRESS && wait_connected(fd))) {
    set_options(fd);
    return fd;
  }
  int trouble = errno;
  close(fd);
  errno = trouble;
  return -1;
}

bool link_open(const char *address, char why[LINK_TEXT]) {
  char host[LINK_TEXT];
  const char *port;
  if (!buffer) buffer = malloc(BUFFER_BYTES);
  if (!split(address, host, &port) || !buffer) {
    snprintf(why, LINK_TEXT, "%s", buffer ? "is not HOST:PORT" : "out of memory");
    return false;
  }
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  int trouble = getaddrinfo(host, port, &hints, &found);
  if (trouble != 0) {
    snprintf(why, LINK_TEXT, "%s", gai_strerror(trouble));
    return false;
  }
  int fd = -1;
  for (const struct addrinfo *one = found; one && fd < 0; one = one->ai_next) fd = connect_to(one);
  if (fd < 0) snprintf(why, LINK_TEXT, "%s", strerror(errno));
  freeaddrinfo(found);
  filled = used = 0;
  pthread_mutex_lock(&lock);
  peer = fd;
  pthread_mutex_unlock(&lock);
  return fd >= 0;
}

/* --- frames --- */

static bool send_all(int fd, const uint8_t *bytes, size_t size) {
  while (size > 0) {
    ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent > 0) {
      bytes += sent;
      size -= (size_t)sent;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool link_send(const void *body, size_t size) {
  bool sent = false;
  pthread_mutex_lock(&lock);
  uint8_t *whole = peer >= 0 && size <= TT_STEP_MOST_BYTES ? malloc(TT_STEP_LENGTH + size) : NULL;
  if (whole) { /* in one piece, so that one packet carries it */
    tt_step_put_length(whole, size);
    memcpy(whole + TT_STEP_LENGTH, body, size);
    sent = send_all(peer, whole, TT_STEP_LENGTH + size);
  }
  free(whole);
  pthread_mutex_unlock(&lock);
  return sent;
}

/* At least `size` bytes behind `used`. Only the thread that receives opens and closes, so that `peer` does not change under it. */
static bool fill(size_t size, char why[LINK_TEXT]) {
  if (used > 0 && filled > used) memmove(buffer, buffer + used, filled - used);
  filled -= used;
  used = 0;
  while (filled < size) {
    ssize_t got = recv(peer, buffer + filled, BUFFER_BYTES - filled, 0);
    if (got > 0) {
      filled += (size_t)got;
    } else if (got == 0 || errno != EINTR) {
      snprintf(why, LINK_TEXT, "%s", got == 0 ? "closed by Tether" : strerror(errno));
      return false;
    }
  }
  return true;
}

bool link_receive(const uint8_t **body, size_t *size, char why[LINK_TEXT]) {
  if (!fill(TT_STEP_LENGTH, why)) return false;
  *size = tt_step_get_length(buffer);
  if (*size > TT_STEP_MOST_BYTES) {
    snprintf(why, LINK_TEXT, "a frame of %zu bytes: is that Tether?", *size);
    return false;
  }
  if (!fill(TT_STEP_LENGTH + *size, why)) return false;
  *body = buffer + TT_STEP_LENGTH;
  used = TT_STEP_LENGTH + *size;
  return true;
}

bool link_stirs(int milliseconds) {
  struct pollfd one = {.fd = peer, .events = POLLIN | POLLRDHUP};
  return poll(&one, 1, milliseconds) > 0;
}

void link_break(void) {
  pthread_mutex_lock(&lock);
  if (peer >= 0) shutdown(peer, SHUT_RDWR);
  pthread_mutex_unlock(&lock);
}

void link_close(void) {
  pthread_mutex_lock(&lock);
  if (peer >= 0) close(peer);
  peer = -1;
  pthread_mutex_unlock(&lock);
}
