# Where things go: the program, its manual, a systemd user unit, and the scenes, robots and arenas it finds by name.
include(GNUInstallDirs)
if(TARGET tether)
  install(TARGETS tether RUNTIME)
endif()
install(DIRECTORY scenes robots arenas DESTINATION ${CMAKE_INSTALL_DATADIR}/tether)
install(FILES man/tether.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES packaging/tether@.service DESTINATION lib/systemd/user)
install(FILES packaging/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tether)
# As in the source tree, so that links from one to the other stay true.
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs clients DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN __pycache__ EXCLUDE)
