/* client.h: programs that drive a robot over a wire, made for exactly the order of the wire's arrays.
 *
 * A protocol has a pattern for each language (tt_wire_client), which is the program's text but for what stands between two '@':
 *
 *   @scene@ @wire@ @file@ @stem@ @class@ @period@   the scene, the wire, the program's file, that without its ending, a class' name, its
 *                                                   interval in s
 *   @KEY@ @KEY.host@ @KEY.port@                     a text of the wire's configuration, and the parts of an address
 *   @LIST.count@                                    how many entries a list of its configuration has
 *   @each LIST@…                                    the rest of the line, once for each entry; @each LIST.named@: without `none` and
 *                                                   `stamp`; @each LIST.shown@: at most four of those. In it @.id@ is an identifier,
 *                                                   @.name@ the name in the scene, @.unit@, @.index@, and @.value@ what is put into a
 *                                                   message: stamp, 0 or commands.ID
 *   @if WHAT@, @unless WHAT@, @end@                 lines of their own: what stands between them only if the list LIST.named has
 *                                                   entries, or KEY=TEXT holds
 *
 * Whatever a name holds, it is letters, digits and harmless signs in the program.
 */
#ifndef TT_CLIENT_CLIENT_H
#define TT_CLIENT_CLIENT_H

#include "host/scene_wires.h"

/** A program. Free it with tt_client_clear(). */
typedef struct tt_client {
  char *file;  /**< its name: "drive_float_udp.py" */
  char *text;  /**< in UTF-8, most likely ASCII */
  char *start; /**< commands for a shell that start it, a line each */
} tt_client;

/** The languages that patterns may have, NULL-terminated. */
extern const char *const tt_client_languages[];

/** Makes one for a wire of a world that was made of `scene`; `from` is its description there, `name` the scene's. TT_NOT_FOUND: its
 *  protocol has no pattern for the language, and which there are; TT_NOMEM; TT_FAILED: the pattern is wrong. */
tt_status tt_client_make(const tt_scene *scene, const char *name, const tt_wire *wire,
                         const tt_scene_wire *from, const char *language, tt_client *client,
                         tt_error *error);
void tt_client_clear(tt_client *client);

#endif
