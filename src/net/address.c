/* address.c: reading and writing addresses, and the list of networks that may speak. */
#include "net/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_port(const char *text, in_port_t *port) {
  if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 5) return false;
  long value = strtol(text, NULL, 10);
  if (value > UINT16_MAX) return false;
  *port = htons((uint16_t)value);
  return true;
}

static bool parse(const char *text, tt_address *address) {
  char host[TT_ADDRESS_TEXT];
  const char *colon = strrchr(text, ':');
  if (!colon || (size_t)(colon - text) >= sizeof host) return false;
  memcpy(host, text, (size_t)(colon - text));
  host[colon - text] = '\0';
  memset(address, 0, sizeof *address);
  size_t length = strlen(host);
  if (host[0] == '[' && host[length - 1] == ']') {
    host[length - 1] = '\0';
    address->v6.sin6_family = AF_INET6;
    return inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) == 1 &&
           parse_port(colon + 1, &address->v6.sin6_port);
  }
  const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
  address->v4.sin_family = AF_INET;
  return inet_pton(AF_INET, numeric, &address->v4.sin_addr) == 1 &&
         parse_port(colon + 1, &address->v4.sin_port);
}

tt_status tt_address_parse(const char *text, tt_address *address, tt_error *error) {
  if (parse(text, address)) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "'%s' is no address; write it like 127.0.0.1:5801, [::1]:5801 or localhost:5801",
                 text);
}

socklen_t tt_address_size(const tt_address *address) {
  return address->any.sa_family == AF_INET6 ? sizeof address->v6 : sizeof address->v4;
}

void tt_address_format(const tt_address *address, char text[TT_ADDRESS_TEXT]) {
  char host[INET6_ADDRSTRLEN];
  if (address->any.sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof host);
    snprintf(text, TT_ADDRESS_TEXT, "[%s]:%u", host, ntohs(address->v6.sin6_port));
  } else {
    inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof host);
    snprintf(text, TT_ADDRESS_TEXT, "%s:%u", host, ntohs(address->v4.sin_port));
  }
}

bool tt_address_equal(const tt_address *a, const tt_address *b) {
  if (a->any.sa_family != b->any.sa_family) return false;
  if (a->any.sa_family == AF_INET6)
    return a->v6.sin6_port == b->v6.sin6_port &&
           memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr) == 0;
  return a->v4.sin_port == b->v4.sin_port && a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
}

bool tt_address_is_loopback(const tt_address *address) {
  if (address->any.sa_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
  return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
}

tt_address tt_address_of(int socket) {
  tt_address address = {0};
  socklen_t size = sizeof address;
  getsockname(socket, &address.any, &size);
  return address;
}

static bool parse_cidr(const char *text, tt_cidr *cidr) {
  char host[TT_ADDRESS_TEXT];
  size_t length = strcspn(text, "/");
  if (length >= sizeof host) return false;
  memcpy(host, text, length);
  host[length] = '\0';
  cidr->family = strchr(host, ':') ? AF_INET6 : AF_INET;
  int most = cidr->family == AF_INET6 ? 128 : 32;
  cidr->bits = most;
  if (inet_pton(cidr->family, host, cidr->bytes) != 1) return false;
  if (text[length] == '\0') return true;
  const char *bits = text + length + 1;
  if (!*bits || strspn(bits, "0123456789") != strlen(bits) || strlen(bits) > 3) return false;
  cidr->bits = (int)strtol(bits, NULL, 10);
  return cidr->bits <= most;
}

static bool cidr_has(const tt_cidr *cidr, const uint8_t *address) {
  int whole = cidr->bits / 8, rest = cidr->bits % 8;
  if (memcmp(cidr->bytes, address, (size_t)whole) != 0) return false;
  return rest == 0 || (cidr->bytes[whole] ^ address[whole]) >> (8 - rest) == 0;
}

tt_status tt_allowed_open(const tt_allow *allow, const tt_address *bound, tt_allowed *allowed,
                          tt_error *error) {
  *allowed = (tt_allowed){0};
  char text[TT_ADDRESS_TEXT];
  tt_address_format(bound, text);
  if (allow->count == 0 && !tt_address_is_loopback(bound))
    return tt_fail(error, TT_INVALID,
                   "%s is open to other machines and this wire knows no passwords; say who may "
                   "speak, for example "
                   "allow: [192.168.0.0/16], or bind 127.0.0.1",
                   text);
  if (allow->count == 0) return TT_OK;
  allowed->networks = calloc((size_t)allow->count, sizeof *allowed->networks);
  if (!allowed->networks) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int i = 0; i < allow->count; i++) {
    if (parse_cidr(allow->cidrs[i], &allowed->networks[i])) continue;
    tt_allowed_close(allowed);
    return tt_fail(error, TT_INVALID,
                   "allow: '%s' is no network; write it like 192.168.1.0/24 or fd00::/8",
                   allow->cidrs[i]);
  }
  allowed->count = allow->count;
  return TT_OK;
}

void tt_allowed_close(tt_allowed *allowed) {
  free(allowed->networks);
  *allowed = (tt_allowed){0};
}

bool tt_allowed_has(const tt_allowed *allowed, const tt_address *peer) {
  if (allowed->count == 0) return true;
  int family = peer->any.sa_family;
  const uint8_t *bytes =
      family == AF_INET6 ? peer->v6.sin6_addr.s6_addr : (const uint8_t *)&peer->v4.sin_addr;
  if (family == AF_INET6 &&
      IN6_IS_ADDR_V4MAPPED(&peer->v6.sin6_addr)) { /* an IPv4 peer of a socket bound to [::] */
    family = AF_INET;
    bytes += 12;
  }
  for (int i = 0; i < allowed->count; i++)
    if (allowed->networks[i].family == family && cidr_has(&allowed->networks[i], bytes))
      return true;
  return false;
}

tt_status tt_address_check(const char *text, const tt_allow *allow, tt_error *error) {
  tt_address address;
  TT_TRY(tt_address_parse(text, &address, error));
  if (!allow) return TT_OK;
  tt_allowed allowed;
  TT_TRY(tt_allowed_open(allow, &address, &allowed, error));
  tt_allowed_close(&allowed);
  return TT_OK;
}
