#define _POSIX_C_SOURCE 200809L
#include "npy.h"

#include "input.h"
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct layout {
  char kind; /* f, i, u, b */
  size_t size;
  bool swapped, by_column;
  size_t rows, cols, data_at;
} layout;

static bool big_endian(void) {
  const uint16_t one = 1;
  return *(const unsigned char *)&one == 0;
}

/* The value after 'key': in the header's dictionary; it is read, never evaluated. */
static const char *value_of(const char *header, const char *key) {
  char quoted[32];
  (void)snprintf(quoted, sizeof quoted, "'%s':", key);
  const char *at = strstr(header, quoted);
  if (at == NULL) return NULL;
  at += strlen(quoted);
  while (*at == ' ') at++;
  return at;
}

static scl_status parse_type(const char *path, const char *descr, layout *out, scl_error *error) {
  const char order = descr != NULL && *descr == '\'' ? descr[1] : 0;
  if (order == 0 || strchr("<>|=", order) == NULL) return scl_fail(error, SCL_BAD_DATA, "%s: an array of numbers is wanted, not of records", path);
  out->kind = descr[2];
  out->size = (size_t)(descr[3] - '0');
  out->swapped = (order == '<' && big_endian()) || (order == '>' && !big_endian());
  const bool known = (out->kind == 'f' && (out->size == 4 || out->size == 8)) ||
                     ((out->kind == 'i' || out->kind == 'u') && (out->size == 1 || out->size == 2 || out->size == 4 || out->size == 8)) ||
                     (out->kind == 'b' && out->size == 1);
  if (known && descr[4] == '\'') return SCL_OK;
  return scl_fail(error, SCL_BAD_DATA, "%s: its type %.8s is not read; float32, float64, integers and booleans are", path, descr);
}

static scl_status parse_shape(const char *path, const char *shape, layout *out, scl_error *error) {
  size_t dims[3] = {1, 1, 1}, count = 0;
  if (shape == NULL || *shape != '(') return scl_fail(error, SCL_BAD_DATA, "%s: the .npy header has no shape", path);
  for (const char *at = shape + 1; *at != ')' && *at != 0;) {
    char *end;
    if (*at == ',' || *at == ' ') {
      at++;
      continue;
    }
    const unsigned long long size = strtoull(at, &end, 10);
    if (end == at) return scl_fail(error, SCL_BAD_DATA, "%s: the shape in the .npy header is damaged", path);
    if (count < 3) dims[count] = (size_t)size;
    count++;
    at = end;
  }
  if (count > 2) return scl_fail(error, SCL_BAD_DATA, "%s: it has %zu dimensions; a matrix has at most 2", path, count);
  out->rows = dims[0];
  out->cols = dims[1];
  if (out->cols != 0 && out->rows > SIZE_MAX / 16 / out->cols)
    return scl_fail(error, SCL_BAD_DATA, "%s: its header says %zu x %zu numbers", path, out->rows, out->cols);
  return SCL_OK;
}

/* `bytes` holds the beginning of the file, `length` of them. */
static scl_status parse_header(const char *path, const char *bytes, size_t length, layout *out, scl_error *error) {
  if (length < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) return scl_fail(error, SCL_BAD_DATA, "%s: this is no .npy file", path);
  const unsigned char *b = (const unsigned char *)bytes;
  const size_t prefix = b[6] == 1 ? 10 : 12;
  if (b[6] < 1 || b[6] > 3 || length < prefix) return scl_fail(error, SCL_BAD_DATA, "%s: .npy version %d is not known", path, b[6]);
  const size_t size = prefix == 10 ? (size_t)b[8] | (size_t)b[9] << 8 : (size_t)b[8] | (size_t)b[9] << 8 | (size_t)b[10] << 16 | (size_t)b[11] << 24;
  if (size > 65536 || length < prefix + size) return scl_fail(error, SCL_BAD_DATA, "%s: the .npy header is damaged or cut off", path);
  char *header = scl_allocate(size + 1);
  if (header == NULL) return scl_fail_memory(error, size, "a header");
  memcpy(header, bytes + prefix, size);
  header[size] = 0;
  out->data_at = prefix + size;
  const char *order = value_of(header, "fortran_order");
  out->by_column = order != NULL && strncmp(order, "True", 4) == 0;
  scl_status status = parse_type(path, value_of(header, "descr"), out, error);
  if (status == SCL_OK) status = parse_shape(path, value_of(header, "shape"), out, error);
  scl_release(header);
  return status;
}

/* One number from its bytes. */
static double decode(const layout *l, const unsigned char *from) {
  unsigned char b[8];
  for (size_t k = 0; k < l->size; k++) b[k] = from[l->swapped ? l->size - 1 - k : k];
  union {
    float f4;
    double f8;
    int8_t i1;
    int16_t i2;
    int32_t i4;
    int64_t i8;
    uint8_t u1;
    uint16_t u2;
    uint32_t u4;
    uint64_t u8;
  } v;
  memcpy(&v, b, l->size);
  if (l->kind == 'f') return l->size == 4 ? (double)v.f4 : v.f8;
  if (l->kind == 'i') return l->size == 1 ? v.i1 : l->size == 2 ? v.i2 : l->size == 4 ? v.i4 : (double)v.i8;
  return l->size == 1 ? v.u1 : l->size == 2 ? v.u2 : l->size == 4 ? v.u4 : (double)v.u8;
}

scl_status scl_npy_read(const char *path, scl_matrix *out, scl_error *error) {
  char *bytes;
  size_t length;
  layout l = {0};
  SCL_TRY(scl_input_all(path, &bytes, &length, error));
  scl_status status = parse_header(path, bytes, length, &l, error);
  const size_t wanted = l.rows * l.cols * l.size;
  if (status == SCL_OK && length - l.data_at != wanted)
    status = scl_fail(error, SCL_BAD_DATA, "%s: %zu bytes of numbers where a %zu x %zu array takes %zu", path, length - l.data_at, l.rows, l.cols, wanted);
  if (status == SCL_OK) status = scl_matrix_create_raw(l.rows, l.cols, l.kind == 'f' && l.size == 4 ? SCL_F32 : SCL_F64, out, error);
  const unsigned char *from = (const unsigned char *)bytes + l.data_at;
  for (size_t i = 0; status == SCL_OK && i < l.rows; i++)
    for (size_t j = 0; j < l.cols; j++) scl_matrix_set(out, i, j, decode(&l, from + (l.by_column ? j * l.rows + i : i * l.cols + j) * l.size));
  scl_release(bytes);
  return status;
}

scl_status scl_npy_write(const scl_matrix *a, const char *path, scl_error *error) {
  char header[128];
  scl_output *output;
  scl_matrix packed;
  const char type = a->dtype == SCL_F64 ? '8' : '4';
  int used = snprintf(header + 10, sizeof header - 10, "{'descr': '%cf%c', 'fortran_order': False, 'shape': (%zu, %zu), }", big_endian() ? '>' : '<',
                      type, a->rows, a->cols);
  const size_t total = ((size_t)used + 10 + 1 + 63) / 64 * 64, size = total - 10;
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)(size & 0xff);
  header[9] = (char)(size >> 8);
  memset(header + 10 + used, ' ', total - 10 - (size_t)used - 1);
  header[total - 1] = '\n';
  SCL_TRY(scl_matrix_copy(a, a->dtype, &packed, error));
  scl_status status = scl_output_open(path, &output, error);
  if (status == SCL_OK) {
    scl_output_write(output, header, total);
    scl_output_write(output, packed.data, packed.rows * packed.cols * scl_dtype_size(packed.dtype));
    status = scl_output_commit(output, error);
  }
  scl_matrix_release(&packed);
  return status;
}

/* ---------------------------------------------------------------- rows from disk */

typedef struct array_file {
  int descriptor;
  layout layout;
} array_file;

typedef struct npy_source {
  scl_source base;
  array_file x, y;
} npy_source;

static scl_status open_array(const char *path, array_file *out, scl_error *error) {
  char head[4096];
  struct stat file;
  out->descriptor = open(path, O_RDONLY);
  if (out->descriptor < 0 || fstat(out->descriptor, &file) != 0) return scl_fail(error, SCL_IO, "%s: %s", path, strerror(errno));
  const ssize_t got = pread(out->descriptor, head, sizeof head, 0);
  if (got < 0) return scl_fail(error, SCL_IO, "%s: %s", path, strerror(errno));
  SCL_TRY(parse_header(path, head, (size_t)got, &out->layout, error));
  const layout *l = &out->layout;
  if (l->by_column && l->cols > 1) return scl_fail(error, SCL_UNSUPPORTED, "%s: it is stored by columns; rows stream from arrays in C order", path);
  if ((size_t)file.st_size != l->data_at + l->rows * l->cols * l->size)
    return scl_fail(error, SCL_BAD_DATA, "%s: the file has %zu bytes where its header says %zu", path, (size_t)file.st_size,
                    l->data_at + l->rows * l->cols * l->size);
  return SCL_OK;
}

static scl_status read_array(const array_file *a, size_t first, size_t count, scl_matrix *to, scl_error *error) {
  const layout *l = &a->layout;
  const size_t bytes = count * l->cols * l->size;
  unsigned char *buffer = scl_allocate(bytes + 1);
  if (buffer == NULL) return scl_fail_memory(error, bytes, "rows");
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(a->descriptor, buffer + done, bytes - done, (off_t)(l->data_at + first * l->cols * l->size + done));
    if (got <= 0) {
      scl_release(buffer);
      return scl_fail(error, SCL_IO, "rows %zu to %zu cannot be read: %s", first + 1, first + count, got == 0 ? "the file became shorter" : strerror(errno));
    }
    done += (size_t)got;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < l->cols; j++) scl_matrix_set(to, i, j, decode(l, buffer + (i * l->cols + j) * l->size));
  scl_release(buffer);
  return SCL_OK;
}

static scl_status npy_source_read(scl_source *source, size_t first, size_t count, scl_matrix *x, scl_matrix *y, scl_error *error) {
  npy_source *s = (npy_source *)source;
  SCL_TRY(read_array(&s->x, first, count, x, error));
  return y == NULL || s->base.targets == 0 ? SCL_OK : read_array(&s->y, first, count, y, error);
}

static void npy_source_destroy(scl_source *source) {
  npy_source *s = (npy_source *)source;
  if (s->x.descriptor >= 0) (void)close(s->x.descriptor);
  if (s->y.descriptor >= 0) (void)close(s->y.descriptor);
  scl_release(s);
}

static const scl_source_class npy_source_class = {npy_source_read, npy_source_destroy};

scl_status scl_npy_stream(const char *x_path, const char *y_path, scl_source **out, scl_error *error) {
  npy_source *s = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a stream");
  s->x.descriptor = s->y.descriptor = -1;
  scl_status status = open_array(x_path, &s->x, error);
  if (status == SCL_OK && y_path != NULL) status = open_array(y_path, &s->y, error);
  if (status == SCL_OK && y_path != NULL && s->y.layout.rows != s->x.layout.rows)
    status = scl_fail(error, SCL_BAD_SHAPE, "%s has %zu rows and %s has %zu", x_path, s->x.layout.rows, y_path, s->y.layout.rows);
  s->base = (scl_source){&npy_source_class, s->x.layout.rows, s->x.layout.cols, y_path == NULL ? 0 : s->y.layout.cols, true, true};
  if (status == SCL_OK)
    *out = &s->base;
  else
    npy_source_destroy(&s->base);
  return status;
}
