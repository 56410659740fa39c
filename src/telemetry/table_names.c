/* table_names.c: which devices and attributes a table is of, and what its columns are called. */
#include "telemetry/table_internal.h"

static tt_status unknown(tt_collector *collector, bool device, const char *name, tt_error *error) {
  char *nearest = tt_collector_nearest(collector, device, name);
  tt_status status =
      tt_fail(error, TT_NOT_FOUND, "there is no %s '%.64s'%s%s%s", device ? "device" : "attribute",
              name, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  g_free(nearest);
  return status;
}

/** Indices of names. */
static tt_status resolve(tt_collector *collector, bool device, char **names, GArray *indices,
                         tt_error *error) {
  for (; *names; names++) {
    int index = device ? tt_collector_find_device(collector, *names)
                       : tt_collector_find_attribute(collector, *names);
    if (index < 0) return unknown(collector, device, *names, error);
    bool known = false;
    for (guint i = 0; i < indices->len; i++)
      known = known || g_array_index(indices, int, i) == index;
    if (!known) g_array_append_val(indices, index);
  }
  return TT_OK;
}

/** The devices that are asked for; all of them when none is. */
static tt_status resolve_devices(tt_collector *collector, const tt_table_query *query,
                                 GArray *indices, tt_error *error) {
  int count = *query->devices ? 0 : tt_collector_device_count(collector);
  for (int i = 0; i < count; i++) g_array_append_val(indices, i);
  return resolve(collector, true, query->devices, indices, error);
}

/** The attributes that are asked for; when none is, those of which there are values of these devices. */
static tt_status resolve_fields(tt_collector *collector, const tt_table_query *query,
                                const GArray *devices, GArray *indices, tt_error *error) {
  int count = *query->fields ? 0 : tt_collector_attribute_count(collector);
  for (int i = 0; i < count; i++) {
    bool has = false;
    for (guint d = 0; d < devices->len && !has; d++)
      has = tt_collector_has_values(collector, g_array_index(devices, int, d), i);
    if (has) g_array_append_val(indices, i);
  }
  return resolve(collector, false, query->fields, indices, error);
}

char *tt_table_label(tt_collector *collector, bool device, int index) {
  char *label = NULL;
  if (device) {
    tt_device_info info = {0};
    if (tt_collector_get_device(collector, index, &info))
      label = g_strdup(info.name ? info.name : info.identifier);
    tt_device_info_clear(&info);
  } else {
    tt_attribute_info info = {0};
    if (tt_collector_get_attribute(collector, index, &info)) {
      label = g_strdup(info.name ? info.name : info.identifier);
    }
    tt_attribute_info_clear(&info);
  }
  return label ? label : g_strdup("?");
}

tt_status tt_table_check(tt_collector *collector, const tt_table_query *query, tt_error *error) {
  GArray *indices = g_array_new(FALSE, FALSE, sizeof(int));
  tt_status status = resolve(collector, true, query->devices, indices, error);
  if (status == TT_OK) status = resolve(collector, false, query->fields, indices, error);
  g_array_unref(indices);
  return status;
}

tt_status tt_table_names_resolve(tt_collector *collector, const tt_table_query *query,
                                 tt_table_names *names, tt_error *error) {
  *names = (tt_table_names){.devices = g_array_new(FALSE, FALSE, sizeof(int)),
                            .fields = g_array_new(FALSE, FALSE, sizeof(int)),
                            .labels = g_ptr_array_new_with_free_func(g_free),
                            .all_fields = !*query->fields};
  TT_TRY(resolve_devices(collector, query, names->devices, error));
  TT_TRY(resolve_fields(collector, query, names->devices, names->fields, error));
  names->column_size = tt_collector_attribute_count(collector);
  names->column = g_new0(int, names->column_size + 1);
  for (guint i = 0; i < names->fields->len; i++) {
    int attribute = g_array_index(names->fields, int, i);
    names->column[attribute] = (int)i + 1;
    g_ptr_array_add(names->labels, tt_table_label(collector, false, attribute));
  }
  return TT_OK;
}

void tt_table_names_clear(tt_table_names *names) {
  g_array_unref(names->devices);
  g_array_unref(names->fields);
  g_ptr_array_unref(names->labels);
  g_free(names->column);
}
