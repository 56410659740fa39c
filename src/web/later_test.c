/* later_test.c: who asked before the server ended is answered, also who asked for that end; who comes when all are busy waits. */
#include "base/scratch.h"
#include "net/address.h"
#include "net/socket_testing.h"
#include "web/draft_routes.h"
#include "web/scene_routes.h"
#include "web/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { CLIENTS = 12 };

static atomic_int asked, begun, at_once, most_at_once, released;
static atomic_bool held_back;

static void work(void *context, tt_web_answer *answer) {
  (void)context;
  atomic_fetch_add(&begun, 1);
  g_usleep(100000); /* the server is about to end meanwhile */
  g_string_assign(answer->body, "{\"done\":true}");
}

/* One that ends when it is let. */
static void work_held_back(void *context, tt_web_answer *answer) {
  (void)context;
  int now = atomic_fetch_add(&at_once, 1) + 1;
  if (now > atomic_load(&most_at_once)) atomic_store(&most_at_once, now);
  atomic_fetch_add(&begun, 1);
  while (atomic_load(&held_back)) g_usleep(1000);
  g_string_assign(answer->body, "{\"done\":true}");
  atomic_fetch_sub(&at_once, 1);
}

static void release(void *context) {
  (void)context;
  atomic_fetch_add(&released, 1);
}

static void handle(void *context, const tt_web_request *request) {
  tt_web_respond_later(request, work, context, release);
}

/* A document of one piece, which comes when it is let. */
static tt_status produce_held_back(void *context, const tt_web_sink *sink, tt_error *error) {
  (void)context, (void)error;
  atomic_fetch_add(&begun, 1);
  while (atomic_load(&held_back)) g_usleep(1000);
  return sink->write(sink->sink, "done", strlen("done"));
}

static void stream_held_back(void *context, const tt_web_request *request) {
  tt_web_respond_streaming(request, "text/plain", produce_held_back, context, release);
}

static void handle_at_leisure(void *context, const tt_web_request *request) {
  tt_web_respond_at_leisure(request, work_held_back, context, release);
}

static void handle_held_back(void *context, const tt_web_request *request) {
  tt_web_respond_later(request, work_held_back, context, release);
  atomic_fetch_add(&asked, 1);
}

/* A server of at most so many answers at a time. */
static tt_web *start(int most) {
  asked = begun = at_once = most_at_once = released = 0;
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  options.max_streams = most;
  tt_web *web;
  tt_error error = {""};
  assert_int_equal(tt_web_new(&options, &web, &error), TT_OK);
  tt_web_add_route(web, &(tt_web_route){.path = "/slow", .watch = "GET", .handle = handle});
  tt_web_add_route(web,
                   &(tt_web_route){.path = "/held", .watch = "GET", .handle = handle_held_back});
  tt_web_add_route(
      web, &(tt_web_route){.path = "/leisure", .watch = "GET", .handle = handle_at_leisure});
  tt_web_add_route(web,
                   &(tt_web_route){.path = "/stream", .watch = "GET", .handle = stream_held_back});
  if (tt_web_start(web, &error) != TT_OK) fail_msg("%s", error.text);
  return web;
}

/* A connection with a request on it. */
static int ask_by(tt_web *web, const char *method, const char *path) {
  tt_error error = {""};
  tt_address to;
  assert_int_equal(tt_address_parse(tt_web_address(web) + strlen("http://"), &to, &error), TT_OK);
  int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect_to(s, &to.any, tt_address_size(&to)), 0);
  char request[128];
  int size =
      snprintf(request, sizeof request,
               "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", method, path);
  assert_int_equal(send(s, request, (size_t)size, 0), size);
  return s;
}

static int ask(tt_web *web, const char *path) { return ask_by(web, "GET", path); }

static void assert_answered(int s) {
  char answer[1024] = "";
  ssize_t size = receive_whole(s, answer, sizeof answer - 1);
  close(s);
  assert_true(size > 0);
  assert_memory_equal(answer, "HTTP/1.1 200 ", strlen("HTTP/1.1 200 "));
  assert_non_null(strstr(answer, "{\"done\":true}"));
}

static void an_answer_in_the_making_is_sent(void **state) {
  (void)state;
  tt_web *web = start(8);
  int s = ask(web, "/slow");
  while (!atomic_load(&begun)) g_usleep(1000);
  tt_web_free(web);
  assert_answered(s);
}

static void who_comes_when_all_are_busy_waits(void **state) {
  (void)state;
  tt_web *web = start(2);
  held_back = true;
  int clients[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) clients[i] = ask(web, "/held");
  while (atomic_load(&begun) < 2) g_usleep(1000);
  held_back = false;
  for (int i = 0; i < CLIENTS; i++) assert_answered(clients[i]);
  tt_web_free(web);
  assert_int_equal(released, CLIENTS);
  assert_int_equal(most_at_once, 2);
}

static void what_takes_long_holds_up_nothing_short(void **state) {
  (void)state;
  tt_web *web = start(8);
  held_back = true;
  int clients[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) clients[i] = ask(web, "/leisure");
  assert_answered(ask(web, "/slow"));
  held_back = false;
  for (int i = 0; i < CLIENTS; i++) assert_answered(clients[i]);
  assert_int_equal(most_at_once, 2);
  tt_web_free(web);
}

/* ---- what compiles a scene ---- */

static tt_status compile_held_back(const tt_scene *scene, tt_world **world, tt_error *error) {
  (void)scene, (void)world;
  atomic_fetch_add(&begun, 1);
  while (atomic_load(&held_back)) g_usleep(1000);
  return tt_fail(error, TT_INVALID, "none");
}

static tt_status draw_held_back(void *context, const char *name, bool administers, char **picture,
                                tt_error *error) {
  (void)context, (void)name, (void)administers;
  atomic_fetch_add(&begun, 1);
  while (atomic_load(&held_back)) g_usleep(1000);
  *picture = NULL;
  return tt_fail(error, TT_INVALID, "none");
}

/* Something that is compiled, more requests that wait for it than there are slots, and a short one. */
static void ask_beside(tt_web *web, const char *compiled, const char *method, const char *slow,
                       const char *brief) {
  int clients[CLIENTS];
  char answer[4096];
  atomic_store(&begun, 0);
  held_back = true;
  clients[0] = ask(web, compiled);
  while (!atomic_load(&begun)) g_usleep(1000);
  for (int i = 1; i < CLIENTS; i++) clients[i] = ask_by(web, method, slow);
  int s = ask(web, brief);
  assert_true(receive_whole(s, answer, sizeof answer) > 0);
  assert_memory_equal(answer, "HTTP/1.1 200 ", strlen("HTTP/1.1 200 "));
  close(s);
  held_back = false;
  for (int i = 0; i < CLIENTS; i++) {
    assert_true(receive_whole(clients[i], answer, sizeof answer) > 0);
    close(clients[i]);
  }
}

static void a_scene_that_is_compiled_holds_up_nothing_short(void **state) {
  (void)state;
  static const tt_draft_maker maker = {NULL, compile_held_back};
  static const tt_scene_routes_options pictures = {.picture = draw_held_back};
  tt_scratch scratch;
  tt_draft draft;
  tt_error error = {""};
  char path[100];
  assert_int_equal(tt_scratch_open(&scratch, &error), TT_OK);
  tt_drafts *drafts = tt_drafts_new(scratch.folder, &maker);
  assert_non_null(drafts);
  if (tt_drafts_begin(drafts, "slow", &draft, NULL, &error) != TT_OK) fail_msg("%s", error.text);
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  tt_web *web;
  assert_int_equal(tt_web_new(&options, &web, &error), TT_OK);
  tt_draft_routes *routes =
      tt_draft_routes_new(web, drafts, &(tt_draft_routes_options){.scenes = scratch.folder});
  tt_scene_routes_add(web, &pictures);
  assert_int_equal(tt_web_start(web, &error), TT_OK);
  snprintf(path, sizeof path, "/api/drafts/%s", draft.id);
  ask_beside(web, path, "GET", path, "/api/drafts");
  ask_beside(web, "/api/scenes/x/picture", "GET", "/api/scenes/x/picture", "/api/drafts");
  assert_int_equal(tt_drafts_write(drafts, &draft, "other", "x", 1, NULL, NULL, &error), TT_OK);
  ask_beside(web, path, "DELETE", path, "/api/drafts");
  tt_web_free(web);
  tt_draft_routes_free(routes);
  tt_scratch_close(&scratch);
}

static void who_waits_when_the_server_ends_is_let_go(void **state) {
  (void)state;
  tt_web *web = start(1);
  held_back = true;
  int clients[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) clients[i] = ask(web, "/held");
  while (atomic_load(&asked) < CLIENTS || atomic_load(&begun) < 1) g_usleep(1000);
  tt_web_free(web);
  assert_int_equal(released, CLIENTS - 1);
  char answer[1024];
  for (int i = 0; i < CLIENTS; i++) {
    assert_true(receive_whole(clients[i], answer, sizeof answer) <= 0);
    close(clients[i]);
  }
  held_back = false;
  while (atomic_load(&released) < CLIENTS) g_usleep(1000);
  assert_int_equal(begun, 1);
}

static void what_is_streamed_may_end_after_the_server(void **state) {
  (void)state;
  tt_web *web = start(1);
  held_back = true;
  int client = ask(web, "/stream");
  while (!atomic_load(&begun)) g_usleep(1000);
  tt_web_free(web);
  char answer[64];
  assert_true(receive_whole(client, answer, sizeof answer) <= 0);
  close(client);
  held_back = false;
  while (!atomic_load(&released)) g_usleep(1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_answer_in_the_making_is_sent),
      cmocka_unit_test(who_comes_when_all_are_busy_waits),
      cmocka_unit_test(what_takes_long_holds_up_nothing_short),
      cmocka_unit_test(a_scene_that_is_compiled_holds_up_nothing_short),
      cmocka_unit_test(who_waits_when_the_server_ends_is_let_go),
      cmocka_unit_test(what_is_streamed_may_end_after_the_server),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
