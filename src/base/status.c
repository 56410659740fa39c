#include "base/status.h"

#undef tt_fail /* an analyzer has a macro of it */

#include <stdio.h>

const char *tt_status_name(tt_status status) {
  switch (status) {
#define TT_STATUS_NAME(name, code, text)                                                           \
  case TT_##name: return #name;
    TT_STATUS_LIST(TT_STATUS_NAME)
#undef TT_STATUS_NAME
  }
  return "UNKNOWN";
}

const char *tt_status_text(tt_status status) {
  switch (status) {
#define TT_STATUS_TEXT(name, code, text)                                                           \
  case TT_##name: return text;
    TT_STATUS_LIST(TT_STATUS_TEXT)
#undef TT_STATUS_TEXT
  }
  return "an unknown status";
}

tt_status tt_fail(tt_error *error, tt_status status, const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
  }
  return status;
}
