/* later_test.c: who asked before the server ended is answered, also who asked for that end. */
#include "net/address.h"
#include "net/socket_testing.h"
#include "web/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static atomic_bool asked;

static void work(void *context, tt_web_answer *answer) {
  (void)context;
  atomic_store(&asked, true);
  g_usleep(100000); /* the server is about to end meanwhile */
  g_string_assign(answer->body, "{\"done\":true}");
}

static void release(void *context) { (void)context; }

static void handle(void *context, const tt_web_request *request) {
  tt_web_respond_later(request, work, context, release);
}

static void an_answer_in_the_making_is_sent(void **state) {
  (void)state;
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  tt_web *web;
  tt_error error = {""};
  assert_int_equal(tt_web_new(&options, &web, &error), TT_OK);
  tt_web_add_route(web, &(tt_web_route){.path = "/slow", .watch = "GET", .handle = handle});
  if (tt_web_start(web, &error) != TT_OK) fail_msg("%s", error.text);

  tt_address to;
  assert_int_equal(tt_address_parse(tt_web_address(web) + strlen("http://"), &to, &error), TT_OK);
  int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect_to(s, &to.any, tt_address_size(&to)), 0);
  static const char request[] = "GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  assert_int_equal(send(s, request, strlen(request), 0), strlen(request));
  while (!atomic_load(&asked)) g_usleep(1000);
  tt_web_free(web);

  char answer[1024] = "";
  ssize_t size = receive_whole(s, answer, sizeof answer - 1);
  close(s);
  assert_true(size > 0);
  assert_memory_equal(answer, "HTTP/1.1 200 ", strlen("HTTP/1.1 200 "));
  assert_non_null(strstr(answer, "{\"done\":true}"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_answer_in_the_making_is_sent)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
