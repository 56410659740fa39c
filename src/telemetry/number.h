/* number.h: numbers of telemetry as text: exact both ways, the same in every table. */
#ifndef TT_TELEMETRY_NUMBER_H
#define TT_TELEMETRY_NUMBER_H

#include <stdbool.h>

/** Reads a finite decimal number that is the whole text ("11.8", "-3e5"); no hexadecimal, no blanks. */
bool tt_number_parse(const char *text, double *number);

#define TT_NUMBER_SIZE 32
/** Writes the shortest decimal that reads back as the same number; returns its length. */
int tt_number_format(char text[TT_NUMBER_SIZE], double number);

#endif
