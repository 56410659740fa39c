/* input_test.c: devices that send as fast as the wire gives, while the store stands: what is read of them has an end. */
#include "telemetry/input.h"

#include "base/log.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define MESSAGES 200000
/** Looks of 20 ms in which nothing more was taken: it has stopped. */
#define STILL 50
/** More would be 13 MB of answers, or 6 MB of epochs. */
#define FEW (MESSAGES / 4)

static atomic_bool stands, writes;

static tt_status write_when_free(tt_store *store, const tt_store_batch *batch, tt_error *error) {
  (void)store, (void)batch, (void)error;
  atomic_store(&writes, true);
  while (atomic_load(&stands)) g_usleep(1000);
  return TT_OK;
}

typedef struct fixture {
  tt_collector *collector;
  tt_input *input;
  int socket;
  const char *rest; /**< of a message, behind its number */
} fixture;

static void open_all(fixture *of) {
  tt_collector_options options = tt_collector_options_default();
  tt_input_options input = {.listen = "127.0.0.1:0", .max_connections = 4};
  tt_error error;
  input.limits = tt_message_limits_default();
  options.max_queued = 1 << 20;
  if (tt_store_open(&(tt_store_options){.url = "none:"}, &options.store, &error) != TT_OK)
    fail_msg("%s", error.text);
  options.store->write = write_when_free;
  atomic_store(&stands, true);
  atomic_store(&writes, false);
  if (tt_collector_new(&options, &of->collector, &error) != TT_OK ||
      tt_input_open(&input, of->collector, &of->input, &error) != TT_OK)
    fail_msg("%s", error.text);
  const char *port = strrchr(tt_input_address(of->input), ':') + 1;
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)atoi(port)),
                                      .sin_addr = {htonl(INADDR_LOOPBACK)}};
  of->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect(of->socket, (const struct sockaddr *)&address, sizeof address), 0);
}

static void close_all(fixture *of) {
  close(of->socket);
  tt_input_close(of->input);
  tt_collector_free(of->collector);
}

static void *send_all(void *data) {
  fixture *of = data;
  char text[100];
  for (int i = 1; i <= MESSAGES; i++) {
    const int size = snprintf(text, sizeof text, "<MESSAGE id='1' time='%d%s/>",
                              i % 2 ? i : MESSAGES - i, of->rest);
    if (send(of->socket, text, (size_t)size, MSG_NOSIGNAL) != size) break;
  }
  return NULL;
}

static uint64_t taken(fixture *of) {
  tt_collector_stats stats;
  tt_collector_get_stats(of->collector, &stats);
  return stats.messages;
}

/** How many messages are taken until no more are. */
static uint64_t wait_still(fixture *of) {
  uint64_t before = 0, now = 0;
  for (int still = 0; still < STILL && now <= MESSAGES; still++) {
    g_usleep(20000);
    before = now;
    now = taken(of);
    if (now != before) still = 0;
  }
  return now;
}

/** One that has a value is being written; the others come behind it. */
static pthread_t begin(fixture *of) {
  static const char first[] =
      "<MESSAGE id='1' time='1' ack='yes'><S time='1'><d v='1'/></S></MESSAGE>";
  pthread_t thread;
  open_all(of);
  assert_int_equal(send(of->socket, first, strlen(first), 0), strlen(first));
  while (!atomic_load(&writes)) g_usleep(1000);
  assert_int_equal(pthread_create(&thread, NULL, send_all, of), 0);
  return thread;
}

static void test_answers_that_wait(void **state) {
  (void)state;
  fixture of = {.rest = "' ack='yes'"};
  const pthread_t thread = begin(&of);
  assert_in_range(wait_still(&of), 2, FEW);
  atomic_store(&stands, false);
  int answers = 0;
  char bytes[65536];
  while (answers < MESSAGES + 1) {
    const ssize_t size = recv(of.socket, bytes, sizeof bytes, 0);
    assert_true(size > 0);
    for (ssize_t i = 0; i < size; i++) answers += bytes[i] == '<';
  }
  pthread_join(thread, NULL);
  assert_int_equal(taken(&of), MESSAGES + 1);
  close_all(&of);
}

/** Each goes back, or ahead by minutes. */
static void test_epochs_that_wait(void **state) {
  (void)state;
  fixture of = {.rest = "000'"};
  const pthread_t thread = begin(&of);
  assert_in_range(wait_still(&of), 2, FEW);
  atomic_store(&stands, false);
  while (taken(&of) < MESSAGES + 1) g_usleep(1000);
  pthread_join(thread, NULL);
  close_all(&of);
}

int main(void) {
  tt_log_set_level(TT_LOG_WARNING);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_answers_that_wait),
      cmocka_unit_test(test_epochs_that_wait),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
