/* set.c: paths into a tree: `--set PATH=VALUE`, and the line an error's path stands on. */
#include "scene/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/** `path` begins with `name` as a whole segment; gives its size, else 0. */
static size_t match_segment(const char *path, const char *name) {
  size_t size = strlen(name);
  if (!size || strncmp(path, name, size)) return 0;
  char next = path[size];
  return !next || next == '.' || next == '[' || next == ':' ? size : 0;
}

/** The mapping behind a wire's one key, or the element itself. */
static tt_node *element_body(tt_node *element) {
  bool wire =
      element->kind == TT_NODE_MAPPING && element->child_count == 1 &&
      (element->children[0]->kind == TT_NODE_MAPPING || tt_node_empty(element->children[0]));
  return wire ? element->children[0] : element;
}

void tt_element_name(const char *path, char *name, size_t size) {
  static const char own[] = "/robot.yaml";
  size_t length = strlen(path);
  if (length > sizeof own - 1 && !strcmp(path + length - (sizeof own - 1), own))
    length -= sizeof own - 1;
  size_t start = length;
  while (start > 0 && path[start - 1] != '/') start--;
  size_t end = length;
  while (end > start && path[end - 1] != '.') end--;
  if (end <= start + 1) end = length + 1; /* no ending */
  snprintf(name, size, "%.*s", (int)(end - 1 - start), path + start);
}

/** A name of an element that a path begins with. */
typedef struct tt_match {
  size_t size; /**< bytes of the path; 0: none */
  bool own;    /**< it is what the element is called, not merely its protocol */
} tt_match;

static void offer_match(tt_match *best, const char *path, const char *name, bool own) {
  size_t size = match_segment(path, name);
  if (size > best->size || (size && size == best->size && own)) *best = (tt_match){size, own};
}

/** The longest name of this element that `path` begins with. */
static tt_match match_element(tt_node *element, const char *path) {
  const tt_node *body = element_body(element);
  const char *name = tt_node_child_text(body, "name"), *robot = tt_node_child_text(body, "robot"),
             *part = tt_node_child_text(body, "body");
  tt_match best = {0, false};
  char made[512];
  if (element->kind == TT_NODE_SCALAR && element->text)
    offer_match(&best, path, element->text, true);
  if (name) offer_match(&best, path, name, true);
  if (body != element) {
    offer_match(&best, path, body->key, !name);
    snprintf(made, sizeof made, "%s.%s", robot ? robot : "", body->key);
    if (robot) offer_match(&best, path, made, !name);
    return best;
  }
  if (part) offer_match(&best, path, part, !name);
  if (!robot) return best;
  offer_match(&best, path, robot, !name);
  tt_element_name(robot, made, sizeof made);
  offer_match(&best, path, made, !name);
  return best;
}

static tt_node *numbered_element(const tt_node *sequence, const char *path, size_t *used) {
  char *end;
  unsigned long index = strtoul(path + 1, &end, 10);
  if (end == path + 1 || *end != ']' || index >= (unsigned long)sequence->child_count) return NULL;
  *used = (size_t)(end + 1 - path);
  return element_body(sequence->children[index]);
}

tt_node *tt_node_element(const tt_node *sequence, const char *path, size_t *used, bool *ambiguous) {
  *used = 0;
  *ambiguous = false;
  if (*path == '[') return numbered_element(sequence, path, used);
  tt_node *found = NULL;
  tt_match best = {0, false};
  for (int i = 0; i < sequence->child_count; i++) {
    tt_match match = match_element(sequence->children[i], path);
    if (!match.size || match.size < best.size) continue;
    bool equal = match.size == best.size;
    if (equal && best.own && !match.own) continue;
    *ambiguous = equal && best.own == match.own;
    best = match;
    found = element_body(sequence->children[i]);
  }
  *used = best.size;
  return *ambiguous ? NULL : found;
}

/** Whether `name` leads to this element alone, as a whole. */
static bool leads_to(const tt_node *sequence, const tt_node *element, const char *name) {
  size_t used;
  bool ambiguous;
  return name && *name && tt_node_element(sequence, name, &used, &ambiguous) == element &&
         !name[used];
}

void tt_node_element_path(const tt_node *sequence, int index, char *path, size_t size) {
  tt_node *element = sequence->children[index], *body = element_body(element);
  const char *robot = tt_node_child_text(body, "robot");
  char called[256], of_protocol[512] = "";
  tt_element_name(robot ? robot : "", called, sizeof called);
  if (body != element && robot)
    snprintf(of_protocol, sizeof of_protocol, "%s.%s", robot, body->key);
  const char *names[] = {tt_node_child_text(body, "name"), body != element ? body->key : NULL,
                         of_protocol, body == element ? called : NULL,
                         tt_node_child_text(body, "body")};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (element->bare || !leads_to(sequence, body, names[i])) continue;
    snprintf(path, size, "%s", names[i]);
    return;
  }
  snprintf(path, size, "[%d]", index);
}

/* --- --set --- */

typedef struct tt_setting {
  tt_document *document;
  const char *path; /**< PATH alone; the document's */
  size_t skip;      /**< bytes of it that lead to the document */
  const char *value;
  tt_error *error;
} tt_setting;

static tt_status set_nomem(const tt_setting *setting) {
  return tt_fail(setting->error, TT_NOMEM, "out of memory");
}

/** A list or a mapping, and not an address as [::1]:5801. */
static bool is_flow(const char *value) {
  const char *port = *value == '[' ? strstr(value, "]:") : NULL;
  if (port && port[2] && !port[2 + strspn(port + 2, "0123456789")]) return false;
  return *value == '[' || *value == '{';
}

/** Replaces what `node` holds by VALUE, keeping its key. */
static tt_status assign(const tt_setting *setting, tt_node *node) {
  tt_document *value = NULL;
  if (is_flow(setting->value)) {
    char *text;
    if (asprintf(&text, "value: %s", setting->value) < 0) return set_nomem(setting);
    tt_error reason;
    tt_status status = tt_document_parse("value", text, strlen(text), &value, &reason);
    free(text);
    if (status != TT_OK) {
      return tt_fail(setting->error, TT_INVALID, "--set %s: '%s' is not YAML (%s)", setting->path,
                     setting->value, reason.text);
    }
  }
  for (int i = 0; i < node->child_count; i++) tt_node_free(node->children[i]);
  free(node->children);
  free(node->text);
  node->children = NULL;
  node->text = NULL;
  node->child_count = node->child_capacity = 0;
  node->quoted = false;
  if (value) {
    tt_node *source = value->root->children[0];
    node->kind = source->kind;
    node->children = source->children;
    node->child_count = source->child_count;
    node->child_capacity = source->child_capacity;
    source->children = NULL;
    source->child_count = 0;
    tt_document_free(value);
    return TT_OK;
  }
  node->kind = TT_NODE_SCALAR;
  node->text = strdup(setting->value);
  return node->text ? TT_OK : set_nomem(setting);
}

static void mark_origin(tt_node *node, const char *origin) {
  node->origin = origin;
  for (int i = 0; i < node->child_count; i++) mark_origin(node->children[i], origin);
}

static tt_status no_element(const tt_setting *setting, const tt_node *sequence, const char *segment,
                            bool ambiguous) {
  if (ambiguous) {
    return tt_fail(setting->error, TT_INVALID,
                   "--set %s: several elements are called that; give them names or use [0], [1], …",
                   setting->path);
  }
  char list[512] = "";
  size_t size = 0;
  for (int i = 0; i < sequence->child_count && size < sizeof list - 1; i++) {
    const tt_node *element = sequence->children[i], *body = element_body(sequence->children[i]);
    const char *name = tt_node_child_text(body, "name");
    if (!name && body != element) name = body->key;
    char base[256];
    if (!name && tt_node_child_text(body, "robot")) {
      tt_element_name(tt_node_child_text(body, "robot"), base, sizeof base);
      name = base;
    }
    if (!name) name = tt_node_child_text(body, "body");
    if (!name && element->kind == TT_NODE_SCALAR) name = element->text;
    int wrote = name ? snprintf(list + size, sizeof list - size, "%s%s", i ? ", " : "", name)
                     : snprintf(list + size, sizeof list - size, "%s[%d]", i ? ", " : "", i);
    size += (size_t)wrote;
  }
  int length =
      (int)(strrchr(segment, '.') ? strrchr(segment, '.') - segment : (long)strlen(segment));
  const bool number = length > 0 && strspn(segment, "0123456789") == (size_t)length;
  return tt_fail(setting->error, TT_INVALID,
                 "--set %s: there is no '%.*s' here; there are: %s%s%.*s%s", setting->path, length,
                 segment, *list ? list : "none", number ? "; by number it is [" : "",
                 number ? length : 0, segment, number ? "]" : "");
}

/** The child called by the next key of `*path`, made if it is missing. */
static tt_status key_step(const tt_setting *setting, tt_node *node, const char **path,
                          tt_node **next) {
  size_t size = strcspn(*path, ".[");
  if (!size)
    return tt_fail(setting->error, TT_INVALID, "--set %s: a key is missing in this path",
                   setting->path);
  if (node->kind == TT_NODE_SCALAR && tt_node_empty(node)) {
    free(node->text);
    node->text = NULL;
    node->kind = TT_NODE_MAPPING;
  }
  if (node->kind != TT_NODE_MAPPING) {
    return tt_fail(setting->error, TT_INVALID,
                   "--set %s: there are no keys in a plain value ('%s')", setting->path,
                   node->text ? node->text : "");
  }
  *next = NULL;
  for (int i = 0; i < node->child_count && !*next; i++) {
    if (!strncmp(node->children[i]->key, *path, size) && !node->children[i]->key[size])
      *next = node->children[i];
  }
  if (!*next) {
    if (node->child_count == TT_TREE_MAX_KEYS) {
      return tt_fail(setting->error, TT_INVALID, "--set %s: too many keys", setting->path);
    }
    tt_node *made = tt_document_node(setting->document, TT_NODE_SCALAR, *path, size, "", 0, 0);
    if (!made || !tt_node_append(node, made)) {
      tt_node_free(made);
      return set_nomem(setting);
    }
    made->origin = setting->path;
    *next = made;
  }
  *path += size;
  return TT_OK;
}

static tt_status set_path(const tt_setting *setting) {
  tt_node *node = setting->document->root;
  const char *path = setting->path + setting->skip;
  for (int depth = 0; *path; depth++) {
    if (depth > TT_TREE_MAX_DEPTH)
      return tt_fail(setting->error, TT_INVALID, "--set %s: too long a path", setting->path);
    if (*path == '.' && depth > 0) path++;
    if (node->kind == TT_NODE_SEQUENCE) {
      size_t used;
      bool ambiguous;
      tt_node *element = tt_node_element(node, path, &used, &ambiguous);
      if (!element) return no_element(setting, node, path, ambiguous);
      node = element;
      path += used;
      if (*path == '.' && node->kind == TT_NODE_SCALAR && !tt_node_empty(node)) {
        if (!tt_node_spell_out(setting->document, node)) return set_nomem(setting);
        node->origin = setting->path;
      }
    } else {
      TT_TRY(key_step(setting, node, &path, &node));
    }
  }
  TT_TRY(assign(setting, node));
  mark_origin(node, setting->path);
  return TT_OK;
}

tt_status tt_document_set(tt_document *document, const char *assignment, tt_error *error) {
  return tt_document_set_below(document, assignment, 0, error);
}

tt_status tt_document_set_below(tt_document *document, const char *assignment, size_t skip,
                                tt_error *error) {
  const char *equals = strchr(assignment, '=');
  if (!equals || equals == assignment) {
    return tt_fail(error, TT_USAGE,
                   "--set %s: write PATH=VALUE, for example wires.float-udp.bind=127.0.0.1:0",
                   assignment);
  }
  char **origins =
      reallocarray(document->origins, (size_t)document->origin_count + 1, sizeof *origins);
  if (origins) document->origins = origins;
  char *path = origins ? strndup(assignment, (size_t)(equals - assignment)) : NULL;
  if (!path) return tt_fail(error, TT_NOMEM, "out of memory");
  document->origins[document->origin_count++] = path;
  return set_path(&(tt_setting){document, path, skip, equals + 1, error});
}

/* --- where an error stands --- */

/** Follows `path` as far as it leads; gives the last node reached. */
static const tt_node *follow(const tt_node *node, const char *path) {
  for (;;) {
    if (*path == '.') path++;
    const tt_node *next = NULL;
    size_t used = 0;
    if (node->kind == TT_NODE_SEQUENCE) {
      bool ambiguous;
      next = tt_node_element(node, path, &used, &ambiguous);
    }
    for (int i = 0; node->kind == TT_NODE_MAPPING && i < node->child_count; i++) {
      size_t size = match_segment(path, node->children[i]->key);
      if (size) next = node->children[i], used = size;
    }
    if (!next) return node;
    node = next;
    path += used;
  }
}

void tt_document_explain(const tt_document *document, tt_error *error) {
  size_t size = strlen(document->path);
  if (strncmp(error->text, document->path, size) || strncmp(error->text + size, ": ", 2)) return;
  const char *path = error->text + size + 2;
  const tt_node *node = follow(document->root, path);
  if (node == document->root) return;
  char text[sizeof error->text];
  if (node->origin) {
    const char *what = strstr(path, ": ");
    snprintf(text, sizeof text, "--set %s: %.*s", node->origin, (int)sizeof text / 2,
             what ? what + 2 : path);
  } else {
    snprintf(text, sizeof text, "%.*s:%d: %.*s", (int)size, document->path, node->line,
             (int)sizeof text / 2, path);
  }
  memcpy(error->text, text, sizeof text);
}
