#include "store/copy.h"

#include "base/text.h"
#include "store/map.h"

#include <stdlib.h>
#include <string.h>

/** Values of one batch, about. */
#define BATCH_VALUES 20000

/** What a store knows, as its loader told it. */
typedef struct known {
  tt_list devices, attributes; /**< tt_store_name, by index */
  tt_list handlings;           /**< tt_handling */
  tt_map pairs;                /**< device, attribute → 1 */
} known;

typedef struct copying {
  tt_store_reader *from;
  tt_store *to;
  const tt_copy_options *options;
  known source, target;
  tt_store_batch *batch;
  tt_map told;  /**< device, attribute → 1: pairs that `to` was told */
  tt_map named; /**< attribute, 0 → 1: those that the batch defines */
  int device;
  tt_store_epoch epoch; /**< of the samples of the batch */
  double begun, share;  /**< 0…1: of all that was done before this epoch, and what it is of all */
  tt_copied *copied;
} copying;

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/* --- what stores know --- */

static void free_name(void *item) {
  tt_store_name *name = item;
  free(name->identifier);
  free(name->name);
}

static known nothing_known(void) {
  return (known){.devices = TT_LIST(tt_store_name, free_name),
                 .attributes = TT_LIST(tt_store_name, free_name),
                 .handlings = tt_handling_list()};
}

static void forget(known *all) {
  tt_list_free(&all->devices);
  tt_list_free(&all->attributes);
  tt_list_free(&all->handlings);
  tt_map_clear(&all->pairs);
}

/** Its index; a second time only where it is named anew. */
static int take_name(tt_list *names, const char *identifier, const char *name, bool removed) {
  for (uint32_t i = 0; i < names->len; i++) {
    tt_store_name *there = &tt_list_at(names, tt_store_name, i);
    if (strcmp(there->identifier, identifier) != 0) continue;
    there->state = removed ? TT_NAME_REMOVED : TT_NAME_KNOWN;
    return (int)i;
  }
  int index = (int)names->len;
  tt_store_add_name(names, index, identifier, name, removed ? TT_NAME_REMOVED : TT_NAME_KNOWN);
  return index;
}

static int take_device(void *context, const char *identifier, const char *name, bool *removed) {
  return take_name(&((known *)context)->devices, identifier, name, *removed);
}

static int take_attribute(void *context, const char *identifier, const char *name, bool *removed) {
  return take_name(&((known *)context)->attributes, identifier, name, *removed);
}

static void take_pair(void *context, int device, int attribute) {
  tt_map_put(&((known *)context)->pairs, (tt_map_key){device, attribute}, 1);
}

static bool take_handlings(void *context, const tt_list *handlings) {
  known *all = context;
  tt_list_cut(&all->handlings, 0);
  for (uint32_t i = 0; i < handlings->len; i++)
    tt_store_add_handling(&all->handlings, &tt_list_at(handlings, tt_handling, i));
  return true;
}

static void ignore_epoch(void *context, const tt_store_boot *boot) { (void)context, (void)boot; }

static void ignore_spooled(void *context, int device, int64_t key, int64_t last_sample,
                           uint64_t content) {
  (void)context, (void)device, (void)key, (void)last_sample, (void)content;
}

static tt_store_loader loader_of(known *all) {
  return (tt_store_loader){.context = all,
                           .device = take_device,
                           .attribute = take_attribute,
                           .pair = take_pair,
                           .handlings = take_handlings,
                           .epoch = ignore_epoch,
                           .spooled = ignore_spooled};
}

static tt_status load_both(copying *job, tt_error *error) {
  const tt_store_loader source = loader_of(&job->source), target = loader_of(&job->target);
  TT_TRY(job->from->load(job->from, &source, error));
  TT_TRY(job->to->load(job->to, &target, error));
  const known *all[] = {&job->source, &job->target};
  for (int i = 0; i < 2; i++)
    if (all[i]->devices.failed || all[i]->attributes.failed || all[i]->handlings.failed)
      return no_memory(error);
  return TT_OK;
}

/* --- names and handling --- */

static bool is_wanted(const copying *job, const tt_store_name *device) {
  if (device->state == TT_NAME_REMOVED) return false;
  const char *const *pattern = job->options->devices;
  if (!pattern) return true;
  for (; *pattern; pattern++) {
    if (tt_text_matches(device->identifier, *pattern)) return true;
    if (device->name && tt_text_matches(device->name, *pattern)) return true;
  }
  return false;
}

/** Whether the target calls something by this name, or has one for this identifier. */
static bool is_named(const tt_list *names, const tt_store_name *name) {
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *there = &tt_list_at(names, tt_store_name, i);
    bool same = !strcmp(there->identifier, name->identifier);
    if (there->name && (same || (name->name && !strcmp(there->name, name->name)))) return true;
  }
  return false;
}

/** Defines a name in the batch. False: out of memory. */
static bool define(copying *job, bool device, int index) {
  const tt_list *names = device ? &job->source.devices : &job->source.attributes;
  const tt_list *there = device ? &job->target.devices : &job->target.attributes;
  const tt_store_name *name = &tt_list_at(names, tt_store_name, index);
  return tt_store_add_name(device ? &job->batch->devices : &job->batch->attributes, index,
                           name->identifier, is_named(there, name) ? NULL : name->name,
                           TT_NAME_USED);
}

static bool has_handling(const tt_list *handlings, const char *pattern) {
  for (uint32_t i = 0; i < handlings->len; i++)
    if (!strcmp(tt_list_at(handlings, tt_handling, i).pattern, pattern)) return true;
  return false;
}

/** Whether nobody's values or settings are in it. */
static bool is_new(const known *target) {
  return !target->devices.len && !target->attributes.len && !target->handlings.len;
}

/** Whether it leaves values out, or removes some. */
static bool loses_values(const tt_handling *handling) {
  return handling->retention > 0 || handling->min_interval > 0 || handling->mode != TT_MODE_BOTH;
}

static bool is_there(const tt_list *names, const char *identifier) {
  for (uint32_t i = 0; i < names->len; i++)
    if (!strcmp(tt_list_at(names, tt_store_name, i).identifier, identifier)) return true;
  return false;
}

static bool is_copied(const copying *job, int attribute) {
  for (uint32_t i = 0; i < job->source.devices.len; i++) {
    if (is_wanted(job, &tt_list_at(&job->source.devices, tt_store_name, i)) &&
        tt_map_get(&job->source.pairs, (tt_map_key){(int)i, attribute}))
      return true;
  }
  return false;
}

/** What an attribute is kept as comes with it where the target knows nothing of it; what may leave out or remove values does not. */
static bool copy_handling_of(copying *job, int attribute) {
  const tt_store_name *name = &tt_list_at(&job->source.attributes, tt_store_name, attribute);
  const tt_handling *set = tt_handling_of(&job->source.handlings, name->identifier);
  if (!set || is_there(&job->target.attributes, name->identifier) ||
      tt_handling_of(&job->target.handlings, name->identifier) || !is_copied(job, attribute) ||
      strpbrk(name->identifier, "*?"))
    return true;
  const tt_handling kept = {.pattern = name->identifier,
                            .type = set->type,
                            .unit = set->unit,
                            .scale = set->scale,
                            .offset = set->offset};
  const bool says = kept.type != TT_VALUE_AUTO || kept.unit || kept.scale != 1 || kept.offset != 0;
  return !says || tt_store_add_handling(&job->batch->handlings, &kept);
}

/** Into a store that is new all of it. Another one has values of its own, which patterns of the source may be about, too. */
static tt_status copy_handlings(copying *job, tt_error *error) {
  const tt_list *handlings = &job->source.handlings;
  const bool all = is_new(&job->target);
  for (uint32_t i = 0; i < handlings->len; i++) {
    const tt_handling *handling = &tt_list_at(handlings, tt_handling, i);
    if (all && !tt_store_add_handling(&job->batch->handlings, handling)) return no_memory(error);
    job->copied->withheld +=
        !all && loses_values(handling) && !has_handling(&job->target.handlings, handling->pattern);
  }
  for (uint32_t i = 0; !all && i < job->source.attributes.len; i++)
    if (!copy_handling_of(job, (int)i)) return no_memory(error);
  return TT_OK;
}

/* --- records --- */

/** Begins the next batch. */
static tt_status begin_batch(copying *job, tt_error *error) {
  tt_store_batch_clear(job->batch);
  tt_map_clear(&job->named);
  return define(job, true, job->device) && tt_list_add(&job->batch->epochs, &job->epoch, 1)
             ? TT_OK
             : no_memory(error);
}

static tt_status write_batch(copying *job, tt_error *error) {
  if (tt_store_batch_has_failed(job->batch)) return no_memory(error);
  if (!job->batch->samples.len) return TT_OK;
  return job->to->write_foreign(job->to, job->batch, error);
}

/** What a value needs to be understood. False: out of memory. */
static bool define_attribute(copying *job, int attribute) {
  const tt_map_key key = {attribute, 0}, pair = {job->device, attribute};
  if (!tt_map_get(&job->named, key) &&
      (!define(job, false, attribute) || !tt_map_put(&job->named, key, 1)))
    return false;
  if (tt_map_get(&job->told, pair)) return true;
  const tt_store_pair told = {job->device, attribute};
  return tt_list_add(&job->batch->pairs, &told, 1) && tt_map_put(&job->told, pair, 1);
}

static bool add_cell(copying *job, const tt_store_cell *cell) {
  tt_store_value value = {cell->attribute, TT_STORE_NUMBER, cell->number};
  if (cell->text) {
    value.text = job->batch->text.len;
    if (!tt_list_add(&job->batch->text, cell->text, strlen(cell->text) + 1)) return false;
  }
  return define_attribute(job, cell->attribute) && tt_list_add(&job->batch->values, &value, 1);
}

static tt_status add_record(copying *job, const tt_store_record *record, tt_error *error) {
  const tt_store_sample sample = {.device = job->device,
                                  .epoch = job->epoch.number,
                                  .device_time = record->device_time,
                                  .time = record->time,
                                  .first = job->batch->values.len,
                                  .count = (uint32_t)record->count,
                                  .seq = record->seq};
  for (int i = 0; i < record->count; i++)
    if (!add_cell(job, &record->cells[i])) return no_memory(error);
  job->copied->records++;
  job->copied->values += (uint64_t)record->count;
  return tt_list_add(&job->batch->samples, &sample, 1) ? TT_OK : no_memory(error);
}

static bool go_on(const copying *job, double part) {
  return !job->options->progress ||
         job->options->progress(job->options->context, job->begun + job->share * part);
}

/** Where an epoch's records lie in device time is not known before they are read; what the span says is. */
static double part_of(const copying *job, int64_t time) {
  const double from = (double)job->options->from, to = (double)job->options->to;
  return job->options->from > INT64_MIN && job->options->to < INT64_MAX && to > from
             ? ((double)time - from) / (to - from)
             : 0;
}

static tt_status copy_records(copying *job, tt_store_cursor *cursor, tt_error *error) {
  tt_store_record record;
  tt_status status;
  while ((status = job->from->next(cursor, &record, error)) == TT_OK) {
    TT_TRY(add_record(job, &record, error));
    if (job->batch->values.len < BATCH_VALUES) continue;
    TT_TRY(write_batch(job, error));
    TT_TRY(begin_batch(job, error));
    if (!go_on(job, part_of(job, record.time)))
      return tt_fail(error, TT_INTERRUPTED,
                     "ended; what was copied stays, and the same command goes on");
  }
  return status == TT_END ? write_batch(job, error) : status;
}

static tt_status copy_epoch(copying *job, tt_error *error) {
  const tt_store_range range = {.device = job->device,
                                .epoch = job->epoch.number,
                                .device_from = INT64_MIN,
                                .device_to = INT64_MAX,
                                .from = job->options->from,
                                .to = job->options->to};
  tt_store_cursor *cursor;
  TT_TRY(begin_batch(job, error));
  TT_TRY(job->from->open(job->from, &range, &cursor, error));
  tt_status status = copy_records(job, cursor, error);
  job->from->close_cursor(cursor);
  return status;
}

static tt_status copy_epochs(copying *job, const tt_list *epochs, tt_error *error) {
  const double begun = job->begun, share = job->share;
  for (uint32_t i = 0; i < epochs->len; i++) {
    job->epoch = tt_list_at(epochs, tt_store_epoch, i);
    job->share = share / epochs->len;
    job->begun = begun + job->share * i;
    TT_TRY(copy_epoch(job, error));
    if (!go_on(job, 1))
      return tt_fail(error, TT_INTERRUPTED,
                     "ended; what was copied stays, and the same command goes on");
  }
  return TT_OK;
}

/* --- devices --- */

static tt_status copy_devices(copying *job, tt_error *error) {
  const tt_list *devices = &job->source.devices;
  for (uint32_t i = 0; i < devices->len; i++) {
    if (!is_wanted(job, &tt_list_at(devices, tt_store_name, i))) continue;
    tt_list epochs = TT_LIST(tt_store_epoch, NULL);
    job->device = (int)i;
    job->share = 1.0 / devices->len;
    job->begun = job->share * i;
    job->copied->devices++;
    tt_status status = job->from->epochs(job->from, job->device, &epochs, error);
    if (status == TT_OK) status = copy_epochs(job, &epochs, error);
    tt_list_free(&epochs);
    TT_TRY(status);
  }
  return job->copied->devices ? TT_OK : tt_fail(error, TT_NOT_FOUND, "there is no such device");
}

static tt_status copy_all(copying *job, tt_error *error) {
  TT_TRY(load_both(job, error));
  TT_TRY(copy_handlings(job, error));
  if (job->batch->handlings.len) TT_TRY(job->to->write_foreign(job->to, job->batch, error));
  return copy_devices(job, error);
}

tt_status tt_store_copy(tt_store_reader *from, tt_store *to, const tt_copy_options *options,
                        tt_copied *copied, tt_error *error) {
  *copied = (tt_copied){0};
  copying job = {.from = from,
                 .to = to,
                 .options = options,
                 .source = nothing_known(),
                 .target = nothing_known(),
                 .batch = tt_store_batch_new(),
                 .copied = copied};
  tt_status status = job.batch ? copy_all(&job, error) : no_memory(error);
  tt_store_batch_free(job.batch);
  tt_map_clear(&job.told);
  tt_map_clear(&job.named);
  forget(&job.source);
  forget(&job.target);
  return status;
}
