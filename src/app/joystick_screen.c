/* joystick_screen.c: the terminal of `tether joystick`. See joystick_screen.h. */
#include "app/joystick_screen.h"

#include <curses.h>
#include <unistd.h>

/* What keys do; the screen's last lines say it to the driver. */
static const tt_joystick_key key_map[] = {
    {'w', TT_JOYSTICK_LEFT_Y, TT_SHARP_FULL},
    {'s', TT_JOYSTICK_LEFT_Y, -TT_SHARP_FULL},
    {'d', TT_JOYSTICK_LEFT_X, TT_SHARP_FULL},
    {'a', TT_JOYSTICK_LEFT_X, -TT_SHARP_FULL},
    {KEY_UP, TT_JOYSTICK_RIGHT_Y, TT_SHARP_FULL},
    {KEY_DOWN, TT_JOYSTICK_RIGHT_Y, -TT_SHARP_FULL},
    {KEY_RIGHT, TT_JOYSTICK_RIGHT_X, TT_SHARP_FULL},
    {KEY_LEFT, TT_JOYSTICK_RIGHT_X, -TT_SHARP_FULL},
    {'i', TT_JOYSTICK_UP, 1},
    {'k', TT_JOYSTICK_DOWN, 1},
    {'j', TT_JOYSTICK_LEFT, 1},
    {'l', TT_JOYSTICK_RIGHT, 1},
    {'1', TT_JOYSTICK_A, 1},
    {'2', TT_JOYSTICK_B, 1},
    {'3', TT_JOYSTICK_X, 1},
    {'4', TT_JOYSTICK_Y, 1},
    {'b', TT_JOYSTICK_BACK, 1},
    {'v', TT_JOYSTICK_SELECT, 1},
    {'n', TT_JOYSTICK_START, 1},
};
enum { KEY_COUNT = sizeof key_map / sizeof key_map[0] };

enum { CONNECTED = 1, DISCONNECTED = 2 }; /* colour pairs */

bool tt_joystick_screen_open(void) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return false;
  SCREEN *screen = newterm(NULL, stdout, stdin);
  if (screen == NULL) return false;
  cbreak();
  noecho();
  nodelay(stdscr, TRUE);
  keypad(stdscr, TRUE);
  set_escdelay(25);
  curs_set(0);
  if (has_colors()) {
    start_color();
    use_default_colors();
    init_pair(CONNECTED, COLOR_GREEN, -1);
    init_pair(DISCONNECTED, COLOR_RED, -1);
  }
  return true;
}

void tt_joystick_screen_close(void) { endwin(); }

bool tt_joystick_screen_keys(tt_joystick_keys *keys, double time) {
  for (int key; (key = getch()) != ERR;) {
    if (key == 'q') return false;
    if (key == ' ') tt_joystick_release(keys);
    tt_joystick_press(keys, key_map, KEY_COUNT, key, time);
  }
  return true;
}

/** A stick as a bar from −512 to 512. */
static void draw_stick(int row, const char *name, int value) {
  enum { HALF = 16 };
  char bar[2 * HALF + 2];
  int place = HALF + value * HALF / TT_SHARP_FULL;
  for (int i = 0; i <= 2 * HALF; i++) bar[i] = i == place ? '#' : i == HALF ? '|' : '-';
  bar[2 * HALF + 1] = '\0';
  mvprintw(row, 2, "%-8s %5d  [%s]", name, value, bar);
}

static void draw_buttons(int row, const tt_joystick_shown *shown, int first, int last) {
  move(row, 2);
  for (int i = first; i <= last; i++) {
    if (shown->values[i]) attron(A_REVERSE);
    printw(" %s ", tt_joystick_control_name(i));
    if (shown->values[i]) attroff(A_REVERSE);
    printw(" ");
  }
}

void tt_joystick_screen_draw(const tt_joystick_shown *shown) {
  erase();
  int pair = shown->connected ? CONNECTED : DISCONNECTED;
  mvprintw(0, 2, "tether joystick  %s -> %s  ", shown->address, shown->peer);
  attron(COLOR_PAIR(pair) | A_BOLD);
  printw("%s", shown->connected ? "connected" : "disconnected");
  attroff(COLOR_PAIR(pair) | A_BOLD);
  for (int i = TT_JOYSTICK_LEFT_X; i <= TT_JOYSTICK_RIGHT_Y; i++) {
    draw_stick(2 + i, tt_joystick_control_name(i), shown->values[i]);
  }
  draw_buttons(7, shown, TT_JOYSTICK_UP, TT_JOYSTICK_RIGHT);
  draw_buttons(8, shown, TT_JOYSTICK_A, TT_JOYSTICK_START);
  mvprintw(10, 2, "sent %llu, heartbeats %llu, gamepad: %s%s%s", (unsigned long long)shown->sent,
           (unsigned long long)shown->heartbeats, shown->gamepad ? shown->gamepad : "none",
           shown->script ? ", script: " : "", shown->script ? shown->script : "");
  mvprintw(12, 2, "w s a d     left stick      arrow keys  right stick    space  let go");
  mvprintw(13, 2, "i k j l     dpad            1 2 3 4     a b x y");
  mvprintw(14, 2, "b back      v select        n start                    q  quit");
  refresh();
}
