/* secrets.c: what of a scene's file is not for everybody who may read a run's log. */
#include "scene/machine.h"
#include "scene/scene_files.h"
#include "scene/tree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Where the walk through the events is. */
typedef struct walk {
  int depth;     /* mappings and sequences inside each other; the root is 1 */
  bool wants[3]; /* by depth, up to 2: what comes is a value */
  bool in_web;   /* of the root: the value that comes is that of `web` */
  bool is_token; /* the same of `web` */
} walk;

static bool is_text(const yaml_event_t *event, const char *text) {
  return event->type == YAML_SCALAR_EVENT && event->data.scalar.length == strlen(text) &&
         memcmp(event->data.scalar.value, text, strlen(text)) == 0;
}

/* A key, or a value of the same depth. */
static void take(walk *at, const yaml_event_t *event) {
  if (at->depth < 1 || at->depth > 2) return;
  bool *wants = &at->wants[at->depth];
  if (!*wants && at->depth == 1) at->in_web = is_text(event, "web");
  if (!*wants && at->depth == 2) at->is_token = at->in_web && is_text(event, "token");
  *wants = !*wants;
}

static bool is_token(void *context, const yaml_event_t *event) {
  walk *at = context;
  const bool found = event->type == YAML_SCALAR_EVENT && at->depth == 2 && at->wants[2] &&
                     at->in_web && at->is_token;
  switch (event->type) {
    case YAML_SCALAR_EVENT:
    case YAML_ALIAS_EVENT: take(at, event); break;
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
      take(at, event);
      if (++at->depth <= 2) at->wants[at->depth] = false;
      /* Elements of a sequence are no keys. */
      if (at->depth == 2 && event->type == YAML_SEQUENCE_START_EVENT) at->in_web = false;
      break;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: at->depth--; break;
    default: break;
  }
  return found;
}

/* Where a character stands. */
typedef struct place {
  size_t character, byte;
} place;

/* libyaml counts characters. Each that is asked for stands behind the last, so that a file is gone through once. */
static size_t byte_of(place *at, const char *bytes, size_t size, size_t character) {
  if (at->byte == 0 && size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) at->byte = 3;
  for (; at->byte < size && at->character < character; at->character++)
    for (at->byte++; at->byte < size && (bytes[at->byte] & 0xc0) == 0x80;) at->byte++;
  return at->byte;
}

/* "" of the same length, behind an anchor or a tag. */
static void blank(char *bytes, size_t from, size_t to) {
  while (from < to && strchr("&!", bytes[from])) {
    while (from < to && !strchr(" \t\r\n", bytes[from])) from++;
    while (from < to && strchr(" \t\r\n", bytes[from])) from++;
  }
  for (size_t i = from; i < to; i++)
    if (bytes[i] != '\n' && bytes[i] != '\r') bytes[i] = ' ';
  if (to - from == 1) bytes[from] = '~';
  if (to - from >= 2) bytes[from] = bytes[from + 1] = '"';
}

/* A token; "", ~ and null are none. */
static bool is_said(const yaml_event_t *event) {
  const bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  return event->data.scalar.length > 0 &&
         !(plain && (is_text(event, "~") || is_text(event, "null")));
}

/* What can't be read goes as a whole where it may have a token. Lists in lists would keep libyaml busy for minutes. */
static bool hide_unreadable(char *bytes, size_t size) {
  const bool may_have = memmem(bytes, size, "token", strlen("token"));
  if (may_have) memset(bytes, ' ', size);
  return may_have;
}

static bool is_readable(const char *bytes, size_t size) {
  tt_document *document;
  if (tt_document_parse("scene", bytes, size, &document, NULL) != TT_OK) return false;
  tt_document_free(document);
  return true;
}

/* What each event is of which `is_one` says so; whether there was one. */
static bool hide(char *bytes, size_t size, bool (*is_one)(void *context, const yaml_event_t *event),
                 void *context) {
  yaml_parser_t parser;
  yaml_event_t event;
  place at = {0};
  bool hid = false, more = true;
  char *copy = malloc(size + 1); /* is parsed while the bytes change */
  if (!copy || !yaml_parser_initialize(&parser)) {
    free(copy);
    memset(bytes, ' ', size);
    return true;
  }
  memcpy(copy, bytes, size);
  yaml_parser_set_input_string(&parser, (const unsigned char *)copy, size);
  while (more && yaml_parser_parse(&parser, &event)) {
    more = event.type != YAML_STREAM_END_EVENT;
    if (is_one(context, &event)) {
      hid = hid || is_said(&event);
      const size_t from = byte_of(&at, copy, size, event.start_mark.index);
      blank(bytes, from, byte_of(&at, copy, size, event.end_mark.index));
    }
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  if (more) memset(bytes, ' ', size); /* no memory */
  free(copy);
  return hid || more;
}

/* A token that an alias stands for (token: *it, web: *all). */
typedef struct aliased {
  const char *token;
  bool follows; /* the key */
} aliased;

static bool is_aliased(void *context, const yaml_event_t *event) {
  aliased *at = context;
  const bool follows = at->follows;
  at->follows = is_text(event, "token");
  return is_text(event, at->token) && (event->data.scalar.anchor || follows);
}

/* What the loader still finds. */
static bool hide_aliased(char *bytes, size_t size) {
  tt_document *document;
  bool hid = false;
  if (tt_document_parse("scene", bytes, size, &document, NULL) != TT_OK) return false;
  const tt_node *web = tt_node_child(document->root, "web");
  const char *token = web && web->kind == TT_NODE_MAPPING ? tt_node_child_text(web, "token") : NULL;
  if (token && *token && !tt_node_empty(tt_node_child(web, "token")))
    hid = hide(bytes, size, is_aliased, &(aliased){.token = token});
  tt_document_free(document);
  return hid;
}

/* Comments of lines in which nothing else can begin with their sign; whether one has the word. */
static bool blank_comments(char *bytes, size_t from, size_t to) {
  bool has = false;
  for (size_t i = from, end; i < to; i = end + 1) {
    for (end = i; end < to && bytes[end] != '\n' && bytes[end] != '\r';) end++;
    const char *sign = memchr(bytes + i, '#', end - i);
    if (!sign) continue;
    const size_t start = (size_t)(sign - bytes) + 1;
    has = has || tt_machine_has_word(bytes + start, end - start, true);
    memset(bytes + start, ' ', end - start);
  }
  return has;
}

/* What a sign of comments is within is none of one. */
static bool may_have_sign(const yaml_token_t *token) {
  return token->type == YAML_SCALAR_TOKEN || token->type == YAML_TAG_TOKEN;
}

/* Behind it may stand what was its value, or what is meant to be ("token: #secret"). */
static bool is_key_of_token(const yaml_token_t *token) {
  return token->type == YAML_SCALAR_TOKEN && token->data.scalar.length == strlen("token") &&
         memcmp(token->data.scalar.value, "token", strlen("token")) == 0;
}

/* The first line of a text that follows it: "| # comment". */
static size_t header_end(const char *bytes, const yaml_token_t *token, size_t from, size_t to) {
  size_t end = from;
  const bool block =
      token->type == YAML_SCALAR_TOKEN && (token->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
                                           token->data.scalar.style == YAML_FOLDED_SCALAR_STYLE);
  while (block && end < to && bytes[end] != '\n' && bytes[end] != '\r') end++;
  return end;
}

/* All of `hidden`, which is as `bytes`. */
static bool blank_all_comments(yaml_parser_t *parser, const char *bytes, char *hidden,
                               size_t size) {
  yaml_token_t token;
  place at = {0};
  size_t from = 0;
  bool has = false, more = true;
  while (more && yaml_parser_scan(parser, &token)) {
    more = token.type != YAML_STREAM_END_TOKEN;
    has = has || is_key_of_token(&token);
    if (may_have_sign(&token)) {
      const size_t start = byte_of(&at, bytes, size, token.start_mark.index);
      const size_t end = byte_of(&at, bytes, size, token.end_mark.index);
      has = blank_comments(hidden, from, header_end(bytes, &token, start, end)) || has;
      from = end;
    }
    yaml_token_delete(&token);
  }
  return blank_comments(hidden, from, size) || has;
}

/* One that was taken out stands in comments, the word perhaps in another one than its value. */
static void hide_commented(char *bytes, size_t size) {
  yaml_parser_t parser;
  char *hidden = malloc(size + 1);
  if (!hidden || !yaml_parser_initialize(&parser)) {
    free(hidden);
    memset(bytes, ' ', size);
    return;
  }
  memcpy(hidden, bytes, size);
  yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, size);
  const bool has = blank_all_comments(&parser, bytes, hidden, size);
  yaml_parser_delete(&parser);
  if (has) memcpy(bytes, hidden, size);
  free(hidden);
}

bool tt_scene_text_hide(char *bytes, size_t size) {
  if (!is_readable(bytes, size)) return hide_unreadable(bytes, size);
  const bool hid = hide(bytes, size, is_token, &(walk){0});
  const bool hid_more = hide_aliased(bytes, size) || hid;
  hide_commented(bytes, size);
  return hid_more;
}

bool tt_scene_files_hide(tt_scene_files *files, const tt_scene *scene) {
  char real[PATH_MAX];
  bool hid = false;
  if (!realpath(scene->path, real)) return false;
  for (int i = 0; i < files->count; i++)
    if (strcmp(files->files[i].path, real) == 0)
      hid = tt_scene_text_hide((char *)files->files[i].bytes, files->files[i].size);
  return hid;
}
