#include "app/progress.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH 40 /* of the bar, where the line has room for it */
#define FIRST_NS 500000000u
#define EVERY_NS 100000000u

int tt_terminal_columns(void) {
  struct winsize size;
  return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 20 ? size.ws_col : 80;
}

tt_progress tt_progress_start(const char *what) {
  uint64_t now = tt_monotonic_ns();
  return (tt_progress){
      .what = what, .terminal = isatty(STDERR_FILENO), .started = now, .next = now + FIRST_NS};
}

void tt_progress_show_text(tt_progress *progress, double done, const char *text) {
  if (!progress->terminal) return;
  uint64_t now = tt_monotonic_ns();
  if (now < progress->next) return;
  progress->next = now + EVERY_NS;
  progress->shown = true;
  /* What is longer than a line goes on in the next one, and stays there. */
  const int most = tt_terminal_columns() - 1;
  const int room = most - (int)(strlen(progress->what) + strlen(" [] 100 %, ") + strlen(text));
  const int width = room < 0 ? 0 : room < WIDTH ? room : WIDTH;
  char bar[WIDTH + 1] = "", line[512];
  for (int i = 0; i < width; i++) bar[i] = i < (int)(done * width) ? '#' : '.';
  snprintf(line, sizeof line, "%s [%s] %3.0f %%, %s", progress->what, bar, 100 * done, text);
  fputc('\r', stderr);
  tt_print(stderr, "%.*s", most, line);
  fputs("\033[K", stderr);
}

void tt_progress_show(tt_progress *progress, double done) {
  char text[60];
  double elapsed = (double)(tt_monotonic_ns() - progress->started) * 1e-9;
  snprintf(text, sizeof text, "%.0f s to go", done > 0 ? elapsed * (1 - done) / done : 0);
  tt_progress_show_text(progress, done, text);
}

void tt_progress_end(tt_progress *progress) {
  if (progress->shown) fprintf(stderr, "\r\033[K");
}
