# Hardening after the OpenSSF guide for C compilers. Each flag is tried first, so that any compiler
# takes what it knows. Sanitizers do without: they check the same things and more, and _FORTIFY_SOURCE
# hides library calls from them. -ffast-math is never used: it removes isfinite().
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
check_pie_supported(LANGUAGES C)
add_compile_options(-fexceptions -fno-delete-null-pointer-checks -fno-strict-overflow -fno-strict-aliasing)

function(tether_try_compile_flag)
  string(REPLACE ";" " " flags "${ARGV}")
  string(MAKE_C_IDENTIFIER "HAVE_${flags}" have)
  check_c_compiler_flag("${flags}" ${have})
  if(${have})
    add_compile_options(${ARGV})
  endif()
endfunction()

function(tether_try_link_flag flag)
  string(MAKE_C_IDENTIFIER "HAVE_${flag}" have)
  check_linker_flag(C ${flag} ${have})
  if(${have})
    add_link_options(${flag})
  endif()
endfunction()

if(NOT TETHER_SANITIZE)
  if(NOT CMAKE_BUILD_TYPE STREQUAL Debug AND NOT TETHER_COVERAGE)
    # Without optimization the C library only warns that it can't fortify.
    tether_try_compile_flag(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  endif()
  tether_try_compile_flag(-fstack-protector-strong)
  tether_try_compile_flag(-fstack-clash-protection)
  tether_try_compile_flag(-fcf-protection=full)
  tether_try_compile_flag(-fstrict-flex-arrays=3)
  tether_try_compile_flag(-ftrivial-auto-var-init=zero)
  tether_try_compile_flag(-fzero-init-padding-bits=all)
endif()

foreach(flag
    -Wl,-z,relro
    -Wl,-z,now
    -Wl,-z,noexecstack
    -Wl,--as-needed
    -Wl,--no-copy-dt-needed-entries)
  tether_try_link_flag(${flag})
endforeach()
