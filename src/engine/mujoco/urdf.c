/* urdf.c: rewrites a URDF so that MuJoCo's reader takes it as it was meant: base kept, meshes found
 * and converted, limits of joints remembered, joined links without contact. The user's file is not
 * touched. */
#include "base/log.h"
#include "base/nearest.h"
#include "engine/mujoco/physics_internal.h"

#include <libxml/parser.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a joint's <limit>; 0 where it states none: zeros stand there in files whose author did not know. */
static double stated_limit(const xmlNode *joint, const char *key) {
  const xmlNode *limit = physics_first_child(joint, "limit");
  const char *text = limit ? physics_attribute(limit, key) : NULL;
  double value = text ? strtod(text, NULL) : 0;
  return isfinite(value) && value > 0 ? value : 0;
}

static tt_status remember_limits(physics_submodel *submodel, const xmlNode *joint) {
  const char *name = physics_attribute(joint, "name");
  double effort = stated_limit(joint, "effort"), velocity = stated_limit(joint, "velocity");
  if (!name || (effort <= 0 && velocity <= 0)) return TT_OK;
  physics_limit *grown =
      realloc(submodel->limits, sizeof *grown * (size_t)(submodel->limit_count + 1));
  if (!grown) return TT_NOMEM;
  submodel->limits = grown;
  char *copy = strdup(name);
  if (!copy) return TT_NOMEM;
  submodel->limits[submodel->limit_count++] =
      (physics_limit){.joint = copy, .values = {effort, velocity}};
  return TT_OK;
}

static bool turns_or_slides(const xmlNode *joint) {
  const char *type = physics_attribute(joint, "type");
  return type && (strcmp(type, "revolute") == 0 || strcmp(type, "continuous") == 0 ||
                  strcmp(type, "prismatic") == 0);
}

static const xmlNode *find_joint(const xmlNode *robot, const char *name) {
  for (const xmlNode *node = robot->children; node; node = node->next) {
    const char *own = physics_is(node, "joint") ? physics_attribute(node, "name") : NULL;
    if (own && strcmp(own, name) == 0) return node;
  }
  return NULL;
}

/* False: it is no number. */
static bool stated_number(const xmlNode *node, const char *key, double fallback, double *value) {
  const char *text = physics_attribute(node, key);
  char *end = NULL;
  *value = text ? strtod(text, &end) : fallback;
  return isfinite(*value) && (!text || (end != text && !end[strspn(end, " \t\r\n")]));
}

/* The joint that it follows; NULL: published files name some that are not there. */
static const xmlNode *leader_of(const xmlNode *joint, const char *name) {
  const xmlNode *leader = name ? find_joint(joint->parent, name) : NULL;
  return leader && leader != joint && turns_or_slides(leader) ? leader : NULL;
}

static tt_status remember_mimic(const char *file, physics_submodel *submodel, const xmlNode *joint,
                                tt_error *error) {
  const xmlNode *mimic = physics_first_child(joint, "mimic");
  const char *name = physics_attribute(joint, "name");
  if (!mimic || !name || !turns_or_slides(joint)) return TT_OK;
  const char *of = physics_attribute(mimic, "joint");
  physics_mimic made = {.joint = NULL};
  if (!leader_of(joint, of)) {
    tt_log_warning(
        "%s:%ld: joint '%s' mimics '%s', which is no other revolute, continuous or "
        "prismatic joint of this file; it moves freely",
        file, xmlGetLineNo(mimic), name, of ? of : "");
    return TT_OK;
  }
  if (!stated_number(mimic, "multiplier", 1, &made.multiplier) ||
      !stated_number(mimic, "offset", 0, &made.offset))
    return tt_fail(error, TT_INVALID, "%s:%ld: joint '%s': give numbers as multiplier and offset",
                   file, xmlGetLineNo(mimic), name);
  physics_mimic *grown =
      realloc(submodel->mimics, sizeof *grown * (size_t)(submodel->mimic_count + 1));
  if (!grown) return TT_NOMEM;
  submodel->mimics = grown;
  made.joint = strdup(name);
  made.of = strdup(of);
  submodel->mimics[submodel->mimic_count++] = made;
  return made.joint && made.of ? TT_OK : TT_NOMEM;
}

/* Meshes named in several places are imported once. */
typedef struct import {
  char *reference, *name;
} import;
typedef struct imports {
  import *list;
  int count;
} imports;

static void imports_free(imports *done) {
  for (int i = 0; i < done->count; i++) {
    free(done->list[i].reference);
    free(done->list[i].name);
  }
  free(done->list);
}

static tt_status import_once(physics_workshop *shop, imports *done, const char *file,
                             const char *reference, const char **name, tt_error *error) {
  for (int i = 0; i < done->count; i++) {
    if (strcmp(done->list[i].reference, reference) == 0) {
      *name = done->list[i].name;
      return TT_OK;
    }
  }
  char made[TT_PATH_SIZE];
  TT_TRY(physics_mesh_import(shop, file, reference, made, error));
  import *grown = realloc(done->list, sizeof *grown * (size_t)(done->count + 1));
  if (!grown) return TT_NOMEM;
  done->list = grown;
  done->list[done->count] = (import){strdup(reference), strdup(made)};
  *name = done->list[done->count++].name;
  return TT_OK;
}

static const char *name_of(const xmlNode *node) {
  const char *name = physics_attribute(node, "name");
  return name ? name : "";
}

/* MuJoCo names neither the link nor the line. What is no number is left to it, which does there. */
static tt_status check_sizes(const char *file, const xmlNode *link, const xmlNode *geometry,
                             tt_error *error) {
  static const char *const sizes[][2] = {
      {"box", "size"}, {"sphere", "radius"}, {"cylinder", "radius"}, {"cylinder", "length"}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const xmlNode *shape = physics_first_child(geometry, sizes[i][0]);
    const char *text = shape ? physics_attribute(shape, sizes[i][1]) : NULL;
    char *end = NULL;
    for (const char *at = text; at && *at; at = end) {
      const double size = strtod(at, &end);
      if (end == at) break;
      if (size <= 0)
        return tt_fail(error, TT_INVALID,
                       "%s:%ld: link '%s': the %s of a %s is '%s'; it has to be positive", file,
                       xmlGetLineNo(shape), name_of(link), sizes[i][1], sizes[i][0], text);
    }
  }
  return TT_OK;
}

/* Removes visual geometry (all of it unless `visuals`), imports the meshes of the rest. A mesh for
 * the eye alone that can't be had is left out; one that collides is an error. */
static tt_status mend_link(physics_workshop *shop, imports *done, const char *file, xmlNode *link,
                           bool visuals, tt_error *error) {
  for (xmlNode *node = link->children, *next; node; node = next) {
    next = node->next;
    bool visual = physics_is(node, "visual");
    if (!visual && !physics_is(node, "collision")) continue;
    bool keep = visuals || !visual;
    xmlNode *geometry = physics_first_child(node, "geometry");
    if (keep && geometry) TT_TRY(check_sizes(file, link, geometry, error));
    xmlNode *mesh = keep && geometry ? physics_first_child(geometry, "mesh") : NULL;
    const char *reference = mesh ? physics_attribute(mesh, "filename") : NULL;
    if (reference) {
      const char *name = NULL;
      tt_error reason = {""};
      tt_status status = import_once(shop, done, file, reference, &name, &reason);
      if (status == TT_OK) {
        xmlSetProp(mesh, BAD_CAST "filename", BAD_CAST name);
      } else if (visual) {
        tt_log_warning("%s; left out, since it is only seen", reason.text);
        keep = false;
      } else {
        return tt_fail(error, status, "%s", reason.text);
      }
    }
    if (!keep) {
      xmlUnlinkNode(node);
      xmlFreeNode(node);
    }
  }
  return TT_OK;
}

static void set_compiler(xmlNode *robot, physics_urdf_care care) {
  xmlNode *extension = physics_first_child(robot, "mujoco");
  if (!extension) extension = xmlNewChild(robot, NULL, BAD_CAST "mujoco", NULL);
  xmlNode *compiler = physics_first_child(extension, "compiler");
  if (!compiler) compiler = xmlNewChild(extension, NULL, BAD_CAST "compiler", NULL);
  static const char *const SETTINGS[][2] = {
      {"fusestatic", "false"},    {"discardvisual", "false"}, {"strippath", "true"},
      {"balanceinertia", "true"}, {"meshdir", "."},
  };
  for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
    xmlSetProp(compiler, BAD_CAST SETTINGS[i][0], BAD_CAST SETTINGS[i][1]);
  }
  if (care == URDF_WITH_LEAST_MASSES) {
    xmlSetProp(compiler, BAD_CAST "boundmass", BAD_CAST "1e-6");
    xmlSetProp(compiler, BAD_CAST "boundinertia", BAD_CAST "1e-9");
  }
}

static xmlNode *find_link(const xmlNode *robot, const char *name) {
  for (xmlNode *node = robot->children; node; node = node->next) {
    const char *own = physics_is(node, "link") ? physics_attribute(node, "name") : NULL;
    if (own && strcmp(own, name) == 0) return node;
  }
  return NULL;
}

/* The link at an end of a joint; NULL: it names none that there is. */
static xmlNode *end_of(const xmlNode *robot, const xmlNode *joint, const char *which) {
  const xmlNode *end = physics_first_child(joint, which);
  const char *link = end ? physics_attribute(end, "link") : NULL;
  return link ? find_link(robot, link) : NULL;
}

/* MuJoCo's reader takes any other for an address. */
static tt_status check_type(const char *file, const xmlNode *joint, tt_error *error) {
  static const char *const types[] = {"revolute", "continuous", "prismatic",
                                      "fixed",    "floating",   "planar"};
  const char *type = physics_attribute(joint, "type");
  tt_nearest nearest = tt_nearest_start(type ? type : "");
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (type && strcmp(type, types[i]) == 0) return TT_OK;
    tt_nearest_offer(&nearest, types[i]);
  }
  return tt_fail(error, TT_INVALID,
                 nearest.best ? "%s:%ld: joint '%s' has the type '%s'; did you mean '%s'?"
                              : "%s:%ld: joint '%s' has the type '%s'; give revolute, continuous, "
                                "prismatic, fixed, floating or planar",
                 file, xmlGetLineNo(joint), name_of(joint), type ? type : "", nearest.best);
}

/* Each link remembers the joint on which it hangs, and each joint the link. */
static tt_status hang_up(const char *file, const xmlNode *robot, xmlNode *joint, tt_error *error) {
  xmlNode *child = end_of(robot, joint, "child");
  TT_TRY(check_type(file, joint, error));
  joint->_private = end_of(robot, joint, "parent");
  if (child && child->_private)
    return tt_fail(error, TT_INVALID,
                   "%s:%ld: link '%s' hangs on two joints, '%s' and '%s'; a URDF is a tree", file,
                   xmlGetLineNo(joint), name_of(child), name_of(child->_private), name_of(joint));
  if (child) child->_private = joint;
  return TT_OK;
}

/* What MuJoCo tells of these has neither file nor line, or it dies of them. */
static tt_status check_tree(const char *file, const xmlNode *robot, tt_error *error) {
  long joints = 0;
  for (xmlNode *node = robot->children; node; node = node->next) {
    if (!physics_is(node, "joint")) continue;
    TT_TRY(hang_up(file, robot, node, error));
    joints++;
  }
  for (const xmlNode *node = robot->children; node; node = node->next) {
    if (!physics_is(node, "link")) continue;
    const xmlNode *link = node;
    for (long i = 0; i <= joints && link && link->_private; i++) {
      link = ((const xmlNode *)link->_private)->_private;
      if (link == node)
        return tt_fail(error, TT_INVALID,
                       "%s:%ld: link '%s' hangs on itself, by a circle of joints; a URDF is a tree",
                       file, xmlGetLineNo(node), name_of(node));
    }
  }
  return TT_OK;
}

/* A joint to a link that the file does not have joins nothing; published files have such. */
static void drop_loose_joints(const char *file, xmlNode *robot, bool say) {
  for (xmlNode *node = robot->children, *next; node; node = next) {
    next = node->next;
    if (!physics_is(node, "joint")) continue;
    static const char *const ENDS[] = {"parent", "child"};
    for (int i = 0; i < 2; i++) {
      const xmlNode *end = physics_first_child(node, ENDS[i]);
      const char *link = end ? physics_attribute(end, "link") : NULL;
      if (!link || find_link(robot, link)) continue;
      const char *name = physics_attribute(node, "name");
      if (say) {
        tt_log_warning("%s: joint '%s': there is no link '%s'; left out", file, name ? name : "",
                       link);
      }
      xmlUnlinkNode(node);
      xmlFreeNode(node);
      break;
    }
  }
}

/* What MuJoCo's reader leaves out of it. */
static tt_status remember_joint(const char *file, physics_submodel *submodel, const xmlNode *joint,
                                tt_error *error) {
  TT_TRY(remember_limits(submodel, joint));
  return remember_mimic(file, submodel, joint, error);
}

static tt_status mend_robot(physics_workshop *shop, const char *file, xmlNode *robot,
                            physics_urdf_care care, physics_submodel *submodel, tt_error *error) {
  imports done = {0};
  tt_status status = TT_OK;
  drop_loose_joints(file, robot, care == URDF_AS_IT_IS);
  TT_TRY(check_tree(file, robot, error));
  for (xmlNode *node = robot->children; node && status == TT_OK; node = node->next) {
    if (physics_is(node, "joint") && care == URDF_AS_IT_IS)
      status = remember_joint(file, submodel, node, error);
    if (physics_is(node, "link")) {
      status = mend_link(shop, &done, file, node, care == URDF_AS_IT_IS, error);
    }
  }
  imports_free(&done);
  set_compiler(robot, care);
  return status;
}

/* Of an element after the others of its document; NULL: it was the last. */
static xmlNode *next_element(xmlNode *node) {
  xmlNode *next = xmlFirstElementChild(node);
  while (!next && node && node->type == XML_ELEMENT_NODE) {
    next = xmlNextElementSibling(node);
    node = node->parent;
  }
  return next;
}

/* MuJoCo names lines of what it was given: each element of that stands on a line of its own, and is the one at the same place in
 * `document`, which knows the line of the user's file. */
static void keep_lines(const char *prepared, xmlDoc *document, physics_urdf_lines *lines) {
  xmlDoc *copy =
      xmlReadFile(prepared, NULL,
                  XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES);
  xmlNode *there = xmlDocGetRootElement(document);
  lines->count = 0;
  for (xmlNode *here = copy ? xmlDocGetRootElement(copy) : NULL; here && there;
       here = next_element(here), there = next_element(there)) {
    const long line = xmlGetLineNo(here), user = xmlGetLineNo(there);
    if (line < lines->count || line < 1) continue;
    long *grown = realloc(lines->of, sizeof *grown * (size_t)(line + 1));
    if (!grown) break;
    lines->of = grown;
    while (lines->count <= line) lines->of[lines->count++] = 0;
    lines->of[line] = user > 0 ? user : 0;
  }
  xmlFreeDoc(copy);
}

void physics_urdf_tell_line(const physics_urdf_lines *lines, tt_error *error) {
  static const char word[] = ", line ";
  char *at = NULL;
  for (char *next = error->text; (next = strstr(next, word)); next++) at = next;
  if (!at) return;
  char *end;
  const long line = strtol(at + strlen(word), &end, 10);
  char rest[sizeof error->text];
  snprintf(rest, sizeof rest, "%s", end);
  const long user = line > 0 && line < lines->count ? lines->of[line] : 0;
  const size_t room = sizeof error->text - (size_t)(at - error->text);
  if (user > 0)
    snprintf(at, room, "%s%ld%s", word, user, rest);
  else
    snprintf(at, room, "%s", rest);
}

tt_status physics_urdf_prepare(physics_workshop *shop, const char *file, physics_urdf_care care,
                               physics_submodel *submodel, char prepared[TT_PATH_SIZE],
                               physics_urdf_lines *lines, tt_error *error) {
  xmlDoc *document = xmlReadFile(file, NULL,
                                 XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                     XML_PARSE_NOBLANKS | XML_PARSE_BIG_LINES);
  if (!document) {
    const xmlError *why = xmlGetLastError();
    return tt_fail(error, TT_INVALID, "%s:%d: %s", file, why ? why->line : 0,
                   why && why->message ? why->message : "not XML");
  }
  xmlNode *robot = xmlDocGetRootElement(document);
  tt_status status;
  if (!robot || !physics_is(robot, "robot")) {
    status = tt_fail(error, TT_INVALID, "%s: its root element is not <robot>: not a URDF", file);
  } else {
    status = mend_robot(shop, file, robot, care, submodel, error);
  }
  if (status == TT_OK) {
    physics_workshop_path(shop, ".urdf", prepared);
    if (xmlSaveFormatFile(prepared, document, 1) < 0) {
      status = tt_fail(error, TT_FAILED, "%s: cannot be written", prepared);
    } else {
      keep_lines(prepared, document, lines);
    }
  }
  xmlFreeDoc(document);
  return status;
}

/* Whether a body with geometry hangs by one joint on something that stands fixed in the world. */
static bool hangs_on_base(const mjModel *m, int body) {
  const int moving = m->body_weldid[body];
  return moving > 0 && m->body_geomnum[body] > 0 && m->body_weldid[m->body_parentid[moving]] == 0;
}

void physics_urdf_exclude_base(xmlNode *root, const mjModel *m) {
  xmlNode *contact = physics_first_child(root, "contact");
  for (int base = 1; base < m->nbody; base++) {
    if (m->body_weldid[base] != 0 || m->body_geomnum[base] == 0) continue;
    for (int link = base + 1; link < m->nbody; link++) {
      if (!hangs_on_base(m, link)) continue;
      if (!contact) contact = xmlNewChild(root, NULL, BAD_CAST "contact", NULL);
      xmlNode *exclude = xmlNewChild(contact, NULL, BAD_CAST "exclude", NULL);
      xmlSetProp(exclude, BAD_CAST "body1", BAD_CAST mj_id2name(m, mjOBJ_BODY, base));
      xmlSetProp(exclude, BAD_CAST "body2", BAD_CAST mj_id2name(m, mjOBJ_BODY, link));
    }
  }
}
