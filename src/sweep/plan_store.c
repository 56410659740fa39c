/* plan_store.c: what every part of loading a plan needs: its memory, and its files. */
#include "sweep/plan_internal.h"

#include "base/file.h"

tt_status tt_plan_no_memory(const tt_plan_store *store) {
  return tt_fail(store->error, TT_NOMEM, "out of memory");
}

tt_status tt_plan_path(tt_plan_store *store, const char *name, const char **path) {
  if (*name == '/')
    PRINT(store, *path, "%s", name);
  else
    PRINT(store, *path, "%s/%s", store->plan.folder, name);
  return TT_OK;
}

tt_status tt_plan_check_file(const tt_plan_store *store, const char *path, const char *where) {
  FILE *file;
  tt_error reason;
  tt_status status = tt_file_open(path, &file, &reason);
  if (status != TT_OK)
    return tt_fail(store->error, status, "%s: %s; paths are relative to the plan's folder", where,
                   reason.text);
  fclose(file);
  return TT_OK;
}
