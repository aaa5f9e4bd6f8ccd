# Before the Debian package is packed: what Debian's policy asks of a tree that CMake installed. lintian then has nothing to say.
set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
find_program(GZIP gzip REQUIRED)

function(compress file)
  execute_process(COMMAND ${GZIP} -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(EXISTS ${share}/man/man1/scullery.1)
  compress(${share}/man/man1/scullery.1)
endif()
file(COPY_FILE ${CPACK_SCULLERY_SOURCE}/CHANGELOG.md ${share}/doc/scullery/changes.md)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH where it is set
file(WRITE ${share}/doc/scullery/changelog "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) stable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}: changes.md tells what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
compress(${share}/doc/scullery/changelog)
file(MAKE_DIRECTORY ${share}/lintian/overrides)
file(COPY_FILE ${CPACK_SCULLERY_SOURCE}/cmake/debian/lintian-overrides ${share}/lintian/overrides/scullery)
file(GLOB_RECURSE all LIST_DIRECTORIES true ${share}/lintian/* ${share}/doc/scullery/chang* ${share}/man/*)
foreach(path ${all} ${share}/lintian)
  if(IS_DIRECTORY ${path})
    file(CHMOD ${path} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  else()
    file(CHMOD ${path} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endif()
endforeach()
