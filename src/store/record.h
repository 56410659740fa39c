/* record.h: what is read back: all values of one device at one moment. Plain data. */
#ifndef TT_STORE_RECORD_H
#define TT_STORE_RECORD_H

#include "store/list.h"

/** One cell of a record. */
typedef struct tt_store_cell {
  int32_t attribute;
  const char *text; /**< NULL: a number */
  double number;
} tt_store_cell;

/** For cursors, whose texts move while they are gathered: makes pointers into `text` of offsets + 1. */
void tt_store_settle_texts(tt_list *cells, const tt_list *text);

/** All values of one device at one moment; valid until the cursor moves. */
typedef struct tt_store_record {
  int64_t device_time, time;
  int64_t seq; /**< of its message; 0: it had none */
  const tt_store_cell *cells;
  int count;
} tt_store_record;

#endif
