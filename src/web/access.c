/* access.c: who may ask: programs and pages that name us as we are called, with a token where there are any. */
#include "base/log.h"
#include "web/internal.h"

#include <string.h>
#include <sys/stat.h>

#define COOKIE "tether_token="
#define NO_TOKEN "a token is needed: Authorization: Bearer TOKEN, or ?token=TOKEN"

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

/* --- a file of tokens that changes --- */

static tt_web_file_stamp stamp_of(const char *path) {
  struct stat facts;
  if (stat(path, &facts) < 0) return (tt_web_file_stamp){.size = -1};
  return (tt_web_file_stamp){
      .file = {facts.st_dev, facts.st_ino},
      .size = facts.st_size,
      .changed = (int64_t)facts.st_ctim.tv_sec * 1000000000 + facts.st_ctim.tv_nsec};
}

static bool same_stamp(const tt_web_file_stamp *a, const tt_web_file_stamp *b) {
  return a->file.device == b->file.device && a->file.inode == b->file.inode && a->size == b->size &&
         a->changed == b->changed;
}

static GArray *own_tokens(const tt_web *web) {
  GArray *tokens = g_array_new(FALSE, TRUE, sizeof(tt_token));
  if (!web->token || !*web->token) return tokens;
  tt_token own = {.name = "web.token", .role = TT_ROLE_ADMINISTER};
  tt_token_hash(web->token, own.hash);
  g_array_append_val(tokens, own);
  return tokens;
}

tt_status tt_web_open_tokens(tt_web *web, tt_error *error) {
  web->tokens = own_tokens(web);
  if (!web->tokens_path) return TT_OK;
  web->tokens_read = web->tokens_seen = stamp_of(web->tokens_path);
  return tt_tokens_read(web->tokens_path, web->tokens, error);
}

/* These count from now on. */
static void take_tokens(tt_web *web, GArray *tokens, const tt_web_file_stamp *stamp) {
  web->tokens_read = *stamp;
  web->tokens_changed = true;
  g_array_unref(web->tokens);
  web->tokens = tokens;
  tt_web_tries_forget(web->tries);
  tt_log_info("web.tokens: %s was read again", web->tokens_path);
}

/* A file that another one was put in the place of, as 'tether token' does, is whole. It counts for the request in hand. Where it
 * isn't right, somebody may be writing it all the same. */
static void look_for_new_file(tt_web *web) {
  if (!web->tokens_path) return;
  tt_web_file_stamp now = stamp_of(web->tokens_path);
  if (now.size <= 0 || (now.file.inode == web->tokens_read.file.inode &&
                        now.file.device == web->tokens_read.file.device))
    return;
  tt_error error;
  GArray *tokens = own_tokens(web);
  if (tt_tokens_read(web->tokens_path, tokens, &error) == TT_OK)
    take_tokens(web, tokens, &now);
  else
    g_array_unref(tokens);
}

/* A file that is being written is read once it stays as it is. What is wrong in it lets nobody in, the rest counts. */
bool tt_web_look_at_tokens(tt_web *web) {
  if (!web->tokens_path) return false;
  look_for_new_file(web);
  tt_web_file_stamp now = stamp_of(web->tokens_path);
  bool stays = same_stamp(&now, &web->tokens_seen);
  web->tokens_seen = now;
  if (stays && !same_stamp(&now, &web->tokens_read)) {
    tt_error error;
    GArray *tokens = own_tokens(web);
    if (tt_tokens_read(web->tokens_path, tokens, &error) != TT_OK)
      tt_log_error("web.tokens: %s; what is wrong there lets nobody in", error.text);
    take_tokens(web, tokens, &now);
  }
  const bool changed = web->tokens_changed;
  web->tokens_changed = false;
  return changed;
}

/* --- tokens --- */

/** The password of "Basic USER:PASSWORD", which clients of InfluxDB 1.x send; to be freed, or NULL. */
static char *basic_password(const char *authorization) {
  gsize size;
  if (!authorization || !g_str_has_prefix(authorization, "Basic ")) return NULL;
  guchar *bytes = g_base64_decode(authorization + 6, &size);
  char *text = g_strndup((const char *)bytes, size), *colon = strchr(text, ':');
  char *password = colon ? g_strdup(colon + 1) : NULL;
  g_free(text);
  g_free(bytes);
  return password;
}

/** The one token that a request shows: Authorization: Bearer TOKEN, or Token TOKEN as those of InfluxDB 2.x say; ?token=TOKEN; the
 *  cookie that a page got with it; a password. Only one counts, so that a request is one try. To be freed, or NULL. */
static char *shown_token(SoupServerMessage *message, bool *by_query) {
  SoupMessageHeaders *headers = soup_server_message_get_request_headers(message);
  const char *authorization = soup_message_headers_get_one(headers, "Authorization");
  const char *query = g_uri_get_query(soup_server_message_get_uri(message));
  const char *cookies = soup_message_headers_get_list(headers, "Cookie");
  *by_query = false;
  if (authorization && g_str_has_prefix(authorization, "Bearer "))
    return g_strdup(authorization + 7);
  if (authorization && g_str_has_prefix(authorization, "Token "))
    return g_strdup(authorization + 6);
  GHashTable *keys = query ? soup_form_decode(query) : NULL;
  char *shown = keys ? g_strdup(g_hash_table_lookup(keys, "token")) : NULL;
  if (keys) g_hash_table_unref(keys);
  *by_query = shown != NULL;
  char **list = shown || !cookies ? NULL : g_strsplit(cookies, ";", -1);
  for (char **cookie = list; cookie && *cookie && !shown; cookie++) {
    const char *text = g_strstrip(*cookie);
    if (!g_str_has_prefix(text, COOKIE)) continue;
    shown = g_uri_unescape_string(text + strlen(COOKIE), NULL);
    if (!shown) shown = g_strdup(text + strlen(COOKIE));
  }
  g_strfreev(list);
  if (!shown) shown = basic_password(authorization);
  return shown;
}

static void give_cookie(const tt_web *web, SoupServerMessage *message, const char *secret) {
  const char *secure = tt_web_came_by_tls(web->proxies, message) ? "; Secure" : "";
  char *escaped = g_uri_escape_string(secret, NULL, FALSE); /* it may have a ; or a blank */
  char *cookie = g_strdup_printf(COOKIE "%s; Path=/; HttpOnly; SameSite=Strict%s", escaped, secure);
  g_free(escaped);
  soup_message_headers_append(soup_server_message_get_response_headers(message), "Set-Cookie",
                              cookie);
  g_free(cookie);
}

static tt_web_access refused(unsigned code, const char *reason) {
  return (tt_web_access){.code = code, .reason = reason};
}

/* How a token of this hash is answered, which is compared only where its address has tries left. */
static tt_web_access compare(tt_web *web, const char *address, const uint8_t *hash) {
  int64_t now = g_get_monotonic_time();
  if (tt_web_tries_knows(web->tries, address, hash)) return refused(401, NO_TOKEN);
  int wait = tt_web_tries_wait(web->tries, address, now);
  if (wait > 0) {
    tt_web_access later = refused(429, "too many wrong tokens came from this address; try later");
    later.retry_after = wait;
    return later;
  }
  const tt_token *token = tt_token_find(web->tokens, hash);
  if (token) {
    tt_web_access access = {.role = token->role};
    memcpy(access.token, hash, sizeof access.token);
    return access;
  }
  tt_web_tries_note(web->tries, address, hash, now);
  return refused(401, NO_TOKEN);
}

static tt_web_access check_token(tt_web *web, SoupServerMessage *message) {
  look_for_new_file(web);
  if (!web->tokens->len && !web->tokens_path) return (tt_web_access){.role = TT_ROLE_ADMINISTER};
  bool by_query;
  char *secret = shown_token(message, &by_query);
  GInetAddress *asker = tt_web_asker(web->proxies, message);
  tt_web_access access = refused(401, NO_TOKEN);
  if (secret && asker) {
    uint8_t hash[TT_TOKEN_HASH];
    char *address = tt_web_tries_name(asker);
    tt_token_hash(secret, hash);
    access = compare(web, address, hash);
    if (!access.reason && by_query) give_cookie(web, message, secret);
    g_free(address);
  }
  g_clear_object(&asker);
  g_free(secret);
  return access;
}

/* A proxy before us must not read another request than we do: RFC 9112, 3.2 and 6.3. */
static const char *find_ambiguity(SoupMessageHeaders *headers) {
  SoupMessageHeadersIter at;
  const char *name, *value, *length = NULL;
  int hosts = 0, codings = 0;
  soup_message_headers_iter_init(&at, headers);
  while (soup_message_headers_iter_next(&at, &name, &value)) {
    hosts += !g_ascii_strcasecmp(name, "Host");
    codings += !g_ascii_strcasecmp(name, "Transfer-Encoding");
    if (g_ascii_strcasecmp(name, "Content-Length") != 0) continue;
    if (!*value || value[strspn(value, "0123456789")])
      return "Content-Length must be a whole number, not below 0";
    if (length && strcmp(length, value) != 0) return "there are two values of Content-Length";
    length = value;
  }
  if (hosts > 1) return "there must be one Host";
  if (length && codings) return "Content-Length and Transfer-Encoding exclude each other";
  return NULL;
}

tt_web_access tt_web_check_access(tt_web *web, SoupServerMessage *message) {
  SoupMessageHeaders *headers = soup_server_message_get_request_headers(message);
  const char *ambiguity = find_ambiguity(headers);
  if (ambiguity) return refused(400, ambiguity);
  if (!check_host(web, headers))
    return refused(403, "this Host is not one of ours; web.hosts names further ones");
  if (!check_origin(web, headers)) return refused(403, "pages of another origin may not call us");
  return check_token(web, message);
}
