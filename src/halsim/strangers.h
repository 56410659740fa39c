/* strangers.h: which devices a program uses, as its messages tell, whether a line maps them or not. */
#ifndef TT_HALSIM_STRANGERS_H
#define TT_HALSIM_STRANGERS_H

#include "halsim/message.h"

#define TT_HALSIM_MOST_STRANGERS 128 /**< further ones are not noticed */

/** A device that the program uses. */
typedef struct tt_halsim_used {
  char type[TT_HALSIM_NAME], device[TT_HALSIM_NAME];
} tt_halsim_used;

/** All zero at first. */
typedef struct tt_halsim_strangers_list {
  tt_halsim_used *used;
  int count;
  int asked;    /**< of those, told to people */
  int seen;     /**< when they were last looked at */
  double quiet; /**< s simulated since one came */
} tt_halsim_strangers_list;

/** Notes the device where the message says that the program uses it: `<init` is true, or it is of a sort that exists only
 *  where the program made it. Out of memory: it is not noted. */
void tt_halsim_strangers_hear(tt_halsim_strangers_list *list, const char *type, const char *device,
                              const tt_halsim_value *values, int count);
void tt_halsim_strangers_clear(tt_halsim_strangers_list *list);

#endif
