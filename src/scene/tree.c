/* tree.c: parsing YAML into a tree, within limits. */
#include "scene/tree.h"

#include "base/file.h"
#include "scene/yaml_trouble.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

void tt_node_free(tt_node *node) {
  if (!node) return;
  for (int i = 0; i < node->child_count; i++) tt_node_free(node->children[i]);
  free(node->children);
  free(node->key);
  free(node->text);
  free(node);
}

tt_node *tt_document_node(tt_document *document, tt_node_kind kind, const char *key,
                          size_t key_size, const char *text, size_t text_size, int line) {
  tt_node *node = calloc(1, sizeof *node);
  if (!node) return NULL;
  node->kind = kind;
  node->line = line;
  if (key) node->key = strndup(key, key_size);
  if (text) node->text = strndup(text, text_size);
  if ((key && !node->key) || (text && !node->text)) {
    tt_node_free(node);
    return NULL;
  }
  document->node_count++;
  document->text_size += key_size + text_size;
  return node;
}

bool tt_node_append(tt_node *parent, tt_node *child) {
  if (parent->child_count == parent->child_capacity) {
    int capacity = parent->child_capacity ? 2 * parent->child_capacity : 4;
    tt_node **children = reallocarray(parent->children, (size_t)capacity, sizeof *children);
    if (!children) return false;
    parent->children = children;
    parent->child_capacity = capacity;
  }
  parent->children[parent->child_count++] = child;
  return true;
}

tt_node *tt_node_child(const tt_node *mapping, const char *key) {
  if (mapping->kind != TT_NODE_MAPPING) return NULL;
  for (int i = 0; i < mapping->child_count; i++) {
    if (!strcmp(mapping->children[i]->key, key)) return mapping->children[i];
  }
  return NULL;
}

const char *tt_node_child_text(const tt_node *mapping, const char *key) {
  const tt_node *child = tt_node_child(mapping, key);
  return child && child->kind == TT_NODE_SCALAR ? child->text : NULL;
}

bool tt_node_spell_out(tt_document *document, tt_node *node) {
  tt_node *name = tt_document_node(document, TT_NODE_SCALAR, "name", 4, node->text,
                                   strlen(node->text), node->line);
  if (!name || !tt_node_append(node, name)) {
    tt_node_free(name);
    return false;
  }
  name->origin = node->origin;
  name->quoted = node->quoted;
  free(node->text);
  node->text = NULL;
  node->kind = TT_NODE_MAPPING;
  return true;
}

bool tt_node_empty(const tt_node *node) {
  if (node->kind != TT_NODE_SCALAR || node->quoted) return false;
  return !*node->text || !strcmp(node->text, "~") || !strcmp(node->text, "null");
}

/* --- parsing --- */

/** An anchor and the finished node it names. A node that is still open has none, so no cycle can arise. */
typedef struct tt_anchor {
  char *name;
  const tt_node *node;
} tt_anchor;

typedef struct tt_reader {
  yaml_parser_t parser;
  const char *text;
  size_t size;
  tt_document *document;
  tt_anchor anchors[TT_TREE_MAX_ANCHORS];
  int anchor_count;
  tt_error *error;
} tt_reader;

static tt_status fail_at(tt_reader *reader, size_t line, const char *what) {
  return tt_fail(reader->error, TT_INVALID, "%s:%zu: %s", reader->document->path, line + 1, what);
}

static tt_status next_event(tt_reader *reader, yaml_event_t *event) {
  if (yaml_parser_parse(&reader->parser, event)) return TT_OK;
  return tt_yaml_trouble(&reader->parser, reader->document->path, reader->text, reader->size,
                         reader->error);
}

static tt_status check_budget(tt_reader *reader, size_t line) {
  if (reader->document->node_count > TT_TREE_MAX_NODES) {
    return fail_at(reader, line,
                   "too many values (at most 20000, aliases included); split the file");
  }
  if (reader->document->text_size > TT_TREE_MAX_TEXT) {
    return fail_at(reader, line, "too much text (at most 1 MiB, aliases included); split the file");
  }
  return TT_OK;
}

static tt_status remember_anchor(tt_reader *reader, const yaml_char_t *anchor, const tt_node *node,
                                 size_t line) {
  if (!anchor) return TT_OK;
  if (reader->anchor_count == TT_TREE_MAX_ANCHORS)
    return fail_at(reader, line, "too many anchors (at most 256)");
  char *name = strdup((const char *)anchor);
  if (!name) return tt_fail(reader->error, TT_NOMEM, "out of memory");
  reader->anchors[reader->anchor_count++] = (tt_anchor){name, node};
  return TT_OK;
}

static tt_status read_node(tt_reader *reader, const yaml_event_t *event, const tt_node *key,
                           int depth, tt_node **node);

/** A deep copy of what an alias names, paid for from the document's budget. */
static tt_status copy_node(tt_reader *reader, const tt_node *source, const tt_node *key, int depth,
                           size_t line, tt_node **copy) {
  *copy = NULL;
  if (depth > TT_TREE_MAX_DEPTH)
    return fail_at(reader, line, "nested too deeply (at most 24 levels)");
  const char *name = key ? key->text : source->key;
  tt_node *node =
      tt_document_node(reader->document, source->kind, name, name ? strlen(name) : 0, source->text,
                       source->text ? strlen(source->text) : 0, (int)line + 1);
  if (!node) return tt_fail(reader->error, TT_NOMEM, "out of memory");
  node->quoted = source->quoted;
  tt_status status = check_budget(reader, line);
  for (int i = 0; status == TT_OK && i < source->child_count; i++) {
    tt_node *child;
    status = copy_node(reader, source->children[i], NULL, depth + 1, line, &child);
    if (status == TT_OK && !tt_node_append(node, child)) {
      tt_node_free(child);
      status = tt_fail(reader->error, TT_NOMEM, "out of memory");
    }
  }
  if (status != TT_OK) {
    tt_node_free(node);
    return status;
  }
  *copy = node;
  return TT_OK;
}

static tt_status read_alias(tt_reader *reader, const yaml_event_t *event, const tt_node *key,
                            int depth, tt_node **node) {
  for (int i = reader->anchor_count - 1; i >= 0; i--) {
    if (!strcmp(reader->anchors[i].name, (const char *)event->data.alias.anchor)) {
      return copy_node(reader, reader->anchors[i].node, key, depth, event->start_mark.line, node);
    }
  }
  return fail_at(reader, event->start_mark.line,
                 "this alias names no anchor that stands before it");
}

static tt_status read_sequence(tt_reader *reader, tt_node *sequence, int depth) {
  for (;;) {
    yaml_event_t event;
    TT_TRY(next_event(reader, &event));
    if (event.type == YAML_SEQUENCE_END_EVENT) {
      yaml_event_delete(&event);
      return TT_OK;
    }
    tt_node *child = NULL;
    tt_status status = read_node(reader, &event, NULL, depth + 1, &child);
    yaml_event_delete(&event);
    TT_TRY(status);
    if (!tt_node_append(sequence, child)) {
      tt_node_free(child);
      return tt_fail(reader->error, TT_NOMEM, "out of memory");
    }
  }
}

/** One key and its value. */
static tt_status read_pair(tt_reader *reader, tt_node *mapping, const yaml_event_t *key_event,
                           int depth) {
  if (key_event->type != YAML_SCALAR_EVENT) {
    return fail_at(reader, key_event->start_mark.line, "a key must be plain text");
  }
  if (key_event->data.scalar.anchor) {
    return fail_at(reader, key_event->start_mark.line,
                   "a key can't have an anchor; put it before the value");
  }
  if (mapping->child_count == TT_TREE_MAX_KEYS) {
    return fail_at(reader, key_event->start_mark.line,
                   "too many keys in one mapping (at most 1000)");
  }
  tt_node *key = NULL;
  TT_TRY(read_node(reader, key_event, NULL, depth + 1, &key));
  yaml_event_t event;
  tt_status status = next_event(reader, &event);
  if (status == TT_OK) {
    tt_node *value = NULL;
    if (tt_node_child(mapping, key->text)) {
      status =
          tt_fail(reader->error, TT_INVALID, "%s:%d: the key '%.*s' stands here twice; remove one",
                  reader->document->path, key->line, tt_yaml_shown(key->text, strlen(key->text)),
                  key->text);
    }
    if (status == TT_OK) status = read_node(reader, &event, key, depth + 1, &value);
    yaml_event_delete(&event);
    if (status == TT_OK && !tt_node_append(mapping, value)) {
      tt_node_free(value);
      status = tt_fail(reader->error, TT_NOMEM, "out of memory");
    }
  }
  tt_node_free(key);
  return status;
}

static tt_status read_mapping(tt_reader *reader, tt_node *mapping, int depth) {
  for (;;) {
    yaml_event_t event;
    TT_TRY(next_event(reader, &event));
    bool end = event.type == YAML_MAPPING_END_EVENT;
    tt_status status = end ? TT_OK : read_pair(reader, mapping, &event, depth);
    yaml_event_delete(&event);
    if (end || status != TT_OK) return status;
  }
}

static tt_status read_scalar(tt_reader *reader, const yaml_event_t *event, const tt_node *key,
                             int line, tt_node **node) {
  const char *text = (const char *)event->data.scalar.value;
  size_t size = event->data.scalar.length;
  if (memchr(text, 0, size))
    return fail_at(reader, event->start_mark.line, "text must not hold a NUL character");
  *node = tt_document_node(reader->document, TT_NODE_SCALAR, key ? key->text : NULL,
                           key ? strlen(key->text) : 0, text, size, line);
  if (!*node) return tt_fail(reader->error, TT_NOMEM, "out of memory");
  (*node)->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  return remember_anchor(reader, event->data.scalar.anchor, *node, event->start_mark.line);
}

static tt_status read_collection(tt_reader *reader, const yaml_event_t *event, const tt_node *key,
                                 int line, int depth, tt_node **node) {
  bool mapping = event->type == YAML_MAPPING_START_EVENT;
  *node = tt_document_node(reader->document, mapping ? TT_NODE_MAPPING : TT_NODE_SEQUENCE,
                           key ? key->text : NULL, key ? strlen(key->text) : 0, NULL, 0, line);
  if (!*node) return tt_fail(reader->error, TT_NOMEM, "out of memory");
  TT_TRY(mapping ? read_mapping(reader, *node, depth) : read_sequence(reader, *node, depth));
  const yaml_char_t *anchor =
      mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
  return remember_anchor(reader, anchor, *node, event->start_mark.line);
}

/** Builds the node that `event` begins; on failure nothing is left behind. */
static tt_status read_node(tt_reader *reader, const yaml_event_t *event, const tt_node *key,
                           int depth, tt_node **node) {
  *node = NULL;
  if (depth > TT_TREE_MAX_DEPTH)
    return fail_at(reader, event->start_mark.line, "nested too deeply (at most 24 levels)");
  int line = key ? key->line : (int)event->start_mark.line + 1;
  tt_status status = check_budget(reader, event->start_mark.line);
  if (status == TT_OK) {
    if (event->type == YAML_ALIAS_EVENT) {
      status = read_alias(reader, event, key, depth, node);
    } else if (event->type == YAML_SCALAR_EVENT) {
      status = read_scalar(reader, event, key, line, node);
    } else {
      status = read_collection(reader, event, key, line, depth, node);
    }
  }
  if (status != TT_OK) {
    tt_node_free(*node);
    *node = NULL;
  }
  return status;
}

/** Takes the stream's and the document's own events around the one node we want. */
static tt_status read_stream(tt_reader *reader) {
  for (;;) {
    yaml_event_t event;
    TT_TRY(next_event(reader, &event));
    yaml_event_type_t type = event.type;
    tt_status status = TT_OK;
    if (type == YAML_DOCUMENT_START_EVENT && reader->document->root) {
      status =
          fail_at(reader, event.start_mark.line, "a second document begins here; a file holds one");
    } else if (type != YAML_STREAM_START_EVENT && type != YAML_STREAM_END_EVENT &&
               type != YAML_DOCUMENT_START_EVENT && type != YAML_DOCUMENT_END_EVENT) {
      status = read_node(reader, &event, NULL, 0, &reader->document->root);
    }
    yaml_event_delete(&event);
    if (status != TT_OK || type == YAML_STREAM_END_EVENT) return status;
  }
}

/** Editors on Windows put it before UTF-8; libyaml would count it as a column of the first line. */
static size_t byte_order_mark(const char *text, size_t size) {
  static const char mark[] = "\xEF\xBB\xBF";
  return size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
}

static tt_status parse_into(tt_document *document, const char *text, size_t size, tt_error *error) {
  const size_t skipped = byte_order_mark(text, size);
  tt_reader *reader = calloc(1, sizeof *reader);
  if (!reader || !yaml_parser_initialize(&reader->parser)) {
    free(reader);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  reader->text = text += skipped;
  reader->size = size -= skipped;
  reader->document = document;
  reader->error = error;
  yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&reader->parser, (const unsigned char *)text, size);
  tt_status status = read_stream(reader);
  for (int i = 0; i < reader->anchor_count; i++) free(reader->anchors[i].name);
  yaml_parser_delete(&reader->parser);
  free(reader);
  return status;
}

tt_status tt_document_parse(const char *path, const char *text, size_t size, tt_document **document,
                            tt_error *error) {
  *document = NULL;
  if (size > TT_TREE_MAX_FILE)
    return tt_fail(error, TT_INVALID, "%s: larger than 256 KiB; split the file", path);
  tt_document *made = calloc(1, sizeof *made);
  if (!made || !(made->path = strdup(path))) {
    free(made);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  tt_status status = tt_yaml_check_marks(path, text, size, error);
  if (status == TT_OK) status = parse_into(made, text, size, error);
  if (status == TT_OK && (!made->root || tt_node_empty(made->root))) {
    status = tt_fail(error, TT_INVALID,
                     "%s: the file is empty; write keys into it, a line each (key: value)", path);
  } else if (status == TT_OK && made->root->kind != TT_NODE_MAPPING) {
    bool tight = made->root->kind == TT_NODE_SCALAR && strchr(made->root->text, ':');
    status = tt_fail(error, TT_INVALID, "%s:%d: the file must hold keys with values (key: value)%s",
                     path, made->root->line, tight ? "; a space belongs behind the ':'" : "");
  }
  if (status != TT_OK) {
    tt_document_free(made);
    return status;
  }
  *document = made;
  return TT_OK;
}

tt_status tt_document_load(const char *path, tt_document **document, tt_error *error) {
  *document = NULL;
  tt_bytes text;
  TT_TRY(tt_file_read(path, TT_TREE_MAX_FILE, &text, error));
  tt_status status = tt_document_parse(path, (const char *)text.data, text.size, document, error);
  tt_bytes_free(&text);
  return status;
}

void tt_document_free(tt_document *document) {
  if (!document) return;
  tt_node_free(document->root);
  for (int i = 0; i < document->origin_count; i++) free(document->origins[i]);
  free(document->origins);
  free(document->path);
  free(document);
}
