/* nt4.c: viewers of a running scene that speak NetworkTables 4. */
#include "app/attach/attach.h"
#include "nt4/service.h"

static tt_status open_nt4(const tt_attach_context *context, void **self, tt_error *error) {
  bool given;
  tt_nt4_service *service;
  const tt_nt4_keys *keys = tt_scene_section(context->scene, "nt4", &given);
  if (!given) return TT_OK;
  TT_TRY(tt_nt4_service_open(context->world, keys, &context->scene->field, &service, error));
  *self = service;
  return TT_OK;
}

static const char *nt4_address(void *self) { return tt_nt4_service_address(self); }
static void close_nt4(void *self) { tt_nt4_service_close(self); }

const tt_attachment tt_nt4_attachment = {
    .name = "nt4", .open = open_nt4, .address = nt4_address, .close = close_nt4, .shows = true};
