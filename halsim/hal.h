/* hal.h: the functions of WPILib's hardware layer (libwpiHal.so) that the extension calls, found by their names at run time:
 * no header of WPILib is needed, and one build serves seasons 2026 and 2027. Types are those of its C interface; HAL_Bool and
 * handles are int32_t. A function that a season does not have is NULL, unless it is needed.
 */
#ifndef TT_EXTENSION_HAL_H
#define TT_EXTENSION_HAL_H

#include <stdbool.h>
#include <stdint.h>

/** A value of a simulated device. */
enum { HAL_BOOLEAN = 1, HAL_DOUBLE = 2, HAL_ENUM = 4, HAL_INT = 8, HAL_LONG = 16 };
typedef struct hal_value {
  union {
    int32_t v_boolean, v_enum, v_int;
    int64_t v_long;
    double v_double;
  } data;
  int32_t type;
} hal_value;

/** Which way such a value goes. */
enum { HAL_VALUE_INPUT, HAL_VALUE_OUTPUT, HAL_VALUE_BIDIR };

/** A notifier of the program; see hal_list_notifiers(). */
typedef struct hal_notifier {
  int32_t handle;
  char name[64];
  uint64_t alarm; /**< µs; UINT64_MAX: none is set */
} hal_notifier;
#define HAL_MOST_NOTIFIERS 16 /**< that are listed */

typedef struct hal_string {
  const char *text; /**< not ended by 0 */
  uintptr_t size;
} hal_string;

/** One of a strip of LEDs, each colour 0 to 255. */
typedef struct hal_led {
  uint8_t b, g, r, padding;
} hal_led;
#define HAL_MOST_LEDS 5460

typedef void hal_device_callback(const char *name, void *context, int32_t device);
typedef void hal_value_callback(const char *name, void *context, int32_t value, int32_t direction,
                                const hal_value *is);

#define HAL_NEEDED(X)                                                                              \
  X(void, HALSIM_PauseTiming, (void))                                                              \
  X(void, HALSIM_RestartTiming, (void))                                                            \
  X(int32_t, HALSIM_IsTimingPaused, (void))                                                        \
  X(void, HALSIM_StepTiming, (uint64_t microseconds))                                              \
  X(int32_t, HALSIM_GetProgramStarted, (void))                                                     \
  X(uint64_t, HALSIM_GetNextNotifierTimeout, (void))                                               \
  X(int32_t, HALSIM_GetNotifierInfo, (void *to, int32_t size))                                     \
  X(void, HALSIM_NotifyDriverStationNewData, (void))                                               \
  X(int32_t, HALSIM_GetPWMPulseMicrosecond, (int32_t channel))

/* clang-format off */
#define HAL_OPTIONAL(X)                                                                            \
  X(void, HAL_OnShutdown, (void *context, void (*function)(void *)))                               \
  X(int32_t, HAL_InitializeNotifier, (int32_t * status))                                           \
  X(void, HAL_StopNotifier, (int32_t notifier, int32_t * status))                                  \
  X(void, HAL_CleanNotifier, (int32_t notifier, int32_t * status))                                 \
  X(uint64_t, HAL_WaitForNotifierAlarm, (int32_t notifier, int32_t * status))                      \
  X(void, HAL_AcknowledgeNotifierAlarm,                                                            \
    (int32_t notifier, int32_t, uint64_t, uint64_t, int32_t, int32_t * status))                    \
  X(void, HALSIM_EnumerateSimDevices,                                                              \
    (const char *prefix, void *context, hal_device_callback *callback))                            \
  X(void, HALSIM_EnumerateSimValues,                                                               \
    (int32_t device, void *context, hal_value_callback *callback))                                 \
  X(int32_t, HALSIM_GetSimDeviceHandle, (const char *name))                                        \
  X(int32_t, HALSIM_GetSimValueHandle, (int32_t device, const char *name))                         \
  X(void, HAL_GetSimValue, (int32_t value, hal_value * to))                                        \
  X(void, HAL_SetSimValue, (int32_t value, const hal_value *from))                                 \
  X(int32_t, HALSIM_GetCTREPCMSolenoidOutput, (int32_t module, int32_t channel))                   \
  X(int32_t, HALSIM_GetREVPHSolenoidOutput, (int32_t module, int32_t channel))                     \
  X(int32_t, HALSIM_GetCTREPCMInitialized, (int32_t module))                                       \
  X(int32_t, HALSIM_GetREVPHInitialized, (int32_t module))                                         \
  X(int32_t, HALSIM_GetAddressableLEDInitialized, (int32_t index))                                 \
  X(int32_t, HALSIM_GetAddressableLEDOutputPort, (int32_t index))                                  \
  X(int32_t, HALSIM_GetAddressableLEDLength, (int32_t index))                                      \
  X(int32_t, HALSIM_GetAddressableLEDRunning, (int32_t index))                                     \
  X(int32_t, HALSIM_GetAddressableLEDData, (int32_t index, hal_led * to))                          \
  X(void, HALSIM_SetDriverStationAllianceStationId, (int32_t station))                             \
  X(void, HALSIM_SetGameSpecificMessage, (const hal_string *message))                              \
  X(void, HALSIM_SetJoystickAxisCount, (int32_t stick, int32_t count))                             \
  X(void, HALSIM_SetJoystickAxesAvailable, (int32_t stick, int32_t mask))                          \
  X(void, HALSIM_SetJoystickAxis, (int32_t stick, int32_t axis, double value))                     \
  X(void, HALSIM_SetJoystickButtonCount, (int32_t stick, int32_t count))                           \
  X(void, HALSIM_SetJoystickButtonsAvailable, (int32_t stick, uint64_t mask))                      \
  X(void, HALSIM_SetJoystickButtonsValue, (int32_t stick, uint64_t buttons))                       \
  X(void, HALSIM_SetJoystickPOVCount, (int32_t stick, int32_t count))                              \
  X(void, HALSIM_SetJoystickPOVsAvailable, (int32_t stick, int32_t mask))                          \
  X(void, HALSIM_SetJoystickPOV, (int32_t stick, int32_t pov, int32_t value))
/* clang-format on */

#define HAL_MEMBER(type, name, arguments) type(*name) arguments;
/** All of them, once hal_find() has come back well. */
typedef struct hal_functions {
  HAL_NEEDED(HAL_MEMBER)
  HAL_OPTIONAL(HAL_MEMBER)
} hal_functions;
extern hal_functions hal;

/** Finds the library in this process and its functions. False: `missing` says what is not there. */
bool hal_find(const char **missing);
/** One more function of it, by name; NULL where this season has none. */
void *hal_symbol(const char *name);
/** Whether notifiers are those of 2027, who signal an object and are acknowledged; before, a program waited in a call. */
bool hal_notifiers_signal(void);
/** Lists the program's notifiers, and returns how many of them stand in the list. */
int hal_list_notifiers(hal_notifier notifiers[HAL_MOST_NOTIFIERS]);
/** The name of a library in this process whose threads are known not to follow a stepped clock, or NULL. Static. */
const char *hal_library_of_its_own_time(void);

#endif
