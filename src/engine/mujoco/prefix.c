/* prefix.c: gives every element of canonical MJCF a name, then puts a prefix before each name and
 * each reference to one, so that several submodels fit into one model. */
#include "engine/mujoco/physics_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 512

void physics_set_numbers(xmlNode *node, const char *name, const double *numbers, int count) {
  char text[NAME_SIZE];
  int at = 0;
  for (int i = 0; i < count; i++) {
    at += snprintf(text + at, sizeof text - (size_t)at, i ? " %.17g" : "%.17g", numbers[i]);
  }
  xmlSetProp(node, BAD_CAST name, BAD_CAST text);
}

static bool is_joint(const xmlNode *node) {
  return physics_is(node, "joint") || physics_is(node, "freejoint");
}

static bool name_taken(const xmlNode *node, bool joints, const char *name) {
  for (const xmlNode *child = node->children; child; child = child->next) {
    if (child->type != XML_ELEMENT_NODE) continue;
    if (joints ? is_joint(child) : physics_is(child, "body")) {
      const char *own = physics_attribute(child, "name");
      if (own && strcmp(own, name) == 0) return true;
    }
    if (physics_is(child, "body") && name_taken(child, joints, name)) return true;
  }
  return false;
}

static void set_free_name(const xmlNode *world, xmlNode *node, bool joint, const char *wanted) {
  char name[2 * NAME_SIZE];
  snprintf(name, sizeof name, "%s", wanted);
  while (name_taken(world, joint, name) && strlen(name) < sizeof name - 2) strcat(name, "_");
  xmlSetProp(node, BAD_CAST "name", BAD_CAST name);
}

/* An unnamed body is called after its parent and its number among the parent's bodies; an unnamed
 * joint after its body, with its number where the body has several. */
static void name_tree(const xmlNode *world, xmlNode *parent, const char *parent_name) {
  int bodies = 0, joints = 0, joint_total = 0;
  for (xmlNode *node = parent->children; node; node = node->next) joint_total += is_joint(node);
  for (xmlNode *node = parent->children; node; node = node->next) {
    bool body = physics_is(node, "body"), joint = is_joint(node);
    bodies += body;
    joints += joint;
    const char *own = body || joint ? physics_attribute(node, "name") : NULL;
    char name[NAME_SIZE];
    if ((body || joint) && (!own || !own[0])) {
      if (body) {
        snprintf(name, sizeof name, "%.400s_%d", parent_name, bodies);
      } else if (joint_total == 1) {
        snprintf(name, sizeof name, "%.400s_joint", parent_name);
      } else {
        snprintf(name, sizeof name, "%.400s_joint%d", parent_name, joints);
      }
      set_free_name(world, node, joint, name);
    }
    if (body) name_tree(world, node, physics_attribute(node, "name"));
  }
}

static void name_section(xmlNode *section, const char *kind) {
  int number = 0;
  for (xmlNode *node = section->children; node; node = node->next) {
    if (node->type != XML_ELEMENT_NODE) continue;
    number++;
    const char *own = physics_attribute(node, "name");
    if (own && own[0]) continue;
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s_%d", kind ? kind : (const char *)node->name, number);
    xmlSetProp(node, BAD_CAST "name", BAD_CAST name);
  }
}

static bool is_class(const char *name) {
  return strcmp(name, "class") == 0 || strcmp(name, "childclass") == 0;
}

static bool is_reference(const char *name) {
  static const char *const NAMES[] = {
      "name",    "mesh",     "material",   "texture",   "hfield",        "joint",  "joint1",
      "joint2",  "body",     "body1",      "body2",     "geom",          "geom1",  "geom2",
      "site",    "tendon",   "tendon1",    "tendon2",   "actuator",      "target", "objname",
      "refname", "sidesite", "slidersite", "cranksite", "jointinparent", "camera", "numeric"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (strcmp(name, NAMES[i]) == 0) return true;
  }
  return false;
}

static void prefix_attribute(xmlNode *node, xmlAttr *attribute, const char *prefix) {
  char value[NAME_SIZE * 2];
  const char *old = physics_attribute(node, (const char *)attribute->name);
  if (!old[0]) return;
  snprintf(value, sizeof value, "%s%s", prefix, old);
  xmlSetProp(node, attribute->name, BAD_CAST value);
}

static void prefix_tree(xmlNode *node, const char *name_prefix, const char *class_prefix) {
  for (xmlAttr *a = node->properties; a; a = a->next) {
    const char *name = (const char *)a->name;
    if (is_class(name)) {
      prefix_attribute(node, a, class_prefix);
    } else if (name_prefix[0] && is_reference(name) &&
               strcmp(physics_attribute(node, name), "world") != 0) {
      prefix_attribute(node, a, name_prefix);
    }
  }
  for (xmlNode *child = node->children; child; child = child->next) {
    if (child->type == XML_ELEMENT_NODE) prefix_tree(child, name_prefix, class_prefix);
  }
}

/* Outside bodies an element without a class means the submodel's own "main", which gets a prefix, so
 * it must be said. */
static bool takes_class(const char *section, const xmlNode *node) {
  if (node->type != XML_ELEMENT_NODE) return false;
  if (strcmp(section, "worldbody") == 0) {
    return !physics_is(node, "body") && !physics_is(node, "inertial") &&
           !physics_is(node, "freejoint");
  }
  if (strcmp(section, "asset") == 0) {
    return physics_is(node, "mesh") || physics_is(node, "material");
  }
  if (strcmp(section, "contact") == 0) return physics_is(node, "pair");
  return strcmp(section, "equality") == 0 || strcmp(section, "tendon") == 0 ||
         strcmp(section, "actuator") == 0;
}

static void say_classes(xmlNode *section) {
  for (xmlNode *node = section->children; node; node = node->next) {
    if (takes_class((const char *)section->name, node) && !physics_attribute(node, "class")) {
      xmlSetProp(node, BAD_CAST "class", BAD_CAST "main");
    }
    if (physics_is(section, "worldbody") && physics_is(node, "body") &&
        !physics_attribute(node, "childclass")) {
      xmlSetProp(node, BAD_CAST "childclass", BAD_CAST "main");
    }
  }
}

void physics_prefix(physics_submodel *submodel) {
  xmlNode *root = xmlDocGetRootElement(submodel->document);
  char class_prefix[NAME_SIZE];
  snprintf(class_prefix, sizeof class_prefix, "%s",
           submodel->prefix[0] ? submodel->prefix : "tether:arena/");
  for (xmlNode *section = root->children; section; section = section->next) {
    if (section->type != XML_ELEMENT_NODE) continue;
    if (physics_is(section, "worldbody")) name_tree(section, section, "body");
    if (physics_is(section, "actuator")) name_section(section, "actuator");
    if (physics_is(section, "sensor")) name_section(section, NULL);
    say_classes(section);
    for (xmlNode *node = section->children; node; node = node->next) {
      if (node->type == XML_ELEMENT_NODE) prefix_tree(node, submodel->prefix, class_prefix);
    }
    if (physics_is(section, "default")) {
      xmlAttr *class = xmlHasProp(section, BAD_CAST "class");
      if (!class) class = xmlSetProp(section, BAD_CAST "class", BAD_CAST "main");
      prefix_attribute(section, class, class_prefix);
    }
  }
}
