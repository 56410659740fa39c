/* gamepad.c: a real gamepad through Linux's evdev. See gamepad.h. */
#include "app/gamepad.h"

#include "control/joystick.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libevdev/libevdev.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct tt_gamepad {
  const char *device;
  struct libevdev *evdev;
  int file;
  char driver[64];   /**< of the kernel; empty: nobody says */
  double look_again; /**< s, when to look for a device next */
};

tt_gamepad *tt_gamepad_new(const char *device) {
  tt_gamepad *gamepad = calloc(1, sizeof *gamepad);
  if (gamepad == NULL) return NULL;
  gamepad->device = device;
  gamepad->file = -1;
  return gamepad;
}

static void close_device(tt_gamepad *gamepad) {
  if (gamepad->evdev != NULL) libevdev_free(gamepad->evdev);
  if (gamepad->file >= 0) close(gamepad->file);
  gamepad->evdev = NULL;
  gamepad->file = -1;
}

void tt_gamepad_free(tt_gamepad *gamepad) {
  if (gamepad == NULL) return;
  close_device(gamepad);
  free(gamepad);
}

/** As "xpad", which drives pads of many makers' names. */
static void find_driver(tt_gamepad *gamepad) {
  char path[64], link[PATH_MAX];
  struct stat about;
  gamepad->driver[0] = '\0';
  if (fstat(gamepad->file, &about) != 0) return;
  snprintf(path, sizeof path, "/sys/dev/char/%u:%u/device/device/driver", major(about.st_rdev),
           minor(about.st_rdev));
  ssize_t length = readlink(path, link, sizeof link - 1);
  if (length <= 0) return;
  link[length] = '\0';
  const char *slash = strrchr(link, '/');
  snprintf(gamepad->driver, sizeof gamepad->driver, "%.63s", slash ? slash + 1 : link);
}

/** Opens a device if it is a gamepad. */
static bool try_device(tt_gamepad *gamepad, const char *path) {
  gamepad->file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (gamepad->file < 0) return false;
  bool usable = libevdev_new_from_fd(gamepad->file, &gamepad->evdev) == 0 &&
                libevdev_has_event_code(gamepad->evdev, EV_KEY, BTN_SOUTH) &&
                libevdev_has_event_code(gamepad->evdev, EV_ABS, ABS_X);
  if (usable)
    find_driver(gamepad);
  else
    close_device(gamepad);
  return usable;
}

static void find_device(tt_gamepad *gamepad) {
  if (strcmp(gamepad->device, "off") == 0) return;
  if (strcmp(gamepad->device, "auto") != 0) {
    try_device(gamepad, gamepad->device);
    return;
  }
  glob_t paths;
  if (glob("/dev/input/event*", 0, NULL, &paths) == 0) {
    for (size_t i = 0; i < paths.gl_pathc && gamepad->evdev == NULL; i++) {
      try_device(gamepad, paths.gl_pathv[i]);
    }
  }
  globfree(&paths);
}

static void apply(tt_gamepad *gamepad, const struct input_event *event, int *values) {
  int code = event->code, minimum = 0, maximum = 0;
  if (event->type == EV_KEY)
    code = tt_joystick_button(code, gamepad->driver, libevdev_get_id_vendor(gamepad->evdev),
                              libevdev_get_name(gamepad->evdev));
  if (event->type == EV_ABS) {
    minimum = libevdev_get_abs_minimum(gamepad->evdev, event->code);
    maximum = libevdev_get_abs_maximum(gamepad->evdev, event->code);
  }
  tt_joystick_gamepad(event->type, code, event->value, minimum, maximum, values);
}

void tt_gamepad_read(tt_gamepad *gamepad, double time, int *values) {
  if (gamepad->evdev == NULL) {
    if (time < gamepad->look_again) return;
    gamepad->look_again = time + 1;
    find_device(gamepad);
    if (gamepad->evdev == NULL) return;
  }
  /* after dropped events libevdev gives the differences in LIBEVDEV_READ_STATUS_SYNC, read the same way */
  unsigned flags = LIBEVDEV_READ_FLAG_NORMAL;
  struct input_event event;
  int status;
  while ((status = libevdev_next_event(gamepad->evdev, flags, &event)) >= 0) {
    flags =
        status == LIBEVDEV_READ_STATUS_SYNC ? LIBEVDEV_READ_FLAG_SYNC : LIBEVDEV_READ_FLAG_NORMAL;
    apply(gamepad, &event, values);
  }
  if (status == -EAGAIN) return;
  close_device(gamepad);
  memset(values, 0, TT_JOYSTICK_VALUES * sizeof *values);
}

const char *tt_gamepad_name(const tt_gamepad *gamepad) {
  return gamepad->evdev == NULL ? NULL : libevdev_get_name(gamepad->evdev);
}
