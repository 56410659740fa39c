/* names.c: what is defined: names, pairs, epochs and handling, as facts of which the latest counts. Each is written where it is not
 * there already, on every shard.
 */
#include "store/clickhouse/internal.h"

#include <string.h>

/** Epochs whose ranges are remembered; at one more all are forgotten first, and read again. Some 6 MB. */
#define MOST_RANGES 65536

/** Facts of a name. Numbers stand in databases, and stay. */
enum { THERE, NAMED, REMOVED };

_Static_assert(TT_VALUE_FLAG == 3 && TT_MODE_IGNORE == 3, "the last of those kept in `handling`");

/* --- what is learnt --- */

static bool learn_names(const tt_list *names, tt_list *ids) {
  bool noted = true;
  for (uint32_t i = 0; i < names->len && noted; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    noted = tt_clickhouse_set_id(ids, name->index, tt_clickhouse_id(name->identifier));
  }
  return noted;
}

bool tt_clickhouse_learn(tt_clickhouse *store, const tt_store_batch *batch,
                         tt_clickhouse_ids *known) {
  pthread_mutex_lock(&store->mutex);
  bool noted = learn_names(&batch->devices, &known->devices) &&
               learn_names(&batch->attributes, &known->attributes);
  for (uint32_t i = 0; i < batch->epochs.len && noted; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&batch->epochs, tt_store_epoch, i);
    noted = tt_map_put(&known->epochs, (tt_map_key){epoch->device, epoch->number}, epoch->key);
  }
  pthread_mutex_unlock(&store->mutex);
  return noted;
}

/* --- names --- */

static tt_clickhouse_block name_block(void) {
  static const char *const columns[] = {"kind",   "UInt8", "id",      "UInt64", "identifier",
                                        "String", "fact",  "UInt8",   "text",   "String",
                                        "at",     "Int64", "version", "UInt64", NULL};
  return tt_clickhouse_block_of(columns);
}

static void put_fact(tt_clickhouse *store, tt_clickhouse_block *block, bool device,
                     const tt_store_name *name, int fact, const char *text) {
  const int64_t at = tt_clickhouse_change(store);
  tt_clickhouse_put_byte(block, 0, !device);
  tt_clickhouse_put_unsigned(block, 1, tt_clickhouse_id(name->identifier));
  tt_clickhouse_put_text(block, 2, name->identifier);
  tt_clickhouse_put_byte(block, 3, (uint8_t)fact);
  tt_clickhouse_put_text(block, 4, text);
  tt_clickhouse_put_long(block, 5, at);
  // That it is there counts as it was said first.
  tt_clickhouse_put_unsigned(block, 6, fact == THERE ? ~(uint64_t)at : (uint64_t)at);
  block->rows++;
}

/** Whether there is anything to say of a name that is there already. */
static bool says_more(const tt_store_name *name) {
  return name->name || name->state != TT_NAME_KNOWN;
}

static bool is_there(const tt_clickhouse *store, bool device, const tt_store_name *name) {
  const int64_t id = (int64_t)tt_clickhouse_id(name->identifier);
  return tt_map_get(&store->names, (tt_map_key){!device, id});
}

/** What is said of a name until now: by the database, and by the facts of the batch before this one. */
typedef struct standing {
  uint32_t identifier, name, removed; /**< in `texts` */
} standing;

/** Zero at first, but for the lists. */
typedef struct all_standing {
  tt_list all, texts; /**< standing, char */
  tt_map places;      /**< id → place in `all` */
} all_standing;

static void free_standing(all_standing *known) {
  tt_list_free(&known->all);
  tt_list_free(&known->texts);
  tt_map_clear(&known->places);
}

/** False: out of memory. */
static bool add_standing(all_standing *known, uint64_t id, const standing *one) {
  return !known->texts.failed &&
         tt_map_put(&known->places, (tt_map_key){(int64_t)id, 0}, known->all.len) &&
         tt_list_add(&known->all, one, 1);
}

static standing *find_standing(const all_standing *known, uint64_t id) {
  const int64_t *place = tt_map_get(&known->places, (tt_map_key){(int64_t)id, 0});
  return place ? &tt_list_at(&known->all, standing, *place) : NULL;
}

static uint32_t keep_text(all_standing *known, const char *text) {
  const uint32_t start = known->texts.len;
  tt_list_add(&known->texts, text, (uint32_t)strlen(text) + 1);
  return start;
}

/** Also of whoever has a name for people that another one gets. */
static void print_holders(tt_list *sql, bool device, const tt_list *names) {
  const char *before = "";
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    if (!name->name || !*name->name) continue;
    if (*before)
      tt_list_print(sql, "%s", before);
    else
      tt_list_print(sql,
                    " OR id IN (SELECT id FROM name WHERE kind = %d AND fact = 1 AND text IN (",
                    !device);
    tt_clickhouse_print_text(sql, name->name);
    before = ", ";
  }
  if (*before) tt_list_print(sql, "))");
}

/** Reads what it says of those names of which something may be new. */
static tt_status read_standing(tt_clickhouse *store, bool device, const tt_list *names,
                               all_standing *known, tt_error *error) {
  const tt_clickhouse_source source = tt_clickhouse_source_of(store);
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  bool any = false, noted = true;
  tt_list_print(&sql,
                "SELECT id, any(identifier), argMaxIf(text, version, fact = 1),"
                " argMaxIf(text, version, fact = 2) FROM name WHERE kind = %d"
                " AND (id IN (",
                !device);
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    if (is_there(store, device, name) && !says_more(name)) continue;
    tt_list_print(&sql, "%s%" PRIu64, any ? ", " : "", tt_clickhouse_id(name->identifier));
    any = true;
  }
  tt_list_print(&sql, ")");
  print_holders(&sql, device, names);
  tt_list_print(&sql, ") GROUP BY id");
  tt_status status = any ? tt_clickhouse_ask_list(&source, &sql, &answer, error) : TT_OK;
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && noted && tt_clickhouse_has_row(&rows)) {
    const uint64_t id = tt_clickhouse_get_unsigned(&rows);
    standing one;
    one.identifier = tt_clickhouse_get_text(&rows, &known->texts);
    one.name = tt_clickhouse_get_text(&rows, &known->texts);
    one.removed = tt_clickhouse_get_text(&rows, &known->texts);
    noted = add_standing(known, id, &one);
  }
  if (status == TT_OK && noted) status = tt_clickhouse_check(&rows, error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status == TT_OK && !noted ? tt_clickhouse_no_memory(error) : status;
}

/** Where the database says nothing of a name, that it is there is put first. NULL: out of memory. */
static standing *need_standing(tt_clickhouse *store, tt_clickhouse_block *block, bool device,
                               const tt_store_name *name, all_standing *known) {
  const uint64_t id = tt_clickhouse_id(name->identifier);
  standing *there = find_standing(known, id);
  if (there) return there;
  const uint32_t nothing = keep_text(known, "");
  const standing added = {keep_text(known, name->identifier), nothing, nothing};
  if (!is_there(store, device, name)) put_fact(store, block, device, name, THERE, "");
  return add_standing(known, id, &added) ? find_standing(known, id) : NULL;
}

/** Puts a fact, with which what the batch says later is compared. */
static void put_change(tt_clickhouse *store, tt_clickhouse_block *block, bool device,
                       const tt_store_name *name, int fact, const char *text, all_standing *known,
                       uint32_t *place) {
  put_fact(store, block, device, name, fact, text);
  *place = keep_text(known, text);
}

/** Two collectors may give one name to two things, or move it while nobody stores: the later one has it. */
static void take_from_others(tt_clickhouse *store, tt_clickhouse_block *block, bool device,
                             const tt_store_name *name, all_standing *known) {
  for (uint32_t i = 0; i < known->all.len && *name->name && !known->texts.failed; i++) {
    standing *other = &tt_list_at(&known->all, standing, i);
    char *texts = known->texts.data;
    if (strcmp(texts + other->name, name->name) != 0) continue;
    const tt_store_name unnamed = {.identifier = texts + other->identifier};
    put_change(store, block, device, &unnamed, NAMED, "", known, &other->name);
  }
}

static tt_status put_name(tt_clickhouse *store, tt_clickhouse_block *block, bool device,
                          const tt_store_name *name, all_standing *known, tt_error *error) {
  standing *there = need_standing(store, block, device, name, known);
  if (!there || known->texts.failed) return tt_clickhouse_no_memory(error);
  const char *text = known->texts.data;
  if (strcmp(text + there->identifier, name->identifier) != 0)
    return tt_fail(error, TT_INVALID, "'%.100s' and '%.100s' have the same hash; rename one",
                   name->identifier, text + there->identifier);
  const bool renamed = name->name && strcmp(text + there->name, name->name) != 0;
  const bool removed = text[there->removed] == '1';
  if (renamed) {
    take_from_others(store, block, device, name, known);
    put_change(store, block, device, name, NAMED, name->name, known, &there->name);
  }
  if (name->state == TT_NAME_REMOVED)
    put_change(store, block, device, name, REMOVED, "1", known, &there->removed);
  else if (removed && name->state == TT_NAME_USED)
    put_change(store, block, device, name, REMOVED, "0", known, &there->removed);
  return TT_OK;
}

static tt_status put_names(tt_clickhouse *store, bool device, const tt_list *names,
                           tt_error *error) {
  all_standing known = {.all = TT_LIST(standing, NULL), .texts = TT_LIST(char, NULL)};
  tt_clickhouse_block block = name_block();
  tt_status status = read_standing(store, device, names, &known, error);
  for (uint32_t i = 0; i < names->len && status == TT_OK; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    if (is_there(store, device, name) && !says_more(name)) continue;
    status = put_name(store, &block, device, name, &known, error);
  }
  if (status == TT_OK) status = tt_clickhouse_insert_all(store, "name", &block, error);
  tt_clickhouse_block_free(&block);
  for (uint32_t i = 0; i < names->len && status == TT_OK; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    const int64_t id = (int64_t)tt_clickhouse_id(name->identifier);
    tt_map_put(&store->names, (tt_map_key){!device, id}, 1);  // not noted, it is asked for again
  }
  free_standing(&known);
  return status;
}

/* --- pairs, epochs, handling --- */

static tt_status put_pairs(tt_clickhouse *store, const tt_list *pairs,
                           const tt_clickhouse_ids *known, tt_error *error) {
  static const char *const columns[] = {"device", "UInt64",  "attribute", "UInt64", "at",
                                        "Int64",  "version", "UInt64",    NULL};
  tt_clickhouse_block block = tt_clickhouse_block_of(columns);
  for (uint32_t i = 0; i < pairs->len; i++) {
    const tt_store_pair *pair = &tt_list_at(pairs, tt_store_pair, i);
    const int64_t at = tt_clickhouse_change(store);
    tt_clickhouse_put_unsigned(&block, 0, tt_clickhouse_get_id(&known->devices, pair->device));
    tt_clickhouse_put_unsigned(&block, 1,
                               tt_clickhouse_get_id(&known->attributes, pair->attribute));
    tt_clickhouse_put_long(&block, 2, at);
    tt_clickhouse_put_unsigned(&block, 3, (uint64_t)at);
    block.rows++;
  }
  tt_status status = tt_clickhouse_insert_all(store, "pair", &block, error);
  tt_clickhouse_block_free(&block);
  return status;
}

/** What is written of an epoch; NULL: nothing that is known of. */
static tt_clickhouse_range *range_of(const tt_clickhouse *store, uint64_t device, int64_t key) {
  const int64_t *place = tt_map_get(&store->ranges, (tt_map_key){(int64_t)device, key});
  return place ? &tt_list_at(&store->boots, tt_clickhouse_range, *place) : NULL;
}

static void forget_ranges(tt_clickhouse *store) {
  tt_list_free(&store->boots);
  tt_map_clear(&store->ranges);
}

/** Notes that of an epoch. False: out of memory. */
static bool note_range(tt_clickhouse *store, uint64_t device, int64_t key, int64_t low,
                       int64_t high) {
  tt_clickhouse_range *there = range_of(store, device, key);
  const tt_clickhouse_range range = {low, high};
  if (!there)
    return tt_list_add(&store->boots, &range, 1) &&
           tt_map_put(&store->ranges, (tt_map_key){(int64_t)device, key}, store->boots.len - 1);
  if (low < there->low) there->low = low;
  if (high > there->high) there->high = high;
  return true;
}

/** Looks up epochs whose ranges are not remembered. */
static tt_status read_ranges(tt_clickhouse *store, const tt_list *epochs,
                             const tt_clickhouse_ids *known, tt_error *error) {
  const tt_clickhouse_source source = tt_clickhouse_source_of(store);
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  bool any = false, noted = true;
  if (store->boots.len >= MOST_RANGES) forget_ranges(store);
  tt_list_print(&sql,
                "SELECT device, key, min(offset_low), max(offset_high) FROM boot"
                " WHERE tuple(device, key) IN (");
  for (uint32_t i = 0; i < epochs->len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(epochs, tt_store_epoch, i);
    const uint64_t device = tt_clickhouse_get_id(&known->devices, epoch->device);
    if (range_of(store, device, epoch->key)) continue;
    tt_list_print(&sql, "%s(%" PRIu64 ", %" PRId64 ")", any ? ", " : "", device, epoch->key);
    any = true;
  }
  tt_list_print(&sql, ") GROUP BY device, key");
  tt_status status = any ? tt_clickhouse_ask_list(&source, &sql, &answer, error) : TT_OK;
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && noted && tt_clickhouse_has_row(&rows)) {
    const uint64_t device = tt_clickhouse_get_unsigned(&rows);
    const int64_t key = tt_clickhouse_get_long(&rows), low = tt_clickhouse_get_long(&rows);
    noted = note_range(store, device, key, low, tt_clickhouse_get_long(&rows));
  }
  if (status == TT_OK && noted) status = tt_clickhouse_check(&rows, error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status == TT_OK && !noted ? tt_clickhouse_no_memory(error) : status;
}

static void put_epoch(tt_clickhouse *store, tt_clickhouse_block *block, uint64_t device,
                      const tt_store_epoch *epoch, bool is_new) {
  tt_clickhouse_put_unsigned(block, 0, device);
  tt_clickhouse_put_long(block, 1, epoch->key);
  tt_clickhouse_put_int(block, 2, epoch->number);
  tt_clickhouse_put_long(block, 3, epoch->anchor);
  tt_clickhouse_put_long(block, 4, epoch->offset_low);
  tt_clickhouse_put_long(block, 5, epoch->offset_high);
  tt_clickhouse_put_text(block, 6, epoch->boot);
  tt_clickhouse_put_byte(block, 7, is_new);
  tt_clickhouse_put_long(block, 8, tt_clickhouse_change(store));
  block->rows++;
}

static tt_status put_epochs(tt_clickhouse *store, const tt_list *epochs,
                            const tt_clickhouse_ids *known, tt_error *error) {
  static const char *const columns[] = {"device",      "UInt64", "key",   "Int64",      "number",
                                        "Int32",       "anchor", "Int64", "offset_low", "Int64",
                                        "offset_high", "Int64",  "boot",  "String",     "is_new",
                                        "UInt8",       "at",     "Int64", NULL};
  TT_TRY(read_ranges(store, epochs, known, error));
  tt_clickhouse_block block = tt_clickhouse_block_of(columns);
  for (uint32_t i = 0; i < epochs->len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(epochs, tt_store_epoch, i);
    const uint64_t device = tt_clickhouse_get_id(&known->devices, epoch->device);
    const tt_clickhouse_range *there = range_of(store, device, epoch->key);
    if (!there || epoch->offset_low < there->low || epoch->offset_high > there->high)
      put_epoch(store, &block, device, epoch, !there);
  }
  tt_status status = tt_clickhouse_insert_all(store, "boot", &block, error);
  tt_clickhouse_block_free(&block);
  for (uint32_t i = 0; i < epochs->len && status == TT_OK; i++) {
    const tt_store_epoch *epoch = &tt_list_at(epochs, tt_store_epoch, i);
    if (!note_range(store, tt_clickhouse_get_id(&known->devices, epoch->device), epoch->key,
                    epoch->offset_low, epoch->offset_high))
      status = tt_clickhouse_no_memory(error);
  }
  return status;
}

static tt_status put_handlings(tt_clickhouse *store, const tt_list *handlings, tt_error *error) {
  static const char *const columns[] = {
      "pattern", "String",   "removed",      "UInt8",   "type",      "UInt8",   "mode",
      "UInt8",   "has_unit", "UInt8",        "unit",    "String",    "scale",   "Float64",
      "offset",  "Float64",  "min_interval", "Float64", "retention", "Float64", "at",
      "Int64",   "version",  "UInt64",       NULL};
  tt_clickhouse_block block = tt_clickhouse_block_of(columns);
  for (uint32_t i = 0; i < handlings->len; i++) {
    const tt_handling *handling = &tt_list_at(handlings, tt_handling, i);
    const double numbers[] = {handling->scale, handling->offset, handling->min_interval,
                              handling->retention};
    const int64_t at = tt_clickhouse_change(store);
    tt_clickhouse_put_text(&block, 0, handling->pattern);
    tt_clickhouse_put_byte(&block, 1, handling->removed);
    tt_clickhouse_put_byte(&block, 2, (uint8_t)handling->type);
    tt_clickhouse_put_byte(&block, 3, (uint8_t)handling->mode);
    tt_clickhouse_put_byte(&block, 4, handling->unit != NULL);
    tt_clickhouse_put_text(&block, 5, handling->unit ? handling->unit : "");
    for (int n = 0; n < 4; n++) tt_clickhouse_put_double(&block, 6 + n, numbers[n]);
    tt_clickhouse_put_long(&block, 10, at);
    tt_clickhouse_put_unsigned(&block, 11, (uint64_t)at);
    block.rows++;
  }
  tt_status status = tt_clickhouse_insert_all(store, "handling", &block, error);
  tt_clickhouse_block_free(&block);
  return status;
}

/* --- all --- */

int64_t tt_clickhouse_change(tt_clickhouse *store) {
  const int64_t now = tt_wall_us();
  store->seen = now > store->seen ? now : store->seen + 1;
  return store->seen;
}

/** Whether a batch says what may be new. */
static bool says_anything(const tt_clickhouse *store, const tt_store_batch *batch,
                          const tt_clickhouse_ids *known) {
  const tt_list *names[] = {&batch->devices, &batch->attributes};
  bool news = batch->pairs.len || batch->handlings.len;
  for (int kind = 0; kind < 2; kind++)
    for (uint32_t i = 0; i < names[kind]->len; i++) {
      const tt_store_name *name = &tt_list_at(names[kind], tt_store_name, i);
      news |= says_more(name) || !is_there(store, !kind, name);
    }
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&batch->epochs, tt_store_epoch, i);
    news |= !range_of(store, tt_clickhouse_get_id(&known->devices, epoch->device), epoch->key);
  }
  return news;
}

/** What others have said counts as said before. */
static tt_status see_changes(tt_clickhouse *store, tt_error *error) {
  const tt_clickhouse_source source = tt_clickhouse_source_of(store);
  int64_t change;
  TT_TRY(tt_clickhouse_last_change(&source, &change, error));
  if (change > store->seen) store->seen = change;
  return TT_OK;
}

tt_status tt_clickhouse_put_definitions(tt_clickhouse *store, const tt_store_batch *batch,
                                        const tt_clickhouse_ids *known, tt_error *error) {
  if (says_anything(store, batch, known)) TT_TRY(see_changes(store, error));
  TT_TRY(put_names(store, true, &batch->devices, error));
  TT_TRY(put_names(store, false, &batch->attributes, error));
  TT_TRY(put_pairs(store, &batch->pairs, known, error));
  TT_TRY(put_epochs(store, &batch->epochs, known, error));
  return put_handlings(store, &batch->handlings, error);
}
