/* pages.h: the files that are built into the program: the pages' own bundle (web/) and plain pages of rooms. */
#ifndef TT_WEB_PAGES_H
#define TT_WEB_PAGES_H

#include "web/server.h"

#include <stddef.h>

/** The bytes of a page by its name, "index.html", and its content type; NULL: there is none. Static. */
const char *tt_page(const char *name, size_t *size, const char **content_type);

/** Serves the bundle: `/` and every file it names. Before tt_web_start(). */
void tt_pages_add(tt_web *web);

#endif
