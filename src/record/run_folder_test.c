/* The folder of kept runs: what is in the list, what makes room, and what nobody can be made to read or remove. */
#include "record/run_folder.h"

#include "base/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct places {
  tt_scratch scratch;
  char runs[64], other[64];
} places;

static int set_up(void **state) {
  places *to = calloc(1, sizeof *to);
  assert_int_equal(tt_scratch_open(&to->scratch, NULL), TT_OK);
  snprintf(to->runs, sizeof to->runs, "%s/runs", to->scratch.folder);
  snprintf(to->other, sizeof to->other, "%s/other", to->scratch.folder);
  assert_int_equal(mkdir(to->runs, 0700), 0);
  assert_int_equal(mkdir(to->other, 0700), 0);
  *state = to;
  return 0;
}

static int tear_down(void **state) {
  places *from = *state;
  tt_scratch_close(&from->scratch);
  free(from);
  return 0;
}

static const char *make_file(const char *folder, const char *name, const char *text) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
  return path;
}

static bool exists(const char *folder, const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

/* "a b c": the list, by ids without their ending; "+" behind a pinned one. */
static const char *list(const char *folder) {
  static char text[1024];
  tt_kept_runs runs;
  size_t used = 0;
  text[0] = 0;
  assert_int_equal(tt_kept_runs_list(folder, &runs), TT_OK);
  for (size_t i = 0; i < runs.count; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s%s", i ? " " : "",
                             (int)strlen(runs.runs[i].id) - 7, runs.runs[i].id,
                             runs.runs[i].pinned ? "+" : "");
  tt_kept_runs_free(&runs);
  return text;
}

static void test_newest_first_wherever_the_file_is(void **state) {
  const places *in = *state;
  tt_kept_run run;
  make_file(in->runs, "2026-01-01T10-00-00-a.wpilog", "x");
  make_file(in->runs, "2026-01-01T10-00-00-a-2.wpilog", "x");
  make_file(in->runs, "2026-01-01T10-00-00-a.wpilog.index", "x");
  make_file(in->runs, "note.txt", "x");
  assert_string_equal(list(in->runs), "2026-01-01T10-00-00-a-2 2026-01-01T10-00-00-a");
  const char *file = make_file(in->other, "mine.wpilog", "x");
  assert_int_equal(tt_kept_runs_note(in->runs, "b", file, NULL), TT_OK);
  assert_int_equal(tt_kept_runs_note(in->runs, "c", file, NULL),
                   TT_OK); /* once more: it was overwritten */
  tt_kept_runs runs;
  assert_int_equal(tt_kept_runs_list(in->runs, &runs), TT_OK);
  assert_int_equal(runs.count, 3);
  assert_true(runs.runs[0].elsewhere);
  assert_non_null(strstr(runs.runs[0].id, "-c.wpilog"));
  assert_string_equal(runs.runs[0].path, file);
  assert_true(tt_kept_run_find(in->runs, runs.runs[0].id, &run));
  assert_string_equal(run.path, file);
  tt_kept_run_clear(&run);
  tt_kept_runs_free(&runs);
  assert_int_equal(unlink(file), 0);
  assert_string_equal(list(in->runs), "2026-01-01T10-00-00-a-2 2026-01-01T10-00-00-a");
}

static void test_a_scene_of_any_name_is_listed(void **state) {
  const places *in = *state;
  char path[512];
  assert_int_equal(tt_kept_runs_new_path(in->runs, "a\tb\xff\\c", path, sizeof path, NULL), TT_OK);
  assert_non_null(strstr(path, "-a?b??c.wpilog"));
  make_file(in->runs, strrchr(path, '/') + 1, "x");
  assert_non_null(strstr(list(in->runs), "-a?b??c"));
}

static void test_in_the_folder_is_listed_already(void **state) {
  const places *in = *state;
  const char *file = make_file(in->runs, "mine.wpilog", "x");
  assert_int_equal(tt_kept_runs_note(in->runs, "mine", file, NULL), TT_OK);
  assert_string_equal(list(in->runs), "mine");
  tt_error error;
  assert_int_equal(tt_kept_runs_note(in->runs, "null", "/dev/null", &error), TT_INVALID);
  assert_string_equal(list(in->runs), "mine");
}

/* A file of so many bytes; of one called indexed a quarter of them is in its index, a quarter in its overview. */
static void make_log(const places *in, const char *name, size_t size) {
  char text[2001], index[100];
  memset(text, 'x', sizeof text);
  text[size] = 0;
  make_file(in->runs, name, text);
  if (strstr(name, "indexed") == NULL) return;
  text[size / 2] = 0;
  make_file(in->runs, name, text);
  text[size / 4] = 0;
  snprintf(index, sizeof index, "%s.index", name);
  make_file(in->runs, index, text);
  snprintf(index, sizeof index, "%s.overview", name);
  make_file(in->runs, index, text);
}

static void test_the_oldest_makes_room_for_bytes(void **state) {
  const places *in = *state;
  make_log(in, "2026-01-01.wpilog", 1000);
  make_log(in, "2026-01-02.wpilog", 100); /* would fit, but is older than one that does not */
  make_log(in, "2026-01-03.wpilog", 1000);
  make_log(in, "2026-01-04-indexed.wpilog", 1000);
  make_log(in, "2026-01-05.wpilog", 1000);
  assert_int_equal(tt_kept_run_pin(in->runs, "2026-01-01.wpilog", true, NULL), TT_OK);
  tt_kept_runs_make_room(in->runs, 50, 4100);
  assert_string_equal(list(in->runs),
                      "2026-01-05 2026-01-04-indexed 2026-01-03 2026-01-02 2026-01-01+");
  tt_kept_runs_make_room(in->runs, 50, 3999);
  assert_string_equal(list(in->runs), "2026-01-05 2026-01-04-indexed 2026-01-01+");
  assert_true(exists(in->runs, "2026-01-04-indexed.wpilog.index"));
  tt_kept_runs_make_room(in->runs, 50, 2000);
  assert_string_equal(list(in->runs), "2026-01-05 2026-01-01+");
  assert_false(exists(in->runs, "2026-01-04-indexed.wpilog.index"));
  assert_false(exists(in->runs, "2026-01-04-indexed.wpilog.overview"));
  tt_kept_runs_make_room(in->runs, 50, 0); /* the newest and what is pinned stay */
  assert_string_equal(list(in->runs), "2026-01-05 2026-01-01+");
}

/* `path` as if it had been written then. */
static void write_then(const char *path, time_t seconds) {
  const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Names are of the clock's zone: the later run may have the earlier name. */
static void test_the_oldest_by_time_makes_room_not_by_name(void **state) {
  const places *in = *state;
  write_then(make_file(in->runs, "2026-11-29T00-46-48-s.wpilog", "x"), 1000);
  write_then(make_file(in->runs, "2026-11-29T00-46-51-s.wpilog", "x"), 1003);
  write_then(make_file(in->runs, "2026-11-28T19-46-55-s.wpilog", "x"), 1007);
  tt_kept_runs_make_room(in->runs, 2, UINT64_MAX);
  assert_string_equal(list(in->runs), "2026-11-29T00-46-51-s 2026-11-28T19-46-55-s");
}

/* Also those that follow it stay, as long as any that was recorded before it does. */
static void test_what_was_just_recorded_stays_though_the_clock_was_set_back(void **state) {
  const places *in = *state;
  char name[64], path[512];
  const time_t ahead = time(NULL) + 1000000;
  write_then(make_file(in->runs, "2099-01-01.wpilog", "x"), ahead);
  write_then(make_file(in->runs, "2099-01-02.wpilog", "x"), ahead + 10);
  for (int i = 1; i <= 4; i++) {
    snprintf(name, sizeof name, "2026-01-0%d.wpilog", i);
    snprintf(path, sizeof path, "%s", make_file(in->runs, name, "x"));
    tt_kept_run_is_newest(in->runs, path);
    tt_kept_runs_make_room(in->runs, 2, UINT64_MAX);
    assert_true(exists(in->runs, name));
    assert_int_equal(exists(in->runs, "2099-01-02.wpilog"), i == 1);
  }
  assert_string_equal(list(in->runs), "2026-01-04 2026-01-03");
}

static void test_what_was_noted_elsewhere_stays_though_the_clock_was_set_back(void **state) {
  const places *in = *state;
  char path[512];
  const time_t ahead = time(NULL) + 1000000;
  for (int i = 1; i <= 2; i++) {
    snprintf(path, sizeof path, "%s\n",
             make_file(in->other, i == 1 ? "1.wpilog" : "2.wpilog", "x"));
    write_then(
        make_file(in->runs, i == 1 ? "2099-1.wpilog.elsewhere" : "2099-2.wpilog.elsewhere", path),
        ahead + i);
  }
  const char *file = make_file(in->other, "new.wpilog", "x");
  assert_int_equal(tt_kept_runs_note(in->runs, "s", file, NULL), TT_OK);
  tt_kept_runs_make_room(in->runs, 2, UINT64_MAX);
  assert_false(exists(in->runs, "2099-1.wpilog.elsewhere"));
  assert_true(exists(in->runs, "2099-2.wpilog.elsewhere"));
  char id[TT_RUN_ID];
  tt_kept_run_name(in->runs, file, id);
  assert_string_not_equal(id, "");
}

/* Also when the oldest of that second made room meanwhile. */
static void test_the_newest_of_a_second_is_the_first_of_the_list(void **state) {
  const places *in = *state;
  char path[512], name[200];
  for (int i = 0; i < 12; i++) {
    tt_kept_runs runs;
    time_t second = time(NULL);
    assert_int_equal(tt_kept_runs_new_path(in->runs, "s", path, sizeof path, NULL), TT_OK);
    snprintf(name, sizeof name, "%s", strrchr(path, '/') + 1);
    if (i % 3)
      make_file(in->runs, name, "x");
    else
      assert_int_equal(tt_kept_runs_note(in->runs, "s", make_file(in->other, name, "x"), NULL),
                       TT_OK);
    tt_kept_runs_make_room(in->runs, 2, UINT64_MAX);
    assert_int_equal(tt_kept_runs_list(in->runs, &runs), TT_OK);
    if (time(NULL) == second) /* else what is noted may have the next one's name */
      assert_string_equal(runs.runs[0].id, name);
    tt_kept_runs_free(&runs);
  }
}

static void test_the_oldest_makes_room(void **state) {
  const places *in = *state;
  char name[64], path[512];
  for (int i = 1; i <= 6; i++) {
    snprintf(name, sizeof name, "2026-01-0%d.wpilog", i);
    make_file(in->runs, name, "x");
    snprintf(name, sizeof name, "2026-02-0%d.wpilog", i);
    snprintf(path, sizeof path, "%s\n", make_file(in->other, name, "x"));
    strcat(name, ".elsewhere");
    make_file(in->runs, name, path);
  }
  make_file(in->runs, "2026-01-03.wpilog.index", "x");
  assert_int_equal(tt_kept_run_pin(in->runs, "2026-01-01.wpilog", true, NULL), TT_OK);
  snprintf(path, sizeof path, "%s/2026-01-02.wpilog", in->runs);
  int recorder = open(path, O_RDWR | O_CLOEXEC);
  assert_int_equal(flock(recorder, LOCK_EX), 0);
  snprintf(path, sizeof path, "%s/2026-02-06.wpilog", in->other);
  assert_int_equal(unlink(path), 0); /* counts as long as its marker is there */
  tt_kept_runs_make_room(in->runs, 2, UINT64_MAX);
  assert_string_equal(list(in->runs), "2026-02-05 2026-01-06 2026-01-05 2026-01-02 2026-01-01+");
  assert_false(exists(in->runs, "2026-01-03.wpilog.index"));
  assert_false(exists(in->runs, "2026-02-04.wpilog.elsewhere"));
  assert_true(exists(in->other, "2026-02-04.wpilog"));
  close(recorder);
}

static void test_pinned_and_growing_are_not_removed(void **state) {
  const places *in = *state;
  tt_error error;
  int recorder = open(make_file(in->runs, "a.wpilog", "x"), O_RDWR | O_CLOEXEC);
  assert_int_equal(flock(recorder, LOCK_EX), 0);
  assert_int_equal(tt_kept_run_remove(in->runs, "a.wpilog", &error), TT_INVALID);
  assert_non_null(strstr(error.text, "still being recorded"));
  close(recorder);
  assert_int_equal(tt_kept_run_pin(in->runs, "a.wpilog", true, NULL), TT_OK);
  assert_int_equal(tt_kept_run_remove(in->runs, "a.wpilog", &error), TT_INVALID);
  assert_non_null(strstr(error.text, "unpin it first"));
  assert_int_equal(tt_kept_run_pin(in->runs, "a.wpilog", false, NULL), TT_OK);
  assert_int_equal(tt_kept_run_pin(in->runs, "a.wpilog", false, NULL), TT_OK);
  assert_int_equal(tt_kept_run_remove(in->runs, "a.wpilog", NULL), TT_OK);
  assert_string_equal(list(in->runs), "");
  assert_int_equal(tt_kept_run_remove(in->runs, "a.wpilog", &error), TT_NOT_FOUND);
  assert_int_equal(tt_kept_run_pin(in->runs, "a.wpilog", true, &error), TT_NOT_FOUND);
}

static void test_removing_one_kept_elsewhere_leaves_its_file(void **state) {
  const places *in = *state;
  tt_kept_runs runs;
  assert_int_equal(tt_kept_runs_note(in->runs, "x", make_file(in->other, "a.wpilog", "x"), NULL),
                   TT_OK);
  assert_int_equal(tt_kept_runs_list(in->runs, &runs), TT_OK);
  assert_int_equal(tt_kept_run_remove(in->runs, runs.runs[0].id, NULL), TT_OK);
  tt_kept_runs_free(&runs);
  assert_string_equal(list(in->runs), "");
  assert_true(exists(in->other, "a.wpilog"));
}

/* An id comes from anybody; a folder may be shared. */
static void test_nothing_else_is_found(void **state) {
  const places *in = *state;
  tt_kept_run run;
  char text[600], path[512];
  const char *secret = make_file(in->other, "secret.wpilog", "x");
  snprintf(path, sizeof path, "%s/link.wpilog", in->runs);
  assert_int_equal(symlink(secret, path), 0);
  snprintf(text, sizeof text, "%s\n", path);
  make_file(in->runs, "to-link.wpilog.elsewhere", text);
  make_file(in->runs, "relative.wpilog.elsewhere", "../other/secret.wpilog\n");
  make_file(in->runs, "no-end.wpilog.elsewhere", "/etc/passwd");
  make_file(in->runs, "folder.wpilog.elsewhere", "/etc\n");
  make_file(in->runs, "device.wpilog.elsewhere", "/dev/zero\n");
  make_file(in->runs, "empty.wpilog.elsewhere", "");
  make_file(in->runs, "bell\a.wpilog", "x");
  make_file(in->runs, "turned\u202e.wpilog", "x");
  make_file(in->runs, "no-utf8\xff.wpilog", "x");
  snprintf(path, sizeof path, "%s/pipe.wpilog.elsewhere", in->runs);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_string_equal(list(in->runs), "");
  static const char *const ids[] = {"link.wpilog",
                                    "to-link.wpilog",
                                    "relative.wpilog",
                                    "no-end.wpilog",
                                    "folder.wpilog",
                                    "device.wpilog",
                                    "empty.wpilog",
                                    "turned\u202e.wpilog",
                                    "no-utf8\xff.wpilog",
                                    "pipe.wpilog",
                                    "bell\a.wpilog",
                                    "../other/secret.wpilog",
                                    ".wpilog",
                                    "",
                                    "secret.wpilog",
                                    "relative.wpilog.elsewhere"};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    assert_false(tt_kept_run_find(in->runs, ids[i], &run));
    tt_kept_run_clear(&run);
    assert_int_equal(tt_kept_run_remove(in->runs, ids[i], NULL), TT_NOT_FOUND);
    assert_int_equal(tt_kept_run_pin(in->runs, ids[i], true, NULL), TT_NOT_FOUND);
  }
  if (geteuid() != 0) return;
  snprintf(text, sizeof text, "%s/secret.wpilog\n", in->other);
  const char *marker = make_file(in->runs, "theirs.wpilog.elsewhere", text);
  assert_string_equal(list(in->runs), "theirs");
  assert_int_equal(chown(marker, 12345, 12345), 0);
  assert_string_equal(list(in->runs), "");
}

int main(void) {
  static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(test_newest_first_wherever_the_file_is),
      TEST(test_a_scene_of_any_name_is_listed),
      TEST(test_in_the_folder_is_listed_already),
      TEST(test_the_newest_of_a_second_is_the_first_of_the_list),
      TEST(test_the_oldest_makes_room),
      TEST(test_the_oldest_by_time_makes_room_not_by_name),
      TEST(test_what_was_just_recorded_stays_though_the_clock_was_set_back),
      TEST(test_what_was_noted_elsewhere_stays_though_the_clock_was_set_back),
      TEST(test_the_oldest_makes_room_for_bytes),
      TEST(test_pinned_and_growing_are_not_removed),
      TEST(test_removing_one_kept_elsewhere_leaves_its_file),
      TEST(test_nothing_else_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
