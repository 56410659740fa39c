#include "nt4/service.h"

#include "base/log.h"
#include "host/watcher.h"
#include "nt4/client.h"
#include "nt4/server.h"
#include "nt4/topics.h"

#include <stdlib.h>

struct tt_nt4_service {
  tt_watcher *watcher;
  tt_nt4_server *server;           /* or NULL */
  tt_nt4_client *client;           /* or NULL */
  tt_nt4_topics *served, *brought; /* the server's, the client's */
};

static void show(void *context, const tt_view *view) {
  tt_nt4_service *service = context;
  if (service->served) tt_nt4_topics_set(service->served, view);
  if (service->brought) tt_nt4_topics_set(service->brought, view);
}

static void turn(void *context) {
  tt_nt4_service *service = context;
  if (service->served) tt_nt4_topics_post(service->served);
  if (service->brought) tt_nt4_topics_post(service->brought);
  if (service->server) tt_nt4_server_flush(service->server);
  if (service->client) tt_nt4_client_flush(service->client);
}

static tt_status listen_on(tt_nt4_service *service, tt_world *world, const tt_nt4_keys *keys,
                           const tt_field *field, tt_error *error) {
  tt_allow allow = {.cidrs = (const char *const *)keys->allow, .count = (int)keys->allow_count};
  tt_nt4_topics_options options = {.source = "nt4",
                                   .field = *field,
                                   .field_table = "/SmartDashboard/Field",
                                   .commands = keys->commands,
                                   .station = true};
  tt_error why;
  tt_status status = tt_nt4_server_open(tt_watcher_net(service->watcher), keys->listen, &allow,
                                        &service->server, &why);
  if (status != TT_OK) return tt_fail(error, status, "nt4.listen: %s", why.text);
  return tt_nt4_topics_new(tt_nt4_server_sink(service->server), world, &options, &service->served,
                           error);
}

/* The robot program may have a Field2d of its own where SmartDashboard's is, and has an FMSInfo. What its clients command is not
 * theirs who are clients here: each goes alone. */
static tt_status connect_to(tt_nt4_service *service, tt_world *world, const tt_nt4_keys *keys,
                            const tt_field *field, tt_error *error) {
  tt_nt4_topics_options options = {.source = "nt4.connect",
                                   .field = *field,
                                   .field_table = "/Tether/Field",
                                   .commands = keys->commands};
  tt_error why;
  tt_status status =
      tt_nt4_client_open(tt_watcher_net(service->watcher), keys->connect, &service->client, &why);
  if (status != TT_OK) return tt_fail(error, status, "nt4.connect: %s", why.text);
  return tt_nt4_topics_new(tt_nt4_client_sink(service->client), world, &options, &service->brought,
                           error);
}

static tt_status start(tt_nt4_service *service, tt_world *world, const tt_nt4_keys *keys,
                       const tt_field *field, tt_error *error) {
  tt_watcher_options options = {.name = "nt4",
                                .period = keys->period_seconds,
                                .show = show,
                                .turn = turn,
                                .context = service};
  service->watcher = tt_watcher_new(world, &options);
  if (!service->watcher) return tt_fail(error, TT_NOMEM, "out of memory");
  if (keys->listen) TT_TRY(listen_on(service, world, keys, field, error));
  if (keys->connect) TT_TRY(connect_to(service, world, keys, field, error));
  return tt_watcher_start(service->watcher, error);
}

tt_status tt_nt4_service_open(tt_world *world, const tt_nt4_keys *keys, const tt_field *field,
                              tt_nt4_service **out, tt_error *error) {
  *out = NULL;
  tt_nt4_service *service = calloc(1, sizeof *service);
  if (!service) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = start(service, world, keys, field, error);
  if (status != TT_OK) {
    tt_nt4_service_close(service);
    return status;
  }
  *out = service;
  return TT_OK;
}

const char *tt_nt4_service_address(const tt_nt4_service *service) {
  return service->server ? tt_nt4_server_address(service->server) : NULL;
}

void tt_nt4_service_close(tt_nt4_service *service) {
  if (!service) return;
  tt_watcher_stop(service->watcher);
  tt_nt4_server_close(service->server);
  tt_nt4_client_close(service->client);
  tt_nt4_topics_free(service->served);
  tt_nt4_topics_free(service->brought);
  tt_watcher_free(service->watcher);
  free(service);
}
