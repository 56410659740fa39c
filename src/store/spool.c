/* spool.c: a file of frames: size, digest, then the batch's arrays one behind the other. Numbers are the machine's own:
 * the file never leaves it.
 */
#include "store/spool.h"

#include "core/file.h"
#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x5350544cu
#define DIGEST_SIZE 32
#define MAX_FRAME (1u << 30)
/** Small frames are read together up to about this. */
#define MERGED_BYTES (4u << 20)

typedef struct frame_header {
  uint32_t magic, size;
  uint64_t writer; /**< of one process: indices mean the same in its frames */
  uint8_t digest[DIGEST_SIZE];
} frame_header;

struct tt_spool {
  char *path;
  int file;
  uint64_t writer;
  uint64_t limit, start, end; /**< the frames that wait lie between */
  uint64_t front_size;        /**< of the frame last read */
};

static tt_status fail(const tt_spool *spool, const char *what, tt_error *error) {
  return tt_fail(error, TT_FAILED, "%s: %s: %s", spool->path, what, g_strerror(errno));
}

tt_status tt_spool_open(const char *path, uint64_t limit, tt_spool **out, tt_error *error) {
  tt_spool *spool = g_new0(tt_spool, 1);
  spool->path = g_strdup(path);
  spool->limit = limit;
  spool->writer = (uint64_t)g_random_int() << 32 | g_random_int();
  spool->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat info;
  tt_status status = TT_OK;
  if (spool->file < 0 || fstat(spool->file, &info)) {
    status = fail(spool, "can't open the spool", error);
  } else if (flock(spool->file, LOCK_EX | LOCK_NB)) {
    status = tt_fail(
        error, TT_FAILED,
        "%s: another process spools into this file; set telemetry.spool to one of its own", path);
  }
  if (status != TT_OK) {
    tt_spool_close(spool);
    return status;
  }
  if (!info.st_size) tt_file_sync_name(path);
  spool->end = (uint64_t)info.st_size;
  *out = spool;
  return TT_OK;
}

void tt_spool_close(tt_spool *spool) {
  if (!spool) return;
  if (spool->file >= 0) close(spool->file);
  g_free(spool->path);
  g_free(spool);
}

uint64_t tt_spool_bytes(const tt_spool *spool) { return spool->end - spool->start; }

/* --- a batch as bytes --- */

static void put_number(GByteArray *out, uint32_t number) {
  g_byte_array_append(out, (const guint8 *)&number, sizeof number);
}

/** NULL is told apart from "". */
static void put_text(GByteArray *out, const char *text) {
  put_number(out, text ? (uint32_t)strlen(text) + 1 : 0);
  if (text) g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text) + 1);
}

static void put_array(GByteArray *out, const GArray *array) {
  put_number(out, array->len);
  g_byte_array_append(out, (const guint8 *)array->data,
                      array->len * g_array_get_element_size((GArray *)array));
}

static void put_names(GByteArray *out, const GArray *names) {
  put_number(out, names->len);
  for (guint i = 0; i < names->len; i++) {
    const tt_store_name *name = &g_array_index(names, tt_store_name, i);
    put_number(out, (uint32_t)name->index);
    put_text(out, name->identifier);
    put_text(out, name->name);
  }
}

static void put_batch(GByteArray *out, const tt_store_batch *batch) {
  put_names(out, batch->devices);
  put_names(out, batch->attributes);
  put_number(out, batch->handlings->len);
  for (guint i = 0; i < batch->handlings->len; i++) {
    const tt_handling *handling = &g_array_index(batch->handlings, tt_handling, i);
    put_text(out, handling->pattern);
    put_text(out, handling->unit);
    g_byte_array_append(out, (const guint8 *)handling, sizeof *handling);
  }
  put_array(out, batch->epochs);
  put_array(out, batch->samples);
  put_array(out, batch->values);
  put_number(out, (uint32_t)batch->text->len);
  g_byte_array_append(out, (const guint8 *)batch->text->str, (guint)batch->text->len);
}

typedef struct cursor {
  const uint8_t *next, *end;
  bool bad;
} cursor;

static const void *take_bytes(cursor *from, size_t size) {
  if (from->bad || (size_t)(from->end - from->next) < size) {
    from->bad = true;
    return NULL;
  }
  const void *taken = from->next;
  from->next += size;
  return taken;
}

static uint32_t take_number(cursor *from) {
  uint32_t number = 0;
  const void *bytes = take_bytes(from, sizeof number);
  if (bytes) memcpy(&number, bytes, sizeof number);
  return number;
}

static char *take_text(cursor *from) {
  uint32_t size = take_number(from);
  const char *bytes = size ? take_bytes(from, size) : NULL;
  return bytes ? g_strndup(bytes, size - 1) : NULL;
}

/** Appends names, leaving out those that are there already and say nothing new. */
static void take_names(cursor *from, GArray *names) {
  uint32_t count = take_number(from);
  guint before = names->len;
  for (uint32_t i = 0; i < count && !from->bad; i++) {
    tt_store_name name = {.index = (int)take_number(from)};
    name.identifier = take_text(from);
    name.name = take_text(from);
    bool known = false;
    for (guint k = 0; k < before && !known && !name.name; k++) {
      known = g_array_index(names, tt_store_name, k).index == name.index;
    }
    if (known) {
      g_free(name.identifier);
    } else {
      g_array_append_val(names, name);
    }
  }
}

static void take_handlings(cursor *from, GArray *handlings) {
  uint32_t count = take_number(from);
  for (uint32_t i = 0; i < count && !from->bad; i++) {
    char *pattern = take_text(from), *unit = take_text(from);
    tt_handling handling = {0};
    const void *bytes = take_bytes(from, sizeof handling);
    if (bytes) memcpy(&handling, bytes, sizeof handling);
    handling.pattern = pattern;
    handling.unit = unit;
    g_array_append_val(handlings, handling);
  }
}

static void take_epochs(cursor *from, GArray *epochs) {
  uint32_t count = take_number(from);
  for (uint32_t i = 0; i < count && !from->bad; i++) {
    tt_store_epoch epoch = {0};
    const void *bytes = take_bytes(from, sizeof epoch);
    if (bytes) memcpy(&epoch, bytes, sizeof epoch);
    tt_store_epoch *known = NULL;
    for (guint k = epochs->len; k-- > 0 && !known;) {
      tt_store_epoch *candidate = &g_array_index(epochs, tt_store_epoch, k);
      if (candidate->device == epoch.device && candidate->number == epoch.number) known = candidate;
    }
    if (known) {
      known->offset_low = MIN(known->offset_low, epoch.offset_low);
      known->offset_high = MAX(known->offset_high, epoch.offset_high);
    } else {
      g_array_append_val(epochs, epoch);
    }
  }
}

/** Offsets of samples and values count from what the batch holds already. */
static void take_samples(cursor *from, tt_store_batch *batch) {
  uint32_t count = take_number(from);
  for (uint32_t i = 0; i < count && !from->bad; i++) {
    tt_store_sample sample = {0};
    const void *bytes = take_bytes(from, sizeof sample);
    if (bytes) memcpy(&sample, bytes, sizeof sample);
    sample.first += batch->values->len;
    g_array_append_val(batch->samples, sample);
  }
  count = take_number(from);
  for (uint32_t i = 0; i < count && !from->bad; i++) {
    tt_store_value value = {0};
    const void *bytes = take_bytes(from, sizeof value);
    if (bytes) memcpy(&value, bytes, sizeof value);
    if (value.text != TT_STORE_NUMBER) value.text += (uint32_t)batch->text->len;
    g_array_append_val(batch->values, value);
  }
}

static bool take_batch(cursor *from, tt_store_batch *batch) {
  take_names(from, batch->devices);
  take_names(from, batch->attributes);
  take_handlings(from, batch->handlings);
  take_epochs(from, batch->epochs);
  take_samples(from, batch);
  uint32_t size = take_number(from);
  const char *text = take_bytes(from, size);
  if (text) g_string_append_len(batch->text, text, size);
  return !from->bad && from->next == from->end;
}

bool tt_spool_decode(const uint8_t *bytes, size_t size, tt_store_batch *batch) {
  cursor from = {bytes, bytes + size, false};
  return take_batch(&from, batch);
}

static void digest(const guint8 *bytes, gsize size, uint8_t out[DIGEST_SIZE]) {
  GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
  gsize length = DIGEST_SIZE;
  g_checksum_update(checksum, bytes, (gssize)size);
  g_checksum_get_digest(checksum, out, &length);
  g_checksum_free(checksum);
}

/* --- frames --- */

static bool write_all(int file, const uint8_t *bytes, size_t size, uint64_t position) {
  while (size) {
    ssize_t wrote = pwrite(file, bytes, size, (off_t)position);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes += wrote;
    size -= (size_t)wrote;
    position += (size_t)wrote;
  }
  return true;
}

static bool read_all(int file, uint8_t *bytes, size_t size, uint64_t position) {
  while (size) {
    ssize_t got = pread(file, bytes, size, (off_t)position);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= (size_t)got;
    position += (size_t)got;
  }
  return true;
}

tt_status tt_spool_append(tt_spool *spool, const tt_store_batch *batch, tt_error *error) {
  GByteArray *frame = g_byte_array_new();
  frame_header header = {.magic = MAGIC, .writer = spool->writer};
  g_byte_array_append(frame, (const guint8 *)&header, sizeof header);
  put_batch(frame, batch);
  header.size = frame->len - (guint)sizeof header;
  digest(frame->data + sizeof header, header.size, header.digest);
  memcpy(frame->data, &header, sizeof header);
  tt_status status = TT_OK;
  if (spool->end + frame->len > spool->limit) {
    status = tt_fail(error, TT_FULL, "%s: the spool is full (%" G_GUINT64_FORMAT " bytes)",
                     spool->path, spool->end);
  } else if (!write_all(spool->file, frame->data, frame->len, spool->end) ||
             fdatasync(spool->file)) {
    status = fail(spool, "can't write", error);
    if (ftruncate(spool->file, (off_t)spool->end))
      tt_log_warning("%s: can't be shortened", spool->path);
  } else {
    spool->end += frame->len;
  }
  g_byte_array_unref(frame);
  return status;
}

static void forget_all(tt_spool *spool) {
  spool->start = spool->end = 0;
  if (ftruncate(spool->file, 0) || fdatasync(spool->file))
    tt_log_warning("%s: can't be emptied", spool->path);
}

/** A crash may have torn the last frame, which then was not acknowledged. */
static tt_status drop_damaged_end(tt_spool *spool) {
  tt_log_warning("%s: the last %" G_GUINT64_FORMAT " bytes are damaged and were left out",
                 spool->path, tt_spool_bytes(spool));
  forget_all(spool);
  return TT_NOT_FOUND;
}

/** Appends the frame at `position` to the batch. TT_NOT_FOUND: it is another process's, and has to wait. */
static tt_status take_frame(tt_spool *spool, uint64_t position, uint64_t *writer,
                            tt_store_batch *batch, uint64_t *size, tt_error *error) {
  frame_header header;
  uint64_t left = spool->end - position;
  if (left < sizeof header) return TT_BAD_MESSAGE;
  if (!read_all(spool->file, (uint8_t *)&header, sizeof header, position))
    return fail(spool, "can't read", error);
  if (header.magic != MAGIC || header.size > MAX_FRAME || sizeof header + header.size > left)
    return TT_BAD_MESSAGE;
  if (*writer && header.writer != *writer) return TT_NOT_FOUND;
  *writer = header.writer;
  *size = sizeof header + header.size;
  uint8_t *bytes = g_malloc(header.size + 1), wanted[DIGEST_SIZE];
  bool read = read_all(spool->file, bytes, header.size, position + sizeof header);
  digest(bytes, header.size, wanted);
  bool whole = read && !memcmp(wanted, header.digest, DIGEST_SIZE) &&
               tt_spool_decode(bytes, header.size, batch);
  g_free(bytes);
  return !read ? fail(spool, "can't read", error) : whole ? TT_OK : TT_BAD_MESSAGE;
}

tt_status tt_spool_front(tt_spool *spool, tt_store_batch *batch, tt_error *error) {
  uint64_t writer = 0, position = spool->start;
  tt_store_batch_clear(batch);
  while (position < spool->end && tt_store_batch_bytes(batch) < MERGED_BYTES) {
    uint64_t size = 0;
    tt_status status = take_frame(spool, position, &writer, batch, &size, error);
    if (status == TT_BAD_MESSAGE) {
      // The frames before it first; it is what a crash left, and was not acknowledged.
      if (position > spool->start) break;
      return drop_damaged_end(spool);
    }
    if (status == TT_NOT_FOUND) break;
    TT_TRY(status);
    position += size;
  }
  spool->front_size = position - spool->start;
  return spool->front_size ? TT_OK : TT_NOT_FOUND;
}

tt_status tt_spool_look(tt_spool *spool, uint64_t *position, uint64_t *writer,
                        tt_store_batch *batch, tt_error *error) {
  uint64_t from = MAX(*position, spool->start), size = 0;
  tt_store_batch_clear(batch);
  if (from >= spool->end) return TT_NOT_FOUND;
  *writer = 0;
  tt_status status = take_frame(spool, from, writer, batch, &size, error);
  *position = from + size;
  return status == TT_BAD_MESSAGE ? TT_NOT_FOUND : status;
}

void tt_spool_pop(tt_spool *spool) {
  spool->start += spool->front_size;
  spool->front_size = 0;
  if (spool->start >= spool->end) forget_all(spool);
}
