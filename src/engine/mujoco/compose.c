/* compose.c: merges the arena and the robots, all canonical MJCF with prefixed names, into one
 * model; places each robot, adds a weld for each gripper, and compiles. */
#include "base/log.h"
#include "base/nearest.h"
#include "engine/mujoco/physics_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_STACK (128 << 20) /* numbers: 1 GiB */
/* Of what is to hold as if it were one. */
#define STIFF_SOLREF "0.005 1"
#define STIFF_SOLIMP "0.98 0.999 0.001"

static xmlNode *section_of(xmlNode *root, const char *name) {
  xmlNode *section = physics_first_child(root, name);
  return section ? section : xmlNewChild(root, NULL, BAD_CAST name, NULL);
}

/* Copies `node` and all below it to the end of `parent`. */
static xmlNode *append_copy(xmlNode *parent, xmlNode *node) {
  xmlNode *copy = xmlDocCopyNode(node, parent->doc, 1);
  return copy ? xmlAddChild(parent, copy) : NULL;
}

static void append_children(xmlNode *target, const xmlNode *source) {
  for (xmlNode *node = source->children; node; node = node->next) {
    if (node->type == XML_ELEMENT_NODE) append_copy(target, node);
  }
}

/* What canonical MJCF says of a model that says nothing; make_room() knows better. */
static bool is_automatic(const char *name, long size) {
  return (strcmp(name, "njmax") == 0 && size == 500) ||
         (strcmp(name, "nconmax") == 0 && size == 100);
}

/* Sizes of user data must fit the largest; room for constraints and contacts that files ask for adds up. */
static void merge_size(xmlNode *root, const xmlNode *size) {
  xmlNode *target = section_of(root, "size");
  for (const xmlAttr *a = size->properties; a; a = a->next) {
    const char *name = (const char *)a->name;
    bool adds = strcmp(name, "njmax") == 0 || strcmp(name, "nconmax") == 0 ||
                strcmp(name, "nstack") == 0 || strcmp(name, "nuserdata") == 0;
    if (strcmp(name, "nkey") == 0 || (!adds && strncmp(name, "nuser_", 6) != 0)) continue;
    const char *old = physics_attribute(target, name);
    long mine = strtol(physics_attribute(size, name), NULL, 10);
    if (is_automatic(name, mine)) continue;
    long theirs = old ? strtol(old, NULL, 10) : 0;
    long merged = adds ? (mine > 0 ? mine : 0) + theirs : (mine > theirs ? mine : theirs);
    char text[32];
    snprintf(text, sizeof text, "%ld", merged);
    xmlSetProp(target, a->name, BAD_CAST text);
  }
}

static void merge_compiler(xmlNode *root, const xmlNode *compiler) {
  static const char *const KEPT[] = {"exactmeshinertia", "convexhull", "fitaabb"};
  for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
    const char *value = physics_attribute(compiler, KEPT[i]);
    if (value) xmlSetProp(section_of(root, "compiler"), BAD_CAST KEPT[i], BAD_CAST value);
  }
}

/* A robot's pose in the arena. */
typedef struct pose {
  double position[3], rotation[4];
} pose;

static pose pose_of(const tt_engine_robot *robot) {
  return (pose){{robot->x, robot->y, robot->z},
                {cos(robot->heading / 2), 0, 0, sin(robot->heading / 2)}};
}

static void read_numbers(const char *text, double *numbers, int count) {
  char *end = (char *)text;
  for (int i = 0; text && i < count; i++) {
    char *start = end;
    double value = strtod(start, &end);
    if (end == start) return;
    numbers[i] = value;
  }
}

static void place(xmlNode *node, const pose *at) {
  double position[3] = {0}, rotation[4] = {1, 0, 0, 0}, moved[3], turned[4];
  read_numbers(physics_attribute(node, "pos"), position, 3);
  read_numbers(physics_attribute(node, "quat"), rotation, 4);
  mju_rotVecQuat(moved, position, at->rotation);
  mju_addTo3(moved, at->position);
  mju_mulQuat(turned, at->rotation, rotation);
  physics_set_numbers(node, "pos", moved, 3);
  physics_set_numbers(node, "quat", turned, 4);
}

static bool is_world(const xmlNode *node, const char *attribute) {
  const char *body = physics_attribute(node, attribute);
  return !body || strcmp(body, "world") == 0;
}

static void place_point(xmlNode *node, const char *attribute, double numbers[], int count,
                        const pose *at) {
  double moved[3];
  mju_rotVecQuat(moved, numbers, at->rotation);
  mju_add3(numbers, moved, at->position);
  physics_set_numbers(node, attribute, numbers, count);
}

/* What is held to the world is held where the robot stands, whose own world the numbers are of. A connect has its point in
 * its first body; a weld has its point in its second one, as `anchor`, and in its first one, as the position of `relpose`, of
 * which the rotation is that of the second body in the first. */
static void place_equality(xmlNode *node, const pose *at) {
  const bool weld = physics_is(node, "weld");
  double anchor[3] = {0}, relative[7] = {0, 0, 0, 1}, *turn = relative + 3, turned[4], back[4];
  if (!weld && !physics_is(node, "connect")) return;
  read_numbers(physics_attribute(node, "anchor"), anchor, 3);
  read_numbers(physics_attribute(node, "relpose"), relative, 7);
  if (!weld) {
    if (is_world(node, "body1")) place_point(node, "anchor", anchor, 3, at);
  } else if (is_world(node, "body1")) {
    mju_mulQuat(turned, at->rotation, turn);
    mju_copy4(turn, turned);
    place_point(node, "relpose", relative, 7, at);
  } else if (is_world(node, "body2")) {
    mju_negQuat(back, at->rotation);
    mju_mulQuat(turned, turn, back);
    mju_copy4(turn, turned);
    physics_set_numbers(node, "relpose", relative, 7);
    place_point(node, "anchor", anchor, 3, at);
  }
}

static void give_free_joint(xmlNode *body, const char *prefix) {
  if (physics_first_child(body, "joint") || physics_first_child(body, "freejoint")) return;
  char name[256];
  snprintf(name, sizeof name, "%sbase_joint", prefix);
  xmlNode *joint = xmlNewNode(NULL, BAD_CAST "freejoint");
  xmlSetProp(joint, BAD_CAST "name", BAD_CAST name);
  xmlNode *before = physics_first_child(body, "inertial");
  if (before) {
    xmlAddNextSibling(before, joint);
  } else if (body->children) {
    xmlAddPrevSibling(body->children, joint);
  } else {
    xmlAddChild(body, joint);
  }
}

/* Whether a plane of a robot's own is another floor than the arena's, level with the robot's origin. */
static bool is_other_floor(const xmlNode *plane) {
  double position[3] = {0}, rotation[4] = {1, 0, 0, 0};
  read_numbers(physics_attribute(plane, "pos"), position, 3);
  read_numbers(physics_attribute(plane, "quat"), rotation, 4);
  const double upright = 1 - 2 * (rotation[1] * rotation[1] + rotation[2] * rotation[2]);
  return fabs(position[2]) > 1e-3 || upright < 1 - 1e-6;
}

static void tell_other_floor(const xmlNode *plane, const char *file) {
  double position[3] = {0};
  read_numbers(physics_attribute(plane, "pos"), position, 3);
  tt_log_warning(
      "%s: its own floor, a plane at z = %g m that is not the arena's, is left out; "
      "with `arena: %s` it is the arena's",
      file, position[2], file);
}

/* A robot file made to be looked at alone has a floor and lights of its own: the arena's are used.
 * Other things fixed to its world stand with the robot on a body of their own. */
static void merge_robot_world(xmlNode *world, const xmlNode *source,
                              const physics_submodel *submodel, const tt_engine_robot *robot) {
  const pose at = pose_of(robot);
  xmlNode *fixture = NULL;
  bool first = true;
  for (xmlNode *node = source->children; node; node = node->next) {
    if (node->type != XML_ELEMENT_NODE || physics_is(node, "light")) continue;
    const char *type = physics_attribute(node, "type");
    if (physics_is(node, "geom") && type && strcmp(type, "plane") == 0) {
      if (is_other_floor(node)) tell_other_floor(node, submodel->file);
      continue;
    }
    if (physics_is(node, "body")) {
      xmlNode *copy = append_copy(world, node);
      place(copy, &at);
      if (robot->floating && submodel->urdf && first) give_free_joint(copy, submodel->prefix);
      first = false;
      continue;
    }
    if (!fixture) {
      char name[256];
      snprintf(name, sizeof name, "%sfixture", submodel->prefix);
      fixture = xmlNewChild(world, NULL, BAD_CAST "body", NULL);
      xmlSetProp(fixture, BAD_CAST "name", BAD_CAST name);
      place(fixture, &at);
    }
    append_copy(fixture, node);
  }
}

static void merge_submodel(xmlNode *root, const physics_submodel *submodel,
                           const tt_engine_robot *robot) {
  static const char *const LISTS[] = {"asset",  "contact",  "equality", "tendon",
                                      "sensor", "actuator", "custom"};
  for (xmlNode *section = xmlDocGetRootElement(submodel->document)->children; section;
       section = section->next) {
    if (section->type != XML_ELEMENT_NODE) continue;
    if (physics_is(section, "size")) merge_size(root, section);
    if (physics_is(section, "compiler")) merge_compiler(root, section);
    if (physics_is(section, "default")) append_copy(section_of(root, "default"), section);
    if (!robot && (physics_is(section, "visual") || physics_is(section, "statistic"))) {
      append_copy(root, section);
    }
    if (physics_is(section, "worldbody")) {
      xmlNode *world = section_of(root, "worldbody");
      if (robot) {
        merge_robot_world(world, section, submodel, robot);
      } else {
        append_children(world, section);
      }
    }
    if (robot && physics_is(section, "equality")) {
      const pose at = pose_of(robot);
      for (xmlNode *node = section->children; node; node = node->next) place_equality(node, &at);
    }
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
      if (physics_is(section, LISTS[i])) append_children(section_of(root, LISTS[i]), section);
    }
  }
}

/* Name of the body that carries the site (or is the body) called `name`. */
static const char *body_of(const xmlNode *node, const char *name) {
  for (const xmlNode *child = node->children; child; child = child->next) {
    if (child->type != XML_ELEMENT_NODE) continue;
    const char *own = physics_attribute(child, "name");
    bool same = own && strcmp(own, name) == 0;
    if (same && physics_is(child, "site")) return physics_attribute(node, "name");
    if (physics_is(child, "body")) {
      if (same) return own;
      const char *found = body_of(child, name);
      if (found) return found;
    }
  }
  return NULL;
}

/* Offers the robot's sites and bodies, as its own file calls them. */
static void offer_places(const xmlNode *node, const char *prefix, tt_nearest *nearest) {
  for (const xmlNode *child = node->children; child; child = child->next) {
    if (!physics_is(child, "site") && !physics_is(child, "body")) continue;
    const char *name = physics_attribute(child, "name");
    if (name && strncmp(name, prefix, strlen(prefix)) == 0)
      tt_nearest_offer(nearest, name + strlen(prefix));
    offer_places(child, prefix, nearest);
  }
}

static tt_status no_place(const xmlNode *world, const char *prefix,
                          const tt_engine_gripper *gripper, const char *where, tt_error *error) {
  tt_nearest nearest = tt_nearest_start(gripper->site);
  offer_places(world, prefix, &nearest);
  return tt_fail(error, TT_INVALID, "%s.site: the robot has no site or body '%s'%s",
                 gripper->where ? gripper->where : where, gripper->site, tt_nearest_hint(&nearest));
}

/* One weld a gripper, inactive and to the world until something is held. */
static tt_status add_grippers(xmlNode *root, const physics_submodel *submodel,
                              const tt_engine_robot *robot, tt_error *error) {
  for (int i = 0; i < robot->gripper_count; i++) {
    const tt_engine_gripper *gripper = &robot->grippers[i];
    char name[512];
    snprintf(name, sizeof name, "%s%s", submodel->prefix, gripper->site);
    const xmlNode *world = section_of(root, "worldbody");
    const char *body = body_of(world, name);
    if (!body) return no_place(world, submodel->prefix, gripper, robot->model_file, error);
    xmlNode *weld = xmlNewChild(section_of(root, "equality"), NULL, BAD_CAST "weld", NULL);
    xmlSetProp(weld, BAD_CAST "body1", BAD_CAST body);
    xmlSetProp(weld, BAD_CAST "active", BAD_CAST "false");
    xmlSetProp(weld, BAD_CAST "solref", BAD_CAST STIFF_SOLREF);
    xmlSetProp(weld, BAD_CAST "solimp", BAD_CAST STIFF_SOLIMP);
    snprintf(name, sizeof name, TT_GRIP_PREFIX "%s%s", submodel->prefix, gripper->name);
    xmlSetProp(weld, BAD_CAST "name", BAD_CAST name);
  }
  return TT_OK;
}

/* MJCF knows no limit of a joint's torque or velocity without an actuator: what a URDF states goes along as numbers. */
static void add_limits(xmlNode *root, const physics_submodel *submodel) {
  for (int i = 0; i < submodel->limit_count; i++) {
    char name[1024];
    snprintf(name, sizeof name, TT_LIMIT_PREFIX "%s%s", submodel->prefix,
             submodel->limits[i].joint);
    xmlNode *numeric = xmlNewChild(section_of(root, "custom"), NULL, BAD_CAST "numeric", NULL);
    xmlSetProp(numeric, BAD_CAST "name", BAD_CAST name);
    physics_set_numbers(numeric, "data", submodel->limits[i].values, 2);
  }
}

/* MuJoCo's reader of URDFs leaves <mimic> out. */
static void add_mimics(xmlNode *root, const physics_submodel *submodel) {
  for (int i = 0; i < submodel->mimic_count; i++) {
    const physics_mimic *mimic = &submodel->mimics[i];
    char name[1024];
    xmlNode *joint = xmlNewChild(section_of(root, "equality"), NULL, BAD_CAST "joint", NULL);
    snprintf(name, sizeof name, "%s%s", submodel->prefix, mimic->joint);
    xmlSetProp(joint, BAD_CAST "joint1", BAD_CAST name);
    snprintf(name, sizeof name, "%s%s", submodel->prefix, mimic->of);
    xmlSetProp(joint, BAD_CAST "joint2", BAD_CAST name);
    xmlSetProp(joint, BAD_CAST "solref", BAD_CAST STIFF_SOLREF);
    xmlSetProp(joint, BAD_CAST "solimp", BAD_CAST STIFF_SOLIMP);
    physics_set_numbers(joint, "polycoef",
                        (const double[]){mimic->offset, mimic->multiplier, 0, 0, 0}, 5);
  }
}

/* What contacts are to be expected of. */
typedef struct crowd {
  long geoms; /* of bodies */
  long flat;  /* points in which loose ones lie that are flat, and touch in four */
} crowd;

static bool is_flat(const xmlNode *geom) {
  static const char *const ROUND[] = {"sphere", "ellipsoid", "capsule"};
  const char *type = physics_attribute(geom, "type");
  for (size_t i = 0; type && i < sizeof ROUND / sizeof *ROUND; i++)
    if (strcmp(type, ROUND[i]) == 0) return false;
  return type;
}

/* One body that moves freely. */
static bool is_loose(const xmlNode *body) {
  const xmlNode *joint = physics_first_child(body, "joint");
  const char *type = joint ? physics_attribute(joint, "type") : NULL;
  const bool is_free =
      physics_first_child(body, "freejoint") || (type && strcmp(type, "free") == 0);
  return is_free && !physics_first_child(body, "body");
}

static void count(const xmlNode *body, bool loose, crowd *of) {
  for (const xmlNode *child = body->children; child; child = child->next) {
    if (physics_is(child, "body")) count(child, false, of);
    if (!physics_is(child, "geom")) continue;
    of->geoms++;
    if (loose && is_flat(child)) of->flat += 4;
  }
}

static long stated_size(const xmlNode *size, const char *name) {
  const char *stated = physics_attribute(size, name);
  return stated ? strtol(stated, NULL, 10) : 0;
}

static void set_size(xmlNode *size, const char *name, long value) {
  char text[32];
  snprintf(text, sizeof text, "%ld", value);
  xmlSetProp(size, BAD_CAST name, BAD_CAST text);
}

#define MOST_GEOMS 1000
#define MOST_CONTACTS 20000
#define MOST_ROWS 8500

static void state_size(xmlNode *size, const char *name, long room, long most) {
  const long given = stated_size(size, name);
  if (room > most) room = most;
  set_size(size, name, given > room ? given : room);
}

/* MuJoCo's own guess is 100 contacts; but every geom of a body that lies down may touch in two points, and every contact takes
 * four rows or more. No more than that: memory, and the time of a reset, go with the square of njmax. Where many flat things
 * lie loose, which touch in four and side by side in more, there is room for them besides; for few it is as it always was, since a
 * saved state knows its model by these numbers, too. */
static void make_room(xmlNode *root) {
  xmlNode *size = section_of(root, "size"), *world = section_of(root, "worldbody");
  crowd of = {0};
  for (const xmlNode *node = world->children; node; node = node->next) {
    if (physics_is(node, "body")) count(node, is_loose(node), &of);
  }
  const long geoms = of.geoms < MOST_GEOMS ? of.geoms : MOST_GEOMS;
  long contacts = 100 + 2 * geoms, rows = 500 + 8 * geoms;
  if (3 * of.flat > 2 * contacts) {
    contacts += 2 * of.flat;
    rows += 4 * of.flat;
  }
  state_size(size, "nconmax", contacts, MOST_CONTACTS);
  state_size(size, "njmax", rows, MOST_ROWS);
}

/* MuJoCo's own guess of the stack goes with the square of all unknowns: gigabytes for thousands of them, of which hardly
 * any are used. Then it is what the submodels state, or a gigabyte; else its guess, which is more than they need. */
static void bound_stack(xmlNode *root, const physics_submodel *submodels, int count) {
  xmlNode *size = section_of(root, "size");
  double unknowns = (double)stated_size(size, "njmax");
  for (int i = 0; i < count; i++) unknowns += submodels[i].unknowns;
  long stated = stated_size(size, "nstack");
  if (5 * unknowns * unknowns > LARGEST_STACK)
    set_size(size, "nstack", stated > LARGEST_STACK ? stated : LARGEST_STACK);
  else
    xmlUnsetProp(size, BAD_CAST "nstack");
}

static xmlNode *begin_document(xmlDoc **document) {
  *document = xmlNewDoc(BAD_CAST "1.0");
  xmlNode *root = xmlNewDocNode(*document, NULL, BAD_CAST "mujoco", NULL);
  xmlDocSetRootElement(*document, root);
  xmlSetProp(root, BAD_CAST "model", BAD_CAST "tether");
  xmlNode *compiler = section_of(root, "compiler");
  xmlSetProp(compiler, BAD_CAST "angle", BAD_CAST "radian");
  xmlSetProp(compiler, BAD_CAST "autolimits", BAD_CAST "true");
  xmlSetProp(compiler, BAD_CAST "inertiafromgeom", BAD_CAST "false");
  xmlSetProp(section_of(root, "default"), BAD_CAST "class", BAD_CAST "main");
  return root;
}

tt_status physics_compose(physics_workshop *shop, const tt_engine_spec *spec,
                          physics_submodel *submodels, mjModel **model, tt_error *error) {
  xmlDoc *document = NULL;
  xmlNode *root = begin_document(&document);
  physics_choose_options(root, spec, submodels);
  for (int i = 0; i <= spec->robot_count; i++) {
    physics_prefix(&submodels[i]);
    merge_submodel(root, &submodels[i], i ? &spec->robots[i - 1] : NULL);
    add_limits(root, &submodels[i]);
    add_mimics(root, &submodels[i]);
  }
  make_room(root);
  bound_stack(root, submodels, spec->robot_count + 1);
  tt_status status = TT_OK;
  for (int i = 0; i < spec->robot_count && status == TT_OK; i++) {
    status = add_grippers(root, &submodels[i + 1], &spec->robots[i], error);
  }
  if (status == TT_OK) {
    char path[TT_PATH_SIZE];
    physics_workshop_path(shop, ".xml", path);
    if (xmlSaveFormatFile(path, document, 1) < 0) {
      status = tt_fail(error, TT_FAILED, "%s: cannot be written", path);
    } else {
      char shown[TT_PATH_SIZE];
      snprintf(shown, sizeof shown, "%.2000s with %d robot%s, composed", submodels[0].file,
               spec->robot_count, spec->robot_count == 1 ? "" : "s");
      snprintf(shop->at, TT_PATH_SIZE, "%s", shown);
      status = physics_compile(path, NULL, shown, NULL, model, error);
    }
  }
  xmlFreeDoc(document);
  return status;
}
