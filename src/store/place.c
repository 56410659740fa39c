/* place.c */
#include "store/place.h"

#include "store/list.h"

#include <string.h>

/** Options that say where a database is, as libpq has them. */
static bool says_where(const char *option, size_t size) {
  static const char *const keys[] = {"host=", "hostaddr=", "port=", "dbname="};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (size > strlen(keys[i]) && !strncmp(option, keys[i], strlen(keys[i]))) return true;
  return false;
}

static void print_options(tt_list *text, const char *options) {
  char before = '?';
  while (*options) {
    const size_t size = strcspn(options, "&");
    if (says_where(options, size)) {
      tt_list_print(text, "%c%.*s", before, (int)size, options);
      before = '&';
    }
    options += size + (options[size] == '&');
  }
}

char *tt_store_place(const char *kind, const char *url) {
  tt_list text = TT_LIST(char, NULL);
  const char *hosts = strstr(url, "://");
  hosts = hosts ? hosts + 3 : url;
  const char *options = hosts + strcspn(hosts, "?");
  const char *at = memrchr(hosts, '@', (size_t)(options - hosts));
  if (at) hosts = at + 1;
  const char *name = memchr(hosts, '/', (size_t)(options - hosts));
  if (!name) name = options;
  const char *end = options;
  while (end > name && end[-1] == '/') end--;
  tt_list_print(&text, "%s://%.*s/%.*s", kind, (int)(name - hosts), hosts,
                end > name ? (int)(end - name - 1) : 0, name + 1);
  if (*options) print_options(&text, options + 1);
  if (!text.failed) return text.data;
  tt_list_free(&text);
  return NULL;
}

/** A place in its parts; what stands before the hosts is the kind. */
typedef struct parts {
  const char *hosts, *rest;
} parts;

static parts parts_of(const char *place) {
  const char *hosts = strstr(place, "://");
  hosts = hosts ? hosts + 3 : place;
  return (parts){hosts, hosts + strcspn(hosts, "/?")};
}

static bool has_host(parts of, const char *host, size_t size) {
  for (const char *next = of.hosts; next <= of.rest;) {
    const size_t length = strcspn(next, ",/?");
    if (length == size && !strncmp(next, host, size)) return true;
    next += length + 1;
  }
  return false;
}

bool tt_store_is_place(const char *place, const char *other) {
  const parts a = parts_of(place), b = parts_of(other);
  const size_t kind = (size_t)(a.hosts - place);
  if (kind != (size_t)(b.hosts - other) || strncmp(place, other, kind) || strcmp(a.rest, b.rest))
    return false;
  for (const char *host = a.hosts; host <= a.rest;) {
    const size_t size = strcspn(host, ",/?");
    if (has_host(b, host, size)) return true;
    host += size + 1;
  }
  return false;
}
