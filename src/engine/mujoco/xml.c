/* xml.c: looking at a model's XML. */
#include "engine/mujoco/physics_internal.h"

#include <string.h>

const char *physics_attribute(const xmlNode *node, const char *name) {
  for (const xmlAttr *a = node->properties; a; a = a->next) {
    if (strcmp((const char *)a->name, name) == 0) {
      return a->children && a->children->content ? (const char *)a->children->content : "";
    }
  }
  return NULL;
}

bool physics_is(const xmlNode *node, const char *name) {
  return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

xmlNode *physics_first_child(const xmlNode *node, const char *name) {
  for (xmlNode *child = node->children; child; child = child->next) {
    if (physics_is(child, name)) return child;
  }
  return NULL;
}
