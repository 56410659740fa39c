/* part.c: one model file, compiled alone and saved as MuJoCo's canonical MJCF, so that composing
 * knows a single dialect: radians, quaternions, everything nested and included already resolved. */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/references.h"

#include <errno.h>
#include <libxml/parser.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t compiler_lock = PTHREAD_MUTEX_INITIALIZER;

void physics_workshop_path(physics_workshop *shop, const char *suffix, char path[TT_PATH_SIZE]) {
  snprintf(path, TT_PATH_SIZE, "%s/%d%s", shop->scratch.folder, shop->file_count++, suffix);
}

typedef struct compilation {
  const char *file, *canonical;
  mjVFS *files; /* with what the file counts to hold, or NULL */
  mjModel *model;
  char text[1000];
} compilation;

/* MuJoCo's way of reading a file from memory, as if it stood in its folder. */
static mjVFS *files_with(const char *file, const char *text) {
  const char *slash = strrchr(file, '/');
  mjVFS *files = malloc(sizeof *files);
  if (!files) return NULL;
  mj_defaultVFS(files);
  int size = (int)strlen(text);
  if (mj_makeEmptyFileVFS(files, slash ? slash + 1 : file, size) != 0) {
    mj_deleteVFS(files);
    free(files);
    return NULL;
  }
  memcpy(files->filedata[0], text, (size_t)size);
  return files;
}

static void compile_work(void *context) {
  compilation *c = context;
  c->model = mj_loadXML(c->file, c->files, c->text, (int)sizeof c->text);
  if (c->model && c->canonical) {
    char text[200] = "";
    if (!mj_saveLastXML(c->canonical, c->model, text, (int)sizeof text)) {
      mj_deleteModel(c->model);
      c->model = NULL;
      snprintf(c->text, sizeof c->text, "cannot save as MJCF: %s", text);
    }
  }
  mj_freeLastXML();
}

static void one_line(char *text) {
  for (char *c = text; *c; c++) {
    if (*c == '\n') *c = ' ';
  }
  for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) text[n - 1] = '\0';
}

/* MuJoCo puts the centre of mass of a body without mass as far from the body as the body is from its parent. Forces of
 * links are told about it, and estimates of torque reach that far: it belongs to the body's origin. */
static void centre_massless_bodies(mjModel *m) {
  static const double LEVEL[4] = {1, 0, 0, 0};
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_mass[b] > 0) continue;
    mju_zero3(m->body_ipos + 3 * b);
    mju_copy4(m->body_iquat + 4 * b, LEVEL);
  }
}

tt_status physics_compile(const char *file, const char *text_of_file, const char *shown,
                          const char *canonical, mjModel **model, tt_error *error) {
  physics_hooks_install();
  compilation c = {.file = file, .canonical = canonical};
  if (text_of_file && !(c.files = files_with(file, text_of_file)))
    return tt_fail(error, TT_NOMEM, "%s: out of memory", shown);
  pthread_mutex_lock(&compiler_lock);
  char fatal[512] = "";
  bool survived = physics_guard(compile_work, &c, fatal, sizeof fatal);
  pthread_mutex_unlock(&compiler_lock);
  if (c.files) mj_deleteVFS(c.files);
  free(c.files);
  *model = survived ? c.model : NULL;
  if (!*model) {
    char *text = survived ? c.text : fatal;
    one_line(text);
    if (strstr(text, "Could not allocate") || strstr(text, "could not create mj"))
      return tt_fail(error, TT_INVALID,
                     "%s: needs more memory than the %d GiB that compiling a model may take; "
                     "lower njmax, nconmax or nstack of its <size>, or give it fewer bodies",
                     shown, TT_MAX_MODEL_GIB);
    bool schema = strstr(text, "Schema violation") || strstr(text, "unrecognized");
    return tt_fail(error, TT_INVALID, "%s: %s%s%s%s", shown, text,
                   schema ? " (this MuJoCo is " : "", schema ? mj_versionString() : "",
                   schema ? "; the model may need a newer one: remove what it does not know)" : "");
  }
  if ((*model)->nbody > TT_MAX_BODIES || (*model)->ngeom > TT_MAX_GEOMS) {
    tt_fail(error, TT_INVALID, "%s: %d bodies and %d geoms; at most %d and %d are allowed", shown,
            (*model)->nbody, (*model)->ngeom, TT_MAX_BODIES, TT_MAX_GEOMS);
    mj_deleteModel(*model);
    *model = NULL;
    return TT_INVALID;
  }
  centre_massless_bodies(*model);
  return TT_OK;
}

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

static tt_status compile_urdf(physics_workshop *shop, const char *canonical, physics_part *part,
                              mjModel **model, tt_error *error) {
  static const char *const GIVEN_UP[] = {"", "without its visual geometry",
                                         ("without its visual geometry, with 1 mg for moving links "
                                          "that have no mass")};
  tt_error first = {""}, reason;
  for (physics_urdf_care care = URDF_AS_IT_IS; care <= URDF_WITH_LEAST_MASSES; care++) {
    char prepared[TT_PATH_SIZE];
    TT_TRY(physics_urdf_prepare(shop, part->file, care, part, prepared, error));
    tt_error *now = care == URDF_AS_IT_IS ? &first : &reason;
    if (physics_compile(prepared, NULL, part->file, canonical, model, now) == TT_OK) {
      if (care != URDF_AS_IT_IS) tt_log_warning("%s; loaded %s", first.text, GIVEN_UP[care]);
      return TT_OK;
    }
  }
  return tt_fail(error, TT_INVALID, "%s", first.text);
}

static tt_status compile_mjcf(const char *file, const tt_engine_robot *robot, const char *canonical,
                              mjModel **model, tt_error *error) {
  char *text = NULL;
  if (robot) TT_TRY(physics_measure(file, robot->measures, robot->measure_count, &text, error));
  tt_status status = physics_compile(file, text, file, canonical, model, error);
  free(text);
  return status;
}

tt_status physics_part_load(physics_workshop *shop, const char *file, const tt_engine_robot *robot,
                            physics_part *part, tt_error *error) {
  snprintf(shop->at, TT_PATH_SIZE, "%s", file);
  TT_TRY(check_file(file, error));
  TT_TRY(physics_check_kind(file, error));
  TT_TRY(tt_model_references(file, shop->search_path, check_reference, (void *)file, error));
  part->urdf = ends_with(file, ".urdf");
  char canonical[TT_PATH_SIZE];
  physics_workshop_path(shop, ".xml", canonical);
  mjModel *model = NULL;
  if (part->urdf && robot && robot->measure_count > 0)
    return tt_fail(error, TT_INVALID, "%s: a URDF declares no measures; an MJCF model may",
                   robot->measures[0].where);
  if (part->urdf) {
    TT_TRY(compile_urdf(shop, canonical, part, &model, error));
  } else {
    TT_TRY(compile_mjcf(file, robot, canonical, &model, error));
  }
  part->document = xmlReadFile(canonical, NULL,
                               XML_PARSE_NONET | XML_PARSE_NOBLANKS | XML_PARSE_HUGE |
                                   XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  xmlNode *root = part->document ? xmlDocGetRootElement(part->document) : NULL;
  if (!root) {
    mj_deleteModel(model);
    const xmlError *last = xmlGetLastError();
    return tt_fail(error, TT_INVALID,
                   "%s: it cannot be written as XML; is there a control character in a name? (%s)",
                   file, last && last->message ? last->message : "out of memory");
  }
  char base[TT_PATH_SIZE];
  char *real = realpath(part->urdf ? canonical : file, NULL);
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
  if (part->urdf) physics_urdf_exclude_base(root, model);
  bool complete = body + 1 == model->nbody;
  part->unknowns = model->nv + model->neq;
  mj_deleteModel(model);
  if (!complete) return tt_fail(error, TT_FAILED, "%s: bodies were lost in composing", file);
  return TT_OK;
}

void physics_part_free(physics_part *part) {
  if (part->document) xmlFreeDoc(part->document);
  for (int i = 0; i < part->limit_count; i++) free(part->limits[i].joint);
  free(part->limits);
  *part = (physics_part){0};
}
