/* handshake.c: heads of HTTP by libsoup, hashes and base64 by GLib; what RFC 6455 asks of them is here. */
#include "websocket/handshake.h"

#include <libsoup/soup.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define MAGIC "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, section 1.3 */
#define KEY_BYTES 16

size_t tt_handshake_head(const void *bytes, size_t size) {
  const char *end = memmem(bytes, size, "\r\n\r\n", 4);
  return end ? (size_t)(end - (const char *)bytes) + 4 : 0;
}

/* Sec-WebSocket-Accept of `key`, as RFC 6455, section 4.2.2 has it. */
static void accept_of(const char *key, char accept[32]) {
  uint8_t digest[20];
  gsize size = sizeof digest;
  GChecksum *sha1 = g_checksum_new(G_CHECKSUM_SHA1);
  g_checksum_update(sha1, (const guchar *)key, -1);
  g_checksum_update(sha1, (const guchar *)MAGIC, -1);
  g_checksum_get_digest(sha1, digest, &size);
  g_checksum_free(sha1);
  char *text = g_base64_encode(digest, size);
  snprintf(accept, 32, "%s", text);
  g_free(text);
}

void tt_handshake_key(char key[TT_HANDSHAKE_KEY]) {
  uint8_t bytes[KEY_BYTES] = {0};
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) memset(bytes, 0, sizeof bytes);
  char *text = g_base64_encode(bytes, sizeof bytes);
  snprintf(key, TT_HANDSHAKE_KEY, "%s", text);
  g_free(text);
}

static tt_status bad(tt_error *error, int *status, int code, const char *reason) {
  *status = code;
  return tt_fail(error, TT_BAD_MESSAGE, "%s", reason);
}

static bool copy(char *to, size_t capacity, const char *from) {
  return (size_t)snprintf(to, capacity, "%s", from ? from : "") < capacity;
}

static bool is_key(const char *text) {
  gsize size = 0;
  if (!text || strlen(text) != TT_HANDSHAKE_KEY - 1) return false;
  guchar *bytes = g_base64_decode(text, &size);
  g_free(bytes);
  return size == KEY_BYTES;
}

static void read_protocols(SoupMessageHeaders *headers, tt_handshake *asked) {
  const char *list = soup_message_headers_get_list(headers, "Sec-WebSocket-Protocol");
  GSList *names = list ? soup_header_parse_list(list) : NULL;
  for (GSList *name = names; name && asked->protocol_count < TT_HANDSHAKE_PROTOCOLS;
       name = name->next)
    if (copy(asked->protocols[asked->protocol_count], sizeof asked->protocols[0], name->data))
      asked->protocol_count++;
  soup_header_free_list(names);
}

static tt_status read_headers(SoupMessageHeaders *headers, SoupHTTPVersion version,
                              tt_handshake *asked, int *status, tt_error *error) {
  if (!copy(asked->origin, sizeof asked->origin, soup_message_headers_get_one(headers, "Origin")))
    return bad(error, status, 400, "Origin is too long");
  asked->upgrade = soup_message_headers_header_contains(headers, "Upgrade", "websocket");
  if (!asked->upgrade) return TT_OK;
  if (strcmp(asked->method, "GET") != 0 || version != SOUP_HTTP_1_1 ||
      !soup_message_headers_header_contains(headers, "Connection", "Upgrade"))
    return bad(error, status, 400,
               "a WebSocket is asked for by GET, HTTP/1.1, Connection: Upgrade");
  const char *of = soup_message_headers_get_one(headers, "Sec-WebSocket-Version");
  if (!of || strcmp(of, "13") != 0)
    return bad(error, status, 426, "Sec-WebSocket-Version is not 13");
  const char *key = soup_message_headers_get_one(headers, "Sec-WebSocket-Key");
  if (!is_key(key)) return bad(error, status, 400, "Sec-WebSocket-Key is not 16 bytes in base64");
  copy(asked->key, sizeof asked->key, key);
  read_protocols(headers, asked);
  return TT_OK;
}

tt_status tt_handshake_read(const char *head, size_t size, tt_handshake *asked, int *status,
                            tt_error *error) {
  char *method = NULL, *path = NULL;
  SoupHTTPVersion version = SOUP_HTTP_1_0;
  *asked = (tt_handshake){.protocol_count = 0};
  *status = 0;
  if (memchr(head, '\0', size)) return bad(error, status, 400, "a NUL in the request's head");
  SoupMessageHeaders *headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_REQUEST);
  /* without the empty line that ends it */
  guint parsed =
      soup_headers_parse_request(head, (int)(size - 2), headers, &method, &path, &version);
  tt_status result;
  if (parsed != SOUP_STATUS_OK)
    result = bad(error, status, 400, "no HTTP request");
  else if (!copy(asked->method, sizeof asked->method, method))
    result = bad(error, status, 400, "the method is too long");
  else if (!copy(asked->path, sizeof asked->path, path))
    result = bad(error, status, 414, "the path is too long");
  else
    result = read_headers(headers, version, asked, status, error);
  g_free(method);
  g_free(path);
  soup_message_headers_unref(headers);
  return result;
}

/* What a status means; libsoup does not know all. */
static const char *phrase_of(int status) {
  return status == 426 ? "Upgrade Required" : soup_status_get_phrase((guint)status);
}

static size_t fits(int length, size_t capacity) {
  return length > 0 && (size_t)length < capacity ? (size_t)length : 0;
}

size_t tt_handshake_answer_write(const tt_handshake *asked, const tt_handshake_answer *answer,
                                 char *text, size_t capacity) {
  const char *phrase = phrase_of(answer->status);
  if (answer->status == 101) {
    char accept[32];
    accept_of(asked->key, accept);
    return fits(snprintf(text, capacity,
                         "HTTP/1.1 101 %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         "Sec-WebSocket-Accept: %s\r\n%s%s%s\r\n",
                         phrase, accept, answer->protocol ? "Sec-WebSocket-Protocol: " : "",
                         answer->protocol ? answer->protocol : "", answer->protocol ? "\r\n" : ""),
                capacity);
  }
  const char *body = answer->body ? answer->body : phrase;
  bool with_body = strcmp(asked->method, "HEAD") != 0;
  return fits(
      snprintf(text, capacity,
               "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
               "Content-Length: %zu\r\nConnection: close\r\n%s%s%s%s\r\n%s%s",
               answer->status, phrase, strlen(body) + 1,
               answer->status == 426 ? "Sec-WebSocket-Version: 13\r\n" : "",
               answer->allow_origin ? "Access-Control-Allow-Origin: " : "",
               answer->allow_origin ? answer->allow_origin : "", answer->allow_origin ? "\r\n" : "",
               with_body ? body : "", with_body ? "\n" : ""),
      capacity);
}

bool tt_handshake_is_own_origin(const char *origin) {
  if (g_ascii_strncasecmp(origin, "http", 4) != 0) return g_ascii_strcasecmp(origin, "null") != 0;
  GUri *uri = g_uri_parse(origin, G_URI_FLAGS_NONE, NULL);
  const char *host = uri ? g_uri_get_host(uri) : NULL;
  bool own = host && (g_ascii_strcasecmp(host, "localhost") == 0 ||
                      strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0);
  if (uri) g_uri_unref(uri);
  return own;
}

/* ---- the client's side ---- */

static tt_status take_url(GUri *uri, tt_handshake_url *read, tt_error *error) {
  const char *host = g_uri_get_host(uri), *path = g_uri_get_path(uri),
             *query = g_uri_get_query(uri);
  int port = g_uri_get_port(uri) < 0 ? 80 : g_uri_get_port(uri);
  bool v6 = host && strchr(host, ':');
  if (!host || !*host) return tt_fail(error, TT_INVALID, "no host");
  int length = snprintf(read->address, sizeof read->address, v6 ? "[%s]:%d" : "%s:%d", host, port);
  if (!fits(length, sizeof read->address)) return tt_fail(error, TT_INVALID, "too long a host");
  length = snprintf(read->path, sizeof read->path, "%s%s%s", *path ? path : "/", query ? "?" : "",
                    query ? query : "");
  if (!fits(length, sizeof read->path)) return tt_fail(error, TT_INVALID, "too long a path");
  return TT_OK;
}

tt_status tt_handshake_url_read(const char *url, tt_handshake_url *read, tt_error *error) {
  tt_error why = {""};
  GUri *uri = g_uri_parse(url, G_URI_FLAGS_ENCODED, NULL);
  tt_status status;
  if (!uri)
    status = tt_fail(&why, TT_INVALID, "no URL");
  else if (strcmp(g_uri_get_scheme(uri), "wss") == 0)
    status = tt_fail(&why, TT_INVALID, "TLS is not spoken");
  else if (strcmp(g_uri_get_scheme(uri), "ws") != 0)
    status = tt_fail(&why, TT_INVALID, "the scheme is not ws");
  else
    status = take_url(uri, read, &why);
  if (uri) g_uri_unref(uri);
  if (status == TT_OK) return TT_OK;
  return tt_fail(error, status, "%s: %s; give ws://HOST:PORT/PATH", url, why.text);
}

size_t tt_handshake_ask(const tt_handshake_url *url, const char *key, const char *const *protocols,
                        int protocol_count, char *text, size_t capacity) {
  GString *head = g_string_new(NULL);
  g_string_printf(head,
                  "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n",
                  url->path, url->address, key);
  for (int i = 0; i < protocol_count; i++)
    g_string_append_printf(head, "%s%s", i ? ", " : "Sec-WebSocket-Protocol: ", protocols[i]);
  g_string_append(head, protocol_count ? "\r\n\r\n" : "\r\n");
  size_t size = head->len < capacity ? head->len : 0;
  memcpy(text, head->str, size);
  g_string_free(head, TRUE);
  return size;
}

static tt_status check_answer(SoupMessageHeaders *headers, const char *key,
                              const char *const *protocols, int protocol_count, int *chosen,
                              tt_error *error) {
  char expected[32];
  accept_of(key, expected);
  const char *accept = soup_message_headers_get_one(headers, "Sec-WebSocket-Accept");
  const char *protocol = soup_message_headers_get_one(headers, "Sec-WebSocket-Protocol");
  if (!soup_message_headers_header_contains(headers, "Upgrade", "websocket") ||
      !soup_message_headers_header_contains(headers, "Connection", "Upgrade") || !accept ||
      strcmp(accept, expected) != 0)
    return tt_fail(error, TT_BAD_MESSAGE, "the server does not speak WebSocket");
  if (soup_message_headers_get_list(headers, "Sec-WebSocket-Extensions"))
    return tt_fail(error, TT_BAD_MESSAGE, "the server uses an extension that nobody asked for");
  *chosen = -1;
  for (int i = 0; protocol && i < protocol_count; i++)
    if (strcmp(protocol, protocols[i]) == 0) *chosen = i;
  if (protocol && *chosen < 0)
    return tt_fail(error, TT_BAD_MESSAGE, "the server chose a subprotocol that nobody offered");
  return TT_OK;
}

tt_status tt_handshake_answer_read(const char *head, size_t size, const char *key,
                                   const char *const *protocols, int protocol_count, int *chosen,
                                   tt_error *error) {
  SoupHTTPVersion version = SOUP_HTTP_1_0;
  guint code = 0;
  char *phrase = NULL;
  if (memchr(head, '\0', size)) return tt_fail(error, TT_BAD_MESSAGE, "a NUL in the answer's head");
  SoupMessageHeaders *headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE);
  tt_status status;
  if (!soup_headers_parse_response(head, (int)(size - 2), headers, &version, &code, &phrase))
    status = tt_fail(error, TT_BAD_MESSAGE, "the server does not speak HTTP");
  else if (code != SOUP_STATUS_SWITCHING_PROTOCOLS)
    status = tt_fail(error, TT_BAD_MESSAGE, "the server answered %u %.60s", code, phrase);
  else
    status = check_answer(headers, key, protocols, protocol_count, chosen, error);
  g_free(phrase);
  soup_message_headers_unref(headers);
  return status;
}
