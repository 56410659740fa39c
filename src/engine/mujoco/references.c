#include "engine/mujoco/references.h"

#include "engine/mujoco/physics_internal.h"

#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_DOCUMENTS 256
#define MOST_FOLDERS 16

/* A model with its includes. MuJoCo looks for all they name from the folder of the first. */
typedef struct walk {
  const char *model;
  const char *const *search_path;
  tt_reference_visit *visit;
  void *context;
  tt_error *error;
  tt_status status;
  struct {
    char *path;
    xmlDoc *document; /* NULL: no XML */
  } documents[MOST_DOCUMENTS];
  int document_count;
  char folders[MOST_FOLDERS]
              [TT_PATH_SIZE]; /* that of the model, then what compiler elements name */
  int folder_count;
} walk;

static void join(char path[TT_PATH_SIZE], const char *folder, const char *name) {
  bool absolute = name[0] == '/';
  int size =
      snprintf(path, TT_PATH_SIZE, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", name);
  if (size >= TT_PATH_SIZE) path[0] = 0; /* there is no such file */
}

static bool is_regular(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static void tell(walk *in, const char *path) {
  struct stat about;
  if (in->status == TT_OK && stat(path, &about) == 0 && !S_ISDIR(about.st_mode))
    in->status = in->visit(in->context, path, in->error);
}

/* "mtllib one.mtl two.mtl": the names are of files beside the mesh. */
static void tell_materials(walk *in, const char *mesh, char *line) {
  static const char blank[] = " \t\r\n";
  char folder[TT_PATH_SIZE], path[TT_PATH_SIZE], *rest;
  const char *slash = strrchr(mesh, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - mesh) : 1, slash ? mesh : ".");
  char *word = strtok_r(line, blank, &rest);
  if (!word || strcmp(word, "mtllib") != 0) return;
  while ((word = strtok_r(NULL, blank, &rest))) {
    join(path, folder, word);
    tell(in, path);
  }
}

/* MuJoCo takes materials from where a mesh in OBJ says, and makes nothing of them. */
static void visit_materials(walk *in, const char *mesh) {
  char line[4096];
  bool begins = true; /* this piece begins a line */
  FILE *file = in->status == TT_OK && is_regular(mesh) ? fopen(mesh, "re") : NULL;
  while (file && in->status == TT_OK && fgets(line, sizeof line, file)) {
    bool ends = strchr(line, '\n');
    if (begins) tell_materials(in, mesh, line);
    begins = ends;
  }
  if (file) fclose(file);
}

static void visit(walk *in, const char *path) {
  const char *dot = strrchr(path, '.');
  tell(in, path);
  if (dot && strcasecmp(dot, ".obj") == 0) visit_materials(in, path);
}

static void add_document(walk *in, const char *path) {
  for (int i = 0; i < in->document_count; i++)
    if (strcmp(in->documents[i].path, path) == 0) return;
  visit(in, path);
  if (in->document_count == MOST_DOCUMENTS || in->status != TT_OK || !is_regular(path)) return;
  char *copy = strdup(path);
  if (!copy) {
    in->status = tt_fail(in->error, TT_NOMEM, "out of memory");
    return;
  }
  int made = in->document_count++;
  in->documents[made].path = copy;
  in->documents[made].document = xmlReadFile(
      path, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_RECOVER);
}

static void add_folder(walk *in, const char *name) {
  if (name && in->folder_count < MOST_FOLDERS)
    join(in->folders[in->folder_count++], in->folders[0], name);
}

/* What stands in a model; entities refer to each other, without an end where somebody wants it so. */
static const xmlNode *inside(const xmlNode *node) {
  const bool enters = node->type == XML_ELEMENT_NODE || node->type == XML_DOCUMENT_NODE;
  return enters ? node->children : NULL;
}

/* First what tells where to look. */
static void find_places(walk *in, const xmlNode *node) {
  for (; node; node = node->next) {
    if (physics_is(node, "compiler")) {
      add_folder(in, physics_attribute(node, "meshdir"));
      add_folder(in, physics_attribute(node, "texturedir"));
    }
    const char *included = physics_is(node, "include") ? physics_attribute(node, "file") : NULL;
    char path[TT_PATH_SIZE];
    join(path, in->folders[0], included ? included : "");
    if (included) add_document(in, path);
    find_places(in, inside(node));
  }
}

static void visit_name(walk *in, const char *name) {
  char path[TT_PATH_SIZE];
  const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
  for (int i = 0; i < in->folder_count && *base; i++) {
    join(path, in->folders[i], name);
    visit(in, path);
    join(path, in->folders[i], base); /* strippath */
    if (slash) visit(in, path);
  }
}

static void visit_names(walk *in, const xmlNode *node) {
  for (; node; node = node->next) {
    const char *mesh = physics_is(node, "mesh") ? physics_attribute(node, "filename") : NULL;
    char found[TT_PATH_SIZE];
    if (mesh && physics_mesh_find(in->search_path, in->model, mesh, found, NULL) == TT_OK)
      visit(in, found);
    for (const xmlAttr *attribute = node->type == XML_ELEMENT_NODE ? node->properties : NULL;
         attribute; attribute = attribute->next) {
      const char *key = (const char *)attribute->name; /* file, filename, fileright, … */
      const char *name = strncmp(key, "file", 4) == 0 ? physics_attribute(node, key) : NULL;
      if (name) visit_name(in, name);
    }
    visit_names(in, inside(node));
  }
}

tt_status tt_model_references(const char *model, const char *const *search_path,
                              tt_reference_visit *visitor, void *context, tt_error *error) {
  walk *in = calloc(1, sizeof *in);
  if (!in) return tt_fail(error, TT_NOMEM, "out of memory");
  in->model = model;
  in->search_path = search_path;
  in->visit = visitor;
  in->context = context;
  in->error = error;
  in->folder_count = 1;
  const char *slash = strrchr(model, '/');
  snprintf(in->folders[0], TT_PATH_SIZE, "%.*s", slash ? (int)(slash - model) : 1,
           slash ? model : ".");
  add_document(in, model);
  for (int i = 0; i < in->document_count; i++)
    find_places(in, (xmlNode *)in->documents[i].document);
  for (int i = 0; i < in->document_count; i++)
    visit_names(in, (xmlNode *)in->documents[i].document);
  for (int i = 0; i < in->document_count; i++) {
    xmlFreeDoc(in->documents[i].document);
    free(in->documents[i].path);
  }
  tt_status status = in->status;
  free(in);
  return status;
}
