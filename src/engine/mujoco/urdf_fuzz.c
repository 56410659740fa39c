/* Fuzz target: any text as a URDF: rewritten for MuJoCo or refused with a reason; what is rewritten is XML again, and any XML
 * can be given names and prefixes. MuJoCo itself, which compiles it in a child process, is not called. */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"

#include <assert.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static physics_workshop shop;

static void close_shop(void) { tt_scratch_close(&shop.scratch); }

static void open_shop(void) {
  tt_error error;
  if (shop.scratch.folder[0]) return;
  if (tt_scratch_open(&shop.scratch, &error) != TT_OK) abort();
  atexit(close_shop);
  tt_log_set_level(TT_LOG_ERROR);
}

static void prefix(const char *prepared) {
  physics_submodel submodel = {.prefix = "robot/", .file = "robot.urdf"};
  submodel.document = xmlReadFile(prepared, NULL, XML_PARSE_NONET | XML_PARSE_NOBLANKS);
  assert(submodel.document);
  physics_prefix(&submodel);
  physics_submodel_free(&submodel);
}

static void prepare(const char *file, physics_urdf_care care) {
  physics_submodel submodel = {.file = file};
  char prepared[TT_PATH_SIZE];
  physics_urdf_lines lines = {0};
  tt_error error = {""};
  shop.file_count = 0;
  if (physics_urdf_prepare(&shop, file, care, &submodel, prepared, &lines, &error) == TT_OK) {
    for (int i = 0; i < submodel.limit_count; i++)
      assert(submodel.limits[i].values[0] > 0 || submodel.limits[i].values[1] > 0);
    prefix(prepared);
    unlink(prepared);
  } else {
    assert(error.text[0]);
  }
  free(lines.of);
  physics_submodel_free(&submodel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int file = memfd_create("urdf", 0);
  if (file < 0) return 0;
  open_shop();
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (write(file, data, size) == (ssize_t)size) {
    prepare(path, URDF_AS_IT_IS);
    prepare(path, URDF_WITH_LEAST_MASSES);
  }
  close(file);
  return 0;
}
