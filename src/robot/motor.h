/* motor.h: a motor's keys, checked: between the file that has them (motor_config.c) and the motor (motor.c). */
#ifndef TT_ROBOT_MOTOR_H
#define TT_ROBOT_MOTOR_H

#include "robot/common.h"

#define JOINTS_MAX 16
#define GEARS_MAX 8
#define UNLIMITED 1e30
#define GEAR_LEAST 1e-6
#define GEAR_MOST 1e6

/** One motor's line. */
typedef struct motor_line {
  double nominal_voltage; /* V */
  double stall_torque;    /* N·m */
  double stall_current;   /* A; 0: unknown */
  double free_current;    /* A */
  double free_speed;      /* rad/s */
} motor_line;

/** At duty 0. */
typedef enum neutral { BRAKE, COAST, HOLD } neutral;

/** The keys as the file has them, and what they come to. */
typedef struct motor_config {
  char *name;
  char *joint;
  char **joints;
  unsigned joints_count;
  bool reversed;
  char *model;
  uint32_t *count;
  double *gears;
  unsigned gears_count;
  double *efficiency;
  char *drum_radius, *current_limit, *battery, *neutral, *max_torque;
  char *stall_torque, *free_speed, *stall_current, *free_current, *nominal_voltage;
  /* Filled by the schema's check(): */
  bool has_line; /* false: model none */
  motor_line line;
  double motors, loss_factor; /* how many; the gearbox's efficiency */
  double drum;                /* m */
  double limit;               /* A, a motor */
  double full;                /* greatest voltage, as part of the nominal one */
  double ratios[GEARS_MAX];
  int ratio_count;
  neutral at_zero;
} motor_config;

#endif
