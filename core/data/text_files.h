/* Files of text as texts. */
#ifndef SCULLERY_TEXT_FILES_H
#define SCULLERY_TEXT_FILES_H

#include "text/texts.h"

/* *out = a text of each file, or with `lines` of each line (which ends in LF or CR LF; the last may
 * lack it). gzip is known by its first bytes, and `unpacked` bounds it (data/files/input.h); "-" is
 * the standard input. counts (n_paths numbers): the texts of each file. A zero byte:
 * SCL_STATUS_BAD_DATA with file and line. */
scl_status scl_text_files_read(const char *const *paths, size_t n_paths, bool lines,
                               size_t unpacked, scl_texts *out, size_t *counts, scl_error *error);

#endif
