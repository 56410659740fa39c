# `cpack` (script/package) makes tether_VERSION_ARCHITECTURE.deb of what Install.cmake installs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tether)
set(CPACK_PACKAGE_CONTACT "The Tether authors <tether@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "drive a simulated robot over a wire")
set(CPACK_PACKAGE_DESCRIPTION "Any program in any language drives a simulated robot, with contact physics, over UDP
or TCP: in real time, or in lock-step, bit for bit repeatable. Runs are recorded, verified, replayed and raced;
everything is visible in a browser.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # what the program links, from the libraries' own packages
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3) # the sample clients
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
