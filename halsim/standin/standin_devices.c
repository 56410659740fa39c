/* standin_devices.c: PWM, DIO, encoders and the rest that has a channel; the RoboRIO; the driver station; loading extensions. */
#include "standin.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t values = PTHREAD_MUTEX_INITIALIZER;
void standin_lock(void) { pthread_mutex_lock(&values); }
void standin_unlock(void) { pthread_mutex_unlock(&values); }

/* WPILib's own would read and write past its arrays. */
static void check_channel(const char *what, int32_t index, int count) {
  if (index >= 0 && index < count) return;
  fprintf(stderr, "stand-in: %s %d: there are %d\n", what, (int)index, count);
  abort();
}

#define STANDIN_DEFINE(device, name, type, count)                                                  \
  static type device##name[count];                                                                 \
  type HALSIM_Get##device##name(int32_t index) {                                                   \
    check_channel(#device, index, count);                                                          \
    standin_lock();                                                                                \
    type is = device##name[index];                                                                 \
    standin_unlock();                                                                              \
    return is;                                                                                     \
  }                                                                                                \
  void HALSIM_Set##device##name(int32_t index, type value) {                                       \
    check_channel(#device, index, count);                                                          \
    standin_lock();                                                                                \
    device##name[index] = value;                                                                   \
    standin_unlock();                                                                              \
  }
STANDIN_VALUES(STANDIN_DEFINE)

#define STANDIN_DEFINE_SINGLE(name, type, first)                                                   \
  static type name = first;                                                                        \
  type HALSIM_Get##name(void) {                                                                    \
    standin_lock();                                                                                \
    type is = name;                                                                                \
    standin_unlock();                                                                              \
    return is;                                                                                     \
  }                                                                                                \
  void HALSIM_Set##name(type value) {                                                              \
    standin_lock();                                                                                \
    name = value;                                                                                  \
    standin_unlock();                                                                              \
  }
STANDIN_SINGLES(STANDIN_DEFINE_SINGLE)

HAL_Bool HALSIM_GetCTREPCMSolenoidOutput(int32_t index, int32_t channel) {
  (void)index;
  (void)channel;
  return 0;
}

/* --- what a program has of them: a handle is a channel and 1 --- */

HAL_Handle HAL_GetPort(int32_t channel) { return channel + 1; }

HAL_Handle HAL_InitializePWMPort(HAL_Handle port, const char *where, int32_t *status) {
  (void)where;
  (void)status;
  HALSIM_SetPWMInitialized(port - 1, 1);
  return port;
}

/* A pulse of whole µs: 1 ms full backward, 1.5 ms stop, 2 ms full forward. */
void HAL_SetPWMSpeed(HAL_Handle pwm, double speed, int32_t *status) {
  (void)status;
  double held = fmin(fmax(isfinite(speed) ? speed : 0, -1), 1);
  double pulse = round(1500 + 500 * held);
  HALSIM_SetPWMPulseMicrosecond(pwm - 1, (int32_t)pulse);
#ifndef STANDIN_2027
  HALSIM_SetPWMSpeed(pwm - 1, (pulse - 1500) / 500);
  HALSIM_SetPWMPosition(pwm - 1, (pulse - 1000) / 1000);
#endif
}

HAL_Handle HAL_InitializeDIOPort(HAL_Handle port, HAL_Bool input, const char *where,
                                 int32_t *status) {
  (void)where;
  (void)status;
  HALSIM_SetDIOIsInput(port - 1, input);
  HALSIM_SetDIOValue(port - 1, 1);
  HALSIM_SetDIOInitialized(port - 1, 1);
  return port;
}

HAL_Bool HAL_GetDIO(HAL_Handle dio, int32_t *status) {
  (void)status;
  return HALSIM_GetDIOValue(dio - 1);
}

#define MOST_LEDS 5460
static HAL_AddressableLEDData leds[MOST_LEDS];

int32_t HALSIM_GetAddressableLEDData(int32_t index, HAL_AddressableLEDData *to) {
  int32_t length = HALSIM_GetAddressableLEDLength(index);
  standin_lock();
  memcpy(to, leds, (size_t)length * sizeof *to);
  standin_unlock();
  return length;
}

HAL_Handle HAL_InitializeAddressableLED(HAL_Handle pwm, int32_t *status) {
  (void)status;
  HALSIM_SetAddressableLEDOutputPort(0, pwm - 1);
  HALSIM_SetAddressableLEDInitialized(0, 1);
  return 1;
}

void HAL_WriteAddressableLEDData(HAL_Handle strip, const HAL_AddressableLEDData *from,
                                 int32_t length, int32_t *status) {
  (void)strip;
  (void)status;
  if (length < 0 || length > MOST_LEDS) return;
  standin_lock();
  memcpy(leds, from, (size_t)length * sizeof *from);
  standin_unlock();
  HALSIM_SetAddressableLEDLength(0, length);
}

void HAL_StartAddressableLEDOutput(HAL_Handle strip, int32_t *status) {
  (void)strip;
  (void)status;
  HALSIM_SetAddressableLEDRunning(0, 1);
}

/* The index is that of creation, not a pin. A reset is an offset here: what the simulator sets is the running total. */
static int32_t encoders, offsets[8];

HAL_Handle HAL_InitializeEncoder(HAL_Handle a, int32_t a_type, HAL_Handle b, int32_t b_type,
                                 HAL_Bool reverse, int32_t encoding, int32_t *status) {
  (void)a_type;
  (void)b_type;
  (void)encoding;
  (void)status;
  if (encoders == 8) return 0;
  int32_t index = encoders++;
  HALSIM_SetEncoderDigitalChannelA(index, a - 1);
  HALSIM_SetEncoderDigitalChannelB(index, b - 1);
  HALSIM_SetEncoderReverseDirection(index, reverse);
  HALSIM_SetEncoderSamplesToAverage(index, 1);
  HALSIM_SetEncoderPeriod(index, 1.7976931348623157e308);
  HALSIM_SetEncoderInitialized(index, 1);
  return index + 1;
}

int32_t HAL_GetEncoder(HAL_Handle encoder, int32_t *status) {
  (void)status;
  return HALSIM_GetEncoderCount(encoder - 1) - offsets[encoder - 1];
}

void HAL_ResetEncoder(HAL_Handle encoder, int32_t *status) {
  (void)status;
  offsets[encoder - 1] = HALSIM_GetEncoderCount(encoder - 1);
}

double HAL_GetEncoderPeriod(HAL_Handle encoder, int32_t *status) {
  (void)status;
  return HALSIM_GetEncoderPeriod(encoder - 1);
}

/* --- the driver station: what is set becomes news when it is told, and is read when the program looks --- */

typedef struct station {
  HAL_ControlWord word;
  HAL_JoystickAxes axes[6];
  HAL_JoystickPOVs povs[6];
} station;
static HAL_JoystickAxes sticks[6];
static HAL_JoystickPOVs hats[6];
static station told, read_last;

void HALSIM_SetJoystickAxisCount(int32_t stick, int32_t count) {
  standin_lock();
  if (stick >= 0 && stick < 6 && count >= 0 && count <= 12) sticks[stick].count = (int16_t)count;
  standin_unlock();
}

void HALSIM_SetJoystickAxis(int32_t stick, int32_t axis, double value) {
  standin_lock();
  if (stick >= 0 && stick < 6 && axis >= 0 && axis < 12) sticks[stick].axes[axis] = (float)value;
  standin_unlock();
}

#ifdef STANDIN_2027
void HALSIM_SetJoystickPOVsAvailable(int32_t stick, uint8_t mask) {
  standin_lock();
  if (stick >= 0 && stick < 6) hats[stick].available = mask;
  standin_unlock();
}

void HALSIM_SetJoystickPOV(int32_t stick, int32_t pov, uint8_t value) {
  standin_lock();
  if (stick >= 0 && stick < 6 && pov >= 0 && pov < 8) hats[stick].povs[pov] = value;
  standin_unlock();
}
#else
void HALSIM_SetJoystickPOVCount(int32_t stick, int32_t count) {
  standin_lock();
  if (stick >= 0 && stick < 6 && count >= 0 && count <= 12) hats[stick].count = (int16_t)count;
  standin_unlock();
}

void HALSIM_SetJoystickPOV(int32_t stick, int32_t pov, int32_t value) {
  standin_lock();
  if (stick >= 0 && stick < 6 && pov >= 0 && pov < 12) hats[stick].povs[pov] = (int16_t)value;
  standin_unlock();
}
#endif

void HALSIM_SetGameSpecificMessage(const struct WPI_String *message) { (void)message; }

void HALSIM_NotifyDriverStationNewData(void) {
  standin_lock();
  DriverStationDsAttached = 1;
  told.word = (HAL_ControlWord){.enabled = DriverStationEnabled != 0,
                                .autonomous = DriverStationAutonomous != 0,
                                .test = DriverStationTest != 0,
                                .eStop = DriverStationEStop != 0,
                                .fmsAttached = DriverStationFmsAttached != 0,
                                .dsAttached = 1};
  memcpy(told.axes, sticks, sizeof sticks);
  memcpy(told.povs, hats, sizeof hats);
  standin_unlock();
}

void HAL_RefreshDSData(void) {
  standin_lock();
  read_last = told;
  standin_unlock();
}

int32_t HAL_GetControlWord(HAL_ControlWord *word) {
  standin_lock();
  *word = read_last.word;
  standin_unlock();
  return 0;
}

int32_t HAL_GetJoystickAxes(int32_t joystick, HAL_JoystickAxes *axes) {
  standin_lock();
  *axes = read_last.axes[joystick];
  standin_unlock();
  return 0;
}

int32_t HAL_GetJoystickPOVs(int32_t joystick, HAL_JoystickPOVs *povs) {
  standin_lock();
  *povs = read_last.povs[joystick];
  standin_unlock();
  return 0;
}

/* --- beginning and end --- */

static struct {
  void (*function)(void *);
  void *param;
} ends[16];
static int end_count;

void HAL_OnShutdown(void *param, void (*func)(void *)) {
  standin_lock();
  if (end_count < 16) {
    ends[end_count].function = func;
    ends[end_count++].param = param;
  }
  standin_unlock();
}

void HAL_Shutdown(void) {
  for (int i = 0; i < end_count; i++) ends[i].function(ends[i].param);
  end_count = 0;
}

void HAL_ObserveUserProgramStarting(void) { standin_program_started(); }

/* 1 where it is not found, as in the original: a program then runs without. */
static int load_extension(const char *path) {
  void *handle = dlopen(path, RTLD_LAZY);
  if (!handle) {
    printf("HAL Extensions: Failed to load library: %s\n", dlerror());
    return 1;
  }
  int (*init)(void) = (int (*)(void))dlsym(handle, "HALSIM_InitExtension");
  int result = init ? init() : 1;
  printf("HAL Extensions: %s %s\n", result ? "Failed to load" : "Successfully loaded", path);
  if (result) dlclose(handle);
  return result;
}

HAL_Bool HAL_Initialize(int32_t timeout, int32_t mode) {
  (void)timeout;
  (void)mode;
  setlinebuf(stdout);
  standin_restart_clock();
  const char *list = getenv("HALSIM_EXTENSIONS");
  char *paths = list ? strdup(list) : NULL;
  HAL_Bool well = 1;
  char *rest = NULL;
  for (char *path = paths ? strtok_r(paths, ":", &rest) : NULL; path && well;
       path = strtok_r(NULL, ":", &rest))
    well = load_extension(path) >= 0;
  free(paths);
  return well;
}
