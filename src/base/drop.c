/* drop.c: the reasons for which a message changes nothing, in words. */
#include "base/drop.h"

const char *tt_drop_text(tt_drop drop) {
  static const char *const texts[] = {
#define TT_DROP_TEXT(name, text) [TT_DROP_##name] = text,
      TT_DROP_LIST(TT_DROP_TEXT)
#undef TT_DROP_TEXT
  };
  return (unsigned)drop < TT_DROP_COUNT ? texts[drop] : "unknown reason";
}
