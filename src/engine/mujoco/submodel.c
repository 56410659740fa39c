/* submodel.c: one model file, compiled alone and saved as MuJoCo's canonical MJCF, so that composing
 * knows a single dialect: radians, quaternions, everything nested and included already resolved. */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/references.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The writer keeps six digits; bodies carry what matters most, so their poses and inertias are
 * written again, exactly, from the compiled model. */
static void write_body_exactly(xmlNode *node, const mjModel *m, int body) {
  physics_set_numbers(node, "pos", m->body_pos + 3 * body, 3);
  physics_set_numbers(node, "quat", m->body_quat + 4 * body, 4);
  xmlNode *inertial = physics_first_child(node, "inertial");
  if (m->body_mass[body] <= 0) {
    if (inertial) {
      xmlUnlinkNode(inertial);
      xmlFreeNode(inertial);
    }
    return;
  }
  if (inertial) {
    xmlUnlinkNode(inertial);
    xmlFreeNode(inertial);
  }
  inertial = xmlNewNode(NULL, BAD_CAST "inertial");
  if (node->children) {
    xmlAddPrevSibling(node->children, inertial);
  } else {
    xmlAddChild(node, inertial);
  }
  physics_set_numbers(inertial, "pos", m->body_ipos + 3 * body, 3);
  physics_set_numbers(inertial, "quat", m->body_iquat + 4 * body, 4);
  physics_set_numbers(inertial, "mass", m->body_mass + body, 1);
  physics_set_numbers(inertial, "diaginertia", m->body_inertia + 3 * body, 3);
}

/* Geoms that collide come first in each body, so that the search for contacts can stop there. */
static void put_decorations_last(xmlNode *node, const mjModel *m, int body) {
  int g = m->body_geomadr[body], last = g + m->body_geomnum[body];
  for (xmlNode *child = node->children, *next; child && g < last; child = next) {
    next = child->next;
    if (!physics_is(child, "geom")) continue;
    if (!m->geom_contype[g] && !m->geom_conaffinity[g]) {
      xmlUnlinkNode(child);
      xmlAddChild(node, child);
    }
    g++;
  }
}

static void write_bodies_exactly(xmlNode *parent, const mjModel *m, int *body) {
  for (xmlNode *node = parent->children; node; node = node->next) {
    if (!physics_is(node, "body") || *body + 1 >= m->nbody) continue;
    write_body_exactly(node, m, ++*body);
    put_decorations_last(node, m, *body);
    write_bodies_exactly(node, m, body);
  }
}

/* Where the relative file names of a model are searched. */
static char *asset_path(const char *base, const char *folder, const char *name) {
  char *path = NULL;
  int n;
  if (name[0] == '/') {
    n = asprintf(&path, "%s", name);
  } else if (folder && folder[0] == '/') {
    n = asprintf(&path, "%s/%s", folder, name);
  } else {
    n = asprintf(&path, "%s/%s/%s", base, folder ? folder : "", name);
  }
  return n < 0 ? NULL : path;
}

static void make_paths_absolute(xmlNode *root, const char *base) {
  xmlNode *compiler = physics_first_child(root, "compiler");
  const char *meshes = compiler ? physics_attribute(compiler, "meshdir") : NULL;
  const char *textures = compiler ? physics_attribute(compiler, "texturedir") : NULL;
  static const char *const FILES[] = {"file",     "fileright", "fileleft", "fileup",
                                      "filedown", "filefront", "fileback"};
  for (xmlNode *asset = root->children; asset; asset = asset->next) {
    if (!physics_is(asset, "asset")) continue;
    for (xmlNode *node = asset->children; node; node = node->next) {
      bool texture = physics_is(node, "texture");
      for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        const char *name = physics_attribute(node, FILES[i]);
        if (!name) continue;
        if (!physics_attribute(node, "name") && i == 0) {
          const char *slash = strrchr(name, '/');
          char stem[TT_PATH_SIZE];
          snprintf(stem, sizeof stem, "%s", slash ? slash + 1 : name);
          char *dot = strrchr(stem, '.');
          if (dot) *dot = '\0';
          xmlSetProp(node, BAD_CAST "name", BAD_CAST stem);
        }
        char *path = asset_path(base, texture ? textures : meshes, name);
        if (path) xmlSetProp(node, BAD_CAST FILES[i], BAD_CAST path);
        free(path);
      }
    }
  }
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), k = strlen(end);
  return n >= k && strcasecmp(text + n - k, end) == 0;
}

static tt_status check_file(const char *file, tt_error *error) {
  struct stat about;
  if (stat(file, &about) != 0) {
    return tt_fail(error, TT_INVALID, "%s: cannot be read: %s", file, strerror(errno));
  }
  if (ends_with(file, ".mjb")) {
    return tt_fail(error, TT_INVALID,
                   "%s: binary models are not accepted, since they cannot be checked; use the MJCF "
                   "or URDF it was made from",
                   file);
  }
  if (!S_ISREG(about.st_mode)) return tt_fail(error, TT_INVALID, "%s: not a file", file);
  if (about.st_size > TT_MAX_MODEL_BYTES) {
    return tt_fail(error, TT_INVALID, "%s: %lld bytes; at most %d are allowed", file,
                   (long long)about.st_size, TT_MAX_MODEL_BYTES);
  }
  return TT_OK;
}

/* What opens a pipe waits for its other end; what reads a device may never end. */
static tt_status check_reference(void *context, const char *path, tt_error *error) {
  struct stat about;
  if (stat(path, &about) != 0 || S_ISREG(about.st_mode)) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: it names %s, which is a pipe or a device, not a file",
                 (const char *)context, path);
}

static tt_status compile_urdf(physics_workshop *shop, const char *canonical,
                              physics_submodel *submodel, mjModel **model, tt_error *error) {
  static const char *const GIVEN_UP[] = {"", "without its visual geometry",
                                         ("without its visual geometry, with 1 mg for moving links "
                                          "that have no mass")};
  tt_error first = {""}, reason;
  physics_urdf_lines lines = {0};
  for (physics_urdf_care care = URDF_AS_IT_IS; care <= URDF_WITH_LEAST_MASSES; care++) {
    char prepared[TT_PATH_SIZE];
    const tt_status status =
        physics_urdf_prepare(shop, submodel->file, care, submodel, prepared, &lines, error);
    if (status != TT_OK) {
      free(lines.of);
      return status;
    }
    tt_error *now = care == URDF_AS_IT_IS ? &first : &reason;
    if (physics_compile(prepared, NULL, submodel->file, canonical, model, now) == TT_OK) {
      free(lines.of);
      if (care != URDF_AS_IT_IS) tt_log_warning("%s; loaded %s", first.text, GIVEN_UP[care]);
      return TT_OK;
    }
    physics_urdf_tell_line(&lines, now);
  }
  free(lines.of);
  return tt_fail(error, TT_INVALID, "%s", first.text);
}

/* The MJCF `text`, or of `file`, with ranges that limit where none of its compilers says otherwise; NULL: it is no XML. The first
 * compiler of a model is the weakest. The caller frees. */
static char *with_limits(const char *file, const char *text) {
  const int options = XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
  xmlDoc *document = text ? xmlReadMemory(text, (int)strlen(text), NULL, NULL, options)
                          : xmlReadFile(file, NULL, options);
  xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
  xmlChar *dumped = NULL;
  int size;
  if (root) {
    xmlNode *compiler = xmlNewNode(NULL, BAD_CAST "compiler");
    xmlSetProp(compiler, BAD_CAST "autolimits", BAD_CAST "true");
    if (root->children)
      xmlAddPrevSibling(root->children, compiler);
    else
      xmlAddChild(root, compiler);
    xmlDocDumpMemory(document, &dumped, &size);
  }
  xmlFreeDoc(document);
  char *made = dumped ? strdup((const char *)dumped) : NULL;
  xmlFree(dumped);
  return made;
}

/* In models for MuJoCo 3 a range limits by itself, which this MuJoCo refuses as long as nobody says so. What it takes as it
 * is stays as it is. */
static tt_status compile_limited(const char *file, const char *text, const char *canonical,
                                 mjModel **model, tt_error *error) {
  tt_error first = {""};
  tt_status status = physics_compile(file, text, file, canonical, model, &first);
  if (status == TT_OK) return TT_OK;
  char *limited = strstr(first.text, "autolimits") ? with_limits(file, text) : NULL;
  if (limited)
    status = physics_compile(file, limited, file, canonical, model, error);
  else
    tt_fail(error, status, "%s", first.text);
  free(limited);
  return status;
}

static tt_status compile_mjcf(const char *file, const tt_engine_robot *robot, const char *canonical,
                              mjModel **model, tt_error *error) {
  char *text = NULL;
  if (robot) TT_TRY(physics_measure(file, robot->measures, robot->measure_count, &text, error));
  tt_status status = compile_limited(file, text, canonical, model, error);
  free(text);
  return status;
}

tt_status physics_submodel_load(physics_workshop *shop, const char *file,
                                const tt_engine_robot *robot, physics_submodel *submodel,
                                tt_error *error) {
  snprintf(shop->at, TT_PATH_SIZE, "%s", file);
  TT_TRY(check_file(file, error));
  TT_TRY(physics_check_kind(file, error));
  TT_TRY(tt_model_references(file, shop->search_path, check_reference, (void *)file, error));
  submodel->urdf = ends_with(file, ".urdf");
  char canonical[TT_PATH_SIZE];
  physics_workshop_path(shop, ".xml", canonical);
  mjModel *model = NULL;
  if (submodel->urdf && robot && robot->measure_count > 0)
    return tt_fail(error, TT_INVALID, "%s: a URDF declares no measures; an MJCF model may",
                   robot->measures[0].where);
  if (submodel->urdf) {
    TT_TRY(compile_urdf(shop, canonical, submodel, &model, error));
  } else {
    TT_TRY(compile_mjcf(file, robot, canonical, &model, error));
  }
  submodel->document = xmlReadFile(canonical, NULL,
                                   XML_PARSE_NONET | XML_PARSE_NOBLANKS | XML_PARSE_HUGE |
                                       XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  xmlNode *root = submodel->document ? xmlDocGetRootElement(submodel->document) : NULL;
  if (!root) {
    mj_deleteModel(model);
    const xmlError *last = xmlGetLastError();
    return tt_fail(error, TT_INVALID,
                   "%s: it cannot be written as XML; is there a control character in a name? (%s)",
                   file, last && last->message ? last->message : "out of memory");
  }
  char base[TT_PATH_SIZE];
  char *real = realpath(submodel->urdf ? canonical : file, NULL);
  snprintf(base, sizeof base, "%s", real ? real : file);
  free(real);
  char *slash = strrchr(base, '/');
  if (slash) *slash = '\0';
  make_paths_absolute(root, base);
  int body = 0;
  for (xmlNode *node = root->children; node; node = node->next) {
    if (!physics_is(node, "worldbody")) continue;
    put_decorations_last(node, model, 0);
    write_bodies_exactly(node, model, &body);
  }
  if (submodel->urdf) physics_urdf_exclude_base(root, model);
  bool complete = body + 1 == model->nbody;
  submodel->option = model->opt;
  submodel->unknowns = model->nv + model->neq + submodel->mimic_count;
  mj_deleteModel(model);
  if (!complete) return tt_fail(error, TT_FAILED, "%s: bodies were lost in composing", file);
  return TT_OK;
}

void physics_submodel_free(physics_submodel *submodel) {
  if (submodel->document) xmlFreeDoc(submodel->document);
  for (int i = 0; i < submodel->limit_count; i++) free(submodel->limits[i].joint);
  free(submodel->limits);
  for (int i = 0; i < submodel->mimic_count; i++) {
    free(submodel->mimics[i].joint);
    free(submodel->mimics[i].of);
  }
  free(submodel->mimics);
  *submodel = (physics_submodel){0};
}
