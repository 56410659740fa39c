/* collector_test.c: a collector under everything that happens to it at once: senders, people who rename and handle,
 * readers that come and go, tables, the writer. What was taken is stored, once. The thread sanitizer's stage runs this
 * too.
 */
#include "telemetry/collector.h"

#include "telemetry/table.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SENDERS 4
#define MESSAGES 500 /* of each sender */
#define SAMPLES 3    /* of each message */

typedef struct fixture {
  char *folder, *url;
  tt_collector *collector;
  atomic_int sending; /**< senders that are still at it */
  atomic_int woken;
} fixture;

static void open_collector(fixture *made) {
  tt_collector_options options = tt_collector_options_default();
  tt_store_options store = {.url = made->url};
  tt_error error;
  if (tt_store_open(&store, &options.store, &error) != TT_OK) fail_msg("%s", error.text);
  options.batch_interval = 2000;
  if (tt_collector_new(&options, &made->collector, &error) != TT_OK) fail_msg("%s", error.text);
}

static int set_up(void **state) {
  fixture *made = g_new0(fixture, 1);
  made->folder = g_dir_make_tmp("tether-collector-XXXXXX", NULL);
  made->url = g_strdup_printf("sqlite:%s/t.sqlite", made->folder);
  open_collector(made);
  *state = made;
  return 0;
}

static int tear_down(void **state) {
  fixture *made = *state;
  tt_collector_free(made->collector);
  static const char *const endings[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    char *path = g_strconcat(made->url + 7, endings[i], NULL);
    g_unlink(path);
    g_free(path);
  }
  g_rmdir(made->folder);
  g_free(made->folder);
  g_free(made->url);
  g_free(made);
  return 0;
}

/* --- messages --- */

typedef struct sender {
  fixture *of;
  tt_message_parser *parser;
  tt_origin origin;
  int number; /**< of its device */
  int64_t received;
  uint64_t ticket;
  int taken;
} sender;

static void on_message(void *context, const tt_message *message) {
  sender *from = context;
  tt_error error;
  tt_status status;
  while ((status = tt_collector_take(from->of->collector, message, &from->origin, from->received,
                                     &from->ticket, &error)) == TT_FULL) {
    tt_collector_wait_room(from->of->collector, 100000);
  }
  from->taken += status == TT_OK;
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  (void)context;
  print_error("refused: %s\n", refusal->reason);
}

static void sender_init(sender *made, fixture *of, int number) {
  static const tt_message_handler handler = {on_message, on_refused};
  tt_message_limits limits = tt_message_limits_default();
  *made = (sender){.of = of, .number = number, .received = tt_collector_now()};
  made->parser = tt_message_parser_new(&limits, &handler, made);
}

static void send(sender *from, const char *device, int number) {
  GString *text = g_string_new(NULL);
  int first = number * 10;
  g_string_append_printf(text, "<MESSAGE id='%s' time='%d' ack='%s'>", device, first + SAMPLES,
                         number % 7 ? "no" : "yes");
  for (int i = 0; i < SAMPLES; i++) {
    g_string_append_printf(text, "<S time='%d'><d n='%d' t='text %d' v%d='1'/></S>", first + i + 1,
                           first + i, number, number % 20);
  }
  g_string_append(text, "</MESSAGE>");
  from->received += 10000;
  tt_message_parser_feed(from->parser, text->str, text->len);
  g_string_free(text, TRUE);
}

static void wait_durable(fixture *of, uint64_t ticket) {
  for (int i = 0; i < 20000 && tt_collector_durable(of->collector) < ticket; i++) g_usleep(1000);
  assert_true(tt_collector_durable(of->collector) >= ticket);
}

/* --- tables --- */

static tt_status append(void *context, const char *bytes, size_t size) {
  g_string_append_len(context, bytes, (gssize)size);
  return TT_OK;
}

static char *table(fixture *of, const char *query_text) {
  GString *text = g_string_new(NULL);
  tt_table_query query;
  tt_error error = {""};
  tt_table_sink sink = {append, text};
  // May run in any thread, where cmocka can't fail.
  g_assert(tt_table_query_parse(query_text, tt_collector_now(), &query, &error) == TT_OK);
  query.format = TT_TABLE_CSV;
  tt_status status = tt_table_write(of->collector, &query, &sink, &error);
  tt_table_query_clear(&query);
  if (status != TT_OK) g_error("%s", error.text);
  return g_string_free(text, FALSE);
}

/* --- what happens at once --- */

static void on_durable(void *context) { atomic_fetch_add(&((fixture *)context)->woken, 1); }

static gpointer send_all(gpointer data) {
  sender *from = data;
  char device[16];
  snprintf(device, sizeof device, "D%d", from->number);
  for (int i = 1; i <= MESSAGES; i++) send(from, device, i);
  atomic_fetch_sub(&from->of->sending, 1);
  return NULL;
}

/** Readers that come, hear a while, and go. */
static gpointer listen_again_and_again(gpointer data) {
  fixture *of = data;
  const char *const devices[] = {"D*", "Rex", NULL}, *const fields[] = {"S.d.n", "Text", NULL};
  tt_feed_filter filters[] = {{NULL, NULL}, {devices, fields}};
  for (int turn = 0; atomic_load(&of->sending); turn++) {
    tt_feed_reader *reader =
        tt_collector_subscribe(of->collector, &filters[turn % 2], 50, on_durable, of);
    g_assert(reader);
    for (int i = 0; i < 200; i++) {
      uint64_t lost;
      tt_feed_sample *sample = tt_feed_next(reader, &lost);
      if (!sample) {
        g_usleep(100);
        continue;
      }
      GString *text = g_string_new(NULL);
      tt_feed_append_json(text, sample);
      tt_feed_append_xml(text, sample);
      g_string_free(text, TRUE);
      tt_feed_sample_unref(sample);
    }
    tt_collector_unsubscribe(of->collector, reader);
  }
  return NULL;
}

/** People who change names and handling while all comes in; S.d.n and S.d.t stay what they are. */
static gpointer change_again_and_again(gpointer data) {
  fixture *of = data;
  tt_error error;
  for (int turn = 0; atomic_load(&of->sending); turn++) {
    bool even = turn % 2 == 0;
    tt_handling handling = tt_handling_default();
    handling.pattern = "S.d.v*";
    handling.unit = even ? "V" : NULL;
    handling.scale = even ? 2 : 1;
    g_assert(tt_collector_set_handling(of->collector, &handling, &error) == TT_OK);
    tt_collector_name_device(of->collector, "D1", even ? "Rex" : NULL, &error);
    tt_collector_name_attribute(of->collector, "S.d.t", even ? "Text" : "", &error);
    tt_collector_remove_handling(of->collector, "S.d.v*", &error);
    tt_attribute_info info;
    if (tt_collector_get_attribute(of->collector, turn % 5, &info)) tt_attribute_info_clear(&info);
    tt_list handlings = tt_collector_handlings(of->collector);
    tt_list_free(&handlings);
    g_usleep(500);
  }
  return NULL;
}

static gpointer read_again_and_again(gpointer data) {
  fixture *of = data;
  static const char *const queries[] = {"limit=200", "order=newest&limit=50", "points=100",
                                        "bucket=second&shape=tall&limit=200"};
  for (guint turn = 0; atomic_load(&of->sending); turn++) {
    g_free(table(of, queries[turn % G_N_ELEMENTS(queries)]));
    tt_collector_stats stats;
    tt_collector_get_stats(of->collector, &stats);
    g_usleep(2000);
  }
  return NULL;
}

/** What a device sent, each sample once and in order. */
static void assert_stored(fixture *of, int number) {
  char *query = g_strdup_printf("device=D%d&fields=S.d.n,S.d.t&origin=device", number);
  char *text = table(of, query);
  char **lines = g_strsplit(text, "\r\n", -1);
  assert_int_equal(g_strv_length(lines), 1 + MESSAGES * SAMPLES + 1);
  for (int i = 0; i < MESSAGES * SAMPLES; i++) {
    int expected = (i / SAMPLES + 1) * 10 + i % SAMPLES;
    char *end = g_strdup_printf(",%d,text %d", expected, i / SAMPLES + 1);
    assert_true(g_str_has_suffix(lines[i + 1], end));
    g_free(end);
  }
  g_strfreev(lines);
  g_free(text);
  g_free(query);
}

static void test_everything_at_once(void **state) {
  fixture *of = *state;
  static const GThreadFunc others[] = {listen_again_and_again, listen_again_and_again,
                                       change_again_and_again, read_again_and_again};
  enum { OTHERS = sizeof others / sizeof *others };
  GThread *threads[SENDERS + OTHERS];
  sender senders[SENDERS];
  atomic_store(&of->sending, SENDERS);
  tt_collector_on_durable(of->collector, on_durable, of);
  for (int i = 0; i < SENDERS; i++) {
    sender_init(&senders[i], of, i);
    threads[i] = g_thread_new("sender", send_all, &senders[i]);
  }
  for (int i = 0; i < OTHERS; i++) threads[SENDERS + i] = g_thread_new("other", others[i], of);
  for (int i = 0; i < SENDERS + OTHERS; i++) g_thread_join(threads[i]);
  for (int i = 0; i < SENDERS; i++) {
    wait_durable(of, senders[i].ticket);
    assert_int_equal(senders[i].taken, MESSAGES);
    tt_message_parser_free(senders[i].parser);
  }
  tt_collector_off_durable(of->collector, on_durable, of);
  assert_true(atomic_load(&of->woken) > 0);
  // What is stored is what was taken, also for one who opens the file anew.
  for (int i = 0; i < SENDERS; i++) assert_stored(of, i);
  tt_collector_free(of->collector);
  open_collector(of);
  for (int i = 0; i < SENDERS; i++) assert_stored(of, i);
}

static void test_sent_again(void **state) {
  fixture *of = *state;
  sender first, again;
  sender_init(&first, of, 0);
  for (int i = 1; i <= MESSAGES; i++) send(&first, "D0", i);
  sender_init(&again, of, 0);
  again.received = first.received;
  for (int i = MESSAGES - 50; i <= MESSAGES; i++) send(&again, "D0", i);
  wait_durable(of, again.ticket);
  assert_stored(of, 0);
  tt_message_parser_free(first.parser);
  tt_message_parser_free(again.parser);
}

/* Who is impatient asks again and again: what is removed is counted once, whoever is told. Who has no patience is never told that
 * all is done. */
static void test_removed_in_many_calls(void **state) {
  fixture *of = *state;
  sender from;
  sender_init(&from, of, 0);
  for (int i = 1; i <= MESSAGES; i++) send(&from, "D0", i);
  send(&from, "D1", 1);
  tt_removal removal = {.device = "D0", .from = INT64_MIN, .before = INT64_MAX};
  tt_error error;
  tt_status status = tt_collector_remove_values(of->collector, &removal, 0, &error);
  assert_int_equal(status, TT_AGAIN);
  uint64_t removed = removal.removed;
  for (int calls = 0; status == TT_AGAIN && calls < 10000; calls++) {
    status = tt_collector_remove_values(of->collector, &removal, 2000, &error);
    removed += removal.removed;
  }
  assert_int_equal(status, TT_OK);
  assert_int_equal(removed, MESSAGES * SAMPLES * 3);
  char *text = table(of, "device=D0&fields=S.d.n");
  assert_null(strstr(text, "D0,"));
  g_free(text);
  tt_removal other = {.device = "D1", .from = INT64_MIN, .before = INT64_MAX};
  assert_int_equal(tt_collector_remove_values(of->collector, &other, 20000000, &error), TT_OK);
  assert_int_equal(other.removed, SAMPLES * 3);
  tt_removal unknown = {.device = "D9", .from = INT64_MIN, .before = INT64_MAX};
  assert_int_equal(tt_collector_remove_values(of->collector, &unknown, 0, &error), TT_NOT_FOUND);
  tt_message_parser_free(from.parser);
}

static gpointer send_once(gpointer sender) {
  struct sender *from = sender;
  send(from, "D0", ++from->taken);
  return NULL;
}

/** Of a device that is removed nothing is stored: what comes before or meanwhile keeps it, what comes later brings it back. */
static void test_who_sends_is_not_removed(void **state) {
  fixture *of = *state;
  sender from;
  tt_error error;
  sender_init(&from, of, 0);
  for (int i = 0; i < 40; i++) {
    tt_removal removal = {.device = "D0", .from = INT64_MIN, .before = INT64_MAX};
    send_once(&from);
    assert_int_equal(tt_collector_remove(of->collector, true, "D0", &error), TT_INVALID);
    assert_int_equal(tt_collector_remove_values(of->collector, &removal, 20000000, &error), TT_OK);
    GThread *thread = g_thread_new("sender", send_once, &from);
    g_usleep((gulong)(i % 10) * 20);
    tt_collector_remove(of->collector, true, "D0", &error);
    g_thread_join(thread);
    wait_durable(of, from.ticket);
    assert_true(tt_collector_find_device(of->collector, "D0") >= 0);
  }
  tt_message_parser_free(from.parser);
}

static atomic_bool waits; /**< something does, in a spool */
static void (*state_of_store)(tt_store *store, tt_store_state *state);

static void state_with_spool(tt_store *store, tt_store_state *state) {
  state_of_store(store, state);
  state->spooled_bytes = atomic_load(&waits) ? 1000 : 0;
}

/** What waits may be of any name: of its values the database knows nothing, nor, after a restart, does the collector. */
static void test_no_name_is_removed_while_something_waits(void **state) {
  fixture *of = *state;
  tt_error error;
  int removed;
  tt_collector_free(of->collector);
  tt_collector_options options = tt_collector_options_default();
  assert_int_equal(tt_store_open(&(tt_store_options){.url = of->url}, &options.store, &error),
                   TT_OK);
  state_of_store = options.store->state;
  options.store->state = state_with_spool;
  atomic_store(&waits, true);
  assert_int_equal(tt_collector_new(&options, &of->collector, &error), TT_OK);
  assert_int_equal(tt_collector_name_device(of->collector, "D0", NULL, &error), TT_OK);
  assert_int_equal(tt_collector_name_device(of->collector, "D1", NULL, &error), TT_OK);
  assert_int_equal(tt_collector_remove(of->collector, true, "D0", &error), TT_FAILED);
  assert_string_equal(error.text, "what came before still waits in the spool");
  assert_int_equal(tt_collector_remove_unused(of->collector, true, &removed, &error), TT_FAILED);
  assert_int_equal(removed, 0);
  assert_true(tt_collector_find_device(of->collector, "D0") >= 0);
  atomic_store(&waits, false);
  assert_int_equal(tt_collector_remove(of->collector, true, "D0", &error), TT_OK);
  assert_int_equal(tt_collector_remove_unused(of->collector, true, &removed, &error), TT_OK);
  assert_int_equal(removed, 1);
}

/** Takes what is written, and is gone once it was asked so often without being given anything. */
typedef struct leaving {
  int looks, most;
} leaving;

static tt_status look_or_leave(void *context, const char *bytes, size_t size) {
  leaving *of = context;
  (void)bytes;
  return !size && ++of->looks > of->most ? TT_CLOSED : TT_OK;
}

/* Who asked for a table of buckets and has left is noticed also where there is nothing to write. */
static void test_who_has_left_is_noticed(void **state) {
  fixture *of = *state;
  sender from;
  sender_init(&from, of, 0);
  send(&from, "D0", 1);
  send(&from, "D1", 1);
  tt_table_query query;
  tt_error error = {""};
  assert_int_equal(
      tt_table_query_parse("bucket=minute&to=-3600 s&from=0", tt_collector_now(), &query, &error),
      TT_OK);
  leaving all = {.most = INT_MAX}, some = {.most = 1};
  const tt_table_sink stays = {look_or_leave, &all}, leaves = {look_or_leave, &some};
  assert_int_equal(tt_table_write(of->collector, &query, &stays, &error), TT_OK);
  assert_true(all.looks > 1);
  assert_int_equal(tt_table_write(of->collector, &query, &leaves, &error), TT_CLOSED);
  assert_int_equal(some.looks, 2);
  tt_table_query_clear(&query);
  tt_message_parser_free(from.parser);
}

typedef struct holding {
  tt_collector *collector;
  atomic_bool freed;
} holding;

static gpointer free_held(gpointer data) {
  holding *of = data;
  tt_collector_free(of->collector);
  atomic_store(&of->freed, true);
  return NULL;
}

/* A table may be in the midst of a question to the store when a program ends. */
static void test_who_holds_it_is_waited_for(void **state) {
  fixture *of = *state;
  sender from;
  sender_init(&from, of, 0);
  send(&from, "D0", 1);
  holding held = {.collector = of->collector};
  tt_collector_hold(of->collector);
  GThread *ending = g_thread_new("free", free_held, &held);
  tt_collector_stats stats = {0};
  while (!stats.stored_values)
    tt_collector_get_stats(of->collector, &stats);  // by what is written at the end, too
  g_usleep(100000);
  char *text = table(of, "device=D0&fields=S.d.n");
  assert_non_null(strstr(text, "D0,"));
  g_free(text);
  assert_false(atomic_load(&held.freed));
  tt_collector_release(of->collector);
  g_thread_join(ending);
  tt_message_parser_free(from.parser);
  open_collector(of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_everything_at_once, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_sent_again, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_removed_in_many_calls, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_who_sends_is_not_removed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_no_name_is_removed_while_something_waits, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_who_has_left_is_noticed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_who_holds_it_is_waited_for, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
