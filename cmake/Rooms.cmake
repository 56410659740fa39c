# tether_room(NAME SOURCES file… [LINKS target…]): a room, which is the folder NAME below src/: a static library whose files
# see the headers of their own folder and of what it links, and no others. So the compiler and the linker keep the arrows of
# docs/architecture.md. The target is tether_NAME.
add_compile_definitions(_GNU_SOURCE TETHER_VERSION="${PROJECT_VERSION}")
set_property(GLOBAL PROPERTY TETHER_ROOMS "")

function(tether_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  string(MAKE_C_IDENTIFIER "tether_${name}" target)
  add_library(${target} STATIC ${arg_SOURCES})
  target_link_libraries(${target} PUBLIC ${arg_LINKS} Threads::Threads m)
  set_property(GLOBAL APPEND PROPERTY TETHER_ROOMS ${target})
  # The room's headers under their names, without those of the rooms beside it.
  set(shown ${CMAKE_BINARY_DIR}/headers/${target})
  file(GLOB headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.h)
  file(REMOVE_RECURSE ${shown})
  file(MAKE_DIRECTORY ${shown}/${name})
  foreach(header ${headers})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${shown}/${name}/${header} SYMBOLIC)
  endforeach()
  target_include_directories(${target} PUBLIC ${shown})
endfunction()

# Links each room alone into a shared object in which nothing may stay undefined: the target rooms_alone.
function(tether_rooms_alone)
  get_property(rooms GLOBAL PROPERTY TETHER_ROOMS)
  file(WRITE ${CMAKE_BINARY_DIR}/headers/nothing.c "")
  add_custom_target(rooms_alone)
  foreach(room ${rooms})
    add_library(${room}_alone SHARED EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/headers/nothing.c)
    set_target_properties(${room}_alone PROPERTIES LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/headers)
    target_link_libraries(${room}_alone PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${room}>")
    target_link_options(${room}_alone PRIVATE LINKER:-z,defs)
    add_dependencies(rooms_alone ${room}_alone)
  endforeach()
endfunction()
