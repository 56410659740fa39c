/* kind.c: XML that is given as a model and is something else: SDF, a xacro nobody expanded, a page. */
#include "engine/mujoco/physics_internal.h"

#include <libxml/parser.h>
#include <string.h>

static bool is_xacro(const xmlNode *node) {
  for (; node; node = node->next) {
    if (node->type != XML_ELEMENT_NODE) continue;
    const char *prefix = node->ns ? (const char *)node->ns->prefix : NULL;
    if (prefix && strcmp(prefix, "xacro") == 0) return true;
    if (strncmp((const char *)node->name, "xacro:", 6) == 0) return true; /* nobody declared it */
    for (const xmlAttr *a = node->properties; a; a = a->next)
      if (a->children && a->children->content && strstr((const char *)a->children->content, "${"))
        return true;
    if (is_xacro(node->children)) return true;
  }
  return false;
}

static tt_status check_root(const char *file, const xmlNode *root, tt_error *error) {
  if (physics_is(root, "sdf"))
    return tt_fail(error, TT_INVALID,
                   "%s: this is SDF, which is not read; give the model as URDF or MJCF", file);
  bool urdf = physics_is(root, "robot");
  if (!urdf && !physics_is(root, "mujoco") && !physics_is(root, "mujocoinclude"))
    return tt_fail(error, TT_INVALID,
                   "%s: its root element is <%s>: neither MJCF (<mujoco>) nor URDF (<robot>)", file,
                   (const char *)root->name);
  if (urdf && is_xacro(root))
    return tt_fail(error, TT_INVALID,
                   "%s: this is a xacro, which has to be expanded first: xacro %s > robot.urdf",
                   file, file);
  return TT_OK;
}

tt_status physics_check_kind(const char *file, tt_error *error) {
  xmlDoc *document =
      xmlReadFile(file, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  const xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
  tt_status status = root ? check_root(file, root, error) : TT_OK;
  xmlFreeDoc(document);
  return status;
}
