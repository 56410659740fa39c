/* routes_end_test.c: what answers under way need stays until the last of them is done, though the server and its routes have ended. */
#include "base/scratch.h"
#include "net/address.h"
#include "net/socket_testing.h"
#include "web/run_routes.h"
#include "web/sweep_routes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static atomic_bool begun, held_back, released;

/* Freed by release(): who touches it later is found by a sanitizer. */
typedef struct owned {
  int number;
} owned;

static int read_late(void *context) {
  atomic_store(&begun, true);
  while (atomic_load(&held_back)) g_usleep(1000);
  assert_false(atomic_load(&released));
  return ((owned *)context)->number;
}

static void release(void *context) {
  free(context);
  atomic_store(&released, true);
}

static char *scenes(void *context) { return read_late(context) == 7 ? strdup("[]") : NULL; }

static tt_status verify(void *context, const char *path, tt_error *error) {
  (void)path, (void)error;
  return read_late(context) == 7 ? TT_OK : TT_FAILED;
}

static struct json_object *tell(void *context, const char *key) {
  (void)key;
  return read_late(context) == 7 ? json_object_new_object() : NULL;
}

static tt_web *start(owned **made) {
  tt_web_options options = tt_web_options_default();
  options.listen = "127.0.0.1:0";
  tt_web *web;
  tt_error error = {""};
  assert_int_equal(tt_web_new(&options, &web, &error), TT_OK);
  *made = malloc(sizeof **made);
  assert_non_null(*made);
  (*made)->number = 7;
  atomic_store(&begun, false);
  atomic_store(&released, false);
  atomic_store(&held_back, true);
  return web;
}

/* Asks, and ends the server while the answer is made. */
static void end_meanwhile(tt_web *web, const char *request_line) {
  tt_error error = {""};
  tt_address to;
  char request[200];
  if (tt_web_start(web, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(tt_address_parse(tt_web_address(web) + strlen("http://"), &to, &error), TT_OK);
  int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect_to(s, &to.any, tt_address_size(&to)), 0);
  int size = snprintf(request, sizeof request,
                      "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n", request_line);
  assert_int_equal(send(s, request, (size_t)size, 0), size);
  while (!atomic_load(&begun)) g_usleep(1000);
  tt_web_free(web);
  close(s);
}

static void assert_released_at_the_end(void) {
  assert_false(atomic_load(&released));
  atomic_store(&held_back, false);
  while (!atomic_load(&released)) g_usleep(1000);
}

static void ask_runs(const char *folder, const char *request_line) {
  owned *made;
  tt_web *web = start(&made);
  tt_run_verifier verifier = {verify, tell, made};
  tt_run_routes *routes = tt_run_routes_new(web, &(tt_run_routes_options){.runs = folder,
                                                                          .verifier = &verifier,
                                                                          .scenes = scenes,
                                                                          .scenes_context = made,
                                                                          .release = release,
                                                                          .owned = made});
  end_meanwhile(web, request_line);
  tt_run_routes_free(routes);
  assert_released_at_the_end();
}

static void scenes_and_runs(void **state) {
  (void)state;
  tt_scratch scratch;
  char path[PATH_MAX];
  assert_int_equal(tt_scratch_open(&scratch, NULL), TT_OK);
  snprintf(path, sizeof path, "%s/a.wpilog", scratch.folder);
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  fclose(file);
  ask_runs(scratch.folder, "GET /api/scenes");
  ask_runs(scratch.folder, "POST /api/runs/a.wpilog/verify");
  ask_runs(scratch.folder, "GET /api/runs/a.wpilog/verify");
  tt_scratch_close(&scratch);
}

static void shows_of_sweeps(void **state) {
  (void)state;
  owned *made;
  tt_web *web = start(&made);
  tt_sweep_shower shower = {.tell = tell, .context = made, .release = release};
  tt_sweep_routes *routes = tt_sweep_routes_new(
      web, &(tt_sweep_routes_options){.folder = "/nonexistent", .shower = &shower});
  end_meanwhile(web, "GET /api/shows/x");
  tt_sweep_routes_free(routes);
  assert_released_at_the_end();
}

static void nobody_asks(void **state) {
  (void)state;
  owned *made;
  tt_web *web = start(&made);
  tt_run_routes *routes =
      tt_run_routes_new(web, &(tt_run_routes_options){.release = release, .owned = made});
  tt_web_free(web);
  tt_run_routes_free(routes);
  assert_true(atomic_load(&released));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scenes_and_runs),
      cmocka_unit_test(shows_of_sweeps),
      cmocka_unit_test(nobody_asks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
