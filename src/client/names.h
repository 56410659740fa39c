/* names.h: names of anybody's as parts of programs. */
#ifndef TT_CLIENT_NAMES_H
#define TT_CLIENT_NAMES_H

#define TT_CLIENT_NAME 80 /**< bytes, the end included */

/** What a comment or a text of a program may show of `name`: letters, digits and "_./:-"; '_' for all else. */
void tt_client_shown(const char *name, char shown[TT_CLIENT_NAME]);
/** An identifier in every language: lower case, no word of theirs. "arm.position" becomes arm_position. */
void tt_client_identifier(const char *name, char identifier[TT_CLIENT_NAME]);

#endif
