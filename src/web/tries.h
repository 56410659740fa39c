/* tries.h: how many wrong tokens an address may try: ten, and another one every six seconds.
 *
 * One that is wrong once is not tried by being sent again, as by a page whose token was withdrawn. Of many addresses those are
 * forgotten first that tried least, so that memory is bounded.
 */
#ifndef TT_WEB_TRIES_H
#define TT_WEB_TRIES_H

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tt_web_tries tt_web_tries;

/** Nobody has tried. */
tt_web_tries *tt_web_tries_new(void);
/** NULL-safe. */
void tt_web_tries_free(tt_web_tries *tries);
/** Who counts as one: an IPv4 address, also as IPv6 maps it, or the network (/64) of one of IPv6. To be g_free()d. */
char *tt_web_tries_name(GInetAddress *address);
/** Whether a token of this hash was wrong lately. */
bool tt_web_tries_knows(const tt_web_tries *tries, const char *name, const uint8_t *hash);
/** s until another may be tried; 0: now. `now`: µs monotonic. */
int tt_web_tries_wait(tt_web_tries *tries, const char *name, int64_t now);
/** Notes a wrong one. */
void tt_web_tries_note(tt_web_tries *tries, const char *name, const uint8_t *hash, int64_t now);
/** What was wrong may be right now. */
void tt_web_tries_forget(tt_web_tries *tries);
/** Addresses that are remembered. */
unsigned tt_web_tries_count(const tt_web_tries *tries);

#endif
