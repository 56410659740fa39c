#include "draft/look.h"

#include <stdlib.h>
#include <string.h>

tt_draft_look *tt_draft_look_new(void) {
  tt_draft_look *look = calloc(1, sizeof *look);
  if (look) look->references = 1;
  return look;
}

tt_draft_look *tt_draft_look_ref(tt_draft_look *look) {
  __atomic_add_fetch(&look->references, 1, __ATOMIC_RELAXED);
  return look;
}

void tt_draft_look_unref(tt_draft_look *look) {
  if (!look || __atomic_sub_fetch(&look->references, 1, __ATOMIC_ACQ_REL) > 0) return;
  for (int i = 0; i < look->mesh_count; i++) tt_bytes_free(&look->meshes[i]);
  for (int i = 0; i < look->texture_count; i++) tt_bytes_free(&look->textures[i]);
  for (int i = 0; i < look->client_count; i++) {
    free(look->clients[i].file);
    free(look->clients[i].text);
    free(look->clients[i].start);
  }
  json_object_put(look->parts);
  free(look->problems);
  free(look->model);
  free(look->meshes);
  free(look->textures);
  free(look->clients);
  free(look);
}

static bool is_same(const tt_problem *one, const tt_problem *other) {
  return one->line == other->line && !strcmp(one->file, other->file) &&
         !strcmp(one->text, other->text);
}

bool tt_draft_look_add(tt_draft_look *look, const tt_problem *problem) {
  if (look->problem_count == TT_DRAFT_MOST_PROBLEMS) return false;
  for (int i = 0; i < look->problem_count; i++)
    if (is_same(&look->problems[i], problem)) return false;
  tt_problem *grown =
      reallocarray(look->problems, (size_t)look->problem_count + 1, sizeof *look->problems);
  if (!grown) return false;
  look->problems = grown;
  grown[look->problem_count++] = *problem;
  return true;
}

const tt_problem *tt_draft_look_error(const tt_draft_look *look) {
  for (int i = 0; i < look->problem_count; i++)
    if (look->problems[i].severity == TT_SEVERITY_ERROR) return &look->problems[i];
  return NULL;
}
