# Versions of the symbols of libscullery and libscullery-fit. The functions that scullery/scullery.h (fit.h) declares are
# SCULLERY_<version>, the version that the SONAME has: other programs may rely on them. All others of libscullery are
# SCULLERY_PRIVATE_<whole version>: a program that calls one is refused by the loader as soon as it meets another libscullery. All others
# of libscullery-fit are hidden.

# scullery_public_symbols(TARGET HEADER PRIVATE): PRIVATE is the name of the version of all other symbols; "": they are hidden.
# Not with a sanitizer: there the library stands in for functions of glibc (core/base/sanitizer), which a symbol of another version
# cannot.
function(scullery_public_symbols target name private)
  if(SCULLERY_SANITIZE)
    return()
  endif()
  set(SYMBOLS "")
  set(header ${CMAKE_SOURCE_DIR}/core/include/scullery/${name})
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
  if(private STREQUAL "")
    string(APPEND SYMBOLS " local: *;")
  endif()
  set(map "SCULLERY_${SCULLERY_SOVERSION} { ${SYMBOLS} };\n")
  if(NOT private STREQUAL "")
    string(APPEND map "${private} { global: *; };\n")
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${target}.map @ONLY CONTENT "${map}")
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${CMAKE_BINARY_DIR}/${target}.map)
  target_link_options(${target} PRIVATE LINKER:--version-script=${CMAKE_BINARY_DIR}/${target}.map)
endfunction()

scullery_public_symbols(libscullery scullery.h SCULLERY_PRIVATE_${PROJECT_VERSION})
