/* inflate.c */
#include "web/inflate.h"

#include <gio/gio.h>
#include <stdbool.h>

/** Unpacked at a time. */
#define PIECE 65536
/** Of what can't be unpacked before more has come: less than zlib ever asks for. */
#define REST 1024

struct tt_inflate {
  GConverter *converter;
  size_t limit, made;
  void (*take)(void *context, const void *bytes, size_t size);
  void *context;
  bool begun, finished;
  GByteArray *rest; /**< came, and could not be unpacked yet */
  char piece[PIECE];
};

tt_inflate *tt_inflate_new(const char *encoding, size_t limit,
                           void (*take)(void *context, const void *bytes, size_t size),
                           void *context) {
  const bool gzip =
      !g_ascii_strcasecmp(encoding, "gzip") || !g_ascii_strcasecmp(encoding, "x-gzip");
  if (!gzip && g_ascii_strcasecmp(encoding, "deflate")) return NULL;
  tt_inflate *made = g_new0(tt_inflate, 1);
  made->converter = G_CONVERTER(g_zlib_decompressor_new(gzip ? G_ZLIB_COMPRESSOR_FORMAT_GZIP
                                                             : G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
  made->limit = limit;
  made->take = take;
  made->context = context;
  made->rest = g_byte_array_new();
  return made;
}

void tt_inflate_free(tt_inflate *inflate) {
  if (!inflate) return;
  g_object_unref(inflate->converter);
  g_byte_array_unref(inflate->rest);
  g_free(inflate);
}

/** One piece: `*used` bytes are done with. TT_AGAIN: more have to come first. */
static tt_status unpack(tt_inflate *inflate, size_t *used, tt_error *error) {
  gsize written = 0;
  GError *reason = NULL;
  GConverterResult result =
      g_converter_convert(inflate->converter, inflate->rest->data, inflate->rest->len,
                          inflate->piece, PIECE, G_CONVERTER_NO_FLAGS, used, &written, &reason);
  if (result == G_CONVERTER_ERROR) {
    const bool early = g_error_matches(reason, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT);
    tt_status status =
        early ? TT_AGAIN
              : tt_fail(error, TT_INVALID, "the compressed body is damaged: %s", reason->message);
    *used = 0;
    g_error_free(reason);
    return status;
  }
  inflate->made += written;
  if (inflate->made > inflate->limit)
    return tt_fail(error, TT_FULL, "the body is longer than %zu bytes, unpacked", inflate->limit);
  inflate->finished = result == G_CONVERTER_FINISHED;
  if (written) inflate->take(inflate->context, inflate->piece, written);
  return TT_OK;
}

void tt_inflate_add(tt_inflate *inflate, const void *bytes, size_t size) {
  g_byte_array_append(inflate->rest, bytes, (guint)size);
}

tt_status tt_inflate_step(tt_inflate *inflate, tt_error *error) {
  GByteArray *rest = inflate->rest;
  size_t used = 0;
  if (!rest->len) return TT_AGAIN;
  if (inflate->finished) return tt_fail(error, TT_INVALID, "something follows the compressed body");
  tt_status status = unpack(inflate, &used, error);
  g_byte_array_remove_range(rest, 0, (guint)used);
  if (status == TT_AGAIN && rest->len > REST)
    status = tt_fail(error, TT_INVALID, "the compressed body is damaged");
  return status;
}

tt_status tt_inflate_end(const tt_inflate *inflate, tt_error *error) {
  if (inflate->finished) return TT_OK;
  return tt_fail(error, TT_INVALID, "the compressed body ends too early");
}
