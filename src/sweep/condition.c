/* condition.c: reads a condition by recursive descent into a few instructions for a stack of numbers. A library of expressions knows
 * neither units nor names such as red1/arm.position, and Lua can't read either without this reader in front of it.
 *
 * On the stack "no value" is NaN, of numbers and of truths alike: neither a view nor a row ever holds one, and arithmetic hands it on.
 */
#include "sweep/condition.h"

#include "base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CODE 256
#define MAX_STACK 32
#define MAX_DEPTH 32 /* of brackets and signs inside each other */
#define MAX_NAME 256
#define ANY TT_DIMENSION_COUNT /* a number without a unit: it takes that of the other side */

typedef enum operation {
  OP_NUMBER, /* pushes */
  OP_SIGNAL,
  OP_COLUMN,
  OP_IS_TEXT, /* pushes whether a column is this text */
  OP_NEGATE,
  OP_ABS,
  OP_SQRT,
  OP_TRUTH, /* of a number: it is not 0 */
  OP_NOT,
  OP_ADD, /* from here on: two become one */
  OP_SUBTRACT,
  OP_MULTIPLY,
  OP_DIVIDE,
  OP_MIN,
  OP_MAX,
  OP_LESS,
  OP_LESS_EQUAL,
  OP_GREATER,
  OP_GREATER_EQUAL,
  OP_EQUAL,
  OP_NOT_EQUAL,
  OP_AND,
  OP_OR
} operation;

typedef struct instruction {
  operation operation;
  union {
    double number;
    tt_signal signal;
    int column;
  };
  int text; /* of OP_IS_TEXT: where it begins in tt_condition.texts */
} instruction;

struct tt_condition {
  int size;
  instruction code[MAX_CODE];
  char texts[TT_CONDITION_MAX_TEXT + 1];
};

/* ---- asking ---- */

static double finite_or_nothing(double value) { return isfinite(value) ? value : NAN; }

static double compare(operation operation, double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  switch (operation) {
    case OP_LESS: return a < b;
    case OP_LESS_EQUAL: return a <= b;
    case OP_GREATER: return a > b;
    case OP_GREATER_EQUAL: return a >= b;
    case OP_EQUAL: return a == b;
    default: return a != b;
  }
}

static double combine(operation operation, double a, double b) {
  switch (operation) {
    case OP_ADD: return finite_or_nothing(a + b);
    case OP_SUBTRACT: return finite_or_nothing(a - b);
    case OP_MULTIPLY: return finite_or_nothing(a * b);
    case OP_DIVIDE: return finite_or_nothing(a / b);
    case OP_MIN: return isnan(a) || a < b ? a : b;
    case OP_MAX: return isnan(a) || a > b ? a : b;
    case OP_AND: return a == 0 || b == 0 ? 0 : isnan(a) ? a : b;
    case OP_OR: return a == 1 || b == 1 ? 1 : isnan(a) ? a : b;
    default: return compare(operation, a, b);
  }
}

static double change(operation operation, double a) {
  switch (operation) {
    case OP_NEGATE: return -a;
    case OP_ABS: return fabs(a);
    case OP_SQRT: return sqrt(a); /* of what is negative: nothing */
    case OP_TRUTH: return isnan(a) ? a : a != 0;
    default: return isnan(a) ? a : a == 0; /* OP_NOT */
  }
}

static double number_of(const tt_sweep_value *value) {
  return value->kind == TT_SWEEP_NUMBER ? value->number : NAN;
}

static double is_text(const tt_sweep_value *value, const char *text) {
  if (value->kind == TT_SWEEP_NULL) return NAN;
  return value->kind == TT_SWEEP_TEXT && strcmp(value->text, text) == 0;
}

static bool holds(const tt_condition *condition, const tt_view *view,
                  const tt_sweep_value *columns) {
  double stack[MAX_STACK + 1];
  double *top = stack; /* the first free one */
  for (const instruction *at = condition->code; at < condition->code + condition->size; at++) {
    switch (at->operation) {
      case OP_NUMBER: *top++ = at->number; break;
      case OP_SIGNAL: *top++ = tt_signal_read(&at->signal, view); break;
      case OP_COLUMN: *top++ = number_of(&columns[at->column]); break;
      case OP_IS_TEXT: *top++ = is_text(&columns[at->column], condition->texts + at->text); break;
      case OP_NEGATE:
      case OP_ABS:
      case OP_SQRT:
      case OP_TRUTH:
      case OP_NOT: top[-1] = change(at->operation, top[-1]); break;
      default: top--; top[-1] = combine(at->operation, top[-1], *top);
    }
  }
  return top[-1] == 1;
}

bool tt_condition_holds_in(const tt_condition *condition, const tt_view *view) {
  return holds(condition, view, NULL);
}

bool tt_condition_holds_for(const tt_condition *condition, const tt_sweep_value *columns) {
  return holds(condition, NULL, columns);
}

/* ---- reading: words and signs ---- */

typedef struct reader {
  const char *text, *at; /* all of it, and what is still to be read */
  const char *where;
  const tt_condition_scope *scope;
  tt_condition *condition;
  size_t texts_size;
  int stack, depth;
  tt_error *error;
} reader;

/* What a part of a condition gives. */
typedef struct operand {
  bool is_truth;
  tt_dimension dimension; /* of a number */
} operand;

static tt_status refuse(const reader *reader, const char *what) {
  if (!*reader->at)
    return tt_fail(reader->error, TT_INVALID, "%s: '%.200s', at its end: %s", reader->where,
                   reader->text, what);
  return tt_fail(reader->error, TT_INVALID, "%s: '%.200s', before '%.60s': %s", reader->where,
                 reader->text, reader->at, what);
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool goes_on(char c) { return is_word(c) || (c >= '0' && c <= '9') || c == '.'; }

static void skip_spaces(reader *reader) {
  while (*reader->at && strchr(" \t\r\n", *reader->at)) reader->at++;
}

/* The length of the name that stands here without quotes; 0: none. A sign is part of it where a name goes on behind. */
static size_t name_length(const char *at) {
  if (!is_word(*at)) return 0;
  size_t length = 1;
  while (goes_on(at[length]) ||
         (at[length] && strchr("/:-", at[length]) && goes_on(at[length + 1])))
    length++;
  return length;
}

/* Takes `sign` if it stands here. */
static bool take(reader *reader, const char *sign) {
  skip_spaces(reader);
  size_t length = strlen(sign);
  if (strncmp(reader->at, sign, length) != 0) return false;
  reader->at += length;
  return true;
}

static bool take_word(reader *reader, const char *word) {
  skip_spaces(reader);
  if (name_length(reader->at) != strlen(word)) return false;
  return take(reader, word);
}

static tt_status emit(reader *reader, instruction made) {
  if (made.operation < OP_NEGATE)
    reader->stack++;
  else if (made.operation >= OP_ADD)
    reader->stack--;
  if (reader->condition->size == MAX_CODE || reader->stack > MAX_STACK)
    return refuse(reader, "the condition is too long");
  reader->condition->code[reader->condition->size++] = made;
  return TT_OK;
}

static tt_status emit_plain(reader *reader, operation operation) {
  return emit(reader, (instruction){.operation = operation});
}

/* ---- reading: values ---- */

static tt_status find_column(const reader *reader, const char *name, instruction *made,
                             tt_dimension *dimension) {
  const tt_condition_scope *scope = reader->scope;
  tt_nearest nearest = tt_nearest_start(name);
  made->operation = OP_COLUMN;
  for (int i = 0; i < scope->column_count; i++) {
    const tt_condition_column *column = &scope->columns[i];
    if (strcmp(column->name, name) == 0) {
      const tt_unit *unit = *column->unit ? tt_unit_find(column->unit) : NULL;
      *dimension = unit ? unit->dimension : ANY;
      made->column = i;
      return TT_OK;
    }
    tt_nearest_offer(&nearest, column->name);
  }
  return tt_fail(reader->error, TT_INVALID, "%s: no axis and no metric is called '%s'%s",
                 reader->where, name, tt_nearest_hint(&nearest));
}

static tt_status find_name(const reader *reader, const char *name, instruction *made,
                           tt_dimension *dimension) {
  *dimension = ANY;
  if (!reader->scope) return TT_OK;
  if (!reader->scope->names) return find_column(reader, name, made, dimension);
  made->operation = OP_SIGNAL;
  TT_TRY(tt_names_find_signal(reader->scope->names, name, TT_NO_ROBOT, reader->where, &made->signal,
                              reader->error));
  *dimension = made->signal.dimension;
  return TT_OK;
}

static tt_status emit_name(reader *reader, const char *begin, size_t length, operand *found) {
  char name[MAX_NAME];
  instruction made = {.operation = OP_NUMBER};
  if (length == 0 || length >= sizeof name)
    return refuse(reader, "a name is too short or too long");
  snprintf(name, sizeof name, "%.*s", (int)length, begin);
  tt_status status = find_name(reader, name, &made, &found->dimension);
  if (status != TT_OK) {
    size_t used = reader->error ? strlen(reader->error->text) : 0;
    if (used && strpbrk(name, "-/"))
      snprintf(reader->error->text + used, sizeof reader->error->text - used,
               " (a minus or a division needs spaces around it)");
    return status;
  }
  return emit(reader, made);
}

/* "body with spaces.x" */
static tt_status read_quoted(reader *reader, operand *found) {
  const char *begin = reader->at + 1, *end = strchr(begin, '"');
  if (!end) return refuse(reader, "the second \" is missing of a name");
  TT_TRY(emit_name(reader, begin, (size_t)(end - begin), found));
  reader->at = end + 1;
  return TT_OK;
}

static bool is_keyword(const char *at, size_t length) {
  return (length == 3 && (strncmp(at, "and", 3) == 0 || strncmp(at, "not", 3) == 0)) ||
         (length == 2 && strncmp(at, "or", 2) == 0);
}

static tt_status read_number(reader *reader, operand *found) {
  const tt_unit *unit;
  instruction made = {.operation = OP_NUMBER};
  if (!tt_quantity_scan(&reader->at, &unit, &made.number)) {
    const char *behind = reader->at + strspn(reader->at, "0123456789.");
    return refuse(reader, behind > reader->at && *behind == '/'
                              ? "there is no such number; write a division with spaces, a / b"
                              : "a value is missing");
  }
  found->dimension = unit ? unit->dimension : ANY;
  skip_spaces(reader);
  size_t length = name_length(reader->at);
  if (length && !is_keyword(reader->at, length)) {
    char word[32], what[160];
    snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : 31, reader->at);
    const char *nearest = tt_unit_nearest(word);
    snprintf(what, sizeof what, "there is no such unit%s%s%s", nearest ? "; did you mean '" : "",
             nearest ? nearest : "", nearest ? "'?" : "");
    return refuse(reader, what);
  }
  return emit(reader, made);
}

static tt_status read_any(reader *reader, operand *found);

static tt_status need_number(const reader *reader, const operand *found) {
  if (!found->is_truth) return TT_OK;
  return refuse(reader, "a comparison is no number (write a < b and b < c for a < b < c)");
}

static const char *unit_text(tt_dimension dimension) { return tt_unit_si(dimension)->name; }

/* Both sides are numbers of one dimension, which is `both`'s then. */
static tt_status need_alike(const reader *reader, const operand *left, const operand *right,
                            operand *both) {
  TT_TRY(need_number(reader, left));
  TT_TRY(need_number(reader, right));
  *both = (operand){.dimension = left->dimension == ANY ? right->dimension : left->dimension};
  if (left->dimension == right->dimension || left->dimension == ANY || right->dimension == ANY)
    return TT_OK;
  char what[128];
  snprintf(what, sizeof what, "%s and %s can't be compared or added", unit_text(left->dimension),
           unit_text(right->dimension));
  return refuse(reader, what);
}

/* Reads what stands in brackets behind abs, sqrt, min or max; `*known` is false where none of these stands here. */
static tt_status read_function(reader *reader, operand *found, bool *known) {
  static const struct {
    const char *name;
    operation operation;
  } functions[] = {{"abs", OP_ABS}, {"sqrt", OP_SQRT}, {"min", OP_MIN}, {"max", OP_MAX}};
  size_t length = name_length(reader->at), used = 0;
  const char *after = reader->at + length;
  while (*after == ' ') after++;
  while (used < 4 && (strlen(functions[used].name) != length ||
                      strncmp(functions[used].name, reader->at, length) != 0))
    used++;
  *known = used < 4 && *after == '(';
  if (!*known) return TT_OK;
  reader->at = after + 1;
  TT_TRY(read_any(reader, found));
  TT_TRY(need_number(reader, found));
  operation operation = functions[used].operation;
  if (operation == OP_MIN || operation == OP_MAX) {
    operand second = {0};
    if (!take(reader, ",")) return refuse(reader, "a comma is missing");
    TT_TRY(read_any(reader, &second));
    TT_TRY(need_alike(reader, found, &second, found));
  }
  if (operation == OP_SQRT) found->dimension = ANY;
  if (!take(reader, ")")) return refuse(reader, "a ) is missing");
  return emit_plain(reader, operation);
}

static tt_status read_value(reader *reader, operand *found) {
  bool known;
  skip_spaces(reader);
  *found = (operand){.dimension = ANY};
  if (*reader->at == '"') return read_quoted(reader, found);
  if (take(reader, "(")) {
    TT_TRY(read_any(reader, found));
    return take(reader, ")") ? TT_OK : refuse(reader, "a ) is missing");
  }
  TT_TRY(read_function(reader, found, &known));
  if (known) return TT_OK;
  size_t length = name_length(reader->at);
  if (!length) return read_number(reader, found);
  if (is_keyword(reader->at, length)) return refuse(reader, "a value is missing");
  TT_TRY(emit_name(reader, reader->at, length, found));
  reader->at += length;
  return TT_OK;
}

/* ---- reading: what is made of values ---- */

static tt_status read_signed(reader *reader, operand *found) {
  if (!take(reader, "-")) return read_value(reader, found);
  if (++reader->depth > MAX_DEPTH) return refuse(reader, "too many signs or brackets");
  TT_TRY(read_signed(reader, found));
  reader->depth--;
  TT_TRY(need_number(reader, found));
  return emit_plain(reader, OP_NEGATE);
}

static bool is_plain(const operand *found) {
  return found->dimension == ANY || found->dimension == TT_DIMENSIONLESS;
}

/* Where no names are known, what has no unit may be a name of any. */
static bool is_any_unit(const reader *reader, const operand *found) {
  return !reader->scope && found->dimension == ANY;
}

static tt_status read_product(reader *reader, operand *found) {
  TT_TRY(read_signed(reader, found));
  for (;;) {
    bool times = take(reader, "*");
    if (!times && !take(reader, "/")) return TT_OK;
    operand right;
    TT_TRY(read_signed(reader, &right));
    TT_TRY(need_number(reader, found));
    TT_TRY(need_number(reader, &right));
    if (is_any_unit(reader, found) || is_any_unit(reader, &right))
      found->dimension = ANY;
    else if (!is_plain(&right))
      found->dimension = times && is_plain(found) ? right.dimension : ANY;
    TT_TRY(emit_plain(reader, times ? OP_MULTIPLY : OP_DIVIDE));
  }
}

static tt_status read_sum(reader *reader, operand *found) {
  TT_TRY(read_product(reader, found));
  for (;;) {
    bool plus = take(reader, "+");
    if (!plus && !take(reader, "-")) return TT_OK;
    operand right;
    TT_TRY(read_product(reader, &right));
    TT_TRY(need_alike(reader, found, &right, found));
    TT_TRY(emit_plain(reader, plus ? OP_ADD : OP_SUBTRACT));
  }
}

/* NAME == 'text', the name having been read. */
static tt_status read_text(reader *reader, bool equal) {
  instruction *name = &reader->condition->code[reader->condition->size - 1];
  const char *begin = reader->at + 1, *end = strchr(begin, '\'');
  if (!end) return refuse(reader, "the second ' is missing of a text");
  if (reader->scope && name->operation != OP_COLUMN)
    return refuse(reader, "only an axis may be compared with a text");
  size_t length = (size_t)(end - begin);
  char *kept = reader->condition->texts + reader->texts_size;
  memcpy(kept, begin, length);
  kept[length] = 0;
  name->text = (int)reader->texts_size;
  if (reader->scope) name->operation = OP_IS_TEXT;
  reader->texts_size += length + 1; /* less than the quotes take */
  reader->at = end + 1;
  return equal ? TT_OK : emit_plain(reader, OP_NOT);
}

static bool take_comparison(reader *reader, operation *operation) {
  static const struct {
    const char *sign;
    enum operation operation;
  } comparisons[] = {{"<=", OP_LESS_EQUAL}, {">=", OP_GREATER_EQUAL}, {"==", OP_EQUAL},
                     {"!=", OP_NOT_EQUAL},  {"<", OP_LESS},           {">", OP_GREATER}};
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
    if (!take(reader, comparisons[i].sign)) continue;
    *operation = comparisons[i].operation;
    return true;
  }
  return false;
}

static tt_status read_comparison(reader *reader, operand *found) {
  operation operation;
  int before = reader->condition->size;
  TT_TRY(read_sum(reader, found));
  skip_spaces(reader);
  if (*reader->at == '=' && reader->at[1] != '=') return refuse(reader, "write == to compare");
  if (!take_comparison(reader, &operation)) return TT_OK;
  skip_spaces(reader);
  if (*reader->at == '\'') {
    if (reader->condition->size != before + 1 ||
        (operation != OP_EQUAL && operation != OP_NOT_EQUAL))
      return refuse(reader, "a text may only be compared as in NAME == 'text'");
    *found = (operand){.is_truth = true};
    return read_text(reader, operation == OP_EQUAL);
  }
  operand right;
  TT_TRY(read_sum(reader, &right));
  TT_TRY(need_alike(reader, found, &right, found));
  *found = (operand){.is_truth = true};
  return emit_plain(reader, operation);
}

/* A number is true where it is not 0, if it has no dimension: "bumper.pressed". */
static tt_status need_truth(reader *reader, operand *found) {
  if (found->is_truth) return TT_OK;
  if (!is_plain(found)) return refuse(reader, "what has a unit must be compared with something");
  found->is_truth = true;
  return emit_plain(reader, OP_TRUTH);
}

static tt_status read_not(reader *reader, operand *found) {
  if (!take_word(reader, "not")) return read_comparison(reader, found);
  if (++reader->depth > MAX_DEPTH) return refuse(reader, "too many signs or brackets");
  TT_TRY(read_not(reader, found));
  reader->depth--;
  TT_TRY(need_truth(reader, found));
  return emit_plain(reader, OP_NOT);
}

static tt_status read_and(reader *reader, operand *found) {
  TT_TRY(read_not(reader, found));
  while (take_word(reader, "and")) {
    operand right;
    TT_TRY(need_truth(reader, found));
    TT_TRY(read_not(reader, &right));
    TT_TRY(need_truth(reader, &right));
    TT_TRY(emit_plain(reader, OP_AND));
  }
  return TT_OK;
}

static tt_status read_any(reader *reader, operand *found) {
  if (++reader->depth > MAX_DEPTH) return refuse(reader, "too many signs or brackets");
  TT_TRY(read_and(reader, found));
  while (take_word(reader, "or")) {
    operand right;
    TT_TRY(need_truth(reader, found));
    TT_TRY(read_and(reader, &right));
    TT_TRY(need_truth(reader, &right));
    TT_TRY(emit_plain(reader, OP_OR));
  }
  reader->depth--;
  return TT_OK;
}

static tt_status read_condition(reader *reader) {
  operand whole;
  if (strlen(reader->text) > TT_CONDITION_MAX_TEXT)
    return tt_fail(reader->error, TT_INVALID, "%s: the condition is longer than %d bytes",
                   reader->where, TT_CONDITION_MAX_TEXT);
  TT_TRY(read_any(reader, &whole));
  skip_spaces(reader);
  if (*reader->at) return refuse(reader, "'and', 'or' or a sign is missing");
  return need_truth(reader, &whole);
}

tt_status tt_condition_new(const char *text, const char *where, const tt_condition_scope *scope,
                           tt_condition **condition, tt_error *error) {
  tt_condition *made = calloc(1, sizeof *made);
  if (!made) return tt_fail(error, TT_NOMEM, "out of memory");
  reader reader = {
      .text = text, .at = text, .where = where, .scope = scope, .condition = made, .error = error};
  tt_status status = read_condition(&reader);
  if (status == TT_OK)
    *condition = made;
  else
    tt_condition_free(made);
  return status;
}

void tt_condition_free(tt_condition *condition) { free(condition); }
