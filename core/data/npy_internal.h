/* The header of a .npy file, shared by reading whole and streaming. */
#ifndef SCULLERY_NPY_INTERNAL_H
#define SCULLERY_NPY_INTERNAL_H

#include "algebra/matrix.h"

typedef struct npy_layout {
  char kind;   /* f, i, u, b */
  size_t size; /* bytes a number */
  bool swapped, by_column;
  size_t rows, cols, data_at;
} npy_layout;

enum { NPY_PREFIX = 12, NPY_LONGEST = 65536 };

/* Bytes of the prefix (magic, version, length) and the header, from the first NPY_PREFIX bytes of a
 * file (`length` of them are there). */
scl_status npy_header_size(const char *path, const char *bytes, size_t length, size_t *out,
                           scl_error *error);
/* All of the prefix and header: `size` bytes followed by a 0. Nothing in it is evaluated. */
scl_status npy_parse_header(const char *path, const char *bytes, size_t size, npy_layout *out,
                            scl_error *error);
/* `count` adjacent numbers to doubles. */
void npy_decode(const npy_layout *layout, const unsigned char *from, size_t count, double *to);
/* Are the bytes of the file numbers of this dtype as they stand? */
bool npy_is_native(const npy_layout *layout, scl_dtype dtype);
bool npy_big_endian(void);

#endif
