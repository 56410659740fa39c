/* world_testing.c: see its header. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "app/assemble.h"
#include "app/guests.h"
#include "engine/mujoco/mujoco_engine.h"
#include "host/journal_lines.h"
#include "host/world_testing.h"
#include "net/socket_testing.h"

void testing_open(testing_world *made, const char *text) {
  tt_error error = {.text = ""};
  *made = (testing_world){.socket = socket(AF_INET, SOCK_DGRAM, 0)};
  if (tt_scene_parse(&tt_program_guests, TETHER_SOURCE_DIR "/scenes/test.yaml", text, strlen(text),
                     NULL, 0, &made->scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_assembly assembly = {.hash_every_tick = true};
  if (tt_assemble(made->scene, &assembly, &made->world, &error) != TT_OK)
    fail_msg("%s", error.text);
  made->journal = journal_lines_open();
  tt_world_add_journal(made->world, made->journal);
  tt_world_start(made->world);
}

void testing_close(testing_world *made) {
  tt_world_detach(made->world);
  tt_world_free(made->world);
  tt_scene_free(made->scene);
  journal_lines_close(made->journal);
  close(made->socket);
}

void testing_keep_last(void *said, tt_log_level level, const char *text) {
  testing_said *of = said;
  (void)level;
  of->lines++;
  snprintf(of->last, sizeof of->last, "%s", text);
}

void testing_tick(testing_world *in, int count) {
  tt_error error = {.text = ""};
  for (int i = 0; i < count; i++)
    if (tt_world_tick(in->world, &error) != TT_OK) fail_msg("%s", error.text);
}

double testing_value(const testing_world *in, const char *name) {
  tt_signal signal;
  tt_error error = {.text = ""};
  if (tt_names_find_signal(tt_world_names(in->world), name, TT_NO_ROBOT, "test", &signal, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  return tt_signal_read(&signal, tt_world_view(in->world));
}

int testing_command(const testing_world *in, const char *name) {
  int command;
  tt_error error = {.text = ""};
  if (tt_names_find_command(tt_world_names(in->world), name, TT_NO_ROBOT, "test", &command,
                            &error) != TT_OK)
    fail_msg("%s", error.text);
  return command;
}

static struct sockaddr_in address_of(const testing_world *in, int index) {
  const tt_wire *wire = tt_world_wire_at(in->world, index);
  uint16_t port = (uint16_t)atoi(strrchr(wire->ops->address(wire), ':') + 1);
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int testing_connect(const testing_world *in, int index, int type) {
  struct sockaddr_in to = address_of(in, index);
  int s = socket(AF_INET, type, 0);
  assert_int_equal(connect_to(s, (struct sockaddr *)&to, sizeof to), 0);
  return s;
}

/* Sends one message to wire `index`; loopback delivers it before sendto() returns. */
void testing_send(testing_world *in, int index, const float *values, int count) {
  struct sockaddr_in to = address_of(in, index);
  size_t size = (size_t)count * sizeof *values;
  assert_int_equal(sendto(in->socket, values, size, 0, (struct sockaddr *)&to, sizeof to),
                   (ssize_t)size);
}

void testing_post(testing_world *in, tt_mail_kind kind, int index, double number) {
  tt_mail mail = {.kind = kind, .index = index, .value = number, .source = "test"};
  assert_int_equal(tt_world_post(in->world, &mail), TT_OK);
}

bool testing_journaled(const testing_world *in, const char *text) {
  return strstr(journal_lines_text(in->journal), text) != NULL;
}
