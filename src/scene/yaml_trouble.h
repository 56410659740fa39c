/* yaml_trouble.h: what is wrong with a file that is no YAML, in words for who wrote it. */
#ifndef TT_SCENE_YAML_TROUBLE_H
#define TT_SCENE_YAML_TROUBLE_H

#include "base/status.h"

#include <stddef.h>
#include <yaml.h>

/** After yaml_parser_parse() failed on `text`: TT_INVALID with file, line and the remedy, or TT_NOMEM. `path` is only shown. */
tt_status tt_yaml_trouble(const yaml_parser_t *parser, const char *path, const char *text,
                          size_t size, tt_error *error);

/** How many bytes of a text that is no key a message may show: its first word, up to a ':' or '='. What follows may be a value, and one that
 *  is not for everybody. */
int tt_yaml_shown(const char *text, size_t size);

/** TT_INVALID where a byte order mark stands elsewhere than at the beginning: it cannot be seen, and belongs to no name. */
tt_status tt_yaml_check_marks(const char *path, const char *text, size_t size, tt_error *error);

#endif
