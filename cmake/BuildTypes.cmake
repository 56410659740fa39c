# What "release" and "debug" mean here. Assertions guard against our own bugs and cost nothing that
# was ever measurable, so they stay in release builds; debug information stays too, so that a
# backtrace from somebody's machine can be read.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or Sanitize" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_C_FLAGS_DEBUG "-Og -g3")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
