/* access.c: who may ask: programs and pages that name us as we are called, with the token where there is one. */
#include "web/internal.h"

#include <string.h>

char *tt_web_host_name(const char *host) {
  const char *end = *host == '[' ? strchr(host, ']') : NULL;
  if (end) return g_strndup(host + 1, (gsize)(end - host - 1));
  const char *colon = strrchr(host, ':');
  return colon ? g_strndup(host, (gsize)(colon - host)) : g_strdup(host);
}

static bool is_own_host(const tt_web *web, const char *host) {
  char *name = tt_web_host_name(host);
  bool own = !g_ascii_strcasecmp(name, "localhost") || !strcmp(name, "127.0.0.1") ||
             !strcmp(name, "::1") || !strcmp(name, web->host);
  for (char **allowed = web->hosts; allowed && *allowed && !own; allowed++)
    own = !g_ascii_strcasecmp(name, *allowed);
  g_free(name);
  return own;
}

/** Names by which nobody can be lured to another server: an attacker's name that resolves to us is none of them. */
static bool check_host(const tt_web *web, SoupMessageHeaders *headers) {
  const char *host = soup_message_headers_get_one(headers, "Host");
  return host && is_own_host(web, host);
}

/** A page of another site has another origin; a program has none. */
static bool check_origin(const tt_web *web, SoupMessageHeaders *headers) {
  const char *origin = soup_message_headers_get_one(headers, "Origin");
  const char *host = soup_message_headers_get_one(headers, "Host");
  if (!origin) return true;
  const char *authority = g_str_has_prefix(origin, "http://")    ? origin + 7
                          : g_str_has_prefix(origin, "https://") ? origin + 8
                                                                 : NULL;
  return authority && host && is_own_host(web, authority) && !g_ascii_strcasecmp(authority, host);
}

static bool equal_in_constant_time(const char *a, const char *b) {
  size_t a_size = strlen(a), b_size = strlen(b);
  unsigned difference = a_size != b_size;
  for (size_t i = 0; i < a_size; i++) {
    difference |= (unsigned)((unsigned char)a[i] ^ (unsigned char)b[b_size ? i % b_size : 0]);
  }
  return !difference;
}

/** Authorization: Bearer TOKEN, ?token=TOKEN, or the cookie that a page got with it. */
static bool check_token(const tt_web *web, SoupServerMessage *message) {
  if (!web->token) return true;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers(message);
  const char *authorization = soup_message_headers_get_one(headers, "Authorization");
  if (authorization && g_str_has_prefix(authorization, "Bearer ") &&
      equal_in_constant_time(authorization + 7, web->token)) {
    return true;
  }
  bool allowed = false;
  const char *query = g_uri_get_query(soup_server_message_get_uri(message));
  GHashTable *keys = query ? soup_form_decode(query) : NULL;
  const char *given = keys ? g_hash_table_lookup(keys, "token") : NULL;
  if (given && equal_in_constant_time(given, web->token)) {
    allowed = true;
    char *cookie =
        g_strdup_printf("tether_token=%s; Path=/; HttpOnly; SameSite=Strict", web->token);
    soup_message_headers_append(soup_server_message_get_response_headers(message), "Set-Cookie",
                                cookie);
    g_free(cookie);
  }
  if (keys) g_hash_table_unref(keys);
  const char *cookies = soup_message_headers_get_list(headers, "Cookie");
  char **list = allowed || !cookies ? NULL : g_strsplit(cookies, ";", -1);
  for (char **cookie = list; cookie && *cookie; cookie++) {
    const char *text = g_strstrip(*cookie);
    if (g_str_has_prefix(text, "tether_token=") && equal_in_constant_time(text + 13, web->token))
      allowed = true;
  }
  g_strfreev(list);
  return allowed;
}

const char *tt_web_no_access(const tt_web *web, SoupServerMessage *message, unsigned *code) {
  SoupMessageHeaders *headers = soup_server_message_get_request_headers(message);
  *code = 403;
  if (!check_host(web, headers))
    return "this Host is not one of ours; web.hosts names further ones";
  if (!check_origin(web, headers)) return "pages of another origin may not call us";
  *code = 401;
  if (!check_token(web, message))
    return "a token is needed: Authorization: Bearer TOKEN, or ?token=TOKEN";
  return NULL;
}
