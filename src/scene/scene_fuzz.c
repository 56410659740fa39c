/* scene_fuzz.c: any bytes as a scene, with any --set before the first line feed of inputs that begin with '!'. */
#include "app/guests.h"
#include "scene/keys.h"
#include "scene/scene.h"
#include "scene/tree.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Arena and robot files are of the same kind: any text may stand in one. */
static void read_as(const char *text, size_t size, const cyaml_schema_value_t *schema) {
  tt_document *document;
  tt_error error;
  void *keys;
  if (tt_document_parse("fuzz.yaml", text, size, &document, &error) != TT_OK) return;
  if (tt_document_read(document, schema, &keys, &error) == TT_OK) tt_document_release(schema, keys);
  tt_document_free(document);
}

static void read_scene(const tt_scene_guests *guests, const char *text, size_t size,
                       const char *setting) {
  tt_scene *scene;
  tt_error error = {""};
  tt_status status = tt_scene_parse(guests, TETHER_SOURCE_DIR "/tests/scenes/good/fuzz.yaml", text,
                                    size, &setting, setting ? 1 : 0, &scene, &error);
  if ((status == TT_OK) != !*error.text) abort(); /* an error always says why */
  tt_scene_free(scene);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data;
  char *setting = NULL;
  if (size > 1 && *text == '!') {
    const char *end = memchr(text, '\n', size);
    size_t used = end ? (size_t)(end - text) : size;
    setting = strndup(text + 1, used - 1);
    text += end ? used + 1 : used;
    size -= end ? used + 1 : used;
  }
  read_scene(&tt_program_guests, text, size, setting);
  read_scene(NULL, text, size, setting);
  free(setting);
  tt_pool pool = {0};
  tt_schemas schemas;
  if (tt_schemas_new(&tt_program_guests, &pool, &schemas) != TT_OK) abort();
  read_as(text, size, schemas.arena);
  read_as(text, size, schemas.robot);
  tt_pool_free(&pool);
  return 0;
}
