/* load_values.c: `models`: values of the compiled models. Its keys are the models' own, so that they are no schema of ours:
 * here they become texts, which are read when the models are there. */
#include "scene/load.h"

#include <string.h>

static int count_scalars(const tt_node *node) {
  int count = node->kind == TT_NODE_SCALAR && node->text && !tt_node_empty(node);
  for (int i = 0; i < node->child_count; i++) count += count_scalars(node->children[i]);
  return count;
}

static tt_status gather(tt_scene_store *store, const tt_node *node, const char *path,
                        tt_scene_value *values) {
  tt_scene *scene = &store->scene;
  const char *where;
  if (tt_node_empty(node) && node->kind == TT_NODE_SCALAR) return TT_OK;
  PRINT(store, where, "%s: %s", scene->path, path);
  if (node->kind == TT_NODE_SEQUENCE || (node->kind == TT_NODE_SCALAR && !strchr(path, '.')))
    return tt_fail(store->error, TT_INVALID,
                   "%s: give values by robot, kind, name and field, as in "
                   "models.gripper.joints.swivel.damping",
                   where);
  if (node->kind == TT_NODE_SCALAR) {
    values[scene->value_count++] =
        (tt_scene_value){.name = path, .text = node->text, .where = where};
    return TT_OK;
  }
  for (int i = 0; i < node->child_count; i++) {
    const char *deeper;
    PRINT(store, deeper, "%s.%s", path, node->children[i]->key);
    TT_TRY(gather(store, node->children[i], deeper, values));
  }
  return TT_OK;
}

tt_status tt_load_values(tt_scene_store *store) {
  const tt_node *models = tt_node_child(store->files[0].document->root, "models");
  tt_scene_value *values;
  if (!models) return TT_OK;
  NEW(store, values, count_scalars(models) + 1);
  store->scene.values = values;
  return gather(store, models, "models", values);
}
