/* hal.h: what a robot program calls of WPILib's hardware layer, as far as the stand-in for it goes (libwpiHal.so, built from
 * the standin_*.c beside this file). Names, arguments and behaviour are those that WPILib documents for its simulation, seasons
 * 2026 and 2027; the code is ours. What only a simulator calls (HALSIM_…) is declared in standin.h.
 */
#ifndef TT_HALSIM_STANDIN_HAL_H
#define TT_HALSIM_STANDIN_HAL_H

#include <stdint.h>

typedef int32_t HAL_Bool;
typedef int32_t HAL_Handle;

/** The least that a control word says; `reserved` fills it. */
typedef struct HAL_ControlWord {
  uint32_t enabled : 1;
  uint32_t autonomous : 1;
  uint32_t test : 1;
  uint32_t eStop : 1;
  uint32_t fmsAttached : 1;
  uint32_t dsAttached : 1;
  uint32_t reserved : 26;
} HAL_ControlWord;

typedef struct HAL_JoystickAxes {
  int16_t count;
  float axes[12];
} HAL_JoystickAxes;

/** Of 2026 degrees clockwise from forward, or −1; of 2027 1 up, 2 right, 4 down, 8 left, and their sums. */
#ifdef STANDIN_2027
typedef struct HAL_JoystickPOVs {
  uint8_t available, povs[8];
} HAL_JoystickPOVs;
#else
typedef struct HAL_JoystickPOVs {
  int16_t count, povs[12];
} HAL_JoystickPOVs;
#endif

/** What a value of a simulated device is. */
enum { HAL_BOOLEAN = 1, HAL_DOUBLE = 2, HAL_ENUM = 4, HAL_INT = 8, HAL_LONG = 16 };
typedef struct HAL_Value {
  union {
    HAL_Bool v_boolean;
    int32_t v_enum;
    int32_t v_int;
    int64_t v_long;
    double v_double;
  } data;
  int32_t type;
} HAL_Value;
enum { HAL_SimValueInput, HAL_SimValueOutput, HAL_SimValueBidir };

/** Starts the layer and loads the extensions that HALSIM_EXTENSIONS lists; false where one of them fails. */
HAL_Bool HAL_Initialize(int32_t timeout, int32_t mode);
void HAL_Shutdown(void);
void HAL_OnShutdown(void *param, void (*func)(void *));
void HAL_ObserveUserProgramStarting(void);
uint64_t HAL_GetFPGATime(int32_t *status); /* µs */

/** A text that is not ended by 0. */
struct WPI_String {
  const char *str;
  uintptr_t len;
};

#ifdef STANDIN_2027
HAL_Handle HAL_CreateNotifier(int32_t *status);
void HAL_SetNotifierName(HAL_Handle notifier, const struct WPI_String *name, int32_t *status);
void HAL_DestroyNotifier(HAL_Handle notifier);
void HAL_SetNotifierAlarm(HAL_Handle notifier, uint64_t time, uint64_t interval, HAL_Bool absolute,
                          HAL_Bool acknowledges, int32_t *status);
void HAL_AcknowledgeNotifierAlarm(HAL_Handle notifier, int32_t *status);
/** Returns the handle, or 0 when it is no more. */
uint32_t WPI_WaitForObject(uint32_t handle);
#else
HAL_Handle HAL_InitializeNotifier(int32_t *status);
void HAL_SetNotifierName(HAL_Handle notifier, const char *name, int32_t *status);
void HAL_StopNotifier(HAL_Handle notifier, int32_t *status);
void HAL_CleanNotifier(HAL_Handle notifier, int32_t *status);
void HAL_UpdateNotifierAlarm(HAL_Handle notifier, uint64_t time, int32_t *status);
void HAL_CancelNotifierAlarm(HAL_Handle notifier, int32_t *status);
/** Returns the time, or 0 when the notifier was stopped. */
uint64_t HAL_WaitForNotifierAlarm(HAL_Handle notifier, int32_t *status);
#endif

HAL_Handle HAL_GetPort(int32_t channel);
HAL_Handle HAL_InitializePWMPort(HAL_Handle port, const char *where, int32_t *status);
void HAL_SetPWMSpeed(HAL_Handle pwm, double speed, int32_t *status);
HAL_Handle HAL_InitializeDIOPort(HAL_Handle port, HAL_Bool input, const char *where,
                                 int32_t *status);
HAL_Bool HAL_GetDIO(HAL_Handle dio, int32_t *status);
HAL_Handle HAL_InitializeEncoder(HAL_Handle a, int32_t a_type, HAL_Handle b, int32_t b_type,
                                 HAL_Bool reverse, int32_t encoding, int32_t *status);
int32_t HAL_GetEncoder(HAL_Handle encoder, int32_t *status);
void HAL_ResetEncoder(HAL_Handle encoder, int32_t *status);
double HAL_GetEncoderPeriod(HAL_Handle encoder, int32_t *status);

typedef struct HAL_AddressableLEDData {
  uint8_t b, g, r, padding;
} HAL_AddressableLEDData;
HAL_Handle HAL_InitializeAddressableLED(HAL_Handle pwm, int32_t *status);
void HAL_WriteAddressableLEDData(HAL_Handle strip, const HAL_AddressableLEDData *from,
                                 int32_t length, int32_t *status);
void HAL_StartAddressableLEDOutput(HAL_Handle strip, int32_t *status);

void HAL_RefreshDSData(void);
int32_t HAL_GetControlWord(HAL_ControlWord *word);
int32_t HAL_GetJoystickAxes(int32_t joystick, HAL_JoystickAxes *axes);
int32_t HAL_GetJoystickPOVs(int32_t joystick, HAL_JoystickPOVs *povs);

HAL_Handle HAL_CreateSimDevice(const char *name);
void HAL_FreeSimDevice(HAL_Handle device);
HAL_Handle HAL_CreateSimValue(HAL_Handle device, const char *name, int32_t direction,
                              const HAL_Value *first);
void HAL_GetSimValue(HAL_Handle value, HAL_Value *to);
void HAL_SetSimValue(HAL_Handle value, const HAL_Value *from);

#endif
