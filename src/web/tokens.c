#include "web/tokens.h"

#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TOKENS 1000
#define LONGEST_FILE (256 * 1024)
#define WORDS 3

const char *const tt_role_names[] = {"none", "watch", "drive", "administer", NULL};

void tt_token_hash(const char *text, uint8_t *hash) {
  gsize size = TT_TOKEN_HASH;
  GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(sum, (const guchar *)text, -1);
  g_checksum_get_digest(sum, hash, &size);
  g_checksum_free(sum);
}

static bool are_equal(const uint8_t *a, const uint8_t *b) {
  unsigned difference = 0;
  for (size_t i = 0; i < TT_TOKEN_HASH; i++) difference |= (unsigned)(a[i] ^ b[i]);
  return !difference;
}

const tt_token *tt_token_find(const GArray *tokens, const uint8_t *hash) {
  const tt_token *found = NULL;
  for (guint i = 0; i < tokens->len; i++) {
    const tt_token *token = &g_array_index(tokens, tt_token, i);
    if (are_equal(token->hash, hash)) found = token;
  }
  return found;
}

int tt_token_named(const GArray *tokens, const char *name) {
  for (guint i = 0; i < tokens->len; i++)
    if (!strcmp(g_array_index(tokens, tt_token, i).name, name)) return (int)i;
  return -1;
}

static bool is_name(const char *name) {
  static const char letters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_@";
  size_t size = strlen(name);
  return size > 0 && size < TT_TOKEN_NAME && strspn(name, letters) == size;
}

static void put_hex(const uint8_t *bytes, size_t size, GString *to) {
  for (size_t i = 0; i < size; i++) g_string_append_printf(to, "%02x", bytes[i]);
}

tt_status tt_token_make(const char *name, tt_role role, tt_token *token, char **secret,
                        tt_error *error) {
  uint8_t bytes[32];
  if (!is_name(name))
    return tt_fail(error, TT_INVALID,
                   "'%s' is no name of a token; give 1 to 63 letters, digits, or .-_@", name);
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
    return tt_fail(error, TT_FAILED, "the system gives no random bytes: %s", strerror(errno));
  GString *text = g_string_new(NULL);
  put_hex(bytes, sizeof bytes, text);
  *token = (tt_token){.role = role};
  g_strlcpy(token->name, name, sizeof token->name);
  tt_token_hash(text->str, token->hash);
  *secret = g_string_free(text, FALSE);
  return TT_OK;
}

/* --- files --- */

static bool read_hash(const char *text, uint8_t *hash) {
  if (strlen(text) != 2 * TT_TOKEN_HASH) return false;
  for (size_t i = 0; i < TT_TOKEN_HASH; i++) {
    int high = g_ascii_xdigit_value(text[2 * i]), low = g_ascii_xdigit_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    hash[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

static const char *read_words(char **words, GArray *tokens) {
  tt_token token = {.role = TT_ROLE_NONE};
  if (g_strv_length(words) != WORDS) return "a line is a name, a role and a hash";
  if (!is_name(words[0])) return "a name is 1 to 63 letters, digits, or .-_@";
  for (int role = TT_ROLE_WATCH; tt_role_names[role]; role++)
    if (!strcmp(words[1], tt_role_names[role])) token.role = (tt_role)role;
  if (token.role == TT_ROLE_NONE) return "a role is watch, drive or administer";
  if (!read_hash(words[2], token.hash))
    return "a hash is 64 hexadecimal digits; 'tether token new' makes them";
  if (tt_token_named(tokens, words[0]) >= 0) return "this name stands above already";
  if (tokens->len >= MOST_TOKENS) return "a file has at most 1000 tokens";
  g_strlcpy(token.name, words[0], sizeof token.name);
  g_array_append_val(tokens, token);
  return NULL;
}

/* Its words, without the empty ones that several blanks make. */
static const char *read_line(char *line, GArray *tokens) {
  char *comment = strchr(line, '#');
  if (comment) *comment = 0;
  char **all = g_strsplit_set(line, " \t\r", -1), *words[WORDS + 2] = {NULL};
  int count = 0;
  for (char **word = all; *word; word++)
    if (**word && count <= WORDS) words[count++] = *word;
  const char *why = count ? read_words(words, tokens) : NULL;
  g_strfreev(all);
  return why;
}

tt_status tt_tokens_parse(const char *text, size_t size, const char *where, GArray *tokens,
                          tt_error *error) {
  if (size > LONGEST_FILE || (size && memchr(text, 0, size)))
    return tt_fail(error, TT_INVALID, "%s: this is no file of tokens", where);
  tt_status status = TT_OK;
  char *copy = g_strndup(size ? text : "", size);
  char **lines = g_strsplit(copy, "\n", -1);
  for (int i = 0; lines[i]; i++) {
    const char *why = read_line(lines[i], tokens);
    if (why && status == TT_OK) status = tt_fail(error, TT_INVALID, "%s:%d: %s", where, i + 1, why);
  }
  g_strfreev(lines);
  g_free(copy);
  return status;
}

static tt_status check_owner(FILE *file, const char *path, tt_error *error) {
  struct stat facts;
  if (fstat(fileno(file), &facts) < 0)
    return tt_fail(error, TT_INVALID, "%s: %s", path, strerror(errno));
  if (facts.st_mode & (S_IRWXG | S_IRWXO))
    return tt_fail(error, TT_INVALID, "%s: others may use this file of tokens; chmod 600 it", path);
  if (facts.st_uid != geteuid() && facts.st_uid != 0)
    return tt_fail(error, TT_INVALID, "%s: this file of tokens belongs to another user; chown it",
                   path);
  return TT_OK;
}

tt_status tt_tokens_read(const char *path, GArray *tokens, tt_error *error) {
  FILE *file;
  TT_TRY(tt_file_open(path, &file, error));
  tt_status status = check_owner(file, path, error);
  if (status == TT_OK) {
    tt_bytes text;
    status = tt_file_read_rest(file, path, LONGEST_FILE, &text, error);
    if (status == TT_OK)
      status = tt_tokens_parse((const char *)text.data, text.size, path, tokens, error);
    tt_bytes_free(&text);
  }
  fclose(file);
  return status;
}

tt_status tt_tokens_write(const char *path, const GArray *tokens, tt_error *error) {
  GString *text = g_string_new("# name role SHA-256; tether token changes this file\n");
  for (guint i = 0; i < tokens->len; i++) {
    const tt_token *token = &g_array_index(tokens, tt_token, i);
    g_string_append_printf(text, "%s %s ", token->name, tt_role_names[token->role]);
    put_hex(token->hash, TT_TOKEN_HASH, text);
    g_string_append_c(text, '\n');
  }
  GError *reason = NULL;
  tt_status status = TT_OK;
  chmod(path, 0600);  // of a file that is there GLib 2.84 keeps the mode
  if (!g_file_set_contents_full(path, text->str, (gssize)text->len,
                                G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600,
                                &reason)) {
    status = tt_fail(error, TT_FAILED, "%s: %s", path, reason->message);
    g_error_free(reason);
  }
  g_string_free(text, TRUE);
  return status;
}
