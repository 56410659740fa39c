#include "store/refusal.h"

#include "base/log.h"

void tt_store_note_refusal(bool *said, bool refused, bool there, const tt_error *error) {
  if (refused && !*said) tt_log_warning("%s; trying again", error->text);
  *said = !there && (*said || refused);
}
