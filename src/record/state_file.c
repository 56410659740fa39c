/* The file: "TETHERST", u64 version 1, u64 hash of what the world consists of, u64 size of the state, u64 hash of the
 * state, the state (tt_sim_save, or tt_world_save). Numbers as the machine has them: a state goes on only on machines of one kind. */
#include "record/state_file.h"

#include "base/file.h"
#include "base/hash.h"
#include "record/describe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 1
#define LARGEST (1u << 30)

typedef struct head {
  char magic[8];
  uint64_t version, model, size, hash;
} head;

static const char magic[8] = {'T', 'E', 'T', 'H', 'E', 'R', 'S', 'T'};

static uint64_t hash_of(const void *bytes, size_t size) {
  return tt_hash_bytes(TT_HASH_START, bytes, size);
}

/* Names, joints, shapes: what must be the same for a state to mean the same. */
static uint64_t hash_model(const tt_sim *sim) {
  char *text = tt_describe_sim(sim, NULL);
  uint64_t hash = text ? hash_of(text, strlen(text)) : 0;
  free(text);
  return hash;
}

static tt_status check_folder(const char *path, tt_error *error) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  if (!folder) return tt_fail(error, TT_NOMEM, "out of memory");
  bool good = access(folder, W_OK | X_OK) == 0;
  int reason = errno;
  free(folder);
  return good ? TT_OK
              : tt_fail(error, TT_FAILED,
                        "%s: can't write the state: %s; its folder must exist and be yours", path,
                        strerror(reason));
}

/* A mistyped name costs nobody his scene or log. */
tt_status tt_state_file_check(const char *path, tt_error *error) {
  struct stat about;
  char there[sizeof magic];
  FILE *file;
  if (stat(path, &about) != 0) return check_folder(path, error);
  TT_TRY(tt_file_open(path, &file, error));
  bool saved = about.st_size == 0 || (fread(there, sizeof there, 1, file) == 1 &&
                                      memcmp(there, magic, sizeof magic) == 0);
  fclose(file);
  return saved ? TT_OK
               : tt_fail(error, TT_INVALID,
                         "%s: is there already, and no saved state; name another file", path);
}

tt_status tt_state_file_write(const char *path, const tt_sim *sim, const void *state, size_t size,
                              tt_error *error) {
  head first = {.version = VERSION, .model = hash_model(sim), .size = size};
  tt_bytes all = {0};
  TT_TRY(tt_state_file_check(path, error));
  memcpy(first.magic, magic, sizeof magic);
  first.hash = hash_of(state, first.size);
  tt_bytes_append(&all, &first, sizeof first);
  tt_bytes_append(&all, state, size);
  tt_status status = all.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                : tt_file_replace(path, all.data, all.size, true, error);
  tt_bytes_free(&all);
  return status;
}

static tt_status read_state(FILE *file, const char *path, const tt_sim *sim, head *first,
                            void **state, tt_error *error) {
  if (fread(first, sizeof *first, 1, file) != 1 || memcmp(first->magic, magic, sizeof magic) != 0)
    return tt_fail(error, TT_INVALID, "%s: this is no saved state", path);
  if (first->version != VERSION || first->size > LARGEST)
    return tt_fail(error, TT_VERSION, "%s: saved by another version of Tether", path);
  if (first->model != hash_model(sim))
    return tt_fail(error, TT_INVALID, "%s: saved from another scene, or its models changed", path);
  *state = malloc(first->size + 1);
  if (!*state) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  if (fread(*state, 1, first->size, file) != first->size ||
      hash_of(*state, first->size) != first->hash)
    return tt_fail(error, TT_INVALID, "%s: the saved state is damaged", path);
  return TT_OK;
}

tt_status tt_state_file_read(const char *path, const tt_sim *sim, void **state, size_t *size,
                             tt_error *error) {
  head first;
  *state = NULL;
  *size = 0;
  FILE *file;
  TT_TRY(tt_file_open(path, &file, error));
  tt_status status = read_state(file, path, sim, &first, state, error);
  fclose(file);
  if (status == TT_OK) {
    *size = first.size;
    return TT_OK;
  }
  free(*state);
  *state = NULL;
  return status;
}
