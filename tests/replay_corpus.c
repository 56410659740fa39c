/* replay_corpus.c: main() of a fuzz target in builds without libFuzzer: gives it every file of the
 * directories and files named on the command line, so that what once broke a decoder is tried in every build.
 */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads to the end of `file`; the caller frees *data, which is exactly as long as the input, so that a
 * sanitizer notices a read beyond it. */
static size_t read_all(FILE *file, uint8_t **data) {
  size_t size = 0;
  uint8_t chunk[4096];
  *data = NULL;
  for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0; size += got) {
    uint8_t *larger = realloc(*data, size + got);
    if (!larger) {
      perror("replay_corpus");
      exit(1);
    }
    memcpy(larger + size, chunk, got);
    *data = larger;
  }
  return size;
}

static void replay_file(const char *path, int *count) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  uint8_t *data;
  size_t size = read_all(file, &data);
  fclose(file);
  printf("%s\n", path);
  fflush(stdout);
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  (*count)++;
}

static void replay(const char *path, int *count) {
  struct stat status;
  if (stat(path, &status) != 0) {
    perror(path);
    exit(1);
  }
  if (!S_ISDIR(status.st_mode)) {
    replay_file(path, count);
    return;
  }
  struct dirent **entries;
  int n = scandir(path, &entries, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    char child[4096];
    snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') replay(child, count);
    free(entries[i]);
  }
  if (n >= 0) free(entries);
}

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; i++) replay(argv[i], &count);
  if (count == 0) {
    fprintf(stderr, "replay_corpus: no input found; name a directory that holds some\n");
    return 1;
  }
  printf("%d inputs replayed\n", count);
  return 0;
}
