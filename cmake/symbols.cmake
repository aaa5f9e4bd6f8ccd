# Versions of the symbols of libscullery. The functions that scullery/scullery.h declares are SCULLERY_<version>, the version that the
# SONAME has: other programs may rely on them. All others are SCULLERY_PRIVATE_<whole version>: a program that calls one is refused by
# the loader as soon as it meets another libscullery.
# Not with a sanitizer: there the library stands in for functions of glibc (core/base/sanitizer), which a symbol of another version
# cannot.
if(SCULLERY_SANITIZE)
  return()
endif()
set(SYMBOLS "")
set(header ${CMAKE_SOURCE_DIR}/core/include/scullery/scullery.h)
if(EXISTS ${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(READ ${header} text)
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX MATCHALL "scl_[a-z0-9_]+ *\\(" SYMBOLS "${text}")
  list(TRANSFORM SYMBOLS REPLACE " *\\(" "")
  list(REMOVE_DUPLICATES SYMBOLS)
  list(SORT SYMBOLS)
  list(TRANSFORM SYMBOLS APPEND "\;")
  list(JOIN SYMBOLS " " SYMBOLS)
  string(PREPEND SYMBOLS "global: ")
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/libscullery.map @ONLY CONTENT [[
SCULLERY_@SCULLERY_SOVERSION@ { @SYMBOLS@ };
SCULLERY_PRIVATE_@PROJECT_VERSION@ { global: *; };
]])
set_target_properties(libscullery PROPERTIES LINK_DEPENDS ${CMAKE_BINARY_DIR}/libscullery.map)
target_link_options(libscullery PRIVATE LINKER:--version-script=${CMAKE_BINARY_DIR}/libscullery.map)
