/* reader.c: readers: a connection of their own, and what a device's epochs are. Each query sees one moment; what is written between two of
 * them the second one sees, too.
 */
#include "store/clickhouse/internal.h"

#include <stdio.h>
#include <stdlib.h>

static tt_status reader_epochs(tt_store_reader *base, int device, tt_list *epochs,
                               tt_error *error) {
  tt_clickhouse_reader *reader = (tt_clickhouse_reader *)base;
  reader->boots_of = 0;
  TT_TRY(tt_clickhouse_need_boots(reader, tt_clickhouse_get_id(&reader->known.devices, device),
                                  error));
  for (uint32_t i = 0; i < reader->boots.len; i++) {
    tt_store_epoch epoch = tt_list_at(&reader->boots, tt_clickhouse_boot, i).epoch;
    epoch.device = device;
    tt_list_add(epochs, &epoch, 1);
  }
  return epochs->failed ? tt_clickhouse_no_memory(error) : TT_OK;
}

static tt_status reader_holds(tt_store_reader *base, int device, int attribute, bool *holds,
                              tt_error *error) {
  tt_clickhouse_reader *reader = (tt_clickhouse_reader *)base;
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  tt_list_print(&sql, "SELECT attribute FROM ");
  tt_clickhouse_print_values(&reader->source, &sql);
  tt_list_print(&sql, " WHERE device = %" PRIu64 " AND attribute = %" PRIu64 " LIMIT 1",
                tt_clickhouse_get_id(&reader->known.devices, device),
                tt_clickhouse_get_id(&reader->known.attributes, attribute));
  tt_status status = tt_clickhouse_ask_list(&reader->source, &sql, &answer, error);
  *holds = status == TT_OK && answer.len;
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status;
}

static void reader_close(tt_store_reader *base) {
  tt_clickhouse_reader *reader = (tt_clickhouse_reader *)base;
  tt_clickhouse_link_free(reader->source.link);
  tt_clickhouse_address_clear(&reader->address);
  tt_clickhouse_ids_clear(&reader->known);
  tt_map_clear(&reader->devices);
  tt_map_clear(&reader->attributes);
  tt_list_free(&reader->boots);
  free(reader);
}

/** Indices by ids. False: out of memory. */
static bool note_indices(const tt_list *ids, tt_map *indices) {
  bool noted = true;
  for (uint32_t i = 0; i < ids->len; i++)
    noted &= tt_map_put(indices, (tt_map_key){(int64_t)tt_list_at(ids, uint64_t, i), 0}, i);
  return noted;
}

static bool note_all(tt_clickhouse_reader *reader) {
  return note_indices(&reader->known.devices, &reader->devices) &&
         note_indices(&reader->known.attributes, &reader->attributes);
}

/** Copies what indices mean at this moment. False: out of memory. */
static bool copy_ids(tt_clickhouse_reader *reader, tt_clickhouse *store) {
  const tt_clickhouse_ids *known = &store->known;
  pthread_mutex_lock(&store->mutex);
  bool copied = true;
  if (known->devices.len)
    copied &= tt_list_add(&reader->known.devices, known->devices.data, known->devices.len);
  if (known->attributes.len)
    copied &= tt_list_add(&reader->known.attributes, known->attributes.data, known->attributes.len);
  pthread_mutex_unlock(&store->mutex);
  return copied && note_all(reader);
}

static tt_status reader_load(tt_store_reader *base, const tt_store_loader *loader,
                             tt_error *error) {
  tt_clickhouse_reader *reader = (tt_clickhouse_reader *)base;
  tt_clickhouse_teller teller = {
      .source = reader->source, .loader = loader, .known = &reader->known};
  bool taken;
  TT_TRY(tt_clickhouse_tell(&teller, &taken, error));
  return note_all(reader) ? TT_OK : tt_clickhouse_no_memory(error);
}

static tt_status connect_reader(tt_clickhouse_reader *reader, const char *url, tt_error *error) {
  TT_TRY(tt_clickhouse_address_parse(url, &reader->address, error));
  reader->source.address = &reader->address;
  TT_TRY(tt_clickhouse_link_new(&reader->address, 0, READER_PATIENCE, &reader->source.link, error));
  return tt_clickhouse_check_version(&reader->source, error);
}

/** A reader that knows no names. */
static tt_status new_reader(const char *url, tt_clickhouse_reader **out, tt_error *error) {
  tt_clickhouse_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return tt_clickhouse_no_memory(error);
  reader->base = (tt_store_reader){.load = reader_load,
                                   .epochs = reader_epochs,
                                   .open = tt_clickhouse_open_cursor,
                                   .next = tt_clickhouse_next,
                                   .close_cursor = tt_clickhouse_close_cursor,
                                   .count = tt_clickhouse_count,
                                   .buckets = tt_clickhouse_read_buckets,
                                   .latest = tt_clickhouse_read_latest,
                                   .holds = reader_holds,
                                   .close = reader_close};
  reader->known = tt_clickhouse_no_ids();
  reader->boots = TT_LIST(tt_clickhouse_boot, NULL);
  tt_status status = connect_reader(reader, url, error);
  if (status != TT_OK) {
    reader_close(&reader->base);
    return status;
  }
  *out = reader;
  return TT_OK;
}

tt_status tt_clickhouse_open_reader(tt_store *base, tt_store_reader **out, tt_error *error) {
  tt_clickhouse *store = (tt_clickhouse *)base;
  tt_clickhouse_reader *reader;
  TT_TRY(new_reader(store->url, &reader, error));
  if (!copy_ids(reader, store)) {
    reader_close(&reader->base);
    return tt_clickhouse_no_memory(error);
  }
  *out = &reader->base;
  return TT_OK;
}

tt_status tt_clickhouse_open_alone(const tt_store_options *options, tt_store_reader **out,
                                   tt_error *error) {
  tt_clickhouse_reader *reader;
  TT_TRY(new_reader(options->url, &reader, error));
  *out = &reader->base;
  return TT_OK;
}
