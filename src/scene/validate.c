/* validate.c: compares a tree with a libcyaml schema, then lets libcyaml fill the structs.
 *
 * libcyaml refuses most of what is refused here, but it lets `nan` and `1e999` through, takes any word for true,
 * and can't say what was meant. So this walk comes first and gives the messages; libcyaml then can't fail.
 */
#include "scene/tree.h"
#include "base/nearest.h"
#include "scene/yaml_trouble.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

/** Where the walk is: the path so far, for messages. */
typedef struct tt_walk {
  tt_document *document;
  char path[512];
  tt_error *error;
} tt_walk;

static _Thread_local tt_problem_listener *listening;

void tt_problems_listen(tt_problem_listener *listener) { listening = listener; }

/** Begins a message with its place. */
static tt_status fail_node(const tt_walk *walk, const tt_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static tt_status fail_node(const tt_walk *walk, const tt_node *node, const char *format, ...) {
  char what[768];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  if (node->origin)
    tt_fail(walk->error, TT_INVALID, "--set %s: %s", node->origin, what);
  else
    tt_fail(walk->error, TT_INVALID, "%s:%d: %s%s%s", walk->document->path, node->line, walk->path,
            *walk->path ? ": " : "", what);
  if (listening) listening->hear(listening, walk->error->text);
  return TT_INVALID;
}

/** Where somebody hears of all that is wrong, the walk goes on behind what is; `*all` remembers it. False: it ends here. */
static bool goes_on(tt_status status, tt_status *all) {
  if (status != TT_OK) *all = status;
  return status == TT_OK || (listening && status == TT_INVALID);
}

static size_t path_push_key(tt_walk *walk, const char *key) {
  size_t size = strlen(walk->path);
  snprintf(walk->path + size, sizeof walk->path - size, "%s%s", size ? "." : "", key);
  return size;
}

static size_t path_push_index(tt_walk *walk, int index) {
  size_t size = strlen(walk->path);
  snprintf(walk->path + size, sizeof walk->path - size, "[%d]", index);
  return size;
}

static const char *kind_name(const tt_node *node) {
  switch (node->kind) {
    case TT_NODE_SCALAR: return "a plain value";
    case TT_NODE_SEQUENCE: return "a list";
    case TT_NODE_MAPPING: return "a mapping";
  }
  return "something else";
}

/* --- scalars --- */

static tt_status check_integer(const tt_walk *walk, const tt_node *node,
                               const cyaml_schema_value_t *schema) {
  bool is_unsigned = schema->type == CYAML_UINT;
  unsigned bits = 8 * schema->data_size;
  char *end;
  errno = 0;
  bool fits;
  if (is_unsigned) {
    unsigned long long value = strtoull(node->text, &end, 0);
    fits = !errno && node->text[0] != '-' && (bits >= 64 || value >> bits == 0);
  } else {
    long long value = strtoll(node->text, &end, 0);
    fits = !errno && (bits >= 64 || (value >= -(1LL << (bits - 1)) && value < 1LL << (bits - 1)));
  }
  if (end == node->text || *end) {
    return fail_node(walk, node, "'%.80s' is not a whole number", node->text);
  }
  if (fits) return TT_OK;
  return fail_node(walk, node, "%.80s is out of range; give a%s number of at most %u bits",
                   node->text, is_unsigned ? " whole, not negative" : " whole",
                   is_unsigned ? bits : bits - 1);
}

static tt_status check_float(const tt_walk *walk, const tt_node *node) {
  char *end;
  double value = strtod(node->text, &end);
  if (end == node->text || *end)
    return fail_node(walk, node, "'%.80s' is not a number", node->text);
  if (!isfinite(value)) return fail_node(walk, node, "'%.80s' is not a finite number", node->text);
  return TT_OK;
}

static tt_status check_bool(const tt_walk *walk, const tt_node *node) {
  static const char *const words[] = {"on", "off", "true", "false", "yes", "no"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (!strcasecmp(node->text, words[i])) return TT_OK;
  }
  return fail_node(walk, node, "'%.80s' is neither on nor off", node->text);
}

static tt_status check_enum(const tt_walk *walk, const tt_node *node,
                            const cyaml_schema_value_t *schema) {
  char list[256] = "";
  size_t size = 0;
  for (uint32_t i = 0; i < schema->enumeration.count; i++) {
    const char *word = schema->enumeration.strings[i].str;
    if (!strcmp(node->text, word)) return TT_OK;
    if (size < sizeof list)
      size += (size_t)snprintf(list + size, sizeof list - size, "%s%s", i ? ", " : "", word);
  }
  return fail_node(walk, node, "'%.80s' is not one of %s", node->text, list);
}

static tt_status check_string(const tt_walk *walk, const tt_node *node,
                              const cyaml_schema_value_t *schema) {
  size_t size = strlen(node->text);
  if (size > schema->string.max) {
    return fail_node(walk, node, "the text is too long (%zu bytes; at most %" PRIu32 ")", size,
                     schema->string.max);
  }
  if (size < schema->string.min) return fail_node(walk, node, "the text is too short");
  return TT_OK;
}

static tt_status check_scalar(const tt_walk *walk, const tt_node *node,
                              const cyaml_schema_value_t *schema, const char *wanted) {
  if (node->kind != TT_NODE_SCALAR) {
    return fail_node(walk, node, "expected %s, found %s", wanted, kind_name(node));
  }
  switch (schema->type) {
    case CYAML_INT:
    case CYAML_UINT: return check_integer(walk, node, schema);
    case CYAML_FLOAT: return check_float(walk, node);
    case CYAML_BOOL: return check_bool(walk, node);
    case CYAML_ENUM: return check_enum(walk, node, schema);
    default: return check_string(walk, node, schema);
  }
}

/* --- collections --- */

static tt_status check_node(tt_walk *walk, tt_node *node, const cyaml_schema_value_t *schema);

static const cyaml_schema_field_t *find_field(const cyaml_schema_field_t *fields, const char *key) {
  for (const cyaml_schema_field_t *field = fields; field->key; field++) {
    if (!strcmp(field->key, key)) return field;
  }
  return NULL;
}

static tt_status unknown_key(const tt_walk *walk, const tt_node *node,
                             const cyaml_schema_field_t *fields) {
  tt_nearest nearest = tt_nearest_start(node->key);
  char list[512] = "";
  size_t size = 0;
  for (const cyaml_schema_field_t *field = fields; field->key; field++) {
    tt_nearest_offer(&nearest, field->key);
    if (size < sizeof list) {
      size +=
          (size_t)snprintf(list + size, sizeof list - size, "%s%s", size ? ", " : "", field->key);
    }
  }
  const int length = tt_yaml_shown(node->key, 80);
  if (node->key[length] == ':' && tt_node_empty(node))
    return fail_node(walk, node, "in '%.*s:' a space is missing behind the ':'", length, node->key);
  const char *more = node->key[length] ? " …" : "";
  if (isdigit((unsigned char)node->key[0]) && tt_node_empty(node)) /* x: 1,5 m between braces */
    return fail_node(walk, node,
                     "unknown key '%.*s%s'; if it is the end of a number, write that with a point: "
                     "1.5",
                     length, node->key, more);
  if (nearest.best)
    return fail_node(walk, node, "unknown key '%.*s%s'; did you mean '%s'?", length, node->key,
                     more, nearest.best);
  return fail_node(walk, node, "unknown key '%.*s%s'; the keys here are: %s", length, node->key,
                   more, list);
}

/** Removes keys that were left empty: nothing is the same as not there. */
static void drop_empty(tt_node *mapping, const cyaml_schema_field_t *fields) {
  int kept = 0;
  for (int i = 0; i < mapping->child_count; i++) {
    tt_node *child = mapping->children[i];
    const cyaml_schema_field_t *field = find_field(fields, child->key);
    bool collection = field && field->value.type == CYAML_MAPPING;
    if (field && !collection && tt_node_empty(child)) {
      tt_node_free(child);
    } else {
      mapping->children[kept++] = child;
    }
  }
  mapping->child_count = kept;
}

static tt_status check_child(tt_walk *walk, tt_node *child, const cyaml_schema_field_t *fields) {
  const cyaml_schema_field_t *field = find_field(fields, child->key);
  if (!field) return unknown_key(walk, child, fields);
  size_t size = path_push_key(walk, child->key);
  tt_status status = check_node(walk, child, &field->value);
  walk->path[size] = 0;
  return status;
}

static tt_status check_mapping(tt_walk *walk, tt_node *node, const cyaml_schema_value_t *schema) {
  const cyaml_schema_field_t *fields = schema->mapping.fields;
  tt_status all = TT_OK;
  drop_empty(node, fields);
  for (int i = 0; i < node->child_count; i++)
    if (!goes_on(check_child(walk, node->children[i], fields), &all)) return all;
  for (const cyaml_schema_field_t *field = fields; field->key; field++) {
    if ((field->value.flags & CYAML_FLAG_OPTIONAL) || tt_node_child(node, field->key)) continue;
    if (!goes_on(fail_node(walk, node, "the key '%s' is missing", field->key), &all)) return all;
  }
  return all;
}

static tt_status check_sequence(tt_walk *walk, tt_node *node, const cyaml_schema_value_t *schema) {
  if (node->kind != TT_NODE_SEQUENCE) {
    return fail_node(walk, node, "expected a list (lines beginning with '- '), found %s",
                     kind_name(node));
  }
  unsigned count = (unsigned)node->child_count;
  if (count > schema->sequence.max) {
    return fail_node(walk, node, "%u elements are too many (at most %" PRIu32 ")", count,
                     schema->sequence.max);
  }
  if (count < schema->sequence.min) {
    return fail_node(walk, node, "%u elements are too few (at least %" PRIu32 ")", count,
                     schema->sequence.min);
  }
  tt_status all = TT_OK;
  for (int i = 0; i < node->child_count; i++) {
    size_t size = path_push_index(walk, i);
    tt_status status = check_node(walk, node->children[i], schema->sequence.entry);
    walk->path[size] = 0;
    if (!goes_on(status, &all)) return all;
  }
  return all;
}

/** Makes a mapping of what stands for one: nothing for {}, a bare x for {name: x}. */
static tt_status shorthand(tt_walk *walk, tt_node *node, const cyaml_schema_value_t *schema) {
  if (node->kind != TT_NODE_SCALAR) return TT_OK;
  bool empty = tt_node_empty(node);
  if (!empty && !find_field(schema->mapping.fields, "name")) return TT_OK;
  node->bare = !empty;
  if (!empty)
    return tt_node_spell_out(walk->document, node)
               ? TT_OK
               : tt_fail(walk->error, TT_NOMEM, "out of memory");
  free(node->text);
  node->text = NULL;
  node->kind = TT_NODE_MAPPING;
  return TT_OK;
}

static tt_status check_node(tt_walk *walk, tt_node *node, const cyaml_schema_value_t *schema) {
  switch (schema->type) {
    case CYAML_MAPPING:
      TT_TRY(shorthand(walk, node, schema));
      if (node->kind != TT_NODE_MAPPING) {
        return fail_node(walk, node, "expected keys with values, found %s", kind_name(node));
      }
      return check_mapping(walk, node, schema);
    case CYAML_SEQUENCE:
    case CYAML_SEQUENCE_FIXED: return check_sequence(walk, node, schema);
    case CYAML_INT:
    case CYAML_UINT: return check_scalar(walk, node, schema, "a whole number");
    case CYAML_FLOAT: return check_scalar(walk, node, schema, "a number");
    case CYAML_BOOL: return check_scalar(walk, node, schema, "on or off");
    case CYAML_IGNORE: return TT_OK;
    default: return check_scalar(walk, node, schema, "text");
  }
}

tt_status tt_document_validate(tt_document *document, const cyaml_schema_value_t *schema,
                               tt_error *error) {
  tt_walk walk = {.document = document, .error = error};
  return check_node(&walk, document->root, schema);
}

/* --- handing the tree to libcyaml --- */

/** Growing text that the emitter writes. */
typedef struct tt_buffer {
  char *text;
  size_t size, capacity;
} tt_buffer;

static int buffer_write(void *context, unsigned char *bytes, size_t size) {
  tt_buffer *buffer = context;
  if (buffer->size + size > buffer->capacity) {
    size_t capacity = 2 * (buffer->size + size);
    char *text = realloc(buffer->text, capacity);
    if (!text) return 0;
    buffer->text = text;
    buffer->capacity = capacity;
  }
  memcpy(buffer->text + buffer->size, bytes, size);
  buffer->size += size;
  return 1;
}

static bool emit_scalar(yaml_emitter_t *emitter, const char *text, bool quoted) {
  yaml_event_t event;
  yaml_scalar_style_t style = quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE;
  return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                      (int)strlen(text), 1, 1, style) &&
         yaml_emitter_emit(emitter, &event);
}

static bool emit_node(yaml_emitter_t *emitter, const tt_node *node) {
  if (node->kind == TT_NODE_SCALAR) return emit_scalar(emitter, node->text, node->quoted);
  bool mapping = node->kind == TT_NODE_MAPPING;
  yaml_event_t event;
  int ready =
      mapping
          ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_FLOW_MAPPING_STYLE)
          : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_FLOW_SEQUENCE_STYLE);
  if (!ready || !yaml_emitter_emit(emitter, &event)) return false;
  for (int i = 0; i < node->child_count; i++) {
    const tt_node *child = node->children[i];
    if (mapping && !emit_scalar(emitter, child->key, true)) return false;
    if (!emit_node(emitter, child)) return false;
  }
  ready = mapping ? yaml_mapping_end_event_initialize(&event)
                  : yaml_sequence_end_event_initialize(&event);
  return ready && yaml_emitter_emit(emitter, &event);
}

static bool emit_document(yaml_emitter_t *emitter, const tt_node *root) {
  yaml_event_t event;
  return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
         yaml_emitter_emit(emitter, &event) &&
         yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
         yaml_emitter_emit(emitter, &event) && emit_node(emitter, root) &&
         yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(emitter, &event) &&
         yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

static bool write_yaml(const tt_node *root, tt_buffer *buffer) {
  yaml_emitter_t emitter;
  if (!yaml_emitter_initialize(&emitter)) return false;
  yaml_emitter_set_output(&emitter, buffer_write, buffer);
  yaml_emitter_set_unicode(&emitter, 1);
  yaml_emitter_set_width(&emitter, -1);
  bool written = emit_document(&emitter, root);
  yaml_emitter_delete(&emitter);
  return written;
}

/** Keeps libcyaml's first complaint. */
__attribute__((format(printf, 3, 0))) static void keep_complaint(cyaml_log_t level, void *context,
                                                                 const char *format,
                                                                 va_list arguments) {
  char *text = context;
  if (level < CYAML_LOG_ERROR || *text) return;
  vsnprintf(text, 256, format, arguments);
  text[strcspn(text, "\n")] = 0;
}

static const cyaml_config_t cyaml_base = {
    .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR, .flags = CYAML_CFG_NO_ALIAS};

tt_status tt_document_read(tt_document *document, const cyaml_schema_value_t *schema, void **data,
                           tt_error *error) {
  *data = NULL;
  TT_TRY(tt_document_validate(document, schema, error));
  tt_buffer buffer = {0};
  if (!write_yaml(document->root, &buffer)) {
    free(buffer.text);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  char complaint[256] = "";
  cyaml_config_t config = cyaml_base;
  config.log_fn = keep_complaint;
  config.log_ctx = complaint;
  cyaml_err_t failed =
      cyaml_load_data((const uint8_t *)buffer.text, buffer.size, &config, schema, data, NULL);
  free(buffer.text);
  if (failed == CYAML_OK) return TT_OK;
  return tt_fail(error, failed == CYAML_ERR_OOM ? TT_NOMEM : TT_INVALID, "%s: %s (%s)",
                 document->path, cyaml_strerror(failed), complaint);
}

void tt_document_release(const cyaml_schema_value_t *schema, void *data) {
  if (data) cyaml_free(&cyaml_base, schema, data, 0);
}
