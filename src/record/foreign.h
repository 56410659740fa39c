/* foreign.h: a WPILOG that another program wrote (WPILib's DataLog, AdvantageKit), made into a log as Tether keeps them, so that whoever reads
 * a run reads it, too: numbers and flags become signals, an array one for each element, a struct whose schema the log has one for each
 * of its numbers, texts become events. Its time begins with its first record. It has no scene, no model and no journal: it can't be shown in
 * 3D, run again or raced.
 *
 * Entries of other types (protocol buffers, raw bytes, structs without a schema) are left out, and counted.
 */
#ifndef TT_RECORD_FOREIGN_H
#define TT_RECORD_FOREIGN_H

#include "base/status.h"
#include "record/export.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_FOREIGN_MOST_SIGNALS 10000u /**< further ones are left out */
#define TT_FOREIGN_MOST_ELEMENTS 64u   /**< of an array, numbers of structs among them */

/** Are these bytes a WPILOG that is no run of Tether's? Anything else is somebody else's to judge. */
bool tt_foreign_is(const uint8_t *data, size_t size);

/** Writes the log of `size` bytes as one of Tether's. `name` is what it is called, `now` s since 1970: when it was recorded, if it does not say so
 *  itself. Reads the log four times, and takes 16 bytes a record where it is not in order of time. Any thread.
 *  @return TT_INVALID: it is no WPILOG, has nothing that can be shown, or more than 20 million records that are not in order; TT_NOMEM; or
 *  as the sink says */
tt_status tt_foreign_convert(const uint8_t *data, size_t size, const char *name, int64_t now,
                             const tt_export_sink *sink, tt_error *error);

#endif
