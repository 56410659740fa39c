/* client.c: `tether client`: a program that drives a scene's robot over one of its wires. */
#include "app/assemble.h"
#include "app/commands/command.h"
#include "app/guests.h"
#include "app/options.h"
#include "base/text.h"
#include "client/client.h"
#include "scene/scene_copy.h"
#include "scene/tree.h"

#include <stdio.h>
#include <string.h>

/* What this command has beside the options of every command that takes a scene. */
typedef struct own_options {
  const char *wire, *language; /* NULL: not given */
} own_options;

/* `--NAME VALUE` or `--NAME=VALUE` at argv[i]; how many words it takes, 0: it is another. */
static int take(int argc, char **argv, int i, const char *name, const char **value) {
  const size_t size = strlen(name);
  if (strncmp(argv[i], name, size) != 0) return 0;
  if (argv[i][size] == '=') return *value = argv[i] + size + 1, 1;
  if (argv[i][size] || i + 1 >= argc) return 0;
  return *value = argv[i + 1], 2;
}

static void take_own(int *argc, char **argv, own_options *own) {
  int kept = 0;
  for (int i = 0; i < *argc;) {
    int used = take(*argc, argv, i, "--wire", &own->wire);
    if (!used) used = take(*argc, argv, i, "--language", &own->language);
    if (!used) argv[kept++] = argv[i++];
    i += used;
  }
  *argc = kept;
  argv[kept] = NULL;
}

/* The wire of that name; without one the first for which a client can be made. −1: there is none. */
static int find_wire(const tt_world *world, const own_options *own) {
  for (int i = 0; i < tt_world_wire_count(world); i++) {
    const tt_wire *wire = tt_world_wire_at(world, i);
    if (own->wire ? strcmp(wire->name, own->wire) == 0 : wire->ops->clients != NULL) return i;
  }
  return -1;
}

static tt_status no_wire(const tt_world *world, const own_options *own, tt_error *error) {
  char names[256] = "none";
  size_t used = 0;
  for (int i = 0; i < tt_world_wire_count(world) && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                             tt_world_wire_at(world, i)->name);
  if (own->wire)
    return tt_fail(error, TT_USAGE, "--wire %s: the scene has no such wire; it has: %s", own->wire,
                   names);
  return tt_fail(error, TT_NOT_FOUND,
                 "the scene has no wire for which a client can be made (it has: %s); add a "
                 "float-udp or lockstep-tcp, or take one of clients/",
                 names);
}

static tt_status write_client(const tt_scene *scene, const tt_world *world, const own_options *own,
                              tt_error *error) {
  const int index = find_wire(world, own);
  if (index < 0) return no_wire(world, own, error);
  char name[256];
  tt_client client;
  tt_element_name(scene->path, name, sizeof name);
  tt_status status =
      tt_client_make(scene, name, tt_world_wire_at(world, index), &scene->wires[index],
                     own->language ? own->language : "python", &client, error);
  /* It was asked for, not said by a file. */
  if (status == TT_NOT_FOUND && (own->language || own->wire)) return TT_USAGE;
  TT_TRY(status);
  status = tt_scene_file_write(client.file, client.text, strlen(client.text), error);
  if (status == TT_OK) {
    tt_print(stdout, "%s\n", client.file);
    tt_print(stderr,
             "write into control() what the robot is to do, and start it beside `tether "
             "run`:\n");
    tt_print_lines(stderr, "  ", client.start);
  }
  tt_client_clear(&client);
  return status;
}

static tt_status make_client(const tt_scene_options *options, const own_options *own,
                             tt_error *error) {
  tt_scene *scene;
  tt_world *world;
  TT_TRY(tt_scene_load(&tt_program_guests, options->scene, options->settings,
                       options->setting_count, &scene, error));
  tt_status status = tt_assemble(scene, &(tt_assembly){.check_only = true}, &world, error);
  if (status == TT_OK) {
    status = write_client(scene, world, own, error);
    tt_world_free(world);
  }
  tt_scene_free(scene);
  return status;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  tt_scene_options options;
  own_options own = {0};
  take_own(&argc, argv, &own);
  tt_status status = tt_scene_options_parse(argc, argv, &options, error);
  if (status == TT_OK) status = make_client(&options, &own, error);
  tt_scene_options_free(&options);
  return status;
}

static const char help[] =
    "  --language LANGUAGE   python (default), java, c or cpp\n"
    "  --wire NAME           the wire; default: the first for which a client can be made\n"
    "  --set PATH=VALUE      as of tether run\n";

const tt_app_command tt_app_client = {
    "client", "SCENE [--language LANGUAGE] [--wire NAME] [--set PATH=VALUE]",
    "Makes a program that drives the scene's robot over a wire, for exactly the order of its "
    "arrays, as a file in this folder",
    help, run};
