/* Whether a file is a whole shared object of this machine: the loader trusts what headers say, and
 * a file that ends before would end the process (SIGBUS). */
#ifndef SCULLERY_ELF_H
#define SCULLERY_ELF_H

#include "base/error.h"

/* Header, program headers and sections lie within the file. SCL_STATUS_UNSUPPORTED with a sentence
 * otherwise, SCL_STATUS_IO where it cannot be read. */
scl_status scl_elf_check(const char *path, scl_error *error);

#endif
