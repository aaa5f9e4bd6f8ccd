/* The header of a .npy file, shared by reading in order, at any place, and writing. */
#ifndef SCULLERY_NPY_INTERNAL_H
#define SCULLERY_NPY_INTERNAL_H

#include "algebra/matrix.h"
#include "data/files/input.h"

typedef struct npy_layout {
  char kind;   /* f, i, u, b; of texts S (bytes) and U (four bytes a character) */
  size_t size; /* bytes a number or text */
  bool swapped, by_column;
  size_t rows, cols, data_at;
} npy_layout;

enum { NPY_PREFIX = 12, NPY_LONGEST = 65536, NPY_HEADER = 128 };

/* Bytes of the prefix (magic, version, length) and the header, from the first NPY_PREFIX bytes of a
 * file (`length` of them are there). */
scl_status npy_header_size(const char *path, const char *bytes, size_t length, size_t *out,
                           scl_error *error);
/* All of the prefix and header: `size` bytes followed by a 0. Nothing in it is evaluated. texts:
 * whether an array of texts is taken. */
scl_status npy_parse_header(const char *path, const char *bytes, size_t size, bool texts,
                            npy_layout *out, scl_error *error);
/* `count` adjacent numbers to doubles. */
void npy_decode(const npy_layout *layout, const unsigned char *from, size_t count, double *to);
/* The same of integers and booleans. */
void npy_decode_integers(const npy_layout *layout, const unsigned char *from, size_t count,
                         int64_t *to);

/* The bytes of a .npy file, from its beginning, wherever they come from. */
typedef struct npy_bytes {
  const char *path; /* for sentences */
  scl_status (*read)(void *from, void *to, size_t size, size_t *got, scl_error *error);
  void *from;
} npy_bytes;
scl_status npy_read_header(const npy_bytes *bytes, bool texts, npy_layout *out, scl_error *error);
/* The next `count` numbers to their places in *out, of which they are number `first` (from 0, in the
 * order of the file) and those that follow. */
scl_status npy_read_numbers(const npy_bytes *bytes, const npy_layout *layout, size_t first,
                            size_t count, const scl_matrix *out, scl_error *error);
/* float32 stays float32; every other type becomes float64. */
scl_dtype npy_dtype(const npy_layout *layout);

/* Are the bytes of the file numbers of this dtype as they stand? */
bool npy_is_native(const npy_layout *layout, scl_dtype dtype);
bool npy_big_endian(void);

/* The header of an array of `type` ("f8"), of NPY_HEADER bytes whatever its shape. dimensions: 0, 1
 * (rows) or 2. */
void npy_make_header(const char *type, unsigned dimensions, size_t rows, size_t cols,
                     char header[NPY_HEADER]);

/* Texts in UTF-8 as NumPy stores them, four bytes a character: the number of characters, and these
 * in `to`. A byte that is not part of valid UTF-8 stands for itself. */
size_t npy_characters(const char *text);
void npy_widen(const char *text, uint32_t *to);

#endif
