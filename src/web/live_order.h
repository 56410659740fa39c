/* live_order.h: what a page asks for, decoded from its text and checked whole: nothing of an order that is wrong is done.
 *
 * Knows no world, page or socket, so that any bytes may be tried on it. The texts are documented in docs/web.md.
 */
#ifndef TT_WEB_LIVE_ORDER_H
#define TT_WEB_LIVE_ORDER_H

#include "control/joystick.h"
#include "base/status.h"
#include "host/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_LIVE_MOST_SIGNALS 256  /**< of one subscription */
#define TT_LIVE_MOST_COMMANDS 512 /**< of one order */
#define TT_LIVE_LONGEST_TRIAL 240 /**< with the end of the text */

/** What a page asks for; docs/web.md has the texts. */
typedef enum tt_live_order_kind {
  TT_ORDER_ACKNOWLEDGE,
  TT_ORDER_SUBSCRIBE,
  TT_ORDER_CONTROL,
  TT_ORDER_COMMAND,
  TT_ORDER_MONITOR,
  TT_ORDER_CONTACTS,
  TT_ORDER_JOYSTICK,
  TT_ORDER_STATION,
  TT_ORDER_TRIAL,
  TT_ORDER_ADD_PHANTOM,
  TT_ORDER_REMOVE_PHANTOM,
} tt_live_order_kind;

typedef struct tt_live_order {
  tt_live_order_kind kind;
  union {
    uint32_t sequence; /**< acknowledge */
    struct {
      uint32_t number;
      double rate; /**< Hz */
      int signals[TT_LIVE_MOST_SIGNALS];
      int count;
    } subscribe;
    struct {
      tt_mail_kind kind;
      int robot; /**< or TT_NO_ROBOT: the world */
      double value;
    } control;
    struct {
      struct {
        int command;
        double value; /**< SI */
      } values[TT_LIVE_MOST_COMMANDS];
      int count;
      uint64_t meant_for; /**< as in tt_mail */
    } command;
    int wire;                          /**< monitor: index or −1 */
    bool on;                           /**< contacts */
    int phantom;                       /**< remove */
    char trial[TT_LIVE_LONGEST_TRIAL]; /**< what is to be noted of it, one line */
    char run[256];                     /**< add a phantom */
    struct {
      char core[64]; /**< address; "": off */
      int port;      /**< at which its heartbeat is heard */
      int values[TT_JOYSTICK_VALUES];
    } joystick;
    tt_ds_order station; /**< good for a world of so many robots */
  };
} tt_live_order;

/** How many there are of what an order names by number. */
typedef struct tt_live_counts {
  int signals, commands, wires, robots;
} tt_live_counts;

/** Reads one JSON object. TT_INVALID: `error` says in one sentence what is wrong with it. */
tt_status tt_live_order_read(const char *text, size_t size, const tt_live_counts *counts,
                             tt_live_order *order, tt_error *error);

#endif
