# Writes MADE: a C file in which SYMBOL is the text of FILE, byte by byte, in lines as there.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
string(REPLACE "\\x0a" "\\n\"\n\"" bytes "${bytes}")
file(WRITE ${MADE} "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] =\n\"${bytes}\";\n")
