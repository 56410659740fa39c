/* file_test.c: files read and written whole, and why they can't be. */
#include "base/file.h"
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static tt_scratch scratch;
static char path[500];

static int open_scratch(void **state) {
  (void)state;
  if (tt_scratch_open(&scratch, NULL) != TT_OK) return -1;
  snprintf(path, sizeof path, "%s/file", scratch.folder);
  return 0;
}

static int close_scratch(void **state) {
  (void)state;
  tt_scratch_close(&scratch);
  return 0;
}

static void write_bytes(const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(size == 0 || fwrite(bytes, size, 1, file) == 1);
  assert_int_equal(fclose(file), 0);
}

static void reads_whole(void **state) {
  (void)state;
  const size_t sizes[] = {0, 1, 16383, 16384, 16385, 100000};
  char *content = malloc(100000);
  assert_non_null(content);
  for (size_t i = 0; i < 100000; i++) content[i] = (char)(i * 31);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    tt_bytes bytes;
    write_bytes(content, sizes[i]);
    assert_int_equal(tt_file_read(path, 100000, &bytes, NULL), TT_OK);
    assert_int_equal(bytes.size, sizes[i]);
    assert_memory_equal(bytes.data, content, sizes[i]);
    assert_int_equal(bytes.data[bytes.size], 0);
    tt_bytes_free(&bytes);
  }
  free(content);
}

static void reads_one_byte_more_of_a_larger_file(void **state) {
  (void)state;
  const size_t limits[] = {0, 1, 4, 5, 6};
  write_bytes("seven b", 7);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    tt_bytes bytes;
    assert_int_equal(tt_file_read(path, limits[i], &bytes, NULL), TT_OK);
    assert_int_equal(bytes.size, limits[i] + 1);
    assert_memory_equal(bytes.data, "seven b", bytes.size);
    tt_bytes_free(&bytes);
  }
}

static void reads_from_where_a_file_stands(void **state) {
  (void)state;
  FILE *file;
  tt_bytes bytes;
  write_bytes("one two", 7);
  assert_int_equal(tt_file_open(path, &file, NULL), TT_OK);
  assert_int_equal(fseek(file, 4, SEEK_SET), 0);
  assert_int_equal(tt_file_read_rest(file, path, 100, &bytes, NULL), TT_OK);
  assert_string_equal((const char *)bytes.data, "two");
  assert_int_equal(fclose(file), 0);
  tt_bytes_free(&bytes);
}

static void expect_trouble(const char *of, const char *text) {
  tt_bytes bytes = {.size = 1};
  tt_error error = {""};
  assert_int_equal(tt_file_read(of, 100, &bytes, &error), TT_INVALID);
  assert_string_equal(error.text, text);
  assert_null(bytes.data);
  assert_int_equal(bytes.size, 0);
}

static void says_why_it_cannot_read(void **state) {
  (void)state;
  char text[600];
  snprintf(text, sizeof text, "%s: No such file or directory", path);
  expect_trouble(path, text);
  snprintf(text, sizeof text, "%s: is a folder, not a file", scratch.folder);
  expect_trouble(scratch.folder, text);
  /* its first page is nobody's */
  expect_trouble("/proc/self/mem", "/proc/self/mem: can't be read: Input/output error");
  assert_int_equal(mkfifo(path, 0600), 0);
  snprintf(text, sizeof text, "%s: is a pipe or a device, not a file", path);
  expect_trouble(path, text);
}

static void writes_all(void **state) {
  (void)state;
  char content[3000], read[3000];
  for (size_t i = 0; i < sizeof content; i++) content[i] = (char)(i * 31);
  write_bytes("head", 4);
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_true(tt_file_write_all_at(fileno(file), content, sizeof content, 4));
  assert_int_equal(lseek(fileno(file), 0, SEEK_CUR), 0);
  assert_true(tt_file_write_all(fileno(file), "HE", 2));
  assert_true(tt_file_write_all(fileno(file), NULL, 0));
  assert_int_equal(lseek(fileno(file), 0, SEEK_CUR), 2);
  assert_int_equal(pread(fileno(file), read, 4, 0), 4);
  assert_memory_equal(read, "HEad", 4);
  assert_int_equal(pread(fileno(file), read, sizeof read, 4), sizeof read);
  assert_memory_equal(read, content, sizeof content);
  assert_int_equal(fclose(file), 0);
}

/* The kernel takes of the first write what the limit leaves. */
static void says_what_stops_a_write(void **state) {
  (void)state;
  static const char content[2000];
  struct rlimit before, limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = (struct rlimit){1000, before.rlim_max};
  write_bytes("", 0);
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const bool written = tt_file_write_all(fileno(file), content, sizeof content);
  const int reason = errno;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  assert_false(written);
  assert_int_equal(reason, EFBIG);
  assert_int_equal(lseek(fileno(file), 0, SEEK_END), 1000);
  assert_int_equal(fclose(file), 0);
}

static void expect_content(const char *text) {
  tt_bytes bytes;
  assert_int_equal(tt_file_read(path, 100, &bytes, NULL), TT_OK);
  assert_string_equal((const char *)bytes.data, text);
  tt_bytes_free(&bytes);
}

static int count_names(void) {
  int count = 0;
  DIR *folder = opendir(scratch.folder);
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));)
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(folder);
  return count;
}

static void replaces(void **state) {
  (void)state;
  struct stat about;
  const int before = count_names();
  assert_int_equal(tt_file_replace(path, "one", 3, true, NULL), TT_OK);
  expect_content("one");
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0600);
  assert_int_equal(tt_file_replace(path, "", 0, false, NULL), TT_OK);
  expect_content("");
  memset(path + strlen(scratch.folder) + 1, 'a', NAME_MAX); /* the longest name that there is */
  path[strlen(scratch.folder) + 1 + NAME_MAX] = 0;
  assert_int_equal(tt_file_replace(path, "long", 4, false, NULL), TT_OK);
  expect_content("long");
  assert_int_equal(count_names(), before + 2);
}

static void leaves_what_it_cannot_replace(void **state) {
  (void)state;
  static const char content[2000];
  char text[600];
  tt_error error = {""};
  struct rlimit before, limit;
  assert_int_equal(tt_file_replace(path, "old", 3, false, NULL), TT_OK);
  const int names = count_names();
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = (struct rlimit){1000, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const tt_status status = tt_file_replace(path, content, sizeof content, true, &error);
  const int reason = errno;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  assert_int_equal(status, TT_FAILED);
  assert_int_equal(reason, EFBIG);
  snprintf(text, sizeof text, "%s: can't be written: File too large", path);
  assert_string_equal(error.text, text);
  expect_content("old");
  assert_int_equal(count_names(), names);

  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  assert_int_equal(tt_file_replace(path, "new", 3, false, &error), TT_FAILED);
  assert_int_equal(errno, EISDIR);
  assert_int_equal(count_names(), names);
  assert_int_equal(tt_file_replace("/nowhere/file", "new", 3, true, &error), TT_FAILED);
  assert_string_equal(error.text, "/nowhere/file: can't be written: No such file or directory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(reads_whole, open_scratch, close_scratch),
      cmocka_unit_test_setup_teardown(reads_one_byte_more_of_a_larger_file, open_scratch,
                                      close_scratch),
      cmocka_unit_test_setup_teardown(reads_from_where_a_file_stands, open_scratch, close_scratch),
      cmocka_unit_test_setup_teardown(says_why_it_cannot_read, open_scratch, close_scratch),
      cmocka_unit_test_setup_teardown(writes_all, open_scratch, close_scratch),
      cmocka_unit_test_setup_teardown(says_what_stops_a_write, open_scratch, close_scratch),
      cmocka_unit_test_setup_teardown(replaces, open_scratch, close_scratch),
      cmocka_unit_test_setup_teardown(leaves_what_it_cannot_replace, open_scratch, close_scratch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
