/* client_fuzz.c: any bytes as a name: what stands in programs is harmless in each language. */
#include "client/names.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *name = strndup((const char *)data, size), made[TT_CLIENT_NAME];
  if (!name) abort();
  tt_client_shown(name, made);
  for (const char *c = made; *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("_./:-", *c)) abort();
  if (strlen(made) >= sizeof made || strstr(made, "//")) abort();
  tt_client_identifier(name, made);
  if (!isalpha((unsigned char)*made) || strlen(made) + 4 > sizeof made) abort();
  for (const char *c = made; *c; c++)
    if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_') abort();
  if (strstr(made, "__")) abort();
  free(name);
  return 0;
}
