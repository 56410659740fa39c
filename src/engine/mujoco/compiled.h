/* compiled.h: models that were compiled before in this process.
 *
 * The same is what was made of the same bytes: the request, the program that compiles, and every file that the models name. All of
 * them are kept beside the model and compared as they are, so that no two models can be taken for each other. They are read
 * again each time, which takes a hundredth of what compiling does. A model that names files which may name others in ways of
 * their own is compiled each time. 64 MiB are kept at most, of those that were used last.
 */
#ifndef TT_ENGINE_MUJOCO_COMPILED_H
#define TT_ENGINE_MUJOCO_COMPILED_H

#include "base/bytes.h"
#include "engine/mujoco/physics_internal.h"

/** What a model is made of, and what the compiler says of it: lines, each with its end. */
typedef struct physics_recipe {
  tt_bytes made_of; /**< empty: it can't be told, or is too much to be kept */
  tt_bytes said;
} physics_recipe;

/** Whether the model stands in the open file `file` now; what the compiler said then is said again. Any thread. Fills `recipe`,
 *  for physics_recipe_free(). */
bool physics_compiled_find(const tt_engine_spec *spec, int file, physics_recipe *recipe);
/** Keeps the model that stands in `file`, which was found to be one, unless its files changed since physics_compiled_find(). Any thread. */
void physics_compiled_keep(const tt_engine_spec *spec, int file, physics_recipe *recipe);
void physics_recipe_free(physics_recipe *recipe);
/** How much is kept of all of them together; tests keep less. */
extern size_t physics_compiled_most_bytes;
/** Everything is compiled again. For tests. */
void physics_compiled_forget_all(void);

#endif
