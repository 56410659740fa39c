#include "app/attach/page_data.h"

#include "app/choice.h"
#include "app/forks.h"
#include "app/attach/verifier.h"
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

/* What answers need that may be under way when the pages end. */
typedef struct page_data {
  tt_scene_list scenes;
  tt_verifier *verifier;
} page_data;

static void release(void *owned) {
  page_data *data = owned;
  tt_verifier_free(data->verifier);
  free(data);
}

static tt_status make_data(const tt_attach_context *context, page_data **made, tt_error *error) {
  page_data *data = calloc(1, sizeof *data);
  if (!data) return tt_fail(error, TT_NOMEM, "out of memory");
  data->scenes.choice = context->choice;
  if (!realpath(context->scene->path, data->scenes.present)) data->scenes.present[0] = 0;
  tt_status status = tt_verifier_new(&data->verifier, error);
  if (status == TT_OK)
    *made = data;
  else
    free(data);
  return status;
}

tt_status tt_runs_add_routes(tt_web *web, const tt_attach_context *context, tt_run_routes **routes,
                             tt_error *error) {
  page_data *data = NULL;
  char runs[1024], trials[1100], layouts[1100];
  tt_status status = tt_runs_folder(context->scene, runs, sizeof runs, error);
  if (status != TT_OK && status != TT_FULL) return status; /* a folder that is not there is empty */
  TT_TRY(find_table("trials", trials, sizeof trials, error));
  TT_TRY(find_table("layouts", layouts, sizeof layouts, error));
  TT_TRY(make_data(context, &data, error));
  tt_scene_data_add(web, &data->scenes);
  *routes = tt_run_routes_new(
      web, &(tt_run_routes_options){.runs = runs,
                                    .verifier = tt_verifier_for_web(data->verifier),
                                    .forker = context->choice && context->choice->forks
                                                  ? tt_forks_for_web(context->choice->forks)
                                                  : NULL,
                                    .recording = *context->run->file ? context->run->file : NULL,
                                    .trials = *trials ? trials : NULL,
                                    .layouts = *layouts ? layouts : NULL,
                                    .scenes = tt_scene_list_json,
                                    .scenes_context = &data->scenes,
                                    .release = release,
                                    .owned = data,
                                    .choose = context->choice ? tt_scene_choice_make : NULL,
                                    .choose_context = context->choice});
  return TT_OK;
}
