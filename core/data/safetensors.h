/* Files of named arrays in the format safetensors (https://github.com/huggingface/safetensors): 8
 * bytes with the length of a header, the header in JSON, then the arrays, little-endian and row by
 * row. Ours carry one text, "scullery" in the header's __metadata__, and a digest:
 *
 *   {"__metadata__":{"sha256":"<64 digits>","scullery":"<text>"},"<name>":{"dtype":"F64",
 *    "shape":[2,3],"data_offsets":[0,48]}, ...}   then spaces up to a multiple of 8 bytes
 *
 * The SHA-256 is of the whole file with its own digits as zeros ("000...0"), so that no bit of the
 * file may differ. */
#ifndef SCULLERY_SAFETENSORS_H
#define SCULLERY_SAFETENSORS_H

#include "base/memory.h"

enum { SCL_TENSOR_NAME = 100, SCL_TENSORS = 1 << 16 };

/* An array of float64, float32, int64 or int32. Names: a-z, A-Z, 0-9, _ and dots. */
typedef struct scl_tensor {
  char name[SCL_TENSOR_NAME + 1];
  scl_array array;
} scl_tensor;

typedef struct scl_tensor_file {
  char *text; /* the description, UTF-8 */
  scl_tensor *tensors;
  size_t count;
  char sha256[65]; /* the digest in the header, which was found to be right, with a 0 */
} scl_tensor_file;

/* Whole or not at all. The arrays are borrowed; those with wide numbers come first in the file. */
scl_status scl_safetensors_write(const char *path, const char *text, const scl_tensor *tensors,
                                 size_t count, scl_error *error);
/* The same in memory: *bytes, which the caller releases, and their size. */
scl_status scl_safetensors_bytes(const char *text, const scl_tensor *tensors, size_t count,
                                 unsigned char **bytes, size_t *size, scl_error *error);
/* All that the file says is checked against its size before anything of that size is allocated: one
 * walk over its bytes, which may change meanwhile without harm. SCL_STATUS_BAD_DATA, with a
 * sentence, for what is damaged, cut off, or not written by scl_safetensors_write. The caller
 * releases *out. */
scl_status scl_safetensors_read(const char *path, scl_tensor_file *out, scl_error *error);
/* The same of a file in memory, whose numbers are copied; sentences begin with `what`. */
scl_status scl_safetensors_parse(const void *bytes, size_t size, const char *what,
                                 scl_tensor_file *out, scl_error *error);
void scl_tensor_file_release(scl_tensor_file *file);

#endif
