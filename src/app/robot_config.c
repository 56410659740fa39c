/* robot_config.c: which wire of the scene an original's file is about, and for which player. See robot_config.h. */
#include "app/robot_config.h"

#include "host/wire_keys.h"
#include "scene/data.h"
#include "scene/stranger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char protocol[] = "sharp-json";

static tt_node *child_list(const tt_document *scene, const char *key) {
  tt_node *list = tt_node_child(scene->root, key);
  return list && list->kind == TT_NODE_SEQUENCE ? list : NULL;
}

/** What the first robot is called; "": the scene has none. */
static void name_first_robot(const tt_document *scene, char *name, size_t size) {
  const tt_node *robots = child_list(scene, "robots");
  *name = '\0';
  if (!robots || robots->child_count == 0) return;
  const tt_node *robot = robots->children[0];
  const bool plain = robot->kind != TT_NODE_MAPPING; /* - sharp */
  const char *given = plain ? NULL : tt_node_child_text(robot, "name");
  const char *file = plain ? robot->text : tt_node_child_text(robot, "robot");
  if (given)
    snprintf(name, size, "%s", given);
  else if (file)
    tt_element_name(file, name, size);
}

/** The keys of a sharp-json wire; NULL: it is another. */
static const tt_node *keys_of(const tt_node *wire) {
  return wire->kind == TT_NODE_MAPPING ? tt_node_child(wire, protocol) : NULL;
}

/** The place of the first robot's wire among all; without one the first there is; -1: none. */
static int find_wire(const tt_document *scene) {
  char robot[256];
  const tt_node *wires = child_list(scene, "wires");
  int first = -1;
  name_first_robot(scene, robot, sizeof robot);
  for (int i = 0; wires && i < wires->child_count; i++) {
    const tt_node *keys = keys_of(wires->children[i]);
    if (!keys) continue;
    const char *of = keys->kind == TT_NODE_MAPPING ? tt_node_child_text(keys, "robot") : NULL;
    if (of && strcmp(of, robot) == 0) return i;
    if (first < 0) first = i;
  }
  return first;
}

/** The player of the wire at `index`; what is none is refused with the scene, where it stands. */
static int player_of(const tt_document *scene, int index) {
  const tt_node *wires = child_list(scene, "wires");
  const tt_node *keys =
      wires && index < wires->child_count ? keys_of(wires->children[index]) : NULL;
  const char *text =
      keys && keys->kind == TT_NODE_MAPPING ? tt_node_child_text(keys, "player") : NULL;
  const long player = text ? strtol(text, NULL, 10) : 1;
  return player >= 1 && player <= TT_MOST_PLAYERS ? (int)player : 1;
}

/** The scene's own file, before any setting; NULL: there is none to read. */
static tt_document *load_scene(const char *name) {
  char *path;
  tt_document *scene;
  tt_error unsaid; /* who loads the scene says it */
  if (tt_data_find(&tt_data_scene, name, NULL, name, &path, &unsaid) != TT_OK) return NULL;
  tt_status status = tt_document_load(path, &scene, &unsaid);
  free(path);
  return status == TT_OK ? scene : NULL;
}

/** Finds the wire in the scene as it stands, since its path comes before all settings; and the player behind them. */
static void find_place(const tt_scene_options *options, tt_sharp_reader *reader, char *path,
                       size_t size) {
  tt_document *scene = load_scene(options->scene);
  if (!scene) return;
  const int index = find_wire(scene);
  if (index >= 0) {
    char element[256];
    tt_node_element_path(child_list(scene, "wires"), index, element, sizeof element);
    snprintf(path, size, "wires%s%s", *element == '[' ? "" : ".", element);
    tt_error unsaid; /* who loads the scene says it */
    for (int i = 0; i < options->setting_count; i++)
      tt_document_set(scene, options->settings[i], &unsaid);
    reader->player = player_of(scene, index);
  }
  tt_document_free(scene);
}

tt_status tt_robot_config_read(const tt_scene_options *options, tt_sharp_original *meaning,
                               tt_error *error) {
  char path[300];
  snprintf(path, sizeof path, "wires.%s", protocol);
  tt_sharp_reader reader = {TT_SHARP_PROGRAM_VEHICLE, 1, path};
  tt_document *document;
  *meaning = (tt_sharp_original){.count = 0};
  TT_TRY(tt_document_load(options->robot_config, &document, error));
  find_place(options, &reader, path, sizeof path);
  tt_status status =
      tt_stranger_is_original(document)
          ? tt_sharp_original_read(document, &reader, meaning, error)
          : tt_fail(error, TT_INVALID, "%s: it is no robotConfig.yml: core.joystickPort is missing",
                    options->robot_config);
  tt_document_free(document);
  return status;
}
