/* devices.c: the table of WPILib's devices, and what differs between the seasons. */
#include "halsim/devices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAG TT_HALSIM_FLAG
#define WHOLE TT_HALSIM_WHOLE
#define NUMBER TT_HALSIM_NUMBER
#define NONE NULL, 1, NULL, TT_HALSIM_PLAIN
/* clang-format off */
#define OUT(type, device, key, sort)                                                               \
  { type, device, key, "<", sort, NONE }
#define IN(type, device, key, sort, unit)                                                          \
  { type, device, key, ">", sort, unit, 1, NULL, TT_HALSIM_PLAIN }
#define TURNING(type, device, key, sign)                                                           \
  { type, device, key, ">", NUMBER, "deg", sign, ".angle", TT_HALSIM_UNWRAP }
#define TURN_RATE(type, device, key, sign)                                                         \
  { type, device, key, ">", NUMBER, "deg/s", sign, ".rate", TT_HALSIM_RATE }
#define PRESENT(type, device, key)                                                                 \
  { type, device, key, ">", FLAG, NULL, 1, NULL, TT_HALSIM_PRESENT }
#define FALL(type, device, key, suffix)                                                            \
  { type, device, key, ">", NUMBER, "g0", 1, suffix, TT_HALSIM_PLAIN }
#define FALLS(type, device)                                                                        \
  FALL(type, device, "x", ".x"), FALL(type, device, "y", ".y"), FALL(type, device, "z", ".z")
/* clang-format on */

/* Rows of a device stand together; one whose device is "" comes after those that name theirs. */
static const tt_halsim_known table[] = {
    OUT("PWM", "", "speed", NUMBER),
    {"DIO", "", "value", "<>", FLAG, NONE},
    OUT("dPWM", "", "duty_cycle", NUMBER),
    IN("AI", "", "voltage", NUMBER, NULL),
    OUT("AO", "", "voltage", NUMBER),
    {"Encoder", "", "count", ">", WHOLE, "turn", 1, ".position", TT_HALSIM_PLAIN},
    {"Encoder", "", "period", ">", NUMBER, "turn/s", 1, ".velocity", TT_HALSIM_PERIOD},
    TURNING("Gyro", "ADXRS450", "angle_x", -1),
    TURN_RATE("Gyro", "ADXRS450", "rate_x", -1),
    PRESENT("Gyro", "ADXRS450", "connected"),
    TURNING("Gyro", "ADIS16", "gyro_angle_z", 1),
    TURN_RATE("Gyro", "ADIS16", "gyro_rate_z", 1),
    PRESENT("Gyro", "ADIS16", "connected"),
    TURNING("Gyro", "", "angle_z", 1),
    TURN_RATE("Gyro", "", "rate_z", 1),
    FALLS("Accel", ""),
    IN("DutyCycle", "", "Position", NUMBER, "turn"),
    PRESENT("DutyCycle", "", "Connected"),
    IN("SimDevice", "AnalogEncoder", "Position", NUMBER, "turn"),
    IN("SimDevice", "Ultrasonic", "Range (in)", NUMBER, "in"),
    PRESENT("SimDevice", "Ultrasonic", "Range Valid"),
    IN("SimDevice", "SharpIR", "Range (cm)", NUMBER, "cm"),
    {"SimDevice", "navX-Sensor", "Yaw", ">", NUMBER, "deg", -1, ".angle", TT_HALSIM_PLAIN},
    OUT("Solenoid", "", "output", FLAG),
    IN("CTREPCM", "", "pressure_switch", FLAG, NULL),
    OUT("Relay", "", "direction", WHOLE),
    OUT("AddressableLED", "", "brightness", NUMBER),
    IN("RoboRIO", "", "vin_voltage", NUMBER, NULL),
    OUT("CANMotor", "Talon FX", "dutyCycle", NUMBER),
    OUT("CANMotor", "", "percentOutput", NUMBER),
    IN("CANEncoder", "Talon FX", "rawPositionInput", NUMBER, "turn"),
    {"CANEncoder", "Talon FX", "velocity", ">", NUMBER, "turn/s", 1, ".velocity", TT_HALSIM_RATE},
    IN("CANEncoder", "", "position", NUMBER, "turn"),
    {"CANEncoder", "", "velocity", ">", NUMBER, "turn/s", 1, ".velocity", TT_HALSIM_RATE},
    {"CANDIO", "", "value", "<>", FLAG, NONE},
    IN("CANAIn", "", "voltage", NUMBER, NULL),
    TURNING("CANGyro", "Pigeon 2", "rawYawInput", 1),
    TURNING("CANGyro", "", "angle_z", 1),
    TURN_RATE("CANGyro", "", "rate_z", 1),
    FALLS("CANAccel", ""),
    IN("CANDutyCycle", "", "position", NUMBER, "turn"),
};
#define ROWS ((int)(sizeof table / sizeof *table))

static bool is_of(const tt_halsim_known *row, const char *type, const char *device) {
  return strcmp(row->type, type) == 0 && strncmp(device, row->device, strlen(row->device)) == 0;
}

static bool is_same_device(const tt_halsim_known *a, const tt_halsim_known *b) {
  return strcmp(a->type, b->type) == 0 && strcmp(a->device, b->device) == 0;
}

const tt_halsim_known *tt_halsim_find(const char *type, const char *device, const char *key) {
  int first = 0;
  while (first < ROWS && !is_of(&table[first], type, device)) first++;
  for (int i = first; i < ROWS && is_same_device(&table[i], &table[first]); i++)
    if (!key || strcmp(table[i].key, key) == 0) return &table[i];
  return NULL;
}

const tt_halsim_known *tt_halsim_next(const tt_halsim_known *of) {
  const tt_halsim_known *next = of + 1;
  return next < table + ROWS && is_same_device(of, next) ? next : NULL;
}

bool tt_halsim_is_type(const char *type, tt_nearest *nearest) {
  for (int i = 0; i < ROWS; i++)
    if (strcmp(table[i].type, type) == 0) return true;
  *nearest = tt_nearest_start(type);
  for (int i = 0; i < ROWS; i++)
    if (i == 0 || strcmp(table[i].type, table[i - 1].type) != 0)
      tt_nearest_offer(nearest, table[i].type);
  return false;
}

/* As a program writes it: "07" is none of its channels. */
static bool are_channels(const char *device, int count) {
  char *end, written[16];
  for (int i = 0; i < count; i++, device = end + 1) {
    unsigned long channel = strtoul(device, &end, 10);
    snprintf(written, sizeof written, "%lu", channel % 1000);
    if (strncmp(device, written, (size_t)(end - device)) != 0 || end == device) return false;
    if (*end != (i + 1 < count ? ',' : '\0')) return false;
  }
  return true;
}

bool tt_halsim_is_device(const char *type, const char *device, const char **form) {
  static const char *const numbered[] = {"PWM", "DIO",   "dPWM",    "AI",
                                         "AO",  "Relay", "CTREPCM", "AddressableLED"};
  *form = "its channels, \"0,1\", or its number";
  if (strcmp(type, "Encoder") == 0) return are_channels(device, 2) || are_channels(device, 1);
  *form = "module and channel, \"0,1\"";
  if (strcmp(type, "Solenoid") == 0) return are_channels(device, 2);
  *form = "a channel, 0 or more";
  for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
    if (strcmp(type, numbered[i]) == 0) return are_channels(device, 1);
  return true;
}

bool tt_halsim_rename(const char **type, const char **device, const char **key,
                      char channel[TT_HALSIM_NAME]) {
  static const char motor[] = "PWMMotorController[";
  if (strcmp(*type, "SimDevice") != 0 || strncmp(*device, motor, sizeof motor - 1) != 0)
    return false;
  if (strcmp(*key, "Throttle") != 0 && strcmp(*key, "Speed") != 0) return false;
  snprintf(channel, TT_HALSIM_NAME, "%s", *device + sizeof motor - 1);
  channel[strcspn(channel, "]")] = '\0';
  *type = "PWM";
  *device = channel;
  *key = "speed";
  return true;
}

/* What every WPILib controller's pulses have about in common: 1 ms back, 1.5 ms still, 2 ms forward. */
double tt_halsim_speed_of_pulse(double microseconds) {
  if (microseconds == 0 || fabs(microseconds - 1500) <= 1) return 0;
  return fmax(-1, fmin(1, (microseconds - 1500) / 500));
}
