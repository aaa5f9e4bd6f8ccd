/* Zip files of members that are stored or deflated, without encryption; zip64 where sizes need it.
 * Format: APPNOTE.TXT of PKWARE, 6.3.9. */
#ifndef SCULLERY_ZIP_H
#define SCULLERY_ZIP_H

#include "data/files/output.h"

typedef struct scl_zip scl_zip;

/* Open a regular file and read its directory. SCL_STATUS_BAD_DATA for what is not a zip file, is cut
 * off or damaged. */
scl_status scl_zip_open(const char *path, scl_zip **out, scl_error *error);
size_t scl_zip_count(const scl_zip *zip);
/* The name of member k, and its bytes once unpacked. */
const char *scl_zip_name(const scl_zip *zip, size_t k);
size_t scl_zip_size(const scl_zip *zip, size_t k);
/* Begin to read member k, in place of the one before. */
scl_status scl_zip_begin(scl_zip *zip, size_t k, scl_error *error);
/* Its next `size` bytes, fewer at its end alone, where its checksum is compared. Ctrl-C:
 * SCL_STATUS_CANCELLED. */
scl_status scl_zip_read(scl_zip *zip, void *to, size_t size, size_t *got, scl_error *error);
/* zip may be NULL. */
void scl_zip_close(scl_zip *zip);

/* A member that is written: the bytes of `head`, then those of `body`. */
typedef struct scl_zip_part {
  const char *name;
  const void *head, *body;
  size_t head_bytes, body_bytes;
} scl_zip_part;
/* Members one after the other, stored, and the directory. Errors are those of the output. */
void scl_zip_write(scl_output *output, const scl_zip_part *parts, size_t count);

#endif
