/* live_scenery.c: meshes and textures of a world and its phantoms, which pages fetch once. */
#include "web/live_internal.h"

#include <stdlib.h>

/* The number that a path ends in; −1: it doesn't. */
static long number_of(const char *rest) {
  char *end;
  long number = g_ascii_isdigit(*rest) ? strtol(rest, &end, 10) : -1;
  return number >= 0 && *end == 0 ? number : -1;
}

static void answer_bytes(const tt_web_request *request, tt_bytes *bytes) {
  if (bytes->failed)
    tt_web_respond_error(request, TT_NOMEM, "out of memory");
  else
    tt_web_respond(request, 200, "application/octet-stream", (const char *)bytes->data,
                   bytes->size);
  tt_bytes_free(bytes);
}

static void answer_mesh(void *context, const tt_web_request *request) {
  tt_live *live = context;
  const tt_scenery *scenery = tt_world_scenery(live->world);
  const uint8_t *kept;
  size_t size;
  long index = number_of(request->rest);
  if (index >= 0 && tt_live_phantom_mesh(live, index, &kept, &size)) {
    tt_web_respond(request, 200, "application/octet-stream", (const char *)kept, size);
    return;
  }
  if (index < 0 || index >= scenery->mesh_count) {
    tt_web_respond_error(request, TT_NOT_FOUND, "there is no such mesh");
    return;
  }
  tt_bytes bytes = {0};
  tt_describe_mesh(&scenery->meshes[index], &bytes);
  answer_bytes(request, &bytes);
}

static void answer_texture(void *context, const tt_web_request *request) {
  tt_live *live = context;
  const tt_scenery *scenery = tt_world_scenery(live->world);
  long index = number_of(request->rest);
  if (index < 0 || index >= scenery->texture_count) {
    tt_web_respond_error(request, TT_NOT_FOUND, "there is no such texture");
    return;
  }
  tt_bytes bytes = {0};
  tt_describe_texture(&scenery->textures[index], &bytes);
  answer_bytes(request, &bytes);
}

void tt_live_add_scenery(tt_live *live) {
  static const char meshes_path[] = "/api/meshes/", textures_path[] = "/api/textures/";
  tt_web_add_route(
      live->web,
      &(tt_web_route){.path = meshes_path, .watch = "GET", .handle = answer_mesh, .context = live});
  tt_web_add_route(
      live->web,
      &(tt_web_route){
          .path = textures_path, .watch = "GET", .handle = answer_texture, .context = live});
}
