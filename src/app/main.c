/* main.c: the program: finds the command and says how it ended. */
#include "app/commands/command.h"
#include "app/descriptors.h"
#include "app/state_folder.h"
#include "scene/data.h"
#include "base/nearest.h"
#include "base/text.h"
#include "record/log_map.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tt_app_command *const commands[] = {
#define TT_APP_ENTRY(name) &tt_app_##name,
    TT_APP_COMMANDS(TT_APP_ENTRY)
#undef TT_APP_ENTRY
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

int tt_app_exit_status(tt_status status) {
  switch (status) {
    case TT_OK: return 0;
    case TT_INVALID:
    case TT_NOT_FOUND:
    case TT_VERSION:
    case TT_DIFFERS: return 1;
    case TT_USAGE: return 2;
    case TT_INTERRUPTED: return 130;
    default: return 3;
  }
}

static void print_scenes(void) {
  char **names = tt_data_list(&tt_data_scene);
  fputs("Scenes:", stdout);
  for (char **name = names; name && *name; name++) {
    tt_print(stdout, "%s %s", name == names ? "" : ",", *name);
    free(*name);
  }
  free(names);
  puts("");
}

static void print_help(void) {
  puts("Tether: drive a simulated robot over a wire.\n\nusage:");
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    tt_print(stdout, "  tether %s %s\n", commands[i]->name, commands[i]->usage);
    tt_print(stdout, "      %s\n", commands[i]->summary);
  }
  puts(
      "  tether --version\n"
      "  tether --help, tether COMMAND --help\n\n"
      "SCENE is a YAML file or a model (MJCF, URDF) of your own, or one of these by its name. man "
      "tether says more.");
  print_scenes();
  puts(
      "Exit status: 0 done, 1 a file is wrong, 2 the command line is wrong, 3 something failed "
      "while running.");
}

static void print_command_help(const tt_app_command *command) {
  tt_print(stdout, "usage: tether %s %s\n", command->name, command->usage);
  tt_print(stdout, "\n%s.\n", command->summary);
  if (!command->help) return;
  tt_print(stdout, "\n");
  tt_print_lines(stdout, "", command->help);
}

/* Exit status 2, with what was perhaps meant. */
static int refuse_command(const char *name) {
  tt_nearest nearest = tt_nearest_start(name);
  tt_nearest_offer(&nearest, "--help");
  tt_nearest_offer(&nearest, "--version");
  for (size_t i = 0; i < COMMAND_COUNT; i++) tt_nearest_offer(&nearest, commands[i]->name);
  tt_print(stderr, "tether: there is no %s '%s'; ", *name == '-' ? "option" : "command", name);
  tt_print(stderr, nearest.best ? "did you mean '%s'?\n" : "tether --help lists them\n",
           nearest.best);
  return 2;
}

static const tt_app_command *find_command(const char *name) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (!strcmp(commands[i]->name, name)) return commands[i];
  }
  return NULL;
}

static bool asks_for_help(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--")) return false;
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return true;
  }
  return false;
}

/* Of what only prints. */
static int printed(int exit_status) {
  tt_error error;
  if (tt_flush_output(&error) == TT_OK) return exit_status;
  tt_print(stderr, "tether: %s\n", error.text);
  return tt_app_exit_status(TT_FAILED);
}

static int run_command(const tt_app_command *command, int argc, char **argv) {
  tt_error error = {""};
  tt_status status = tt_need_descriptors(&error);
  if (status == TT_OK) status = command->run(argc, argv, &error);
  if (status == TT_OK) status = tt_flush_output(&error); /* what it found out is what was printed */
  if (status != TT_OK) {
    tt_print(stderr, "tether: %s\n", *error.text ? error.text : tt_status_text(status));
    if (status == TT_USAGE)
      tt_print(stderr, "usage: tether %s %s\n", command->name, command->usage);
  }
  return tt_app_exit_status(status);
}

/* Whoever cuts a log that is read here costs us that log, not the run. */
static void on_bus(int number, siginfo_t *about, void *context) {
  const int kept = errno;
  (void)context;
  if (!tt_log_map_mend(about->si_addr)) signal(number, SIG_DFL); /* it comes again at once */
  errno = kept;
}

static void survive_cut_logs(void) {
  struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "--help";
  char own[PATH_MAX];
  tt_fill_standard_files();
  survive_cut_logs();
  const bool owns = tt_own_root(own, sizeof own, NULL) == TT_OK;
  tt_data_set_root(getenv("TETHER_DATA"));
  tt_data_set_own(owns ? own : NULL);
  if (!strcmp(name, "--version") && argc > 2) {
    tt_print(stderr, "tether: --version takes nothing, not '%s'\n", argv[2]);
    return 2;
  }
  if (!strcmp(name, "--version")) {
    puts("tether " TETHER_VERSION);
    return printed(0);
  }
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
    print_help();
    return printed(argc > 1 ? 0 : 2);
  }
  const tt_app_command *command = find_command(name);
  if (!command) return refuse_command(name);
  if (asks_for_help(argc - 1, argv + 1)) {
    print_command_help(command);
    return printed(0);
  }
  return run_command(command, argc - 1, argv + 1);
}
