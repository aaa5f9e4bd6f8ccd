/* IDX files as a source of rows. Reading whole is one read of all rows of the source that streaming
 * uses. Callers: core/lua/data.c. */
#include "data/idx.h"

#include "base/interrupt.h"
#include "base/pool.h"
#include "base/text.h"
#include "data/files/input.h"
#include "data/shares.h"
#include "processes/processes.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* One file, open at its first number that was not read yet. */
typedef struct idx_file {
  const char *path; /* borrowed */
  scl_input *input; /* NULL while the file is closed */
  unsigned type;    /* the third byte of the file: the type of its numbers */
  size_t size;      /* bytes of a number */
  size_t header;    /* bytes before the first number */
  size_t rows;      /* the first dimension */
  size_t each;      /* numbers of a row: the product of the other dimensions */
  size_t done;      /* rows that were read in this pass */
} idx_file;

enum { MAGIC = 4, NUMBER = 4, MOST_DIMS = 8 };

/* Four bytes, the highest first, as a number. */
static uint32_t big32(const unsigned char *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Bytes of a number of this type; 0: the type is not known. */
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

/* Reads two zero bytes, the type, the number of dimensions and the first dimension into
 * `header`. */
static scl_status read_magic(const idx_file *f, unsigned char *header, scl_error *error) {
  size_t got = 0;
  SCL_TRY(scl_input_read(f->input, header, MAGIC + NUMBER, &got, error));
  if (got == 0) return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file is empty", f->path);
  if (got == MAGIC + NUMBER && header[0] == 0 && header[1] == 0 && size_of(header[2]) != 0 &&
      header[3] >= 1 && header[3] <= MOST_DIMS)
    return SCL_STATUS_OK;
  const unsigned long magic = got >= MAGIC ? big32(header) : 0;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: wrong magic number %lu: this is not an IDX file (images of bytes have 2051, labels "
      "2049)",
      f->path, magic);
}

/* Everything before the numbers. */
static scl_status read_header(idx_file *f, scl_error *error) {
  unsigned char header[MAGIC + NUMBER * MOST_DIMS];
  size_t got = 0;
  SCL_TRY(read_magic(f, header, error));
  const size_t dims = header[3], more = NUMBER * (dims - 1);
  SCL_TRY(scl_input_read(f->input, header + MAGIC + NUMBER, more, &got, error));
  if (got != more)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the IDX header is cut off", f->path);
  f->header = MAGIC + NUMBER * dims;
  f->type = header[2];
  f->size = size_of(header[2]);
  f->rows = big32(header + MAGIC);
  f->each = 1;
  for (size_t k = 1; k < dims; k++) {
    const size_t dim = big32(header + MAGIC + NUMBER * k);
    if (dim != 0 && f->each > ((size_t)1 << 40) / dim)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the sizes in the IDX header are absurd",
                      f->path);
    f->each *= dim;
  }
  return SCL_STATUS_OK;
}

/* Bytes of the file by its header: a double, because the product can exceed size_t. */
static double length_of(const idx_file *f) {
  return (double)f->header + (double)f->rows * (double)f->each * (double)f->size;
}

static scl_status refuse_length(const idx_file *f, double length, scl_error *error) {
  const double wanted = length_of(f);
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: the file has %.0f bytes where its header (%zu rows of %zu numbers) says %.0f: it is %s",
      f->path, length, f->rows, f->each, wanted, length < wanted ? "cut off" : "too long");
}

/* Compares the header with the size of the file, as far as that is known before reading on: a
 * damaged header must not ask for memory that the file cannot fill. */
static scl_status check_length(const idx_file *f, scl_error *error) {
  const double wanted = length_of(f), most = (double)scl_input_most(f->input);
  if (wanted <= most) return scl_input_admit(f->input, wanted, error);
  if (!scl_input_is_packed(f->input)) return refuse_length(f, most, error);
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: the packed file is too short to hold the %.0f bytes that its header (%zu "
                  "rows of %zu numbers) says: it is cut off",
                  f->path, wanted, f->rows, f->each);
}

/* bound: of the bytes that a gzip file is unpacked to, for scl_input_set_bound; NULL: no bound.
 * After an error, too, close_file closes it. */
static scl_status open_file(idx_file *f, const size_t *bound, scl_error *error) {
  f->done = 0;
  SCL_TRY(scl_input_open(f->path, &f->input, error));
  if (bound != NULL) scl_input_set_bound(f->input, *bound);
  SCL_TRY(read_header(f, error));
  return check_length(f, error);
}

static void close_file(idx_file *f) {
  scl_input_close(f->input);
  f->input = NULL;
}

/* Opens a file again for another pass. After an error it is closed, and its sizes are as before. */
static scl_status reopen_file(idx_file *f, scl_error *error) {
  const idx_file before = *f;
  scl_status status = open_file(f, NULL, error);
  if (status == SCL_STATUS_OK &&
      (f->type != before.type || f->rows != before.rows || f->each != before.each))
    status = scl_fail(error, SCL_STATUS_IO,
                      "%s: the header of the file has changed since it was opened", f->path);
  if (status == SCL_STATUS_OK) return status;
  close_file(f);
  *f = before;
  return status;
}

/* Checks, after the last row, that the file ends there. */
static scl_status check_end(const idx_file *f, scl_error *error) {
  enum { MOST_EXCESS = 1 << 16 }; /* bytes that are counted for the message */
  char byte;
  size_t excess = 0, got = 0;
  do {
    SCL_TRY(scl_input_read(f->input, &byte, 1, &got, error));
    excess += got;
  } while (got > 0 && excess < MOST_EXCESS);
  return excess == 0 ? SCL_STATUS_OK : refuse_length(f, length_of(f) + (double)excess, error);
}

/* ------------ bytes to numbers */

/* The big-endian number of a type and size at b. */
static double number_at(unsigned type, size_t size, const unsigned char *b) {
  uint64_t bits = 0;
  for (size_t k = 0; k < size; k++)
    bits = bits << 8 | b[k];
  union {
    uint32_t u4;
    float f4;
    uint64_t u8;
    double f8;
  } v;
  switch (type) {
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

/* Some rows of a file on their way to a matrix. */
typedef struct converting {
  const idx_file *from;
  const unsigned char *bytes; /* to->rows x from->each numbers as they are in the file */
  const scl_matrix *to;       /* float64 or float32, of any strides */
  size_t task_rows;           /* rows of one task */
  double factor;              /* of every number */
  bool narrow;                /* round to float32 */
  double value_of[256];       /* of a number that is an unsigned byte */
  atomic_bool infinite;       /* a number is not finite */
} converting;

static void convert_task(void *context, size_t index) {
  converting *job = context;
  const idx_file *f = job->from;
  const scl_matrix *to = job->to;
  const size_t first = index * job->task_rows, end = scl_min(first + job->task_rows, to->rows);
  double sum = 0; /* 0 x is NaN exactly where x is not finite, and so is the sum */
  for (size_t i = first; i < end && !scl_interrupted(); i++)
    for (size_t j = 0; j < f->each; j++) {
      const unsigned char *b = job->bytes + (i * f->each + j) * f->size;
      const ptrdiff_t at = (ptrdiff_t)i * to->row_stride + (ptrdiff_t)j * to->col_stride;
      double value =
          f->type == 0x08 ? job->value_of[*b] : job->factor * number_at(f->type, f->size, b);
      if (job->narrow) value = (double)(float)value;
      if (to->dtype == SCL_DTYPE_FLOAT32)
        ((float *)to->data)[at] = (float)value;
      else
        ((double *)to->data)[at] = value;
      sum += 0 * value;
    }
  if (isnan(sum)) atomic_store(&job->infinite, true);
}

/* The bytes of the next to->rows rows become numbers, on all threads. */
static scl_status convert_rows(const idx_file *f, const unsigned char *bytes, double factor,
                               bool narrow, const scl_matrix *to, scl_error *error) {
  enum { TASK_NUMBERS = SCL_BUFFER(1 << 18) };
  converting job = {.from = f,
                    .bytes = bytes,
                    .to = to,
                    .task_rows = scl_max(TASK_NUMBERS / f->each, 1),
                    .factor = factor,
                    .narrow = narrow || to->dtype == SCL_DTYPE_FLOAT32};
  size_t row = 0, col = 0;
  atomic_init(&job.infinite, false);
  for (int v = 0; v < 256; v++)
    job.value_of[v] = factor * v;
  scl_pool_run((to->rows + job.task_rows - 1) / job.task_rows, convert_task, &job);
  SCL_TRY(scl_interrupt_check(error));
  if (!atomic_load(&job.infinite)) return SCL_STATUS_OK;
  (void)scl_matrix_find_nonfinite(to, &row, &col);
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: row %zu, number %zu is not finite", f->path,
                  f->done + row + 1, col + 1);
}

/* The next `count` rows of a file, which has them, to the rows of x from `to` on: factor times each
 * number, rounded to float32 where x or `narrow` asks for it. Reads a piece of whole rows at a
 * time. */
static scl_status read_rows(idx_file *f, size_t count, double factor, bool narrow,
                            const scl_matrix *x, size_t to, scl_error *error) {
  enum { PIECE_BYTES = SCL_BUFFER(1 << 22) };
  const size_t row = f->each * f->size, most = scl_min(scl_max(PIECE_BYTES / row, 1), count);
  unsigned char *bytes = scl_allocate_array(most, row);
  if (bytes == NULL) return scl_fail_memory(error, most * row, f->path);
  scl_status status = SCL_STATUS_OK;
  for (size_t some, got; status == SCL_STATUS_OK && count > 0; count -= some, to += some) {
    some = scl_min(most, count);
    status = scl_input_read(f->input, bytes, some * row, &got, error);
    if (status != SCL_STATUS_OK) break;
    if (got < some * row) {
      status = refuse_length(f, (double)(f->header + f->done * row + got), error);
      break;
    }
    scl_matrix rows = scl_matrix_slice(x, to, some, 0, f->each);
    status = convert_rows(f, bytes, factor, narrow, &rows, error);
    scl_matrix_release(&rows);
    f->done += some;
  }
  scl_release(bytes);
  return status;
}

/* ------------ the source */

typedef struct idx_source {
  scl_source base;
  size_t parts;    /* files of images */
  char **paths;    /* of the images, then of the labels: n_paths */
  size_t n_paths;  /* parts, or twice as many with labels */
  idx_file *files; /* one for each path; files of labels are closed once y is filled */
  scl_matrix y;    /* rows x 1: all labels, or empty without them */
  double scale;
  bool narrow; /* round to float32 */
  size_t part; /* the file of images that has the next row */
  size_t done; /* rows of all parts that were read in this pass */
} idx_source;

/* Images that are open at their first row stay so: a pipe can be read once. */
static void rewind_images(idx_source *s) {
  for (size_t k = 0; k < s->parts; k++) {
    if (s->files[k].done > 0) close_file(&s->files[k]);
    s->files[k].done = 0;
  }
  s->part = s->done = 0;
}

/* The next rows of the images, to the rows of x from `to` on: as many as the current part has, and
 * `most` at most, which *count gets. */
static scl_status read_images(idx_source *s, size_t most, scl_matrix *x, size_t to, size_t *count,
                              scl_error *error) {
  idx_file *f = &s->files[s->part];
  if (f->input == NULL) SCL_TRY(reopen_file(f, error));
  *count = scl_min(most, f->rows - f->done);
  SCL_TRY(read_rows(f, *count, s->scale, s->narrow, x, to, error));
  s->done += *count;
  if (f->done < f->rows) return SCL_STATUS_OK;
  SCL_TRY(check_end(f, error));
  close_file(f);
  s->part++;
  return SCL_STATUS_OK;
}

static scl_status idx_source_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                                  scl_matrix *y, scl_error *error) {
  idx_source *s = (idx_source *)source;
  if (first == 0) rewind_images(s);
  if (first != s->done)
    return scl_fail(error, SCL_STATUS_INTERNAL, "%s: rows can be read in order only", source->name);
  for (size_t to = 0, some; to < count; to += some) {
    const scl_status status = read_images(s, count - to, x, to, &some, error);
    if (status == SCL_STATUS_OK) continue;
    close_file(&s->files[s->part]); /* it may be open in the middle of a row */
    s->done = SIZE_MAX;             /* the next rows to be read are the first */
    return status;
  }
  if (y == NULL || s->y.storage == NULL) return SCL_STATUS_OK;
  scl_matrix labels = scl_matrix_slice(&s->y, first, count, 0, 1);
  scl_matrix_assign(&labels, y);
  scl_matrix_release(&labels);
  return SCL_STATUS_OK;
}

static scl_status idx_source_skip(scl_source *source, size_t rows, size_t *passed,
                                  scl_error *error) {
  idx_source *s = (idx_source *)source;
  rewind_images(s);
  *passed = s->done = scl_min(rows, source->rows);
  for (; s->part < s->parts && rows >= s->files[s->part].rows; s->part++)
    rows -= s->files[s->part].rows;
  if (s->part == s->parts || rows == 0) return SCL_STATUS_OK;
  idx_file *f = &s->files[s->part];
  scl_status status = f->input == NULL ? reopen_file(f, error) : SCL_STATUS_OK;
  f->done = rows;
  if (status == SCL_STATUS_OK)
    status = scl_input_seek(f->input, f->header + rows * f->each * f->size, rows, error);
  if (status == SCL_STATUS_OK) return status;
  close_file(f); /* as after a read that fails */
  s->done = SIZE_MAX;
  return status;
}

static void idx_source_destroy(scl_source *source) {
  idx_source *s = (idx_source *)source;
  for (size_t k = 0; s->files != NULL && k < s->n_paths; k++)
    close_file(&s->files[k]);
  if (s->paths != NULL) scl_release_texts(s->paths, s->n_paths);
  scl_matrix_release(&s->y);
  SCL_RELEASE(s->files, s);
}

static const scl_source_class idx_source_class = {
    .read = idx_source_read, .skip = idx_source_skip, .destroy = idx_source_destroy};

/* ------------ opening */

/* Part k: as many numbers in a row as in the first part, and one label for each row. */
static scl_status check_part(const idx_source *s, size_t k, scl_error *error) {
  const idx_file *image = &s->files[k], *first = &s->files[0];
  if (image->rows == 0 || image->each == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it holds no numbers (%zu rows of %zu)",
                    image->path, image->rows, image->each);
  if (image->each != first->each)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%s: its rows have %zu numbers, and those of %s have %zu", image->path,
                    image->each, first->path, first->each);
  if (s->n_paths == s->parts) return SCL_STATUS_OK;
  const idx_file *label = &s->files[s->parts + k];
  if (label->each != 1)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%s: labels are one number a row, and its rows have %zu", label->path,
                    label->each);
  if (label->rows == image->rows) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_SHAPE, "%s holds %zu labels, and %s %zu images",
                  label->path, label->rows, image->path, image->rows);
}

/* A stream is read in several passes. scl_input_most knows the size of regular files alone. */
static scl_status check_regular(const idx_file *f, scl_error *error) {
  if (scl_input_most(f->input) != SIZE_MAX) return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_IO,
      "%s: this is a pipe or device; a stream is read more than once, so it takes a file", f->path);
}

/* Opens all files, at their first numbers. Rows, columns and parts of the table are set. */
static scl_status open_parts(idx_source *s, bool whole, size_t unpacked, scl_table *out,
                             scl_error *error) {
  for (size_t k = 0; k < s->n_paths; k++)
    s->files[k].path = s->paths[k];
  for (size_t k = 0; k < s->parts; k++) {
    SCL_TRY(open_file(&s->files[k], whole ? &unpacked : NULL, error));
    if (!whole) SCL_TRY(check_regular(&s->files[k], error));
    if (s->n_paths > s->parts) SCL_TRY(open_file(&s->files[s->parts + k], &unpacked, error));
    SCL_TRY(check_part(s, k, error));
    out->part_rows[k] = s->files[k].rows;
    out->rows += s->files[k].rows;
  }
  s->base.rows = out->rows;
  s->base.cols = out->cols = s->files[0].each;
  return SCL_STATUS_OK;
}

/* The labels of the rows `from` to `to` - 1. */
static scl_status read_some_labels(idx_source *s, size_t from, size_t to, const scl_matrix *y,
                                   scl_error *error) {
  for (size_t k = s->parts, before = 0; k < s->n_paths && before < to;
       before += s->files[k++].rows) {
    idx_file *f = &s->files[k];
    const size_t first = scl_max(from, before) - before, end = scl_min(to - before, f->rows);
    if (first >= end) continue;
    if (f->input == NULL) SCL_TRY(reopen_file(f, error));
    if (first > 0) SCL_TRY(scl_input_seek(f->input, f->header + first * f->size, first, error));
    f->done = first;
    SCL_TRY(read_rows(f, end - first, 1, false, y, before + first, error));
    if (end == f->rows) SCL_TRY(check_end(f, error));
    close_file(f);
  }
  return SCL_STATUS_OK;
}

/* The labels of this process's share. */
static scl_status fill_labels(void *context, const scl_matrix *all, scl_error *error) {
  idx_source *s = context;
  size_t first, end;
  scl_processes_part(scl_processes_rank(), all->rows, &first, &end);
  const scl_status status = read_some_labels(s, first, end, all, error);
  for (size_t k = s->parts; status != SCL_STATUS_OK && k < s->n_paths; k++)
    close_file(&s->files[k]); /* it may be open in the middle of a row */
  return status;
}

/* All labels to s->y, by all processes where they can, and the classes to the table. */
static scl_status read_labels(idx_source *s, scl_table *out, scl_error *error) {
  bool together, read = false;
  SCL_TRY(scl_shares_worth((const char *const *)s->paths + s->parts, s->n_paths - s->parts,
                           &together, error));
  if (together)
    SCL_TRY(scl_shares_matrix(SCL_STATUS_OK, s->base.rows, 1, SCL_DTYPE_FLOAT64, fill_labels, s,
                              &s->y, &read, error));
  if (!read) {
    SCL_TRY(scl_matrix_create_raw(s->base.rows, 1, SCL_DTYPE_FLOAT64, &s->y, error));
    SCL_TRY(read_some_labels(s, 0, s->base.rows, &s->y, error));
  }
  for (size_t k = s->parts; k < s->n_paths; k++)
    close_file(&s->files[k]);
  s->base.targets = 1;
  out->y = scl_matrix_share(&s->y);
  out->classification = true;
  return scl_table_number_classes(out, error);
}

/* The source and the table without X; where the whole is read, memory for X is checked first. */
static scl_status prepare(idx_source *s, const char *const *images, const char *const *labels,
                          bool whole, const scl_idx_options *options, scl_table *out,
                          scl_error *error) {
  s->paths = scl_allocate_zero((s->n_paths + 1) * sizeof *s->paths);
  s->files = scl_allocate_zero((s->n_paths + 1) * sizeof *s->files);
  out->part_rows = scl_allocate_zero((s->parts + 1) * sizeof *out->part_rows);
  if (s->paths == NULL || s->files == NULL || out->part_rows == NULL)
    return scl_fail_memory(error, s->n_paths * sizeof *s->files, "parts");
  for (size_t k = 0; k < s->n_paths; k++) {
    s->paths[k] = scl_copy_text(k < s->parts ? images[k] : labels[k - s->parts]);
    if (s->paths[k] == NULL) return scl_fail_memory(error, 1, "a path");
  }
  s->base.name = s->paths[0];
  SCL_TRY(open_parts(s, whole, options->unpacked, out, error));
  if (whole) SCL_TRY(scl_table_admit(out, options->dtype, error));
  return labels == NULL ? SCL_STATUS_OK : read_labels(s, out, error);
}

/* *source: NULL after an error, when the table is empty. */
static scl_status open_source(const char *const *images, const char *const *labels, size_t parts,
                              bool whole, const scl_idx_options *options, scl_table *out,
                              scl_source **source, scl_error *error) {
  *out = (scl_table){.parts = parts, .name_prefix = "p"};
  *source = NULL;
  idx_source *s = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a file");
  *s = (idx_source){.base.class = &idx_source_class,
                    .parts = parts,
                    .n_paths = labels == NULL ? parts : 2 * parts,
                    .scale = options->scale,
                    .narrow = options->dtype == SCL_DTYPE_FLOAT32};
  const scl_status status = prepare(s, images, labels, whole, options, out, error);
  if (status == SCL_STATUS_OK) {
    *source = &s->base;
    return status;
  }
  scl_source_destroy(&s->base);
  scl_table_destroy(out);
  return status;
}

/* The rows of this process. */
static scl_status fill_share(void *context, const scl_matrix *all, scl_error *error) {
  idx_source *s = context;
  size_t first, end, passed;
  scl_processes_part(scl_processes_rank(), all->rows, &first, &end);
  if (first > 0) SCL_TRY(idx_source_skip(&s->base, first, &passed, error));
  scl_matrix part = scl_matrix_slice(all, first, end - first, 0, all->cols);
  const scl_status status = idx_source_read(&s->base, first, end - first, &part, NULL, error);
  scl_matrix_release(&part);
  return status;
}

/* The images, by all processes where they can; the table has their size. */
static scl_status read_table(idx_source *s, scl_dtype dtype, scl_table *out, scl_error *error) {
  bool worth;
  SCL_TRY(scl_shares_worth((const char *const *)s->paths, s->n_paths, &worth, error));
  if (worth)
    SCL_TRY(scl_shares_matrix(SCL_STATUS_OK, out->rows, out->cols, dtype, fill_share, s, &out->x,
                              &out->alike, error));
  if (out->alike) return SCL_STATUS_OK;
  SCL_TRY(scl_matrix_create_raw(out->rows, out->cols, dtype, &out->x, error));
  return scl_source_read(&s->base, 0, out->rows, &out->x, NULL, error);
}

scl_status scl_idx_read(const char *const *images, const char *const *labels, size_t parts,
                        const scl_idx_options *options, scl_table *out, scl_error *error) {
  scl_source *source;
  SCL_TRY(open_source(images, labels, parts, true, options, out, &source, error));
  const scl_status status = read_table((idx_source *)source, options->dtype, out, error);
  scl_source_destroy(source);
  if (status != SCL_STATUS_OK) scl_table_destroy(out);
  return status;
}

scl_status scl_idx_stream(const char *const *images, const char *const *labels, size_t parts,
                          const scl_idx_options *options, scl_table *out, scl_source **source,
                          scl_error *error) {
  SCL_TRY(open_source(images, labels, parts, false, options, out, source, error));
  scl_matrix_release(&out->y); /* the source has its own reference */
  return SCL_STATUS_OK;
}
