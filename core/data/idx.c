#include "data/idx.h"

#include "base/interrupt.h"
#include "base/pool.h"
#include "data/files/input.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct idx_array {
  unsigned char *bytes;    /* its numbers */
  size_t rows, each, size; /* each: numbers a row; size: bytes a number */
  unsigned type;
} idx_array;

enum { MAGIC = 4, NUMBER = 4, MOST_DIMS = 8 };

static uint32_t big32(const unsigned char *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static size_t size_of(unsigned type) {
  switch (type) {
  case 0x08:
  case 0x09:
    return 1;
  case 0x0b:
    return 2;
  case 0x0c:
  case 0x0d:
    return 4;
  case 0x0e:
    return 8;
  default:
    return 0;
  }
}

/* Where it has two bytes of zeros, a type, a number of dimensions, and a first one. */
static scl_status read_magic(scl_input *input, const char *path, unsigned char *header,
                             scl_error *error) {
  size_t got = 0;
  SCL_TRY(scl_input_read(input, header, MAGIC + NUMBER, &got, error));
  if (got == 0) return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file is empty", path);
  if (got == MAGIC + NUMBER && header[0] == 0 && header[1] == 0 && size_of(header[2]) != 0 &&
      header[3] >= 1 && header[3] <= MOST_DIMS)
    return SCL_STATUS_OK;
  const unsigned long magic = got >= MAGIC ? big32(header) : 0;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: wrong magic number %lu: this is no IDX file (images of bytes have 2051, labels 2049)",
      path, magic);
}

static scl_status read_header(scl_input *input, const char *path, idx_array *out, size_t *length,
                              scl_error *error) {
  unsigned char header[MAGIC + NUMBER * MOST_DIMS];
  size_t got = 0;
  SCL_TRY(read_magic(input, path, header, error));
  const size_t dims = header[3], more = NUMBER * (dims - 1);
  SCL_TRY(scl_input_read(input, header + MAGIC + NUMBER, more, &got, error));
  if (got != more)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the IDX header is cut off", path);
  *length = MAGIC + NUMBER * dims;
  out->type = header[2];
  out->size = size_of(header[2]);
  out->rows = big32(header + MAGIC);
  out->each = 1;
  for (size_t k = 1; k < dims; k++) {
    const size_t dim = big32(header + MAGIC + NUMBER * k);
    if (dim != 0 && out->each > ((size_t)1 << 40) / dim)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the sizes in the IDX header are absurd",
                      path);
    out->each *= dim;
  }
  return SCL_STATUS_OK;
}

static scl_status refuse_length(const char *path, const idx_array *a, double length, double wanted,
                                scl_error *error) {
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: the file has %.0f bytes where its header (%zu rows of %zu numbers) says %.0f: it is %s",
      path, length, a->rows, a->each, wanted, length < wanted ? "cut off" : "too long");
}

static scl_status read_numbers(scl_input *input, const char *path, size_t header, idx_array *out,
                               scl_error *error) {
  const double numbers = (double)out->rows * (double)out->each * (double)out->size,
               wanted = (double)header + numbers;
  size_t got = 0, more = 0;
  char byte;
  const double most = (double)scl_input_most(input);
  if (wanted > most && scl_input_is_packed(input))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: the packed file is too short to hold the %.0f bytes that its header (%zu "
                    "rows of %zu numbers) says: it is cut off",
                    path, wanted, out->rows, out->each);
  if (wanted > most) return refuse_length(path, out, most, wanted, error);
  SCL_TRY(scl_input_admit(input, wanted, error));
  const size_t bytes = numbers < 0x1p62 ? out->rows * out->each * out->size : SIZE_MAX;
  out->bytes = scl_allocate(bytes);
  if (out->bytes == NULL) return scl_fail_memory(error, bytes, path);
  SCL_TRY(scl_input_read(input, out->bytes, bytes, &got, error));
  if (got < bytes) return refuse_length(path, out, (double)(header + got), wanted, error);
  do { /* how much too long it is */
    SCL_TRY(scl_input_read(input, &byte, 1, &more, error));
    got += more;
  } while (more > 0 && got < bytes + (1u << 16));
  return got == bytes ? SCL_STATUS_OK
                      : refuse_length(path, out, (double)(header + got), wanted, error);
}

static scl_status open_idx(const char *path, size_t unpacked, idx_array *out, scl_error *error) {
  scl_input *input;
  size_t header = 0;
  SCL_TRY(scl_input_open(path, &input, error));
  scl_input_set_bound(input, unpacked);
  scl_status status = read_header(input, path, out, &header, error);
  if (status == SCL_STATUS_OK) status = read_numbers(input, path, header, out, error);
  scl_input_close(input);
  return status;
}

static double number_at(const idx_array *a, size_t place) {
  const unsigned char *b = a->bytes + place * a->size;
  uint64_t bits = 0;
  for (size_t k = 0; k < a->size; k++)
    bits = bits << 8 | b[k];
  union {
    uint32_t u4;
    float f4;
    uint64_t u8;
    double f8;
  } v;
  switch (a->type) {
  case 0x08:
    return (double)bits;
  case 0x09:
    return (double)(int8_t)bits;
  case 0x0b:
    return (double)(int16_t)bits;
  case 0x0c:
    return (double)(int32_t)bits;
  case 0x0d:
    v.u4 = (uint32_t)bits;
    return (double)v.f4;
  default:
    v.u8 = bits;
    return v.f8;
  }
}

/* ---------------------------------------------------------------- bytes to numbers, some a task */

typedef struct converting {
  const idx_array *from;
  scl_matrix *to;
  size_t first;     /* number of `to` */
  double wide[256]; /* the values of bytes */
  double factor;
  atomic_bool infinite;
} converting;

enum { A_TASK = SCL_BUFFER(1 << 18) };

static void convert_some(void *context, size_t index) {
  converting *job = context;
  const idx_array *a = job->from;
  const size_t first = index * A_TASK, end = scl_min(first + A_TASK, a->rows * a->each);
  const bool narrow = job->to->dtype == SCL_DTYPE_FLOAT32;
  double sum = 0;
  if (scl_interrupted()) return;
  for (size_t place = first; place < end; place++) {
    const double value =
        a->type == 0x08 ? job->wide[a->bytes[place]] : job->factor * number_at(a, place);
    if (narrow) {
      const float number = (float)value;
      ((float *)job->to->data)[job->first + place] = number;
      sum += 0 * (double)number;
    } else {
      ((double *)job->to->data)[job->first + place] = value;
      sum += 0 * value;
    }
  }
  if (isnan(sum)) atomic_store(&job->infinite, true); /* 0 x is NaN exactly where x is not finite */
}

/* Into the rows of `to`, which lie one after the other, from `first` on. */
static scl_status convert(const char *path, const idx_array *a, double factor, scl_matrix *to,
                          size_t first, scl_error *error) {
  converting job = {.from = a, .to = to, .first = first * a->each, .factor = factor};
  size_t row = 0, col = 0;
  atomic_init(&job.infinite, false);
  for (int v = 0; v < 256; v++)
    job.wide[v] = factor * v;
  scl_pool_run((a->rows * a->each + A_TASK - 1) / A_TASK, convert_some, &job);
  SCL_TRY(scl_interrupt_check(error));
  if (!atomic_load(&job.infinite)) return SCL_STATUS_OK;
  scl_matrix part = scl_matrix_slice(to, first, a->rows, 0, a->each);
  (void)scl_matrix_find_nonfinite(&part, &row, &col);
  scl_matrix_release(&part);
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: row %zu, number %zu is not finite", path,
                  row + 1, col + 1);
}

/* ---------------------------------------------------------------- parts */

static scl_status check_part(const char *const *images, const char *const *labels,
                             const idx_array *arrays, size_t parts, size_t k, scl_error *error) {
  const idx_array *image = &arrays[k], *label = &arrays[parts + k];
  if (image->rows == 0 || image->each == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it holds no numbers (%zu rows of %zu)",
                    images[k], image->rows, image->each);
  if (image->each != arrays[0].each)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%s: its rows have %zu numbers, and those of %s have %zu", images[k],
                    image->each, images[0], arrays[0].each);
  if (labels == NULL) return SCL_STATUS_OK;
  if (label->each != 1)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%s: labels are one number a row, and its rows have %zu", labels[k],
                    label->each);
  if (label->rows == image->rows) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_SHAPE, "%s holds %zu labels, and %s %zu images", labels[k],
                  label->rows, images[k], image->rows);
}

static scl_status read_all(const char *const *images, const char *const *labels, size_t parts,
                           double scale, scl_dtype dtype, size_t unpacked, idx_array *arrays,
                           scl_table *out, scl_error *error) {
  for (size_t k = 0; k < parts; k++) {
    SCL_TRY(open_idx(images[k], unpacked, &arrays[k], error));
    if (labels != NULL) SCL_TRY(open_idx(labels[k], unpacked, &arrays[parts + k], error));
    SCL_TRY(check_part(images, labels, arrays, parts, k, error));
    out->part_rows[k] = arrays[k].rows;
    out->rows += arrays[k].rows;
  }
  out->cols = arrays[0].each;
  SCL_TRY(scl_table_make(out, dtype, false, labels != NULL, error));
  for (size_t k = 0, first = 0; k < parts; first += out->part_rows[k++]) {
    SCL_TRY(convert(images[k], &arrays[k], scale, &out->x, first, error));
    if (labels != NULL) SCL_TRY(convert(labels[k], &arrays[parts + k], 1, &out->y, first, error));
  }
  if (labels == NULL) return SCL_STATUS_OK;
  out->classification = true;
  return scl_table_number_classes(out, error);
}

scl_status scl_idx_read(const char *const *images, const char *const *labels, size_t parts,
                        double scale, scl_dtype dtype, size_t unpacked, scl_table *out,
                        scl_error *error) {
  memset(out, 0, sizeof *out);
  out->parts = parts;
  out->name_prefix = "p";
  out->part_rows = scl_allocate_zero((parts + 1) * sizeof *out->part_rows);
  idx_array *arrays = scl_allocate_zero((2 * parts + 1) * sizeof *arrays);
  const scl_status status =
      out->part_rows == NULL || arrays == NULL
          ? scl_fail_memory(error, parts * sizeof *arrays, "parts")
          : read_all(images, labels, parts, scale, dtype, unpacked, arrays, out, error);
  for (size_t k = 0; arrays != NULL && k < 2 * parts; k++)
    scl_release(arrays[k].bytes);
  scl_release(arrays);
  if (status != SCL_STATUS_OK) scl_table_destroy(out);
  return status;
}
