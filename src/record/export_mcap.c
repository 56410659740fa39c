/* export_mcap.c: a run as MCAP, which Foxglove, PlotJuggler and the mcap tools read.
 *
 * Source: "MCAP File Format Specification" (mcap.dev/spec), major version 0. Everything is written once, front to
 * back: header, chunks with their message indexes, metadata, data end, the summary (schemas, channels, chunk indexes,
 * metadata index, statistics), summary offsets, footer. Little-endian; a record is an opcode, a u64 length, and content.
 */
#include "record/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define CHUNK_SIZE (1u << 20) /* bytes before compression at which a chunk is closed */
#define MOST_CHANNELS 65535u

enum {
  OP_HEADER = 1,
  OP_FOOTER,
  OP_SCHEMA,
  OP_CHANNEL,
  OP_MESSAGE,
  OP_CHUNK,
  OP_MESSAGE_INDEX,
  OP_CHUNK_INDEX,
  OP_STATISTICS = 0x0b,
  OP_METADATA,
  OP_METADATA_INDEX,
  OP_SUMMARY_OFFSET,
  OP_DATA_END
};

typedef enum schema_id {
  SCHEMA_NONE,
  SCHEMA_SIGNAL,
  SCHEMA_POSE,
  SCHEMA_EVENT,
  SCHEMA_END
} schema_id;

static const char magic[8] = {(char)0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

#define TIME_SCHEMA                                                                                \
  "{\"type\":\"object\",\"properties\":{\"sec\":{\"type\":\"integer\"},"                           \
  "\"nsec\":{\"type\":\"integer\"}}}"
#define NUMBERS(names) "{\"type\":\"object\",\"properties\":{" names "}}"
#define NUMBER(name) "\"" name "\":{\"type\":\"number\"}"
static const struct {
  const char *name, *text;
} schemas[SCHEMA_END] = {
    [SCHEMA_SIGNAL] = {"tether.Signal", NUMBERS(NUMBER("value"))},
    [SCHEMA_POSE] =
        {"foxglove.PoseInFrame",
         "{\"type\":\"object\",\"properties\":{\"timestamp\":" TIME_SCHEMA
         ",\"frame_id\":{\"type\":\"string\"},\"pose\":{\"type\":\"object\","
         "\"properties\":{\"position\":" NUMBERS(NUMBER("x") "," NUMBER("y") "," NUMBER(
             "z")) ",\"orientation\":" NUMBERS(NUMBER("x") "," NUMBER("y") "," NUMBER("z") "," NUMBER("w")) "}}}}"},
    [SCHEMA_EVENT] = {"foxglove.Log",
                      "{\"type\":\"object\",\"properties\":{\"timestamp\":" TIME_SCHEMA
                      ",\"level\":{\"type\":\"integer\"},\"message\":{\"type\":\"string\"},"
                      "\"name\":{\"type\":\"string\"},\"file\":{\"type\":\"string\"},"
                      "\"line\":{\"type\":\"integer\"}}}"},
};

/* A channel; what the open chunk holds of it. */
typedef struct channel {
  const tt_run_entry *entry;
  tt_entry_role role;
  schema_id schema;
  uint32_t sequence;
  uint64_t messages;
  tt_bytes index;    /* (u64 time, u64 offset) of each message in the open chunk */
  uint64_t index_at; /* where the last chunk's index record was written */
} channel;

typedef struct writer {
  tt_export_buffer out;
  const tt_run_log *log;
  uint64_t at;  /* bytes written */
  uint32_t crc; /* of all of them, or of the summary */
  channel *channels;
  uint16_t *channel_of; /* by entry; 0: none */
  uint32_t channel_count;
  tt_bytes chunk, packed, text;
  uint64_t chunk_first, chunk_last; /* ns */
  uint64_t first, last, messages;   /* of the file */
  bool any, chunk_any;
  tt_bytes chunk_indexes, metadata_index; /* records of the summary, ready */
  uint32_t chunk_count, metadata_count;
  ZSTD_CCtx *zstd;
} writer;

/* ---- pieces ---- */

static void add_bytes(tt_bytes *to, const void *bytes, size_t size) {
  tt_bytes_append_le(to, size, 4);
  tt_bytes_append(to, bytes, size);
}

static void add_string(tt_bytes *to, const char *text) { add_bytes(to, text, strlen(text)); }

static void add_record(tt_bytes *to, uint8_t opcode, const tt_bytes *content) {
  tt_bytes_append(to, &opcode, 1);
  tt_bytes_append_le(to, content->size, 8);
  tt_bytes_append(to, content->data, content->size);
  to->failed |= content->failed;
}

static void emit(writer *to, const void *bytes, size_t size) {
  tt_export_put(&to->out, bytes, size);
  to->crc = (uint32_t)crc32(to->crc, bytes, (uInt)size);
  to->at += size;
}

/* Writes what was built and frees it. */
static void emit_all(writer *to, tt_bytes *bytes) {
  if (bytes->failed) to->out.status = TT_NOMEM;
  if (!bytes->failed) emit(to, bytes->data, bytes->size);
  tt_bytes_free(bytes);
}

static void emit_record(writer *to, uint8_t opcode, tt_bytes *content) {
  tt_bytes record = {0};
  add_record(&record, opcode, content);
  emit_all(to, &record);
  tt_bytes_free(content);
}

/* ---- schemas and channels ---- */

static void add_schema(tt_bytes *to, uint16_t id) {
  tt_bytes content = {0};
  tt_bytes_append_le(&content, id, 2);
  add_string(&content, schemas[id].name);
  add_string(&content, "jsonschema");
  add_string(&content, schemas[id].text);
  add_record(to, OP_SCHEMA, &content);
  tt_bytes_free(&content);
}

static void add_channel(tt_bytes *to, const channel *from, uint16_t id) {
  tt_bytes content = {0}, metadata = {0};
  tt_bytes_append_le(&content, id, 2);
  tt_bytes_append_le(&content, from->schema, 2);
  add_string(&content, from->entry->name);
  add_string(&content, "json");
  if (*from->entry->metadata) {
    add_string(&metadata, "wpilog");
    add_string(&metadata, from->entry->metadata);
  }
  add_bytes(&content, metadata.data, metadata.size);
  add_record(to, OP_CHANNEL, &content);
  tt_bytes_free(&metadata);
  tt_bytes_free(&content);
}

static schema_id schema_of(tt_entry_role role) {
  switch (role) {
    case TT_ROLE_SIGNAL:
    case TT_ROLE_NUMBER: return SCHEMA_SIGNAL;
    case TT_ROLE_POSE: return SCHEMA_POSE;
    case TT_ROLE_EVENT: return SCHEMA_EVENT;
    default: return SCHEMA_NONE;
  }
}

/* Channels have the ids 1, 2, …; the first stands at index 1. */
static tt_status list_channels(writer *to) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(to->log, &count);
  to->channels = calloc((size_t)count + 1, sizeof *to->channels);
  to->channel_of = calloc((size_t)count + 1, sizeof *to->channel_of);
  if (!to->channels || !to->channel_of) return TT_NOMEM;
  for (uint32_t i = 0; i < count; i++) {
    tt_entry_role role = tt_entry_role_of(&entries[i]);
    schema_id schema = schema_of(role);
    if (schema == SCHEMA_NONE) continue;
    if (to->channel_count == MOST_CHANNELS) return TT_FULL;
    to->channels[++to->channel_count] =
        (channel){.entry = &entries[i], .role = role, .schema = schema};
    to->channel_of[i] = (uint16_t)to->channel_count;
  }
  return TT_OK;
}

static void add_definitions(const writer *from, tt_bytes *to) {
  for (uint16_t i = 1; i < SCHEMA_END; i++) add_schema(to, i);
  for (uint32_t i = 1; i <= from->channel_count; i++)
    add_channel(to, &from->channels[i], (uint16_t)i);
}

/* ---- messages ---- */

static void add_text(tt_bytes *to, const char *text) { tt_bytes_append(to, text, strlen(text)); }

static void add_double(tt_bytes *to, const char *before, const uint8_t *payload) {
  char text[TT_DOUBLE_SIZE];
  add_text(to, before);
  add_text(to, tt_double_text(tt_wpilog_double(payload), text));
}

static void add_stamp(tt_bytes *to, uint64_t time) {
  char text[80];
  snprintf(text, sizeof text, "{\"timestamp\":{\"sec\":%llu,\"nsec\":%llu},",
           (unsigned long long)(time / 1000000u), (unsigned long long)(time % 1000000u * 1000u));
  add_text(to, text);
}

static void encode_pose(tt_bytes *to, const tt_wpilog_record *record) {
  const uint8_t *at = record->payload; /* x y z, w x y z */
  add_stamp(to, record->timestamp);
  add_text(to, "\"frame_id\":\"field\",\"pose\":{\"position\":{");
  add_double(to, "\"x\":", at);
  add_double(to, ",\"y\":", at + 8);
  add_double(to, ",\"z\":", at + 16);
  add_double(to, "},\"orientation\":{\"x\":", at + 32);
  add_double(to, ",\"y\":", at + 40);
  add_double(to, ",\"z\":", at + 48);
  add_double(to, ",\"w\":", at + 24);
  add_text(to, "}}}");
}

static void encode_event(tt_bytes *to, const tt_wpilog_record *record) {
  const char *text = (const char *)record->payload;
  const char *colon = memchr(text, ':', record->size);
  add_stamp(to, record->timestamp);
  add_text(to, "\"level\":2,\"message\":");
  tt_bytes_append_json(to, text, record->size);
  add_text(to, ",\"name\":");
  tt_bytes_append_json(to, text, colon ? (size_t)(colon - text) : 0);
  add_text(to, ",\"file\":\"\",\"line\":0}");
}

static void encode(tt_bytes *to, schema_id schema, const tt_wpilog_record *record) {
  to->size = 0;
  if (schema == SCHEMA_POSE) {
    encode_pose(to, record);
  } else if (schema == SCHEMA_EVENT) {
    encode_event(to, record);
  } else {
    add_double(to, "{\"value\":", record->payload);
    add_text(to, "}");
  }
}

static void note_times(writer *to, uint64_t time) {
  if (!to->any || time < to->first) to->first = time;
  if (!to->any || time > to->last) to->last = time;
  if (!to->chunk_any || time < to->chunk_first) to->chunk_first = time;
  if (!to->chunk_any || time > to->chunk_last) to->chunk_last = time;
  to->any = to->chunk_any = true;
}

static void add_message(writer *to, uint16_t id, const tt_wpilog_record *record) {
  channel *on = &to->channels[id];
  uint64_t time = record->timestamp * 1000u;
  encode(&to->text, on->schema, record);
  note_times(to, time);
  tt_bytes_append_le(&on->index, time, 8);
  tt_bytes_append_le(&on->index, to->chunk.size, 8);
  tt_bytes_append(&to->chunk, &(uint8_t){OP_MESSAGE}, 1);
  tt_bytes_append_le(&to->chunk, 22 + to->text.size, 8);
  tt_bytes_append_le(&to->chunk, id, 2);
  tt_bytes_append_le(&to->chunk, on->sequence++, 4);
  tt_bytes_append_le(&to->chunk, time, 8);
  tt_bytes_append_le(&to->chunk, time, 8);
  tt_bytes_append(&to->chunk, to->text.data, to->text.size);
  to->chunk.failed |= to->text.failed | on->index.failed;
  on->messages++;
  to->messages++;
}

/* ---- chunks ---- */

static bool pack(writer *to) {
  size_t bound = ZSTD_compressBound(to->chunk.size);
  to->packed.size = 0;
  if (to->packed.capacity < bound) {
    tt_bytes_free(&to->packed);
    to->packed.data = malloc(bound);
    to->packed.capacity = to->packed.data ? bound : 0;
  }
  if (to->chunk.failed || !to->packed.data) return false;
  size_t size = ZSTD_compress2(to->zstd, to->packed.data, bound, to->chunk.data, to->chunk.size);
  if (ZSTD_isError(size)) return false;
  to->packed.size = size;
  return true;
}

static void emit_chunk(writer *to) {
  tt_bytes content = {0};
  tt_bytes_append_le(&content, to->chunk_first, 8);
  tt_bytes_append_le(&content, to->chunk_last, 8);
  tt_bytes_append_le(&content, to->chunk.size, 8);
  tt_bytes_append_le(&content, crc32(0, to->chunk.data, (uInt)to->chunk.size), 4);
  add_string(&content, "zstd");
  tt_bytes_append_le(&content, to->packed.size, 8);
  tt_bytes_append(&content, to->packed.data, to->packed.size);
  emit_record(to, OP_CHUNK, &content);
}

/* Message indexes of the chunk; `offsets` gets the map of the chunk index. */
static void emit_message_indexes(writer *to, tt_bytes *offsets) {
  for (uint32_t i = 1; i <= to->channel_count; i++) {
    channel *on = &to->channels[i];
    if (on->index.size == 0) continue;
    tt_bytes_append_le(offsets, i, 2);
    tt_bytes_append_le(offsets, to->at, 8);
    tt_bytes content = {0};
    tt_bytes_append_le(&content, i, 2);
    add_bytes(&content, on->index.data, on->index.size);
    emit_record(to, OP_MESSAGE_INDEX, &content);
    on->index.size = 0;
  }
}

static void close_chunk(writer *to) {
  if (to->chunk.size == 0 || to->out.status != TT_OK) return;
  if (!pack(to)) {
    to->out.status = TT_NOMEM;
    return;
  }
  uint64_t chunk_at = to->at;
  emit_chunk(to);
  uint64_t indexes_at = to->at;
  tt_bytes offsets = {0}, content = {0};
  emit_message_indexes(to, &offsets);
  tt_bytes_append_le(&content, to->chunk_first, 8);
  tt_bytes_append_le(&content, to->chunk_last, 8);
  tt_bytes_append_le(&content, chunk_at, 8);
  tt_bytes_append_le(&content, indexes_at - chunk_at, 8);
  add_bytes(&content, offsets.data, offsets.size);
  tt_bytes_append_le(&content, to->at - indexes_at, 8);
  add_string(&content, "zstd");
  tt_bytes_append_le(&content, to->packed.size, 8);
  tt_bytes_append_le(&content, to->chunk.size, 8);
  add_record(&to->chunk_indexes, OP_CHUNK_INDEX, &content);
  tt_bytes_free(&content);
  tt_bytes_free(&offsets);
  to->chunk_count++;
  to->chunk.size = 0;
  to->chunk_first = to->chunk_last = 0;
  to->chunk_any = false;
}

static void emit_messages(writer *to, tt_run_cursor *cursor) {
  tt_wpilog_record record;
  add_definitions(to, &to->chunk);
  while (to->out.status == TT_OK && tt_run_cursor_next(cursor, &record) == TT_OK) {
    uint16_t id = to->channel_of[record.entry];
    if (!id || !tt_record_fits(to->channels[id].role, &record)) continue;
    add_message(to, id, &record);
    if (to->chunk.size < CHUNK_SIZE) continue;
    close_chunk(to);
    tt_export_progress(to->out.sink, cursor);
  }
  close_chunk(to);
}

/* ---- head and tail ---- */

static void emit_header(writer *to) {
  tt_bytes content = {0};
  emit(to, magic, sizeof magic);
  add_string(&content, "");
  add_string(&content, "tether " TETHER_VERSION);
  emit_record(to, OP_HEADER, &content);
}

/* What was run, as the log says it. */
static void emit_metadata(writer *to, const tt_run_cursor *cursor) {
  tt_wpilog_record record;
  if (!tt_run_cursor_value(cursor, tt_run_log_find(to->log, "/tether/run"), &record)) return;
  tt_bytes content = {0}, map = {0};
  uint64_t at = to->at;
  add_string(&content, "tether.run");
  add_string(&map, "run");
  add_bytes(&map, record.payload, record.size);
  add_bytes(&content, map.data, map.size);
  tt_bytes_free(&map);
  emit_record(to, OP_METADATA, &content);
  tt_bytes index = {0};
  tt_bytes_append_le(&index, at, 8);
  tt_bytes_append_le(&index, to->at - at, 8);
  add_string(&index, "tether.run");
  add_record(&to->metadata_index, OP_METADATA_INDEX, &index);
  tt_bytes_free(&index);
  to->metadata_count++;
}

static void emit_data_end(writer *to) {
  tt_bytes content = {0};
  tt_bytes_append_le(&content, to->crc, 4);
  emit_record(to, OP_DATA_END, &content);
}

static void add_statistics(const writer *from, tt_bytes *to) {
  tt_bytes content = {0}, counts = {0};
  for (uint32_t i = 1; i <= from->channel_count; i++) {
    tt_bytes_append_le(&counts, i, 2);
    tt_bytes_append_le(&counts, from->channels[i].messages, 8);
  }
  tt_bytes_append_le(&content, from->messages, 8);
  tt_bytes_append_le(&content, SCHEMA_END - 1, 2);
  tt_bytes_append_le(&content, from->channel_count, 4);
  tt_bytes_append_le(&content, 0, 4); /* attachments */
  tt_bytes_append_le(&content, from->metadata_count, 4);
  tt_bytes_append_le(&content, from->chunk_count, 4);
  tt_bytes_append_le(&content, from->first, 8);
  tt_bytes_append_le(&content, from->last, 8);
  add_bytes(&content, counts.data, counts.size);
  add_record(to, OP_STATISTICS, &content);
  tt_bytes_free(&counts);
  tt_bytes_free(&content);
}

/* One group of the summary, and where it stands. */
static void emit_group(writer *to, uint8_t opcode, tt_bytes *group, tt_bytes *offsets) {
  if (group->size == 0) return;
  tt_bytes content = {0};
  tt_bytes_append_le(&content, opcode, 1);
  tt_bytes_append_le(&content, to->at, 8);
  tt_bytes_append_le(&content, group->size, 8);
  add_record(offsets, OP_SUMMARY_OFFSET, &content);
  tt_bytes_free(&content);
  emit_all(to, group);
}

static void emit_summary(writer *to) {
  tt_bytes offsets = {0}, group = {0}, footer = {0};
  uint64_t start = to->at;
  to->crc = (uint32_t)crc32(0, NULL, 0);
  for (uint16_t i = 1; i < SCHEMA_END; i++) add_schema(&group, i);
  emit_group(to, OP_SCHEMA, &group, &offsets);
  for (uint32_t i = 1; i <= to->channel_count; i++)
    add_channel(&group, &to->channels[i], (uint16_t)i);
  emit_group(to, OP_CHANNEL, &group, &offsets);
  emit_group(to, OP_CHUNK_INDEX, &to->chunk_indexes, &offsets);
  emit_group(to, OP_METADATA_INDEX, &to->metadata_index, &offsets);
  add_statistics(to, &group);
  emit_group(to, OP_STATISTICS, &group, &offsets);
  uint64_t offsets_at = to->at;
  emit_all(to, &offsets);
  tt_bytes_append(&footer, &(uint8_t){OP_FOOTER}, 1);
  tt_bytes_append_le(&footer, 20, 8);
  tt_bytes_append_le(&footer, start, 8);
  tt_bytes_append_le(&footer, offsets_at, 8);
  emit_all(to, &footer);
  tt_bytes_append_le(&footer, to->crc, 4);
  tt_bytes_append(&footer, magic, sizeof magic);
  emit_all(to, &footer);
}

static void release(writer *from) {
  for (uint32_t i = 1; i <= from->channel_count; i++) tt_bytes_free(&from->channels[i].index);
  free(from->channels);
  free(from->channel_of);
  tt_bytes_free(&from->chunk);
  tt_bytes_free(&from->packed);
  tt_bytes_free(&from->text);
  tt_bytes_free(&from->chunk_indexes);
  tt_bytes_free(&from->metadata_index);
  ZSTD_freeCCtx(from->zstd);
}

tt_status tt_export_mcap(const tt_run_log *log, const tt_export_sink *sink) {
  writer made = {.log = log, .crc = (uint32_t)crc32(0, NULL, 0), .zstd = ZSTD_createCCtx()};
  tt_run_cursor cursor;
  tt_export_begin(&made.out, sink);
  tt_status status = made.zstd && tt_run_cursor_open(&cursor, log) ? TT_OK : TT_NOMEM;
  if (status == TT_OK) {
    status = list_channels(&made);
    if (status == TT_OK) {
      emit_header(&made);
      emit_messages(&made, &cursor);
      emit_metadata(&made, &cursor);
      emit_data_end(&made);
      emit_summary(&made);
    }
    tt_run_cursor_close(&cursor);
  }
  tt_status written = tt_export_end(&made.out);
  release(&made);
  return status == TT_OK ? written : status;
}
