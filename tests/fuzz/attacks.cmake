# The attacks: as NAME_fresh, for about as many seconds as stand here, with a seed that is new for each state of the committed files: what
# fails there fails again. By hand they go on for as long as --seconds says, with a seed of the clock:
# build/scullery tests/fuzz/NAME.lua --seed fresh --seconds 3600.
if(NOT SCULLERY_SANITIZE)
  add_library(failing_allocator MODULE fuzz/failing_allocator.c)
  set_target_properties(failing_allocator PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fuzz
    C_VISIBILITY_PRESET default)
  target_link_libraries(failing_allocator PRIVATE flags)
endif()

function(add_attack name seconds)
  add_test(NAME attack_${name}_fresh COMMAND $<TARGET_FILE:scullery> tests/fuzz/${name}.lua --seed tree --seconds ${seconds} ${ARGN}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  describe_test(attack_${name}_fresh)
  set_tests_properties(attack_${name}_fresh PROPERTIES LABELS "slow;attack")
endfunction()

if(NOT SCULLERY_SANITIZE)
  add_attack(api 20)
  add_attack(allocations 20)
  add_attack(signals 15 --grace 15)
  add_attack(limits 15)
  add_attack(kills 15)
  add_attack(checkpoints 20)
  add_attack(combinations 20)
  add_attack(processes 15)
  add_attack(experiments 30 --kills 1000)
elseif(SCULLERY_SANITIZE MATCHES "address")
  add_attack(api 8)
  add_attack(allocations 8)
  add_attack(combinations 8)
endif()

# The harnesses of libFuzzer run in the preset "fuzz" alone; here they are compiled, so that a function that changes tells of them at once.
file(GLOB HARNESSES CONFIGURE_DEPENDS fuzz/read*.c fuzz/write_*.c)
add_library(compiled_harnesses OBJECT ${HARNESSES})
target_include_directories(compiled_harnesses PRIVATE ${CMAKE_SOURCE_DIR}/core ${CMAKE_SOURCE_DIR}/core/include)
target_link_libraries(compiled_harnesses PRIVATE flags libscullery ZLIB::ZLIB PkgConfig::CJSON PkgConfig::MD PkgConfig::LUA)
