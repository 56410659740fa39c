/* extension.c: tether-halsim.so, a guest in the process of a robot program on WPILib, loaded through HALSIM_EXTENSIONS.
 *
 * From HALSIM_InitExtension() on it holds the program's clock. A thread of its own connects to Tether (TETHER_HALSIM), waits until
 * the program has started and waits for its clock, and then, for each frame of Tether's, gives the sensors, steps the clock
 * to the frame's end (which returns once every loop that was due has run), and sends what the program gave. So a program
 * runs as fast as both can, and twice the same, as far as its threads follow that clock; where one is seen not to, it says so.
 *
 * A second thread watches the first, since a step comes back only when the program's loops do.
 */
#include "base/bytes.h"
#include "base/json.h"
#include "hal.h"
#include "inputs.h"
#include "link.h"
#include "outputs.h"
#include "wire/halsim_step/frame.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_ADDRESS "127.0.0.1:3301"
static_assert(TT_STEP_PORT == 3301, "the default address says it");
#define RETRY_MS 100
#define SETTLED_MS 50 /* see wait_for_program() */

int HALSIM_InitExtension(void);

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* of the members up to the blank line */
  bool ending;
  bool in_step;
  uint64_t step_began; /* wall clock, ms */
  bool step_blamed;

  const char *address;
  pid_t process;
  pthread_t stepper;
  uint64_t time;     /* µs that the program's clock was stepped */
  int patience_ms;   /* after which something that does not come is talked about */
  bool told_of_wall; /* once a run is enough */
  bool told_of_clock;
  bool told_of_vendor;
} self = {.lock = PTHREAD_MUTEX_INITIALIZER, .patience_ms = 5000};

/* --- telling --- */

/* A head without other values: hello, trouble, end. */
static bool send_head(const char *key, const char *text, bool hello) {
  struct json_object *whole = json_object_new_object(), *data = json_object_new_object();
  tt_json_add_text(whole, "type", TT_STEP_TYPE);
  tt_json_add_text(whole, "device", "");
  json_object_object_add(whole, "data", data);
  if (hello) tt_json_add_int(data, TT_STEP_KEY_VERSION, TT_STEP_VERSION);
  tt_json_add_text(data, key, text);
  size_t size = 0;
  const char *line = json_object_to_json_string_length(whole, JSON_C_TO_STRING_PLAIN, &size);
  tt_bytes body = {0};
  if (line) tt_bytes_append(&body, line, size);
  tt_bytes_append(&body, "\n", 1);
  bool sent = line && !body.failed && link_send(body.data, body.size);
  tt_bytes_free(&body);
  json_object_put(whole);
  return sent;
}

static void say(const char *text) { fprintf(stderr, "tether-halsim: %s\n", text); }

/* To who runs the program, and to who runs Tether. */
__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  say(text);
  send_head(TT_STEP_KEY_TROUBLE, text, false);
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool is_ending(void) {
  pthread_mutex_lock(&self.lock);
  bool ending = self.ending;
  pthread_mutex_unlock(&self.lock);
  return ending;
}

/* With `lock` held: at most so long, or until something changes. */
static void wait_changed(int milliseconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += milliseconds / 1000;
  until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&self.changed, &self.lock, &until);
}

static void rest(int milliseconds) {
  pthread_mutex_lock(&self.lock);
  if (!self.ending) wait_changed(milliseconds);
  pthread_mutex_unlock(&self.lock);
}

/* --- watching the stepper --- */

static void list_notifiers(char *text, size_t size) {
  hal_notifier notifiers[HAL_MOST_NOTIFIERS];
  int count = hal_list_notifiers(notifiers);
  size_t at = 0;
  text[0] = '\0';
  for (int i = 0; i < count && at < size; i++) {
    char alarm[48] = "without an alarm";
    if (notifiers[i].alarm != UINT64_MAX)
      snprintf(alarm, sizeof alarm, "alarm at %.3f s", (double)notifiers[i].alarm * 1e-6);
    at += (size_t)snprintf(text + at, size - at, "%s'%.63s' (%s)", i ? ", " : "", notifiers[i].name,
                           alarm);
  }
}

static void blame_step(double seconds) {
  char notifiers[640];
  list_notifiers(notifiers, sizeof notifiers);
  complain(
      "the robot program has not come back from the step after %.3f s for %.1f s. Either its loop "
      "blocks or waits on the "
      "wall clock, or one of its notifiers was made and nobody waits on it. Its notifiers: %s. "
      "Everything goes on as "
      "soon as each of them is waited on (HAL_WaitForNotifierAlarm) or stopped",
      (double)self.time * 1e-6, seconds, notifiers);
}

static void *watch(void *unused) {
  (void)unused;
  pthread_mutex_lock(&self.lock);
  while (!self.ending) {
    wait_changed(self.patience_ms / 2);
    uint64_t lasts = now_ms() - self.step_began;
    if (!self.in_step || self.step_blamed || lasts < (uint64_t)self.patience_ms) continue;
    self.step_blamed = true;
    pthread_mutex_unlock(&self.lock);
    blame_step((double)lasts * 1e-3);
    pthread_mutex_lock(&self.lock);
  }
  pthread_mutex_unlock(&self.lock);
  return NULL;
}

/* --- stepping --- */

static bool send_answer(bool whole) {
  char head[128];
  int size = snprintf(head, sizeof head,
                      "{\"type\":\"" TT_STEP_TYPE "\",\"device\":\"\",\"data\":{\"" TT_STEP_KEY_TIME
                      "\":%llu}}\n",
                      (unsigned long long)self.time);
  tt_bytes body = {0};
  tt_bytes_append(&body, head, (size_t)size);
  outputs_collect(&body, whole);
  if (body.failed) say("out of memory");
  bool sent = !body.failed && link_send(body.data, body.size);
  tt_bytes_free(&body);
  return sent;
}

/* What moved an output while the clock stood still runs on a clock of its own. */
static void look_for_other_clocks(void) {
  char which[160];
  if (!hal.HALSIM_IsTimingPaused()) {
    hal.HALSIM_PauseTiming();
    if (!self.told_of_clock)
      complain(
          "somebody let the program's clock run (HALSIM_ResumeTiming); it is held again. This run "
          "may not repeat. Leave "
          "pausing and stepping to Tether, and load no other extension that does it");
    self.told_of_clock = true;
  }
  if (self.told_of_wall || !outputs_changed(which, sizeof which)) return;
  self.told_of_wall = true;
  complain(
      "%s changed while the program's clock stood still: a thread of the program follows the wall "
      "clock (sleep, Thread.sleep, "
      "a vendor's own). This run may not repeat. Use addPeriodic or a Notifier, which follow the "
      "program's clock",
      which);
}

static void look_for_vendors(void) {
  const char *vendor = self.told_of_vendor ? NULL : hal_library_of_its_own_time();
  if (!vendor) return;
  self.told_of_vendor = true;
  complain(
      "%s is loaded: its simulated devices run in real time and do not follow the program's clock, "
      "so that a run with them may "
      "not repeat. What goes over PWM, DIO and encoders does",
      vendor);
}

static void step(uint64_t microseconds) {
  pthread_mutex_lock(&self.lock);
  self.in_step = !self.ending;
  self.step_began = now_ms();
  self.step_blamed = false;
  bool go = self.in_step;
  pthread_mutex_unlock(&self.lock);
  if (!go) return;
  hal.HALSIM_StepTiming(microseconds);
  pthread_mutex_lock(&self.lock);
  self.in_step = false;
  pthread_mutex_unlock(&self.lock);
  self.time += microseconds;
}

/* While the connection lasts. */
static void serve(char why[LINK_TEXT]) {
  const uint8_t *body;
  size_t size;
  bool well = send_answer(true);
  snprintf(why, LINK_TEXT, "Tether does not take what is sent");
  while (well && link_receive(&body, &size, why)) {
    look_for_other_clocks();
    int64_t microseconds = inputs_take(body, size);
    if (microseconds < 0) {
      snprintf(why, LINK_TEXT,
               "a frame that does not begin with a step: is that Tether, of this version?");
      return;
    }
    step((uint64_t)microseconds);
    well = !is_ending() && send_answer(false);
    if (!well) snprintf(why, LINK_TEXT, "Tether does not take what is sent");
  }
}

/* Until the program has started and waits for its clock: before, a step would be one for nobody, and how many there were a matter
 * of chance. Where a step itself waits until every notifier is waited on, the first alarm is enough. From 2027 on it does not, so
 * that the first step comes when alarms have been the same for a while. False: the connection is gone, or the program ends. */
static bool wait_for_program(void) {
  uint64_t began = now_ms(), since = began, alarm = UINT64_MAX;
  int count = 0;
  bool told = false;
  while (!is_ending()) {
    hal_notifier notifiers[HAL_MOST_NOTIFIERS];
    bool started = hal.HALSIM_GetProgramStarted() != 0;
    uint64_t next = hal.HALSIM_GetNextNotifierTimeout();
    int armed = 0;
    for (int i = hal_list_notifiers(notifiers); i-- > 0;) armed += notifiers[i].alarm != UINT64_MAX;
    if (!started || next != alarm || armed != count) since = now_ms();
    alarm = next;
    count = armed;
    if (started && next != UINT64_MAX &&
        (!hal_notifiers_signal() || now_ms() - since >= SETTLED_MS))
      return true;
    if (link_stirs(1)) return false; /* Tether has nothing to say yet, so that is its end */
    if (told || now_ms() - began < (uint64_t)self.patience_ms) continue;
    told = true;
    if (started)
      complain(
          "the robot program has started, but waits for nothing: none of its notifiers has an "
          "alarm, so that its loop does not "
          "follow the clock that Tether steps. Use TimedRobot or a Notifier. The world waits");
    else
      complain(
          "the robot program has not started within %.1f s. Until it calls "
          "HAL_ObserveUserProgramStarting, as TimedRobot does "
          "after its constructor, its clock stands still: what waits before for time to pass, "
          "waits for ever. The world waits",
          self.patience_ms * 1e-3);
  }
  return false;
}

static bool connect_to_tether(void) {
  char why[LINK_TEXT];
  uint64_t began = now_ms();
  bool told = false;
  while (!is_ending()) {
    if (link_open(self.address, why)) return true;
    if (!told && now_ms() - began >= 1000) {
      fprintf(stderr,
              "tether-halsim: TETHER_HALSIM=%s: %s. The robot program's clock stands still until "
              "Tether answers there; start a "
              "scene with the wire halsim-step, for example tether run sharp-wpilib-step\n",
              self.address, why);
      told = true;
    }
    rest(RETRY_MS);
  }
  return false;
}

static const char *program(void) { return program_invocation_short_name; }

static void *live(void *unused) {
  (void)unused;
  char why[LINK_TEXT];
  while (connect_to_tether()) {
    why[0] = '\0';
    if (send_head(TT_STEP_KEY_PROGRAM, program(), true) && wait_for_program()) {
      look_for_vendors();
      serve(why);
    }
    if (is_ending())
      send_head(TT_STEP_KEY_END, "the robot program has ended", false);
    else
      fprintf(stderr,
              "tether-halsim: TETHER_HALSIM=%s: the connection has ended%s%s. The robot program's "
              "clock stands still until "
              "Tether is there again\n",
              self.address, why[0] ? ": " : "", why);
    link_close();
    rest(RETRY_MS);
  }
  return NULL;
}

/* --- beginning and end --- */

/* The program ends within a step, as a rule: its loop calls exit(), and will not wait any more. Notifiers that are stopped, or
 * acknowledged, are not waited for; before 2027 one that is waited on for a moment makes the stepper look. Otherwise the end of the
 * library's own objects would come under a thread that is using them. */
static void release_step(void) {
  hal_notifier notifiers[HAL_MOST_NOTIFIERS];
  int32_t status = 0;
  int count = hal_list_notifiers(notifiers);
  for (int i = 0; i < count; i++) {
    if (hal_notifiers_signal()) /* some versions take less, and find the handle all the same */
      hal.HAL_AcknowledgeNotifierAlarm(notifiers[i].handle, 0, 0, 0, 0, &status);
    else if (hal.HAL_StopNotifier)
      hal.HAL_StopNotifier(notifiers[i].handle, &status);
  }
  if (hal_notifiers_signal() || !hal.HAL_StopNotifier || !hal.HAL_InitializeNotifier ||
      !hal.HAL_WaitForNotifierAlarm || !hal.HAL_CleanNotifier)
    return;
  int32_t mine = hal.HAL_InitializeNotifier(&status);
  hal.HAL_StopNotifier(mine, &status);
  hal.HAL_WaitForNotifierAlarm(mine, &status);
  hal.HAL_CleanNotifier(mine, &status);
}

static void end(void) {
  if (getpid() != self.process) return; /* a child of the program, which has none of its threads */
  pthread_mutex_lock(&self.lock);
  bool again = self.ending, in_step = self.in_step;
  self.ending = true;
  pthread_cond_broadcast(&self.changed);
  pthread_mutex_unlock(&self.lock);
  if (again || pthread_equal(pthread_self(), self.stepper)) return;
  if (in_step) release_step();
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 3;
  /* A stepper that waits for a frame is woken; what it has to say goes out before. */
  if (!in_step) {
    send_head(TT_STEP_KEY_END, "the robot program has ended", false);
    link_break();
  }
  pthread_timedjoin_np(self.stepper, NULL, &until);
}

static void end_with(void *unused) {
  (void)unused;
  end();
}

static bool begin_thread(void *(*body)(void *), pthread_t *thread) {
  sigset_t all, before;
  sigfillset(&all); /* the program's signals are for the program's threads */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool begun = pthread_create(thread, NULL, body, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return begun;
}

static void init_condition(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&self.changed, &attributes);
  pthread_condattr_destroy(&attributes);
}

static void read_environment(void) {
  const char *address = getenv("TETHER_HALSIM"), *patience = getenv("TETHER_HALSIM_PATIENCE");
  self.address = strdup(address && *address ? address : DEFAULT_ADDRESS);
  double seconds = patience ? strtod(patience, NULL) : 0;
  if (seconds >= 0.1 && seconds < 1e6) self.patience_ms = (int)(seconds * 1000);
}

/* Called by HAL_Initialize(), in the program's thread. */
__attribute__((visibility("default"))) int HALSIM_InitExtension(void) {
  const char *missing;
  pthread_t watcher;
  if (!hal_find(&missing)) {
    fprintf(stderr,
            "tether-halsim: this robot program's WPILib has no %s: Tether needs WPILib 2024 or "
            "newer, for simulation "
            "(a desktop build)\n",
            missing);
    return -1;
  }
  hal.HALSIM_PauseTiming();
  hal.HALSIM_RestartTiming(); /* time 0 exactly, whatever went by before */
  outputs_find();
  inputs_find();
  read_environment();
  init_condition();
  self.process = getpid();
  if (!self.address || !begin_thread(live, &self.stepper) || !begin_thread(watch, &watcher)) {
    say("no thread to be had");
    return -1;
  }
  pthread_detach(watcher);
  if (hal.HAL_OnShutdown) hal.HAL_OnShutdown(NULL, end_with);
  atexit(end);
  return 0;
}
