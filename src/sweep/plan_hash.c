#include "sweep/plan_hash.h"

#include "base/file.h"
#include "scene/scene_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

struct tt_plan_hash {
  XXH3_state_t *state;
};

/** A file as it was when it was hashed. */
struct tt_plan_file {
  char *path;
  struct stat about;
  unsigned char content[16];
};

tt_plan_hash *tt_plan_hash_new(void) {
  tt_plan_hash *hash = calloc(1, sizeof *hash);
  if (!hash) return NULL;
  hash->state = XXH3_createState();
  if (hash->state && XXH3_128bits_reset(hash->state) == XXH_OK) return hash;
  tt_plan_hash_free(hash);
  return NULL;
}

void tt_plan_hash_free(tt_plan_hash *hash) {
  if (!hash) return;
  XXH3_freeState(hash->state);
  free(hash);
}

void tt_plan_hash_restart(tt_plan_hash *hash) { XXH3_128bits_reset(hash->state); }

static void add_bytes(tt_plan_hash *to, const void *bytes, size_t size) {
  XXH3_128bits_update(to->state, bytes, size);
}

void tt_plan_hash_number(tt_plan_hash *hash, uint64_t number) {
  add_bytes(hash, &number, sizeof number);
}

void tt_plan_hash_double(tt_plan_hash *hash, double number) {
  add_bytes(hash, &number, sizeof number);
}

void tt_plan_hash_text(tt_plan_hash *hash, const char *text) {
  size_t size = text ? strlen(text) : 0;
  tt_plan_hash_number(hash, text ? size + 1 : 0);
  add_bytes(hash, text ? text : "", size);
}

void tt_plan_hash_digest(const tt_plan_hash *hash, unsigned char digest[16]) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash->state));
  memcpy(digest, canonical.digest, sizeof canonical.digest);
}

void tt_plan_hash_write(const tt_plan_hash *hash, char text[33]) {
  unsigned char digest[16];
  tt_plan_hash_digest(hash, digest);
  for (size_t i = 0; i < sizeof digest; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

/* --- files --- */

/** The content of a file, which is read in pieces: it may be large. */
static tt_status digest_of(const char *path, unsigned char digest[16], tt_error *error) {
  FILE *file;
  char piece[1 << 14];
  tt_plan_hash *hash = tt_plan_hash_new();
  if (!hash) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = tt_file_open(path, &file, error);
  if (status == TT_OK) {
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) add_bytes(hash, piece, got);
    if (ferror(file)) status = tt_fail(error, TT_FAILED, "%s: can't be read", path);
    fclose(file);
    tt_plan_hash_digest(hash, digest);
  }
  tt_plan_hash_free(hash);
  return status;
}

static const tt_plan_file *find(const tt_plan_store *store, const char *path) {
  for (int i = 0; i < store->file_count; i++)
    if (strcmp(store->files[i].path, path) == 0) return &store->files[i];
  return NULL;
}

/** Keeps a file in mind as it is now. */
static tt_status note(tt_plan_store *store, const char *path, const tt_plan_file **noted) {
  if ((*noted = find(store, path))) return TT_OK;
  tt_plan_file *files =
      reallocarray(store->files, (size_t)store->file_count + 1, sizeof *store->files);
  if (!files) return tt_plan_no_memory(store);
  store->files = files;
  tt_plan_file *file = &files[store->file_count];
  *file = (tt_plan_file){.path = tt_pool_print(&store->pool, "%s", path)};
  if (!file->path) return tt_plan_no_memory(store);
  if (stat(path, &file->about) != 0)
    return tt_fail(store->error, TT_INVALID, "%s: it is gone", path);
  TT_TRY(digest_of(path, file->content, store->error));
  store->file_count++;
  *noted = file;
  return TT_OK;
}

tt_status tt_plan_hash_file(tt_plan_store *store, tt_plan_hash *hash, const char *path) {
  const char *slash = strrchr(path, '/');
  const tt_plan_file *file;
  TT_TRY(note(store, path, &file));
  tt_plan_hash_text(hash, slash ? slash + 1 : path);
  add_bytes(hash, file->content, sizeof file->content);
  return TT_OK;
}

tt_status tt_plan_hash_scene(tt_plan_store *store, tt_plan_hash *hash, const tt_scene *scene) {
  tt_scene_files files;
  TT_TRY(tt_scene_files_read(scene, &files, store->error));
  tt_status status = TT_OK;
  for (int i = 0; status == TT_OK && i < files.count; i++)
    status = tt_plan_hash_file(store, hash, files.files[i].path);
  tt_plan_hash_number(hash, (uint64_t)files.count);
  tt_scene_files_free(&files);
  return status;
}

/** The name stands for the file that was hashed, and nobody wrote to it. */
static bool is_untouched(const struct stat *before, const struct stat *now) {
  return before->st_dev == now->st_dev && before->st_ino == now->st_ino &&
         before->st_size == now->st_size && before->st_mtim.tv_sec == now->st_mtim.tv_sec &&
         before->st_mtim.tv_nsec == now->st_mtim.tv_nsec;
}

tt_status tt_sweep_plan_check_files(const tt_sweep_plan *plan, tt_error *error) {
  const tt_plan_store *store = (const tt_plan_store *)plan;
  for (int i = 0; i < store->file_count; i++) {
    const tt_plan_file *file = &store->files[i];
    struct stat now;
    unsigned char content[16];
    bool there = stat(file->path, &now) == 0;
    if (there && is_untouched(&file->about, &now)) continue;
    if (there && digest_of(file->path, content, NULL) == TT_OK &&
        memcmp(content, file->content, sizeof content) == 0)
      continue;
    return tt_fail(error, TT_FAILED,
                   "%s: it has changed since the sweep began, and with it what the runs are; the "
                   "same command makes those of the new one, with --extend into the same table",
                   file->path);
  }
  return TT_OK;
}

bool tt_sweep_plan_has_file(const tt_sweep_plan *plan, const char *path) {
  const tt_plan_store *store = (const tt_plan_store *)plan;
  for (int i = 0; i < store->file_count; i++)
    if (tt_file_is_same(path, store->files[i].path)) return true;
  return false;
}
