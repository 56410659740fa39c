/* content.c: what is packed, as one frame of zstd with its sum.
 *
 * zstd's statistics are those of a block. Each part is given blocks of its own, so that the bytes that say much don't cost
 * those that say little.
 */
#include "store/column/column_internal.h"

#include <stdlib.h>
#include <zstd.h>

#define LEVEL 3
/** A block costs some bytes itself: what is shorter stays with the part before it. */
#define SMALLEST_BLOCK 512
/** Bytes that a block, a head and a sum take at most. */
#define BLOCK_OVERHEAD 32

tt_column_content tt_column_content_new(void) {
  return (tt_column_content){TT_LIST(char, NULL), TT_LIST(uint32_t, NULL)};
}

void tt_column_content_free(tt_column_content *content) {
  tt_list_free(&content->bytes);
  tt_list_free(&content->cuts);
}

void tt_column_put(tt_column_content *content, uint64_t number) {
  uint8_t bytes[10];
  size_t size = 0;
  do {
    bytes[size++] = (uint8_t)(number & 0x7f) | (number > 0x7f ? 0x80 : 0);
    number >>= 7;
  } while (number);
  tt_list_add(&content->bytes, bytes, size);
}

static bool cut(tt_column_content *content) {
  const uint32_t last =
      content->cuts.len ? tt_list_at(&content->cuts, uint32_t, content->cuts.len - 1) : 0;
  return content->bytes.len - last < SMALLEST_BLOCK ||
         tt_list_add(&content->cuts, &content->bytes.len, 1);
}

uint8_t *tt_column_put_part(tt_column_content *content, size_t size) {
  if ((size >= SMALLEST_BLOCK && !cut(content)) || !tt_list_reserve(&content->bytes, size)) {
    content->bytes.failed = true;
    return NULL;
  }
  uint8_t *part = (uint8_t *)content->bytes.data + content->bytes.len;
  content->bytes.len += (uint32_t)size;
  return part;
}

/** False: out of memory, which is all that can go wrong. */
static bool compress_parts(ZSTD_CCtx *zstd, const tt_column_content *content,
                           ZSTD_outBuffer *frame) {
  ZSTD_inBuffer in = {content->bytes.data, 0, 0};
  if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL)) ||
      ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1)) ||
      ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(zstd, content->bytes.len)))
    return false;
  for (uint32_t i = 0; i < content->cuts.len; i++) {
    in.size = tt_list_at(&content->cuts, uint32_t, i);
    if (ZSTD_compressStream2(zstd, frame, &in, ZSTD_e_flush)) return false;
  }
  in.size = content->bytes.len;
  return !ZSTD_compressStream2(zstd, frame, &in, ZSTD_e_end);
}

tt_status tt_column_compress(const tt_column_content *content, tt_list *bytes, tt_error *error) {
  const size_t bound =
      ZSTD_compressBound(content->bytes.len) + (size_t)BLOCK_OVERHEAD * (content->cuts.len + 1);
  ZSTD_CCtx *zstd = content->bytes.failed ? NULL : ZSTD_createCCtx();
  bool packed = zstd && tt_list_reserve(bytes, bound);
  if (packed) {
    ZSTD_outBuffer frame = {(char *)bytes->data + bytes->len, bound, 0};
    packed = compress_parts(zstd, content, &frame);
    if (packed) bytes->len += (uint32_t)frame.pos;
  }
  ZSTD_freeCCtx(zstd);
  return packed ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

tt_status tt_column_decompress(const void *bytes, size_t size, size_t most, uint8_t **out,
                               size_t *out_size, tt_error *error) {
  const unsigned long long said = ZSTD_getFrameContentSize(bytes, size);
  // A frame whose head lost its mark of a sum is shorter than the bytes.
  if (said == ZSTD_CONTENTSIZE_UNKNOWN || said == ZSTD_CONTENTSIZE_ERROR || said > most ||
      ZSTD_findFrameCompressedSize(bytes, size) != size) {
    return tt_fail(error, TT_INVALID, "damaged: it is no frame of a size that can be");
  }
  uint8_t *content = malloc(said ? (size_t)said : 1);
  if (!content) return tt_fail(error, TT_NOMEM, "out of memory");
  if (ZSTD_decompress(content, (size_t)said, bytes, size) != said) {
    free(content);
    return tt_fail(error, TT_INVALID, "damaged: its sum is wrong");
  }
  *out = content;
  *out_size = (size_t)said;
  return TT_OK;
}

uint64_t tt_column_get(tt_column_source *source) {
  uint64_t number = 0;
  for (unsigned shift = 0; source->left && shift < 64; shift += 7) {
    const uint8_t byte = *source->at;
    source->at++, source->left--;
    number |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  source->damaged = true;
  return 0;
}

const uint8_t *tt_column_get_part(tt_column_source *source, size_t size) {
  if (size > source->left) {
    source->damaged = true;
    return NULL;
  }
  const uint8_t *part = source->at;
  source->at += size;
  source->left -= size;
  return part;
}
