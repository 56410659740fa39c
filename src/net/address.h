/* address.h: addresses as text and as the kernel knows them, and who is allowed to speak. */
#ifndef TT_NET_ADDRESS_H
#define TT_NET_ADDRESS_H

#include "base/status.h"
#include "net/net.h"

#include <netinet/in.h>
#include <stdbool.h>

#define TT_ADDRESS_TEXT 64 /**< bytes that hold any address as text */

/** IPv4 or IPv6, with the port. */
typedef union tt_address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} tt_address;

/** Reads "127.0.0.1:5801", "[::1]:5801" or "localhost:5801". TT_INVALID with the remedy. */
tt_status tt_address_parse(const char *text, tt_address *address, tt_error *error);
socklen_t tt_address_size(const tt_address *address);
/** Writes "127.0.0.1:5801" or "[::1]:5801". */
void tt_address_format(const tt_address *address, char text[TT_ADDRESS_TEXT]);
bool tt_address_equal(const tt_address *a, const tt_address *b);
/** Of this machine alone: 127.0.0.0/8 and ::1. */
bool tt_address_is_loopback(const tt_address *address);
/** The address that `socket` is bound to. */
tt_address tt_address_of(int socket);

/** A network, ready for comparison. */
typedef struct tt_cidr {
  int family;
  int bits;
  uint8_t bytes[16];
} tt_cidr;

/** Who may speak; a copy of a tt_allow, parsed. */
typedef struct tt_allowed {
  tt_cidr *networks;
  int count; /**< 0: everybody who can reach us */
} tt_allowed;

/** Parses `allow` for an endpoint bound to `bound`; a public one without a list is refused, with the remedy. */
tt_status tt_allowed_open(const tt_allow *allow, const tt_address *bound, tt_allowed *allowed,
                          tt_error *error);
void tt_allowed_close(tt_allowed *allowed);
bool tt_allowed_has(const tt_allowed *allowed, const tt_address *peer);

#endif
