/* access_fuzz.c: any file of tokens and any X-Forwarded-For: read or refused with a reason. */
#include "web/forwarded.h"
#include "web/tokens.h"
#include "web/tries.h"

#include <assert.h>
#include <string.h>

static void read_tokens(const char *text, size_t size) {
  tt_error error = {""};
  GArray *tokens = g_array_new(FALSE, TRUE, sizeof(tt_token));
  if (tt_tokens_parse(text, size, "file", tokens, &error) != TT_OK) assert(*error.text);
  for (guint i = 0; i < tokens->len; i++) {
    const tt_token *token = &g_array_index(tokens, tt_token, i);
    assert(token->role > TT_ROLE_NONE && token->role <= TT_ROLE_ADMINISTER);
    assert(tt_token_named(tokens, token->name) == (int)i);
    assert(tt_token_find(tokens, token->hash));
  }
  g_array_unref(tokens);
}

static void find_asker(const char *text, size_t size) {
  static const char *const blocks[] = {"127.0.0.1", "10.0.0.0/8", "fd00::/8", NULL};
  tt_error error;
  GPtrArray *proxies;
  char *forwarded = g_strndup(size ? text : "", size);
  GInetAddress *peer = g_inet_address_new_from_string("127.0.0.1");
  tt_status status = tt_web_proxies_read(blocks, &proxies, &error);
  assert(status == TT_OK);
  GInetAddress *asker = tt_web_forwarded(peer, forwarded, proxies);
  char *name = tt_web_tries_name(asker);
  assert(strlen(name) == 10 || strlen(name) == 18);
  g_free(name);
  g_object_unref(asker);
  g_object_unref(peer);
  g_ptr_array_unref(proxies);
  g_free(forwarded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read_tokens((const char *)data, size);
  find_asker((const char *)data, size);
  return 0;
}
