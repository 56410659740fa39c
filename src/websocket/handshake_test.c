/* handshake_test.c: heads in both directions, against the example of RFC 6455 and against what is wrong. */
#include "websocket/handshake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* RFC 6455, section 1.2 and 1.3 */
#define EXAMPLE                                                                                    \
  "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: "           \
  "Upgrade\r\n"                                                                                    \
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://example.com\r\n"                  \
  "Sec-WebSocket-Protocol: chat, superchat\r\nSec-WebSocket-Version: 13\r\n\r\n"
#define EXAMPLE_ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

static tt_handshake asked;
static int status;
static tt_error why;

static tt_status read_request(const char *head) {
  return tt_handshake_read(head, strlen(head), &asked, &status, &why);
}

static void the_example_of_the_rfc(void **state) {
  (void)state;
  assert_int_equal(tt_handshake_head(EXAMPLE "more", sizeof EXAMPLE + 3), sizeof EXAMPLE - 1);
  assert_int_equal(tt_handshake_head(EXAMPLE, sizeof EXAMPLE - 2), 0);
  assert_int_equal(read_request(EXAMPLE), TT_OK);
  assert_true(asked.upgrade);
  assert_string_equal(asked.path, "/chat");
  assert_string_equal(asked.origin, "http://example.com");
  assert_int_equal(asked.protocol_count, 2);
  assert_string_equal(asked.protocols[0], "chat");
  assert_string_equal(asked.protocols[1], "superchat");
  char text[1024];
  tt_handshake_answer answer = {.status = 101, .protocol = "chat"};
  size_t size = tt_handshake_answer_write(&asked, &answer, text, sizeof text);
  assert_int_equal(size, strlen(text));
  assert_non_null(strstr(text, "HTTP/1.1 101 Switching Protocols\r\n"));
  assert_non_null(strstr(text, "\r\nSec-WebSocket-Accept: " EXAMPLE_ACCEPT "\r\n"));
  assert_non_null(strstr(text, "\r\nSec-WebSocket-Protocol: chat\r\n\r\n"));
  assert_int_equal(tt_handshake_answer_write(&asked, &answer, text, 40), 0);
}

static void a_plain_request_is_answered_with_text(void **state) {
  (void)state;
  assert_int_equal(read_request("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), TT_OK);
  assert_false(asked.upgrade);
  char text[1024];
  tt_handshake_answer answer = {.status = 200, .body = "here", .allow_origin = "*"};
  tt_handshake_answer_write(&asked, &answer, text, sizeof text);
  assert_string_equal(
      text,
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n"
      "Connection: close\r\nAccess-Control-Allow-Origin: *\r\n\r\nhere\n");
  assert_int_equal(read_request("HEAD / HTTP/1.0\r\n\r\n"), TT_OK);
  answer = (tt_handshake_answer){.status = 404};
  tt_handshake_answer_write(&asked, &answer, text, sizeof text);
  assert_string_equal(text,
                      "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\n"
                      "Content-Length: 10\r\nConnection: close\r\n\r\n");
}

static void requests_that_are_wrong(void **state) {
  (void)state;
#define UPGRADE "Host: a\r\nUpgrade: websocket\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define WHOLE UPGRADE "Connection: keep-alive, Upgrade\r\n"
  static const struct {
    const char *head;
    int status;
    const char *says;
  } wrong[] = {
      {"\r\n\r\n", 400, "no HTTP request"},
      {"hello\r\n\r\n", 400, "no HTTP request"},
      {"POST / HTTP/1.1\r\n" WHOLE KEY "Sec-WebSocket-Version: 13\r\n\r\n", 400, "by GET"},
      {"GET / HTTP/1.1\r\n" UPGRADE KEY "Sec-WebSocket-Version: 13\r\n\r\n", 400, "Connection"},
      {"GET / HTTP/1.1\r\n" WHOLE KEY "\r\n", 426, "Version is not 13"},
      {"GET / HTTP/1.1\r\n" WHOLE KEY "Sec-WebSocket-Version: 8\r\n\r\n", 426, "Version"},
      {"GET / HTTP/1.1\r\n" WHOLE "Sec-WebSocket-Version: 13\r\n\r\n", 400, "Key"},
      {"GET / HTTP/1.1\r\n" WHOLE
       "Sec-WebSocket-Key: c2hvcnQ=\r\nSec-WebSocket-Version: 13\r\n\r\n",
       400, "16 bytes"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(read_request(wrong[i].head), TT_BAD_MESSAGE);
    assert_int_equal(status, wrong[i].status);
    assert_non_null(strstr(why.text, wrong[i].says));
  }
  /* HTTP/1.0 knows no Upgrade: a plain request */
  assert_int_equal(read_request("GET / HTTP/1.0\r\n" WHOLE KEY "Sec-WebSocket-Version: 13\r\n\r\n"),
                   TT_OK);
  assert_false(asked.upgrade);
  static const char nul[] = "GET /\0x HTTP/1.1\r\n\r\n";
  assert_int_equal(tt_handshake_read(nul, sizeof nul - 1, &asked, &status, &why), TT_BAD_MESSAGE);
  char head[2048];
  snprintf(head, sizeof head, "GET /%0600d HTTP/1.1\r\n\r\n", 0);
  assert_int_equal(read_request(head), TT_BAD_MESSAGE);
  assert_int_equal(status, 414);
  snprintf(head, sizeof head, "GET / HTTP/1.1\r\nOrigin: %0600d\r\n\r\n", 0);
  assert_int_equal(read_request(head), TT_BAD_MESSAGE);
  snprintf(head, sizeof head, "%030d / HTTP/1.1\r\n\r\n", 0);
  assert_int_equal(read_request(head), TT_BAD_MESSAGE);
}

static void more_subprotocols_than_are_looked_at(void **state) {
  (void)state;
  assert_int_equal(
      read_request(
          "GET / HTTP/1.1\r\n" WHOLE KEY "Sec-WebSocket-Version: 13\r\n"
          "Sec-WebSocket-Protocol: a,b,c,d\r\nSec-WebSocket-Protocol: e,f,g,h,i,j\r\n\r\n"),
      TT_OK);
  assert_int_equal(asked.protocol_count, TT_HANDSHAKE_PROTOCOLS);
  assert_string_equal(asked.protocols[7], "h");
}

static void urls(void **state) {
  (void)state;
  tt_handshake_url url;
  assert_int_equal(tt_handshake_url_read("ws://127.0.0.1:3300/wpilibws", &url, &why), TT_OK);
  assert_string_equal(url.address, "127.0.0.1:3300");
  assert_string_equal(url.path, "/wpilibws");
  assert_int_equal(tt_handshake_url_read("ws://[::1]:5/a%20b?c=d", &url, &why), TT_OK);
  assert_string_equal(url.address, "[::1]:5");
  assert_string_equal(url.path, "/a%20b?c=d");
  assert_int_equal(tt_handshake_url_read("ws://localhost", &url, &why), TT_OK);
  assert_string_equal(url.address, "localhost:80");
  assert_string_equal(url.path, "/");
  static const char *const wrong[][2] = {{"wss://a:1/", "TLS"},       {"http://a:1/", "scheme"},
                                         {"127.0.0.1:3300", "ws://"}, {"ws:///path", "host"},
                                         {"ws://a:99999/", "URL"},    {"", "URL"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(tt_handshake_url_read(wrong[i][0], &url, &why), TT_INVALID);
    assert_non_null(strstr(why.text, wrong[i][1]));
    assert_non_null(strstr(why.text, "give ws://HOST:PORT/PATH"));
  }
}

static const char *const offered[] = {"one", "two"};

static tt_status read_answer(const char *head, int *chosen) {
  return tt_handshake_answer_read(head, strlen(head), "dGhlIHNhbXBsZSBub25jZQ==", offered, 2,
                                  chosen, &why);
}

static void what_we_ask_is_what_we_understand(void **state) {
  (void)state;
  tt_handshake_url url;
  char key[TT_HANDSHAKE_KEY], other[TT_HANDSHAKE_KEY], text[1024];
  tt_handshake_url_read("ws://127.0.0.1:1/x", &url, &why);
  tt_handshake_key(key);
  tt_handshake_key(other);
  assert_string_not_equal(key, other);
  size_t size = tt_handshake_ask(&url, key, offered, 2, text, sizeof text);
  assert_int_equal(tt_handshake_head(text, size), size);
  assert_int_equal(tt_handshake_read(text, size, &asked, &status, &why), TT_OK);
  assert_true(asked.upgrade);
  assert_string_equal(asked.key, key);
  assert_int_equal(asked.protocol_count, 2);
  assert_int_equal(tt_handshake_ask(&url, key, offered, 2, text, 64), 0);
}

static void answers(void **state) {
  (void)state;
#define ANSWER "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
  int chosen = 7;
  assert_int_equal(read_answer(ANSWER "Sec-WebSocket-Accept: " EXAMPLE_ACCEPT "\r\n\r\n", &chosen),
                   TT_OK);
  assert_int_equal(chosen, -1);
  assert_int_equal(read_answer(ANSWER "Sec-WebSocket-Accept: " EXAMPLE_ACCEPT
                                      "\r\nSec-WebSocket-Protocol: two\r\n\r\n",
                               &chosen),
                   TT_OK);
  assert_int_equal(chosen, 1);
  static const char *const wrong[][2] = {
      {"hello\r\n\r\n", "HTTP"},
      {"HTTP/1.1 404 Not Found\r\n\r\n", "answered 404 Not Found"},
      {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "does not speak WebSocket"},
      {ANSWER "Sec-WebSocket-Accept: wrong\r\n\r\n", "does not speak WebSocket"},
      {ANSWER "\r\n", "does not speak WebSocket"},
      {ANSWER "Sec-WebSocket-Accept: " EXAMPLE_ACCEPT "\r\nSec-WebSocket-Protocol: three\r\n\r\n",
       "nobody offered"},
      {ANSWER "Sec-WebSocket-Accept: " EXAMPLE_ACCEPT "\r\nSec-WebSocket-Extensions: x\r\n\r\n",
       "nobody asked"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(read_answer(wrong[i][0], &chosen), TT_BAD_MESSAGE);
    assert_non_null(strstr(why.text, wrong[i][1]));
  }
  assert_int_equal(tt_handshake_answer_read("HTTP\0\r\n\r\n", 9, "", NULL, 0, &chosen, &why),
                   TT_BAD_MESSAGE);
}

static void pages_of_other_sites_are_told_apart(void **state) {
  (void)state;
  static const char *const own[] = {"",
                                    "file://",
                                    "app://tool",
                                    "http://localhost:8080",
                                    "https://127.0.0.1",
                                    "http://[::1]:5810"};
  static const char *const others[] = {"null", "http://evil.example",
                                       "https://localhost.evil.example",
                                       "HTTP://127.0.0.1.example:80", "http://"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    assert_true(tt_handshake_is_own_origin(own[i]));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(tt_handshake_is_own_origin(others[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_example_of_the_rfc),
      cmocka_unit_test(a_plain_request_is_answered_with_text),
      cmocka_unit_test(requests_that_are_wrong),
      cmocka_unit_test(more_subprotocols_than_are_looked_at),
      cmocka_unit_test(urls),
      cmocka_unit_test(what_we_ask_is_what_we_understand),
      cmocka_unit_test(answers),
      cmocka_unit_test(pages_of_other_sites_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
