/* passed.h: how far in a log messages of a device were stored that its device may have sent again. What was put there before them, and
 * comes behind them, was overtaken: by another writer, or because the log gave it once more. It may be a repeat, too.
 *
 * A store keeps a place for each device and log, which only grows. What follows is what a batch says of it, by indices of devices.
 * One thread at a time.
 */
#ifndef TT_STORE_PASSED_H
#define TT_STORE_PASSED_H

#include "store/batch.h"
#include "store/map.h"

/** How far messages of a device reach that it may have sent again. */
typedef struct tt_store_passed {
  int32_t device;
  int64_t place; /**< in the batch's log, counted from 1 */
} tt_store_passed;

/** Adds the devices (int32_t) of which the store is to be asked, each once: none, if nothing of the batch was taken from a log. False: out
 *  of memory. */
bool tt_store_passed_devices(const tt_store_batch *batch, tt_list *devices);
/** Which samples are of messages that may have been sent again: a char for each, behind what stands in `unsure`, and whether any is.
 *  `passed` has places by device, as the store has them, and then with those of the batch. False: out of memory. */
bool tt_store_find_unsure(const tt_store_batch *batch, tt_map *passed, tt_list *unsure, bool *any);
/** Adds what the store is to keep (tt_store_passed), one for each device that says of some that it may have sent them again. False: out of
 *  memory. */
bool tt_store_find_passed(const tt_store_batch *batch, tt_list *passed);

#endif
