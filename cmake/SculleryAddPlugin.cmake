# scullery_add_plugin(NAME SOURCE... [KIND kind] [INSTALL])
#
# A plugin NAME.so of C or C++ files. Nothing but the plugin's symbol is visible; C is C11, C++ is C++20, where CMAKE_C_STANDARD or
# CMAKE_CXX_STANDARD says nothing else; without a build type it is optimised. INSTALL installs it to Scullery_PLUGINS_DIR, to its
# folder of that kind (sampler, nonlinearity, kernel, solver, transport, stage, metric, loss or reader) where KIND says so.
function(scullery_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "INSTALL" "KIND" "")
  set(kinds sampler nonlinearity kernel solver transport stage metric loss reader)
  if(NOT plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "scullery_add_plugin(${name}): names no source file")
  elseif(plugin_KEYWORDS_MISSING_VALUES OR (DEFINED plugin_KIND AND NOT plugin_KIND IN_LIST kinds))
    message(FATAL_ERROR "scullery_add_plugin(${name}): KIND takes sampler, nonlinearity, kernel, solver, transport, stage, metric, loss or reader, and got '${plugin_KIND}'")
  endif()

  add_library(${name} MODULE ${plugin_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX .so C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  foreach(language_and_standard "C;11" "CXX;20")
    list(GET language_and_standard 0 language)
    list(GET language_and_standard 1 standard)
    if(NOT DEFINED CMAKE_${language}_STANDARD)
      set_target_properties(${name} PROPERTIES ${language}_STANDARD ${standard} ${language}_STANDARD_REQUIRED ON)
    endif()
    if(NOT DEFINED CMAKE_${language}_EXTENSIONS)
      set_target_properties(${name} PROPERTIES ${language}_EXTENSIONS OFF)
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE Scullery::plugin m)
  # The same bits whether or not the machine has fused multiply-add.
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  get_property(many_configurations GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT many_configurations AND NOT CMAKE_BUILD_TYPE)
    target_compile_options(${name} PRIVATE -O2)
  endif()
  # A symbol that is missing is an error now, not when the plugin is loaded; a sanitizer's come with the program.
  if(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS} ${CMAKE_MODULE_LINKER_FLAGS}" MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE LINKER:-z,defs)
  endif()

  if(plugin_INSTALL)
    install(TARGETS ${name} LIBRARY DESTINATION ${Scullery_PLUGINS_DIR}/${plugin_KIND})
  endif()
endfunction()
