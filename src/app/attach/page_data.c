#include "app/attach/page_data.h"

#include "app/choice.h"
#include "app/forks.h"
#include "app/state_folder.h"
#include "base/log.h"
#include "record/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tt_status tt_runs_folder(const tt_scene *scene, char *path, size_t size, tt_error *error) {
  const tt_record_keys *keys = tt_scene_section(scene, "record", NULL);
  return tt_state_folder(keys->folder, "runs", path, size, error);
}

/* A file KIND/KIND.sqlite of the state folder; "" where the disk has no room for it: then there are none. */
static tt_status find_table(const char *kind, char *path, size_t size, tt_error *error) {
  char state[1024];
  tt_status status = tt_state_folder(NULL, kind, state, sizeof state, error);
  snprintf(path, size, "%s/%s.sqlite", state, kind);
  if (status == TT_OK) status = tt_state_file(path, error);
  if (status != TT_FULL) return status;
  tt_log_error("%s: %s; none are kept", kind, error->text);
  *path = 0;
  return TT_OK;
}

tt_status tt_runs_add_routes(tt_web *web, const tt_attach_context *context, tt_scene_list *list,
                             const tt_run_verifier *verifier, tt_run_routes **routes,
                             tt_error *error) {
  char runs[1024], trials[1100], layouts[1100];
  tt_status status = tt_runs_folder(context->scene, runs, sizeof runs, error);
  if (status != TT_OK && status != TT_FULL) return status; /* a folder that is not there is empty */
  TT_TRY(find_table("trials", trials, sizeof trials, error));
  TT_TRY(find_table("layouts", layouts, sizeof layouts, error));
  *list = (tt_scene_list){.present = context->scene, .choice = context->choice};
  tt_scene_data_add(web, list);
  *routes = tt_run_routes_new(
      web, &(tt_run_routes_options){.runs = runs,
                                    .verifier = verifier,
                                    .forker = context->choice && context->choice->forks
                                                  ? tt_forks_for_web(context->choice->forks)
                                                  : NULL,
                                    .recording = *context->run->file ? context->run->file : NULL,
                                    .trials = *trials ? trials : NULL,
                                    .layouts = *layouts ? layouts : NULL,
                                    .scenes = tt_scene_list_json,
                                    .scenes_context = list,
                                    .choose = context->choice ? tt_scene_choice_make : NULL,
                                    .choose_context = context->choice});
  return TT_OK;
}
