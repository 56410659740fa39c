#include "scene/model_file.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LARGEST_FILE (16 << 20) /* bytes; physics takes no larger ones */
#define MOST_FILES 64
#define PATH_SIZE 4096

typedef struct reading {
  char folder[PATH_SIZE]; /* of the model: what it includes is found from there */
  int files;              /* read so far, so that files that include each other come to an end */
  double timestep;        /* s; 0: none stated */
} reading;

static void read_file(reading *r, const char *path);

static bool is(const xmlNode *node, const char *name) {
  return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static const char *attribute(const xmlNode *node, const char *name) {
  const xmlAttr *a = xmlHasProp(node, BAD_CAST name);
  return a && a->children ? (const char *)a->children->content : NULL;
}

static void include(reading *r, const char *name) {
  char path[2 * PATH_SIZE];
  snprintf(path, sizeof path, "%s%s", *name == '/' ? "" : r->folder, name);
  read_file(r, path);
}

static void read_children(reading *r, const xmlNode *parent) {
  for (const xmlNode *node = parent->children; node; node = node->next) {
    const char *text;
    if (is(node, "mujoco")) read_children(r, node);
    if (is(node, "include") && (text = attribute(node, "file"))) include(r, text);
    if (is(node, "option") && (text = attribute(node, "timestep"))) r->timestep = atof(text);
  }
}

/* Nothing that could make its reader wait, and nothing large. */
static bool is_ordinary(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= LARGEST_FILE;
}

static void read_file(reading *r, const char *path) {
  if (++r->files > MOST_FILES || !is_ordinary(path)) return;
  xmlDoc *document =
      xmlReadFile(path, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  const xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
  if (root) read_children(r, root);
  xmlFreeDoc(document);
}

/* Files have decimals where a whole number of steps a second is meant: 0.000333333 is 1/3000. */
static bool as_rational(double time, tt_rational *exact) {
  if (!(time >= 1e-9 && time <= 1e9)) return false;
  const double rate = round(1 / time);
  if (rate > 0 && fabs(rate * time - 1) < 2e-6) {
    *exact = (tt_rational){1, (int64_t)rate};
    return true;
  }
  char text[64];
  snprintf(text, sizeof text, "%.9g", time);
  return tt_rational_parse(text, exact);
}

bool tt_model_file_timestep(const char *path, tt_rational *timestep) {
  reading r = {0};
  const char *slash = strrchr(path, '/');
  if (slash) snprintf(r.folder, sizeof r.folder, "%.*s/", (int)(slash - path), path);
  read_file(&r, path);
  return as_rational(r.timestep, timestep);
}
