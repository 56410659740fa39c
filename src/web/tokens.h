/* tokens.h: who may do what: roles, and files of tokens, of which only hashes are kept.
 *
 * A line of such a file is a name, a role and the SHA-256 of a token in hexadecimal; '#' begins a comment. A token is 256 random
 * bits, so that its hash need not be slow.
 */
#ifndef TT_WEB_TOKENS_H
#define TT_WEB_TOKENS_H

#include "base/status.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** What somebody may do; each may also do what those before it may. */
typedef enum tt_role {
  TT_ROLE_NONE,
  TT_ROLE_WATCH,      /**< reads pages, tables and what is live */
  TT_ROLE_DRIVE,      /**< also commands robots, starts, resets, notes trials, sends telemetry */
  TT_ROLE_ADMINISTER, /**< everything: also names, handling, removal */
} tt_role;
/** "none", "watch", "drive", "administer", NULL. */
extern const char *const tt_role_names[];

#define TT_TOKEN_HASH 32
/** Of a token's name, with the 0 at its end. */
#define TT_TOKEN_NAME 64

/** One line of a file. Plain data. */
typedef struct tt_token {
  char name[TT_TOKEN_NAME];
  tt_role role;
  uint8_t hash[TT_TOKEN_HASH];
} tt_token;

/** SHA-256 of a text. */
void tt_token_hash(const char *text, uint8_t *hash);
/** The token of this hash among `tokens` (tt_token), or NULL. Takes as long wherever it stands. */
const tt_token *tt_token_find(const GArray *tokens, const uint8_t *hash);
/** Its index by name, or −1. */
int tt_token_named(const GArray *tokens, const char *name);
/** Makes a token of the role: `secret` is its text, to be g_free()d, which nothing keeps. TT_INVALID: a name is 1 to 63 letters, digits,
 *  '.', '-', '_', '@'. */
tt_status tt_token_make(const char *name, tt_role role, tt_token *token, char **secret,
                        tt_error *error);

/** Appends the tokens of a file's text to `tokens`. TT_INVALID: "WHERE:LINE: why" of the first line that is wrong; all
 *  others are appended. */
tt_status tt_tokens_parse(const char *text, size_t size, const char *where, GArray *tokens,
                          tt_error *error);
/** The same of a file, which must be its owner's alone (0600), and ours or root's. TT_INVALID also where it isn't; nothing
 *  is appended then. */
tt_status tt_tokens_read(const char *path, GArray *tokens, tt_error *error);
/** Replaces a file by these tokens, whole or not at all, readable for its owner alone. TT_FAILED. */
tt_status tt_tokens_write(const char *path, const GArray *tokens, tt_error *error);

#endif
