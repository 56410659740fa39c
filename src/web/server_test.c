/* server_test.c: who is let in, which route answers, and how answers are made: over real connections. */
#include "web/server.h"

#include "telemetry/turns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TOKEN "open sesame"

static void say_rest(void *context, const tt_web_request *request) {
  char *text = g_strdup_printf("%s %s %s", (const char *)context, request->method, request->rest);
  tt_web_respond(request, 200, "text/plain", text, strlen(text));
  g_free(text);
}

static void echo(void *context, const tt_web_request *request) {
  (void)context;
  SoupMessageBody *body = soup_server_message_get_request_body(request->message);
  tt_web_respond(request, 200, "text/plain", body->data, (size_t)body->length);
}

/** How long it is. */
static void measure(void *context, const tt_web_request *request) {
  (void)context;
  char text[32];
  SoupMessageBody *body = soup_server_message_get_request_body(request->message);
  int size = snprintf(text, sizeof text, "length %d", (int)body->length);
  tt_web_respond(request, 200, "text/plain", text, (size_t)size);
}

static void refuse(void *context, const tt_web_request *request) {
  (void)context;
  tt_web_respond_error(request, TT_INVALID, "a \"quoted\" thing\n");
}

/* `*released` counts contexts that were given back. */
static void release(void *released) { ++*(int *)released; }

static tt_status produce(void *context, const tt_web_sink *sink, tt_error *error) {
  (void)context, (void)error;
  char piece[1000];
  memset(piece, 'x', sizeof piece);
  for (int i = 0; i < 1000; i++) TT_TRY(sink->write(sink->sink, piece, sizeof piece));
  return TT_OK;
}

/** Longer than a client may take for a piece. */
static tt_status produce_slowly(void *context, const tt_web_sink *sink, tt_error *error) {
  (void)context, (void)error;
  TT_TRY(sink->write(sink->sink, "begin, ", 7));
  g_usleep(2 * G_USEC_PER_SEC);
  return sink->write(sink->sink, "end", 3);
}

static gint asked_late, cut_off;

/** Begins when its client has been cut off, as a server that ends does it. */
static tt_status produce_late(void *context, const tt_web_sink *sink, tt_error *error) {
  (void)context, (void)error;
  g_atomic_int_set(&asked_late, 1);
  while (!g_atomic_int_get(&cut_off)) g_usleep(1000);
  return sink->write(sink->sink, "late", 4);
}

static gint has_turn;

/** A table that nobody else's is read beside: without an end, or of one word. */
static tt_status produce_wide(void *context, const tt_web_sink *sink, tt_error *error) {
  const bool endless = context == &has_turn;
  const tt_table_sink out = {sink->write, sink->sink};
  TT_TRY(tt_turn_take(TT_TURNS_WEIGHT, INT64_MAX / 2, &out, error));
  g_atomic_int_set(&has_turn, 1);
  tt_status status;
  do status = sink->write(sink->sink, "wide", 4);
  while (endless && status == TT_OK);
  tt_turn_give(TT_TURNS_WEIGHT);
  return status;
}

static tt_status produce_nothing(void *context, const tt_web_sink *sink, tt_error *error) {
  (void)context, (void)sink;
  return tt_fail(error, TT_NOT_FOUND, "there is no such table");
}

static int released;

static void stream(void *context, const tt_web_request *request) {
  tt_web_respond_streaming(request, "text/plain", context ? produce_nothing : produce, &released,
                           release);
}

static void stream_slowly(void *context, const tt_web_request *request) {
  (void)context;
  tt_web_respond_streaming(request, "text/plain", produce_slowly, &released, release);
}

static void stream_late(void *context, const tt_web_request *request) {
  (void)context;
  tt_web_respond_streaming(request, "text/plain", produce_late, &released, release);
}

static void keep(void *context) { (void)context; }

static void stream_wide(void *context, const tt_web_request *request) {
  tt_web_respond_streaming(request, "text/plain", produce_wide, context, keep);
}

static void work(void *context, tt_web_answer *answer) {
  (void)context;
  g_string_assign(answer->body, "{}");
}

static void work_in_vain(void *context, tt_web_answer *answer) {
  (void)context;
  answer->status = tt_fail(&answer->error, TT_FULL, "no room");
}

static void later(void *context, const tt_web_request *request) {
  tt_web_respond_later(request, context ? work_in_vain : work, &released, release);
}

static void open_socket(void *context, const tt_web_request *request,
                        SoupWebsocketConnection *connection) {
  (void)context, (void)request, (void)connection;
}

static tt_web *start(const tt_web_options *options) {
  tt_web *web;
  tt_error error;
  if (tt_web_new(options, &web, &error) != TT_OK) fail_msg("%s", error.text);
  static const tt_web_route routes[] = {
      {.path = "/", .watch = "GET", .handle = say_rest, .context = "root"},
      {.path = "/a/", .watch = "GET", .handle = say_rest, .context = "a"},
      {.path = "/a/b", .watch = "GET", .administer = "PUT", .handle = say_rest, .context = "b"},
      {.path = "/echo", .drive = "POST", .handle = echo, .max_body = 10},
      {.path = "/long", .drive = "POST", .handle = measure, .max_body = 1000000},
      {.path = "/refuse", .watch = "GET", .handle = refuse},
      {.path = "/stream", .watch = "GET", .handle = stream},
      {.path = "/stream/nothing", .watch = "GET", .handle = stream, .context = "nothing"},
      {.path = "/stream/slowly", .watch = "GET", .handle = stream_slowly},
      {.path = "/stream/late", .watch = "GET", .handle = stream_late},
      {.path = "/wide", .watch = "GET", .handle = stream_wide},
      {.path = "/wide/endless", .watch = "GET", .handle = stream_wide, .context = &has_turn},
      {.path = "/later", .watch = "GET", .handle = later},
      {.path = "/later/full", .watch = "GET", .handle = later, .context = "full"},
  };
  for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) tt_web_add_route(web, &routes[i]);
  tt_web_add_socket(web, &(tt_web_socket_route){.path = "/socket", .open = open_socket});
  if (tt_web_start(web, &error) != TT_OK) fail_msg("%s", error.text);
  return web;
}

static tt_web *start_here(void) {
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  return start(&options);
}

static GSocketConnection *connect_to(const tt_web *web) {
  GSocketClient *client = g_socket_client_new();
  g_socket_client_set_enable_proxy(client, FALSE);
  GSocketConnection *connection = g_socket_client_connect_to_host(
      client, tt_web_address(web) + strlen("http://"), 0, NULL, NULL);
  assert_non_null(connection);
  g_object_unref(client);
  return connection;
}

static void say(GSocketConnection *connection, const char *text) {
  GOutputStream *out = g_io_stream_get_output_stream(G_IO_STREAM(connection));
  assert_true(g_output_stream_write_all(out, text, strlen(text), NULL, NULL, NULL));
}

/** All that comes back for a request, whose Host is ours unless `head` has one. To be freed. */
static char *ask(const tt_web *web, const char *line, const char *head, const char *body) {
  const char *authority = tt_web_address(web) + strlen("http://");
  GSocketConnection *connection = connect_to(web);
  char *own = strstr(head, "Host:") ? g_strdup("") : g_strdup_printf("Host: %s\r\n", authority);
  char *request =
      g_strdup_printf("%s HTTP/1.1\r\n%s%sConnection: close\r\n\r\n%s", line, own, head, body);
  say(connection, request);
  GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(connection));
  GString *answer = g_string_new(NULL);
  char bytes[4096];
  for (gssize got; (got = g_input_stream_read(in, bytes, sizeof bytes, NULL, NULL)) > 0;)
    g_string_append_len(answer, bytes, got);
  g_free(own);
  g_free(request);
  g_object_unref(connection);
  return g_string_free(answer, FALSE);
}

/** Asks, and sees that the status is this one and that `part` stands in the answer. */
static void expect(const tt_web *web, const char *line, const char *head, const char *body,
                   int status, const char *part) {
  char *answer = ask(web, line, head, body);
  char *first = g_strdup_printf("HTTP/1.1 %d ", status);
  if (!g_str_has_prefix(answer, first) || !strstr(answer, part))
    fail_msg("%s\n%s: not %d with '%s':\n%.2000s", line, head, status, part, answer);
  g_free(first);
  g_free(answer);
}

static void test_the_longest_route_answers(void **state) {
  (void)state;
  tt_web *web = start_here();
  expect(web, "GET /", "", "", 200, "root GET ");
  expect(web, "GET /x/y", "", "", 200, "root GET x/y");
  expect(web, "GET /a/x", "", "", 200, "a GET x");
  expect(web, "GET /a/b", "", "", 200, "b GET ");
  expect(web, "PUT /a/b", "Content-Length: 0\r\n", "", 200, "b PUT ");
  expect(web, "DELETE /a/b", "", "", 405, "Allow: GET PUT\r\n");
  expect(web, "GET /a/b", "Upgrade: websocket\r\n", "", 404, "no WebSocket");
  tt_web_free(web);
}

/** Reads an answer with a Content-Length; the connection stays. */
static void expect_next(GSocketConnection *connection, const char *part) {
  GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(connection));
  GString *answer = g_string_new(NULL);
  const char *body = NULL, *length = NULL;
  while (!body || strlen(body + 4) < strtoul(length + strlen("Content-Length: "), NULL, 10)) {
    char bytes[4096];
    gssize got = g_input_stream_read(in, bytes, sizeof bytes, NULL, NULL);
    if (got <= 0) fail_msg("the connection ended behind '%s'", answer->str);
    g_string_append_len(answer, bytes, got);
    body = strstr(answer->str, "\r\n\r\n");
    length = strstr(answer->str, "Content-Length: ");
  }
  assert_non_null(strstr(body, part));
  g_string_free(answer, TRUE);
}

static void test_a_connection_serves_many_requests(void **state) {
  (void)state;
  tt_web *web = start_here();
  const char *authority = tt_web_address(web) + strlen("http://");
  GSocketConnection *connection = connect_to(web);
  for (int i = 0; i < 100; i++) {
    char request[256], part[32];
    snprintf(part, sizeof part, "root GET %d", i);
    snprintf(request, sizeof request, "GET /%d HTTP/1.1\r\nHost: %s\r\n\r\n", i, authority);
    say(connection, request);
    expect_next(connection, part);
  }
  g_object_unref(connection);
  tt_web_free(web);
}

static void test_what_can_be_read_in_two_ways_is_refused(void **state) {
  (void)state;
  tt_web *web = start_here();
  expect(web, "PUT /a/b", "Content-Length: -5\r\n", "", 400, "Content-Length must be");
  expect(web, "PUT /a/b", "Content-Length: +0\r\n", "", 400, "Content-Length must be");
  expect(web, "PUT /a/b", "Content-Length: 1\r\nContent-Length: 0\r\n", "x", 400, "two values");
  expect(web, "PUT /a/b", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n", 400,
         "exclude each other");
  expect(web, "GET /", "Host: localhost:1\r\nHost: localhost:1\r\n", "", 400, "one Host");
  tt_web_free(web);
}

/** Or the places of all would be taken one day. */
static void wait_for_no_connection(tt_web *web) {
  tt_web_stats stats;
  for (tt_web_get_stats(web, &stats); stats.connections; tt_web_get_stats(web, &stats))
    g_usleep(1000);
}

static void test_connections_that_end_between_requests_are_let_go(void **state) {
  (void)state;
  tt_web *web = start_here();
  const char *authority = tt_web_address(web) + strlen("http://");
  for (int i = 0; i < 300; i++) {
    GSocketConnection *connection = connect_to(web);
    char request[256];
    snprintf(request, sizeof request, "GET /%d HTTP/1.1\r\nHost: %s\r\n\r\n", i, authority);
    say(connection, request);
    expect_next(connection, "root GET");
    g_io_stream_close(G_IO_STREAM(connection), NULL, NULL);
    g_object_unref(connection);
  }
  wait_for_no_connection(web);
  tt_web_stats stats;
  tt_web_get_stats(web, &stats);
  assert_int_equal(stats.refused_connections, 0);
  tt_web_free(web);
}

static void test_answers_say_what_browsers_may_do(void **state) {
  (void)state;
  tt_web *web = start_here();
  expect(web, "GET /", "", "", 200, "Content-Security-Policy: default-src 'none'");
  expect(web, "GET /", "", "", 200, "X-Content-Type-Options: nosniff\r\n");
  tt_web_free(web);
}

static void test_only_names_of_ours_are_let_in(void **state) {
  (void)state;
  static const char *const hosts[] = {"robot.lan", NULL};
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  options.hosts = hosts;
  tt_web *web = start(&options);
  expect(web, "GET /", "Host: localhost:1\r\n", "", 200, "root");
  expect(web, "GET /", "Host: ROBOT.lan\r\n", "", 200, "root");
  expect(web, "GET /", "Host: [::1]:80\r\n", "", 200, "root");
  expect(web, "GET /", "Host: evil.example\r\n", "", 403, "web.hosts");
  expect(web, "GET /", "Host: localhost.evil.example\r\n", "", 403, "web.hosts");
  expect(web, "GET /", "Host: robot.lan\r\nOrigin: http://robot.lan\r\n", "", 200, "root");
  expect(web, "GET /", "Host: robot.lan\r\nOrigin: http://localhost\r\n", "", 403, "origin");
  expect(web, "GET /", "Host: robot.lan\r\nOrigin: null\r\n", "", 403, "origin");
  tt_web_stats stats;
  tt_web_get_stats(web, &stats);
  assert_int_equal(stats.requests, 8);
  assert_int_equal(stats.refused_requests, 4);
  tt_web_free(web);
}

static void test_a_token_is_asked_of_everybody(void **state) {
  (void)state;
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  options.token = TOKEN;
  tt_web *web = start(&options);
  expect(web, "GET /", "", "", 401, "a token is needed");
  expect(web, "GET /", "Authorization: Bearer " TOKEN "\r\n", "", 200, "root");
  expect(web, "GET /", "Authorization: Bearer " TOKEN "!\r\n", "", 401, "a token is needed");
  expect(web, "GET /", "Authorization: Bearer \r\n", "", 401, "a token is needed");
  expect(web, "GET /?token=open%20sesame", "", "", 200,
         "Set-Cookie: tether_token=open%20sesame; Path=/; HttpOnly");
  expect(web, "GET /", "Cookie: tether_token=open%20sesame\r\n", "", 200, "root");
  expect(web, "GET /?token=open", "", "", 401, "a token is needed");
  expect(web, "GET /", "Cookie: a=b; tether_token=" TOKEN "\r\n", "", 200, "root");
  expect(web, "GET /", "Cookie: tether_token=\r\n", "", 401, "a token is needed");
  tt_web_free(web);
  options.token = "pa;ss=% wörd";
  web = start(&options);
  expect(web, "GET /?token=pa%3Bss%3D%25%20w%C3%B6rd", "", "", 200,
         "Set-Cookie: tether_token=pa%3Bss%3D%25%20w%C3%B6rd; Path=/; HttpOnly");
  expect(web, "GET /", "Cookie: tether_token=pa%3Bss%3D%25%20w%C3%B6rd; a=b\r\n", "", 200, "root");
  tt_web_free(web);
}

/** A file of tokens: one for each role, with these texts. To be freed, and its folder stays in /tmp until the test's end. */
static void write_tokens(const char *path, const char *const *secrets, size_t count) {
  tt_error error;
  GArray *tokens = g_array_new(FALSE, TRUE, sizeof(tt_token));
  for (size_t i = 0; i < count; i++) {
    tt_token token = {.role = (tt_role)(TT_ROLE_WATCH + (int)i)};
    snprintf(token.name, sizeof token.name, "t%zu", i);
    tt_token_hash(secrets[i], token.hash);
    g_array_append_val(tokens, token);
  }
  assert_int_equal(tt_tokens_write(path, tokens, &error), TT_OK);
  g_array_unref(tokens);
}

static const char *const secrets[] = {"watcher", "driver", "administrator"};

static void expect_role(const tt_web *web, const char *line, const char *secret, int status,
                        const char *part) {
  char *head = g_strdup_printf("Authorization: Bearer %s\r\nContent-Length: 0\r\n", secret);
  expect(web, line, head, "", status, part);
  g_free(head);
}

static void test_each_method_needs_its_role(void **state) {
  (void)state;
  char path[] = "/tmp/server_test_XXXXXX";
  close(mkstemp(path));
  write_tokens(path, secrets, 3);
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  options.token = TOKEN;
  options.tokens = path;
  tt_web *web = start(&options);
  expect(web, "GET /a/b", "", "", 401, "a token is needed");
  expect_role(web, "GET /a/b", "watcher", 200, "b GET");
  expect_role(web, "HEAD /a/b", "watcher", 200, "");
  expect_role(web, "POST /echo", "watcher", 403, "role drive; yours may watch");
  expect_role(web, "POST /echo", "driver", 200, "");
  expect_role(web, "PUT /a/b", "driver", 403, "role administer; yours may drive");
  expect_role(web, "PUT /a/b", "administrator", 200, "b PUT");
  expect_role(web, "PUT /a/b", TOKEN, 200, "b PUT");
  expect_role(web, "DELETE /a/b", "watcher", 405, "Allow: GET PUT\r\n");
  expect_role(web, "GET /api/access", "driver", 200, "\"role\":\"drive\"");
  expect_role(web, "GET /socket", "watcher", 200, "");
  expect(web, "GET /socket", "Authorization: Bearer driver\r\nUpgrade: websocket\r\n", "", 403,
         "role administer; yours may drive");
  tt_web_free(web);
  unlink(path);
}

static void test_wrong_tries_have_an_end(void **state) {
  (void)state;
  static const char *const proxies[] = {"127.0.0.1", NULL};
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  options.token = TOKEN;
  options.proxies = proxies;
  tt_web *web = start(&options);
  char line[64];
  for (int i = 0; i < 10; i++) {
    snprintf(line, sizeof line, "GET /?token=guess%d", i);
    expect(web, line, "X-Forwarded-For: 192.0.2.1\r\n", "", 401, "a token is needed");
    expect(web, line, "X-Forwarded-For: 192.0.2.1\r\n", "", 401, "a token");
  }
  expect(web, "GET /?token=guess10", "X-Forwarded-For: 192.0.2.1\r\n", "", 429, "Retry-After: ");
  expect(web, "GET /", "X-Forwarded-For: 192.0.2.1\r\nAuthorization: Bearer " TOKEN "\r\n", "", 429,
         "too many wrong tokens");
  expect(web, "GET /", "X-Forwarded-For: 192.0.2.1\r\n", "", 401, "a token is needed");
  expect(web, "GET /", "X-Forwarded-For: 192.0.2.2\r\nAuthorization: Bearer " TOKEN "\r\n", "", 200,
         "root");
  expect(web, "GET /?token=open%20sesame",
         "X-Forwarded-For: 192.0.2.2\r\nX-Forwarded-Proto: https\r\n", "", 200, "; Secure");
  tt_web_free(web);
}

static void test_a_request_without_a_method_is_refused(void **state) {
  (void)state;
  tt_web *web = start_here();
  expect(web, " /a/b", "", "", 405, "Allow: ");
  expect(web, "GET /a/b", "", "", 200, "b GET ");  // the program goes on
  tt_web_free(web);
}

static void test_bodies_have_an_end(void **state) {
  (void)state;
  tt_web *web = start_here();
  expect(web, "POST /echo", "Content-Length: 10\r\n", "0123456789", 200, "\r\n\r\n0123456789");
  expect(web, "POST /echo", "Content-Length: 11\r\n", "0123456789a", 413, "too long");
  expect(web, "POST /echo", "Transfer-Encoding: chunked\r\n", "a\r\n0123456789\r\n0\r\n\r\n", 200,
         "\r\n\r\n0123456789");
  expect(web, "POST /echo", "Transfer-Encoding: chunked\r\n", "b\r\n0123456789a\r\n0\r\n\r\n", 413,
         "too long");
  tt_web_free(web);
}

/** The status of a body of that length, 0 where it was cut. `declared`: by its header. */
static int send_long(const tt_web *web, size_t size, bool declared) {
  GSocketConnection *connection = connect_to(web);
  char *body = g_strnfill(size, 'x'), answer[100] = "";
  char *request = declared ? g_strdup_printf(
                                 "POST /long HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                                 "Content-Length: %zu\r\n\r\n%s",
                                 size, body)
                           : g_strdup_printf(
                                 "POST /long HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                                 "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n\r\n",
                                 size, body);
  /* Who is refused or cut may not get rid of all of it. */
  g_output_stream_write_all(g_io_stream_get_output_stream(G_IO_STREAM(connection)), request,
                            strlen(request), NULL, NULL, NULL);
  g_input_stream_read(g_io_stream_get_input_stream(G_IO_STREAM(connection)), answer,
                      sizeof answer - 1, NULL, NULL);
  g_free(body);
  g_free(request);
  g_object_unref(connection);
  return g_str_has_prefix(answer, "HTTP/1.1 ") ? atoi(answer + strlen("HTTP/1.1 ")) : 0;
}

/** What was answered just now may take its room for another moment. */
static void wait_for_status(const tt_web *web, size_t size, bool declared, bool answered) {
  while ((send_long(web, size, declared) == 200) != answered) g_usleep(10000);
}

/** A body of which most is there, and the rest does not come. */
static GSocketConnection *send_half(const tt_web *web, const char *head) {
  GSocketConnection *connection = connect_to(web);
  char *body = g_strnfill(150000, 'x');
  say(connection, "POST /long HTTP/1.1\r\nHost: 127.0.0.1\r\n");
  say(connection, head);
  say(connection, body);
  g_free(body);
  return connection;
}

static void test_bodies_have_a_limit_all_together(void **state) {
  (void)state;
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  options.max_bodies = 500000;
  tt_web *web = start(&options);
  static const char *const heads[] = {"Content-Length: 200000\r\n\r\n",
                                      "Transfer-Encoding: chunked\r\n\r\n30d40\r\n"};
  for (int i = 0; i < 6; i++) {
    GSocketConnection *half = send_half(web, heads[i % 2]);
    wait_for_status(web, 400000, true, false);
    assert_int_not_equal(send_long(web, 400000, false), 200);
    /* What was cut takes no room. */
    wait_for_status(web, 350000, false, true);
    wait_for_status(web, 100000, true, true);
    GSocketConnection *other = send_half(web, heads[i % 2]);
    wait_for_status(web, 200001, true, false);
    /* Short ones need none. */
    for (int k = 0; k < 5; k++) assert_int_equal(send_long(web, 65536, k % 2), 200);
    g_object_unref(other);
    g_object_unref(half);
    wait_for_status(web, 500000, true, true);
  }
  assert_int_equal(send_long(web, 500001, true), 503);
  tt_web_free(web);
}

static void test_a_body_that_breaks_off_is_none(void **state) {
  (void)state;
  static const char *const requests[] = {
      "Transfer-Encoding: chunked\r\n\r\n5\r\nrobot\r\n",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nrob",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nrobot\r\n0\r\n",
      "Content-Length: 6\r\n\r\nrobot",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nrobot\r\n0\r\n\r\n", /* this one is whole */
      "Content-Length: 5\r\n\r\nrobot",
  };
  tt_web *web = start_here();
  for (int i = 0; i < 6; i++) {
    char answer[1000] = "";
    GSocketConnection *connection = connect_to(web);
    say(connection, "POST /long HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n");
    say(connection, requests[i]);
    g_socket_shutdown(g_socket_connection_get_socket(connection), FALSE, TRUE, NULL);
    g_input_stream_read_all(g_io_stream_get_input_stream(G_IO_STREAM(connection)), answer,
                            sizeof answer - 1, NULL, NULL, NULL);
    if (!strstr(answer, "length") != (i < 4)) fail_msg("%s: %s", requests[i], answer);
    g_object_unref(connection);
  }
  wait_for_no_connection(web);
  tt_web_free(web);
}

static void test_errors_are_json(void **state) {
  (void)state;
  tt_web *web = start_here();
  expect(web, "GET /refuse", "", "", 400, "{\"error\": \"a \\\"quoted\\\" thing \"}");
  tt_web_free(web);
}

static void test_long_answers_come_whole_or_as_an_error(void **state) {
  (void)state;
  released = 0;
  tt_web *web = start_here();
  char *answer = ask(web, "GET /stream", "", "");
  size_t count = 0;
  for (const char *c = strstr(answer, "\r\n\r\n"); *c; c++) count += *c == 'x';
  assert_int_equal(count, 1000000);
  g_free(answer);
  expect(web, "GET /stream/nothing", "", "", 404, "there is no such table");
  expect(web, "GET /later", "", "", 200, "\r\n\r\n{}");
  expect(web, "GET /later/full", "", "", 503, "no room");
  tt_web_free(web);
  assert_int_equal(released, 4);
}

static void test_who_waits_for_a_slow_answer_is_not_cut(void **state) {
  (void)state;
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  options.answer_deadline = 0.5;
  tt_web *web = start(&options);
  expect(web, "GET /stream/slowly", "", "", 200, "\r\nend\r\n");
  tt_web_free(web);
}

/* A piece of a body of 500,000 bytes at a time; false: nobody takes it any more. */
static bool bring(GSocketConnection *connection, size_t size) {
  GOutputStream *out = g_io_stream_get_output_stream(G_IO_STREAM(connection));
  char *piece = g_strnfill(size, 'x');
  bool brought = g_output_stream_write_all(out, piece, size, NULL, NULL, NULL);
  g_free(piece);
  g_usleep(100000);
  return brought;
}

#define BRING_LONG "POST /long HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000\r\n\r\n"

static void test_a_body_takes_as_long_as_it_comes(void **state) {
  (void)state;
  char answer[4096] = "";
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  options.body_deadline = 2; /* pieces come twenty times as often */
  tt_web *web = start(&options);
  GSocketConnection *slow = connect_to(web), *drop = connect_to(web);
  say(slow, BRING_LONG);
  for (int i = 0; i < 25; i++) assert_true(bring(slow, 20000));
  GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(slow));
  assert_true(g_input_stream_read(in, answer, sizeof answer - 1, NULL, NULL) > 0);
  assert_non_null(strstr(answer, "200 OK"));
  /* One that comes by drops would keep its room for ever. */
  say(drop, BRING_LONG);
  while (bring(drop, 1)) continue;
  g_object_unref(slow);
  g_object_unref(drop);
  tt_web_free(web);
}

static void test_who_sends_too_much_is_told_before_all_is_there(void **state) {
  (void)state;
  tt_web *web = start_here();
  static const char head[] = "Content-Length: 1000001\r\n";
  expect(web, "POST /long", head, "the beginning", 413, "too long");
  expect(web, "PUT /echo", head, "the beginning", 405, "this method is not allowed here");
  tt_web_free(web);
}

static void test_who_takes_nothing_loses_its_turn(void **state) {
  (void)state;
  has_turn = 0;
  tt_web_options options = tt_web_options_default();
  assert_true(options.answer_deadline * G_USEC_PER_SEC < TT_TURNS_PATIENCE);
  options.listen = "127.0.0.1:0";
  options.answer_deadline = 0.5;
  tt_web *web = start(&options);
  GSocketConnection *stuck = connect_to(web);
  say(stuck, "GET /wide/endless HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (!g_atomic_int_get(&has_turn)) g_usleep(1000);
  expect(web, "GET /wide", "", "", 200, "wide");
  g_object_unref(stuck);
  tt_web_free(web);
}

static gpointer ask_late(gpointer web) {
  char *answer = ask(web, "GET /stream/late", "", "");
  g_atomic_int_set(&cut_off, 1);
  return answer;
}

static void test_an_answer_that_begins_after_the_end_goes_nowhere(void **state) {
  (void)state;
  released = asked_late = cut_off = 0;
  tt_web *web = start_here();
  GThread *client = g_thread_new("client", ask_late, web);
  while (!g_atomic_int_get(&asked_late)) g_usleep(1000);
  tt_web_free(web);
  char *answer = g_thread_join(client);
  assert_string_equal(answer, "");
  assert_int_equal(released, 1);
  g_free(answer);
}

static void test_too_many_at_a_time_are_told_so(void **state) {
  (void)state;
  released = 0;
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  options.max_streams = 0;
  tt_web *web = start(&options);
  expect(web, "GET /stream", "", "", 503, "error");
  tt_web_free(web);
  assert_int_equal(released, 1);
}

static void assert_refused(const char *listen, const char *token, const char *part) {
  tt_web *web;
  tt_error error;
  tt_web_options options = tt_web_options_default();
  options.listen = listen;
  options.token = token;
  assert_int_equal(tt_web_new(&options, &web, &error), TT_INVALID);
  assert_non_null(strstr(error.text, part));
}

static void test_addresses_are_checked(void **state) {
  (void)state;
  assert_refused("8080", NULL, "is no address");
  assert_refused("127.0.0.1:", NULL, "is no address");
  assert_refused("127.0.0.1:65536", NULL, "is no address");
  assert_refused("127.0.0.1:80x", NULL, "is no address");
  assert_refused("somewhere:80", NULL, "is no address");
  assert_refused("0.0.0.0:80", NULL, "set web.token");
  assert_refused("[::]:80", "", "set web.token");
  static const char *const proxies[] = {"127.0.0.1", NULL};
  tt_web *web;
  tt_error error;
  tt_web_options options = tt_web_options_default();
  options.proxies = proxies;
  assert_int_equal(tt_web_new(&options, &web, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "needs a token"));
}

static void test_a_taken_port_gives_way_only_where_nobody_asked_for_it(void **state) {
  (void)state;
  tt_web *first = start_here(), *second;
  tt_error error;
  tt_web_options options = tt_web_options_default();
  options.listen = tt_web_address(first) + strlen("http://");
  assert_int_equal(tt_web_new(&options, &second, &error), TT_OK);
  assert_int_equal(tt_web_start(second, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "port in use"));
  tt_web_free(second);
  options.next_free = true;
  second = start(&options);
  assert_string_not_equal(tt_web_address(first), tt_web_address(second));
  expect(second, "GET /", "", "", 200, "root");
  tt_web_free(second);
  tt_web_free(first);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_longest_route_answers),
      cmocka_unit_test(test_a_connection_serves_many_requests),
      cmocka_unit_test(test_connections_that_end_between_requests_are_let_go),
      cmocka_unit_test(test_what_can_be_read_in_two_ways_is_refused),
      cmocka_unit_test(test_answers_say_what_browsers_may_do),
      cmocka_unit_test(test_only_names_of_ours_are_let_in),
      cmocka_unit_test(test_a_token_is_asked_of_everybody),
      cmocka_unit_test(test_each_method_needs_its_role),
      cmocka_unit_test(test_wrong_tries_have_an_end),
      cmocka_unit_test(test_a_request_without_a_method_is_refused),
      cmocka_unit_test(test_bodies_have_an_end),
      cmocka_unit_test(test_bodies_have_a_limit_all_together),
      cmocka_unit_test(test_a_body_that_breaks_off_is_none),
      cmocka_unit_test(test_errors_are_json),
      cmocka_unit_test(test_long_answers_come_whole_or_as_an_error),
      cmocka_unit_test(test_who_waits_for_a_slow_answer_is_not_cut),
      cmocka_unit_test(test_a_body_takes_as_long_as_it_comes),
      cmocka_unit_test(test_who_sends_too_much_is_told_before_all_is_there),
      cmocka_unit_test(test_who_takes_nothing_loses_its_turn),
      cmocka_unit_test(test_an_answer_that_begins_after_the_end_goes_nowhere),
      cmocka_unit_test(test_too_many_at_a_time_are_told_so),
      cmocka_unit_test(test_addresses_are_checked),
      cmocka_unit_test(test_a_taken_port_gives_way_only_where_nobody_asked_for_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
