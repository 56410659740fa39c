#include "web/tries.h"

#include "web/tokens.h"

#include <math.h>
#include <string.h>

#define MOST_ADDRESSES 4096
#define MOST_TRIES 10.0
#define SECONDS_A_TRY 6.0
#define REMEMBERED 8 /* wrong tokens of an address */

typedef struct address_tries {
  double left;
  int64_t at; /**< µs monotonic at which so many were left */
  uint8_t wrong[REMEMBERED][TT_TOKEN_HASH];
  unsigned known; /**< of them, and which comes next, modulo REMEMBERED */
} address_tries;

struct tt_web_tries {
  GHashTable *addresses; /**< char * -> address_tries */
};

tt_web_tries *tt_web_tries_new(void) {
  tt_web_tries *tries = g_new0(tt_web_tries, 1);
  tries->addresses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  return tries;
}

void tt_web_tries_free(tt_web_tries *tries) {
  if (!tries) return;
  g_hash_table_unref(tries->addresses);
  g_free(tries);
}

void tt_web_tries_forget(tt_web_tries *tries) { g_hash_table_remove_all(tries->addresses); }
unsigned tt_web_tries_count(const tt_web_tries *tries) {
  return g_hash_table_size(tries->addresses);
}

char *tt_web_tries_name(GInetAddress *address) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
  const uint8_t *bytes = g_inet_address_to_bytes(address);
  bool six = g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6;
  if (six && !memcmp(bytes, mapped, sizeof mapped)) {
    bytes += sizeof mapped;
    six = false;
  }
  GString *name = g_string_new(six ? "6:" : "4:");
  for (int i = 0; i < (six ? 8 : 4); i++) g_string_append_printf(name, "%02x", bytes[i]);
  return g_string_free(name, FALSE);
}

static double tries_left(const address_tries *of, int64_t now) {
  return fmin(MOST_TRIES, of->left + (double)(now - of->at) / 1e6 / SECONDS_A_TRY);
}

bool tt_web_tries_knows(const tt_web_tries *tries, const char *name, const uint8_t *hash) {
  const address_tries *of = g_hash_table_lookup(tries->addresses, name);
  for (unsigned i = 0; of && i < MIN(of->known, REMEMBERED); i++)
    if (!memcmp(of->wrong[i], hash, TT_TOKEN_HASH)) return true;
  return false;
}

int tt_web_tries_wait(tt_web_tries *tries, const char *name, int64_t now) {
  const address_tries *of = g_hash_table_lookup(tries->addresses, name);
  double left = of ? tries_left(of, now) : MOST_TRIES;
  return left >= 1 ? 0 : (int)ceil((1 - left) * SECONDS_A_TRY);
}

/* Who tried least, or longest ago. */
static void make_room(tt_web_tries *tries, int64_t now) {
  GHashTableIter iterator;
  gpointer key, value, least = NULL;
  double most_left = -1;
  g_hash_table_iter_init(&iterator, tries->addresses);
  while (g_hash_table_iter_next(&iterator, &key, &value)) {
    double left = tries_left(value, now);
    if (left <= most_left) continue;
    most_left = left;
    least = key;
  }
  if (least) g_hash_table_remove(tries->addresses, least);
}

void tt_web_tries_note(tt_web_tries *tries, const char *name, const uint8_t *hash, int64_t now) {
  address_tries *of = g_hash_table_lookup(tries->addresses, name);
  if (!of) {
    if (g_hash_table_size(tries->addresses) >= MOST_ADDRESSES) make_room(tries, now);
    of = g_new0(address_tries, 1);
    of->left = MOST_TRIES;
    of->at = now;
    g_hash_table_insert(tries->addresses, g_strdup(name), of);
  }
  of->left = tries_left(of, now) - 1;
  of->at = now;
  memcpy(of->wrong[of->known % REMEMBERED], hash, TT_TOKEN_HASH);
  of->known = of->known < REMEMBERED ? of->known + 1 : REMEMBERED + (of->known + 1) % REMEMBERED;
}
