/* drop.c: the reasons for which a message changes nothing, in words. */
#include "base/drop.h"

#include <stdarg.h>
#include <stdio.h>

const char *tt_drop_text(tt_drop drop) {
  static const char *const texts[] = {
#define TT_DROP_TEXT(name, text) [TT_DROP_##name] = text,
      TT_DROP_LIST(TT_DROP_TEXT)
#undef TT_DROP_TEXT
  };
  return (unsigned)drop < TT_DROP_COUNT ? texts[drop] : "unknown reason";
}

tt_status tt_refuse(tt_refusal *refusal, tt_drop drop, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  refusal->drop = drop;
  vsnprintf(refusal->text, sizeof refusal->text, format, arguments);
  va_end(arguments);
  return TT_BAD_MESSAGE;
}
