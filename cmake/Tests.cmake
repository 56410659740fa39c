# How tests are declared. Everything runs with ctest.
#
# Labels say where a test runs: `unit` and `wire` in every build, sanitizers included; anything else
# (`e2e`, `browser`, …) in the release build only. LONG tests wait for `script/test --long`
# (ctest -C Long), which also sets TETHER_LONG=1 for tests that can do more of the same. The thread sanitizer's build has only
# what makes threads, which a test says by THREADS: it would find nothing in the others.
option(TETHER_TESTS "Build tests (needs cmocka)" ${CMOCKA_FOUND})
if(TETHER_TESTS)
  if(NOT CMOCKA_FOUND)
    message(FATAL_ERROR "TETHER_TESTS needs cmocka: run script/setup --test")
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  enable_testing()
  add_custom_target(test_programs) # of the labels `unit` and `wire`: all that a build needs which runs only these
endif()
set_property(GLOBAL PROPERTY TETHER_FUZZ_TARGETS "")

# Every program of a test links the whole of Tether, and there are two hundred: mold does that in a third of the time, where it
# is installed. What users run is linked by the compiler's own linker in every build.
include(CheckLinkerFlag)
set(tether_test_linker)
if(TETHER_TESTS)
  check_linker_flag(C -fuse-ld=mold HAVE_MOLD)
  if(HAVE_MOLD)
    set(tether_test_linker -fuse-ld=mold)
  endif()
endif()

# What the functions below share: tether_add_test(NAME default_label COMMAND … [options]). Every test has a home folder of
# its own; script/test checks that none wrote into another.
function(tether_add_test name label)
  cmake_parse_arguments(PARSE_ARGV 2 arg "LONG;SERIAL;THREADS" "TIMEOUT" "LABELS;COMMAND")
  if(NOT arg_LABELS)
    set(arg_LABELS ${label})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300) # for what hangs
  endif()
  set(environment)
  math(EXPR timeout "3 * ${arg_TIMEOUT}") # a busy machine takes its time
  if(TETHER_SANITIZE) # several times slower
    math(EXPR timeout "5 * ${arg_TIMEOUT}")
    # Sanitizers see what malloc() gives, and to which thread; of GLib's slices they see nothing.
    set(environment ";G_SLICE=always-malloc;TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/cmake/thread_sanitizer.txt")
  endif()
  # Nothing long is begun last, when it would have one core and the others nothing: pages first, then the program as a whole, then
  # what waits for its threads. A browser that draws without a graphics card takes two cores.
  set(cores 1)
  if("browser" IN_LIST arg_LABELS)
    set(cost 2000)
    set(cores 2)
  elseif("e2e" IN_LIST arg_LABELS)
    set(cost ${arg_TIMEOUT})
  elseif(arg_THREADS)
    set(cost 100)
  else()
    set(cost 0)
  endif()
  set(configurations)
  if(arg_LONG)
    list(APPEND arg_LABELS long)
    set(configurations CONFIGURATIONS Long)
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    if("unit" IN_LIST arg_LABELS OR "wire" IN_LIST arg_LABELS)
      add_dependencies(test_programs ${program})
    endif()
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/cmake/own_home.sh ${program} ${arg_COMMAND} ${configurations})
  set_tests_properties(${name} PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT ${timeout} COST ${cost} PROCESSORS ${cores} RUN_SERIAL ${arg_SERIAL}
    ENVIRONMENT "TETHER=${CMAKE_BINARY_DIR}/tether;TETHER_SOURCE_DIR=${CMAKE_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1;PYTHONPATH=${CMAKE_SOURCE_DIR}/tests${environment}")
endfunction()

# Hands on the options that cmake_parse_arguments put into arg_….
macro(tether_test_options out)
  set(${out})
  foreach(flag LONG SERIAL THREADS)
    if(arg_${flag})
      list(APPEND ${out} ${flag})
    endif()
  endforeach()
  foreach(keyword TIMEOUT LABELS)
    if(arg_${keyword})
      list(APPEND ${out} ${keyword} ${arg_${keyword}})
    endif()
  endforeach()
endmacro()

# What tests a codec has the label `codec`, too, and is built by the target `codec_tests`: for script/coverage --codecs.
function(tether_codec_test program test source)
  if(source MATCHES "^codec_(test|fuzz)\\.c$")
    set_property(TEST ${test} APPEND PROPERTY LABELS codec)
    add_dependencies(codec_tests ${program})
  endif()
endfunction()
if(TETHER_TESTS)
  add_custom_target(codec_tests)
  add_library(tether_one_thread OBJECT ${CMAKE_SOURCE_DIR}/tests/one_thread.c)
  add_library(tether_replay_corpus OBJECT ${CMAKE_SOURCE_DIR}/tests/replay_corpus.c)
endif()

# A test's own code runs for moments: with sanitizers it is compiled in half of the time without optimization, and what it tests as
# ever. Elsewhere the compiler sees less that deserves a warning, or other things, so all is compiled alike.
set(tether_test_optimization)
if(TETHER_SANITIZE)
  set(tether_test_optimization -O0)
endif()

# What the program of every test is made of: tether_test_program(NAME THREADS source… [LINKS target…]). One that makes a thread
# without having said so ends itself; the thread sanitizer's build leaves out what has none.
function(tether_test_program name threads)
  cmake_parse_arguments(PARSE_ARGV 2 program "" "" "LINKS")
  if(NOT program_LINKS)
    set(program_LINKS tether_everything)
  endif()
  add_executable(${name} ${program_UNPARSED_ARGUMENTS})
  set(own ${program_UNPARSED_ARGUMENTS})
  list(FILTER own INCLUDE REGEX "_(test|testing|fuzz)\\.c$")
  set_source_files_properties(${own} PROPERTIES COMPILE_OPTIONS "${tether_test_optimization}")
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE ${program_LINKS})
  target_link_options(${name} PRIVATE ${tether_test_linker})
  target_compile_definitions(${name} PRIVATE TETHER_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  # TETHER_FEWER: how many times less often a test does the same over again with a sanitizer, which is several times slower and looks
  # at what is done, not at how often.
  if(TETHER_SANITIZE)
    target_compile_definitions(${name} PRIVATE TETHER_SANITIZED TETHER_FEWER=4)
  else()
    target_compile_definitions(${name} PRIVATE TETHER_FEWER=1)
  endif()
  if(NOT TETHER_SANITIZE AND NOT threads)
    target_link_libraries(${name} PRIVATE tether_one_thread)
  endif()
  if(TETHER_SANITIZE STREQUAL "thread" AND NOT threads)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# tether_test(NAME source… [LINKS target…] [LABELS label…] [TIMEOUT seconds] [LONG] [SERIAL] [THREADS]):
# a cmocka program that links the whole of Tether, or LINKS alone. Label `unit` unless given.
function(tether_test name)
  if(NOT TETHER_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG;SERIAL;THREADS" "TIMEOUT" "LABELS;LINKS")
  if("e2e" IN_LIST arg_LABELS) # no sanitizer runs it
    set(arg_THREADS ON)
  endif()
  tether_test_program(${name} ${arg_THREADS} ${arg_UNPARSED_ARGUMENTS} LINKS ${arg_LINKS})
  target_link_libraries(${name} PRIVATE PkgConfig::CMOCKA)
  if(TETHER_SANITIZE AND "e2e" IN_LIST arg_LABELS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  if(TETHER_SANITIZE STREQUAL "thread" AND NOT arg_THREADS)
    return()
  endif()
  tether_test_options(options)
  tether_add_test(${name} unit ${options} COMMAND ${name})
  tether_codec_test(${name} ${name} ${arg_UNPARSED_ARGUMENTS})
endfunction()

# tether_fuzz(NAME source seeds [MAX_LENGTH bytes] [DICTIONARY file] [SOURCES source…] [LINKS target…] [THREADS]): a source that defines
# LLVMFuzzerTestOneInput, and a folder of inputs, one a file: a dozen seeds, and everything that ever broke it, each by a name
# that says what it is. What fuzzers found to reach new code stands in fuzz/corpora/NAME. In the fuzz preset it is a libFuzzer
# program; in every other build a program that replays both. Either way ctest replays them (label `wire`). LINKS as above, with
# what else it is made of as SOURCES.
function(tether_fuzz name source seeds)
  if(NOT TETHER_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 3 arg "THREADS" "MAX_LENGTH;DICTIONARY" "SOURCES;LINKS")
  if(NOT arg_MAX_LENGTH)
    set(arg_MAX_LENGTH 4096)
  endif()
  cmake_path(ABSOLUTE_PATH seeds)
  set(inputs ${seeds})
  if(EXISTS ${CMAKE_SOURCE_DIR}/fuzz/corpora/${name})
    list(APPEND inputs ${CMAKE_SOURCE_DIR}/fuzz/corpora/${name})
  endif()
  if(arg_DICTIONARY)
    cmake_path(ABSOLUTE_PATH arg_DICTIONARY)
  endif()
  tether_test_program(${name} ${arg_THREADS} ${source} ${arg_SOURCES} LINKS ${arg_LINKS})
  if(TETHER_SANITIZE STREQUAL "thread" AND NOT arg_THREADS)
    return()
  endif()
  if(TETHER_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    tether_add_test(${name}_corpus wire COMMAND ${name} -runs=0 ${inputs})
    set_property(GLOBAL APPEND_STRING PROPERTY TETHER_FUZZ_TARGETS
      "${name}\t${seeds}\t${arg_MAX_LENGTH}\t${arg_DICTIONARY}\n")
  else()
    target_link_libraries(${name} PRIVATE tether_replay_corpus)
    tether_add_test(${name}_corpus wire COMMAND ${name} ${inputs})
  endif()
  tether_codec_test(${name} ${name}_corpus ${source})
endfunction()

# tether_script_test(NAME command… [LABELS label…] [TIMEOUT seconds] [LONG] [SERIAL]): an end-to-end test.
# A first word that ends in .py is run with Python. The environment has TETHER (path of the program built
# here) and TETHER_SOURCE_DIR. Label `e2e` unless given. Exit status 77 means skipped. SERIAL: nothing else runs
# meanwhile, for tests of timing.
function(tether_script_test name)
  if(NOT TETHER_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG;SERIAL" "TIMEOUT" "LABELS")
  set(command ${arg_UNPARSED_ARGUMENTS})
  tether_test_options(options)
  list(GET command 0 program)
  if(program MATCHES "\\.py$")
    list(POP_FRONT command)
    cmake_path(ABSOLUTE_PATH program)
    list(PREPEND command ${Python3_EXECUTABLE} ${program})
  endif()
  tether_add_test(${name} e2e ${options} COMMAND ${command})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# tether_find_python(VARIABLE module…): the first Python that has the modules, kept as a cache variable.
function(tether_find_python variable)
  list(JOIN ARGN ", " modules)
  set(${variable} "" CACHE FILEPATH "Python with ${modules}; empty: the first that has it")
  foreach(candidate ${Python3_EXECUTABLE} /usr/bin/python3)
    if(NOT ${variable})
      execute_process(COMMAND ${candidate} -c "import ${modules}" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
      if(missing EQUAL 0)
        set_property(CACHE ${variable} PROPERTY VALUE ${candidate})
      endif()
    endif()
  endforeach()
  if(TETHER_TESTS AND NOT ${variable})
    message(FATAL_ERROR "Tests need the Python modules ${modules}: run script/setup --test")
  endif()
endfunction()

# Writes fuzz_targets.txt for script/fuzz: name, seeds, longest input, dictionary, separated by tabs.
function(tether_write_fuzz_targets)
  get_property(targets GLOBAL PROPERTY TETHER_FUZZ_TARGETS)
  file(WRITE ${CMAKE_BINARY_DIR}/fuzz_targets.txt "${targets}")
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL tether_write_fuzz_targets)
