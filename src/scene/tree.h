/* tree.h: a YAML file as a tree that remembers where everything stands.
 *
 * libyaml parses, this tree keeps lines and takes `--set` values, the walk in validate.c compares it with a
 * libcyaml schema (better messages than libcyaml's own), and libcyaml then fills the structs.
 *
 * The text is not trusted: size, depth, node count and copies made by aliases are limited.
 */
#ifndef TT_SCENE_TREE_H
#define TT_SCENE_TREE_H

#include "base/status.h"

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stddef.h>

#define TT_TREE_MAX_FILE (256 * 1024)  /**< bytes of a file */
#define TT_TREE_MAX_DEPTH 24           /**< mappings and sequences inside each other */
#define TT_TREE_MAX_NODES 20000        /**< aliases expanded */
#define TT_TREE_MAX_TEXT (1024 * 1024) /**< bytes of all scalars together, aliases expanded */
#define TT_TREE_MAX_KEYS 1000          /**< keys of one mapping */
#define TT_TREE_MAX_ANCHORS 256

/** What YAML knows, aliases expanded. */
typedef enum tt_node_kind { TT_NODE_SCALAR, TT_NODE_SEQUENCE, TT_NODE_MAPPING } tt_node_kind;

typedef struct tt_node tt_node;
struct tt_node {
  tt_node_kind kind;
  char *key;          /**< its key where the parent is a mapping, else NULL */
  char *text;         /**< of a scalar, else NULL */
  bool bare;          /**< a mapping that was written as a plain value, its name */
  bool quoted;        /**< the scalar was in quotes or a block: it can't mean "nothing" */
  int line;           /**< from 1; 0 where no file gave it */
  const char *origin; /**< PATH of the --set that wrote it, or NULL; the document's */
  tt_node **children;
  int child_count, child_capacity;
};

/** One YAML document. */
typedef struct tt_document {
  char *path;    /**< as errors show it */
  tt_node *root; /**< always a mapping */
  char **origins;
  int origin_count;
  int node_count;
  size_t text_size;
} tt_document;

/** Reads and parses a file; `*document` is NULL on failure. Errors carry file and line. */
tt_status tt_document_load(const char *path, tt_document **document, tt_error *error);
/** The same from memory; `path` is only shown. */
tt_status tt_document_parse(const char *path, const char *text, size_t size, tt_document **document,
                            tt_error *error);
void tt_document_free(tt_document *document);

/** Puts one "PATH=VALUE" in. A path names keys and, in sequences, elements: by their `name`, `robot` or `body`, a
 *  wire by its protocol, any by number ("wires.float-udp.bind", "robots.red1.x", "robots[0].x"). A key that
 *  isn't there yet is made. VALUE is taken as it is, as YAML when it begins with [ or {; nothing removes the key. */
tt_status tt_document_set(tt_document *document, const char *assignment, tt_error *error);
/** The same where the first `skip` bytes of PATH lead to this document from another one: messages show all of it. */
tt_status tt_document_set_below(tt_document *document, const char *assignment, size_t skip,
                                tt_error *error);

/** Compares the tree with a schema: unknown keys, missing keys, wrong types, non-finite numbers, lengths. Drops
 *  keys that were left empty and makes {name: x} of a bare x where a schema wants a mapping with a name. */
tt_status tt_document_validate(tt_document *document, const cyaml_schema_value_t *schema,
                               tt_error *error);

/** Who wants to hear of everything that is wrong in files, not only of what is wrong first. */
typedef struct tt_problem_listener {
  void (*hear)(struct tt_problem_listener *self, const char *text);
} tt_problem_listener;

/** From now on all that tt_document_validate() finds wrong in this thread is told to `listener` (NULL: nobody; then it stops at the first). It
 *  returns TT_INVALID all the same, with the last. */
void tt_problems_listen(tt_problem_listener *listener);

/** Validates, then lets libcyaml fill a struct; free it with tt_document_release(). */
tt_status tt_document_read(tt_document *document, const cyaml_schema_value_t *schema, void **data,
                           tt_error *error);
void tt_document_release(const cyaml_schema_value_t *schema, void *data);

/** Turns an error that begins "PATH: key.path: …" into "PATH:LINE: key.path: …", or "--set KEY.PATH: …" where the
 *  value came from there. Leaves others alone. */
void tt_document_explain(const tt_document *document, tt_error *error);

/** The child of a mapping with this key, or NULL. */
tt_node *tt_node_child(const tt_node *mapping, const char *key);
/** Text of the scalar child with this key, or NULL. */
const char *tt_node_child_text(const tt_node *mapping, const char *key);
/** Nothing was written: "", ~ or null without quotes. */
bool tt_node_empty(const tt_node *node);

/* For the rest of the room. */
tt_node *tt_document_node(tt_document *document, tt_node_kind kind, const char *key,
                          size_t key_size, const char *text, size_t text_size, int line);
/** Adds at the end; false when out of memory (the child is then still the caller's). */
bool tt_node_append(tt_node *parent, tt_node *child);
/** Makes {name: x} of a plain x. False: out of memory. */
bool tt_node_spell_out(tt_document *document, tt_node *node);
void tt_node_free(tt_node *node);
/** The element of a sequence that `path` begins with (a name, a protocol or "[n]"), and how many bytes of
 *  `path` that took; NULL if none, or, with `*ambiguous` set, if several. */
tt_node *tt_node_element(const tt_node *sequence, const char *path, size_t *used, bool *ambiguous);
/** How paths call the `index`-th element of a sequence: by its name where no other has it, else "[n]". */
void tt_node_element_path(const tt_node *sequence, int index, char *path, size_t size);
/** What an element that names a file is called: the file without folder and ending, the folder of a robot.yaml. */
void tt_element_name(const char *path, char *name, size_t size);

#endif
