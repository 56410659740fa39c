/* refusal.h: what backends say of a store that is there and takes nothing. */
#ifndef TT_STORE_REFUSAL_H
#define TT_STORE_REFUSAL_H

#include "base/status.h"

#include <stdbool.h>

/** What was away may turn out to be what is taken never: too new, without a right, no log. While it is tried again
 *  that is said once. `said`: what the backend keeps of it, false at first; `refused`: this try ended so, with `error`; `there`:
 *  it ended well, and the next refusal is said anew. The backend's thread. */
void tt_store_note_refusal(bool *said, bool refused, bool there, const tt_error *error);

#endif
