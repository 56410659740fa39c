/* socket_testing.h: how tests use a plain socket.
 *
 * A signal may come at any time, and one that stops a process and lets it go on interrupts even without a handler where
 * a socket has a timeout (signal(7)).
 */
#ifndef TT_NET_SOCKET_TESTING_H
#define TT_NET_SOCKET_TESTING_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/** connect() that goes on after a signal. */
static inline int connect_to(int s, const struct sockaddr *address, socklen_t size) {
  int status;
  do status = connect(s, address, size);
  while (status < 0 && errno == EINTR);
  return status;
}

/** recv() that goes on after a signal: a datagram, or what has come of a stream. */
static inline ssize_t receive_part(int s, void *bytes, size_t size) {
  ssize_t got;
  do got = recv(s, bytes, size, 0);
  while (got < 0 && errno == EINTR);
  return got;
}

/** `size` bytes of a stream; fewer where it ends or fails before, and −1 with errno where it fails at once. */
static inline ssize_t receive_whole(int s, void *bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t got = receive_part(s, (uint8_t *)bytes + done, size - done);
    if (got <= 0) return done > 0 ? (ssize_t)done : got;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

#endif
