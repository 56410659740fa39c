/* foreign_struct.h: structs in a WPILOG of another program: what their schemas say, laid out as numbers that can be read one by one.
 *
 * Source: "WPILib Packed Struct Serialization Specification, Version 1.0" (allwpilib, wpiutil/doc/struct.adoc). A schema is a list of
 * `type name`, `type name[count]`, with an `enum {…}` before it or a width in bits behind it; types are numbers, flags, letters or other
 * structs. Values stand behind one another, little-endian, without gaps.
 */
#ifndef TT_RECORD_FOREIGN_STRUCT_H
#define TT_RECORD_FOREIGN_STRUCT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_STRUCT_MOST_LEAVES 64u /**< further numbers of a struct are left out */
#define TT_STRUCT_MOST_NAME                                                                        \
  100u /**< bytes, with the 0; a struct with a longer one is not laid out */

/** What a number of a struct is stored as. */
typedef enum tt_struct_kind {
  TT_STRUCT_FLAG,
  TT_STRUCT_SIGNED,
  TT_STRUCT_UNSIGNED,
  TT_STRUCT_FLOAT
} tt_struct_kind;

/** A number somewhere in a struct. */
typedef struct tt_struct_leaf {
  char name[TT_STRUCT_MOST_NAME]; /**< "translation/x", "gains[2]" */
  const char *unit;               /**< of WPILib's own structs; else NULL */
  tt_struct_kind kind;
  unsigned offset, size; /**< bytes */
} tt_struct_leaf;

typedef struct tt_struct_layout {
  tt_struct_leaf leaves[TT_STRUCT_MOST_LEAVES];
  unsigned count; /**< of leaves */
  unsigned size;  /**< bytes of the whole struct */
} tt_struct_layout;

/** The schemas of a log. Zero: none yet. */
typedef struct tt_schemas {
  struct tt_schema *first;
  unsigned count, waiting; /**< how many have no text yet */
  uint64_t looks;          /**< at one of them, for a text */
} tt_schemas;

/** An entry of type structschema is announced; `name` is that of the entry, "/.schema/struct:Pose2d". What can't be kept is ignored. */
void tt_schemas_announce(tt_schemas *schemas, uint32_t entry, const char *name, size_t size);
/** A record; if it is the first of an announced entry, it is the schema, unless schemas were looked through too often for one. Keeps no
 *  pointer. */
void tt_schemas_take(tt_schemas *schemas, uint32_t entry, const uint8_t *text, size_t size);
void tt_schemas_clear(tt_schemas *schemas);

/** Lays out the struct `name`. TT_NOT_FOUND: its schema, or that of one in it, is not there; TT_INVALID: it can't be laid out: it is
 *  malformed, has bit-fields, holds itself, is larger than 64 KiB, or has no number, or two of one name. */
tt_status tt_struct_lay_out(const tt_schemas *schemas, const char *name, size_t size,
                            tt_struct_layout *layout);

/** The number of a leaf in the bytes of a struct. */
double tt_struct_read(const tt_struct_leaf *leaf, const uint8_t *bytes);

#endif
