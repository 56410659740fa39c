/* confine_test.c: a child process that reads models can write what it was made for, and do nothing else. */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"

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

static tt_status confined(physics_work *work, tt_error *error) {
  return physics_confine(work, scratch.folder, scratch.folder, kept, error);
}

static tt_status give_away(const char *what, tt_error *error) {
  return tt_fail(error, TT_INVALID, "%s: %s", what, strerror(errno));
}

static void *idle(void *context) { return context; }

static tt_status do_its_work(void *context, char at[TT_PATH_SIZE], tt_error *error) {
  char path[100];
  pthread_t thread;
  snprintf(at, TT_PATH_SIZE, "a model");
  snprintf(path, sizeof path, "/proc/self/fd/%d", kept);
  FILE *model = fopen(path, "wb");
  if (!model || fputs("model", model) < 0 || fclose(model) != 0) return give_away(path, error);
  snprintf(path, sizeof path, "%s/part.xml", (const char *)context);
  FILE *part = fopen(path, "w");
  if (!part || fclose(part) != 0) return give_away(path, error);
  snprintf(path, sizeof path, "%s/mesh.stl", (const char *)context);
  if (symlink("/dev/null", path) != 0) return give_away(path, error);
  if (pthread_create(&thread, NULL, idle, NULL) != 0) return give_away("a thread", error);
  pthread_join(thread, NULL);
  return TT_OK;
}

static void it_can_do_its_work(void **state) {
  (void)state;
  char text[10] = "";
  tt_error error = {""};
  if (confined(do_its_work, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(pread(kept, text, sizeof text, 0), 5);
  assert_string_equal(text, "model");
}

/* Everything is tried; the first that succeeds is told. */
static tt_status do_harm(void *context, char at[TT_PATH_SIZE], tt_error *error) {
  char path[100];
  (void)at;
  snprintf(path, sizeof path, "%s/pipe", (const char *)context);
  if (mkfifo(path, 0600) == 0) return give_away("made a pipe", error);
  if (open("/tmp/tether-confine-test", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0)
    return give_away("wrote elsewhere", error);
  if (socket(AF_INET, SOCK_DGRAM, 0) >= 0) return give_away("made a socket", error);
  if (kill(getppid(), 0) == 0) return give_away("may signal its parent", error);
  for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
    struct stat about;
    if (fd != kept && fstat(fd, &about) == 0 && !S_ISFIFO(about.st_mode))
      return give_away("holds an open file of its parent", error);
  }
  pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0 ? give_away("made a process", error) : TT_OK;
}

static void it_can_do_no_harm(void **state) {
  (void)state;
  tt_error error = {""};
  int socket_of_ours = socket(AF_INET, SOCK_DGRAM, 0);
  assert_true(socket_of_ours >= 0);
  if (confined(do_harm, &error) != TT_OK) fail_msg("%s", error.text);
  close(socket_of_ours);
}

static tt_status die(void *context, char at[TT_PATH_SIZE], tt_error *error) {
  (void)context, (void)error;
  snprintf(at, TT_PATH_SIZE, "bad.xml");
  raise(SIGSEGV);
  return TT_OK;
}

static void its_death_is_told(void **state) {
  (void)state;
  tt_error error = {""};
  assert_int_equal(confined(die, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "bad.xml: broke the compiler of models (Segmentation fault)"));
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
      cmocka_unit_test(its_death_is_told),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
