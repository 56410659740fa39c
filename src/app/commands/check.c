/* check.c: `tether check`: what a scene would run, or the error with file and line. Opens no socket. */
#include "app/guests.h"
#include "host/scene_wires.h"
#include "app/assemble.h"
#include "app/attach/attach.h"
#include "app/commands/command.h"
#include "app/options.h"
#include "app/sweep/maker.h"
#include "base/text.h"
#include "record/recorder.h"
#include "foxglove/service.h"
#include "host/game_keys.h"
#include "nt4/service.h"
#include "record/section.h"
#include "web/section.h"
#include "scene/settings.h"
#include "sweep/plan.h"
#include "sweep/plan_show.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_summary(const tt_scene *scene) {
  static const char *const paces[] = {"realtime", "lockstep", "fast"};
  double timestep = (double)scene->timestep_num / (double)scene->timestep_den;
  tt_print(stdout, "scene     %s\n", scene->path);
  tt_print_lines(stdout, "          ", scene->description);
  tt_print(stdout, "arena     %s\n", scene->arena_file ? scene->arena_file : "an empty floor");
  tt_print(stdout, "timestep  %lld/%lld s\n", (long long)scene->timestep_num,
           (long long)scene->timestep_den);
  for (const char *const *line = scene->replaced; *line; line++)
    tt_print(stdout, "          %s\n", *line);
  tt_print(stdout, "tick      every %llu steps, %.9g ms\n", (unsigned long long)scene->io_steps,
           1e3 * timestep * (double)scene->io_steps);
  tt_print(stdout, "pace      %s", paces[scene->pace]);
  if (scene->pace == TT_PACE_REALTIME) tt_print(stdout, ", %g × real time", scene->speed);
  tt_print(stdout, "%s\n", scene->dynamics ? "" : ", physics off: commands place things");
  if (scene->duration > 0) tt_print(stdout, "duration  %g s\n", scene->duration);
}

/* Of the log, where everything moves, and where nothing does but the controllers' messages. */
static void print_kept(const tt_scene *scene, const tt_world *world) {
  const tt_record_keys *keys = tt_scene_section(scene, "record", NULL);
  const tt_model *model = tt_world_model(world);
  double timestep = tt_model_timestep(model), tick = timestep * (double)scene->io_steps;
  if (!*keys->on) {
    tt_print(stdout, "kept      nothing: record.on is off\n");
    return;
  }
  double samples = ceil(keys->period_seconds / tick - 1e-9);
  double rest = TT_RECORDER_TICK_BYTES / tick;
  for (int i = 0; i < scene->wire_count; i++) {
    const tt_wire *wire = tt_world_wire_at(world, i);
    rest += (double)TT_RECORDER_MESSAGE_BYTES(wire->owned_count) /
            (timestep * (double)scene->wires[i].period_steps);
  }
  double moving =
      rest + (double)tt_recorder_sample_bytes(model, tt_world_names(world), !scene->dynamics) /
                 (tick * fmax(samples, 1));
  tt_print(
      stdout,
      "kept      at most %.0f MB an hour of simulated time where everything moves, %.0f MB where "
      "nothing does\n",
      ceil(moving * 3600e-6), ceil(rest * 3600e-6));
}

#define OTHERS_COMMAND "          others may write commands\n"

static void print_nt4(const tt_nt4_keys *nt4) {
  tt_print(stdout, "nt4       %s%s%s%s%s\n", nt4->listen ? "at " : "",
           nt4->listen ? nt4->listen : "", nt4->listen && nt4->connect ? ", " : "",
           nt4->connect ? "into " : "", nt4->connect ? nt4->connect : "");
  if (nt4->commands) tt_print(stdout, OTHERS_COMMAND);
}

static void print_game(const tt_scene *scene) {
  bool given;
  const tt_game_keys *game = tt_scene_section(scene, "game", &given);
  if (!given) return;
  tt_print(stdout, "game      robots begin %s%s; a practice match is %g s, a pause of %g s, %g s\n",
           game->begins == TT_START_DISABLED ? "" : "enabled in ", game->start,
           game->match.autonomous, game->match.pause, game->match.teleop);
}

/* Who may watch, and where. */
static void print_viewers(const tt_scene *scene) {
  bool given;
  const tt_nt4_keys *nt4 = tt_scene_section(scene, "nt4", &given);
  if (given) print_nt4(nt4);
  const tt_foxglove_keys *foxglove = tt_scene_section(scene, "foxglove", &given);
  if (!given) return;
  tt_print(stdout, "foxglove  at %s\n", foxglove->listen);
  if (foxglove->commands) tt_print(stdout, OTHERS_COMMAND);
}

static void print_robots(const tt_scene *scene) {
  tt_print(stdout, "\nrobots (%d)\n", scene->robot_count);
  for (int i = 0; i < scene->robot_count; i++) {
    const tt_scene_robot *robot = &scene->robots[i];
    tt_print(stdout, "  %-24s %s at %g, %g m, heading %g deg%s%s\n", robot->name, robot->model_file,
             robot->x, robot->y, robot->heading * 180 / M_PI, *robot->alliance ? ", " : "",
             robot->alliance);
  }
}

/** What a joint can do: its range, what its servo uses at most, and what nobody's drive exceeds. */
static void print_limits_of(const tt_joint *joint) {
  static const char *const kinds[] = {
      [TT_HINGE] = "hinge", [TT_SLIDE] = "slide", [TT_BALL] = "ball"};
  const bool slide = joint->kind == TT_SLIDE;
  const char *torque = slide ? "N" : "N·m";
  tt_print(stdout, "  %-24s %s", joint->name, kinds[joint->kind]);
  if (joint->limited)
    tt_print(stdout, ", %.4g … %.4g %s", joint->lower, joint->upper, slide ? "m" : "rad");
  tt_print(stdout, ", servo up to %.4g %s", joint->max_torque, torque);
  const char *limit = "; held to ";
  if (isfinite(joint->torque_limit)) {
    tt_print(stdout, "%s%.4g %s", limit, joint->torque_limit, torque);
    limit = ", ";
  }
  if (isfinite(joint->velocity_limit))
    tt_print(stdout, "%s%.4g %s", limit, joint->velocity_limit, slide ? "m/s" : "rad/s");
  tt_print(stdout, "\n");
}

static void print_limits(const tt_world *world) {
  const tt_model *model = tt_world_model(world);
  int count = 0;
  for (int j = 0; j < model->joint_count; j++) count += model->joints[j].axis_count > 0;
  tt_print(stdout, "\nlimits of joints (%d)\n", count);
  for (int j = 0; j < model->joint_count; j++)
    if (model->joints[j].axis_count > 0) print_limits_of(&model->joints[j]);
}

static bool is_of_body(const tt_signal *signal) {
  return signal->source >= TT_SIGNAL_BODY_POSITION && signal->source <= TT_SIGNAL_BODY_SPIN;
}

/** One line for all signals of a body: fifteen lines each would bury the others. How many entries it took. */
static int print_body_signals(const tt_signal_entry *entries, int count) {
  int taken = 0;
  tt_print(stdout, "  %-24.*s", (int)(strrchr(entries->name, '.') - entries->name), entries->name);
  while (taken < count && is_of_body(&entries[taken].signal) &&
         entries[taken].signal.index == entries->signal.index) {
    tt_dimension dimension = entries[taken].signal.dimension;
    tt_print(stdout, " %s", strrchr(entries[taken].name, '.'));
    if (++taken == count || entries[taken].signal.dimension != dimension)
      tt_print(stdout, " %s ", tt_unit_si(dimension)->name);
  }
  tt_print(stdout, "\n");
  return taken;
}

static void print_signals(const tt_world *world) {
  int count, shown = 0;
  const tt_signal_entry *entries = tt_names_signals(tt_world_names(world), &count);
  for (int i = 0; i < count; i++) shown += entries[i].signal.source != TT_SIGNAL_COMMAND;
  tt_print(stdout, "\nsignals (%d)\n", shown);
  for (int i = 0; i < count; i++) {
    if (entries[i].signal.source == TT_SIGNAL_COMMAND) continue;
    if (is_of_body(&entries[i].signal)) {
      i += print_body_signals(entries + i, count - i) - 1;
    } else {
      tt_print(stdout, "  %-40s %s\n", entries[i].name,
               tt_unit_si(entries[i].signal.dimension)->name);
    }
  }
}

static void print_commands(const tt_world *world) {
  const tt_model *model = tt_world_model(world);
  tt_print(stdout, "\ncommands (%d)\n", model->command_count);
  for (int i = 0; i < model->command_count; i++) {
    const tt_command *command = &model->commands[i];
    tt_print(stdout, "  %-40s %-8s %g … %g\n", tt_names_command(tt_world_names(world), i),
             tt_unit_si(command->dimension)->name, command->lower, command->upper);
  }
}

/** What protocols call things by besides names: object ids. Of every protocol, since any robot runs on any wire. */
static void print_ids(const tt_world *world) {
  for (int i = 0; tt_wire_protocols[i]; i++)
    if (tt_wire_protocols[i]->list_ids)
      tt_wire_protocols[i]->list_ids(tt_world_model(world), stdout);
}

/** The unit that a name has in a message: its own, or SI. */
static const char *unit_of(const tt_world *world, const tt_name_entry *entry, int robot) {
  if (entry->unit) return entry->unit;
  const tt_names *names = tt_world_names(world);
  tt_signal signal;
  int command;
  if (tt_names_find_signal(names, entry->name, robot, "", &signal, NULL) == TT_OK) {
    return tt_unit_si(signal.dimension)->name;
  }
  if (tt_names_find_command(names, entry->name, robot, "", &command, NULL) == TT_OK) {
    return tt_unit_si(tt_world_model(world)->commands[command].dimension)->name;
  }
  return "";
}

/** An array of a message as its configuration lists it: names in order, with their units. */
static void print_list(const tt_world *world, const tt_scene_wire *wire,
                       const cyaml_schema_field_t *field) {
  const char *base = wire->config;
  const void *items = *(void *const *)(base + field->data_offset);
  unsigned count = *(const unsigned *)(base + field->count_offset);
  if (!count || !strcmp(field->key, "allow")) return;
  tt_print(stdout, "    %s\n", field->key);
  for (unsigned i = 0; i < count; i++) {
    if (field->value.sequence.entry == &tt_string_schema) {
      tt_print(stdout, "      %3u  %s\n", i, ((char *const *)items)[i]);
    } else {
      const tt_name_entry *entry = (const tt_name_entry *)items + i;
      tt_print(stdout, "      %3u  %-32s %s\n", i, entry->name, unit_of(world, entry, wire->robot));
    }
  }
}

static void print_lists(const tt_world *world, const tt_scene_wire *wire) {
  for (const cyaml_schema_field_t *field = wire->schema->fields; field->key; field++) {
    if (field->value.type != CYAML_SEQUENCE || field->count_size != sizeof(unsigned)) continue;
    const cyaml_schema_value_t *entry = field->value.sequence.entry;
    if (entry == &tt_name_entry_schema || entry == &tt_string_schema)
      print_list(world, wire, field);
  }
}

static void print_wires(const tt_scene *scene, const tt_world *world) {
  double timestep = (double)scene->timestep_num / (double)scene->timestep_den;
  tt_print(stdout, "\nwires (%d)\n", tt_world_wire_count(world));
  for (int i = 0; i < tt_world_wire_count(world); i++) {
    const tt_wire *wire = tt_world_wire_at(world, i);
    const tt_scene_wire *from = &scene->wires[i];
    tt_print(stdout, "  %s (%s) at %s, drives %s, every %.9g ms\n", wire->name, wire->ops->protocol,
             wire->ops->address(wire),
             from->robot == TT_NO_ROBOT ? "the world" : scene->robots[from->robot].name,
             1e3 * timestep * (double)from->period_steps);
    print_lists(world, from);
    if (wire->ops->list_names) wire->ops->list_names(wire, stdout);
  }
}

/** What may stand at a key: words, a range with its unit, or what kind of thing. */
static void print_allowed(const tt_scene_setting *setting) {
  static const char *const kinds[] = {"text", "quantity", "number", "count", "on, off", "", "list"};
  if (setting->kind == TT_SETTING_WORD)
    tt_print(stdout, "%s", setting->words);
  else if (isinf(setting->lower) && isinf(setting->upper))
    tt_print(stdout, "%s%s%s", kinds[setting->kind], *setting->unit ? " " : "", setting->unit);
  else
    tt_print(stdout, "%s%s%g … %g", setting->unit, *setting->unit ? " " : "", setting->lower,
             setting->upper);
}

static tt_status print_keys(const tt_scene *scene, tt_error *error) {
  tt_scene_settings settings;
  if (tt_scene_settings_list(scene, &settings) != TT_OK)
    return tt_fail(error, TT_NOMEM, "out of memory");
  int width = 0;
  for (int i = 0; i < settings.count; i++) {
    const int length = (int)strlen(settings.items[i].path);
    width = length > width ? length : width;
  }
  tt_print(stdout, "settings (%d)\n", settings.count);
  for (int i = 0; i < settings.count; i++) {
    const tt_scene_setting *setting = &settings.items[i];
    tt_print(stdout, "  %-*s %-20s ", width, setting->path, *setting->value ? setting->value : "-");
    print_allowed(setting);
    if (*setting->initial && strcmp(setting->initial, setting->value) != 0)
      tt_print(stdout, "; default %s", setting->initial);
    tt_print(stdout, "\n");
  }
  tt_scene_settings_free(&settings);
  return TT_OK;
}

static void print_value(const tt_value *value, double present) {
  const bool set = present >= value->lower || value->own >= value->lower;
  char number[32] = "-";
  if (set) snprintf(number, sizeof number, "%.6g", present);
  tt_print(stdout, "  %-56s %-12s %-10s %g … %g", value->name, number,
           tt_unit_si(value->dimension)->name, value->lower, value->upper);
  if (!set) tt_print(stdout, "; not set: %g in the model", value->modelled);
  tt_print(stdout, "\n");
}

static tt_status print_settings(const tt_scene *scene, tt_error *error) {
  tt_assembly assembly = {.check_only = true};
  tt_world *world;
  int count;
  TT_TRY(print_keys(scene, error));
  TT_TRY(tt_assemble(scene, &assembly, &world, error));
  const tt_value *values = tt_sim_values(tt_world_sim(world), &count);
  const double *present = tt_sim_present_values(tt_world_sim(world));
  tt_print(stdout, "\nvalues of the models (%d)\n", count);
  for (int i = 0; i < count; i++) print_value(&values[i], present[i]);
  tt_world_free(world);
  return TT_OK;
}

static tt_status print_scene(const tt_scene *scene, tt_error *error) {
  tt_assembly assembly = {.check_only = true};
  tt_world *world;
  TT_TRY(tt_assemble(scene, &assembly, &world, error));
  print_summary(scene);
  print_kept(scene, world);
  print_game(scene);
  print_viewers(scene);
  print_robots(scene);
  print_limits(world);
  print_wires(scene, world);
  print_signals(world);
  print_commands(world);
  print_ids(world);
  tt_world_free(world);
  return TT_OK;
}

/* Takes `--settings` out of the arguments. */
static bool take_settings(int *argc, char **argv) {
  int kept = 0;
  for (int i = 0; i < *argc; i++)
    if (strcmp(argv[i], "--settings") != 0) argv[kept++] = argv[i];
  const bool found = kept < *argc;
  *argc = kept;
  argv[kept] = NULL;
  return found;
}

static tt_status check_web(const tt_scene *scene, tt_error *error) {
  tt_web *web;
  TT_TRY(tt_web_from_keys(tt_scene_section(scene, "web", NULL), &web, error));
  tt_web_free(web);
  return TT_OK;
}

static tt_status check_scene(const tt_scene_options *options, bool settings, tt_error *error) {
  tt_scene *scene;
  TT_TRY(tt_scene_load(&tt_program_guests, options->scene, options->settings,
                       options->setting_count, &scene, error));
  tt_status status = tt_attach_check_telemetry(scene, error);
  if (status == TT_OK && !options->no_web) status = check_web(scene, error);
  if (status == TT_OK) status = settings ? print_settings(scene, error) : print_scene(scene, error);
  tt_scene_free(scene);
  return status;
}

static tt_status check_plan(const tt_scene_options *options, bool settings, tt_error *error) {
  tt_sweep_plan *plan;
  if (settings)
    return tt_fail(error, TT_USAGE, "%s: this is the plan of a sweep; --settings is of its scene",
                   options->scene);
  TT_TRY(tt_sweep_plan_load(&tt_program_guests, options->scene, options->settings,
                            options->setting_count, &plan, error));
  tt_status status = tt_sweep_maker_check(plan, 1, error);
  if (status == TT_OK) status = tt_sweep_maker_try(plan, error);
  if (status == TT_OK) tt_sweep_plan_show(plan, stdout);
  tt_sweep_plan_free(plan);
  return status;
}

static tt_status check(int argc, char **argv, tt_error *error) {
  tt_scene_options options;
  const bool settings = take_settings(&argc, argv);
  tt_status status = tt_scene_options_parse(argc, argv, &options, error);
  if (status == TT_OK)
    status = tt_sweep_is_plan(options.scene) ? check_plan(&options, settings, error)
                                             : check_scene(&options, settings, error);
  tt_scene_options_free(&options);
  return status;
}

const tt_app_command tt_app_check = {
    "check",
    "SCENE|PLAN [--settings] [options]",
    "Shows what a scene would run: wires, signals, commands, object ids; or the runs of a sweep's "
    "plan; or its error with file and line; --settings: all that --set may change, keys and values "
    "of its models, with unit and range",
    tt_scene_options_help,
    check,
};
