/* scene_fuzz.c: any bytes as a scene, with any --set before the first line feed of inputs that begin with '!'. */
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
  tt_scene *scene;
  tt_error error = {""};
  const char *settings[] = {setting};
  tt_status status = tt_scene_parse(TETHER_SOURCE_DIR "/tests/scenes/good/fuzz.yaml", text, size,
                                    settings, setting ? 1 : 0, &scene, &error);
  if ((status == TT_OK) != !*error.text) abort(); /* an error always says why */
  tt_scene_free(scene);
  free(setting);
  read_as(text, size, tt_arena_schema());
  read_as(text, size, tt_robot_schema());
  return 0;
}
