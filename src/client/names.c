#include "client/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void tt_client_shown(const char *name, char shown[TT_CLIENT_NAME]) {
  size_t used = 0;
  for (; *name && used + 1 < TT_CLIENT_NAME; name++)
    shown[used++] = isalnum((unsigned char)*name) || strchr("_.:-/", *name) ? *name : '_';
  shown[used] = 0;
  /* What begins or ends a comment has two signs. */
  for (char *pair; (pair = strstr(shown, "//"));) *pair = '_';
}

/* Keywords of Python, Java, C and C++ in lower case, what macros of the headers that our patterns name are called,
 * and where these have the message: a field of that name would be hidden. */
static const char *const words[] = {"abstract",     "alignas",
                                    "alignof",      "and",
                                    "and_eq",       "as",
                                    "asm",          "assert",
                                    "async",        "auto",
                                    "await",        "bitand",
                                    "bitor",        "bool",
                                    "boolean",      "break",
                                    "byte",         "case",
                                    "catch",        "char",
                                    "class",        "co_await",
                                    "co_return",    "co_yield",
                                    "compl",        "concept",
                                    "const",        "const_cast",
                                    "consteval",    "constexpr",
                                    "constinit",    "continue",
                                    "decltype",     "def",
                                    "default",      "del",
                                    "delete",       "do",
                                    "double",       "dynamic_cast",
                                    "elif",         "else",
                                    "enum",         "errno",
                                    "except",       "explicit",
                                    "export",       "extends",
                                    "extern",       "false",
                                    "final",        "finally",
                                    "float",        "for",
                                    "friend",       "from",
                                    "global",       "goto",
                                    "h_addr",       "h_errno",
                                    "if",           "implements",
                                    "import",       "in",
                                    "inline",       "instanceof",
                                    "int",          "interface",
                                    "is",           "lambda",
                                    "linux",        "long",
                                    "match",        "math_errhandling",
                                    "mutable",      "namespace",
                                    "native",       "new",
                                    "noexcept",     "none",
                                    "nonlocal",     "not",
                                    "not_eq",       "null",
                                    "nullptr",      "numbers",
                                    "operator",     "or",
                                    "or_eq",        "package",
                                    "pass",         "private",
                                    "protected",    "public",
                                    "raise",        "record",
                                    "register",     "requires",
                                    "restrict",     "return",
                                    "s6_addr",      "s6_addr16",
                                    "s6_addr32",    "sched_priority",
                                    "self",         "short",
                                    "signed",       "sizeof",
                                    "static",       "static_assert",
                                    "stderr",       "stdin",
                                    "stdout",       "strictfp",
                                    "struct",       "super",
                                    "switch",       "synchronized",
                                    "template",     "this",
                                    "thread_local", "throw",
                                    "throws",       "transient",
                                    "true",         "try",
                                    "typedef",      "typeid",
                                    "typename",     "typeof",
                                    "union",        "unix",
                                    "unsigned",     "using",
                                    "var",          "virtual",
                                    "void",         "volatile",
                                    "wchar_t",      "while",
                                    "with",         "xor",
                                    "xor_eq",       "yield"};

static bool is_word(const char *text) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], text) == 0) return true;
  return false;
}

void tt_client_identifier(const char *name, char identifier[TT_CLIENT_NAME]) {
  const size_t most = TT_CLIENT_NAME - 8; /* so that a number may follow */
  size_t used = 0;
  if (!isalpha((unsigned char)*name)) identifier[used++] = 'n';
  for (; *name && used < most; name++)
    if (isalnum((unsigned char)*name))
      identifier[used++] = (char)tolower((unsigned char)*name);
    else if (used && identifier[used - 1] != '_') /* two are the compiler's */
      identifier[used++] = '_';
  while (used > 1 && identifier[used - 1] == '_') used--;
  identifier[used] = 0;
  if (is_word(identifier)) strcpy(identifier + used, "_");
}
