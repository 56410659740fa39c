# Where things go: the program and the library, their manual, systemd units, and the scenes, robots and arenas it finds by name.
# The Python package is a component of its own, since its .deb is.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tether)
# What is built for it: the target `installed`, which script/package builds.
add_custom_target(installed)
function(tether_install target kind)
  if(TARGET ${target})
    install(TARGETS ${target} ${kind} ${ARGN})
    add_dependencies(installed ${target})
  endif()
endfunction()
tether_install(tether RUNTIME)
tether_install(libtether LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
tether_install(compile-model RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tether)
tether_install(run-program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tether)
tether_install(tether-halsim LIBRARY DESTINATION lib/tether) # where a person types its path: the same on every machine
tether_install(tether-telemetry LIBRARY DESTINATION lib/tether) # packed_table.h says where
install(DIRECTORY include/tether DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(packaging/tether.pc.in tether.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tether.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(packaging/tether-config.cmake.in tether-config.cmake @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(tether-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tether-config.cmake ${CMAKE_BINARY_DIR}/tether-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tether)
install(DIRECTORY scenes robots arenas DESTINATION ${CMAKE_INSTALL_DATADIR}/tether)
install(FILES man/tether.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# The library's page is made of its header, so that the two can't disagree.
set(manual ${CMAKE_SOURCE_DIR}/tools/manual.awk ${CMAKE_SOURCE_DIR}/include/tether/tether.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${manual})
execute_process(COMMAND awk -v version=${PROJECT_VERSION} -f ${manual}
  OUTPUT_FILE ${CMAKE_BINARY_DIR}/libtether.3 COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${CMAKE_BINARY_DIR}/libtether.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(DIRECTORY packaging/grafana DESTINATION ${CMAKE_INSTALL_DATADIR}/tether)
install(DIRECTORY packaging/proxy DESTINATION ${CMAKE_INSTALL_DATADIR}/tether)
install(FILES packaging/tether@.service DESTINATION lib/systemd/user)
install(FILES packaging/tether-collect.service packaging/tether-store@.service DESTINATION lib/systemd/system)
install(FILES packaging/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tether)
# As in the source tree, so that links from one to the other stay true.
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs clients DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN __pycache__ EXCLUDE)
if(TARGET libtether)
  install(DIRECTORY python/tether DESTINATION lib/python3/dist-packages COMPONENT python PATTERN __pycache__ EXCLUDE)
endif()
