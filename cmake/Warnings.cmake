# One set of warnings for gcc and clang. They are errors where TETHER_WERROR is on: in script/test
# and in the presets for working on Tether, not in a user's build, whose compiler may be newer.
include(CheckCCompilerFlag)
option(TETHER_WERROR "Compiler warnings are errors" OFF)

add_compile_options(
  -Wall
  -Wextra
  -Wformat=2
  -Wconversion
  -Wimplicit-fallthrough
  -Werror=format-security
  -Werror=implicit
  -Werror=incompatible-pointer-types
  -Werror=int-conversion
)
foreach(flag -Wtrampolines -Wbidi-chars=any)
  string(MAKE_C_IDENTIFIER "HAVE_${flag}" have)
  check_c_compiler_flag(${flag} ${have})
  if(${have})
    add_compile_options(${flag})
  endif()
endforeach()
if(TETHER_WERROR)
  add_compile_options(-Werror)
endif()
