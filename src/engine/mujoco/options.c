/* options.c: what models state in <option>, of which a world has one: the arena's; without an arena the first robot's. */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of an mjOption. Only options that decide what forces act differ where a model does not state them: else every robot without an
 * <option> would be told of its arena's way to solve. */
typedef struct option {
  const char *name;
  size_t offset;
  int count;                /* doubles; 0: an int */
  bool decides;             /* what forces act */
  const char *const *words; /* of an int */
} option;

static const char *const INTEGRATORS[] = {"Euler", "RK4", "implicit"},
                         *const COLLISIONS[] = {"all", "predefined", "dynamic"},
                         *const CONES[] = {"pyramidal", "elliptic"},
                         *const JACOBIANS[] = {"dense", "sparse", "auto"},
                         *const SOLVERS[] = {"PGS", "CG", "Newton"};

#define OPTION(field) .name = #field, .offset = offsetof(mjOption, field)
static const option OPTIONS[] = {
    {OPTION(gravity), .count = 3, .decides = true},
    {OPTION(wind), .count = 3, .decides = true},
    {OPTION(magnetic), .count = 3, .decides = true},
    {OPTION(density), .count = 1, .decides = true},
    {OPTION(viscosity), .count = 1, .decides = true},
    {OPTION(collision), .words = COLLISIONS, .decides = true},
    {OPTION(impratio), .count = 1},
    {OPTION(tolerance), .count = 1},
    {OPTION(noslip_tolerance), .count = 1},
    {OPTION(mpr_tolerance), .count = 1},
    {OPTION(o_margin), .count = 1},
    {OPTION(o_solref), .count = mjNREF},
    {OPTION(o_solimp), .count = mjNIMP},
    {OPTION(integrator), .words = INTEGRATORS},
    {OPTION(cone), .words = CONES},
    {OPTION(jacobian), .words = JACOBIANS},
    {OPTION(solver), .words = SOLVERS},
    {OPTION(iterations)},
    {OPTION(noslip_iterations)},
    {OPTION(mpr_iterations)},
};
#undef OPTION

static bool is_same(const option *o, const mjOption *one, const mjOption *other) {
  const size_t size = o->count ? sizeof(mjtNum) * (size_t)o->count : sizeof(int);
  return memcmp((const char *)one + o->offset, (const char *)other + o->offset, size) == 0;
}

typedef struct line {
  char text[800];
  size_t length;
} line;

__attribute__((format(printf, 2, 3))) static void add(line *l, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(l->text + l->length, sizeof l->text - l->length, format, arguments);
  va_end(arguments);
  l->length += length > 0 ? (size_t)length : 0;
  if (l->length >= sizeof l->text) l->length = sizeof l->text - 1;
}

static void add_value(line *l, const option *o, const mjOption *of) {
  const char *at = (const char *)of + o->offset;
  for (int i = 0; i < o->count; i++) add(l, " %g", ((const mjtNum *)(const void *)at)[i]);
  if (o->count) return;
  const int value = *(const int *)(const void *)at;
  if (o->words)
    add(l, " %s", o->words[value]);
  else
    add(l, " %d", value);
}

static void add_flag(line *l, const char *name, bool on) {
  char written[32];
  snprintf(written, sizeof written, "%s", name);
  for (char *c = written; *c; c++) *c = (char)tolower(*c); /* MuJoCo shows them with a capital */
  add(l, "%s flag %s %s by %s", l->length ? "," : "", written, on ? "enable" : "disable",
      on ? "disable" : "enable");
}

/* What is replaced in `own` by `holding`, each with both values; "": nothing. */
static void compare(line *l, const mjOption *own, const mjOption *holding) {
  mjOption silent;
  mj_defaultOption(&silent);
  for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
    const option *o = &OPTIONS[i];
    if (is_same(o, own, holding) || (!o->decides && is_same(o, own, &silent))) continue;
    add(l, "%s %s", l->length ? "," : "", o->name);
    add_value(l, o, own);
    add(l, " by");
    add_value(l, o, holding);
  }
  for (int i = 0; i < mjNDISABLE; i++)
    if ((own->disableflags ^ holding->disableflags) >> i & 1)
      add_flag(l, mjDISABLESTRING[i], !(own->disableflags >> i & 1));
  for (int i = 0; i < mjNENABLE; i++)
    if ((own->enableflags & ~holding->enableflags) >> i & 1) add_flag(l, mjENABLESTRING[i], true);
}

static bool came_before(const physics_submodel *submodels, int index) {
  for (int i = 0; i < index; i++)
    if (strcmp(submodels[i].file, submodels[index].file) == 0) return true;
  return false;
}

void physics_choose_options(xmlNode *root, const tt_engine_spec *spec,
                            const physics_submodel *submodels) {
  const int holds = !spec->arena_file && spec->robot_count > 0 ? 1 : 0;
  const xmlNode *option =
      physics_first_child(xmlDocGetRootElement(submodels[holds].document), "option");
  xmlNode *copy = option ? xmlDocCopyNode((xmlNode *)option, root->doc, 1) : NULL;
  if (copy) xmlAddChild(root, copy);
  for (int i = holds + 1; i <= spec->robot_count; i++) {
    line replaced = {.text = ""};
    compare(&replaced, &submodels[i].option, &submodels[holds].option);
    if (replaced.length && !came_before(submodels, i))
      tt_log_warning("%s: of its own <option>, this is replaced by what %s has:%s",
                     submodels[i].file, submodels[holds].file, replaced.text);
  }
}
