/* compiled.c: the compiled models that are kept, and what each was made of. */
#include "engine/mujoco/compiled.h"

#include "base/file.h"
#include "engine/mujoco/compiler.h"
#include "engine/mujoco/references.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

size_t physics_compiled_most_bytes = 64 << 20;

typedef struct compiled {
  tt_bytes made_of, model, said;
  uint64_t used; /* the greater, the later */
  struct compiled *next;
} compiled;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static compiled *all;
static size_t all_bytes;
static uint64_t uses;

/* --- what a model is made of --- */

static void append_text(tt_bytes *to, const char *text) {
  tt_bytes_append(to, text, strlen(text) + 1);
}

/* Kinds that name no files but those that references.c knows. */
static bool is_plain_kind(const char *path) {
  static const char *const kinds[] = {".xml", ".mjcf", ".urdf", ".stl", ".obj", ".mtl",
                                      ".msh", ".png",  ".skn",  ".bin", NULL};
  const char *dot = strrchr(path, '.');
  for (int i = 0; dot && kinds[i]; i++)
    if (strcasecmp(dot, kinds[i]) == 0) return true;
  return false;
}

/* The compiler refuses it, and it is not worth reading here. */
static bool is_too_long(const char *path, off_t size) {
  const char *dot = strrchr(path, '.');
  const bool parsed = dot && (strcasecmp(dot, ".xml") == 0 || strcasecmp(dot, ".mjcf") == 0 ||
                              strcasecmp(dot, ".urdf") == 0);
  return parsed && size > TT_MAX_MODEL_BYTES;
}

/* A file with its name, how long it is and what is in it. Anything but TT_OK: models of it are not kept. */
static tt_status append_file(void *context, const char *path, tt_error *error) {
  tt_bytes *to = context;
  struct stat about;
  char piece[1 << 16];
  (void)error;
  if (!is_plain_kind(path)) return TT_NOT_FOUND;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return TT_NOT_FOUND;
  bool fits = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= 0 &&
              !is_too_long(path, about.st_size) &&
              (size_t)about.st_size + to->size < physics_compiled_most_bytes;
  append_text(to, path);
  tt_bytes_append(to, &about.st_size, sizeof about.st_size);
  off_t left = about.st_size;
  for (ssize_t got = 1; fits && got > 0; left -= got)
    if ((got = read(file, piece, sizeof piece)) > 0) tt_bytes_append(to, piece, (size_t)got);
  close(file);
  return fits && left == 0 && !to->failed ? TT_OK : TT_NOT_FOUND;
}

/* Empty where it can't be told, or is more than is kept. */
static tt_bytes made_of(const tt_engine_spec *spec) {
  tt_bytes bytes = {0};
  struct stat program;
  size_t size;
  void *request = compiler_request(spec, "", &size);
  bool told = request && stat(physics_compiler(), &program) == 0;
  if (told) {
    tt_bytes_append(&bytes, request, size);
    append_text(&bytes, physics_compiler());
    tt_bytes_append(&bytes, &program.st_dev, sizeof program.st_dev);
    tt_bytes_append(&bytes, &program.st_ino, sizeof program.st_ino);
    tt_bytes_append(&bytes, &program.st_size, sizeof program.st_size);
    tt_bytes_append(&bytes, &program.st_mtim, sizeof program.st_mtim);
  }
  free(request);
  if (told && spec->arena_file)
    told = tt_model_references(spec->arena_file, spec->search_path, append_file, &bytes, NULL) ==
           TT_OK;
  for (int i = 0; i < spec->robot_count && told; i++)
    told = tt_model_references(spec->robots[i].model_file, spec->search_path, append_file, &bytes,
                               NULL) == TT_OK;
  if (!told || bytes.failed) tt_bytes_free(&bytes);
  return bytes;
}

static bool is_same(const tt_bytes *a, const tt_bytes *b) {
  return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* --- those that are kept --- */

static size_t size_of(const compiled *one) {
  return one->made_of.size + one->model.size + one->said.size + sizeof *one;
}

static void forget(compiled *one) {
  tt_bytes_free(&one->made_of);
  tt_bytes_free(&one->model);
  tt_bytes_free(&one->said);
  free(one);
}

/* Takes out the one that `link` leads to. */
static void drop(compiled **link) {
  compiled *one = *link;
  *link = one->next;
  all_bytes -= size_of(one);
  forget(one);
}

static compiled **longest_unused(void) {
  compiled **oldest = &all;
  for (compiled **link = &all; *link; link = &(*link)->next)
    if ((*link)->used < (*oldest)->used) oldest = link;
  return oldest;
}

/* Never waits: the lock may be one that was held when this process was forked. */
static bool enter(void) { return pthread_mutex_trylock(&lock) == 0; }

static bool copy(const tt_bytes *from, tt_bytes *to) {
  tt_bytes_append(to, from->data, from->size);
  return !to->failed;
}

/* Whether the model stands in `file` now, and in `said` what the compiler said of it. */
static bool take(const tt_bytes *wanted, int file, tt_bytes *said) {
  bool taken = false;
  if (wanted->size == 0 || !enter()) return false;
  for (compiled *one = all; one && !taken; one = one->next) {
    if (!is_same(&one->made_of, wanted)) continue;
    taken =
        tt_file_write_all_at(file, one->model.data, one->model.size, 0) && copy(&one->said, said);
    one->used = ++uses;
    break;
  }
  pthread_mutex_unlock(&lock);
  return taken;
}

static bool read_all(int file, tt_bytes *bytes) {
  char piece[1 << 16];
  for (ssize_t got = 1; got > 0 && bytes->size < physics_compiled_most_bytes && !bytes->failed;) {
    got = pread(file, piece, sizeof piece, (off_t)bytes->size);
    if (got < 0) return false;
    tt_bytes_append(bytes, piece, (size_t)got);
  }
  return !bytes->failed && bytes->size > 0;
}

bool physics_compiled_find(const tt_engine_spec *spec, int file, physics_recipe *recipe) {
  *recipe = (physics_recipe){.made_of = made_of(spec)};
  if (take(&recipe->made_of, file, &recipe->said)) {
    for (size_t at = 0; at < recipe->said.size; at += strlen((char *)recipe->said.data + at) + 1)
      compiler_say((char *)recipe->said.data + at);
    return true;
  }
  tt_bytes_free(&recipe->said);
  if (ftruncate(file, 0) != 0) tt_bytes_free(&recipe->made_of);
  return false;
}

void physics_compiled_keep(const tt_engine_spec *spec, int file, physics_recipe *recipe) {
  tt_bytes now = made_of(spec); /* a file may have changed while it was read */
  const bool same = now.size > 0 && is_same(&recipe->made_of, &now) && !recipe->said.failed;
  compiled *one = same ? calloc(1, sizeof *one) : NULL;
  tt_bytes_free(&now);
  if (!one) return;
  one->made_of = recipe->made_of;
  one->said = recipe->said;
  *recipe = (physics_recipe){0};
  if (!read_all(file, &one->model) || size_of(one) > physics_compiled_most_bytes || !enter()) {
    forget(one);
    return;
  }
  for (compiled **link = &all; *link;) {
    if (is_same(&(*link)->made_of, &one->made_of))
      drop(link); /* another thread was faster */
    else
      link = &(*link)->next;
  }
  while (all && all_bytes + size_of(one) > physics_compiled_most_bytes) drop(longest_unused());
  one->used = ++uses;
  one->next = all;
  all = one;
  all_bytes += size_of(one);
  pthread_mutex_unlock(&lock);
}

void physics_recipe_free(physics_recipe *recipe) {
  tt_bytes_free(&recipe->made_of);
  tt_bytes_free(&recipe->said);
}

void physics_compiled_forget_all(void) {
  pthread_mutex_lock(&lock);
  while (all) drop(&all);
  pthread_mutex_unlock(&lock);
}
