/* Poses in the arena's frame and in the field's, both ways. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "game/field.h"

#define ROOT_HALF 0.70710678118654752440

static void same(const double a[7], const double b[7]) {
  for (int i = 0; i < 7; i++) assert_true(fabs(a[i] - b[i]) < 1e-12);
}

/* A field whose blue wall is at y = 8 m: looking along -y, the right corner is at x = -4 m. */
static const tt_field turned = {-4, 8, 4.71238898038468985769};

static void a_turned_field_is_seen_from_blue(void **state) {
  (void)state;
  double middle[7] = {0, 0, 0.5, ROOT_HALF, 0, 0, -ROOT_HALF}; /* heading along -y */
  double ahead[7] = {8, 4, 0.5, -1, 0, 0, 0};
  tt_field_from_arena(&turned, middle);
  same(middle, ahead);
}

static void there_and_back_is_nothing(void **state) {
  (void)state;
  const double pose[7] = {1.5, -2.25, 0.125, 0.5, -0.5, 0.5, 0.5};
  const tt_field fields[] = {{0, 0, 0}, {-8.23, -4.115, 0}, {3, 4, 1.1}, turned};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    double moved[7];
    memcpy(moved, pose, sizeof moved);
    tt_field_from_arena(&fields[i], moved);
    tt_field_to_arena(&fields[i], moved);
    same(moved, pose);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_turned_field_is_seen_from_blue),
      cmocka_unit_test(there_and_back_is_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
