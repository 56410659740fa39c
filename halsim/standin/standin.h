/* standin.h: what the stand-in's files share, and what a simulator calls (HALSIM_…).
 *
 * Like the original it holds its state behind locks of its own, calls nobody back while it is locked, and its clock can be
 * paused and stepped.
 */
#ifndef TT_HALSIM_STANDIN_H
#define TT_HALSIM_STANDIN_H

#include "hal.h"

/** Everything but clock and notifiers lies behind this one lock. */
void standin_lock(void);
void standin_unlock(void);
/** The clock as it is before a program begins: running, at zero. */
void standin_restart_clock(void);
void standin_program_started(void);

/* --- clock --- */
void HALSIM_PauseTiming(void);
void HALSIM_ResumeTiming(void);
HAL_Bool HALSIM_IsTimingPaused(void);
void HALSIM_RestartTiming(void);
/** Waits until every notifier is waited on, then goes from alarm to alarm, each time until whoever it woke waits again. */
void HALSIM_StepTiming(uint64_t microseconds);
void HALSIM_StepTimingAsync(uint64_t microseconds);
HAL_Bool HALSIM_GetProgramStarted(void);
uint64_t HALSIM_GetNextNotifierTimeout(void);
int32_t HALSIM_GetNumNotifiers(void);
struct HALSIM_NotifierInfo {
  HAL_Handle handle;
  char name[64];
#ifdef STANDIN_2027
  uint64_t alarmTime, intervalTime; /* µs */
  int32_t overrunCount;
#else
  uint64_t timeout; /* µs */
  HAL_Bool waitTimeValid;
#endif
};
int32_t HALSIM_GetNotifierInfo(struct HALSIM_NotifierInfo *to, int32_t size);

/* --- devices with channels: Get and Set by channel --- */
#ifdef STANDIN_2027
#define STANDIN_SPEED(X)
#else
#define STANDIN_SPEED(X) X(PWM, Speed, double, 20) X(PWM, Position, double, 20)
#endif
#define STANDIN_VALUES(X)                                                                          \
  X(PWM, Initialized, HAL_Bool, 20)                                                                \
  STANDIN_SPEED(X)                                                                                 \
  X(PWM, PulseMicrosecond, int32_t, 20)                                                            \
  X(DIO, Initialized, HAL_Bool, 31)                                                                \
  X(DIO, Value, HAL_Bool, 31)                                                                      \
  X(DIO, IsInput, HAL_Bool, 31)                                                                    \
  X(DIO, PulseLength, double, 31)                                                                  \
  X(AnalogIn, Initialized, HAL_Bool, 8)                                                            \
  X(AnalogIn, Voltage, double, 8)                                                                  \
  X(Encoder, Initialized, HAL_Bool, 8)                                                             \
  X(Encoder, DigitalChannelA, int32_t, 8)                                                          \
  X(Encoder, DigitalChannelB, int32_t, 8)                                                          \
  X(Encoder, ReverseDirection, HAL_Bool, 8)                                                        \
  X(Encoder, SamplesToAverage, int32_t, 8)                                                         \
  X(Encoder, Count, int32_t, 8)                                                                    \
  X(Encoder, Period, double, 8)                                                                    \
  X(AddressableLED, Initialized, HAL_Bool, 1)                                                      \
  X(AddressableLED, OutputPort, int32_t, 1)                                                        \
  X(AddressableLED, Length, int32_t, 1)                                                            \
  X(AddressableLED, Running, HAL_Bool, 1)                                                          \
  X(Relay, InitializedForward, HAL_Bool, 4)                                                        \
  X(Relay, InitializedReverse, HAL_Bool, 4)                                                        \
  X(Relay, Forward, HAL_Bool, 4)                                                                   \
  X(Relay, Reverse, HAL_Bool, 4)                                                                   \
  X(CTREPCM, Initialized, HAL_Bool, 63)                                                            \
  X(CTREPCM, ClosedLoopEnabled, HAL_Bool, 63)                                                      \
  X(CTREPCM, CompressorOn, HAL_Bool, 63)                                                           \
  X(CTREPCM, PressureSwitch, HAL_Bool, 63)                                                         \
  X(CTREPCM, CompressorCurrent, double, 63)                                                        \
  X(Accelerometer, Active, HAL_Bool, 1)                                                            \
  X(Accelerometer, X, double, 1)                                                                   \
  X(Accelerometer, Y, double, 1)                                                                   \
  X(Accelerometer, Z, double, 1)
#define STANDIN_DECLARE(device, name, type, count)                                                 \
  type HALSIM_Get##device##name(int32_t index);                                                    \
  void HALSIM_Set##device##name(int32_t index, type value);
STANDIN_VALUES(STANDIN_DECLARE)

/* --- things there is one of --- */
#define STANDIN_SINGLES(X)                                                                         \
  X(RoboRioVInVoltage, double, 12)                                                                 \
  X(RoboRioVInCurrent, double, 0)                                                                  \
  X(DriverStationEnabled, HAL_Bool, 0)                                                             \
  X(DriverStationAutonomous, HAL_Bool, 0)                                                          \
  X(DriverStationTest, HAL_Bool, 0)                                                                \
  X(DriverStationEStop, HAL_Bool, 0)                                                               \
  X(DriverStationFmsAttached, HAL_Bool, 0)                                                         \
  X(DriverStationDsAttached, HAL_Bool, 0)                                                          \
  X(DriverStationAllianceStationId, int32_t, 0)                                                    \
  X(DriverStationMatchTime, double, -1)
#define STANDIN_DECLARE_SINGLE(name, type, first)                                                  \
  type HALSIM_Get##name(void);                                                                     \
  void HALSIM_Set##name(type value);
STANDIN_SINGLES(STANDIN_DECLARE_SINGLE)

/** Writes as many as the strip has, and returns their number. */
int32_t HALSIM_GetAddressableLEDData(int32_t index, HAL_AddressableLEDData *to);
HAL_Bool HALSIM_GetCTREPCMSolenoidOutput(int32_t index, int32_t channel);
void HALSIM_SetJoystickAxisCount(int32_t stick, int32_t count);
void HALSIM_SetJoystickAxis(int32_t stick, int32_t axis, double value);
#ifdef STANDIN_2027
void HALSIM_SetJoystickPOVsAvailable(int32_t stick, uint8_t mask);
void HALSIM_SetJoystickPOV(int32_t stick, int32_t pov, uint8_t value);
#else
void HALSIM_SetJoystickPOVCount(int32_t stick, int32_t count);
void HALSIM_SetJoystickPOV(int32_t stick, int32_t pov, int32_t value);
#endif
/** What was set of the driver station reaches the program with this, and at its next HAL_RefreshDSData(). */
void HALSIM_NotifyDriverStationNewData(void);
void HALSIM_SetGameSpecificMessage(const struct WPI_String *message);

/* --- simulated devices: both calls hold the lock of all devices while they call back --- */
typedef void (*HALSIM_SimDeviceCallback)(const char *name, void *param, HAL_Handle device);
typedef void (*HALSIM_SimValueCallback)(const char *name, void *param, HAL_Handle value,
                                        int32_t direction, const HAL_Value *is);
void HALSIM_EnumerateSimDevices(const char *prefix, void *param, HALSIM_SimDeviceCallback callback);
void HALSIM_EnumerateSimValues(HAL_Handle device, void *param, HALSIM_SimValueCallback callback);
HAL_Handle HALSIM_GetSimDeviceHandle(const char *name);
HAL_Handle HALSIM_GetSimValueHandle(HAL_Handle device, const char *name);

#endif
