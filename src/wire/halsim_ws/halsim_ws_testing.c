#include "wire/halsim_ws/halsim_ws_testing.h"

#include "app/assemble.h"
#include "app/guests.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PATIENCE 20000000000u /* ns */
#define MOST_SETTINGS 8

/* --- the program --- */

static void on_request(void *context, const tt_websocket_request *request,
                       tt_websocket_answer *answer) {
  (void)context;
  (void)request;
  answer->status = 101;
}

static void on_open(void *context, tt_websocket *websocket) {
  tt_rig_program *program = context;
  program->websocket = websocket;
  program->frames = 0;
  program->opened++;
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  tt_rig_program *program = context;
  (void)websocket;
  assert_true(text);
  program->frames++;
  while (program->size + size + 2 > program->capacity) {
    program->capacity = program->capacity ? 2 * program->capacity : 65536;
    program->text = realloc(program->text, program->capacity);
    assert_non_null(program->text);
  }
  memcpy(program->text + program->size, bytes, size);
  program->size += size;
  program->text[program->size++] = '\n';
  program->text[program->size] = '\0';
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  tt_rig_program *program = context;
  (void)reason;
  if (websocket) program->websocket = NULL;
  program->closed++;
  program->code = code;
}

static tt_websocket_options options_of(tt_rig_program *program) {
  tt_websocket_options options = tt_websocket_options_default();
  options.handler = (tt_websocket_handler){on_request, on_open, on_message, on_close};
  options.context = program;
  options.reconnect = 0;
  options.max_queued = 8 << 20;
  options.frames_a_turn = 1024;
  if (!program->net) program->net = tt_net_new();
  tt_net_set_spin(program->net, 0);
  return options;
}

void tt_rig_program_listen(tt_rig_program *program, const char *address) {
  tt_websocket_options options = options_of(program);
  tt_error error;
  options.address = address;
  if (tt_websocket_listen(program->net, &options, &program->server, &error) != TT_OK)
    fail_msg("%s", error.text);
}

void tt_rig_program_connect(tt_rig_program *program, const char *url) {
  tt_websocket_options options = options_of(program);
  tt_error error;
  options.url = url;
  if (tt_websocket_connect(program->net, &options, &program->client, &error) != TT_OK)
    fail_msg("%s", error.text);
}

void tt_rig_program_close(tt_rig_program *program) {
  tt_net_free(program->net); /* with all that is open */
  free(program->text);
  *program = (tt_rig_program){.net = NULL};
}

/* --- the world --- */

static void begin(tt_rig *rig, const char *scene, const char *const *settings, int count) {
  tt_error error = {""};
  if (tt_scene_load(&tt_program_guests, scene, settings, count, &rig->scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  if (tt_assemble(rig->scene, &(tt_assembly){.no_wires = false}, &rig->world, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_world_start(rig->world);
}

void tt_rig_open(tt_rig *rig, const char *scene, const char *const *settings, int count,
                 bool listens) {
  const char *all[MOST_SETTINGS] = {"wires.halsim-ws.listen=127.0.0.1:0"};
  char connect[128], url[160];
  *rig = (tt_rig){.scene = NULL};
  assert_true(count < MOST_SETTINGS);
  for (int i = 0; i < count; i++) all[i + 1] = settings[i];
  if (listens) {
    begin(rig, scene, all, count + 1);
    const tt_wire *wire = tt_rig_wire(rig, 0);
    snprintf(url, sizeof url, "ws://%s", wire->ops->address(wire));
    tt_rig_program_connect(&rig->program, url);
    return;
  }
  tt_rig_program_listen(&rig->program, "127.0.0.1:0");
  snprintf(connect, sizeof connect, "wires.halsim-ws.connect=ws://%s/wpilibws",
           tt_websocket_server_address(rig->program.server));
  all[0] = connect;
  begin(rig, scene, all, count + 1);
}

void tt_rig_close(tt_rig *rig) {
  tt_world_free(rig->world);
  tt_scene_free(rig->scene);
  tt_rig_program_close(&rig->program);
}

const tt_wire *tt_rig_wire(const tt_rig *rig, int index) {
  return tt_world_wire_at(rig->world, index);
}

void tt_rig_pump(tt_rig *rig, const uint64_t *what, uint64_t least) {
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (*what < least && tt_monotonic_ns() < end) {
    tt_net_poll(tt_rig_wire(rig, 0)->net, 0);
    tt_net_poll(rig->program.net, 100000);
  }
  if (*what < least) fail_msg("%llu of %llu", (unsigned long long)*what, (unsigned long long)least);
}

void tt_rig_connected(tt_rig *rig) {
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  const tt_wire *wire = tt_rig_wire(rig, 0);
  while ((!rig->program.websocket || !wire->stats.peer[0]) && tt_monotonic_ns() < end) {
    tt_net_poll(wire->net, 0);
    tt_net_poll(rig->program.net, 1000000);
  }
  assert_true(rig->program.websocket && wire->stats.peer[0]);
}

void tt_rig_tick(tt_rig *rig) {
  const tt_wire *wire = tt_rig_wire(rig, 0);
  tt_error error = {""};
  uint64_t sent = wire->stats.sent, heard = rig->program.frames;
  if (tt_world_tick(rig->world, &error) != TT_OK) fail_msg("%s", error.text);
  if (rig->program.websocket && wire->stats.peer[0])
    tt_rig_pump(rig, &rig->program.frames, heard + wire->stats.sent - sent);
}

void tt_rig_say(tt_rig *rig, const char *text) {
  uint64_t received = tt_rig_wire(rig, 0)->stats.received;
  assert_int_equal(tt_websocket_send(rig->program.websocket, true, text, strlen(text)), TT_OK);
  tt_rig_pump(rig, &tt_rig_wire(rig, 0)->stats.received, received + 1);
}

double tt_rig_command(const tt_rig *rig, const char *name) {
  int index;
  assert_int_equal(tt_names_find_command(tt_world_names(rig->world), name, 0, "", &index, NULL),
                   TT_OK);
  return tt_world_view(rig->world)->commands[index];
}

double tt_rig_signal(const tt_rig *rig, const char *name) {
  tt_signal signal;
  assert_int_equal(tt_names_find_signal(tt_world_names(rig->world), name, 0, "", &signal, NULL),
                   TT_OK);
  return tt_signal_read(&signal, tt_world_view(rig->world));
}
