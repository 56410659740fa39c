/* floats.h: the caller's floating-point environment, while ours is the default.
 *
 * Reading and writing all of it costs as much as a fiftieth of a small step. On x86-64 two registers of control say whether it
 * is the default already, as nearly always; then only the flags that arithmetic raises are put back.
 */
#ifndef TT_LIBRARY_FLOATS_H
#define TT_LIBRARY_FLOATS_H

#include <fenv.h>
#include <stdbool.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#define LIBRARY_FLAGS 0x3fu   /* of MXCSR: raised by arithmetic; the rest is control */
#define LIBRARY_MXCSR 0x1f80u /* default control: to nearest, nothing traps, no flush to zero */
#define LIBRARY_X87 0x037fu   /* the same for the x87 */
#endif

/** What was found. Plain data, one thread. */
typedef struct library_floats {
  bool usual; /* the default already */
  unsigned mxcsr;
  fenv_t all; /* unless usual */
} library_floats;

/** From here on the environment is the default; what it was is to be given back by the other. */
static inline library_floats library_floats_begin(void) {
  library_floats saved = {.usual = false};
#if defined(__x86_64__)
  unsigned short x87;
  saved.mxcsr = _mm_getcsr();
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  saved.usual = (saved.mxcsr & ~LIBRARY_FLAGS) == LIBRARY_MXCSR && x87 == LIBRARY_X87;
  if (saved.usual) return saved;
#endif
  fegetenv(&saved.all);
  fesetenv(FE_DFL_ENV);
  return saved;
}

/** The environment is the caller's again. */
static inline void library_floats_end(const library_floats *saved) {
#if defined(__x86_64__)
  if (saved->usual) {
    _mm_setcsr(saved->mxcsr);
    return;
  }
#endif
  fesetenv(&saved->all);
}

#endif
