/* live_order_fuzz.c: anything that a page may send: an order whose every number is in range, or a reason. */
#include "web/live_order.h"

#include <assert.h>
#include <math.h>

static const tt_live_counts counts = {.signals = 20, .commands = 10, .wires = 3, .robots = 2};

static void check_subscribe(const tt_live_order *order) {
  assert(order->subscribe.rate > 0 && isfinite(order->subscribe.rate));
  for (int i = 0; i < order->subscribe.count; i++)
    assert(order->subscribe.signals[i] >= 0 && order->subscribe.signals[i] < counts.signals);
}

static void check_command(const tt_live_order *order) {
  for (int i = 0; i < order->command.count; i++) {
    assert(order->command.values[i].command >= 0);
    assert(order->command.values[i].command < counts.commands);
    assert(isfinite(order->command.values[i].value));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_live_order order;
  tt_error error = {""};
  if (tt_live_order_read((const char *)data, size, &counts, &order, &error) != TT_OK) {
    assert(*error.text);
    return 0;
  }
  if (order.kind == TT_ORDER_SUBSCRIBE) check_subscribe(&order);
  if (order.kind == TT_ORDER_COMMAND) check_command(&order);
  if (order.kind == TT_ORDER_MONITOR) assert(order.wire >= -1 && order.wire < counts.wires);
  if (order.kind == TT_ORDER_STATION) assert(tt_ds_order_is_good(&order.station, counts.robots));
  if (order.kind == TT_ORDER_CONTROL) {
    assert(isfinite(order.control.value));
    assert(order.control.robot >= -1 && order.control.robot < counts.robots);
  }
  return 0;
}
