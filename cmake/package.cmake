# The Debian package: cpack --config build/CPackConfig.cmake -G DEB (after building) makes scullery_VERSION_ARCHITECTURE.deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME scullery)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Scullery authors <scullery@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "workbench for machine learning with random features")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Random kitchen sinks, random Fourier features, Nystrom, decision stumps,
maxout and RKHS weightings, which reach the accuracy of kernel machines at a
cost that is linear in the number of rows. Lua scripts compose samplers,
nonlinearities, kernels and solvers, which a C program loads as plugins.

This package has the command, the Lua module, the libraries for other programs,
the Python package, the plugins, and the headers for writing more.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# The component alone: an installation of everything would overwrite the list that `uninstall` reads.
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};scullery;scullery;/")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# What is linked is found by dpkg-shlibdeps; OpenBLAS, libcurl, the libraries of readers of files and Lua files are loaded when they are needed.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
  set(linked "")
else()
  set(linked "libc6, libcjson1, libedit2, liblua5.4-0, libmd0, libsleef3, zlib1g, ")
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${linked}libopenblas0, lua-argparse")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, libcurl4, libsqlite3-0, libsnappy1v5, libzstd1, liblz4-1, libhdf5-103-1")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "lua5.4, fonts-dejavu-core, gcc, cmake, pkg-config, python3-ipykernel, python3-sklearn")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian/before.cmake)
set(CPACK_SCULLERY_SOURCE ${CMAKE_SOURCE_DIR})
include(CPack)
