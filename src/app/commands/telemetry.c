/* telemetry.c: `tether telemetry`: what is done with a store by hand. */
#include "app/commands/command.h"
#include "app/telemetry/action.h"
#include "base/nearest.h"

#include <string.h>

/** In the order of --help. */
static const tt_telemetry_action *const actions[] = {&tt_telemetry_seal, &tt_telemetry_unseal,
                                                     &tt_telemetry_remove, &tt_telemetry_backup,
                                                     &tt_telemetry_copy};
#define ACTION_COUNT (sizeof actions / sizeof *actions)

static tt_status refuse(const char *name, tt_error *error) {
  tt_nearest nearest = tt_nearest_start(name);
  for (size_t i = 0; i < ACTION_COUNT; i++) tt_nearest_offer(&nearest, actions[i]->name);
  if (nearest.best)
    return tt_fail(error, TT_USAGE, "telemetry %s: did you mean '%s'?", name, nearest.best);
  return tt_fail(error, TT_USAGE, "telemetry %s: there is no such action", name);
}

static tt_status run(int argc, char **argv, tt_error *error) {
  if (argc < 2) return tt_fail(error, TT_USAGE, "telemetry: what is to be done is missing");
  for (size_t i = 0; i < ACTION_COUNT; i++) {
    if (!strcmp(actions[i]->name, argv[1])) return actions[i]->run(argc - 1, argv + 1, error);
  }
  return refuse(argv[1], error);
}

const tt_app_command tt_app_telemetry = {
    .name = "telemetry",
    .usage =
        "seal STORE | unseal STORE | remove STORE --device NAME | backup STORE FILE | copy FROM TO",
    .summary = "Packs, removes, backs up and copies what is stored of telemetry",
    .help =
        "  seal STORE           packs days that are over into about a tenth, and gives the room "
        "back\n"
        "  unseal STORE         unpacks them again\n"
        "  remove STORE         a device's values; asks first, unless --yes is given\n"
        "  backup STORE FILE    a copy, also while a collector writes\n"
        "  copy FROM TO         copies records into another store, of any kind; what is there is "
        "not "
        "doubled\n"
        "\n"
        "  --device NAME        whose; of copy * and ? stand for letters, and it may be repeated\n"
        "  --from, --to TIME    ISO 8601, or '-60 s' from now; both are included\n"
        "  --attribute NAME     of remove: only this one\n"
        "  --name               of remove: the device itself as well\n"
        "  --yes                of remove: doesn't ask\n"
        "\n"
        "STORE, FROM and TO are URLs as of collect's --store. No program may be writing to one "
        "that "
        "is changed here.\n"
        "docs/telemetry-space.md and docs/telemetry-copies.md say more.\n",
    .run = run,
};
