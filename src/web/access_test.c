/* access_test.c: roles, files of tokens, wrong tries, proxies: what belongs to no socket. */
#include "web/forwarded.h"
#include "web/tokens.h"
#include "web/tries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND 1000000
#define MINUTE (60 * (int64_t)SECOND)

static GArray *new_tokens(void) { return g_array_new(FALSE, TRUE, sizeof(tt_token)); }

static void test_a_token_is_known_by_its_hash(void **state) {
  (void)state;
  tt_error error;
  tt_token token;
  char *secret;
  uint8_t hash[TT_TOKEN_HASH];
  GArray *tokens = new_tokens();
  assert_int_equal(tt_token_make("wall", TT_ROLE_WATCH, &token, &secret, &error), TT_OK);
  assert_int_equal(strlen(secret), 64);
  g_array_append_val(tokens, token);
  tt_token_hash(secret, hash);
  assert_string_equal(tt_token_find(tokens, hash)->name, "wall");
  secret[63] ^= 1;
  tt_token_hash(secret, hash);
  assert_null(tt_token_find(tokens, hash));
  tt_token_hash("abc", hash); /* FIPS 180-2 */
  assert_memory_equal(hash, "\xba\x78\x16\xbf\x8f\x01\xcf\xea", 8);
  assert_int_equal(tt_token_make("two words", TT_ROLE_WATCH, &token, &secret, &error), TT_INVALID);
  assert_int_equal(tt_token_make("", TT_ROLE_WATCH, &token, &secret, &error), TT_INVALID);
  g_free(secret);
  g_array_unref(tokens);
}

static void assert_parses(const char *text, tt_status expected, guint count, const char *part) {
  tt_error error = {""};
  GArray *tokens = new_tokens();
  assert_int_equal(tt_tokens_parse(text, strlen(text), "f", tokens, &error), expected);
  assert_int_equal(tokens->len, count);
  if (!strstr(error.text, part)) fail_msg("'%s' has no '%s'", error.text, part);
  g_array_unref(tokens);
}

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"

static void test_what_is_wrong_in_a_file_is_named_and_the_rest_counts(void **state) {
  (void)state;
  assert_parses("", TT_OK, 0, "");
  assert_parses("# of us\n\n a watch " HASH_A "\r\nb\tdrive  " HASH_B " # pit\n", TT_OK, 2, "");
  assert_parses("a watch " HASH_A "\nb king " HASH_B "\nc drive " HASH_B, TT_INVALID, 2,
                "f:2: a role");
  assert_parses("a watch\n", TT_INVALID, 0, "f:1: a line is");
  assert_parses("a watch " HASH_A " more\n", TT_INVALID, 0, "f:1: a line is");
  assert_parses("a watch " HASH_A "a\n", TT_INVALID, 0, "f:1: a hash");
  assert_parses("a watch x" HASH_A "\n", TT_INVALID, 0, "f:1: a hash");
  assert_parses("a watch " HASH_A "\na drive " HASH_B "\n", TT_INVALID, 1, "f:2: this name");
  assert_parses("a none " HASH_A "\n", TT_INVALID, 0, "f:1: a role");
}

static void test_a_file_is_its_owners_alone(void **state) {
  (void)state;
  tt_error error;
  tt_token token;
  char path[] = "/tmp/tokens_XXXXXX", *secret;
  GArray *tokens = new_tokens(), *again = new_tokens();
  close(mkstemp(path));
  chmod(path, 0644);
  assert_int_equal(tt_token_make("wall", TT_ROLE_DRIVE, &token, &secret, &error), TT_OK);
  g_array_append_val(tokens, token);
  assert_int_equal(tt_tokens_read(path, again, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "chmod 600"));
  assert_int_equal(tt_tokens_write(path, tokens, &error), TT_OK);
  struct stat facts;
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 0777, 0600);
  assert_int_equal(tt_tokens_read(path, again, &error), TT_OK);
  assert_int_equal(again->len, 1);
  assert_memory_equal(again->data, tokens->data, sizeof token);
  unlink(path);
  assert_int_equal(tt_tokens_read(path, again, &error), TT_INVALID);
  g_free(secret);
  g_array_unref(tokens);
  g_array_unref(again);
}

static void wrong(tt_web_tries *tries, const char *name, unsigned number, int64_t now) {
  char text[20];
  uint8_t hash[TT_TOKEN_HASH];
  snprintf(text, sizeof text, "%u", number);
  tt_token_hash(text, hash);
  assert_false(tt_web_tries_knows(tries, name, hash));
  tt_web_tries_note(tries, name, hash, now);
  assert_true(tt_web_tries_knows(tries, name, hash));
}

static void test_ten_tries_then_one_in_six_seconds(void **state) {
  (void)state;
  tt_web_tries *tries = tt_web_tries_new();
  int64_t now = 5 * MINUTE;
  for (unsigned i = 0; i < 10; i++) {
    assert_int_equal(tt_web_tries_wait(tries, "a", now), 0);
    wrong(tries, "a", i, now);
  }
  assert_int_equal(tt_web_tries_wait(tries, "a", now), 6);
  assert_int_equal(tt_web_tries_wait(tries, "b", now), 0);
  assert_int_equal(tt_web_tries_wait(tries, "a", now + 5 * SECOND), 1);
  assert_int_equal(tt_web_tries_wait(tries, "a", now + 6 * SECOND), 0);
  wrong(tries, "a", 100, now + 6 * SECOND);
  assert_int_equal(tt_web_tries_wait(tries, "a", now + 6 * SECOND), 6);
  assert_int_equal(tt_web_tries_wait(tries, "a", now + 20 * MINUTE), 0);
  tt_web_tries_forget(tries);
  assert_int_equal(tt_web_tries_wait(tries, "a", now), 0);
  tt_web_tries_free(tries);
}

static void test_many_addresses_take_bounded_memory(void **state) {
  (void)state;
  tt_web_tries *tries = tt_web_tries_new();
  for (unsigned i = 0; i < 10; i++) wrong(tries, "guesser", i, 0);
  for (unsigned i = 0; i < 10000; i++) {
    char name[20];
    snprintf(name, sizeof name, "x%u", i);
    wrong(tries, name, i, 1);
  }
  assert_int_equal(tt_web_tries_count(tries), 4096);
  assert_int_equal(tt_web_tries_wait(tries, "guesser", 2), 6); /* who tried most is remembered */
  tt_web_tries_free(tries);
}

static void assert_named(const char *address, const char *expected) {
  GInetAddress *read = g_inet_address_new_from_string(address);
  char *name = tt_web_tries_name(read);
  assert_string_equal(name, expected);
  g_free(name);
  g_object_unref(read);
}

static void test_who_counts_as_one(void **state) {
  (void)state;
  assert_named("192.0.2.1", "4:c0000201");
  assert_named("::ffff:192.0.2.1", "4:c0000201");
  assert_named("2001:db8:1:2:3:4:5:6", "6:20010db800010002");
  assert_named("2001:db8:1:2::9", "6:20010db800010002");
}

static void assert_asker(const char *peer, const char *forwarded, const char *expected) {
  static const char *const blocks[] = {"127.0.0.1", "10.0.0.0/8", NULL};
  tt_error error;
  GPtrArray *proxies;
  assert_int_equal(tt_web_proxies_read(blocks, &proxies, &error), TT_OK);
  GInetAddress *from = g_inet_address_new_from_string(peer);
  GInetAddress *asker = tt_web_forwarded(from, forwarded, proxies);
  char *text = g_inet_address_to_string(asker);
  if (strcmp(text, expected)) fail_msg("%s by %s: %s, not %s", forwarded, peer, text, expected);
  g_free(text);
  g_object_unref(from);
  g_object_unref(asker);
  g_ptr_array_unref(proxies);
}

static void test_only_trusted_proxies_say_for_whom_they_ask(void **state) {
  (void)state;
  assert_asker("192.0.2.9", "192.0.2.1", "192.0.2.9");
  assert_asker("127.0.0.1", NULL, "127.0.0.1");
  assert_asker("127.0.0.1", "192.0.2.1", "192.0.2.1");
  assert_asker("127.0.0.1", "198.51.100.7, 192.0.2.1", "192.0.2.1"); /* the first may be forged */
  assert_asker("127.0.0.1", "192.0.2.1, 10.1.1.1", "192.0.2.1");
  assert_asker("127.0.0.1", "[2001:db8::1]:443", "2001:db8::1");
  assert_asker("127.0.0.1", "192.0.2.1:4711", "192.0.2.1");
  assert_asker("127.0.0.1", "192.0.2.1, nonsense", "127.0.0.1");
  assert_asker("127.0.0.1", "10.0.0.2, 10.0.0.1", "10.0.0.2");
  assert_asker("127.0.0.1", "", "127.0.0.1");
  static const char *const bad[] = {"proxy.lan", NULL};
  tt_error error;
  GPtrArray *proxies;
  assert_int_equal(tt_web_proxies_read(bad, &proxies, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "web.proxies: 'proxy.lan'"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_token_is_known_by_its_hash),
      cmocka_unit_test(test_what_is_wrong_in_a_file_is_named_and_the_rest_counts),
      cmocka_unit_test(test_a_file_is_its_owners_alone),
      cmocka_unit_test(test_ten_tries_then_one_in_six_seconds),
      cmocka_unit_test(test_many_addresses_take_bounded_memory),
      cmocka_unit_test(test_who_counts_as_one),
      cmocka_unit_test(test_only_trusted_proxies_say_for_whom_they_ask),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
