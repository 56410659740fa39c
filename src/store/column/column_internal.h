/* column_internal.h: shared by column.c (rows, texts), numbers.c (doubles as integers where they are decimals), integers.c
 * (integers as small differences, byte by byte) and content.c (all of it as one compressed frame).
 */
#ifndef TT_STORE_COLUMN_COLUMN_INTERNAL_H
#define TT_STORE_COLUMN_COLUMN_INTERNAL_H

#include "store/column/column.h"

/* --- content.c: writing --- */

/** What a frame holds. Bytes that are alike stand in a part of their own, which is compressed by what it says itself. */
typedef struct tt_column_content {
  tt_list bytes; /**< char; it has failed where memory ran out */
  tt_list cuts;  /**< uint32_t: where parts begin */
} tt_column_content;

/** Nothing yet. */
tt_column_content tt_column_content_new(void);
void tt_column_content_free(tt_column_content *content);
/** A number below 2^64, in as many bytes as it takes. */
void tt_column_put(tt_column_content *content, uint64_t number);
/** A part, to be filled before anything else is put. NULL: out of memory. */
uint8_t *tt_column_put_part(tt_column_content *content, size_t size);
/** Appends the frame to `bytes`. TT_NOMEM. */
tt_status tt_column_compress(const tt_column_content *content, tt_list *bytes, tt_error *error);

/* --- content.c: reading --- */

/** What is left of a frame's content. What is not there is read as 0, and `damaged` says so. */
typedef struct tt_column_source {
  const uint8_t *at;
  size_t left;
  bool damaged;
  bool failed; /**< memory ran out */
} tt_column_source;

/** The content of a frame of at most `most` bytes, to be freed. TT_INVALID, TT_NOMEM. */
tt_status tt_column_decompress(const void *bytes, size_t size, size_t most, uint8_t **content,
                               size_t *content_size, tt_error *error);
/** What tt_column_put() put. */
uint64_t tt_column_get(tt_column_source *source);
/** A part; NULL: there is none of that size. */
const uint8_t *tt_column_get_part(tt_column_source *source, size_t size);

/* --- integers.c, numbers.c --- */

/** Integers of 64 bits, signed or not. */
void tt_column_put_integers(tt_column_content *content, const uint64_t *integers, uint32_t count);
/** As many as were put. */
void tt_column_get_integers(tt_column_source *source, uint64_t *integers, uint32_t count);

/** Finite numbers, at most TT_COLUMN_ROWS. */
void tt_column_put_numbers(tt_column_content *content, const double *numbers, uint32_t count);
/** As many as were put, and finite. */
void tt_column_get_numbers(tt_column_source *source, double *numbers, uint32_t count);

/* --- column.c, for tests: what stands in a frame, whose sum would keep strange bytes out --- */

/** As tt_column_unpack_moments() and tt_column_unpack(). */
tt_status tt_column_read_moments(tt_column_source *source, tt_list *moments, tt_error *error);
tt_status tt_column_read(tt_column_source *source, uint32_t rows, tt_column *column,
                         tt_error *error);

#endif
