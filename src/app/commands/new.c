/* new.c: `tether new`: a shipped scene or robot as files of one's own, with all that they name, to be edited. */
#include "app/commands/command.h"
#include "app/guests.h"
#include "base/text.h"
#include "scene/data.h"
#include "scene/scene_copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A robot is given a scene of its own. TT_OK, too, when `name` is none. */
static tt_status begin_with_robot(const char **name, const char *target, tt_error *error) {
  char text[512], *path = NULL;
  tt_error ignored;
  bool scene = strpbrk(*name, "./") ||
               tt_data_find(&tt_data_scene, *name, NULL, *name, &path, &ignored) == TT_OK;
  bool robot = !scene && tt_data_find(&tt_data_robot, *name, NULL, *name, &path, &ignored) == TT_OK;
  free(path);
  if (!robot) return TT_OK;
  int size = snprintf(text, sizeof text, "robots:\n  - robot: %.200s\n", *name);
  TT_TRY(tt_scene_file_write(target, text, (size_t)size, error));
  *name = target;
  return TT_OK;
}

/* It has no text of a scene to copy. */
static tt_status refuse_model(const char *name, tt_error *error) {
  static const char *const endings[] = {".xml", ".urdf", ".mjcf"};
  const char *ending = strrchr(name, '.');
  for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
    if (strcmp(ending, endings[i]) == 0)
      return tt_fail(error, TT_USAGE,
                     "%s: is a model; a scene of your own names it: a file beside it with "
                     "`robots: [{robot: %s}]`",
                     name, strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
  return TT_OK;
}

static void say(void *context, const char *path) {
  (void)context;
  tt_print(stdout, "%s\n", path);
}

static tt_status run(int argc, char **argv, tt_error *error) {
  if (argc != 3)
    return tt_fail(error, TT_USAGE,
                   "new takes a SCENE or a ROBOT and the FILE to make, for example my.yaml");
  const char *name = argv[1], *target = argv[2];
  size_t length = strlen(target);
  struct stat about;
  if (length < 6 || strcmp(target + length - 5, ".yaml") != 0)
    return tt_fail(error, TT_USAGE, "%s: the new scene's file must end in .yaml", target);
  if (stat(target, &about) == 0)
    return tt_fail(error, TT_FAILED, "%s: exists already; name another file or remove it", target);
  TT_TRY(refuse_model(name, error));
  tt_scene *scene;
  TT_TRY(begin_with_robot(&name, target, error));
  tt_status status = tt_scene_load(&tt_program_guests, name, NULL, 0, &scene, error);
  if (status != TT_OK && name == target) unlink(target); /* begun for a robot that is wrong */
  if (status != TT_OK) return status;
  status = tt_scene_copy(scene, target, say, NULL, error);
  tt_scene_free(scene);
  if (status == TT_OK) status = tt_scene_load(&tt_program_guests, target, NULL, 0, &scene, error);
  if (status == TT_OK) tt_scene_free(scene); /* it stands */
  return status;
}

const tt_app_command tt_app_new = {
    "new", "SCENE|ROBOT FILE.yaml",
    "Copies a scene, or a robot, with all that it names to FILE.yaml and beside it, to be edited",
    NULL, run};
