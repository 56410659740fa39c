#include "config/scene_files.h"

#include <libxml/parser.h>
#include <libxml/tree.h>

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_TOTAL (256u << 20)

typedef struct gathering {
  tt_scene_files *files;
  size_t total;
  tt_status status;
} gathering;

static bool gathered(const tt_scene_files *files, const char *path) {
  for (int i = 0; i < files->count; i++)
    if (strcmp(files->files[i].path, path) == 0) return true;
  return false;
}

static void *read_whole(const char *path, size_t *size) {
  FILE *file = fopen(path, "rbe");
  if (!file) return NULL;
  char *bytes = NULL;
  size_t capacity = 0;
  *size = 0;
  for (size_t got = 1; got > 0 && *size <= LARGEST_TOTAL;) {
    if (*size == capacity) {
      capacity = capacity ? 2 * capacity : 1 << 16;
      char *grown = realloc(bytes, capacity);
      if (!grown) break;
      bytes = grown;
    }
    got = fread(bytes + *size, 1, capacity - *size, file);
    *size += got;
  }
  fclose(file);
  return bytes;
}

/* Adds one file; false where it is there already or can't be read. */
static bool add(gathering *into, const char *name) {
  char path[PATH_MAX];
  size_t size;
  tt_scene_files *files = into->files;
  if (into->status != TT_OK || !realpath(name, path) || gathered(files, path)) return false;
  if (files->count == files->capacity) {
    int capacity = files->capacity ? 2 * files->capacity : 16;
    tt_file *grown = realloc(files->files, (size_t)capacity * sizeof *grown);
    if (!grown) return into->status = TT_NOMEM, false;
    files->files = grown;
    files->capacity = capacity;
  }
  void *bytes = read_whole(path, &size);
  if (!bytes) return false;
  into->total += size;
  files->files[files->count++] = (tt_file){strdup(path), bytes, size};
  if (into->total > LARGEST_TOTAL) into->status = TT_FULL;
  return true;
}

/* Where a model's file names lead: next to it, or in one of the folders its compiler element names. */
typedef struct model_folders {
  const char *folders[4];
  int count;
} model_folders;

static void add_model(gathering *into, const char *path);

static void add_named(gathering *into, const model_folders *folders, const char *name) {
  for (int i = 0; i < folders->count; i++) {
    char path[PATH_MAX];
    bool absolute = name[0] == '/';
    snprintf(path, sizeof path, "%s%s%s", absolute ? "" : folders->folders[i], absolute ? "" : "/",
             name);
    const char *dot = strrchr(path, '.');
    if (dot && (strcmp(dot, ".xml") == 0 || strcmp(dot, ".urdf") == 0))
      add_model(into, path);
    else
      add(into, path);
  }
}

static void walk(gathering *into, const model_folders *folders, const xmlNode *node) {
  for (; node; node = node->next) {
    for (const xmlAttr *attribute = node->properties; node->type == XML_ELEMENT_NODE && attribute;
         attribute = attribute->next) {
      const char *name = (const char *)attribute->name;
      bool names_file = strncmp(name, "file", 4) == 0; /* file, filename, fileright, … */
      if (names_file && attribute->children)
        add_named(into, folders, (const char *)attribute->children->content);
    }
    walk(into, folders, node->children);
  }
}

/* meshdir and texturedir of a compiler element, relative to the model's folder. */
static void find_folders(const xmlNode *root, const char *base, char paths[2][PATH_MAX],
                         model_folders *folders) {
  static const char *const keys[] = {"meshdir", "texturedir"};
  for (const xmlNode *node = root->children; node; node = node->next) {
    if (node->type != XML_ELEMENT_NODE || strcmp((const char *)node->name, "compiler") != 0)
      continue;
    for (int i = 0; i < 2; i++) {
      xmlChar *value = xmlGetProp(node, (const xmlChar *)keys[i]);
      if (!value) continue;
      snprintf(paths[i], PATH_MAX, "%s%s%s", value[0] == '/' ? "" : base,
               value[0] == '/' ? "" : "/", (const char *)value);
      if (folders->count < 4) folders->folders[folders->count++] = paths[i];
      xmlFree(value);
    }
  }
}

static void add_model(gathering *into, const char *path) {
  char base[PATH_MAX];
  char paths[2][PATH_MAX];
  if (!add(into, path)) return;
  snprintf(base, sizeof base, "%s", path);
  char *slash = strrchr(base, '/');
  if (slash) *slash = 0;
  xmlDoc *document =
      xmlReadFile(path, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  if (!document) return;
  model_folders folders = {.folders = {slash ? base : "."}, .count = 1};
  xmlNode *root = xmlDocGetRootElement(document);
  if (root) {
    find_folders(root, folders.folders[0], paths, &folders);
    walk(into, &folders, root);
  }
  xmlFreeDoc(document);
}

static void add_lua(gathering *into, const char *folder) {
  char path[PATH_MAX + 256];
  struct dirent **entries;
  int count = scandir(*folder ? folder : ".", &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    const char *dot = strrchr(entries[i]->d_name, '.');
    snprintf(path, sizeof path, "%s/%s", *folder ? folder : ".", entries[i]->d_name);
    if (dot && strcmp(dot, ".lua") == 0) add(into, path);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

tt_status tt_scene_files_read(const tt_scene *scene, tt_scene_files *files, tt_error *error) {
  *files = (tt_scene_files){0};
  gathering into = {.files = files};
  const char *yaml;
  for (int i = 0; (yaml = tt_scene_yaml_file(scene, i)); i++) add(&into, yaml);
  if (scene->arena_file) add_model(&into, scene->arena_file);
  for (int i = 0; i < scene->robot_count; i++) add_model(&into, scene->robots[i].model_file);
  add_lua(&into, scene->folder);
  for (int i = 0; i < scene->robot_count; i++) add_lua(&into, scene->robots[i].folder);
  if (into.status == TT_OK) return TT_OK;
  tt_scene_files_free(files);
  return tt_fail(error, into.status, "%s: its files can't be kept with the run: %s", scene->path,
                 into.status == TT_FULL ? "they are larger than 256 MB" : "out of memory");
}

void tt_scene_files_free(tt_scene_files *files) {
  for (int i = 0; i < files->count; i++) {
    free((char *)files->files[i].path);
    free((void *)files->files[i].bytes);
  }
  free(files->files);
  *files = (tt_scene_files){0};
}
