/* foxglove.c: a running scene or a kept run in Foxglove. */
#include "app/attach/attach.h"
#include "foxglove/service.h"

#include <string.h>

static tt_status open_foxglove(const tt_attach_context *context, void **self, tt_error *error) {
  bool given;
  tt_foxglove_service *service;
  const tt_foxglove_keys *keys = tt_scene_section(context->scene, "foxglove", &given);
  if (!given) return TT_OK;
  const char *path = context->scene->path, *slash = strrchr(path, '/');
  tt_foxglove_shown shown = {.scene = context->kept ? context->kept->name
                                      : slash       ? slash + 1
                                                    : path,
                             .field = context->scene->field,
                             .begin = context->kept ? context->kept->begin : 0,
                             .duration = context->kept ? context->kept->duration : 0};
  TT_TRY(tt_foxglove_service_open(context->world, keys, &shown, &service, error));
  *self = service;
  return TT_OK;
}

static const char *foxglove_address(void *self) { return tt_foxglove_service_address(self); }
static void close_foxglove(void *self) { tt_foxglove_service_close(self); }

const tt_attachment tt_foxglove_attachment = {.name = "foxglove",
                                              .open = open_foxglove,
                                              .address = foxglove_address,
                                              .close = close_foxglove,
                                              .shows = true};
