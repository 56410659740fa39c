#include "app/attach/draft_data.h"

#include "app/assemble.h"
#include "app/choice.h"
#include "app/guests.h"
#include "app/state_folder.h"
#include "base/log.h"

#include <string.h>

static tt_status assemble(const tt_scene *scene, tt_world **world, tt_error *error) {
  return tt_assemble(scene, &(tt_assembly){.check_only = true}, world, error);
}

static const tt_draft_maker maker = {&tt_program_guests, assemble};

static tt_status find(void *context, const char *name, char **path, tt_error *error) {
  return tt_scene_choice_find(context, name, path, error);
}

static tt_status run(void *context, const char *path, bool administers, bool *denied,
                     tt_error *error) {
  return tt_scene_choice_make_file(context, path, administers, denied, error);
}

tt_status tt_draft_data_add(tt_web *web, tt_scene_choice *choice, tt_draft_routes **routes,
                            tt_error *error) {
  char folder[400], own[400];
  tt_status status = tt_state_folder(NULL, "drafts", folder, sizeof folder, error);
  const bool owns =
      status != TT_OK || tt_own_root(own, sizeof own - sizeof "/scenes", error) == TT_OK;
  if (status == TT_FULL || !owns) {
    tt_log_error("drafts: %s; none are kept", error->text);
    return TT_OK;
  }
  TT_TRY(status);
  strcat(own, "/scenes");
  if (choice) tt_scene_choice_drafts_at(choice, folder);
  tt_drafts *drafts = tt_drafts_new(folder, &maker);
  if (!drafts) return tt_fail(error, TT_NOMEM, "out of memory");
  *routes = tt_draft_routes_new(
      web, drafts,
      &(tt_draft_routes_options){
          .scenes = own, .find = find, .run = choice ? run : NULL, .context = choice});
  return TT_OK;
}
