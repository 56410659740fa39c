/* link.h: the connection to Tether: frames out of any thread, frames in by one. */
#ifndef TT_EXTENSION_LINK_H
#define TT_EXTENSION_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_TEXT 256

/** Connects to "HOST:PORT" ("[::1]:3301" for IPv6), waiting a second at most. False: `why` says the reason. */
bool link_open(const char *address, char why[LINK_TEXT]);
/** Sends a frame with this body, blocking while Tether does not read, for 5 s a piece; false: the connection is gone, or was not there. Any thread. */
bool link_send(const void *body, size_t size);
/** Waits for a frame and gives its body, which is valid until the next call. False: the connection is gone or broken; `why` says how. */
bool link_receive(const uint8_t **body, size_t *size, char why[LINK_TEXT]);
/** Whether the peer has gone or something can be read within `milliseconds`. */
bool link_stirs(int milliseconds);
/** Makes a link_receive() return that waits, and every later one fail, until it is opened again. Any thread. */
void link_break(void);
/** Frees what link_open() made. By the thread that receives. */
void link_close(void);

#endif
