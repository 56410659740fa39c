/* sharp_original.h: the configuration file of the programs that spoke sharp-json first, config/robotConfig.yml, as settings
 * of ours. One file serves all of theirs, and so all of ours: addresses and ports, and the vehicle's measures, mass and
 * motors, in inches, pounds, degrees and turns a minute.
 */
#ifndef TT_CONTROL_SHARP_ORIGINAL_H
#define TT_CONTROL_SHARP_ORIGINAL_H

#include "scene/tree.h"

typedef enum tt_sharp_program {
  TT_SHARP_PROGRAM_CORE,     /**< settings of `tether core` */
  TT_SHARP_PROGRAM_JOYSTICK, /**< of `tether joystick` */
  TT_SHARP_PROGRAM_VEHICLE,  /**< of a scene whose first robot is `sharp`, on sharp-json */
} tt_sharp_program;

/** What such a file means. */
typedef struct tt_sharp_original {
  char **settings; /**< PATH=VALUE */
  int count;
  char unused[300]; /**< keys that mean nothing to us, separated by commas; "" if there are none */
} tt_sharp_original;

/** Who reads such a file. */
typedef struct tt_sharp_reader {
  tt_sharp_program program;
  int player; /**< 1, 2, …: later ones have ports ten higher, and a place of their own where the file gives one */
  /** PATH of the vehicle's wire in its scene, as "wires.sharp-json"; no matter to the other programs */
  const char *wire;
} tt_sharp_reader;

/** What such a file (tt_stranger_is_original()) means to `reader`. TT_INVALID names the file, the line and the key. The caller frees with
 *  tt_sharp_original_free(), also on failure. */
tt_status tt_sharp_original_read(const tt_document *document, const tt_sharp_reader *reader,
                                 tt_sharp_original *original, tt_error *error);
void tt_sharp_original_free(tt_sharp_original *original);

#endif
