/* mesh.c: puts the meshes that a URDF names where MuJoCo can read them. */
#include "engine/mujoco/physics_internal.h"

#include <assimp/cexport.h>
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* MuJoCo reads binary STL only; an ASCII one does not have the size that its count implies. */
static bool is_binary_stl(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  unsigned char head[84];
  struct stat about;
  bool whole = fread(head, 1, sizeof head, f) == sizeof head && fstat(fileno(f), &about) == 0;
  fclose(f);
  if (!whole) return false;
  uint32_t faces;
  memcpy(&faces, head + 80, sizeof faces);
  return about.st_size == 84 + 50 * (off_t)faces;
}

static tt_status convert(const char *from, const char *to, tt_error *error) {
  struct aiPropertyStore *settings = aiCreatePropertyStore();
  /* URDF has meshes in the link's own axes, whatever the file says is up. */
  aiSetImportPropertyInteger(settings, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
  aiSetImportPropertyInteger(settings, AI_CONFIG_PP_SBP_REMOVE,
                             aiPrimitiveType_POINT | aiPrimitiveType_LINE);
  const struct aiScene *scene = aiImportFileExWithProperties(
      from,
      aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_PreTransformVertices |
          aiProcess_FindDegenerates | aiProcess_SortByPType,
      NULL, settings);
  aiReleasePropertyStore(settings);
  if (!scene) return tt_fail(error, TT_INVALID, "%s: %s", from, aiGetErrorString());
  bool done = scene->mNumMeshes > 0 && aiExportScene(scene, "stlb", to, 0) == aiReturn_SUCCESS;
  aiReleaseImport(scene);
  return done ? TT_OK : tt_fail(error, TT_INVALID, "%s: has no triangles", from);
}

tt_status physics_mesh_import(physics_workshop *shop, const char *file, const char *reference,
                              char name[TT_PATH_SIZE], tt_error *error) {
  char path[TT_PATH_SIZE], target[TT_PATH_SIZE];
  TT_TRY(physics_mesh_find(shop->search_path, file, reference, path, error));
  const char *dot = strrchr(path, '.');
  const char *kind = dot ? dot : "";
  bool stl = strcasecmp(kind, ".stl") == 0 && is_binary_stl(path);
  bool obj = strcasecmp(kind, ".obj") == 0;
  physics_workshop_path(shop, obj ? ".obj" : ".stl", target);
  if (stl || obj) {
    char *real = realpath(path, NULL); /* a link to "robots/m.stl" would lead nowhere */
    bool linked = real && symlink(real, target) == 0;
    free(real);
    if (!linked) return tt_fail(error, TT_FAILED, "%s: cannot link", path);
  } else {
    TT_TRY(convert(path, target, error));
  }
  snprintf(name, TT_PATH_SIZE, "%s", strrchr(target, '/') + 1);
  return TT_OK;
}
