/* drive.h: how an axis is driven during a step. Pure data. */
#ifndef TT_MODEL_DRIVE_H
#define TT_MODEL_DRIVE_H

typedef enum tt_drive_kind {
  TT_DRIVE_NONE,     /**< free */
  TT_DRIVE_TORQUE,   /**< `torque`, as it is */
  TT_DRIVE_VELOCITY, /**< servo to `velocity`, |torque| ≤ max_torque */
} tt_drive_kind;

typedef struct tt_drive {
  tt_drive_kind kind;
  double torque;     /**< N·m or N */
  double velocity;   /**< rad/s or m/s */
  double max_torque; /**< N·m or N, ≥ 0 */
} tt_drive;

#endif
