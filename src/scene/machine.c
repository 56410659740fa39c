#include "scene/machine.h"

#include "base/file.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const tt_machine_sections[] = {"record", "telemetry", "web", "nt4", "foxglove", NULL};

tt_status tt_machine_check(const char *sections, bool *denied, tt_error *error) {
  *denied = *sections;
  if (!*denied) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "sections that concern the machine (%s) need the role administer; yours may "
                 "drive: take them out",
                 sections);
}

const char *tt_machine_list(const tt_document *document, tt_pool *pool) {
  const char *found = "";
  for (const char *const *key = tt_machine_sections; *key && found; key++) {
    const tt_node *section = tt_node_child(document->root, *key);
    if (!section || (section->kind == TT_NODE_SCALAR && tt_node_empty(section))) continue;
    found = tt_pool_print(pool, "%s%s%s", found, *found ? ", " : "", *key);
  }
  return found;
}

tt_status tt_machine_check_file(const char *path, bool *denied, tt_error *error) {
  tt_document *document;
  tt_pool pool = {0};
  *denied = false;
  TT_TRY(tt_document_load(path, &document, error));
  const char *found = tt_machine_list(document, &pool);
  tt_status status =
      found ? tt_machine_check(found, denied, error) : tt_fail(error, TT_NOMEM, "out of memory");
  tt_pool_free(&pool);
  tt_document_free(document);
  return status;
}

/* A key `token` with a value. Whoever types may have put it anywhere. */
static bool has_token(const tt_node *node) {
  for (int i = 0; i < node->child_count; i++) {
    const tt_node *child = node->children[i];
    const bool scalar = child->kind == TT_NODE_SCALAR;
    if (child->key && strcmp(child->key, "token") == 0 &&
        (scalar ? *child->text : child->child_count))
      return true;
    if (!scalar && has_token(child)) return true;
  }
  return false;
}

/* What goes on as `rest` behind the word makes another of it. In a text that is not whole "tokens3cret" may be a key and its value. */
static bool is_another_word(const char *rest, size_t size, bool whole) {
  static const char ends[] = " \t\r\n:,.;!?'\"`()[]{}";
  if (!size || whole) return size && isalpha((unsigned char)*rest);
  return tolower((unsigned char)*rest) == 's' && (size == 1 || memchr(ends, rest[1], strlen(ends)));
}

bool tt_machine_has_word(const char *text, size_t size, bool whole) {
  static const char word[] = "token";
  const size_t length = strlen(word);
  for (size_t i = 0; i + length <= size; i++) {
    if (strncasecmp(text + i, word, length) != 0) continue;
    if (!is_another_word(text + i + length, size - i - length, whole)) return true;
  }
  return false;
}

tt_status tt_machine_check_secrets(const char *text, size_t size, bool *denied, tt_error *error) {
  tt_document *document;
  /* In UTF-16 and UTF-32 no word is found by its bytes. */
  *denied = memchr(text, 0, size);
  if (*denied)
    return tt_fail(
        error, TT_INVALID,
        "the file is no UTF-8 text, so it needs the role administer, since it may have a "
        "token; save it as UTF-8");
  const bool parsed = tt_document_parse("scene", text, size, &document, NULL) == TT_OK;
  const bool key = parsed && has_token(document->root);
  if (parsed) tt_document_free(document);
  *denied = key || tt_machine_has_word(text, size, parsed);
  if (!*denied) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 key ? "the scene has a token (web.token), which needs the role administer; a file "
                       "of tokens (web.tokens) keeps none"
                     : "the file has the word token: it needs the role administer, since it may "
                       "have one; write another word, or have who administers take it out");
}

const char tt_machine_withheld[] =
    "what is wrong here needs the role administer to be read, since the file may have a token";

/* How much of `text` says where, "FILE:LINE:". */
static size_t place_size(const char *text, const char *path) {
  const size_t file = strlen(path);
  if (strncmp(text, path, file) != 0 || text[file] != ':') return 0;
  const size_t digits = strspn(text + file + 1, "0123456789");
  const size_t size = file + 1 + digits;
  return digits && text[size] == ':' ? size + 1 : 0;
}

/* The place is no secret. */
static void withhold(const char *path, tt_error *error) {
  const int place = (int)place_size(error->text, path);
  tt_error whole = *error;
  tt_fail(error, TT_INVALID, "%.*s%s%s", place, whole.text, place ? " " : "", tt_machine_withheld);
}

void tt_machine_withhold(const char *path, tt_error *error) {
  FILE *file;
  tt_bytes text;
  bool denied = false;
  if (tt_file_open(path, &file, NULL) != TT_OK) return;
  const bool known = tt_file_read_rest(file, path, TT_TREE_MAX_FILE, &text, NULL) == TT_OK;
  fclose(file);
  if (known) tt_machine_check_secrets((const char *)text.data, text.size, &denied, NULL);
  if (!known || denied) withhold(path, error);
  tt_bytes_free(&text);
}

bool tt_setting_is_of_machine(const char *setting) {
  const size_t size = strcspn(setting, ".[="); /* web.token=x, web={token: x} */
  for (const char *const *key = tt_machine_sections; *key; key++)
    if (strlen(*key) == size && strncmp(setting, *key, size) == 0) return true;
  return false;
}
