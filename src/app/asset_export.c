#include "app/asset_export.h"

#include "app/assemble.h"
#include "app/guests.h"
#include "base/output_file.h"
#include "base/text.h"
#include "gltf/advantagescope.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Where files go, and how many went into the folder at hand. */
typedef struct target {
  const char *folder;
  char made[PATH_MAX];
  int files;
} target;

static tt_status make_folder(const char *path, tt_error *error) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return TT_OK;
  return tt_fail(error, TT_FAILED, "%s: can't make this folder: %s", path, strerror(errno));
}

static tt_status write_file(void *context, const char *folder, const char *name, const void *bytes,
                            size_t size, tt_error *error) {
  target *to = context;
  char path[PATH_MAX];
  snprintf(to->made, sizeof to->made, "%.2000s/%.255s", to->folder, folder);
  TT_TRY(make_folder(to->made, error));
  snprintf(path, sizeof path, "%.3000s/%.255s", to->made, name);
  tt_output_file file;
  TT_TRY(tt_output_file_open(path, &file, error));
  fwrite(bytes, 1, size, file.stream);
  TT_TRY(tt_output_file_close(&file, TT_OK, error));
  to->files++;
  return TT_OK;
}

static void tell(target *to) {
  tt_print(stdout, "%s: %d models and config.json\n", to->made, to->files - 1);
  to->files = 0;
}

/* "arenas/frc2011/arena.xml" is frc2011, "mine/table.xml" is table. */
static void name_arena(const char *file, char *name, size_t size) {
  const char *slash = strrchr(file, '/'), *begin = slash ? slash + 1 : file;
  size_t length = strcspn(begin, ".");
  if (slash && length == strlen("arena") && strncmp(begin, "arena", length) == 0) {
    const char *before = slash;
    while (before > file && before[-1] != '/') before--;
    begin = before;
    length = (size_t)(slash - before);
  }
  snprintf(name, size, "%.*s", (int)length, begin);
}

static tt_status write_assets(const tt_scene *scene, tt_world *world, target *to, tt_error *error) {
  char arena[256] = "";
  const tt_asset_sink sink = {write_file, to};
  if (scene->arena_file) name_arena(scene->arena_file, arena, sizeof arena);
  const tt_assets assets = {.model = tt_world_model(world),
                            .scenery = tt_sim_scenery(tt_world_sim(world)),
                            .view = tt_world_view(world),
                            .field = scene->field,
                            .arena = arena};
  TT_TRY(make_folder(to->folder, error));
  for (int i = 0; i < assets.model->robot_count; i++) {
    TT_TRY(tt_assets_write_robot(&assets, i, &sink, error));
    tell(to);
  }
  if (!scene->arena_file) return TT_OK;
  TT_TRY(tt_assets_write_field(&assets, &sink, error));
  tell(to);
  return TT_OK;
}

tt_status tt_asset_export(const char *name, const char *folder, tt_error *error) {
  tt_scene *scene = NULL;
  tt_world *world = NULL;
  target to = {.folder = folder};
  const tt_assembly assembly = {.no_wires = true};
  tt_status status = tt_scene_load(&tt_program_guests, name, NULL, 0, &scene, error);
  if (status == TT_OK) status = tt_assemble(scene, &assembly, &world, error);
  if (status == TT_OK) {
    tt_world_start(world);
    status = write_assets(scene, world, &to, error);
  }
  tt_world_free(world);
  tt_scene_free(scene);
  return status;
}
