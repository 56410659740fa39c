/* Fuzz target: any sequence of calls of the public header, with any arguments that C lets a caller give: wrong handles, sizes,
 * numbers, names, states, simulations of another scene; but no freed pointers and no arrays shorter than promised. Each
 * call succeeds, or says in words what was wrong, and then changed nothing.
 *
 * An input is a row of calls: a byte that chooses the call, then the bytes that the call takes for its arguments.
 */
#include "tether/tether.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIMS 4
#define HANDLES 8
#define MOST_VALUES 6
#define MOST_STEPS 8
#define MOST_SCENES 2
#define MOST_SIMULATIONS 5 /* of a batch */
#define MOST_CALLS 64
#define PATH "/tmp/tether_library_fuzz.%d"

/* What an input has to say, byte by byte; zeros behind its end. */
typedef struct reader {
  const uint8_t *at;
  size_t left;
} reader;

typedef struct fuzz {
  reader in;
  tether_scene *const *scenes; /* [MOST_SCENES] */
  tether_sim *sims[SIMS];
  tether_batch *batch;
  tether_handle handles[HANDLES];
  unsigned char *state;
  size_t state_size;
  tether_error error;
  int until_interrupt;
} fuzz;

static uint8_t byte(reader *from) {
  if (from->left == 0) return 0;
  from->left--;
  return *from->at++;
}

static bool maybe(reader *from) { return byte(from) % 8 == 0; }

static int small(reader *from, int most) { return byte(from) % (most + 1); }

/* Mostly numbers that a program could give, sometimes those that it should not. */
static double number(reader *from) {
  static const double odd[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 5e-324, -0.0, 1e9};
  uint8_t kind = byte(from);
  double value;
  uint8_t bytes[sizeof value];
  if (kind < 200) return (kind - 100) / 50.0;
  if (kind < 240) return odd[kind % (sizeof odd / sizeof *odd)];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = byte(from);
  memcpy(&value, bytes, sizeof value);
  return value;
}

/* A status that is no success has words for it, which end. What an argument did wrong names the argument. */
static void check(fuzz *of, tether_status status) {
  const char *text = of->error.text;
  assert(memchr(text, 0, sizeof of->error.text));
  assert(strlen(tether_status_text(status)) > 0);
  if (status == TETHER_OK)
    assert(!*text);
  else
    assert(*text);
  if (status == TETHER_INVALID) assert(strchr(text, ':'));
  memset(of->error.text, 'x', sizeof of->error.text - 1);
}

/* NULL now and then; else one of those there are, or NULL. */
static tether_sim *some_sim(fuzz *of) { return of->sims[byte(&of->in) % SIMS]; }

static tether_handle *some_handle(fuzz *of) { return &of->handles[byte(&of->in) % HANDLES]; }

static const char *some_name(fuzz *of, char *room, size_t size) {
  static const char *const names[] = {
      "arm.position",        "arm.velocity",  "arm.torque", "chassis.x", "time", "reset", "",
      "left_wheel.velocity", "red/arm.torque"};
  uint8_t kind = byte(&of->in);
  if (kind == 255) return NULL;
  if (kind < 180) return names[kind % (sizeof names / sizeof *names)];
  size_t length = (size_t)small(&of->in, (int)size - 1);
  for (size_t i = 0; i < length; i++) room[i] = (char)byte(&of->in);
  room[length] = 0;
  return room;
}

static const char *some_unit(fuzz *of) {
  static const char *const units[] = {NULL, NULL, "deg", "m/s", "rad/s", "", "furlong", "kg"};
  return units[byte(&of->in) % (sizeof units / sizeof *units)];
}

/* ---- simulations ---- */

static void make_sim(fuzz *of) {
  int slot = byte(&of->in) % SIMS;
  tether_sim_free(of->sims[slot]);
  of->sims[slot] = NULL;
  tether_scene *scene = maybe(&of->in) ? NULL : of->scenes[byte(&of->in) % MOST_SCENES];
  check(of, tether_sim_new(scene, &of->sims[slot], &of->error));
  assert(!of->sims[slot] == !scene);
}

static void clone_sim(fuzz *of) {
  tether_sim *from = some_sim(of);
  int slot = byte(&of->in) % SIMS;
  tether_sim *clone = NULL;
  tether_status status = tether_sim_clone(from, &clone, &of->error);
  check(of, status);
  if (status == TETHER_OK) assert(tether_sim_hash(clone) == tether_sim_hash(from));
  tether_sim_free(of->sims[slot]);
  of->sims[slot] = clone;
}

static void free_sim(fuzz *of) {
  int slot = byte(&of->in) % SIMS;
  tether_sim_free(of->sims[slot]);
  of->sims[slot] = NULL;
}

static void reset_sim(fuzz *of) {
  uint64_t seed = byte(&of->in);
  check(of, tether_sim_reset(some_sim(of), seed % 2 ? &seed : NULL, &of->error));
}

static int64_t some_steps(fuzz *of) {
  uint8_t kind = byte(&of->in);
  if (kind < 240) return 1 + kind % MOST_STEPS;
  return kind % 2 ? -(int64_t)kind : 0;
}

static int ask(void *context) { return --((fuzz *)context)->until_interrupt < 0; }

static void step_sim(fuzz *of) {
  tether_sim *sim = some_sim(of);
  check(of, tether_sim_step(sim, some_steps(of), &of->error));
  assert(isfinite(tether_sim_time(sim)));
}

static void interrupt_sim(fuzz *of) {
  of->until_interrupt = small(&of->in, 3);
  check(of, tether_sim_set_interrupt(some_sim(of), maybe(&of->in) ? ask : NULL, of, &of->error));
}

/* ---- names and values ---- */

static void find(fuzz *of) {
  char room[24];
  bool command = byte(&of->in) % 2;
  tether_sim *sim = some_sim(of);
  const char *name = some_name(of, room, sizeof room), *unit = some_unit(of);
  tether_handle *handle = maybe(&of->in) ? NULL : some_handle(of);
  check(of, command ? tether_command_find(sim, name, unit, handle, &of->error)
                    : tether_signal_find(sim, name, unit, handle, &of->error));
}

/* The handle of something that is listed, or of nothing. */
static void take_handle(fuzz *of) {
  tether_handle *handle = some_handle(of);
  tether_sim *sim = some_sim(of);
  tether_item item;
  int index = byte(&of->in) - 8;
  uint8_t kind = byte(&of->in);
  bool command = kind % 2, value = kind >= 224;
  if (maybe(&of->in)) {
    *handle = (tether_handle){byte(&of->in), byte(&of->in), number(&of->in)};
    if (maybe(&of->in)) handle->index = UINT32_MAX - handle->index;
    return;
  }
  tether_status status = value     ? tether_sim_value_item(sim, index, &item)
                         : command ? tether_sim_command_item(sim, index, &item)
                                   : tether_sim_signal_item(sim, index, &item);
  if (status != TETHER_OK) return;
  assert(*item.name && item.unit && item.robot && item.lower <= item.upper);
  check(of, value     ? tether_value_find(sim, item.name, item.unit, handle, &of->error)
            : command ? tether_command_find(sim, item.name, item.unit, handle, &of->error)
                      : tether_signal_find(sim, item.name, NULL, handle, &of->error));
}

/* Handles and values in arrays that are as long as they are said to be. */
typedef struct exchange {
  tether_handle handles[2][MOST_VALUES];
  double values[2][MOST_VALUES];
  tether_io io;
} exchange;

static void fill(fuzz *of, exchange *with) {
  for (int i = 0; i < MOST_VALUES; i++) {
    with->handles[0][i] = *some_handle(of);
    with->handles[1][i] = *some_handle(of);
    with->values[0][i] = number(&of->in);
  }
  with->io = (tether_io){.commands = maybe(&of->in) ? NULL : with->handles[0],
                         .command_values = maybe(&of->in) ? NULL : with->values[0],
                         .command_count = maybe(&of->in) ? -1 : small(&of->in, MOST_VALUES),
                         .signals = maybe(&of->in) ? NULL : with->handles[1],
                         .signal_values = maybe(&of->in) ? NULL : with->values[1],
                         .signal_count = maybe(&of->in) ? -1 : small(&of->in, MOST_VALUES)};
}

/* Either all of them are what was wanted, or nothing has changed. */
static void set_values(fuzz *of) {
  exchange with;
  tether_sim *sim = some_sim(of);
  fill(of, &with);
  const int count = with.io.command_count;
  uint64_t before = tether_sim_hash(sim);
  tether_status status =
      tether_sim_set_values(sim, with.io.commands, with.io.command_values, count, &of->error);
  check(of, status);
  if (status != TETHER_OK) {
    assert(tether_sim_hash(sim) == before);
    return;
  }
  if (count == 0) return;
  check(of, tether_sim_get_values(sim, with.handles[0], with.values[1], count, &of->error));
  for (int i = 0; i < count; i++) assert(isfinite(with.values[1][i]));
}

static void apply(fuzz *of) {
  exchange with;
  tether_sim *sim = some_sim(of);
  fill(of, &with);
  uint64_t before = tether_sim_hash(sim);
  tether_status status = tether_sim_apply(sim, with.io.commands, with.io.command_values,
                                          with.io.command_count, &of->error);
  check(of, status);
  if (status != TETHER_OK) assert(tether_sim_hash(sim) == before);
}

static void read_signals(fuzz *of) {
  exchange with;
  tether_sim *sim = some_sim(of);
  fill(of, &with);
  check(of, tether_sim_read(sim, with.io.signals, with.io.signal_values, with.io.signal_count,
                            &of->error));
}

static void exchange_all(fuzz *of) {
  exchange with[2];
  tether_io ios[2];
  tether_sim *sim = some_sim(of);
  for (int i = 0; i < 2; i++) {
    fill(of, &with[i]);
    ios[i] = with[i].io;
  }
  int count = maybe(&of->in) ? -1 : small(&of->in, 2);
  check(of,
        tether_sim_exchange(sim, maybe(&of->in) ? NULL : ios, count, some_steps(of), &of->error));
}

static void look(fuzz *of) {
  tether_sim *sim = some_sim(of);
  int index = byte(&of->in) - 4;
  tether_body body;
  tether_joint joint;
  tether_contact contact;
  if (tether_sim_body(sim, index, &body) == TETHER_OK)
    assert(*body.name && body.mass >= 0 && isfinite(body.position[2] + body.spin[2]));
  if (tether_sim_joint(sim, index, &joint) == TETHER_OK && joint.axis_count)
    assert(isfinite(joint.position[0] + joint.velocity[0] + joint.torque[0]));
  if (tether_sim_contact(sim, index, &contact) == TETHER_OK)
    assert(isfinite(contact.depth + contact.force[2]));
  assert(tether_sim_body(sim, index, NULL) != TETHER_OK);
}

/* ---- states and recordings ---- */

static void save(fuzz *of) {
  tether_sim *sim = some_sim(of);
  size_t size = tether_sim_state_size(sim);
  free(of->state);
  of->state = malloc(size + 1);
  of->state_size = size;
  if (!of->state) return;
  if (maybe(&of->in)) size += (size_t)small(&of->in, 9) - 4;
  if (size > of->state_size + 1) size = of->state_size + 1;
  tether_status status = tether_sim_save(sim, maybe(&of->in) ? NULL : of->state, size, &of->error);
  check(of, status);
  if (status != TETHER_OK) of->state_size = 0;
}

static void restore(fuzz *of) {
  tether_sim *sim = some_sim(of);
  size_t size = of->state_size;
  bool changed = size && maybe(&of->in);
  size_t where = ((size_t)byte(&of->in) << 8 | byte(&of->in)) * 7 % (size + 1);
  uint8_t how = (uint8_t)(byte(&of->in) | 1);
  if (size && maybe(&of->in)) size = where;
  changed = changed && where < size;
  if (changed) of->state[where] ^= how;
  uint64_t before = tether_sim_hash(sim);
  tether_status status = tether_sim_restore(sim, of->state, size, &of->error);
  check(of, status);
  if (changed || size < of->state_size) assert(status != TETHER_OK);
  if (status == TETHER_INVALID || status == TETHER_OTHER_VERSION)
    assert(tether_sim_hash(sim) == before);
  if (changed) of->state[where] ^= how;
}

static void record(fuzz *of) {
  char path[64];
  tether_sim *sim = some_sim(of);
  tether_record_options options = {.size = maybe(&of->in) ? byte(&of->in) : sizeof options,
                                   .period = number(&of->in),
                                   .most_bytes = (uint64_t)byte(&of->in) << (byte(&of->in) % 64),
                                   .never_wait = byte(&of->in) % 2};
  snprintf(path, sizeof path, PATH, (int)getpid());
  const char *where = maybe(&of->in) ? "/nowhere/run.wpilog" : path;
  check(of, tether_sim_record(sim, maybe(&of->in) ? NULL : where, maybe(&of->in) ? NULL : &options,
                              &of->error));
  unlink(path);
}

static void end_record(fuzz *of) {
  tether_sim *sim = some_sim(of);
  check(of, tether_sim_recording(sim, &of->error));
  if (maybe(&of->in)) check(of, tether_sim_record_end(sim, &of->error));
}

/* ---- batches ---- */

static void make_batch(fuzz *of) {
  char rooms[4][24];
  const char *names[4];
  tether_batch_free(of->batch);
  of->batch = NULL;
  for (int i = 0; i < 4; i++) names[i] = some_name(of, rooms[i], sizeof rooms[i]);
  tether_scene *scene = maybe(&of->in) ? NULL : of->scenes[byte(&of->in) % MOST_SCENES];
  int count = maybe(&of->in) ? -small(&of->in, 2) : small(&of->in, MOST_SIMULATIONS);
  int threads = maybe(&of->in) ? -1 : small(&of->in, 3);
  int commands = maybe(&of->in) ? -1 : small(&of->in, 2),
      signals = maybe(&of->in) ? -1 : small(&of->in, 2);
  tether_status status =
      tether_batch_new(scene, count, threads, maybe(&of->in) ? NULL : names, commands,
                       maybe(&of->in) ? NULL : names + 2, signals, &of->batch, &of->error);
  check(of, status);
  assert(!of->batch == (status != TETHER_OK));
  if (status == TETHER_OK) assert(tether_batch_count(of->batch) == count);
}

static void use_batch(fuzz *of) {
  double in[MOST_SIMULATIONS * 2], out[MOST_SIMULATIONS * 2];
  uint8_t mask[MOST_SIMULATIONS];
  uint64_t seeds[MOST_SIMULATIONS];
  tether_batch *batch = of->batch;
  size_t size =
      tether_sim_state_size(tether_batch_sim(batch, 0)) * (size_t)tether_batch_count(batch);
  for (int i = 0; i < MOST_SIMULATIONS * 2; i++) in[i] = number(&of->in);
  for (int i = 0; i < MOST_SIMULATIONS; i++) mask[i] = (uint8_t)(seeds[i] = byte(&of->in) % 4);
  const uint8_t *some = maybe(&of->in) ? NULL : mask;
  unsigned char *states;
  switch (byte(&of->in) % 6) {
    case 0:
    case 1:
      check(of, tether_batch_step(batch, maybe(&of->in) ? NULL : in, some_steps(of),
                                  maybe(&of->in) ? NULL : out, &of->error));
      break;
    case 2:
      check(of, tether_batch_reset(batch, some, maybe(&of->in) ? NULL : seeds,
                                   maybe(&of->in) ? NULL : out, &of->error));
      break;
    case 3:
    case 4:
      states = calloc(size + 1, 1);
      check(of, tether_batch_save(batch, states, size, &of->error));
      if (maybe(&of->in)) states[(size_t)byte(&of->in) * 97 % (size + 1)] ^= 1;
      check(of, tether_batch_restore(batch, some, maybe(&of->in) ? NULL : states,
                                     maybe(&of->in) ? size - 1 : size, out, &of->error));
      free(states);
      break;
    default:
      of->until_interrupt = small(&of->in, 3);
      check(of, tether_batch_set_interrupt(batch, maybe(&of->in) ? ask : NULL, of, &of->error));
  }
  for (int i = -1; i <= tether_batch_count(batch); i++) {
    tether_status status = tether_batch_failure(batch, i, &of->error);
    check(of, status);
    if (status != TETHER_NOT_FOUND) assert(!tether_batch_failed(batch)[i] == (status == TETHER_OK));
  }
}

static void batch_units(fuzz *of) {
  const char *units[4];
  for (int i = 0; i < 4; i++) units[i] = some_unit(of);
  check(of, tether_batch_set_units(of->batch, maybe(&of->in) ? NULL : units,
                                   maybe(&of->in) ? NULL : units + 2, &of->error));
}

/* ---- scenes ---- */

/* A setting that may be one, with any value. */
static const char *some_setting(fuzz *of, char *room, size_t size) {
  static const char *const paths[] = {"description",
                                      "robots.gripper.x",
                                      "robots.gripper.alliance",
                                      "robots.gripper.joints.swivel.max_torque",
                                      "robots.gripper.description",
                                      "seed",
                                      "duration",
                                      "web.hosts",
                                      "search_path",
                                      "wires.lockstep-tcp.joints",
                                      "wires[0]",
                                      "game.x.y",
                                      "models.gripper.joints.swivel.damping"};
  static const char *const values[] = {
      "", "1", "2 ft", "[a, \"b c\", 'd']", "{a: 1}", "~", "red", "1e3", "10 ms", "[]", "[[a], b]"};
  uint8_t kind = byte(&of->in);
  if (kind < 30) return some_name(of, room, size);
  const char *path = paths[kind % (sizeof paths / sizeof *paths)];
  kind = byte(&of->in);
  int length = snprintf(room, size, "%s=%s", path,
                        kind < 128 ? values[kind % (sizeof values / sizeof *values)] : "");
  while (kind >= 128 && (size_t)length + 1 < size && of->in.left > 0 && *of->in.at) {
    room[length++] = (char)byte(&of->in);
    room[length] = 0;
  }
  if (kind >= 128) byte(&of->in); /* its end */
  return room;
}

/* What is listed is what holds: the same again is taken, and nothing else changes. */
static void set_again(fuzz *of, const char *which, const char *const *settings, int count,
                      const tether_setting *listed) {
  char again[4096];
  const char *both[2] = {count ? settings[0] : again, again};
  tether_scene *scene;
  tether_setting same;
  const char *value = listed->value;
  const bool is_flow = listed->kind != TETHER_SETTING_LIST && (*value == '[' || *value == '{');
  if (!*value || is_flow || !strcmp(value, "~") || !strcasecmp(value, "null")) return;
  if (snprintf(again, sizeof again, "%s=%s", listed->path, value) >= (int)sizeof again) return;
  tether_status status = tether_scene_load(which, both, count + 1, &scene, &of->error);
  if (status != TETHER_OK) fprintf(stderr, "%s: %s\n", again, of->error.text);
  check(of, status);
  assert(status == TETHER_OK);
  int found = 0;
  for (int i = 0; tether_scene_setting(scene, i, &same) == TETHER_OK; i++)
    if (!strcmp(same.path, listed->path)) {
      if (strcmp(same.value, value) != 0) fprintf(stderr, "%s, now %s\n", again, same.value);
      assert(!strcmp(same.value, value) && same.kind == listed->kind);
      found++;
    }
  assert(found == 1);
  tether_scene_free(scene);
}

static void list_settings(fuzz *of, tether_scene *scene, const char *which,
                          const char *const *settings, int count) {
  tether_setting setting, chosen = {.value = ""};
  int wanted = byte(&of->in), all = 0;
  for (; tether_scene_setting(scene, all, &setting) == TETHER_OK; all++) {
    assert(*setting.path && setting.owner && setting.unit && setting.words && setting.initial);
    assert(setting.value && setting.lower <= setting.upper);
    assert(!setting.is_known == !(setting.is_known == 1));
    if (all <= wanted) chosen = setting;
  }
  assert(all > 10 && tether_scene_setting(scene, all, NULL) == TETHER_INVALID);
  assert(tether_scene_setting(scene, -1, &setting) == TETHER_NOT_FOUND);
  set_again(of, which, settings, count, &chosen);
}

static void title(fuzz *of) {
  char room[24], text[8];
  const char *name = some_name(of, room, sizeof room);
  if (name && strchr(name, '/')) return;
  memset(text, 'x', sizeof text);
  size_t size = (size_t)small(&of->in, sizeof text);
  check(of, tether_scene_title(name, maybe(&of->in) ? NULL : text, size, &of->error));
  for (size_t i = size; i < sizeof text; i++) assert(text[i] == 'x');
}

static void load_scene(fuzz *of) {
  char room[256], name[24];
  const char *settings[1] = {some_setting(of, room, sizeof room)};
  tether_scene *scene = NULL;
  int count = maybe(&of->in) ? -1 : small(&of->in, 1);
  const char *which = maybe(&of->in) ? some_name(of, name, sizeof name) : "gripper";
  if (which && strchr(which, '/')) return; /* no other files of this machine */
  const char *const *given = maybe(&of->in) ? NULL : settings;
  tether_status status =
      tether_scene_load(which, given, count, maybe(&of->in) ? NULL : &scene, &of->error);
  check(of, status);
  assert(!scene == (status != TETHER_OK));
  assert(tether_scene_timestep(scene) >= 0 && tether_scene_description(scene));
  if (status == TETHER_OK) list_settings(of, scene, which, settings, count);
  tether_scene_free(scene);
}

/* ---- the row ---- */

typedef void step(fuzz *of);
static step *const calls[] = {make_sim,     step_sim,   take_handle, apply,      read_signals,
                              exchange_all, save,       restore,     reset_sim,  find,
                              clone_sim,    free_sim,   look,        make_batch, use_batch,
                              record,       end_record, load_scene,  step_sim,   interrupt_sim,
                              use_batch,    set_values, batch_units, title,      load_scene};

static tether_scene *scenes[MOST_SCENES];

/* With its models compiled. */
static tether_scene *load(const char *name) {
  tether_scene *scene;
  tether_sim *sim;
  tether_error error;
  if (tether_scene_load(name, NULL, 0, &scene, &error) == TETHER_OK &&
      tether_sim_new(scene, &sim, &error) == TETHER_OK) {
    tether_sim_free(sim);
    return scene;
  }
  fprintf(stderr, "%s\n", error.text);
  abort();
}

static void drop_line(void *context, int level, const char *line) {
  (void)context;
  assert(level >= 0 && level <= 2 && line);
}

/* libFuzzer calls it before it looks at the clock. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  tether_set_log(drop_line, NULL);
  scenes[0] = load(TETHER_SOURCE_DIR "/tests/scenes/good/one.yaml");
  scenes[1] = load(TETHER_SOURCE_DIR "/tests/scenes/good/lockstep.yaml");
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!scenes[0]) LLVMFuzzerInitialize(NULL, NULL);
  fuzz of = {.in = {data, size}, .scenes = scenes};
  memset(of.error.text, 'x', sizeof of.error.text - 1);
  for (int made = 0; made < MOST_CALLS && of.in.left > 0; made++)
    calls[byte(&of.in) % (sizeof calls / sizeof *calls)](&of);
  tether_batch_free(of.batch);
  for (int i = 0; i < SIMS; i++) tether_sim_free(of.sims[i]);
  free(of.state);
  return 0;
}
