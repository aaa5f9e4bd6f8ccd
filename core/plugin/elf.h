/* Whether a file is a whole shared object of this machine. The system's loader trusts the headers,
 * so that a file that ends too early would end the process (SIGBUS). */
#ifndef SCULLERY_ELF_H
#define SCULLERY_ELF_H

#include "base/error.h"

/* Check that header, segments and sections are within the file and agree with each other.
 * SCL_STATUS_UNSUPPORTED with a sentence if they do not, SCL_STATUS_IO if the file cannot be
 * read. */
scl_status scl_elf_check(const char *path, scl_error *error);

#endif
