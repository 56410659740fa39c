/* error.c: statuses, and what is said with them. */
#include "library/library.h"

#include <stdarg.h>
#include <stdio.h>

/* Texts of statuses are those of ours with the same number. */
_Static_assert((int)TETHER_OK == TT_OK && (int)TETHER_INVALID == TT_INVALID &&
                   (int)TETHER_FAILED == TT_FAILED && (int)TETHER_NO_MEMORY == TT_NOMEM &&
                   (int)TETHER_NOT_FOUND == TT_NOT_FOUND && (int)TETHER_DIVERGED == TT_DIVERGED &&
                   (int)TETHER_OTHER_VERSION == TT_VERSION,
               "the public numbers");

const char *tether_status_text(tether_status status) {
  if (status == TETHER_BUSY) return "another thread is using it";
  if (status == TETHER_INTERRUPTED) return "ended early, as its caller wanted";
  return tt_status_text((tt_status)status);
}

tether_status library_status(tt_status status) {
  switch (status) {
    case TT_OK: return TETHER_OK;
    case TT_NOMEM: return TETHER_NO_MEMORY;
    case TT_NOT_FOUND: return TETHER_NOT_FOUND;
    case TT_DIVERGED: return TETHER_DIVERGED;
    case TT_VERSION: return TETHER_OTHER_VERSION;
    case TT_INVALID:
    case TT_USAGE:
    case TT_BAD_MESSAGE: return TETHER_INVALID;
    default: return TETHER_FAILED;
  }
}

void library_begin(tether_error *error) {
  if (error) error->text[0] = '\0';
}

tether_status library_fail(tether_error *error, tether_status status, const char *format, ...) {
  if (!error) return status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return status;
}

tether_status library_finish(tt_status status, const tt_error *from, tether_error *error) {
  if (status == TT_OK) return TETHER_OK;
  return library_fail(error, library_status(status), "%s",
                      from->text[0] ? from->text : tt_status_text(status));
}
