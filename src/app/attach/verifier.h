/* verifier.h: kept runs that pages have verified: `tether verify` as a process of its own, one at a time. A world in this one would
 * share data folders, signals and the engine's handler with the one that runs here.
 */
#ifndef TT_APP_ATTACH_VERIFIER_H
#define TT_APP_ATTACH_VERIFIER_H

#include "web/run_library.h"

typedef struct tt_verifier tt_verifier;

/** TT_NOMEM; TT_FAILED: no thread can be started. */
tt_status tt_verifier_new(tt_verifier **verifier, tt_error *error);
/** Once nobody asks any more; what is under way is ended. NULL-safe. */
void tt_verifier_free(tt_verifier *verifier);
/** For tt_run_routes_new(); the verifier's. */
const tt_run_verifier *tt_verifier_for_web(const tt_verifier *verifier);

#endif
