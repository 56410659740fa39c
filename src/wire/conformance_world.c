/* conformance_world.c: worlds and sockets for the conformance suite. */
#include "app/guests.h"
#include "base/endian.h"
#include "host/scene_wires.h"
#include "wire/conformance_world.h"

#include "net/address.h"
#include "net/socket_testing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

void tt_under_test_open(tt_under_test *under, const tt_conformance *wire) {
  *under = (tt_under_test){0};
  tt_error error = {""};
  if (tt_scene_load(&tt_program_guests, wire->scene, wire->settings, wire->setting_count,
                    &under->scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  under->net = tt_net_new();
  tt_assembly assembly = {.net = under->net};
  if (tt_assemble(under->scene, &assembly, &under->world, &error) != TT_OK)
    fail_msg("%s", error.text);
}

void tt_under_test_close(tt_under_test *under) {
  tt_world_free(under->world);
  tt_net_free(under->net);
  tt_scene_free(under->scene);
}

const tt_wire *tt_under_test_wire(const tt_under_test *under) {
  return tt_world_wire_at(under->world, 0);
}

int tt_under_test_connect(const tt_under_test *under, int type) {
  const tt_wire *wire = tt_under_test_wire(under);
  tt_address address;
  assert_int_equal(tt_address_parse(wire->ops->address(wire), &address, NULL), TT_OK);
  int s = socket(address.any.sa_family, type | SOCK_CLOEXEC, 0);
  struct timeval patience = {.tv_sec = 20};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect_to(s, &address.any, tt_address_size(&address)) == 0) return s;
  close(s);
  return -1;
}

static tt_status note_entry(tt_journal_sink *sink, const tt_entry *entry) {
  tt_silence *silence = (tt_silence *)sink;
  if (atomic_load(&silence->ended)) return TT_OK;
  if (entry->kind == TT_ENTRY_COMMANDS) silence->obeyed = entry->step;
  if (entry->kind != TT_ENTRY_SAFE || strcmp(entry->source, "supervisor") != 0) return TT_OK;
  silence->safe = entry->step;
  atomic_store(&silence->ended, true);
  return TT_OK;
}

void tt_silence_watch(tt_silence *silence, const tt_under_test *under) {
  *silence = (tt_silence){.sink = {.write = note_entry}};
  assert_int_equal(tt_world_add_journal(under->world, &silence->sink), TT_OK);
}

void tt_silence_check(const tt_silence *silence, const tt_under_test *under) {
  const tt_wire *wire = tt_under_test_wire(under);
  double steps = wire->watchdog / tt_model_timestep(wire->model);
  assert_true(wire->watchdog > 0);
  assert_true(fabs((double)(silence->safe - silence->obeyed) - steps) <= 1);
  assert_int_equal(wire->state, TT_WIRE_SILENT); /* what the status line and the pages show */
  assert_int_equal(wire->stats.watchdog_trips, 1);
}

uint64_t tt_dropped(const tt_wire_stats *stats) {
  uint64_t sum = 0;
  for (int i = 0; i < TT_DROP_COUNT; i++)
    if (i != TT_DROP_SUPERSEDED) sum += stats->dropped[i];
  return sum;
}

void tt_put_field(const tt_conformance_field *field, uint8_t *message, uint32_t bits) {
  if (field->big_endian)
    tt_put_u32_be(message + field->offset, bits);
  else
    tt_put_u32_le(message + field->offset, bits);
}

void tt_swap_fields(const tt_conformance *wire, uint8_t *message) {
  for (int i = 0; i < wire->field_count; i++) {
    uint8_t *at = message + wire->fields[i].offset;
    uint32_t bits = wire->fields[i].big_endian ? tt_get_u32_be(at) : tt_get_u32_le(at);
    if (wire->fields[i].big_endian)
      tt_put_u32_le(at, bits);
    else
      tt_put_u32_be(at, bits);
  }
}
