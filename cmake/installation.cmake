# What is installed, and how others find it: CMake package, pkg-config, manual page, uninstall.
set(SCULLERY_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Scullery)
set(SCULLERY_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR})
set(SCULLERY_PLUGINS_DIR ${CMAKE_INSTALL_LIBDIR}/scullery/plugins)

# run_path(VARIABLE FOLDER): where a file in that folder of an installation finds libscullery.
function(run_path variable folder)
  if(IS_ABSOLUTE ${folder})
    set(${variable} ${CMAKE_INSTALL_FULL_LIBDIR} PARENT_SCOPE)
  else()
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY ${folder} OUTPUT_VARIABLE way)
    set(${variable} "$ORIGIN/${way}" PARENT_SCOPE)
  endif()
endfunction()
run_path(COMMAND_RUN_PATH ${CMAKE_INSTALL_BINDIR})
run_path(MODULE_RUN_PATH ${SCULLERY_LUA_MODULES}/scullery)
set_target_properties(scullery PROPERTIES INSTALL_RPATH "${COMMAND_RUN_PATH}")
set_target_properties(core checker PROPERTIES INSTALL_RPATH "${MODULE_RUN_PATH}")

# For authors of plugins: the headers alone.
add_library(plugin_headers INTERFACE)
target_include_directories(plugin_headers INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/core/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(plugin_headers PROPERTIES EXPORT_NAME plugin)
set_target_properties(libscullery PROPERTIES EXPORT_NAME scullery)
set_target_properties(libscullery_fit PROPERTIES EXPORT_NAME fit INSTALL_RPATH "\$ORIGIN")
set_target_properties(scullery PROPERTIES EXPORT_NAME command)

# The reference and the manual page are what the command prints about itself. It needs lua-argparse; without, they are left out.
set(MADE ${CMAKE_BINARY_DIR}/share/doc/scullery)
file(MAKE_DIRECTORY ${MADE}/reference)
file(GLOB_RECURSE TEXTS CONFIGURE_DEPENDS lua/scullery/*.lua scripts/documentation/*.lua)
add_custom_command(OUTPUT ${MADE}/scullery.1 DEPENDS scullery core ${PLUGIN_TARGETS} scripts/reference.lua ${TEXTS}
  COMMAND ${CMAKE_COMMAND} -E env XDG_DATA_HOME=${CMAKE_BINARY_DIR}/nobody ASAN_OPTIONS=detect_leaks=0 --unset=SCULLERY_PLUGIN_PATH
    $<TARGET_FILE:scullery> ${CMAKE_SOURCE_DIR}/scripts/reference.lua --to ${MADE} ||
    ${CMAKE_COMMAND} -E echo "The reference and the manual page were not made."
  COMMENT "Making the reference and the manual page" VERBATIM)
add_custom_target(reference_pages ALL DEPENDS ${MADE}/scullery.1)

# Modules of the library as bytecode. Without this file, all are compiled when they are loaded.
set(BYTECODE ${CMAKE_BINARY_DIR}/share/lua/5.4/scullery.luac)
file(GLOB_RECURSE MODULES CONFIGURE_DEPENDS lua/scullery/*.lua)
add_custom_command(OUTPUT ${BYTECODE} DEPENDS scullery scripts/bytecode.lua ${MODULES}
  COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:scullery> ${CMAKE_SOURCE_DIR}/scripts/bytecode.lua
    ${CMAKE_BINARY_DIR}/share/lua/5.4 || ${CMAKE_COMMAND} -E echo "The bytecode was not made."
  COMMENT "Making bytecode of the Lua modules" VERBATIM)
add_custom_target(bytecode ALL DEPENDS ${BYTECODE})

configure_file(cmake/record_folders.cmake.in record_folders.cmake @ONLY)
install(TARGETS scullery libscullery libscullery_fit plugin_headers EXPORT SculleryTargets)
install(TARGETS core checker DESTINATION ${SCULLERY_LUA_MODULES}/scullery)
install(DIRECTORY lua/scullery DESTINATION ${SCULLERY_LUA_FILES} PATTERN "*.swp" EXCLUDE)
install(FILES ${BYTECODE} DESTINATION ${SCULLERY_LUA_FILES} OPTIONAL)
install(DIRECTORY checker/lua/ DESTINATION ${SCULLERY_LUA_FILES}/scullery_checker PATTERN "*.swp" EXCLUDE)
install(DIRECTORY scripts/jupyter DESTINATION share/scullery FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY scripts/python DESTINATION share/scullery FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
install(FILES docs/from_scikit_learn.md DESTINATION share/scullery) # help() reads its tables
install(DIRECTORY core/include/scullery DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${MADE}/scullery.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(DIRECTORY ${MADE}/reference DESTINATION share/doc/scullery OPTIONAL)
install(DIRECTORY docs/ DESTINATION share/doc/scullery FILES_MATCHING PATTERN "reference" EXCLUDE PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.csv" PATTERN "*.csv.gz" PATTERN "*.ipynb")
install(FILES scripts/embed/predict.c scripts/embed/predict.py DESTINATION share/doc/scullery/examples)
install(FILES LICENSE DESTINATION share/doc/scullery RENAME copyright)

# The build tree is laid out like an installation, with files of the source linked so that an edit shows at once.
foreach(link "share/lua/5.4/scullery lua/scullery" "share/lua/5.4/scullery_checker checker/lua" "share/scullery/jupyter scripts/jupyter" "share/scullery/python scripts/python" "share/scullery/from_scikit_learn.md docs/from_scikit_learn.md" "include core/include")
  separate_arguments(link)
  list(GET link 0 name)
  list(GET link 1 source)
  cmake_path(GET name PARENT_PATH folder)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  if(NOT IS_SYMLINK ${CMAKE_BINARY_DIR}/${name}) # a copy of a build tree may hold a copy of the folder
    file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/${name})
  endif()
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${source} ${CMAKE_BINARY_DIR}/${name} SYMBOLIC)
endforeach()

# find_package(Scullery). A minor version may change everything but plugin interface 1 while the major version is 0.
include(CMakePackageConfigHelpers)
set(compatible SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatible SameMinorVersion)
endif()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SculleryConfigVersion.cmake COMPATIBILITY ${compatible})
configure_package_config_file(cmake/SculleryConfig.cmake.in ${CMAKE_BINARY_DIR}/installed/SculleryConfig.cmake
  INSTALL_DESTINATION ${SCULLERY_PACKAGE_DIR} PATH_VARS SCULLERY_INCLUDE_DIR SCULLERY_PLUGINS_DIR)
install(FILES ${CMAKE_BINARY_DIR}/installed/SculleryConfig.cmake ${CMAKE_BINARY_DIR}/SculleryConfigVersion.cmake cmake/SculleryAddPlugin.cmake
  DESTINATION ${SCULLERY_PACKAGE_DIR})
install(EXPORT SculleryTargets NAMESPACE Scullery:: DESTINATION ${SCULLERY_PACKAGE_DIR})
block(SCOPE_FOR VARIABLES)
  set(SCULLERY_INCLUDE_DIR include)
  set(SCULLERY_PLUGINS_DIR plugins)
  configure_package_config_file(cmake/SculleryConfig.cmake.in ${CMAKE_BINARY_DIR}/SculleryConfig.cmake
    INSTALL_DESTINATION . INSTALL_PREFIX ${CMAKE_BINARY_DIR} PATH_VARS SCULLERY_INCLUDE_DIR SCULLERY_PLUGINS_DIR)
endblock()
configure_file(cmake/SculleryAddPlugin.cmake ${CMAKE_BINARY_DIR}/SculleryAddPlugin.cmake COPYONLY)
export(EXPORT SculleryTargets NAMESPACE Scullery:: FILE ${CMAKE_BINARY_DIR}/SculleryTargets.cmake)

# pkg-config scullery, of the installation and of the build tree (PKG_CONFIG_PATH=build/pkgconfig).
set(root /prefix)
cmake_path(RELATIVE_PATH root BASE_DIRECTORY /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig OUTPUT_VARIABLE way)
set(PC_PREFIX "\${pcfiledir}/${way}")
set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(PC_PLUGINSDIR "\${prefix}/${SCULLERY_PLUGINS_DIR}")
configure_file(cmake/scullery.pc.in installed/scullery.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/installed/scullery.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(PC_PREFIX "\${pcfiledir}/..")
set(PC_LIBDIR "\${prefix}")
set(PC_INCLUDEDIR "\${prefix}/include")
set(PC_PLUGINSDIR "\${prefix}/plugins")
configure_file(cmake/scullery.pc.in pkgconfig/scullery.pc @ONLY)

set(SCULLERY_FOLDERS ${CMAKE_INSTALL_LIBDIR}/scullery ${SCULLERY_PACKAGE_DIR} ${CMAKE_INSTALL_INCLUDEDIR}/scullery
  ${SCULLERY_LUA_FILES}/scullery ${SCULLERY_LUA_FILES}/scullery_checker ${SCULLERY_LUA_MODULES}/scullery share/scullery share/doc/scullery)
configure_file(cmake/uninstall.cmake.in uninstall.cmake @ONLY)
add_custom_target(uninstall ${CMAKE_COMMAND} -P ${CMAKE_BINARY_DIR}/uninstall.cmake VERBATIM)
