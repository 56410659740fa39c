/* spool.c: the file of frames (spool_frame.h): what waits in it lies between `start` and `end`. */
#include "store/spool/spool.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "store/place.h"
#include "store/spool/spool_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** Small batches are read together up to about this. */
#define MERGED_BYTES (4u << 20)
/** Bytes looked through at once for the next frame. */
#define LOOKED_THROUGH (64u << 10)
/** Of a file system: where one can't be read, the next may be. */
#define BLOCK 4096
/** The end of a damage that reaches to the end of the file, also after more is appended. */
#define NO_END UINT64_MAX

/** A place of the file that can't be read. */
typedef struct damage {
  uint64_t from, to;
} damage;

struct tt_spool {
  char *path;
  char *place; /**< the store it is for; NULL: nobody said so */
  int file;
  tt_file_mark mark; /**< of the file that was opened */
  uint64_t writer;
  uint64_t limit, start, end;
  uint64_t front_end; /**< of what tt_spool_front() read; 0: nothing */
  tt_list bytes;      /**< char: of the frame in hand */
  tt_list passing;    /**< damage: what that passed, lost once it is dropped */
  tt_list damages;    /**< damage: those that are counted */
  tt_spool_loss lost;
  bool unreadable; /**< of what find_frame() passed, some can't be read */
  /** what can't be read, and the file ended with when it was opened; none: both 0 */
  damage passed;
  damage failing;        /**< what could not be read the last time, see is_due()… */
  int64_t failing_since; /**< …and since when, µs; 0: all could */
  bool longer; /**< the file could not be cut behind an append that failed, which was said */
  bool taken;  /**< the disk took something when that was due, which it is asked once */
};

int64_t tt_spool_patience = INT64_C(60000000);

static tt_status fail(const tt_spool *spool, const char *what, tt_error *error) {
  return tt_fail(error, TT_FAILED, "%s: %s: %s", spool->path, what, strerror(errno));
}

static tt_status no_memory(const tt_spool *spool, tt_error *error) {
  return tt_fail(error, TT_NOMEM, "%s: out of memory", spool->path);
}

uint64_t tt_spool_bytes(const tt_spool *spool) { return spool->end - spool->start; }

tt_spool_loss tt_spool_lost(const tt_spool *spool) { return spool->lost; }

/* --- bytes --- */

static uint64_t next_block(uint64_t position) { return (position / BLOCK + 1) * BLOCK; }

/** Whether it is what is read that fails: a sector went bad, or its sum is wrong. */
static bool is_unreadable(int trouble) {
  return trouble == EIO || trouble == EBADMSG || trouble == EUCLEAN;
}

/** Reads some of it, at least of the block in which it begins. −1: errno says why; the file is too short: EIO. */
static ssize_t read_some(int file, uint8_t *bytes, size_t size, uint64_t position) {
  const size_t rest = (size_t)(next_block(position) - position);
  for (;;) {
    const ssize_t got = pread(file, bytes, size, (off_t)position);
    if (got > 0) return got;
    if (!got) errno = EIO;
    if (!got || (errno != EINTR && (!is_unreadable(errno) || size <= rest))) return -1;
    if (errno != EINTR) size = rest;
  }
}

/** Says that it failed. TT_BAD_MESSAGE: what is read can't be, which is noted. */
static tt_status fail_reading(tt_spool *spool, tt_error *error) {
  const bool bad = is_unreadable(errno);
  spool->unreadable |= bad;
  const tt_status status = fail(spool, "can't read", error);
  return bad ? TT_BAD_MESSAGE : status;
}

/** TT_BAD_MESSAGE: some of it can't be read. */
static tt_status read_all(tt_spool *spool, uint8_t *bytes, size_t size, uint64_t position,
                          tt_error *error) {
  while (size) {
    const ssize_t got = read_some(spool->file, bytes, size, position);
    if (got < 0) return fail_reading(spool, error);
    bytes += got;
    size -= (size_t)got;
    position += (size_t)got;
  }
  return TT_OK;
}

/** Reads into `bytes` of the spool. TT_BAD_MESSAGE: as read_all(). */
static tt_status read_bytes(tt_spool *spool, uint64_t position, size_t size, tt_error *error) {
  tt_list_cut(&spool->bytes, 0);
  if (!tt_list_reserve(&spool->bytes, size)) return no_memory(spool, error);
  return read_all(spool, spool->bytes.data, size, position, error);
}

/* --- frames --- */

static uint64_t size_of(const tt_frame *frame) { return (uint64_t)frame->head_size + frame->size; }

/** TT_BAD_MESSAGE: none that ends before `end` begins there. */
static tt_status read_head(tt_spool *spool, uint64_t position, uint64_t end, tt_frame *frame,
                           tt_error *error) {
  uint8_t head[TT_FRAME_HEAD];
  size_t size = end - position < sizeof head ? (size_t)(end - position) : sizeof head;
  TT_TRY(read_all(spool, head, size, position, error));
  return tt_frame_read_head(head, size, position, frame) && size_of(frame) <= end - position
             ? TT_OK
             : TT_BAD_MESSAGE;
}

/** Moves to the next byte at which a frame may begin, past what can't be read. TT_END: none before `end`. TT_AGAIN: nor can anything be
 *  read up to there, where frames may be: it may be more than a place that is broken. */
static tt_status find_mark(tt_spool *spool, uint64_t *position, uint64_t end, tt_error *error) {
  bool readable = true;
  if (!tt_list_reserve(&spool->bytes, LOOKED_THROUGH)) return no_memory(spool, error);
  while (*position < end) {
    const uint64_t left = end - *position;
    const size_t size = left < LOOKED_THROUGH ? (size_t)left : LOOKED_THROUGH;
    const ssize_t got = read_some(spool->file, spool->bytes.data, size, *position);
    readable = got > 0;
    if (!readable) {
      const tt_status status = fail_reading(spool, error);
      if (status != TT_BAD_MESSAGE) return status;
      *position = next_block(*position);
      continue;
    }
    const size_t found = tt_frame_find(spool->bytes.data, (size_t)got);
    *position += found;
    if (found < (size_t)got) return TT_OK;
    if ((uint64_t)got == left) break;
    *position -= got < TT_FRAME_MARK ? 0 : TT_FRAME_MARK - 1;
  }
  return readable ? TT_END : TT_AGAIN;
}

/** Moves to the first whole frame, whose batch is in `bytes` of the spool then. TT_END, TT_AGAIN: as find_mark(). */
static tt_status find_frame(tt_spool *spool, uint64_t *position, uint64_t end, tt_frame *frame,
                            tt_error *error) {
  spool->unreadable = false;
  while (*position < end) {
    tt_status status = read_head(spool, *position, end, frame, error);
    if (status == TT_OK)
      status = read_bytes(spool, *position + frame->head_size, frame->size, error);
    if (status == TT_OK && tt_frame_is_whole(frame, spool->bytes.data)) return TT_OK;
    if (status != TT_OK && status != TT_BAD_MESSAGE) return status;
    ++*position;
    TT_TRY(find_mark(spool, position, end, error));
  }
  return TT_END;
}

/* --- damage --- */

/** Samples of the frames in a place whose heads can be read. */
static uint64_t count_samples(tt_spool *spool, uint64_t from, uint64_t to) {
  uint64_t samples = 0;
  tt_frame frame;
  tt_error ignored;
  while (from < to) {
    if (read_head(spool, from, to, &frame, &ignored) == TT_OK) {
      samples += frame.samples;
      from += size_of(&frame);
    } else {
      from++;
    }
    if (find_mark(spool, &from, to, &ignored) != TT_OK) break;
  }
  return samples;
}

static bool is_counted(const tt_spool *spool, uint64_t from, uint64_t to) {
  for (uint32_t i = 0; i < spool->damages.len; i++) {
    const damage *known = &tt_list_at(&spool->damages, damage, i);
    if (known->from == from && known->to == to) return true;
  }
  return false;
}

/** Counts a place, and says it, unless that is done. */
static void note_damage(tt_spool *spool, uint64_t from, uint64_t to) {
  if (is_counted(spool, from, to)) return;
  const damage noted = {from, to};
  const uint64_t samples = count_samples(spool, from, to);
  tt_list_add(&spool->damages, &noted, 1);
  spool->lost.places++;
  spool->lost.bytes += to - from;
  spool->lost.samples += samples;
  tt_log_error("%s: damaged: %" PRIu64 " bytes at %" PRIu64 " can't be read, %" PRIu64
               " samples or more with them; what stands before and behind is kept",
               spool->path, to - from, from, samples);
}

/** Whether nothing was ever written there: the rest of a block next to which nothing could be written, and the next one, where a kill
 *  left what takes_more() tried. */
static bool is_empty(tt_spool *spool, uint64_t from, uint64_t to) {
  uint8_t bytes[2 * BLOCK];
  tt_error ignored;
  if (to % BLOCK || to - from >= sizeof bytes) return false;
  const size_t size = (size_t)(to - from);
  if (read_all(spool, bytes, size, from, &ignored) != TT_OK) return false;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i]) return false;
  }
  return true;
}

/** Passes what is no whole frame when the file is opened. What can't be read may be readable when its turn has come. */
static void note_gap(tt_spool *spool, uint64_t from, uint64_t to) {
  if (!spool->unreadable) {
    if (!is_empty(spool, from, to)) note_damage(spool, from, to);
    return;
  }
  tt_log_warning("%s: %" PRIu64 " bytes at %" PRIu64 " can't be read; it is tried again",
                 spool->path, to - from, from);
}

static void begin_waiting(tt_spool *spool, int64_t now) {
  spool->failing_since = now;
  spool->taken = false;
}

/** Whether what can't be read was so for as long as it is tried again: all of it, or a part of it would go that can be. Says once that
 *  it is. */
static bool is_due(tt_spool *spool, uint64_t from, uint64_t to, const char *reason) {
  const int64_t now = tt_monotonic_us();
  damage *failing = &spool->failing;
  const bool known = spool->failing_since && failing->from == from;
  const bool waited = known && now - spool->failing_since >= tt_spool_patience;
  if (!known) tt_log_warning("%s; it is tried again", reason);
  if (!known || to < failing->to || (to > failing->to && waited)) {
    *failing = (damage){from, to};
    begin_waiting(spool, now);
  }
  return to == failing->to && now - spool->failing_since >= tt_spool_patience;
}

/** It is more than a place that can't be read, of which that says nothing. */
static void wait_anew(tt_spool *spool, uint64_t from, const char *reason) {
  is_due(spool, from, NO_END, reason);  // only said
  begin_waiting(spool, tt_monotonic_us());
}

/* --- opening --- */

/** Whether what stands at the end is the beginning of a frame: a crash tore it before it was acknowledged. */
static bool is_torn(tt_spool *spool, uint64_t from, uint64_t to) {
  uint8_t head[TT_FRAME_HEAD];
  tt_frame frame;
  tt_error ignored;
  if (to - from < sizeof head) return true;
  return read_all(spool, head, sizeof head, from, &ignored) == TT_OK &&
         tt_frame_read_head(head, sizeof head, from, &frame) && size_of(&frame) > to - from;
}

static void say_cut(tt_spool *spool, uint64_t size) {
  if (is_empty(spool, spool->end, size)) return;
  if (is_torn(spool, spool->end, size)) {
    tt_log_warning("%s: the last %" PRIu64
                   " bytes were being written when the program was killed; nothing in them was "
                   "acknowledged, and they are cut off",
                   spool->path, size - spool->end);
  } else {
    note_damage(spool, spool->end, size);
  }
}

/** Behind the last whole frame nothing is of use; what is appended there must be found. */
static void cut_end(tt_spool *spool, uint64_t size) {
  say_cut(spool, size);
  if (ftruncate(spool->file, (off_t)spool->end) || fdatasync(spool->file))
    tt_log_warning("%s: can't be shortened: %s", spool->path, strerror(errno));
}

/** Behind the last whole frame there is what can't be read. Next to it nothing can be written; nor is it cut off before all else is
 *  out, since it may be read again. */
static void pass_end(tt_spool *spool, uint64_t size) {
  spool->passed = (damage){spool->end, size};
  note_gap(spool, spool->end, size);
  spool->end = next_block(size - 1);
}

/** Whether the disk takes what stands already in the first whole block that can be read: one whose frames were dropped, if there is any. */
static bool takes_again(const tt_spool *spool) {
  uint8_t bytes[BLOCK];
  for (uint64_t at = 0; at + BLOCK <= spool->end; at += BLOCK) {
    if (pread(spool->file, bytes, sizeof bytes, (off_t)at) == BLOCK)
      return tt_file_write_all_at(spool->file, bytes, sizeof bytes, at) && !fdatasync(spool->file);
  }
  return false;
}

/** Whether the disk takes something behind all that was written: then what can't be read is a place that is broken, else it is the
 *  disk that has gone. One that is full takes something elsewhere. */
static bool takes_more(const tt_spool *spool, uint64_t end) {
  static const uint8_t nothing[BLOCK];
  const uint64_t next = next_block(end - 1);
  const bool took =
      tt_file_write_all_at(spool->file, nothing, sizeof nothing, next) && !fdatasync(spool->file);
  const bool full = !took && (errno == ENOSPC || errno == EDQUOT);
  return !ftruncate(spool->file, (off_t)next) && (took || (full && takes_again(spool)));
}

/** Whether nothing was written there: the rest of the last block of what was passed. */
static bool is_room(const tt_spool *spool, uint64_t from, uint64_t to) {
  const uint64_t end = spool->passed.to;
  return end && from == end && to == next_block(end - 1);
}

/** Where what was written ends, but for such room. */
static uint64_t written_end(const tt_spool *spool) {
  return is_room(spool, spool->passed.to, spool->end) ? spool->passed.to : spool->end;
}

/** Reads the whole file, and finds where it ends. */
static tt_status look_through(tt_spool *spool, uint64_t size, tt_error *error) {
  tt_frame frame;
  tt_status status;
  uint64_t position = 0;
  while ((status = find_frame(spool, &position, size, &frame, error)) == TT_OK) {
    if (position > spool->end) note_gap(spool, spool->end, position);
    spool->end = position += size_of(&frame);
  }
  if (status == TT_AGAIN && !spool->end && !takes_more(spool, size)) return TT_FAILED;
  if (status == TT_AGAIN || (status == TT_END && spool->unreadable))
    pass_end(spool, size);
  else if (status == TT_END && size > spool->end)
    cut_end(spool, size);
  return status == TT_END || status == TT_AGAIN ? TT_OK : status;
}

/** Somebody who looks what is in it has it for a moment (tt_spool_left()). */
static bool lock(int file) {
  const struct timespec moment = {.tv_nsec = 10000000};
  for (int tries = 0; tries < 10; tries++) {
    if (!flock(file, LOCK_EX | LOCK_NB)) return true;
    nanosleep(&moment, NULL);
  }
  return false;
}

/** Opens the file, which must be nobody else's. On failure nothing is open. */
static tt_status open_file(const char *path, int *file, struct stat *info, tt_error *error) {
  *file = -1;
  TT_TRY(tt_file_check_place(path, "set telemetry.spool to a file", error));
  *file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  tt_status status = TT_OK;
  if (*file < 0 || fstat(*file, info)) {
    status = tt_fail(error, TT_FAILED, "%s: can't open the spool: %s", path, strerror(errno));
  } else if (!lock(*file)) {
    status = tt_fail(
        error, TT_FAILED,
        "%s: another process spools into this file; set telemetry.spool to one of its own", path);
  }
  if (status == TT_OK && !info->st_size) tt_file_sync_name(path);
  if (status != TT_OK && *file >= 0) close(*file);
  if (status != TT_OK) *file = -1;
  return status;
}

tt_status tt_spool_open(const char *path, uint64_t limit, tt_spool **out, tt_error *error) {
  struct stat info;
  tt_spool *spool = calloc(1, sizeof *spool);
  if (!spool) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  *spool = (tt_spool){.file = -1,
                      .path = strdup(path),
                      .limit = limit,
                      .bytes = TT_LIST(char, NULL),
                      .passing = TT_LIST(damage, NULL),
                      .damages = TT_LIST(damage, NULL)};
  if (getrandom(&spool->writer, sizeof spool->writer, 0) < 0) spool->writer = (uint64_t)getpid();
  spool->writer |= 1;  // 0 is nobody
  tt_status status = spool->path ? open_file(path, &spool->file, &info, error)
                                 : tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  if (status == TT_OK) {
    spool->mark = (tt_file_mark){info.st_dev, info.st_ino};
    status = look_through(spool, (uint64_t)info.st_size, error);
  }
  if (status != TT_OK) {
    tt_spool_close(spool);
    return status;
  }
  *out = spool;
  return TT_OK;
}

uint64_t tt_spool_left(const char *path) {
  struct stat info;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return 0;
  const bool left = !fstat(file, &info) && S_ISREG(info.st_mode) && info.st_size > 0 &&
                    !flock(file, LOCK_SH | LOCK_NB);
  close(file);
  return left ? (uint64_t)info.st_size : 0;
}

void tt_spool_close(tt_spool *spool) {
  if (!spool) return;
  if (spool->file >= 0) close(spool->file);
  tt_list_free(&spool->bytes);
  tt_list_free(&spool->passing);
  tt_list_free(&spool->damages);
  free(spool->path);
  free(spool->place);
  free(spool);
}

/* --- whose it is --- */

static void forget_all(tt_spool *spool) {
  spool->start = spool->end = 0;
  spool->passed = (damage){0};
  spool->failing_since = 0;
  tt_list_cut(&spool->damages, 0);
  if (ftruncate(spool->file, 0) || fdatasync(spool->file))
    tt_log_warning("%s: can't be emptied", spool->path);
}

/** The store for which the first frame says that it is, in `batch`; NULL: it doesn't. */
static const char *find_place(tt_spool *spool, tt_store_batch *batch, uint64_t *end) {
  tt_frame frame;
  tt_frame_known known = {0};
  tt_error ignored;
  uint64_t position = 0;
  if (find_frame(spool, &position, written_end(spool), &frame, &ignored) != TT_OK || position)
    return NULL;
  const bool fits = !frame.old && !frame.samples &&
                    tt_frame_decode(&frame, spool->bytes.data, &known, batch) == TT_OK;
  tt_frame_known_clear(&known);
  *end = size_of(&frame);
  return fits && batch->text.len ? batch->text.data : NULL;
}

static tt_status check_place(tt_spool *spool, const char *place, const char *was, tt_error *error) {
  tt_store_batch *batch = tt_store_batch_new();
  if (!batch) return no_memory(spool, error);
  uint64_t end = 0;
  const char *there = find_place(spool, batch, &end);
  tt_status status = TT_OK;
  if (there && end == spool->end)
    forget_all(spool);  // nothing waits behind it
  else if (there && !tt_store_is_place(there, place) && !(was && tt_store_is_place(there, was)))
    status =
        tt_fail(error, TT_INVALID,
                "%s: %" PRIu64
                " bytes of messages wait here for %s, not for %s: start once with that store, or "
                "set telemetry.spool to another file; if that store is reached by this URL "
                "now, set telemetry.spool_was to %s once",
                spool->path, tt_spool_bytes(spool) - end, there, place, there);
  tt_store_batch_free(batch);
  return status;
}

tt_status tt_spool_own(tt_spool *spool, const char *place, const char *was, tt_error *error) {
  if (tt_spool_bytes(spool)) TT_TRY(check_place(spool, place, was, error));
  free(spool->place);
  spool->place = strdup(place);
  return spool->place ? TT_OK : no_memory(spool, error);
}

/* --- in --- */

/** A file without its name is gone with the program. One in which nothing waits is made anew. */
static tt_status need_file(tt_spool *spool, tt_error *error) {
  if (!tt_file_has_moved(spool->path, &spool->mark)) return TT_OK;
  if (tt_spool_bytes(spool)) {
    return tt_fail(error, TT_FAILED,
                   "%s: removed or replaced while %" PRIu64
                   " bytes wait in it: nothing more is spooled until they are in the database",
                   spool->path, tt_spool_bytes(spool));
  }
  int file;
  struct stat info;
  TT_TRY(open_file(spool->path, &file, &info, error));
  if (info.st_size) {
    close(file);
    return tt_fail(error, TT_FAILED, "%s: replaced by another file; remove that", spool->path);
  }
  close(spool->file);
  spool->file = file;
  spool->mark = (tt_file_mark){info.st_dev, info.st_ino};
  tt_log_warning("%s: was removed, and is made anew", spool->path);
  return TT_OK;
}

/** A frame of nothing but a text: to who does not look for it a batch in which nothing is. */
static bool encode_place(tt_spool *spool) {
  tt_store_batch *batch = tt_store_batch_new();
  const bool made = batch && tt_list_add(&batch->text, spool->place, strlen(spool->place) + 1) &&
                    tt_frame_encode(&spool->bytes, batch, spool->writer, 0);
  tt_store_batch_free(batch);
  return made;
}

/** TT_BAD_MESSAGE: what is there can't be read, which writing a part of it needs. */
static tt_status append_at(tt_spool *spool, const tt_store_batch *batch, uint64_t position,
                           tt_error *error) {
  tt_list *bytes = &spool->bytes;
  tt_list_cut(bytes, 0);
  if (!position && spool->place && !encode_place(spool)) return no_memory(spool, error);
  if (!tt_frame_encode(bytes, batch, spool->writer, position + bytes->len))
    return no_memory(spool, error);
  if (position + bytes->len > spool->limit)
    return tt_fail(error, TT_FULL, "%s: the spool is full (%" PRIu64 " bytes)", spool->path,
                   position);
  if (!tt_file_write_all_at(spool->file, bytes->data, bytes->len, position) ||
      fdatasync(spool->file)) {
    const bool bad = is_unreadable(errno);
    tt_status status = fail(spool, "can't write", error);
    const bool longer = ftruncate(spool->file, (off_t)spool->end) != 0;
    if (longer && !spool->longer) tt_log_warning("%s: can't be shortened", spool->path);
    spool->longer = longer;
    return bad ? TT_BAD_MESSAGE : status;
  }
  spool->end = position + bytes->len;
  spool->longer = false;
  return TT_OK;
}

tt_status tt_spool_append(tt_spool *spool, const tt_store_batch *batch, tt_error *error) {
  TT_TRY(need_file(spool, error));
  tt_status status = append_at(spool, batch, spool->end, error);
  if (status == TT_BAD_MESSAGE && spool->end % BLOCK)
    status = append_at(spool, batch, next_block(spool->end), error);
  return status == TT_BAD_MESSAGE ? TT_FAILED : status;
}

/* --- out --- */

/** Where a place ends that begins there. NO_END: nothing can be read up to the end. */
static uint64_t find_end(tt_spool *spool, uint64_t from) {
  uint64_t to = from;
  tt_frame frame;
  tt_error ignored;
  const tt_status status = find_frame(spool, &to, written_end(spool), &frame, &ignored);
  if (status == TT_AGAIN) return NO_END;
  if (status == TT_END) return spool->end;
  return status == TT_OK ? to : from;
}

/** Whether it is a place that is broken, not the disk that has gone, of which what was written last may be read from memory, and which may
 *  be back by now. */
static bool is_broken(tt_spool *spool, uint64_t from, uint64_t to) {
  if (spool->taken) return true;
  spool->taken = takes_more(spool, spool->end);
  return spool->taken && find_end(spool, from) == to;
}

/** Whether what can't be read is no more waited for. */
static bool is_given_up(tt_spool *spool, uint64_t from, uint64_t to, const char *reason) {
  if (!is_due(spool, from, to, reason)) return false;
  const bool broken = is_broken(spool, from, to);
  if (!broken) wait_anew(spool, from, reason);
  return broken;
}

/** Before what can't be read is passed. TT_FAILED: it may be read yet. */
static tt_status wait_for_gap(tt_spool *spool, uint64_t from, uint64_t to, tt_error *error) {
  if (!spool->unreadable) return TT_OK;
  tt_fail(error, TT_FAILED, "%s: %" PRIu64 " bytes at %" PRIu64 " can't be read", spool->path,
          to - from, from);
  return is_given_up(spool, from, to, error->text) ? TT_OK : TT_FAILED;
}

/** Moves to `to` past what is no whole frame. `waits`: it is lost once it is dropped. */
static void pass_gap(tt_spool *spool, uint64_t *position, uint64_t to, bool waits) {
  const damage gap = {*position, to};
  const bool unreadable = spool->unreadable;
  const bool damaged = !is_room(spool, gap.from, to) && !is_empty(spool, gap.from, to);
  if (damaged && waits)
    tt_list_add(&spool->passing, &gap, 1);
  else if (damaged && !unreadable)
    note_damage(spool, gap.from, to);
  *position = to;
}

/** Nothing can be read up to the end. TT_END: as when it was opened, or for so long that it is no more waited for; what is appended
 *  stands behind it from now on. TT_FAILED: it may be read yet, or it is the disk that has gone. */
static tt_status meet_end(tt_spool *spool, uint64_t position, bool waits, const tt_error *error) {
  const damage *passed = &spool->passed;
  const bool known = is_room(spool, passed->to, spool->end) && position >= passed->from;
  if (known && !waits) return TT_END;
  if (!waits || !is_given_up(spool, position, NO_END, error->text)) return TT_FAILED;
  if (!known) {
    spool->passed = (damage){position, spool->end};
    spool->end = next_block(spool->end - 1);
  }
  return TT_END;
}

/** Adds the next whole frame of a writer (0: anybody's), and moves behind it. `waits`: for what can't be read, too, TT_FAILED meanwhile.
 *  TT_AGAIN: it is another writer's; TT_END: there are no more. */
static tt_status take_frame(tt_spool *spool, uint64_t *position, uint64_t *writer, bool waits,
                            tt_frame_known *known, tt_store_batch *batch, tt_error *error) {
  uint64_t at = *position;
  for (;;) {
    tt_frame frame;
    tt_status status = find_frame(spool, &at, written_end(spool), &frame, error);
    const bool ends = status == TT_AGAIN;
    if (status == TT_FAILED && waits) wait_anew(spool, *position, error->text);
    if (ends) status = meet_end(spool, *position, waits, error);
    if (status == TT_END) at = spool->end;
    if (at > *position && (status == TT_OK || status == TT_END)) {
      if (waits && !ends) TT_TRY(wait_for_gap(spool, *position, at, error));
      pass_gap(spool, position, at, waits);
      continue;  // since what was read is no longer in memory
    }
    TT_TRY(status);
    if (at == spool->failing.from) spool->failing_since = 0;
    if (*writer && frame.writer != *writer) return TT_AGAIN;
    status = tt_frame_decode(&frame, spool->bytes.data, known, batch);
    if (status == TT_NOMEM) return no_memory(spool, error);
    at += size_of(&frame);
    if (status != TT_OK) note_damage(spool, *position, at);
    *position = at;
    if (status != TT_OK) continue;
    *writer = frame.writer;
    return TT_OK;
  }
}

tt_status tt_spool_front(tt_spool *spool, tt_store_batch *batch, tt_error *error) {
  tt_frame_known known = {0};
  uint64_t writer = 0, position = spool->start;
  bool taken = false;
  tt_status status = TT_OK;
  tt_store_batch_clear(batch);
  tt_list_cut(&spool->passing, 0);
  while (status == TT_OK && tt_store_batch_bytes(batch) < MERGED_BYTES) {
    status = take_frame(spool, &position, &writer, true, &known, batch, error);
    taken |= status == TT_OK;
  }
  tt_frame_known_clear(&known);
  if (status == TT_FAILED && taken) status = TT_OK;  // what stands before is written first
  if (status != TT_OK && status != TT_END && status != TT_AGAIN) return status;
  spool->front_end = position;
  return position > spool->start ? TT_OK : TT_NOT_FOUND;
}

tt_status tt_spool_look(tt_spool *spool, uint64_t *position, uint64_t *writer,
                        tt_store_batch *batch, tt_error *error) {
  tt_frame_known known = {0};
  tt_store_batch_clear(batch);
  if (*position < spool->start) *position = spool->start;
  *writer = 0;
  tt_status status = take_frame(spool, position, writer, false, &known, batch, error);
  tt_frame_known_clear(&known);
  return status;
}

void tt_spool_pop(tt_spool *spool) {
  if (!spool->front_end) return;
  for (uint32_t i = 0; i < spool->passing.len; i++) {
    const damage *gap = &tt_list_at(&spool->passing, damage, i);
    note_damage(spool, gap->from, gap->to);
  }
  tt_list_cut(&spool->passing, 0);
  spool->start = spool->front_end;
  spool->front_end = 0;
  if (spool->start >= spool->end) forget_all(spool);
}
