/* byte_order.h: floats that were sent in the other byte order. Many are legal numbers, so they can only be told by how they look. */
#ifndef TT_WIRE_BYTE_ORDER_H
#define TT_WIRE_BYTE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/** Whether `count` floats at `bytes` look as if they had been sent in the other order than the wire's. The other way round all
 *  are 0 or of an ordinary size; as they are, one is almost nothing (1.0 arrives as 4.6e-41), or, where the message was
 *  `refused` anyway, no number or a huge one. */
bool tt_floats_look_swapped(const uint8_t *bytes, int count, bool big_endian, bool refused);

#endif
