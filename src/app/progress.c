#include "app/progress.h"

#include "base/text.h"
#include "net/net.h"

#include <stdio.h>
#include <unistd.h>

#define WIDTH 40
#define FIRST_NS 500000000u
#define EVERY_NS 100000000u

tt_progress tt_progress_start(const char *what) {
  uint64_t now = tt_net_now();
  return (tt_progress){
      .what = what, .terminal = isatty(STDERR_FILENO), .started = now, .next = now + FIRST_NS};
}

void tt_progress_show_text(tt_progress *progress, double done, const char *text) {
  if (!progress->terminal) return;
  uint64_t now = tt_net_now();
  if (now < progress->next) return;
  progress->next = now + EVERY_NS;
  progress->shown = true;
  int filled = (int)(done * WIDTH);
  fprintf(stderr, "\r%s [", progress->what);
  for (int i = 0; i < WIDTH; i++) fputc(i < filled ? '#' : '.', stderr);
  tt_print(stderr, "] %3.0f %%, %s", 100 * done, text);
  fputs("\033[K", stderr);
}

void tt_progress_show(tt_progress *progress, double done) {
  char text[60];
  double elapsed = (double)(tt_net_now() - progress->started) * 1e-9;
  snprintf(text, sizeof text, "%.0f s to go", done > 0 ? elapsed * (1 - done) / done : 0);
  tt_progress_show_text(progress, done, text);
}

void tt_progress_end(tt_progress *progress) {
  if (progress->shown) fprintf(stderr, "\r\033[K");
}
