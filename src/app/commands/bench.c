/* bench.c: `tether bench`: figures of this machine, each against its limit measured in the same run. */
#include "app/bench.h"

#include "app/commands/command.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const tt_bench *const benches[] = {
    &tt_bench_step,
    NULL,
};

static tt_status list_benches(void) {
  for (int i = 0; benches[i]; i++)
    tt_print(stdout, "%-20s %s\n", benches[i]->name, benches[i]->summary);
  return TT_OK;
}

static tt_status bench(int argc, char **argv, tt_error *error) {
  if (argc == 1) return list_benches();
  for (int i = 0; benches[i]; i++) {
    if (!strcmp(benches[i]->name, argv[1])) return benches[i]->run(argc - 1, argv + 1, error);
  }
  return tt_fail(error, TT_USAGE, "there is no bench '%s'; tether bench lists them", argv[1]);
}

const tt_app_command tt_app_bench = {
    "bench", "[NAME]", "Measures this machine; without a name lists what can be measured",
    NULL,    bench,
};
