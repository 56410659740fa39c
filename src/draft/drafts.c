#include "draft/drafts.h"

#include "scene/data.h"
#include "scene/machine.h"
#include "scene/scene_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKS 4 /* kept in memory */

struct tt_drafts {
  char folder[400];
  const tt_draft_maker *maker;
  pthread_mutex_t files;  /* one writes at a time */
  pthread_mutex_t checks; /* one looks at a time, and guards what follows */
  struct {
    char id[TT_DRAFT_ID];
    tt_draft_look *look;
  } looks[LOOKS];
  int next;
};

tt_drafts *tt_drafts_new(const char *folder, const tt_draft_maker *maker) {
  tt_drafts *drafts = calloc(1, sizeof *drafts);
  if (!drafts) return NULL;
  snprintf(drafts->folder, sizeof drafts->folder, "%s", folder);
  drafts->maker = maker;
  pthread_mutex_init(&drafts->files, NULL);
  pthread_mutex_init(&drafts->checks, NULL);
  return drafts;
}

void tt_drafts_free(tt_drafts *drafts) {
  if (!drafts) return;
  for (int i = 0; i < LOOKS; i++) tt_draft_look_unref(drafts->looks[i].look);
  pthread_mutex_destroy(&drafts->files);
  pthread_mutex_destroy(&drafts->checks);
  free(drafts);
}

/* --- names --- */

bool tt_draft_name_is_good(const char *name) {
  static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  size_t size = strlen(name);
  return size > 0 && size < TT_DRAFT_MOST_NAME && *name != '-' && strspn(name, good) == size;
}

static tt_status check_name(const char *name, tt_error *error) {
  if (tt_draft_name_is_good(name)) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "'%.64s' can't be a scene's name; use letters, digits, _ and - (at most 63)",
                 name);
}

static bool is_id(const char *id) {
  return strlen(id) == TT_DRAFT_ID - 1 && strspn(id, "0123456789abcdef") == TT_DRAFT_ID - 1;
}

/* The draft's name is that of the one scene whose name stands in the file `.main`. */
static bool describe(const tt_drafts *drafts, const char *id, tt_draft *draft) {
  char path[600];
  *draft = (tt_draft){0};
  memcpy(draft->id, id, TT_DRAFT_ID);
  snprintf(draft->folder, sizeof draft->folder, "%s/%s", drafts->folder, id);
  snprintf(path, sizeof path, "%s/.main", draft->folder);
  FILE *file = fopen(path, "re");
  bool good =
      file && fgets(draft->name, sizeof draft->name, file) && tt_draft_name_is_good(draft->name);
  if (file) fclose(file);
  if (good) snprintf(draft->main, sizeof draft->main, "%s.yaml", draft->name);
  return good;
}

tt_status tt_drafts_find(tt_drafts *drafts, const char *id, tt_draft *draft, tt_error *error) {
  if (is_id(id) && describe(drafts, id, draft)) return TT_OK;
  return tt_fail(error, TT_NOT_FOUND, "there is no such draft");
}

/* --- all of them --- */

static int last_first(const void *one, const void *other) {
  const tt_draft *a = one, *b = other;
  if (a->untouched != b->untouched) return a->untouched - b->untouched;
  return a->changed < b->changed ? 1 : a->changed > b->changed ? -1 : 0;
}

static tt_status revision_of(const tt_draft *draft, uint64_t *revision, tt_error *error) {
  tt_draft_files files;
  TT_TRY(tt_draft_files_list(draft->folder, &files, error));
  *revision = files.revision;
  tt_draft_files_free(&files);
  return TT_OK;
}

/* A copy has its first revision in the file `.copied`. */
static void path_of_copied(const tt_draft *draft, char path[600]) {
  snprintf(path, 600, "%s/.copied", draft->folder);
}

static tt_status note_copied(const tt_draft *draft, tt_error *error) {
  char path[600], text[24];
  uint64_t revision;
  TT_TRY(revision_of(draft, &revision, error));
  int size = snprintf(text, sizeof text, "%" PRIu64, revision);
  path_of_copied(draft, path);
  return tt_scene_file_write(path, text, (size_t)size, error);
}

static bool is_untouched(const tt_draft *draft, uint64_t revision) {
  char path[600];
  uint64_t copied;
  path_of_copied(draft, path);
  FILE *file = fopen(path, "re");
  const bool known = file && fscanf(file, "%" SCNu64, &copied) == 1;
  if (file) fclose(file);
  return known && copied == revision;
}

/* Also those beyond the limit. */
static tt_status list_all(tt_drafts *drafts, tt_draft **list, int *count, tt_error *error) {
  struct dirent **entries;
  *count = 0;
  int found = scandir(drafts->folder, &entries, NULL, NULL);
  *list = calloc((size_t)(found > 0 ? found : 0) + 1, sizeof **list);
  for (int i = 0; i < found; i++) {
    tt_draft draft;
    tt_draft_files files = {0};
    if (*list && is_id(entries[i]->d_name) && describe(drafts, entries[i]->d_name, &draft) &&
        tt_draft_files_list(draft.folder, &files, NULL) == TT_OK) {
      draft.changed = files.changed;
      draft.untouched = is_untouched(&draft, files.revision);
      (*list)[(*count)++] = draft;
    }
    tt_draft_files_free(&files);
    free(entries[i]);
  }
  if (found >= 0) free(entries);
  if (!*list) return tt_fail(error, TT_NOMEM, "out of memory");
  if (*count) qsort(*list, (size_t)*count, sizeof **list, last_first);
  return TT_OK;
}

tt_status tt_drafts_list(tt_drafts *drafts, tt_draft **list, int *count, tt_error *error) {
  TT_TRY(list_all(drafts, list, count, error));
  if (*count > TT_DRAFT_MOST) *count = TT_DRAFT_MOST;
  return TT_OK;
}

static void forget(tt_drafts *drafts, const char *id) {
  pthread_mutex_lock(&drafts->checks);
  for (int i = 0; i < LOOKS; i++) {
    if (strcmp(drafts->looks[i].id, id) != 0) continue;
    tt_draft_look_unref(drafts->looks[i].look);
    drafts->looks[i].look = NULL;
    drafts->looks[i].id[0] = 0;
  }
  pthread_mutex_unlock(&drafts->checks);
}

static tt_status check_secrets(const char *folder, const char *path, bool *denied,
                               tt_error *error) {
  char *bytes;
  size_t size;
  if (!tt_draft_path_is_yaml(path)) return TT_OK;
  TT_TRY(tt_draft_file_read(folder, path, &bytes, &size, error));
  tt_status status = tt_machine_check_secrets(bytes, size, denied, error);
  free(bytes);
  return status;
}

/* Under the lock of `files`, so that what is looked at is what is changed. What is not there, or can't be, hides nothing. */
static tt_status check_file(const tt_draft *draft, const char *path, tt_draft_author *author,
                            tt_error *error) {
  tt_error why = {""};
  if (!author || author->administers) return TT_OK;
  const tt_status status = check_secrets(draft->folder, path, &author->denied, &why);
  if (!author->denied && (status == TT_OK || status == TT_NOT_FOUND || status == TT_INVALID))
    return TT_OK;
  author->denied = true;
  return tt_fail(error, status, "%s", why.text);
}

static tt_status check_draft(const tt_draft *draft, tt_draft_author *author, tt_error *error) {
  tt_draft_files files;
  if (!author || author->administers) return TT_OK;
  TT_TRY(tt_draft_files_list(draft->folder, &files, error));
  tt_status status = TT_OK;
  for (int i = 0; i < files.count && status == TT_OK; i++)
    status = check_file(draft, files.items[i].path, author, error);
  tt_draft_files_free(&files);
  return status;
}

static tt_status remove_draft(tt_drafts *drafts, const tt_draft *draft, tt_draft_author *author,
                              tt_error *error) {
  pthread_mutex_lock(&drafts->files);
  tt_status status = check_draft(draft, author, error);
  if (status == TT_OK) status = tt_draft_folder_remove(draft->folder, error);
  pthread_mutex_unlock(&drafts->files);
  if (status == TT_OK) forget(drafts, draft->id);
  return status;
}

tt_status tt_drafts_remove(tt_drafts *drafts, const char *id, tt_draft_author *author,
                           tt_error *error) {
  tt_draft draft;
  TT_TRY(tt_drafts_find(drafts, id, &draft, error));
  return remove_draft(drafts, &draft, author, error);
}

/* The last of the list that the author may remove. TT_FULL and `denied`: none. */
static tt_status remove_last(tt_drafts *drafts, const tt_draft *list, int *count,
                             tt_draft_author *author, tt_error *error) {
  while (*count > 0) {
    const tt_status status = remove_draft(drafts, &list[--*count], author, error);
    if (status == TT_NOT_FOUND) return TT_OK; /* somebody else did */
    if (!author || !author->denied) return status;
    author->denied = false;
  }
  author->denied = true;
  return tt_fail(error, TT_FULL,
                 "there are %d drafts already, and each may have a token: only who has the role "
                 "administer may remove one",
                 TT_DRAFT_MOST);
}

/* Room for one more. */
static tt_status make_room(tt_drafts *drafts, tt_draft_author *author, tt_error *error) {
  tt_draft *list;
  int count;
  TT_TRY(list_all(drafts, &list, &count, error));
  tt_status status = TT_OK;
  int last = count;
  for (int more = count - TT_DRAFT_MOST + 1; more > 0 && status == TT_OK; more--)
    status = remove_last(drafts, list, &last, author, error);
  free(list);
  return status;
}

/* --- beginning --- */

static tt_status make_folder(tt_drafts *drafts, const char *name, tt_draft *draft,
                             tt_draft_author *author, tt_error *error) {
  uint64_t number;
  char path[600];
  TT_TRY(check_name(name, error));
  TT_TRY(make_room(drafts, author, error));
  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
    return tt_fail(error, TT_FAILED, "no random numbers: %s", strerror(errno));
  *draft = (tt_draft){0};
  snprintf(draft->id, sizeof draft->id, "%016llx", (unsigned long long)number);
  snprintf(draft->name, sizeof draft->name, "%s", name);
  snprintf(draft->main, sizeof draft->main, "%s.yaml", name);
  snprintf(draft->folder, sizeof draft->folder, "%s/%s", drafts->folder, draft->id);
  snprintf(path, sizeof path, "%s/.main", draft->folder);
  if (mkdir(draft->folder, 0700) == 0) return tt_scene_file_write(path, name, strlen(name), error);
  return tt_fail(error, errno == ENOSPC ? TT_FULL : TT_FAILED, "%s: can't make this folder: %s",
                 draft->folder, strerror(errno));
}

tt_status tt_drafts_begin(tt_drafts *drafts, const char *name, tt_draft *draft,
                          tt_draft_author *author, tt_error *error) {
  static const char text[] = "description: a scene of one's own\npace: realtime\n";
  TT_TRY(make_folder(drafts, name, draft, author, error));
  tt_status status =
      tt_drafts_write(drafts, draft, draft->main, text, sizeof text - 1, NULL, NULL, error);
  if (status != TT_OK) tt_draft_folder_remove(draft->folder, NULL);
  return status;
}

/* A name that the file's own is made to. */
static void name_after(const char *path, char name[TT_DRAFT_MOST_NAME]) {
  const char *slash = strrchr(path, '/');
  snprintf(name, TT_DRAFT_MOST_NAME, "%.63s", slash ? slash + 1 : path);
  char *dot = strrchr(name, '.');
  if (dot) *dot = 0;
  for (char *c = name; *c; c++)
    if (!tt_draft_name_is_good((char[]){'a', *c, 0})) *c = '_';
  if (!tt_draft_name_is_good(name)) snprintf(name, TT_DRAFT_MOST_NAME, "scene");
}

static void count_one(void *context, const char *path) {
  (void)path;
  ++*(int *)context;
}

/* What is not listed would be lost when the draft is saved, and what is too large could not be. */
static tt_status check_copied(const tt_draft *draft, int copied, bool *large, tt_error *error) {
  tt_draft_files files;
  TT_TRY(tt_draft_files_list(draft->folder, &files, error));
  *large = files.count != copied || files.bytes > TT_DRAFT_MOST_BYTES;
  for (int i = 0; i < files.count; i++) *large = *large || files.items[i].size > TT_DRAFT_MOST_FILE;
  tt_draft_files_free(&files);
  return *large
             ? tt_fail(error, TT_FULL,
                       "the scene has more than a draft may: at most %d files, of at most 32 MiB "
                       "each and 128 MiB together, none of whose names begins with a dot or a "
                       "blank or has more than 100 bytes, at most 8 folders deep",
                       TT_DRAFT_MOST_FILES)
             : TT_OK;
}

tt_status tt_drafts_copy(tt_drafts *drafts, const char *path, tt_draft *draft, bool *large,
                         tt_draft_author *author, tt_error *error) {
  int copied = 0;
  tt_scene *scene;
  char name[TT_DRAFT_MOST_NAME], target[700];
  *large = false;
  TT_TRY(tt_scene_load(drafts->maker->guests, path, NULL, 0, &scene, error));
  name_after(path, name);
  tt_status status = make_folder(drafts, name, draft, author, error);
  if (status == TT_OK) {
    snprintf(target, sizeof target, "%s/%s", draft->folder, draft->main);
    status = tt_scene_copy(scene, target, count_one, &copied, error);
    if (status == TT_OK) status = check_copied(draft, copied, large, error);
    if (status == TT_OK) status = note_copied(draft, error);
    if (status != TT_OK) tt_draft_folder_remove(draft->folder, NULL);
  }
  tt_scene_free(scene);
  return status;
}

/* --- files --- */

static tt_status check_seen(const tt_draft *draft, uint64_t seen, tt_error *error) {
  uint64_t present;
  TT_TRY(revision_of(draft, &present, error));
  return present == seen ? TT_OK
                         : tt_fail(error, TT_STALE, "the draft was changed since it was looked at");
}

static tt_status write_over(const tt_draft *draft, const char *path, const void *bytes, size_t size,
                            uint64_t *revision, tt_error *error) {
  if (revision && *revision) TT_TRY(check_seen(draft, *revision, error));
  TT_TRY(tt_draft_file_write(draft->folder, path, bytes, size, error));
  return revision ? revision_of(draft, revision, error) : TT_OK;
}

tt_status tt_drafts_write(tt_drafts *drafts, const tt_draft *draft, const char *path,
                          const void *bytes, size_t size, uint64_t *revision,
                          tt_draft_author *author, tt_error *error) {
  pthread_mutex_lock(&drafts->files);
  tt_status status = check_file(draft, path, author, error);
  if (status == TT_OK) status = write_over(draft, path, bytes, size, revision, error);
  pthread_mutex_unlock(&drafts->files);
  return status;
}

uint32_t tt_draft_text_hash(const void *bytes, size_t size) {
  uint32_t hash = 0x811c9dc5u;
  for (const unsigned char *at = bytes; size > 0; size--, at++) hash = (hash ^ *at) * 0x01000193u;
  return hash;
}

static tt_status check_known(const tt_draft *draft, const char *path, const uint32_t *known,
                             int count, tt_error *error) {
  char *bytes = NULL;
  size_t size = 0;
  tt_status status = tt_draft_file_read(draft->folder, path, &bytes, &size, error);
  if (status != TT_OK && status != TT_NOT_FOUND) return status;
  /* A page that reads a text does not see its byte order mark. */
  const size_t mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  const uint32_t present = status == TT_OK ? tt_draft_text_hash(bytes + mark, size - mark) : 0;
  free(bytes);
  for (int i = 0; i < count; i++)
    if (known[i] == present) return TT_OK;
  return tt_fail(error, TT_STALE, "%s was changed since it was looked at", path);
}

tt_status tt_drafts_write_over(tt_drafts *drafts, const tt_draft *draft, const char *path,
                               const void *bytes, size_t size, const uint32_t *known, int count,
                               uint64_t *revision, tt_draft_author *author, tt_error *error) {
  *revision = 0;
  pthread_mutex_lock(&drafts->files);
  tt_status status = check_file(draft, path, author, error);
  if (status == TT_OK) status = check_known(draft, path, known, count, error);
  if (status == TT_OK) status = write_over(draft, path, bytes, size, revision, error);
  pthread_mutex_unlock(&drafts->files);
  return status;
}

tt_status tt_drafts_unlink(tt_drafts *drafts, const tt_draft *draft, const char *path,
                           tt_draft_author *author, tt_error *error) {
  pthread_mutex_lock(&drafts->files);
  tt_status status = check_file(draft, path, author, error);
  if (status == TT_OK) status = tt_draft_file_remove(draft->folder, path, error);
  pthread_mutex_unlock(&drafts->files);
  return status;
}

/* --- looking --- */

static tt_draft_look *known_look(tt_drafts *drafts, const tt_draft *draft, uint64_t revision) {
  for (int i = 0; i < LOOKS; i++) {
    tt_draft_look *look = drafts->looks[i].look;
    if (look && strcmp(drafts->looks[i].id, draft->id) == 0 && look->revision == revision)
      return look;
  }
  return NULL;
}

static void keep_look(tt_drafts *drafts, const tt_draft *draft, tt_draft_look *look) {
  int place = -1;
  for (int i = 0; i < LOOKS; i++)
    if (strcmp(drafts->looks[i].id, draft->id) == 0) place = i;
  if (place < 0) place = drafts->next++ % LOOKS;
  tt_draft_look_unref(drafts->looks[place].look);
  drafts->looks[place].look = look;
  memcpy(drafts->looks[place].id, draft->id, TT_DRAFT_ID);
}

static tt_status look_anew(tt_drafts *drafts, const tt_draft *draft, const tt_draft_files *files,
                           tt_draft_look **look, tt_error *error) {
  *look = tt_draft_look_new();
  if (!*look) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = tt_draft_check(drafts->maker, draft->folder, draft->main, files, *look, error);
  if (status == TT_OK)
    keep_look(drafts, draft, *look);
  else
    tt_draft_look_unref(*look);
  return status;
}

tt_status tt_drafts_look(tt_drafts *drafts, const tt_draft *draft, tt_draft_look **look,
                         tt_error *error) {
  tt_draft_files files;
  tt_draft_look *found = NULL;
  pthread_mutex_lock(&drafts->checks);
  tt_status status = tt_draft_files_list(draft->folder, &files, error);
  if (status == TT_OK && !(found = known_look(drafts, draft, files.revision)))
    status = look_anew(drafts, draft, &files, &found, error);
  if (status == TT_OK) *look = tt_draft_look_ref(found);
  tt_draft_files_free(&files);
  pthread_mutex_unlock(&drafts->checks);
  return status;
}

/* --- saving --- */

static tt_status copy_file(const tt_draft *draft, const char *path, const char *target,
                           const char *as, tt_error *error) {
  char *bytes, whole[1200];
  size_t size;
  snprintf(whole, sizeof whole, "%s/%s", target, as);
  TT_TRY(tt_draft_file_read(draft->folder, path, &bytes, &size, error));
  tt_status status = tt_scene_file_write(whole, bytes, size, error);
  free(bytes);
  return status;
}

/* The scene's file is called after the new name. */
static tt_status copy_all(const tt_draft *draft, const char *target, const char *name,
                          tt_error *error) {
  char main[TT_DRAFT_MOST_NAME + 8];
  tt_draft_files files;
  snprintf(main, sizeof main, "%s.yaml", name);
  TT_TRY(tt_draft_files_list(draft->folder, &files, error));
  tt_status status =
      files.more ? tt_fail(error, TT_INVALID, "the draft has more than %d files, which none may",
                           TT_DRAFT_MOST_FILES)
                 : TT_OK;
  for (int i = 0; i < files.count && status == TT_OK; i++) {
    const char *path = files.items[i].path;
    const bool is_main = strcmp(path, draft->main) == 0;
    if (!is_main && strcmp(path, main) == 0)
      status =
          tt_fail(error, TT_INVALID, "the draft has another file '%s'; take another name", main);
    else
      status = copy_file(draft, path, target, is_main ? main : path, error);
  }
  tt_draft_files_free(&files);
  return status;
}

/* In one step, where the file system knows that. */
static bool exchange(const char *made, const char *target) {
  char old[640];
  if (renameat2(AT_FDCWD, made, AT_FDCWD, target, RENAME_EXCHANGE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  snprintf(old, sizeof old, "%s.old", made);
  tt_draft_folder_remove(old, NULL);
  return rename(target, old) == 0 && rename(made, target) == 0 && rename(old, made) == 0;
}

/* The whole new folder takes the place of the old one; `made` is the old one then. */
static tt_status put_in_place(const char *made, const char *target, bool replace, tt_error *error) {
  bool exchanged = replace && exchange(made, target);
  if (!exchanged && replace && errno != ENOENT)
    return tt_fail(error, TT_FAILED, "%s: can't be replaced: %s", target, strerror(errno));
  if (!exchanged && rename(made, target) != 0)
    return tt_fail(error, TT_FAILED, "%s: can't write here: %s", target, strerror(errno));
  if (exchanged) tt_draft_folder_remove(made, NULL);
  return TT_OK;
}

/* Scenes that come with Tether are found behind those of one's own, those of $TETHER_DATA before them. */
static tt_status check_others(const char *name, bool replace, bool *taken, tt_error *error) {
  char *found, real[PATH_MAX];
  if (tt_data_find(&tt_data_scene, name, NULL, name, &found, NULL) != TT_OK) return TT_OK;
  const bool known = realpath(found, real) != NULL, along = known && tt_data_comes_along(real);
  free(found);
  if (!known) return TT_OK;
  if (!along)
    return tt_fail(error, TT_INVALID, "%s would be found before it; take another name", real);
  *taken = !replace;
  return replace ? TT_OK
                 : tt_fail(error, TT_FULL,
                           "a scene '%s' comes with Tether already; yours would run in its place",
                           name);
}

/* Whether the name is free, or what has it may be replaced. */
static tt_status check_free(const char *target, const char *name, bool replace, bool *taken,
                            tt_error *error) {
  char file[640];
  snprintf(file, sizeof file, "%s.yaml", target); /* which would be found first */
  if (access(file, F_OK) == 0)
    return tt_fail(error, TT_INVALID,
                   "%s was written by hand, and is not replaced; take another name", file);
  if (access(target, F_OK) != 0) return check_others(name, replace, taken, error);
  *taken = !replace;
  return replace ? TT_OK : tt_fail(error, TT_FULL, "there is a scene '%s' already", name);
}

/* Whoever may not administer replaces or deletes no scene that concerns the machine or may have a token. `done`: "replaced". */
static tt_status check_lost(const char *target, const char *name, const char *done, bool *denied,
                            tt_error *error) {
  char main[700];
  tt_draft_files files;
  tt_error why = {""};
  if (access(target, F_OK) != 0 && errno == ENOENT) return TT_OK;
  TT_TRY(tt_draft_files_list(target, &files, error));
  tt_status status = TT_OK;
  for (int i = 0; i < files.count && status == TT_OK; i++)
    status = check_secrets(target, files.items[i].path, denied, &why);
  tt_draft_files_free(&files);
  snprintf(main, sizeof main, "%s/%s.yaml", target, name);
  if (status == TT_OK && access(main, F_OK) == 0)
    status = tt_machine_check_file(main, denied, &why);
  return status == TT_OK
             ? TT_OK
             : tt_fail(error, status, "the scene '%s' is not %s: %s", name, done, why.text);
}

static tt_status save(const tt_draft *draft, const char *scenes, const char *name, bool replace,
                      bool administers, bool *taken, bool *denied, tt_error *error) {
  char target[560], made[600], main[700];
  snprintf(target, sizeof target, "%s/%s", scenes, name);
  snprintf(made, sizeof made, "%s/.%s.new", scenes, name);
  snprintf(main, sizeof main, "%s/%s.yaml", made, name);
  TT_TRY(check_free(target, name, replace, taken, error));
  tt_draft_folder_remove(made, NULL);
  tt_status status = copy_all(draft, made, name, error);
  /* The draft may have been written since it was looked at; the copy is ours. */
  if (status == TT_OK && !administers) status = tt_machine_check_file(main, denied, error);
  if (status == TT_OK && replace && !administers)
    status = check_lost(target, name, "replaced", denied, error);
  if (status == TT_OK) status = put_in_place(made, target, replace, error);
  if (status != TT_OK) tt_draft_folder_remove(made, NULL);
  return status;
}

tt_status tt_drafts_save(tt_drafts *drafts, const tt_draft *draft, const char *scenes,
                         const char *name, bool replace, bool administers, char path[512],
                         bool *taken, bool *denied, tt_error *error) {
  *taken = *denied = false;
  TT_TRY(check_name(name, error));
  pthread_mutex_lock(&drafts->files);
  tt_status status = save(draft, scenes, name, replace, administers, taken, denied, error);
  pthread_mutex_unlock(&drafts->files);
  if (status == TT_OK) snprintf(path, 512, "%s/%s/%s.yaml", scenes, name, name);
  return status;
}

tt_status tt_draft_saved_remove(const char *scenes, const char *name, bool administers,
                                bool *denied, tt_error *error) {
  char target[560], main[640], old[600];
  *denied = false;
  snprintf(target, sizeof target, "%s/%s", scenes, name);
  snprintf(main, sizeof main, "%s/%s.yaml", target, name);
  snprintf(old, sizeof old, "%s/.%s.old", scenes, name);
  if (!tt_draft_name_is_good(name) || access(main, F_OK) != 0)
    return tt_fail(error, TT_NOT_FOUND, "no scene '%.64s' was saved here", name);
  if (!administers) TT_TRY(check_lost(target, name, "deleted", denied, error));
  tt_draft_folder_remove(old, NULL);
  if (rename(target, old) != 0)
    return tt_fail(error, TT_FAILED, "%s: can't be deleted: %s", target, strerror(errno));
  return tt_draft_folder_remove(old, error);
}
