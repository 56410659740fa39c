#include "client/client.h"

#include "client/names.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tt_client_languages[] = {"python", "java", "c", "cpp", NULL};

#define MOST_LISTS 8
#define MOST_ENTRIES 256 /* of a list */
#define SHOWN 4          /* of the entries that a program prints now and then */
#define MOST_KEY 64

typedef struct entry {
  char id[TT_CLIENT_NAME], name[TT_CLIENT_NAME], value[TT_CLIENT_NAME + 16];
  const char *unit; /* static */
  int index;
  bool named; /* neither `none` nor `stamp` */
} entry;

typedef struct list {
  const char *key;
  bool of_commands;
  entry *entries;
  int count;
} list;

typedef struct maker {
  const tt_wire *wire;
  const tt_scene_wire *from;
  char scene[TT_CLIENT_NAME], wire_name[TT_CLIENT_NAME], stem[TT_CLIENT_NAME + 16],
      class_name[TT_CLIENT_NAME + 16], file[TT_CLIENT_NAME + 24], period[32];
  list lists[MOST_LISTS];
  int list_count;
  FILE *out;
  tt_error *error;
} maker;

/* --- what stands in it --- */

/* As plain keyboards have it. */
static const char *unit_of(const tt_wire *wire, const tt_name_entry *from, bool command) {
  tt_signal signal;
  int index;
  const tt_unit *unit = from->unit ? tt_unit_find(from->unit) : NULL;
  if (!unit && command &&
      tt_names_find_command(wire->names, from->name, wire->robot, "", &index, NULL) == TT_OK)
    unit = tt_unit_si(wire->model->commands[index].dimension);
  if (!unit && !command &&
      tt_names_find_signal(wire->names, from->name, wire->robot, "", &signal, NULL) == TT_OK)
    unit = tt_unit_si(signal.dimension);
  return unit ? unit->ascii : "";
}

/* Two names may give one identifier. */
static void make_own(const list *in, entry *made) {
  const size_t size = strlen(made->id);
  for (int number = 2, i = 0; i < in->count; i++) {
    if (!in->entries[i].named || strcmp(in->entries[i].id, made->id) != 0) continue;
    snprintf(made->id + size, sizeof made->id - size, "_%d", number++);
    i = -1;
  }
}

static void add_entry(maker *by, list *to, const tt_name_entry *from) {
  if (to->count == MOST_ENTRIES) return;
  entry *made = &to->entries[to->count];
  const bool stamp = to->of_commands && strcmp(from->name, "stamp") == 0;
  made->index = to->count;
  made->named = !stamp && strcmp(from->name, "none") != 0;
  tt_client_shown(from->name, made->name);
  tt_client_identifier(from->name, made->id);
  made->unit = made->named ? unit_of(by->wire, from, to->of_commands) : "";
  if (made->named) make_own(to, made);
  snprintf(made->value, sizeof made->value, "%s%s",
           stamp         ? "stamp"
           : made->named ? "commands."
                         : "0",
           made->named ? made->id : "");
  to->count++;
}

/* A joint, of which the velocity is commanded. */
static void add_joint(maker *by, list *to, const char *name) {
  char position[256];
  snprintf(position, sizeof position, "%s.position", name);
  add_entry(by, to, &(tt_name_entry){.name = (char *)name});
  to->entries[to->count - 1].unit = unit_of(by->wire, &(tt_name_entry){.name = position}, false);
}

/* The joints that the configuration lists, or else all that the wire commands, in that order. */
static void add_joints(maker *by, list *to, char *const *names, unsigned count) {
  for (unsigned i = 0; i < count; i++) add_joint(by, to, names[i]);
  for (int i = 0; !count && i < by->wire->owned_count; i++) {
    char name[256];
    const char *command = tt_names_command(by->wire->names, by->wire->owned[i]),
               *dot = strrchr(command, '.'), *slash = strchr(command, '/');
    if (slash && by->wire->robot != TT_NO_ROBOT) command = slash + 1;
    snprintf(name, sizeof name, "%.*s", dot ? (int)(dot - command) : 0, command);
    add_joint(by, to, name);
  }
}

static bool is_command_list(const tt_wire *wire, const char *key) {
  for (const char *const *one = wire->ops->command_lists; one && *one; one++)
    if (strcmp(*one, key) == 0) return true;
  return false;
}

/* The lists of names in the wire's configuration. */
static tt_status add_lists(maker *by) {
  const char *config = by->from->config;
  for (const cyaml_schema_field_t *field = by->from->schema->fields; field->key; field++) {
    const cyaml_schema_value_t *schema = field->value.sequence.entry;
    const bool joints = schema == &tt_string_schema && strcmp(field->key, "joints") == 0;
    if (field->value.type != CYAML_SEQUENCE || field->count_size != sizeof(unsigned) ||
        (schema != &tt_name_entry_schema && !joints) || by->list_count == MOST_LISTS)
      continue;
    const void *items = *(const void *const *)(config + field->data_offset);
    const unsigned given = *(const unsigned *)(config + field->count_offset),
                   count = given < MOST_ENTRIES ? given : MOST_ENTRIES;
    list *made = &by->lists[by->list_count];
    *made = (list){.key = field->key, .of_commands = is_command_list(by->wire, field->key)};
    made->entries = calloc(MOST_ENTRIES, sizeof *made->entries);
    if (!made->entries) return tt_fail(by->error, TT_NOMEM, "out of memory");
    by->list_count++;
    if (joints) add_joints(by, made, items, count);
    for (unsigned i = 0; !joints && i < count; i++)
      add_entry(by, made, (const tt_name_entry *)items + i);
  }
  return TT_OK;
}

static bool has_entries(const maker *by) {
  bool found = false;
  for (int i = 0; i < by->list_count; i++)
    for (int k = 0; k < by->lists[i].count; k++) found = found || by->lists[i].entries[k].named;
  return found;
}

static const list *find_list(const maker *by, const char *key) {
  for (int i = 0; i < by->list_count; i++)
    if (strcmp(by->lists[i].key, key) == 0) return &by->lists[i];
  return NULL;
}

/* A text of the configuration; NULL: there is none of that key. */
static const char *text_of(const maker *by, const char *key) {
  const char *config = by->from->config;
  for (const cyaml_schema_field_t *field = by->from->schema->fields; field->key; field++)
    if (field->value.type == CYAML_STRING && strcmp(field->key, key) == 0)
      return *(char *const *)(config + field->data_offset);
  return NULL;
}

/* "[ADDRESS]" of IPv6 and nothing else, which tt_client_shown() would take the brackets from. */
static bool is_ipv6(const char *host, size_t size) {
  char text[INET6_ADDRSTRLEN];
  struct in6_addr found;
  if (size < 2 || size - 2 >= sizeof text || host[0] != '[' || host[size - 1] != ']') return false;
  memcpy(text, host + 1, size - 2);
  text[size - 2] = 0;
  return inet_pton(AF_INET6, text, &found) == 1;
}

/* "HOST" or "PORT" of "HOST:PORT". All addresses of a machine are reached at its own. */
static void put_part(const maker *by, const char *address, bool port) {
  char shown[TT_CLIENT_NAME];
  const char *colon = strrchr(address, ':');
  tt_client_shown(port ? (colon ? colon + 1 : "0") : address, shown);
  if (!port && colon) shown[colon - address < TT_CLIENT_NAME ? colon - address : 0] = 0;
  if (!port && colon && is_ipv6(address, (size_t)(colon - address)))
    snprintf(shown, sizeof shown, "%.*s", (int)(colon - address), address);
  if (!port && (!*shown || !strcmp(shown, "0.0.0.0") || !strcmp(shown, "[::]")))
    strcpy(shown, "127.0.0.1");
  fputs(shown, by->out);
}

/* --- the pattern --- */

static tt_status wrong(const maker *by, const char *what) {
  return tt_fail(by->error, TT_FAILED, "the pattern of %s has a wrong '%s'",
                 by->wire->ops->protocol, what);
}

static const char *fact(const maker *by, const char *key) {
  const struct {
    const char *key, *value;
  } facts[] = {{"scene", by->scene}, {"wire", by->wire_name},   {"file", by->file},
               {"stem", by->stem},   {"class", by->class_name}, {"period", by->period}};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    if (strcmp(facts[i].key, key) == 0) return facts[i].value;
  return NULL;
}

static bool put_of_entry(const maker *by, const char *key, const entry *of) {
  if (!of) return false;
  if (!strcmp(key, ".id")) return fputs(of->id, by->out) >= 0;
  if (!strcmp(key, ".name")) return fputs(of->name, by->out) >= 0;
  if (!strcmp(key, ".unit")) return fputs(of->unit, by->out) >= 0;
  if (!strcmp(key, ".value")) return fputs(of->value, by->out) >= 0;
  return !strcmp(key, ".index") && fprintf(by->out, "%d", of->index) > 0;
}

static tt_status put_key(const maker *by, const char *key, const entry *of) {
  char before[MOST_KEY], shown[TT_CLIENT_NAME];
  const char *value = fact(by, key), *dot = strrchr(key, '.'), *text = text_of(by, key);
  const list *found;
  if (*key == '.') return put_of_entry(by, key, of) ? TT_OK : wrong(by, key);
  if (value) return fputs(value, by->out), TT_OK;
  if (text) {
    tt_client_shown(text, shown);
    return fputs(shown, by->out), TT_OK;
  }
  if (!dot) return wrong(by, key);
  snprintf(before, sizeof before, "%.*s", (int)(dot - key), key);
  if (!strcmp(dot, ".count") && (found = find_list(by, before)))
    return fprintf(by->out, "%d", found->count), TT_OK;
  const bool port = !strcmp(dot, ".port");
  if ((!port && strcmp(dot, ".host") != 0) || !(text = text_of(by, before))) return wrong(by, key);
  put_part(by, text, port);
  return TT_OK;
}

/* A line, or the rest of one, with its end. */
static tt_status put_line(const maker *by, const char *line, size_t size, const entry *of) {
  for (size_t i = 0; i < size; i++) {
    const char *end = line[i] == '@' ? memchr(line + i + 1, '@', size - i - 1) : NULL;
    if (!end) {
      fputc(line[i], by->out);
      continue;
    }
    char key[MOST_KEY];
    snprintf(key, sizeof key, "%.*s", (int)(end - line - (long)i - 1), line + i + 1);
    TT_TRY(put_key(by, key, of));
    i = (size_t)(end - line);
  }
  return TT_OK;
}

/* What is between the '@' of "@WORD WHAT@", where the line begins with that; its size, 0: it doesn't. */
static size_t order(const char *line, size_t size, const char *word, char what[MOST_KEY]) {
  const size_t length = strlen(word);
  if (size < length + 3 || *line != '@' || strncmp(line + 1, word, length) != 0 ||
      line[length + 1] != ' ')
    return 0;
  const char *end = memchr(line + length + 2, '@', size - length - 2);
  if (!end) return 0;
  snprintf(what, MOST_KEY, "%.*s", (int)(end - line) - (int)length - 2, line + length + 2);
  return (size_t)(end - line) + 1;
}

static tt_status put_each(const maker *by, char what[MOST_KEY], const char *line, size_t size) {
  char *dot = strchr(what, '.');
  const char *which = dot ? dot + 1 : "";
  if (dot) *dot = 0;
  const list *found = find_list(by, what);
  if (!found) return wrong(by, what);
  for (int i = 0, put = 0; i < found->count; i++) {
    if (*which && !found->entries[i].named) continue;
    if (!strcmp(which, "shown") && put++ == SHOWN) break;
    TT_TRY(put_line(by, line, size, &found->entries[i]));
  }
  return TT_OK;
}

static tt_status holds(const maker *by, char what[MOST_KEY], bool *result) {
  char *equals = strchr(what, '=');
  if (equals) *equals = 0;
  const char *text = equals ? text_of(by, what) : NULL;
  const list *found = equals ? NULL : find_list(by, what);
  if (!text && !found) return wrong(by, what);
  *result = text && strcmp(text, equals + 1) == 0;
  for (int i = 0; found && i < found->count; i++) *result = *result || found->entries[i].named;
  return TT_OK;
}

static tt_status put_pattern(const maker *by, const char *pattern) {
  int deep = 0,
      skipped = 0; /* within how many conditions, and from which on nothing is put; 0: all is */
  while (*pattern) {
    char what[MOST_KEY];
    const char *end = strchr(pattern, '\n');
    const size_t size = end ? (size_t)(end - pattern) + 1 : strlen(pattern);
    const bool only = order(pattern, size, "if", what),
               unless = order(pattern, size, "unless", what);
    size_t used;
    bool good = false;
    if (only || unless) {
      TT_TRY(holds(by, what, &good));
      deep++;
      if (!skipped && good != only) skipped = deep;
    } else if (strncmp(pattern, "@end@", 5) == 0) {
      if (skipped == deep) skipped = 0;
      deep--;
    } else if (!skipped && (used = order(pattern, size, "each", what))) {
      TT_TRY(put_each(by, what, pattern + used, size - used));
    } else if (!skipped) {
      TT_TRY(put_line(by, pattern, size, NULL));
    }
    pattern += size;
  }
  return deep == 0 ? TT_OK : wrong(by, "@if");
}

/* --- files --- */

/* Of each language: the file, and what starts it. */
static const struct {
  const char *language, *ending, *start;
} kinds[] = {{"python", "py", "python3 @file@\n"},
             {"java", "java", "java @file@\n"},
             {"c", "c", "cc -O2 @file@ -o @stem@ -lm\n./@stem@\n"},
             {"cpp", "cpp", "c++ -O2 -std=c++17 @file@ -o @stem@\n./@stem@\n"}};

/* "drive_float_udp.py", "DriveFloatUdp.java". */
static const char *name_file(maker *by, const char *language) {
  char id[TT_CLIENT_NAME];
  size_t used = 0, kind = 0;
  while (kind + 1 < sizeof kinds / sizeof *kinds && strcmp(kinds[kind].language, language) != 0)
    kind++;
  tt_client_identifier(by->wire->name, id);
  snprintf(by->stem, sizeof by->stem, "drive_%s", id);
  for (const char *c = by->stem; *c; c++) {
    if (*c == '_') continue;
    const bool first = c == by->stem || c[-1] == '_';
    by->class_name[used++] = first ? (char)toupper((unsigned char)*c) : *c;
  }
  by->class_name[used] = 0;
  const bool java = strcmp(language, "java") == 0;
  snprintf(by->file, sizeof by->file, "%s.%s", java ? by->class_name : by->stem,
           kinds[kind].ending);
  return kinds[kind].start;
}

static tt_status write_text(maker *by, const char *pattern, char **text) {
  size_t size;
  *text = NULL;
  by->out = open_memstream(text, &size);
  if (!by->out) return tt_fail(by->error, TT_NOMEM, "out of memory");
  tt_status status = put_pattern(by, pattern);
  if (fclose(by->out) != 0 && status == TT_OK)
    status = tt_fail(by->error, TT_NOMEM, "out of memory");
  if (status != TT_OK) free(*text), *text = NULL;
  return status;
}

static const char *pattern_of(const tt_wire *wire, const char *language) {
  for (const tt_wire_client *one = wire->ops->clients; one && one->language; one++)
    if (strcmp(one->language, language) == 0) return one->pattern;
  return NULL;
}

static tt_status refuse(const tt_wire *wire, const char *language, tt_error *error) {
  char all[128] = "";
  size_t used = 0;
  for (const tt_wire_client *one = wire->ops->clients; one && one->language && used < sizeof all;
       one++)
    used +=
        (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", one->language);
  if (!used)
    return tt_fail(error, TT_NOT_FOUND,
                   "no client can be made for %s; docs/wires has its bytes, clients/ has examples",
                   wire->ops->protocol);
  return tt_fail(error, TT_NOT_FOUND, "there is no client in '%s'; there are: %s", language, all);
}

tt_status tt_client_make(const tt_scene *scene, const char *name, const tt_wire *wire,
                         const tt_scene_wire *from, const char *language, tt_client *client,
                         tt_error *error) {
  maker by = {.wire = wire, .from = from, .error = error};
  const char *pattern = pattern_of(wire, language);
  *client = (tt_client){0};
  if (!pattern) return refuse(wire, language, error);
  const char *start = name_file(&by, language);
  tt_client_shown(name, by.scene);
  tt_client_shown(wire->name, by.wire_name);
  snprintf(by.period, sizeof by.period, "%.9g",
           (double)from->period_steps * (double)scene->timestep_num / (double)scene->timestep_den);
  tt_status status = add_lists(&by);
  if (status == TT_OK && !has_entries(&by))
    status = tt_fail(error, TT_NOT_FOUND, "the lists of %s are empty: nothing is to be exchanged",
                     wire->name);
  if (status == TT_OK) status = write_text(&by, pattern, &client->text);
  if (status == TT_OK) status = write_text(&by, start, &client->start);
  if (status == TT_OK && !(client->file = strdup(by.file)))
    status = tt_fail(error, TT_NOMEM, "out of memory");
  for (int i = 0; i < by.list_count; i++) free(by.lists[i].entries);
  if (status != TT_OK) tt_client_clear(client);
  return status;
}

void tt_client_clear(tt_client *client) {
  free(client->file);
  free(client->text);
  free(client->start);
  *client = (tt_client){0};
}
