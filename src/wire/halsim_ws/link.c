/* link.c: a client that tries again for ever, or a place among those of a listener.
 *
 * A listener belongs to the thread of its tt_net; the list of all is the process' own, since worlds may live in several.
 */
#include "wire/halsim_ws/link.h"

#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CONNECTIONS 40 /* robots of a world, and those who are told why they are refused */
#define FRAMES_A_TURN 256   /* a program begins with more than a thousand */

typedef struct listener {
  struct listener *next;
  tt_net *net;
  char *asked; /* the address that scenes give */
  tt_websocket_server *server;
  tt_halsim_link *links;
} listener;

struct tt_halsim_link {
  tt_halsim_link *next; /* of the listener */
  listener *listener;   /* NULL: it connects */
  tt_websocket_client *client;
  tt_websocket *websocket; /* NULL: nobody */
  const char *path;
  tt_halsim_link_handler handler;
  void *context;
  char address[384];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static listener *listeners;

/* --- the connection --- */

/* One that was turned away has no link. */
static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  tt_halsim_link *link = context;
  (void)websocket;
  if (link) link->handler.on_message(link->context, text, bytes, size);
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  tt_halsim_link *link = context;
  (void)code;
  if (!link) return;
  if (websocket) link->websocket = NULL;
  link->handler.on_close(link->context, websocket != NULL, reason);
}

static void take(tt_halsim_link *link, tt_websocket *websocket) {
  link->websocket = websocket;
  tt_websocket_set_context(websocket, link);
  link->handler.on_open(link->context, websocket);
}

static void on_connected(void *context, tt_websocket *websocket) { take(context, websocket); }

/* --- listening --- */

static bool is_path(const char *asked, const char *path) {
  size_t length = strlen(path);
  return strncmp(asked, path, length) == 0 && (asked[length] == '\0' || asked[length] == '?');
}

static tt_halsim_link *find_link(const listener *listener, const char *path) {
  for (tt_halsim_link *link = listener->links; link; link = link->next)
    if (is_path(path, link->path)) return link;
  return NULL;
}

static void on_request(void *context, const tt_websocket_request *request,
                       tt_websocket_answer *answer) {
  const tt_halsim_link *link = find_link(context, request->path);
  if (request->origin[0]) { /* no page of the web drives a robot */
    *answer = (tt_websocket_answer){.status = 403, .body = "This is for robot programs."};
  } else if (!link) {
    *answer =
        (tt_websocket_answer){.status = 404, .body = "No robot has this path; see HALSIMWS_URI."};
  } else if (link->websocket) {
    link->handler.on_close(link->context, false, "another program drives this robot");
    *answer =
        (tt_websocket_answer){.status = 409, .body = "Another program drives this robot already."};
  } else {
    answer->status = 101;
  }
}

static void on_accepted(void *context, tt_websocket *websocket) {
  tt_halsim_link *link = find_link(context, tt_websocket_path(websocket));
  if (link && !link->websocket) {
    take(link, websocket);
    return;
  }
  tt_websocket_set_context(websocket, NULL);
  tt_websocket_close(websocket, 1008, "another program drives this robot");
}

static tt_websocket_options options_of(const tt_halsim_ws_config *config) {
  tt_websocket_options options = tt_websocket_options_default();
  options.max_connections = MOST_CONNECTIONS;
  options.max_message = TT_HALSIM_MOST_BYTES;
  options.frames_a_turn = FRAMES_A_TURN;
  options.allow =
      (tt_allow){(const char *const *)config->common.allow, (int)config->common.allow_count};
  options.handler = (tt_websocket_handler){.on_message = on_message, .on_close = on_close};
  return options;
}

static void drop_listener(listener *unused) {
  listener **place = &listeners;
  while (*place != unused) place = &(*place)->next;
  *place = unused->next;
  tt_websocket_server_close(unused->server);
  free(unused->asked);
  free(unused);
}

/* The listener at this address, a new one where there is none. */
static tt_status find_listener(const tt_wire *wire, const tt_halsim_ws_config *config,
                               listener **found, tt_error *error) {
  for (*found = listeners; *found; *found = (*found)->next)
    if ((*found)->net == wire->net && strcmp((*found)->asked, config->listen) == 0) return TT_OK;
  listener *made = calloc(1, sizeof *made);
  if (made) made->asked = strdup(config->listen);
  if (!made || !made->asked) {
    free(made);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  tt_websocket_options options = options_of(config);
  tt_error reason;
  made->net = wire->net;
  made->next = listeners;
  listeners = made;
  options.address = config->listen;
  options.handler.on_request = on_request;
  options.handler.on_open = on_accepted;
  options.context = made;
  tt_status status = tt_websocket_listen(wire->net, &options, &made->server, &reason);
  if (status != TT_OK) {
    drop_listener(made);
    return tt_fail(error, status, "%s: %s", wire->where, reason.text);
  }
  *found = made;
  return TT_OK;
}

static tt_status join(const tt_wire *wire, const tt_halsim_ws_config *config, tt_halsim_link *link,
                      tt_error *error) {
  listener *with;
  link->path = config->path;
  TT_TRY(find_listener(wire, config, &with, error));
  if (find_link(with, config->path))
    return tt_fail(error, TT_INVALID,
                   "%s.path: another wire has %s at %s, too; give each robot a path of its own",
                   wire->where, config->path, config->listen);
  link->listener = with;
  link->next = with->links;
  with->links = link;
  snprintf(link->address, sizeof link->address, "%s%s", tt_websocket_server_address(with->server),
           config->path);
  return TT_OK;
}

static void leave(tt_halsim_link *link) {
  listener *from = link->listener;
  tt_halsim_link **place = &from->links;
  while (*place != link) place = &(*place)->next;
  *place = link->next;
  if (link->websocket) {
    tt_websocket_set_context(link->websocket, NULL);
    tt_websocket_close(link->websocket, 1001, "the simulation ends");
  }
  if (!from->links) drop_listener(from);
}

/* --- either --- */

static tt_status connect_to(const tt_wire *wire, const tt_halsim_ws_config *config,
                            tt_halsim_link *link, tt_error *error) {
  tt_websocket_options options = options_of(config);
  tt_error reason;
  options.url = config->connect;
  options.handler.on_open = on_connected;
  options.context = link;
  snprintf(link->address, sizeof link->address, "%s", config->connect);
  tt_status status = tt_websocket_connect(wire->net, &options, &link->client, &reason);
  if (status != TT_OK) return tt_fail(error, status, "%s.connect: %s", wire->where, reason.text);
  tt_log_info("%s: looks for a robot program at %s, for as long as it takes", wire->name,
              config->connect);
  return TT_OK;
}

tt_status tt_halsim_link_open(const tt_wire *wire, const tt_halsim_ws_config *config,
                              const tt_halsim_link_handler *handler, void *context,
                              tt_halsim_link **link_out, tt_error *error) {
  *link_out = NULL;
  tt_halsim_link *link = calloc(1, sizeof *link);
  if (!link) return tt_fail(error, TT_NOMEM, "out of memory");
  link->handler = *handler;
  link->context = context;
  tt_status status;
  if (config->listen) {
    pthread_mutex_lock(&lock);
    status = join(wire, config, link, error);
    pthread_mutex_unlock(&lock);
  } else {
    status = connect_to(wire, config, link, error);
  }
  if (status == TT_OK)
    *link_out = link;
  else
    free(link);
  return status;
}

void tt_halsim_link_close(tt_halsim_link *link) {
  if (!link) return;
  pthread_mutex_lock(&lock);
  if (link->listener) leave(link);
  pthread_mutex_unlock(&lock);
  tt_websocket_client_close(link->client);
  free(link);
}

const char *tt_halsim_link_address(const tt_halsim_link *link) { return link->address; }
