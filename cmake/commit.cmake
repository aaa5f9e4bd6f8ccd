# Writes the header OUT with SCULLERY_COMMIT, the commit of the sources in SOURCE: twelve digits, and "+" with files changed since; "" where
# git does not know. The file is written where it would change, so that a build compiles it anew only then.
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(commit "")
get_filename_component(source ${SOURCE} REALPATH)
if(top STREQUAL source) # not that of a repository which the sources were copied into
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${SOURCE} --no-optional-locks diff --quiet HEAD -- core plugins lua cmake CMakeLists.txt
    RESULT_VARIABLE changed ERROR_QUIET)
  if(commit AND changed)
    string(APPEND commit "+")
  endif()
endif()
set(text "#define SCULLERY_COMMIT \"${commit}\"\n")
if(EXISTS ${OUT})
  file(READ ${OUT} there)
endif()
if(NOT there STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
