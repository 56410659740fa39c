/* measures.c: a model whose measures a robot's file may change: MJCF that says in comments how.
 *
 *   <!--measures width="0.7 m" mass="48.3 kg"-->        what they are in the model as it stands
 *   <geom size="0.1 0.35" pos="0 0.35 0"/> <!--set pos="0 {width/2} 0"-->
 *
 * A comment that begins with `set` holds attributes of the element before it, or around it where it is the first thing
 * inside; {…} is a formula of measures, numbers, + - * / and brackets. Everybody else sees plain MJCF. An attribute is
 * set only if a measure in its formulas differs from the model's own, so an unchanged model stays as it was, bit for bit.
 *
 * The unit says of what kind a measure is, and what it may become follows from that. One without a unit is a number in SI and may
 * become any: models and kept logs from before there were units have those.
 */
#include "base/nearest.h"
#include "engine/mujoco/physics_internal.h"

#include <libxml/parser.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MEASURES 64
#define NAME_BYTES 64
#define TEXT_BYTES 512
#define DEEPEST 32
#define SAME 1e-9 /* of a value: units are converted on the way */

/** A measure of the model. */
typedef struct own_measure {
  char name[NAME_BYTES];
  double value;
  tt_dimension dimension; /**< TT_DIMENSION_COUNT: it has no unit */
  bool changed;
} own_measure;

typedef struct measuring {
  const char *file;
  own_measure own[MOST_MEASURES];
  int count;
  int set; /**< attributes that were changed */
  tt_error *error;
} measuring;

/* --- formulas --- */

typedef struct formula {
  const measuring *of;
  const char *at;
  int depth;
  bool changed; /**< it names a measure that differs from the model's own */
  bool wrong;
  char unknown[NAME_BYTES]; /**< what it names and there is not */
} formula;

static void skip_blanks(formula *f) {
  while (*f->at == ' ') f->at++;
}

static bool take(formula *f, char c) {
  skip_blanks(f);
  if (*f->at != c) return false;
  f->at++;
  return true;
}

static double read_sum(formula *f);

static double read_name(formula *f) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  size_t size = strspn(f->at, letters);
  for (int i = 0; i < f->of->count; i++) {
    const own_measure *own = &f->of->own[i];
    if (strlen(own->name) != size || strncmp(own->name, f->at, size) != 0) continue;
    f->at += size;
    f->changed = f->changed || own->changed;
    return own->value;
  }
  if (size > 0) snprintf(f->unknown, sizeof f->unknown, "%.*s", (int)size, f->at);
  f->wrong = true;
  return 0;
}

static double read_factor(formula *f) {
  if (++f->depth > DEEPEST) f->wrong = true;
  if (f->wrong) return 0;
  double value;
  char *end;
  if (take(f, '-')) {
    value = -read_factor(f);
  } else if (take(f, '(')) {
    value = read_sum(f);
    if (!take(f, ')')) f->wrong = true;
  } else if (strchr("0123456789.", *f->at) && *f->at) {
    value = strtod(f->at, &end);
    f->wrong = f->wrong || end == f->at;
    f->at = end;
  } else {
    value = read_name(f);
  }
  f->depth--;
  return value;
}

static double read_product(formula *f) {
  double value = read_factor(f);
  while (!f->wrong) {
    if (take(f, '*'))
      value *= read_factor(f);
    else if (take(f, '/'))
      value /= read_factor(f);
    else
      return value;
  }
  return 0;
}

static double read_sum(formula *f) {
  double value = read_product(f);
  while (!f->wrong) {
    if (take(f, '+'))
      value += read_product(f);
    else if (take(f, '-'))
      value -= read_product(f);
    else
      return value;
  }
  return 0;
}

/** Writes `pattern` with its formulas worked out; `*changed`: one of them has a changed measure in it. */
static tt_status work_out(measuring *of, int line, const char *pattern, char text[TEXT_BYTES],
                          bool *changed) {
  size_t used = 0;
  *changed = false;
  for (const char *c = pattern; *c;) {
    if (used + 32 > TEXT_BYTES)
      return tt_fail(of->error, TT_INVALID, "%s:%d: set: '%s' is too long", of->file, line,
                     pattern);
    if (*c != '{') {
      text[used++] = *c++;
      continue;
    }
    formula f = {.of = of, .at = c + 1};
    double value = read_sum(&f);
    if (!take(&f, '}')) f.wrong = true;
    if (*f.unknown)
      return tt_fail(of->error, TT_INVALID, "%s:%d: set: the model declares no measure '%s'",
                     of->file, line, f.unknown);
    if (f.wrong || !isfinite(value))
      return tt_fail(of->error, TT_INVALID, "%s:%d: set: '%s' can't be worked out", of->file, line,
                     pattern);
    used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%.17g", value);
    c = f.at;
    *changed = *changed || f.changed;
  }
  text[used] = '\0';
  return TT_OK;
}

/* --- comments --- */

/** The attributes in a comment that begins with `word`, as an element of their own that the caller frees; NULL: it is
 *  another comment, or no attributes. */
static xmlDoc *attributes_of(const xmlNode *comment, const char *word) {
  const char *text = (const char *)comment->content;
  size_t size = strlen(word);
  if (comment->type != XML_COMMENT_NODE || !text || strncmp(text, word, size) != 0) return NULL;
  if (text[size] != ' ' && text[size] != '\n') return NULL;
  char *element;
  if (asprintf(&element, "<set %s/>", text + size) < 0) return NULL;
  xmlDoc *made = xmlReadMemory(element, (int)strlen(element), NULL, NULL,
                               XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  free(element);
  return made;
}

/** A number in SI, or one with a unit, which tells the dimension. */
static bool read_own(const char *text, own_measure *own) {
  char *end;
  own->dimension = TT_DIMENSION_COUNT;
  own->value = strtod(text, &end);
  if (end == text || !isfinite(own->value)) return false;
  if (!*end) return true;
  const tt_unit *unit = tt_unit_find(end + strspn(end, " "));
  if (!unit) return false;
  own->dimension = unit->dimension;
  return tt_quantity_parse(text, unit->dimension, &own->value);
}

static tt_status declare(measuring *of, const xmlDoc *attributes, int line) {
  for (const xmlAttr *a = xmlDocGetRootElement(attributes)->properties; a; a = a->next) {
    const char *name = (const char *)a->name;
    const char *text = physics_attribute(xmlDocGetRootElement(attributes), name);
    own_measure own = {.changed = false};
    if (of->count == MOST_MEASURES || strlen(name) >= NAME_BYTES || !read_own(text, &own))
      return tt_fail(
          of->error, TT_INVALID,
          "%s:%d: measures: %s=\"%s\" is none; give at most %d numbers, each with a unit "
          "(docs/scene.md lists them) and a short name",
          of->file, line, name, text, MOST_MEASURES);
    snprintf(own.name, sizeof own.name, "%s", name);
    of->own[of->count++] = own;
  }
  return TT_OK;
}

static tt_status set_attributes(measuring *of, const xmlDoc *attributes, xmlNode *target,
                                int line) {
  for (const xmlAttr *a = xmlDocGetRootElement(attributes)->properties; a; a = a->next) {
    char text[TEXT_BYTES];
    bool changed;
    TT_TRY(work_out(of, line,
                    physics_attribute(xmlDocGetRootElement(attributes), (const char *)a->name),
                    text, &changed));
    if (!changed) continue;
    xmlSetProp(target, a->name, BAD_CAST text);
    of->set++;
  }
  return TT_OK;
}

/** The element that a comment speaks of. */
static xmlNode *target_of(xmlNode *comment) {
  xmlNode *before = comment->prev;
  while (before && before->type != XML_ELEMENT_NODE) before = before->prev;
  return before ? before : comment->parent;
}

/** Does `work` with the attributes of every comment that begins with `word`. */
static tt_status visit(measuring *of, xmlNode *node, const char *word) {
  for (; node; node = node->next) {
    xmlDoc *attributes = attributes_of(node, word);
    if (attributes) {
      int line = (int)xmlGetLineNo(node);
      tt_status status = strcmp(word, "set") == 0
                             ? set_attributes(of, attributes, target_of(node), line)
                             : declare(of, attributes, line);
      xmlFreeDoc(attributes);
      TT_TRY(status);
    }
    if (node->type == XML_ELEMENT_NODE) TT_TRY(visit(of, node->children, word));
  }
  return TT_OK;
}

/* --- the whole --- */

/** Of one whose unit says what it is: its dimension, and its sign, where the model's own is above 0. */
static tt_status check_kind(const measuring *of, const own_measure *own,
                            const tt_engine_measure *wanted) {
  if (own->dimension == TT_DIMENSION_COUNT) return TT_OK;
  const char *unit = tt_unit_si(own->dimension)->name;
  if (wanted->dimension != TT_DIMENSION_COUNT && wanted->dimension != own->dimension)
    return tt_fail(of->error, TT_INVALID, "%s.value: %s has '%s' in %s; give one of the units %s",
                   wanted->where, of->file, own->name, unit, tt_unit_names(own->dimension));
  if (own->value <= 0 || wanted->value > 0) return TT_OK;
  return tt_fail(of->error, TT_INVALID, "%s.value: '%s' is %.9g %s; give more than 0",
                 wanted->where, own->name, wanted->value, unit);
}

static tt_status change(measuring *of, const tt_engine_measure *wanted) {
  tt_nearest nearest = tt_nearest_start(wanted->name);
  for (int i = 0; i < of->count; i++) {
    own_measure *own = &of->own[i];
    tt_nearest_offer(&nearest, own->name);
    if (strcmp(own->name, wanted->name) != 0) continue;
    TT_TRY(check_kind(of, own, wanted));
    if (fabs(wanted->value - own->value) <= SAME * fabs(own->value)) return TT_OK;
    own->value = wanted->value;
    own->changed = true;
    return TT_OK;
  }
  return tt_fail(of->error, TT_INVALID, "%s: %s has no measure '%s'%s", wanted->where, of->file,
                 wanted->name, tt_nearest_hint(&nearest));
}

static tt_status measure(measuring *of, xmlDoc *document, const tt_engine_measure *measures,
                         int count) {
  xmlNode *root = xmlDocGetRootElement(document);
  TT_TRY(visit(of, root, "measures"));
  for (int i = 0; i < count; i++) TT_TRY(change(of, &measures[i]));
  return visit(of, root, "set");
}

tt_status physics_measure(const char *file, const tt_engine_measure *measures, int count,
                          char **text, tt_error *error) {
  *text = NULL;
  if (count == 0) return TT_OK;
  xmlDoc *document = xmlReadFile(
      file, NULL, XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  if (!document || !xmlDocGetRootElement(document)) {
    xmlFreeDoc(document);
    return TT_OK; /* what compiles it says what is wrong with it */
  }
  measuring of = {.file = file, .error = error};
  tt_status status = measure(&of, document, measures, count);
  if (status == TT_OK && of.set > 0) {
    xmlChar *dumped = NULL;
    int size;
    xmlDocDumpMemory(document, &dumped, &size);
    *text = dumped ? strdup((const char *)dumped) : NULL;
    xmlFree(dumped);
    if (!*text) status = tt_fail(error, TT_NOMEM, "%s: out of memory", file);
  }
  xmlFreeDoc(document);
  return status;
}
