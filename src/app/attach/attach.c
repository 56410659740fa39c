#include "app/attach/attach.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const tt_attachment *const attachments[] = {
    &tt_record_attachment, &tt_telemetry_attachment, &tt_web_attachment,
    &tt_nt4_attachment,    &tt_foxglove_attachment,
};
#define COUNT (sizeof attachments / sizeof *attachments)

struct tt_attached {
  tt_world *world;
  struct tt_collector *collector;
  tt_run_reference run;
  void *selves[COUNT];
};

/* When another can't open, no log of a run that never began stays. */
static void give_up(tt_attached *attached) {
  tt_run_reference run = attached->run;
  tt_attached_close(attached);
  if (*run.file && unlink(run.file) == 0)
    tt_log_info("record: %s: removed, since the run did not begin", run.file);
}

static tt_status open_all(const tt_attach_context *context, tt_attached *attached,
                          tt_error *error) {
  for (size_t i = 0; i < COUNT; i++)
    if (!context->kept || attachments[i]->shows)
      TT_TRY(attachments[i]->open(context, &attached->selves[i], error));
  return TT_OK;
}

static tt_status begin_all(tt_attached *attached, tt_error *error) {
  for (size_t i = 0; i < COUNT; i++)
    if (attached->selves[i] && attachments[i]->begin)
      TT_TRY(attachments[i]->begin(attached->selves[i], error));
  return TT_OK;
}

tt_status tt_attach_all(const tt_attach_context *context, tt_attached **made, tt_error *error) {
  *made = NULL;
  tt_attached *attached = calloc(1, sizeof *attached);
  if (!attached) return tt_fail(error, TT_NOMEM, "out of memory");
  attached->world = context->world;
  tt_attach_context shared = *context;
  shared.collector = &attached->collector;
  shared.run = &attached->run;
  tt_status status = open_all(&shared, attached, error);
  if (status == TT_OK) status = begin_all(attached, error);
  if (status != TT_OK) {
    give_up(attached);
    return status;
  }
  *made = attached;
  return TT_OK;
}

size_t tt_attached_addresses(const tt_attached *attached, char *line, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < COUNT; i++) {
    if (!attached->selves[i] || !attachments[i]->address) continue;
    const char *address = attachments[i]->address(attached->selves[i]);
    if (!address || used >= size) continue;
    int wrote = snprintf(line + used, size - used, " %s=%s", attachments[i]->name, address);
    used += (size_t)wrote < size - used ? (size_t)wrote : size - used - 1;
  }
  return used;
}

void tt_attached_troubles(const tt_attached *attached, char *line, size_t size) {
  size_t used = 0;
  line[0] = 0;
  for (size_t i = 0; i < COUNT && used < size; i++) {
    if (!attached->selves[i] || !attachments[i]->trouble) continue;
    used += attachments[i]->trouble(attached->selves[i], line + used, size - used);
  }
}

void tt_attached_close(tt_attached *attached) {
  if (!attached) return;
  tt_world_detach(attached->world);
  for (size_t i = COUNT; i-- > 0;)
    if (attached->selves[i]) attachments[i]->close(attached->selves[i]);
  free(attached);
}
