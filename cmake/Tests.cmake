# tether_test(NAME source...): a cmocka program that links the whole of Tether.
function(tether_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tether_library PkgConfig::CMOCKA)
  target_compile_definitions(${name} PRIVATE TETHER_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
