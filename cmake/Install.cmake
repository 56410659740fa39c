# Where things go: the program and the library, their manual, a systemd user unit, and the scenes, robots and arenas it finds by name.
include(GNUInstallDirs)
if(TARGET tether)
  install(TARGETS tether RUNTIME)
endif()
if(TARGET libtether)
  install(TARGETS libtether LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
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
install(FILES packaging/tether@.service DESTINATION lib/systemd/user)
install(FILES packaging/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tether)
# As in the source tree, so that links from one to the other stay true.
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs clients DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN __pycache__ EXCLUDE)
