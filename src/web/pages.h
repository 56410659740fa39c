/* pages.h: the files that are built into the program. */
#ifndef TT_WEB_PAGES_H
#define TT_WEB_PAGES_H

#include <stddef.h>

/** The bytes of a page by its name, "telemetry.html", and its content type; NULL: there is none. Static. */
const char *tt_page(const char *name, size_t *size, const char **content_type);

#endif
