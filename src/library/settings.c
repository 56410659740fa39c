/* settings.c: what can be set in a scene. */
#include "library/library.h"

#define SAME(kind) ((int)TETHER_SETTING_##kind == (int)TT_SETTING_##kind)
_Static_assert(SAME(TEXT) && SAME(QUANTITY) && SAME(NUMBER) && SAME(COUNT) && SAME(FLAG) &&
                   SAME(WORD) && SAME(LIST),
               "the public numbers");

/* They are listed once: a scene does not change. */
static tt_status list(tether_scene *scene) {
  tt_status status = TT_OK;
  library_surroundings saved = library_surroundings_begin();
  pthread_mutex_lock(&scene->lock);
  if (!scene->keys.items) status = tt_scene_settings_list(scene->scene, &scene->keys);
  pthread_mutex_unlock(&scene->lock);
  library_surroundings_end(&saved);
  return status;
}

tether_status tether_scene_setting(tether_scene *scene, int index, tether_setting *setting) {
  if (!scene || !setting) return TETHER_INVALID;
  tt_status status = list(scene);
  if (status != TT_OK) return library_status(status);
  if (index < 0 || index >= scene->keys.count) return TETHER_NOT_FOUND;
  const tt_scene_setting *from = &scene->keys.items[index];
  *setting = (tether_setting){.path = from->path,
                              .owner = from->owner,
                              .unit = from->unit,
                              .words = from->words,
                              .initial = from->initial,
                              .value = from->value,
                              .kind = (tether_setting_kind)from->kind,
                              .is_known = from->known,
                              .lower = from->lower,
                              .upper = from->upper};
  return TETHER_OK;
}
