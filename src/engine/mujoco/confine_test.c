/* confine_test.c: a child process that reads models can write what it was made for, and do nothing else. */
#include "engine/mujoco/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static tt_scratch scratch;
static int kept;

typedef tt_status work(const char *folder, tt_error *error);

/* Does it in a child process that was confined; what it says is in `error`. */
static void confined(work *what, tt_error *error) {
  int ends[2], how;
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  pid_t child = fork();
  if (child == 0) {
    tt_error said = {""};
    physics_confine_self(scratch.folder);
    what(scratch.folder, &said);
    _exit(write(ends[1], &said, sizeof said) == sizeof said ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_int_equal(how, 0);
  assert_int_equal(read(ends[0], error, sizeof *error), sizeof *error);
  close(ends[0]);
  close(ends[1]);
}

static tt_status give_away(const char *what, tt_error *error) {
  return tt_fail(error, TT_INVALID, "%s: %s", what, strerror(errno));
}

static void *idle(void *context) { return context; }

static tt_status do_its_work(const char *folder, tt_error *error) {
  char path[100];
  pthread_t thread;
  snprintf(path, sizeof path, "/proc/self/fd/%d", kept);
  FILE *model = fopen(path, "wb");
  if (!model || fputs("model", model) < 0 || fclose(model) != 0) return give_away(path, error);
  snprintf(path, sizeof path, "%s/part.xml", folder);
  FILE *part = fopen(path, "w");
  if (!part || fclose(part) != 0) return give_away(path, error);
  snprintf(path, sizeof path, "%s/mesh.stl", folder);
  if (symlink("/dev/null", path) != 0) return give_away(path, error);
  if (pthread_create(&thread, NULL, idle, NULL) != 0) return give_away("a thread", error);
  pthread_join(thread, NULL);
  return TT_OK;
}

static void it_can_do_its_work(void **state) {
  (void)state;
  char text[10] = "";
  tt_error error = {""};
  confined(do_its_work, &error);
  assert_string_equal(error.text, "");
  assert_int_equal(pread(kept, text, sizeof text, 0), 5);
  assert_string_equal(text, "model");
}

/* Everything is tried; the first that succeeds is told. */
static tt_status do_harm(const char *folder, tt_error *error) {
  char path[100];
  snprintf(path, sizeof path, "%s/pipe", folder);
  if (mkfifo(path, 0600) == 0) return give_away("made a pipe", error);
  if (open("/tmp/tether-confine-test", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0)
    return give_away("wrote elsewhere", error);
  if (socket(AF_INET, SOCK_DGRAM, 0) >= 0) return give_away("made a socket", error);
  if (kill(getppid(), 0) == 0) return give_away("may signal its parent", error);
  execl("/bin/true", "true", (char *)NULL);
  pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0 ? give_away("made a process", error) : TT_OK;
}

static void it_can_do_no_harm(void **state) {
  (void)state;
  tt_error error = {""};
  confined(do_harm, &error);
  assert_string_equal(error.text, "");
}

static int setup(void **state) {
  (void)state;
  kept = memfd_create("kept", MFD_CLOEXEC);
  return kept >= 0 && tt_scratch_open(&scratch, NULL) == TT_OK ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  close(kept);
  tt_scratch_close(&scratch);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_can_do_its_work),
      cmocka_unit_test(it_can_do_no_harm),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
