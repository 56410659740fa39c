/* forwarded.h: whose a request is that came through proxies which we trust (web.proxies). */
#ifndef TT_WEB_FORWARDED_H
#define TT_WEB_FORWARDED_H

#include "base/status.h"

#include <libsoup/soup.h>
#include <stdbool.h>

/** The name in "name:port" or "[::1]:port"; g_free() it. */
char *tt_web_host_name(const char *host);
/** Proxies that are trusted (GInetAddressMask) as CIDR blocks or addresses say, NULL-terminated or NULL; g_ptr_array_unref() it.
 *  TT_INVALID: one is none. */
tt_status tt_web_proxies_read(const char *const *blocks, GPtrArray **proxies, tt_error *error);
/** The nearest address that is no trusted proxy: `peer`, or one that `forwarded` (X-Forwarded-For, or NULL) names, from its end on;
 *  what stands before it may be forged. g_object_unref() it. */
GInetAddress *tt_web_forwarded(GInetAddress *peer, const char *forwarded, const GPtrArray *proxies);
/** The same of a request; NULL where it has no peer. */
GInetAddress *tt_web_asker(const GPtrArray *proxies, SoupServerMessage *message);
/** Whether a trusted proxy says that it was asked over TLS. */
bool tt_web_came_by_tls(const GPtrArray *proxies, SoupServerMessage *message);

#endif
