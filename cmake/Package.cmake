# `cpack` (script/package) makes tether_VERSION_ARCHITECTURE.deb of what Install.cmake installs, and python3-tether_VERSION_all.deb
# of its component `python`.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tether)
set(CPACK_PACKAGE_CONTACT "The Tether authors <tether@localhost>")
set(CPACK_COMPONENTS_ALL tether python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_TETHER_PACKAGE_NAME tether)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "drive a simulated robot over a wire")
set(CPACK_COMPONENT_TETHER_DESCRIPTION "Any program in any language drives a simulated robot, with contact physics, over UDP
or TCP: in real time, or in lock-step, bit for bit repeatable. Runs are recorded, verified, replayed and raced;
everything is visible in a browser.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TETHER_PACKAGE_SHLIBDEPS ON) # what the program links, from the libraries' own packages
set(CPACK_DEBIAN_TETHER_PACKAGE_RECOMMENDS python3) # the sample clients
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The library of Tether from Python: robots with contact physics, simulated in a
Python process, with NumPy arrays over the library's memory.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-tether)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, python3-numpy, python3-yaml, tether (= ${PROJECT_VERSION})")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
