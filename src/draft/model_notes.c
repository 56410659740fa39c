#include "draft/model_notes.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LARGEST_FILE (16 << 20) /* bytes */
#define MOST_NOTES 50           /* of a model; who has more of them looks at these first */

typedef struct looking {
  const tt_scene_robot *robot;
  tt_model_note *note;
  void *context;
  int count;
} looking;

static bool is(const xmlNode *node, const char *name) {
  return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static const char *attribute(const xmlNode *node, const char *name) {
  const xmlAttr *found = node ? xmlHasProp(node, BAD_CAST name) : NULL;
  return found && found->children && found->children->content
             ? (const char *)found->children->content
             : "";
}

static const xmlNode *child(const xmlNode *node, const char *name) {
  for (const xmlNode *one = node->children; one; one = one->next)
    if (is(one, name)) return one;
  return NULL;
}

__attribute__((format(printf, 3, 4))) static void note(looking *at, const xmlNode *node,
                                                       const char *format, ...) {
  char text[512];
  va_list arguments;
  if (++at->count > MOST_NOTES) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  at->note(at->context, at->robot->model_file, (int)xmlGetLineNo(node), text);
}

static bool is_fixed(const looking *at) { return !at->robot->floating && !at->robot->base_decided; }

/* --- URDF --- */

static bool is_link_of(const xmlNode *joint, const char *role, const char *link) {
  const xmlNode *end = child(joint, role);
  return end && strcmp(attribute(end, "link"), link) == 0;
}

/* The joint that moves this link; NULL: it is the base. */
static const xmlNode *joint_above(const xmlNode *robot, const char *link) {
  for (const xmlNode *node = robot->children; node; node = node->next)
    if (is(node, "joint") && is_link_of(node, "child", link)) return node;
  return NULL;
}

static void look_at_link(looking *at, const xmlNode *robot, const xmlNode *link) {
  const char *name = attribute(link, "name");
  const xmlNode *joint = joint_above(robot, name);
  const bool moves = joint ? strcmp(attribute(joint, "type"), "fixed") != 0 : at->robot->floating;
  if (child(link, "inertial") || !moves) return;
  note(at, link,
       child(link, "collision")
           ? "link '%s' has no <inertial>: its mass follows from its collision shapes, with the "
             "density of water"
           : "link '%s' has no <inertial>, and no collision shapes that its mass could follow from",
       name);
}

static void look_at_joint(looking *at, const xmlNode *joint) {
  const char *name = attribute(joint, "name"), *type = attribute(joint, "type");
  const bool bounded = !strcmp(type, "revolute") || !strcmp(type, "prismatic");
  const xmlNode *limit = child(joint, "limit");
  if (!bounded && strcmp(type, "continuous") != 0) return;
  if (bounded && !limit) {
    note(at, joint, "joint '%s' has no <limit>: give its range, effort and velocity", name);
  } else if (bounded &&
             strtod(attribute(limit, "lower"), NULL) >= strtod(attribute(limit, "upper"), NULL)) {
    note(at, limit, "joint '%s' has no range: its lower limit is not below the upper one", name);
  } else if (!limit || strtod(attribute(limit, "effort"), NULL) <= 0) {
    note(at, limit ? limit : joint,
         "joint '%s' states no effort: its greatest torque is estimated; <limit effort=\"…\"/>, or "
         "max_torque in `joints` of the robot's file, sets it",
         name);
  }
}

static void look_at_urdf(looking *at, const xmlNode *robot) {
  if (is_fixed(at))
    note(at, robot,
         "the base is fixed to the world; `floating: on` in the robot's entry of the scene lets it "
         "move, `floating: off` says that it is meant so");
  for (const xmlNode *node = robot->children; node; node = node->next) {
    if (is(node, "link")) look_at_link(at, robot, node);
    if (is(node, "joint")) look_at_joint(at, node);
  }
}

/* --- MJCF --- */

/* Hinges without a range right on the base, as wheels are. */
static int wheels(const xmlNode *base) {
  int count = 0;
  for (const xmlNode *body = base->children; body; body = body->next) {
    const xmlNode *joint = is(body, "body") ? child(body, "joint") : NULL;
    const char *type = attribute(joint, "type");
    count += joint && (!*type || !strcmp(type, "hinge")) && !*attribute(joint, "range");
  }
  return count;
}

static void look_at_mjcf(looking *at, const xmlNode *model) {
  const xmlNode *world = child(model, "worldbody"), *base = world ? child(world, "body") : NULL;
  if (!base || child(base, "freejoint") || child(base, "joint") || wheels(base) < 2) return;
  note(at, base,
       "the base '%s' has no joint, so that it is fixed to the world; <freejoint/> in it lets it "
       "move",
       attribute(base, "name"));
}

void tt_model_notes(const tt_scene_robot *robot, tt_model_note *told, void *context) {
  looking at = {.robot = robot, .note = told, .context = context};
  struct stat about;
  if (stat(robot->model_file, &about) != 0 || !S_ISREG(about.st_mode) ||
      about.st_size > LARGEST_FILE)
    return;
  xmlDoc *document =
      xmlReadFile(robot->model_file, NULL,
                  XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES);
  const xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
  if (root && is(root, "robot")) look_at_urdf(&at, root);
  if (root && is(root, "mujoco")) look_at_mjcf(&at, root);
  xmlFreeDoc(document);
}
