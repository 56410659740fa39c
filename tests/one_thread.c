/* one_thread.c: in the program of each test that isn't declared with THREADS, takes the place of the C library's function.
 * Such a test is not built for the thread sanitizer, which would find nothing in it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
  (void)thread, (void)attributes, (void)run, (void)argument;
  fprintf(stderr,
          "this test makes a thread: say THREADS where its CMakeLists.txt declares it, for the "
          "thread sanitizer\n");
  abort();
}
