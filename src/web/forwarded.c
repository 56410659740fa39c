#include "web/forwarded.h"

#include <string.h>

char *tt_web_host_name(const char *host) {
  const char *end = *host == '[' ? strchr(host, ']') : NULL;
  if (end) return g_strndup(host + 1, (gsize)(end - host - 1));
  const char *colon = strrchr(host, ':');
  return colon ? g_strndup(host, (gsize)(colon - host)) : g_strdup(host);
}

tt_status tt_web_proxies_read(const char *const *blocks, GPtrArray **out, tt_error *error) {
  GPtrArray *proxies = g_ptr_array_new_with_free_func(g_object_unref);
  for (; blocks && *blocks; blocks++) {
    GInetAddressMask *block = g_inet_address_mask_new_from_string(*blocks, NULL);
    if (!block) {
      g_ptr_array_unref(proxies);
      return tt_fail(error, TT_INVALID,
                     "web.proxies: '%s' is no address; give one such as 127.0.0.1 or 10.0.0.0/8",
                     *blocks);
    }
    g_ptr_array_add(proxies, block);
  }
  *out = proxies;
  return TT_OK;
}

static bool is_trusted(const GPtrArray *proxies, GInetAddress *address) {
  for (guint i = 0; i < proxies->len; i++)
    if (g_inet_address_mask_matches(proxies->pdata[i], address)) return true;
  return false;
}

/* "192.0.2.1", "2001:db8::1", and with a port, as some proxies write. */
static GInetAddress *read_address(char *text) {
  g_strstrip(text);
  GInetAddress *address = g_inet_address_new_from_string(text);
  if (address) return address;
  char *host = tt_web_host_name(text);
  address = g_inet_address_new_from_string(host);
  g_free(host);
  return address;
}

GInetAddress *tt_web_forwarded(GInetAddress *peer, const char *forwarded,
                               const GPtrArray *proxies) {
  GInetAddress *nearest = g_object_ref(peer);
  char *rest = g_strdup(forwarded);
  while (rest && *rest && is_trusted(proxies, nearest)) {
    char *comma = strrchr(rest, ',');
    GInetAddress *before = read_address(comma ? comma + 1 : rest);
    if (!before) break;
    g_object_unref(nearest);
    nearest = before;
    *(comma ? comma : rest) = 0;
  }
  g_free(rest);
  return nearest;
}

static GInetAddress *peer_of(SoupServerMessage *message) {
  GSocketAddress *remote = soup_server_message_get_remote_address(message);
  return remote && G_IS_INET_SOCKET_ADDRESS(remote)
             ? g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(remote))
             : NULL;
}

GInetAddress *tt_web_asker(const GPtrArray *proxies, SoupServerMessage *message) {
  GInetAddress *peer = peer_of(message);
  const char *forwarded = soup_message_headers_get_list(
      soup_server_message_get_request_headers(message), "X-Forwarded-For");
  return peer ? tt_web_forwarded(peer, forwarded, proxies) : NULL;
}

bool tt_web_came_by_tls(const GPtrArray *proxies, SoupServerMessage *message) {
  GInetAddress *peer = peer_of(message);
  const char *scheme = soup_message_headers_get_one(
      soup_server_message_get_request_headers(message), "X-Forwarded-Proto");
  return peer && scheme && is_trusted(proxies, peer) && !g_ascii_strcasecmp(scheme, "https");
}
