/* workshop.c: where models are prepared: a folder of its own, and MuJoCo's compiler. */
#include "engine/mujoco/physics_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  mjVFS *files = physics_vfs_new();
  if (!files) return NULL;
  int size = (int)strlen(text);
  if (mj_makeEmptyFileVFS(files, slash ? slash + 1 : file, size) != 0) {
    physics_vfs_free(files);
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
  physics_vfs_free(c.files);
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
