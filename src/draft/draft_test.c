/* draft_test.c: paths of files, what messages tell of their place, and drafts on the disk: limits, saving, pruning. */
#include "app/assemble.h"
#include "app/guests.h"
#include "base/scratch.h"
#include "draft/drafts.h"
#include "draft/help.h"
#include "scene/data.h"
#include "scene/keys.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static tt_status assemble(const tt_scene *scene, tt_world **world, tt_error *error) {
  return tt_assemble(scene, &(tt_assembly){.check_only = true}, world, error);
}

static const tt_draft_maker maker = {&tt_program_guests, assemble};

static ssize_t readable = -1; /* bytes that read() gives before the disk fails; −1: all */

ssize_t __real_read(int file, void *bytes, size_t size);
ssize_t __wrap_read(int file, void *bytes, size_t size);
ssize_t __wrap_read(int file, void *bytes, size_t size) {
  if (readable < 0) return __real_read(file, bytes, size);
  const ssize_t left = readable - (ssize_t)lseek(file, 0, SEEK_CUR);
  if (left > 0) return __real_read(file, bytes, (size_t)left < size ? (size_t)left : size);
  errno = EIO;
  return -1;
}
/* The same where the compiler knows how much room there is. */
ssize_t __wrap___read_chk(int file, void *bytes, size_t size, size_t room);
ssize_t __wrap___read_chk(int file, void *bytes, size_t size, size_t room) {
  assert_true(size <= room);
  return __wrap_read(file, bytes, size);
}

/* --- paths --- */

static void test_paths(void **state) {
  (void)state;
  static const char *const good[] = {"a",     "a.yaml",          "robots/arm 2/robot.yaml", "a..b",
                                     "fähre", "a/b/c/d/e/f/g/h", "mesh (1)+x.STL"};
  static const char *const bad[] = {"",
                                    "/a",
                                    "a/",
                                    "a//b",
                                    "..",
                                    "../a",
                                    "a/../b",
                                    ".a",
                                    "a/.b",
                                    "a\\b",
                                    "a\nb",
                                    "a\x7f",
                                    "\xff",
                                    "\xc3",
                                    "a/ b",
                                    "\xc0\xaf",
                                    ".",
                                    " a",
                                    "a/./b",
                                    "\x01",
                                    "a/b/c/d/e/f/g/h/i",
                                    "\xc2\x80",
                                    "\xe0\x80\x80",
                                    "\xed\xa0\x80",
                                    "\xf4\x90\x80\x80"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    if (!tt_draft_path_is_good(good[i])) fail_msg("'%s' is refused", good[i]);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (tt_draft_path_is_good(bad[i])) fail_msg("'%s' is taken", bad[i]);
  char most[300];
  memset(most, 'a', sizeof most);
  most[101] = 0;
  assert_false(tt_draft_path_is_good(most));
  most[100] = 0;
  assert_true(tt_draft_path_is_good(most));
}

/* --- places --- */

static void check_place(const char *message, const char *text, const char *file, int line,
                        int column, const char *said) {
  tt_problem problem;
  tt_problem_read("/d/a", message, TT_SEVERITY_ERROR, &problem);
  tt_problem_place(&problem, text, strlen(text));
  assert_string_equal(problem.file, file);
  assert_string_equal(problem.text, said);
  assert_int_equal(problem.line, line);
  assert_int_equal(problem.column, column);
}

static void test_places(void **state) {
  (void)state;
  check_place("/d/a/s.yaml:2: robots[0].x: '1 parsec' is not understood",
              "robots:\n  - {robot: r, x: 1 parsec}\n", "s.yaml", 2, 19,
              "robots[0].x: '1 parsec' is not understood");
  check_place("/d/a/s.yaml:1: robots[0].heading: give less", "ä: 1; heading: 7", "s.yaml", 1, 7,
              "robots[0].heading: give less");
  check_place("/d/a/m/m.xml: XML Error: invalid keyword: 'bax' Element 'geom', line 2",
              "<mujoco>\n <geom type=\"bax\"/>\n", "m/m.xml", 2, 14,
              "XML Error: invalid keyword: 'bax' Element 'geom', line 2");
  check_place("/d/a/r.urdf: mesh 'a.stl' is not found; line 77",
              "<robot>\n\n<mesh filename='x/a.stl'/>", "r.urdf", 3, 19,
              "mesh 'a.stl' is not found; line 77");
  check_place("/etc/x.yaml:3: a: b", "", "", 0, 0, "/etc/x.yaml:3: a: b");
  check_place("/d/a/../x.yaml:3: a: b", "", "", 0, 0, "../x.yaml:3: a: b");
  check_place("out of memory", "", "", 0, 0, "out of memory");
  check_place("/d/a/s.yaml:999999999999: a: b", "x", "", 0, 0, "s.yaml:999999999999: a: b");
}

/* --- drafts --- */

static int open_folder(void **state) {
  static tt_scratch scratch;
  tt_error error;
  if (tt_scratch_open(&scratch, &error) != TT_OK) return -1;
  *state = &scratch;
  return 0;
}

static int close_folder(void **state) {
  tt_scratch_close(*state);
  return 0;
}

static void write_text(tt_drafts *drafts, const tt_draft *draft, const char *path,
                       const char *text) {
  tt_error error = {""};
  if (tt_drafts_write(drafts, draft, path, text, strlen(text), NULL, NULL, &error) != TT_OK)
    fail_msg("%s", error.text);
}

static const tt_problem *find_problem(const tt_draft_look *look, const char *file, int line,
                                      const char *part) {
  for (int i = 0; i < look->problem_count; i++)
    if (look->problems[i].line == line && !strcmp(look->problems[i].file, file) &&
        strstr(look->problems[i].text, part))
      return &look->problems[i];
  for (int i = 0; i < look->problem_count; i++)
    print_error("%s:%d:%d: %s\n", look->problems[i].file, look->problems[i].line,
                look->problems[i].column, look->problems[i].text);
  fail_msg("%s:%d: '%s' is not told", file, line, part);
  return NULL;
}

#define URDF                                                                                       \
  "<robot name='r'>\n"                                                                             \
  " <link name='base'/>\n"                                                                         \
  " <link name='arm'><collision><geometry><box size='1 1 1'/></geometry></collision></link>\n"     \
  " <joint name='j' type='revolute'><parent link='base'/><child link='arm'/>\n"                    \
  "  <axis xyz='0 0 1'/><limit lower='-1' upper='1'/></joint>\n"                                   \
  "</robot>\n"

/* Everything that is wrong is told at once, wherever it stands; then the warnings; then it runs. */
static void test_problems(void **state) {
  tt_drafts *drafts = tt_drafts_new(((tt_scratch *)*state)->folder, &maker);
  tt_draft draft;
  tt_draft_look *look, *again;
  tt_error error = {""};
  assert_int_equal(tt_drafts_begin(drafts, "one", &draft, NULL, &error), TT_OK);
  write_text(drafts, &draft, "one.yaml",
             "robots:\n"
             "  - {robot: arm.yaml, name: arm, x: 1 parsec, heading: 1 mile}\n"
             "speed: 0\n"
             "wires:\n"
             "  - float-udp: {sensors: [time, j.positoin], commands: [stamp, j.torqe]}\n");
  write_text(drafts, &draft, "arm.yaml",
             "model: arm.urdf\nfloting: on\njoints:\n  - {name: j, max_torque: [1]}\n  - {}\n");
  write_text(drafts, &draft, "arm.urdf", URDF);
  assert_int_equal(tt_drafts_look(drafts, &draft, &look, &error), TT_OK);
  assert_false(look->runs);
  assert_null(look->model);
  find_problem(look, "arm.yaml", 2, "did you mean 'floating'");
  find_problem(look, "arm.yaml", 4, "expected text");
  find_problem(look, "arm.yaml", 5, "'name' is missing");
  find_problem(look, "one.yaml", 3, "speed");
  assert_int_equal(find_problem(look, "one.yaml", 2, "'1 parsec'")->column, 37);
  find_problem(look, "one.yaml", 2, "'1 mile'");
  tt_draft_look_unref(look);

  write_text(drafts, &draft, "arm.yaml", "model: arm.urdf\n");
  write_text(drafts, &draft, "one.yaml",
             "robots:\n"
             "  - {robot: arm.yaml, name: arm}\n"
             "wires:\n"
             "  - float-udp:\n"
             "      sensors: [time, j.positoin]\n"
             "      commands: [stamp, j.torqe]\n");
  assert_int_equal(tt_drafts_look(drafts, &draft, &look, &error), TT_OK);
  assert_false(look->runs);
  find_problem(look, "one.yaml", 5, "j.positoin");
  find_problem(look, "one.yaml", 6, "j.torqe");
  assert_int_equal(find_problem(look, "arm.urdf", 1, "base is fixed")->severity,
                   TT_SEVERITY_WARNING);
  find_problem(look, "arm.urdf", 3, "has no <inertial>");
  find_problem(look, "arm.urdf", 5, "states no effort");
  tt_draft_look_unref(look);

  write_text(drafts, &draft, "one.yaml", "robots: [{robot: arm.yaml, floating: off}]\n");
  assert_int_equal(tt_drafts_look(drafts, &draft, &look, &error), TT_OK);
  assert_true(look->runs && look->model && !tt_draft_look_error(look));
  assert_int_equal(look->problem_count, 2);
  assert_int_equal(tt_drafts_look(drafts, &draft, &again, &error), TT_OK);
  assert_ptr_equal(look, again); /* nothing changed: nothing is compiled anew */
  tt_draft_look_unref(look);
  tt_draft_look_unref(again);
  assert_int_equal(tt_drafts_remove(drafts, draft.id, NULL, &error), TT_OK);
  tt_drafts_free(drafts);
}

/* Nothing of the machine's own files is read, whatever names them. */
static void test_nothing_elsewhere(void **state) {
  tt_drafts *drafts = tt_drafts_new(((tt_scratch *)*state)->folder, &maker);
  tt_draft draft;
  tt_draft_look *look;
  tt_error error = {""};
  static const char *const scenes[] = {
      "robots: [{robot: /etc/passwd.yaml}]\n", "robots: [{robot: ../../../x/robot.yaml}]\n",
      "arena: sub/../../x.xml\n", "robots: [{robot: inner/robot.yaml}]\n",
      "robots: [{robot: includes.xml}]\n"};
  char outside[600];
  assert_int_equal(tt_drafts_begin(drafts, "one", &draft, NULL, &error), TT_OK);
  snprintf(outside, sizeof outside, "%s/../secret.xml", draft.folder);
  FILE *file = fopen(outside, "w");
  assert_non_null(file);
  assert_true(fputs("<mujoco><secret/></mujoco>", file) >= 0);
  fclose(file);
  write_text(drafts, &draft, "inner/robot.yaml", "model: ../../secret.xml\n");
  write_text(drafts, &draft, "includes.xml", "<mujoco><include file='../secret.xml'/></mujoco>");
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    write_text(drafts, &draft, "one.yaml", scenes[i]);
    assert_int_equal(tt_drafts_look(drafts, &draft, &look, &error), TT_OK);
    assert_false(look->runs);
    assert_non_null(strstr(tt_draft_look_error(look)->text, "lies elsewhere"));
    tt_draft_look_unref(look);
  }
  /* A file of the draft may name its neighbours, and what comes with Tether. */
  write_text(drafts, &draft, "inner/robot.yaml", "model: ../arm.urdf\n");
  write_text(drafts, &draft, "arm.urdf", URDF);
  write_text(drafts, &draft, "one.yaml",
             "arena: frc2011\nrobots: [{robot: inner/robot.yaml}, {robot: gripper}]\n");
  assert_int_equal(tt_drafts_look(drafts, &draft, &look, &error), TT_OK);
  if (!look->runs) fail_msg("%s", tt_draft_look_error(look)->text);
  tt_draft_look_unref(look);
  assert_int_equal(unlink(outside), 0);
  assert_int_equal(tt_drafts_remove(drafts, draft.id, NULL, &error), TT_OK);
  tt_drafts_free(drafts);
}

static void test_limits(void **state) {
  tt_drafts *drafts = tt_drafts_new(((tt_scratch *)*state)->folder, &maker);
  tt_draft draft, *list;
  tt_error error = {""};
  char path[64], first[TT_DRAFT_ID];
  int count;
  assert_int_equal(tt_drafts_begin(drafts, "../x", &draft, NULL, &error), TT_INVALID);
  assert_int_equal(tt_drafts_find(drafts, "../../../../etc/a", &draft, &error), TT_NOT_FOUND);
  assert_int_equal(tt_drafts_begin(drafts, "one", &draft, NULL, &error), TT_OK);
  memcpy(first, draft.id, sizeof first);
  assert_int_equal(tt_drafts_write(drafts, &draft, "../x", "", 0, NULL, NULL, &error), TT_INVALID);
  assert_int_equal(tt_drafts_unlink(drafts, &draft, "none", NULL, &error), TT_NOT_FOUND);
  for (int i = 1; i < TT_DRAFT_MOST_FILES; i++) {
    snprintf(path, sizeof path, "folder%d/file", i);
    write_text(drafts, &draft, path, "");
  }
  assert_int_equal(tt_drafts_write(drafts, &draft, "more", "", 0, NULL, NULL, &error), TT_FULL);
  write_text(drafts, &draft, path, "again");
  assert_int_equal(tt_drafts_unlink(drafts, &draft, path, NULL, &error), TT_OK);
  char *large = calloc(1, TT_DRAFT_MOST_FILE + 1);
  assert_non_null(large);
  assert_int_equal(
      tt_drafts_write(drafts, &draft, "large", large, TT_DRAFT_MOST_FILE + 1, NULL, NULL, &error),
      TT_FULL);
  free(large);
  /* The one that changed longest ago goes. */
  for (int i = 0; i < TT_DRAFT_MOST; i++)
    assert_int_equal(tt_drafts_begin(drafts, "more", &draft, NULL, &error), TT_OK);
  assert_int_equal(tt_drafts_find(drafts, first, &draft, &error), TT_NOT_FOUND);
  assert_int_equal(tt_drafts_list(drafts, &list, &count, &error), TT_OK);
  assert_int_equal(count, TT_DRAFT_MOST);
  for (int i = 0; i < count; i++)
    assert_int_equal(tt_drafts_remove(drafts, list[i].id, NULL, &error), TT_OK);
  free(list);
  tt_drafts_free(drafts);
}

#define WITH_TOKEN "web: {token: sesame}\nrobots: []\n"

static void expect_denied(tt_status status, tt_draft_author *author, const tt_error *error) {
  assert_int_equal(status, TT_INVALID);
  assert_true(author->denied);
  assert_non_null(strstr(error->text, "the role administer"));
  author->denied = false;
}

/* What is there when it is changed counts, whatever was there before. */
static void test_who_may_not_administer_changes_no_token(void **state) {
  tt_drafts *drafts = tt_drafts_new(((tt_scratch *)*state)->folder, &maker);
  tt_draft draft;
  tt_draft_author drives = {.denied = false}, administers = {.administers = true};
  tt_error error = {""};
  uint64_t revision = 0;
  assert_int_equal(tt_drafts_begin(drafts, "one", &draft, &drives, &error), TT_OK);
  assert_int_equal(tt_drafts_write(drafts, &draft, "one.yaml", "", 0, NULL, &drives, &error),
                   TT_OK);
  write_text(drafts, &draft, "one.yaml", WITH_TOKEN);
  const uint32_t known = tt_draft_text_hash(WITH_TOKEN, sizeof WITH_TOKEN - 1);
  expect_denied(tt_drafts_write(drafts, &draft, "one.yaml", "", 0, NULL, &drives, &error), &drives,
                &error);
  expect_denied(tt_drafts_write_over(drafts, &draft, "one.yaml", "", 0, &known, 1, &revision,
                                     &drives, &error),
                &drives, &error);
  expect_denied(tt_drafts_unlink(drafts, &draft, "one.yaml", &drives, &error), &drives, &error);
  expect_denied(tt_drafts_remove(drafts, draft.id, &drives, &error), &drives, &error);
  assert_int_equal(tt_drafts_write(drafts, &draft, "notes.md", "", 0, NULL, &drives, &error),
                   TT_OK);
  assert_int_equal(tt_drafts_unlink(drafts, &draft, "none.yaml", &drives, &error), TT_NOT_FOUND);
  assert_false(drives.denied);
  assert_int_equal(tt_drafts_remove(drafts, draft.id, &administers, &error), TT_OK);
  tt_drafts_free(drafts);
}

static void test_what_has_a_token_makes_no_room(void **state) {
  tt_drafts *drafts = tt_drafts_new(((tt_scratch *)*state)->folder, &maker);
  tt_draft draft[TT_DRAFT_MOST], one_more;
  tt_draft_author drives = {.denied = false}, administers = {.administers = true};
  tt_error error = {""};
  for (int i = 0; i < TT_DRAFT_MOST; i++) {
    assert_int_equal(tt_drafts_begin(drafts, "one", &draft[i], &drives, &error), TT_OK);
    if (i != 1) write_text(drafts, &draft[i], "one.yaml", WITH_TOKEN);
  }
  assert_int_equal(tt_drafts_begin(drafts, "more", &one_more, &drives, &error), TT_OK);
  assert_int_equal(tt_drafts_find(drafts, draft[0].id, &one_more, &error), TT_OK);
  assert_int_equal(tt_drafts_find(drafts, draft[1].id, &one_more, &error), TT_NOT_FOUND);
  assert_int_equal(tt_drafts_begin(drafts, "more", &one_more, &drives, &error), TT_OK);
  write_text(drafts, &one_more, "more.yaml", WITH_TOKEN);
  assert_int_equal(tt_drafts_begin(drafts, "more", &one_more, &drives, &error), TT_FULL);
  assert_true(drives.denied);
  assert_non_null(strstr(error.text, "the role administer"));
  assert_int_equal(tt_drafts_find(drafts, draft[0].id, &one_more, &error), TT_OK);
  assert_int_equal(tt_drafts_begin(drafts, "more", &one_more, &administers, &error), TT_OK);
  assert_int_equal(tt_drafts_find(drafts, draft[0].id, &one_more, &error), TT_NOT_FOUND);
  tt_drafts_free(drafts);
}

/* Who wants to write over what they saw does not write over what they did not. */
static void test_writing_over_what_was_seen(void **state) {
  tt_drafts *drafts = tt_drafts_new(((tt_scratch *)*state)->folder, &maker);
  tt_draft draft;
  tt_error error = {""};
  char *bytes;
  size_t size;
  uint64_t one = 0, other;
  assert_int_equal(tt_drafts_begin(drafts, "two", &draft, NULL, &error), TT_OK);
  assert_int_equal(tt_drafts_write(drafts, &draft, "a", "1", 1, &one, NULL, &error), TT_OK);
  other = one;
  assert_int_equal(tt_drafts_write(drafts, &draft, "b", "22", 2, &other, NULL, &error), TT_OK);
  assert_true(other != one);
  assert_int_equal(tt_drafts_write(drafts, &draft, "a", "333", 3, &one, NULL, &error), TT_STALE);
  assert_int_equal(tt_drafts_write(drafts, &draft, "a", "4444", 4, &other, NULL, &error), TT_OK);
  assert_int_equal(tt_draft_file_read(draft.folder, "a", &bytes, &size, &error), TT_OK);
  assert_string_equal(bytes, "4444");
  free(bytes);
  tt_drafts_free(drafts);
}

/* A part of a file is not taken for the whole, nor one that nobody can look into for none. */
static void test_a_file_that_can_not_be_read(void **state) {
  const char *folder = ((tt_scratch *)*state)->folder;
  char path[512], scenes[200], main[600];
  snprintf(scenes, sizeof scenes, "%s/whole", folder);
  assert_int_equal(mkdir(scenes, 0700), 0);
  tt_drafts *drafts = tt_drafts_new(folder, &maker);
  tt_draft draft;
  tt_error error = {""};
  char *bytes;
  size_t size;
  bool taken, denied;
  assert_int_equal(tt_drafts_begin(drafts, "whole", &draft, NULL, &error), TT_OK);
  for (readable = 0; readable <= 10; readable += 10) {
    const tt_status status = tt_draft_file_read(draft.folder, draft.main, &bytes, &size, &error);
    const tt_status saved =
        tt_drafts_save(drafts, &draft, scenes, "whole", true, true, path, &taken, &denied, &error);
    assert_int_equal(status, TT_FAILED);
    assert_int_equal(saved, TT_FAILED);
    assert_non_null(strstr(error.text, "whole.yaml: can't read: "));
  }
  readable = -1;
  snprintf(main, sizeof main, "%s/%s", draft.folder, draft.main);
  assert_int_equal(chmod(main, 0), 0);
  if (geteuid() != 0) /* who may read all */
    assert_int_equal(tt_draft_file_read(draft.folder, draft.main, &bytes, &size, &error),
                     TT_FAILED);
  assert_int_equal(tt_draft_file_read(draft.folder, "none", &bytes, &size, &error), TT_NOT_FOUND);
  assert_int_equal(tt_draft_file_read(draft.folder, "whole.yaml/a", &bytes, &size, &error),
                   TT_NOT_FOUND);
  tt_drafts_free(drafts);
}

/* A page that leaves can say only what the file had. */
static void test_writing_over_a_known_text(void **state) {
  tt_drafts *drafts = tt_drafts_new(((tt_scratch *)*state)->folder, &maker);
  tt_draft draft;
  tt_error error = {""};
  char *bytes;
  size_t size;
  uint64_t revision;
  static const uint32_t hash_of_a = 0xe40c292c, nothing = 0, two[] = {0xbf9cf968, 0xe40c292c};
  assert_int_equal(tt_draft_text_hash("a", 1), hash_of_a);
  assert_int_equal(tt_draft_text_hash("foobar", 6), two[0]);
  assert_int_equal(tt_drafts_begin(drafts, "known", &draft, NULL, &error), TT_OK);
#define OVER(path, text, known, count)                                                             \
  tt_drafts_write_over(drafts, &draft, path, text, strlen(text), known, count, &revision, NULL,    \
                       &error)
  assert_int_equal(OVER("f", "a", &hash_of_a, 1), TT_STALE); /* somebody removed it */
  assert_int_equal(OVER("f", "a", &nothing, 1), TT_OK);
  assert_int_equal(OVER("f", "x", &nothing, 1), TT_STALE);
  write_text(drafts, &draft, "other", "this is not asked for");
  assert_int_equal(OVER("f", "foobar", &hash_of_a, 1), TT_OK);
  assert_int_equal(OVER("f", "x", &hash_of_a, 1), TT_STALE);
  assert_int_equal(OVER("f", "\357\273\277a", two, 1), TT_OK);
  assert_int_equal(OVER("f", "end", two, 2), TT_OK);
  assert_int_equal(OVER("../f", "x", &nothing, 1), TT_INVALID);
#undef OVER
  assert_int_equal(tt_draft_file_read(draft.folder, "f", &bytes, &size, &error), TT_OK);
  assert_string_equal(bytes, "end");
  free(bytes);
  tt_drafts_free(drafts);
}

static tt_status save_as(tt_drafts *drafts, const tt_draft *draft, const char *scenes,
                         const char *name, bool replace, bool *taken, const char *said) {
  char path[512];
  bool denied;
  tt_error error = {""};
  tt_status status =
      tt_drafts_save(drafts, draft, scenes, name, replace, true, path, taken, &denied, &error);
  if (!strstr(error.text, said)) fail_msg("%s", error.text);
  return status;
}

/* Names that others have: one that comes with Tether, and one that somebody wrote by hand. */
static void check_other_names(tt_drafts *drafts, const tt_draft *draft, const char *scenes) {
  bool taken;
  char file[300];
  assert_int_equal(save_as(drafts, draft, scenes, "gripper", false, &taken, "comes with Tether"),
                   TT_FULL);
  assert_true(taken);
  assert_int_equal(save_as(drafts, draft, scenes, "gripper", true, &taken, ""), TT_OK);
  snprintf(file, sizeof file, "%s/hand.yaml", scenes);
  FILE *hand = fopen(file, "w");
  assert_non_null(hand);
  fclose(hand);
  for (int replace = 0; replace < 2; replace++) {
    assert_int_equal(
        save_as(drafts, draft, scenes, "hand", replace, &taken, "hand.yaml was written by hand"),
        TT_INVALID);
    assert_false(taken); /* so that nobody is asked whether to replace it */
  }
}

/* Whatever was looked at before: what is copied counts. */
static void test_saving_what_concerns_the_machine(void **state) {
  const char *folder = ((tt_scratch *)*state)->folder;
  char scenes[200], path[512], saved[300];
  snprintf(scenes, sizeof scenes, "%s/sly", folder);
  snprintf(saved, sizeof saved, "%s/scene", scenes);
  assert_int_equal(mkdir(scenes, 0700), 0);
  tt_drafts *drafts = tt_drafts_new(folder, &maker);
  tt_draft draft;
  tt_error error = {""};
  bool taken, denied;
  static const char text[] = "robots: []\nweb: {token: mine}\n";
  assert_int_equal(tt_drafts_begin(drafts, "sly", &draft, NULL, &error), TT_OK);
  assert_int_equal(
      tt_drafts_write(drafts, &draft, draft.main, text, strlen(text), NULL, NULL, &error), TT_OK);
  for (int i = 0; i < 3; i++) {
    const bool replace = i == 2, administers = i == 1;
    assert_int_equal(tt_drafts_save(drafts, &draft, scenes, "scene", replace, administers, path,
                                    &taken, &denied, &error),
                     administers ? TT_OK : TT_INVALID);
    assert_int_equal(denied, !administers);
    assert_int_equal(access(saved, F_OK), i ? 0 : -1);
  }
  assert_non_null(strstr(error.text, "(web) need the role administer"));
  tt_drafts_free(drafts);
}

/* What an administrator saved stays, whatever is to take its place, or nothing. */
static void test_replacing_what_concerns_the_machine(void **state) {
  static const struct {
    const char *path, *text;
    bool denied;
  } cases[] = {{"one.yaml", "robots: []\nweb: {token: mine}\n", true},
               {"one.yaml", "robots: []\nweb: {tokens: mine}\n", true},
               {"more/robot.YML", "# token: mine\n", true},
               {"more/robot.yml", "# mine\n", false},
               {"notes.md", "token: mine\n", false}};
  const char *folder = ((tt_scratch *)*state)->folder;
  char scenes[200], path[512], name[8];
  snprintf(scenes, sizeof scenes, "%s/kept", folder);
  assert_int_equal(mkdir(scenes, 0700), 0);
  tt_drafts *drafts = tt_drafts_new(folder, &maker);
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
    tt_draft one, other;
    tt_error error = {""};
    bool taken, denied;
    snprintf(name, sizeof name, "one%d", i);
    assert_int_equal(tt_drafts_begin(drafts, "one", &one, NULL, &error), TT_OK);
    assert_int_equal(tt_drafts_begin(drafts, "one", &other, NULL, &error), TT_OK);
    write_text(drafts, &one, cases[i].path, cases[i].text);
    assert_int_equal(
        tt_drafts_save(drafts, &one, scenes, name, true, true, path, &taken, &denied, &error),
        TT_OK);
    const tt_status expected = cases[i].denied ? TT_INVALID : TT_OK;
    assert_int_equal(
        tt_drafts_save(drafts, &other, scenes, name, true, false, path, &taken, &denied, &error),
        expected);
    assert_int_equal(denied, cases[i].denied);
    assert_int_equal(strstr(error.text, "the role administer") != NULL, cases[i].denied);
    assert_int_equal(tt_draft_saved_remove(scenes, name, false, &denied, &error), expected);
    assert_int_equal(denied, cases[i].denied);
    assert_int_equal(tt_draft_saved_remove(scenes, name, true, &denied, &error),
                     cases[i].denied ? TT_OK : TT_NOT_FOUND);
  }
  assert_int_equal(rmdir(scenes), 0); /* nothing is left */
  tt_drafts_free(drafts);
}

static void test_saving(void **state) {
  const char *folder = ((tt_scratch *)*state)->folder;
  char own[100], scenes[200], path[512], *found;
  snprintf(own, sizeof own, "%s/own", folder);
  snprintf(scenes, sizeof scenes, "%s/scenes", own);
  assert_true(mkdir(own, 0700) == 0 && mkdir(scenes, 0700) == 0);
  tt_drafts *drafts = tt_drafts_new(folder, &maker);
  tt_draft draft, copy;
  tt_draft_look *look;
  tt_error error = {""};
  bool taken, denied, large;
  assert_int_equal(tt_data_find(&tt_data_scene, "gripper", NULL, "test", &found, &error), TT_OK);
  assert_int_equal(tt_drafts_copy(drafts, found, &draft, &large, NULL, &error), TT_OK);
  free(found);
  assert_string_equal(draft.main, "gripper.yaml");
  assert_int_equal(tt_drafts_look(drafts, &draft, &look, &error), TT_OK);
  if (!look->runs) fail_msg("%s", tt_draft_look_error(look)->text);
  tt_draft_look_unref(look);
  assert_int_equal(
      tt_drafts_save(drafts, &draft, scenes, "a/b", false, true, path, &taken, &denied, &error),
      TT_INVALID);
  assert_int_equal(
      tt_drafts_save(drafts, &draft, scenes, "mine", false, true, path, &taken, &denied, &error),
      TT_OK);
  assert_int_equal(
      tt_drafts_save(drafts, &draft, scenes, "mine", false, true, path, &taken, &denied, &error),
      TT_FULL);
  assert_true(taken);
  /* What people keep beside it stays. */
  char beside[300];
  snprintf(beside, sizeof beside, "%s/mine.old", scenes);
  assert_int_equal(mkdir(beside, 0700), 0);
  assert_int_equal(
      tt_drafts_save(drafts, &draft, scenes, "mine", true, true, path, &taken, &denied, &error),
      TT_OK);
  assert_int_equal(access(beside, F_OK), 0);
  check_other_names(drafts, &draft, scenes);
  /* It is found by its name, and opens again with all its files. */
  assert_int_equal(tt_data_set_own(own), TT_OK);
  assert_int_equal(tt_data_find(&tt_data_scene, "mine", NULL, "test", &found, &error), TT_OK);
  assert_string_equal(found, path);
  assert_int_equal(tt_drafts_copy(drafts, found, &copy, &large, NULL, &error), TT_OK);
  free(found);
  assert_int_equal(tt_data_set_own(NULL), TT_OK);
  tt_draft_files before, after;
  assert_int_equal(tt_draft_files_list(draft.folder, &before, &error), TT_OK);
  assert_int_equal(tt_draft_files_list(copy.folder, &after, &error), TT_OK);
  assert_int_equal(before.count, after.count);
  assert_int_equal(before.bytes, after.bytes);
  tt_draft_files_free(&before);
  tt_draft_files_free(&after);
  assert_int_equal(tt_drafts_remove(drafts, draft.id, NULL, &error), TT_OK);
  assert_int_equal(tt_drafts_remove(drafts, copy.id, NULL, &error), TT_OK);
  tt_drafts_free(drafts);
}

/* Every key but a protocol has a row in the documents. */
static void find_key(void *context, const char *file, const char *path,
                     const cyaml_schema_value_t *value) {
  int *missing = context;
  tt_help help;
  const bool protocol = strncmp(path, "wires.", 6) == 0 && !strchr(path + 6, '.');
  (void)value;
  if (protocol || tt_help_find(file, path, &help)) return;
  print_error("%s file: %s has no help\n", file, path);
  ++*missing;
}

static void test_help(void **state) {
  (void)state;
  tt_pool pool = {0};
  tt_schemas schemas;
  tt_help help;
  int missing = 0;
  assert_int_equal(tt_schemas_new(&tt_program_guests, &pool, &schemas), TT_OK);
  tt_keys_visit(&schemas, find_key, &missing);
  tt_pool_free(&pool);
  assert_int_equal(missing, 0);
  assert_true(tt_help_find("scene", "wires.xrp.motors.unit", &help));
  assert_string_equal(help.type, "unit");
  assert_string_equal(help.initial, "SI");
  assert_true(tt_help_find("robot", "encoders.ticks_per_turn", &help));
  assert_string_equal(help.text, "of an angle, not 0; negative counts backwards");
  assert_false(tt_help_find("robot", "encoders.nothing", &help));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_help),
      cmocka_unit_test_setup_teardown(test_problems, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_nothing_elsewhere, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_limits, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_who_may_not_administer_changes_no_token, open_folder,
                                      close_folder),
      cmocka_unit_test_setup_teardown(test_what_has_a_token_makes_no_room, open_folder,
                                      close_folder),
      cmocka_unit_test_setup_teardown(test_writing_over_what_was_seen, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_a_file_that_can_not_be_read, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_writing_over_a_known_text, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_saving, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_saving_what_concerns_the_machine, open_folder,
                                      close_folder),
      cmocka_unit_test_setup_teardown(test_replacing_what_concerns_the_machine, open_folder,
                                      close_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
