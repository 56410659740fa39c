/* render_scene.c: draws one picture of a scene with MuJoCo's own renderer, without a screen. For documentation.
 *
 *   render_scene SCENE FILE.png X Y Z DISTANCE AZIMUTH ELEVATION [STEPS] [JOINT=POSITION]…
 *
 * X Y Z: what the camera looks at, m; angles in degrees. Joints are put to their positions first, then STEPS steps
 * pass with the joints left free. Looks into src/physics, which keeps MuJoCo to itself otherwise.
 */
#include "app/guests.h"
#include "app/assemble.h"
#include "engine/mujoco/physics_internal.h"

#include <EGL/egl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WIDTH 640
#define HEIGHT 480

static int fail(const char *reason) {
  fprintf(stderr, "render_scene: %s\n", reason);
  return 1;
}

/** A context to draw in, without any screen; it lives as long as the program. */
static bool begin_drawing(void) {
  const EGLint wanted[] = {EGL_RED_SIZE,
                           8,
                           EGL_GREEN_SIZE,
                           8,
                           EGL_BLUE_SIZE,
                           8,
                           EGL_DEPTH_SIZE,
                           24,
                           EGL_SURFACE_TYPE,
                           EGL_PBUFFER_BIT,
                           EGL_RENDERABLE_TYPE,
                           EGL_OPENGL_BIT,
                           EGL_NONE};
  const EGLint size[] = {EGL_WIDTH, WIDTH, EGL_HEIGHT, HEIGHT, EGL_NONE};
  setenv("EGL_PLATFORM", "surfaceless", 0);
  EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
  EGLConfig config;
  EGLint found = 0;
  if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API)) return false;
  if (!eglChooseConfig(display, wanted, &config, 1, &found) || found < 1) return false;
  EGLSurface surface = eglCreatePbufferSurface(display, config, size);
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, NULL);
  return eglMakeCurrent(display, surface, surface, context);
}

static void draw(mjModel *model, mjData *data, const mjvCamera *camera, unsigned char *pixels) {
  model->vis.global.offwidth = WIDTH;
  model->vis.global.offheight = HEIGHT;
  model->vis.quality.offsamples = 8;
  mjvScene scene;
  mjrContext context;
  mjvOption option;
  mjv_defaultScene(&scene);
  mjv_makeScene(model, &scene, 5000);
  mjr_defaultContext(&context);
  mjr_makeContext(model, &context, mjFONTSCALE_100);
  mjr_setBuffer(mjFB_OFFSCREEN, &context);
  mjv_defaultOption(&option);
  mjvCamera view = *camera;
  mjv_updateScene(model, data, &option, NULL, &view, mjCAT_ALL, &scene);
  mjrRect whole = {0, 0, WIDTH, HEIGHT};
  mjr_render(whole, &scene, &context);
  mjr_readPixels(pixels, NULL, whole, &context);
  mjr_freeContext(&context);
  mjv_freeScene(&scene);
}

static void put_chunk(FILE *file, const char *type, const unsigned char *data, unsigned size) {
  unsigned char head[8] = {(unsigned char)(size >> 24), (unsigned char)(size >> 16),
                           (unsigned char)(size >> 8), (unsigned char)size};
  memcpy(head + 4, type, 4);
  uLong sum = crc32(crc32(0, head + 4, 4), data, size);
  unsigned char tail[4] = {(unsigned char)(sum >> 24), (unsigned char)(sum >> 16),
                           (unsigned char)(sum >> 8), (unsigned char)sum};
  fwrite(head, 1, 8, file);
  if (size) fwrite(data, 1, size, file);
  fwrite(tail, 1, 4, file);
}

/** Writes rows that come bottom first, each as the difference from the one above. */
static bool write_png(const char *path, const unsigned char *pixels) {
  enum { ROW = 3 * WIDTH };
  static unsigned char rows[HEIGHT][ROW + 1], packed[HEIGHT * (ROW + 1) + 4096];
  for (int y = 0; y < HEIGHT; y++) {
    const unsigned char *row = pixels + (size_t)(HEIGHT - 1 - y) * ROW;
    rows[y][0] = 2;
    for (int i = 0; i < ROW; i++) rows[y][i + 1] = (unsigned char)(row[i] - (y ? row[i + ROW] : 0));
  }
  uLongf size = sizeof packed;
  FILE *file = fopen(path, "wb");
  if (!file || compress2(packed, &size, rows[0], sizeof rows, 9) != Z_OK) return false;
  const unsigned char header[13] = {0, 0, WIDTH >> 8, WIDTH & 255, 0, 0, HEIGHT >> 8, HEIGHT & 255,
                                    8, 2, 0,          0,           0};
  fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
  put_chunk(file, "IHDR", header, 13);
  put_chunk(file, "IDAT", packed, (unsigned)size);
  put_chunk(file, "IEND", NULL, 0);
  return fclose(file) == 0;
}

/** Puts a joint where "name=position" says. */
static bool pose(tt_engine *engine, char *text) {
  const tt_mechanism *info = tt_engine_mechanism(engine);
  char *value = strchr(text, '=');
  if (!value) return false;
  *value = 0;
  for (int j = 0; j < info->joint_count; j++) {
    if (strcmp(info->joints[j].name, text) != 0 || info->joints[j].axis_count != 1) continue;
    tt_engine_place_axis(engine, info->joints[j].axis, strtod(value + 1, NULL));
    tt_engine_place_done(engine, 0);
    return true;
  }
  return false;
}

int main(int count, char **arguments) {
  if (count < 9)
    return fail("SCENE FILE.png X Y Z DISTANCE AZIMUTH ELEVATION [STEPS] [JOINT=POSITION]…");
  tt_error error = {0};
  tt_scene *scene = NULL;
  tt_world *world = NULL;
  if (tt_scene_load(&tt_program_guests, arguments[1], NULL, 0, &scene, &error) != TT_OK)
    return fail(error.text);
  const tt_assembly assembly = {.check_only = true, .no_wires = true};
  if (tt_assemble(scene, &assembly, &world, &error) != TT_OK) return fail(error.text);
  tt_engine *engine = tt_sim_engine(tt_world_sim(world));
  for (int i = 10; i < count; i++)
    if (!pose(engine, arguments[i])) return fail(arguments[i]);
  for (int i = 0; count > 9 && i < atoi(arguments[9]); i++) mj_step(physics->model, physics->data);
  mjvCamera camera;
  mjv_defaultCamera(&camera);
  for (int i = 0; i < 3; i++) camera.lookat[i] = strtod(arguments[3 + i], NULL);
  camera.distance = strtod(arguments[6], NULL);
  camera.azimuth = strtod(arguments[7], NULL);
  camera.elevation = strtod(arguments[8], NULL);
  static unsigned char pixels[3 * WIDTH * HEIGHT];
  if (!begin_drawing()) return fail("EGL gives no context to draw in");
  draw(physics->model, physics->data, &camera, pixels);
  if (!write_png(arguments[2], pixels)) return fail("the picture can't be written");
  tt_world_free(world);
  tt_scene_free(scene);
  return 0;
}
