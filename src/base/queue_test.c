/* The two queues between threads: nothing lost but what is counted, nothing out of order. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "model/observer.h"
#include "base/queue.h"

#define PRODUCERS 3
#define ITEMS 20000

typedef struct item {
  int producer, number;
} item;

typedef struct producer {
  tt_queue *queue;
  int index;
} producer;

static void *produce(void *context) {
  producer *by = context;
  for (int i = 0; i < ITEMS; i++) {
    item made = {by->index, i};
    while (!tt_queue_push(by->queue, &made)) {
    }
  }
  return NULL;
}

static void each_producers_items_come_once_and_in_order(void **state) {
  (void)state;
  tt_queue *queue = tt_queue_new(60, sizeof(item));
  pthread_t threads[PRODUCERS];
  producer producers[PRODUCERS];
  for (int i = 0; i < PRODUCERS; i++) {
    producers[i] = (producer){queue, i};
    assert_int_equal(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
  }
  int next[PRODUCERS] = {0};
  for (int seen = 0; seen < PRODUCERS * ITEMS;) {
    item taken;
    assert_in_range(tt_queue_waiting(queue), 0, 64);
    if (!tt_queue_pop(queue, &taken)) continue;
    assert_int_equal(taken.number, next[taken.producer]);
    next[taken.producer]++;
    seen++;
  }
  for (int i = 0; i < PRODUCERS; i++) pthread_join(threads[i], NULL);
  tt_queue_free(queue);
}

static void a_full_queue_says_so(void **state) {
  (void)state;
  tt_queue *queue = tt_queue_new(4, sizeof(int));
  for (int i = 0; i < 4; i++) {
    assert_int_equal(tt_queue_waiting(queue), i);
    assert_true(tt_queue_push(queue, &i));
  }
  assert_int_equal(tt_queue_waiting(queue), 4);
  int value = 9;
  assert_false(tt_queue_push(queue, &value));
  assert_true(tt_queue_pop(queue, &value));
  assert_int_equal(value, 0);
  assert_true(tt_queue_push(queue, &value));
  tt_queue_free(queue);
}

static const tt_body bodies[] = {{.name = "world"}};
static const tt_model model = {.bodies = bodies,
                               .body_count = 1,
                               .contact_capacity = 3,
                               .timestep_num = 1,
                               .timestep_den = 100};

static void *publish(void *context) {
  tt_view *view = tt_view_new(&model);
  for (uint64_t step = 1; step <= ITEMS; step++) {
    view->step = step;
    view->body_position[0][0] = (double)step;
    view->contact_count = (int)(step % 4);
    for (int i = 0; i < view->contact_count; i++) view->contacts[i].depth = (double)step;
    tt_view_queue_push(context, view);
  }
  tt_view_free(view);
  return NULL;
}

static void a_slow_observer_knows_what_it_missed(void **state) {
  (void)state;
  tt_view_queue *queue = tt_view_queue_new(&model, 8);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, publish, queue), 0);
  uint64_t expected = 1;
  uint64_t seen = 0;
  uint64_t lost = 0;
  bool joined = false;
  for (;;) {
    const tt_view *view = tt_view_queue_front(queue, &lost);
    if (!view) {
      if (joined) break;
      pthread_join(thread, NULL);
      joined = true;
      continue;
    }
    assert_int_equal(view->step, expected + lost);
    assert_true(view->body_position[0][0] == (double)view->step);
    for (int i = 0; i < view->contact_count; i++)
      assert_true(view->contacts[i].depth == (double)view->step);
    expected = view->step + 1;
    seen++;
    tt_view_queue_pop(queue);
  }
  assert_int_equal(seen + tt_view_queue_lost(queue), ITEMS);
  assert_int_equal(expected, ITEMS + 1); /* the newest is never lost */
  tt_view_queue_free(queue);
}

static void take(tt_view_queue *queue, uint64_t step, uint64_t lost_before) {
  uint64_t lost;
  const tt_view *view = tt_view_queue_front(queue, &lost);
  assert_non_null(view);
  assert_int_equal(view->step, step);
  assert_int_equal(lost, lost_before);
  tt_view_queue_pop(queue);
}

static void the_newest_view_has_a_place_in_a_full_queue(void **state) {
  (void)state;
  tt_view_queue *queue = tt_view_queue_new(&model, 2);
  tt_view *view = tt_view_new(&model);
  for (view->step = 1; view->step <= 5; view->step++) tt_view_queue_push(queue, view);
  assert_int_equal(tt_view_queue_lost(queue), 2);
  take(queue, 1, 0);
  view->step = 6; /* behind the one without a place */
  tt_view_queue_push(queue, view);
  take(queue, 2, 0);
  take(queue, 5, 2);
  take(queue, 6, 0);
  assert_null(tt_view_queue_front(queue, NULL));
  assert_int_equal(tt_view_queue_lost(queue), 2);
  tt_view_free(view);
  tt_view_queue_free(queue);
}

static long resident(void) {
  long size, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &size, &pages), 2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

/* There is room for hundreds of contacts in each of a thousand views, and hardly ever a contact. */
static void a_queue_takes_memory_as_views_come(void **state) {
  (void)state;
#ifdef TETHER_SANITIZED
  skip(); /* they keep notes of all memory that is given out */
#endif
  static const tt_model roomy = {.contact_capacity = 200};
  const long whole = 2000L * 200 * (long)sizeof(tt_contact), before = resident();
  tt_view_queue *queue = tt_view_queue_new(&roomy, 2000);
  assert_non_null(queue);
  assert_true(resident() - before < whole / 4);
  tt_view_queue_free(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_producers_items_come_once_and_in_order),
      cmocka_unit_test(a_full_queue_says_so),
      cmocka_unit_test(a_slow_observer_knows_what_it_missed),
      cmocka_unit_test(the_newest_view_has_a_place_in_a_full_queue),
      cmocka_unit_test(a_queue_takes_memory_as_views_come),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
