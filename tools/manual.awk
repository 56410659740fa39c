# manual.awk: the library's manual page, made of its header, so that the two can't disagree:
#   awk -v version=0.1.0 -f tools/manual.awk include/tether/tether.h > libtether.3
# A comment that begins with /** belongs to the declarations behind it; one of the form /* --- … --- */ begins a section.

function troff(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  if (text ~ /^[.']/) text = "\\\&" text
  return text
}

# The text of a comment, without its stars.
function plain(line) {
  sub(/^[ \t]*\/\*+[ \t]?/, "", line)
  sub(/[ \t]*\*\/[ \t]*$/, "", line)
  sub(/^[ \t]*\*[ \t]?/, "", line)
  return line
}

function print_comment(   i) {
  for (i = 0; i < comment_lines; i++) print comment[i] == "" ? ".PP" : troff(comment[i])
  comment_lines = 0
}

function print_declaration() {
  print ".PP"
  print ".nf"
  printf "%s", declaration
  print ".fi"
  if (comment_lines) {
    print ".RS 4"
    print_comment()
    print ".RE"
  }
  declaration = ""
}

BEGIN {
  printf ".\\\" Made of include/tether/tether.h.\n"
  printf ".TH LIBTETHER 3 \"\" \"tether %s\" \"C library\"\n", version
  print ".SH NAME\nlibtether \\- simulated robots with contact physics, as a library"
  print ".SH SYNOPSIS\n.nf\n#include <tether/tether.h>\n"
  print "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs tether)\n.fi"
  state = "head"
}

# The comment at the beginning: its first line is the name's.
state == "head" {
  if ($0 ~ /^\/\*/) { print ".SH DESCRIPTION"; next }
  line = plain($0)
  if ($0 ~ /\*\/[ \t]*$/) { if (code) print ".fi"; state = "body"; next }
  if (line ~ /^  / && !code) { print ".PP\n.nf"; code = 1 }
  if (line !~ /^  / && code) { print ".fi"; code = 0 }
  print line == "" ? (code ? "" : ".PP") : troff(line)
  next
}

/^\/\* --- / {
  line = plain($0)
  gsub(/^--- | ---$/, "", line)
  print ".SH " toupper(troff(line))
  next
}

/^#define TETHER_VERSION_/ { declaration = declaration troff($0) "\n"; next }
$0 == "" && declaration != "" && state == "body" { print_declaration() }
/^#|^extern "C"|^}$|^$/ && state != "declaration" { if ($0 == "") comment_lines = 0; next }

# A comment of its own line.
/^\/\*\*/ && state == "body" { state = "comment" }
state == "comment" {
  text = plain($0)
  sub(/^ +/, "", text)
  if (!(text == "" && $0 ~ /\*\//)) comment[comment_lines++] = text
  if ($0 ~ /\*\//) state = "body"
  next
}

# A declaration ends with a semicolon outside braces.
{
  state = "declaration"
  line = $0
  sub(/^TETHER_API /, "", line)
  declaration = declaration troff(line) "\n"
  bare = $0
  gsub(/\/\*.*\*\//, "", bare)
  depth += gsub(/{/, "{", bare) - gsub(/}/, "}", bare)
  inside = inside_comment($0, inside)
  if (depth == 0 && !inside && bare ~ /;[ \t]*$/) { print_declaration(); state = "body" }
}

# A trailing comment may go on in the next line.
function inside_comment(line, was) {
  gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, "", line)
  if (was) return line !~ /\*\//
  return line ~ /\/\*/
}

END {
  print ".SH FILES"
  print ".I share/tether\nbeside the library: shipped scenes, robots and arenas."
  print ".SH SEE ALSO"
  print ".BR tether (1);\n.I share/doc/tether/docs/library.md"
}
