/* robot.c: a stand-in for a team's robot program, written as one of WPILib is: a loop of 20 ms on a notifier, PWM out on 0 and
 * 1, encoders in on DIO 0/1 and 2/3, a gyro. Enabled, it drives `--distance` meters straight on and stops there.
 *
 *   robot [--loops N] [--distance M] [--per-count M] [--start-delay MS] [--trouble WHAT] [--print] [--teleop] [--leds]
 *
 * --loops: leaves after as many loops (0: never). --per-count: meters a count of the encoders. --start-delay: begins after a
 * random time up to this. --print: a line a loop. --teleop: drives as joystick 0 says instead. --leds: three on PWM 8, of which the first shows the speed. --trouble: what a program can do that does not go together with a clock
 * that is stepped; see `trouble` below.
 */
#include "hal.h"

#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 20000 /* µs */

typedef enum trouble {
  NONE,
  NEVER_STARTS,   /* does something else, and never says that it has started */
  WAITS_FOR_NONE, /* a loop on the wall clock: no notifier at all */
  UNWAITED,       /* a notifier that nobody waits on */
  BLOCKS,         /* the loop blocks for ever */
  WALL_THREAD,    /* a thread on the wall clock moves an output */
  RESUMES,        /* lets the clock run */
  CRASHES,        /* after its loops */
  NO_NUMBER,      /* two outputs are not a number: 0.0 / 0.0 in a controller of its own */
  ODD_DEVICES,    /* devices with many values, and with names that are long or no text */
  FORKS,          /* a child that ends before its parent */
} trouble;
static const char *const names[] = {"none",      "never-starts", "waits-for-none", "unwaited",
                                    "blocks",    "wall-thread",  "resumes",        "crashes",
                                    "no-number", "odd-devices",  "forks"};

static struct {
  long loops;
  double distance, per_count;
  int start_delay;
  trouble trouble;
  bool print, teleop, leds;
} options = {.distance = 2, .per_count = 0.4788 / 1440};

void HALSIM_ResumeTiming(void);

/* --- what differs between the seasons --- */

static HAL_Handle make_notifier(const char *name, int32_t *status) {
#ifdef STANDIN_2027
  HAL_Handle notifier = HAL_CreateNotifier(status);
  HAL_SetNotifierName(notifier, &(struct WPI_String){name, strlen(name)}, status);
#else
  HAL_Handle notifier = HAL_InitializeNotifier(status);
  HAL_SetNotifierName(notifier, name, status);
#endif
  return notifier;
}

static void set_alarm(HAL_Handle notifier, uint64_t time, int32_t *status) {
#ifdef STANDIN_2027
  HAL_SetNotifierAlarm(notifier, time, 0, 1, 1, status);
#else
  HAL_UpdateNotifierAlarm(notifier, time, status);
#endif
}

/* The time; 0: the notifier is no more. */
static uint64_t wait_for_alarm(HAL_Handle notifier, int32_t *status) {
#ifdef STANDIN_2027
  return WPI_WaitForObject((uint32_t)notifier) ? HAL_GetFPGATime(status) : 0;
#else
  return HAL_WaitForNotifierAlarm(notifier, status);
#endif
}

static void sleep_ms(int ms) {
  nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000}, NULL);
}

static int32_t status;
static HAL_Handle left, right, left_encoder, right_encoder, gyro_angle;

static HAL_Handle encoder_on(int channel) {
  HAL_Handle a = HAL_InitializeDIOPort(HAL_GetPort(channel), 1, "robot", &status);
  HAL_Handle b = HAL_InitializeDIOPort(HAL_GetPort(channel + 1), 1, "robot", &status);
  return HAL_InitializeEncoder(a, 0, b, 0, 0, 2, &status);
}

/* From 2027 on a motor's speed is told by a device of its own, and PWM only by its pulse. */
static HAL_Handle throttles[2], strip;

static void make_throttle(int side) {
#ifdef STANDIN_2027
  char name[32];
  snprintf(name, sizeof name, "PWMMotorController[%d]", side);
  throttles[side] = HAL_CreateSimValue(HAL_CreateSimDevice(name), "Throttle", HAL_SimValueOutput,
                                       &(HAL_Value){.data.v_double = 0, .type = HAL_DOUBLE});
#else
  (void)side;
#endif
}

static void set_speed(int side, double speed) {
  HAL_SetPWMSpeed(side ? right : left, speed, &status);
  if (throttles[side])
    HAL_SetSimValue(throttles[side], &(HAL_Value){.data.v_double = speed, .type = HAL_DOUBLE});
}

static void make_devices(void) {
  left = HAL_InitializePWMPort(HAL_GetPort(0), "robot", &status);
  right = HAL_InitializePWMPort(HAL_GetPort(1), "robot", &status);
  if (options.leds) {
    strip = HAL_InitializeAddressableLED(HAL_InitializePWMPort(HAL_GetPort(8), "robot", &status),
                                         &status);
    HAL_StartAddressableLEDOutput(strip, &status);
  }
  make_throttle(0);
  make_throttle(1);
  left_encoder = encoder_on(0);
  right_encoder = encoder_on(2);
  HAL_Handle gyro = HAL_CreateSimDevice("Gyro:ADXRS450[0]");
  HAL_CreateSimValue(gyro, "connected", HAL_SimValueInput,
                     &(HAL_Value){.data.v_boolean = 1, .type = HAL_BOOLEAN});
  gyro_angle = HAL_CreateSimValue(gyro, "angle_x", HAL_SimValueInput,
                                  &(HAL_Value){.data.v_double = 0, .type = HAL_DOUBLE});
  HAL_CreateSimValue(gyro, "rate_x", HAL_SimValueInput,
                     &(HAL_Value){.data.v_double = 0, .type = HAL_DOUBLE});
}

static double distance(void) {
  int32_t counts = HAL_GetEncoder(left_encoder, &status) + HAL_GetEncoder(right_encoder, &status);
  return counts / 2.0 * options.per_count;
}

/* Arcade from axes 1 and 4, as a driver has them; a hat that is pressed to the right turns, whatever the axes say. */
static void steer(double *speed, double *turn) {
  HAL_JoystickAxes axes;
  HAL_JoystickPOVs povs;
  HAL_GetJoystickAxes(0, &axes);
  HAL_GetJoystickPOVs(0, &povs);
#ifdef STANDIN_2027
  bool right_pressed = povs.available && povs.povs[0] == 2;
#else
  bool right_pressed = povs.count && povs.povs[0] == 90;
#endif
  *speed = axes.count || axes.axes[1] != 0 ? -axes.axes[1] : 0;
  *turn = right_pressed ? -0.25 : -axes.axes[4];
}

/* Toward the goal, and straight: the gyro counts degrees clockwise. */
static void loop(long n, uint64_t time) {
  HAL_ControlWord word;
  HAL_RefreshDSData();
  HAL_GetControlWord(&word);
  double speed = 0, turn = 0;
  if (word.enabled && !word.eStop && options.teleop) {
    steer(&speed, &turn);
  } else if (word.enabled && !word.eStop) {
    HAL_Value angle = {0};
    HAL_GetSimValue(gyro_angle, &angle);
    speed = fmin(1.5 * (options.distance - distance()), 0.6);
    if (fabs(speed) < 0.02) speed = 0;
    turn = speed == 0 ? 0 : 0.01 * angle.data.v_double;
  }
  if (options.leds) {
    HAL_AddressableLEDData colours[3] = {{.r = (uint8_t)fabs(255 * speed)}, {.g = 7}, {.b = 9}};
    HAL_WriteAddressableLEDData(strip, colours, 3, &status);
  }
  set_speed(0, speed - turn);
  set_speed(1, speed + turn);
  if (options.print) printf("%ld %.3f s %.4f m %.3f\n", n, (double)time * 1e-6, distance(), speed);
}

static void *disturb(void *unused) {
  HAL_Handle pwm = HAL_InitializePWMPort(HAL_GetPort(9), "thread", &status);
  int32_t own = 0;
  for (int i = 0;; i++) {
    HAL_SetPWMSpeed(pwm, i % 2 ? 0.5 : -0.5, &own);
    sleep_ms(1);
  }
  return unused;
}

/* Beside the loop, as an odometry thread does it: what it reads changes nothing. */
static void *look(void *unused) {
  int32_t own = 0;
  HAL_Handle notifier = make_notifier("Odometry", &own);
  for (uint64_t next = 5000;; next += 5000) {
    set_alarm(notifier, next, &own);
    if (wait_for_alarm(notifier, &own) == 0) return unused;
    HAL_GetEncoder(left_encoder, &own);
  }
}

static void begin_thread(void *(*body)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, NULL) == 0) pthread_detach(thread);
}

static void make_odd_devices(void) {
  char name[400];
  HAL_Value one = {.data.v_double = 1, .type = HAL_DOUBLE};
  HAL_Handle many = HAL_CreateSimDevice("Many[1]");
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, "value %d", i);
    HAL_CreateSimValue(many, name, HAL_SimValueOutput, &one);
  }
  for (size_t length = 120; length < 132; length++) {
    memset(name, 'x', length);
    name[length] = '\0';
    HAL_CreateSimValue(many, name, HAL_SimValueBidir, &one);
    memcpy(name + length - 2, "\xc3\xa4", 2);
    HAL_CreateSimDevice(name);
  }
  HAL_CreateSimDevice(":no type");
  HAL_CreateSimValue(HAL_CreateSimDevice("No \xff text[1]"), "\xc3", HAL_SimValueInput, &one);
}

static void be_troubled(void) {
  if (options.trouble == NEVER_STARTS) pause();
  if (options.trouble == UNWAITED) {
    set_alarm(make_notifier("Forgotten", &status), 100000, &status);
  }
  if (options.trouble == WALL_THREAD) begin_thread(disturb);
  if (options.trouble == FORKS && fork() == 0) exit(0);
  if (options.trouble == ODD_DEVICES) make_odd_devices();
  if (options.trouble == NO_NUMBER) {
    HAL_CreateSimValue(HAL_CreateSimDevice("SPARK MAX [1]"), "Applied Output", HAL_SimValueOutput,
                       &(HAL_Value){.data.v_double = NAN, .type = HAL_DOUBLE});
    HAL_CreateSimValue(HAL_CreateSimDevice("SPARK MAX [2]"), "Velocity", HAL_SimValueInput,
                       &(HAL_Value){.data.v_double = INFINITY, .type = HAL_DOUBLE});
  }
}

static void run_without_notifier(void) {
  for (long n = 0; options.loops == 0 || n < options.loops; n++) {
    loop(n, HAL_GetFPGATime(&status));
    sleep_ms(20);
  }
}

static void run(void) {
  HAL_Handle notifier = make_notifier("Robot", &status);
  begin_thread(look);
  uint64_t next = HAL_GetFPGATime(&status);
  for (long n = 0; options.loops == 0 || n < options.loops; n++) {
    next += PERIOD;
    set_alarm(notifier, next, &status);
    uint64_t time = wait_for_alarm(notifier, &status);
    if (time == 0) return;
    loop(n, time);
    if (options.trouble == BLOCKS && n == 10) pause();
    if (options.trouble == RESUMES && n == 10) HALSIM_ResumeTiming();
  }
  if (options.trouble == CRASHES) raise(SIGKILL);
}

static void read_options(int argc, char **argv) {
  static const struct option known[] = {
      {"loops", 1, NULL, 'l'},   {"distance", 1, NULL, 'd'},    {"per-count", 1, NULL, 'c'},
      {"trouble", 1, NULL, 't'}, {"start-delay", 1, NULL, 's'}, {"print", 0, NULL, 'p'},
      {"teleop", 0, NULL, 'e'},  {"leds", 0, NULL, 'i'},        {NULL, 0, NULL, 0}};
  for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (c) {
      case 'l': options.loops = strtol(optarg, NULL, 10); break;
      case 'd': options.distance = strtod(optarg, NULL); break;
      case 'c': options.per_count = strtod(optarg, NULL); break;
      case 's': options.start_delay = (int)strtol(optarg, NULL, 10); break;
      case 'p': options.print = true; break;
      case 'e': options.teleop = true; break;
      case 'i': options.leds = true; break;
      case 't':
        while (strcmp(names[options.trouble], optarg) != 0)
          if (++options.trouble > FORKS) exit(2);
        break;
      default: exit(2);
    }
  }
}

int main(int argc, char **argv) {
  read_options(argc, argv);
  if (!HAL_Initialize(500, 0)) return 1;
  if (options.start_delay > 0) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    sleep_ms((int)(now.tv_nsec / 1000 % options.start_delay));
  }
  make_devices();
  be_troubled();
  HAL_ObserveUserProgramStarting();
  if (options.trouble == WAITS_FOR_NONE)
    run_without_notifier();
  else
    run();
  printf("drove %.3f m\n", distance());
  return 0;
}
