/* Files of predicted rows, CSV or .npy, written row by row. Called by core/lua/row_files.c. */
#include "data/row_file.h"
#include "base/text.h"
#include "data/csv/write.h"
#include "data/files/output.h"
#include "data/npy_internal.h"
#include "data/number.h"

#include <stdio.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 16, NUMBER_BYTES = 33 }; /* of a number: its text and what follows it */

struct scl_row_file {
  scl_output *output;
  bool npy, with_id;
  unsigned digits;
  size_t cols, rows; /* rows so far */
  char *buffer;
  size_t used, room;
  char **labels; /* as they are written: fields of text, or `width` characters of 4 bytes */
  size_t n_labels, width;
};

/* ------------ a buffer before the output */

static void flush(scl_row_file *f) {
  scl_output_write(f->output, f->buffer, f->used);
  f->used = 0;
}

/* Room for `size` bytes at the end of the buffer. */
static scl_status reserve(scl_row_file *f, size_t size, scl_error *error) {
  if (f->used + size <= f->room) return SCL_STATUS_OK;
  flush(f);
  if (size <= f->room) return SCL_STATUS_OK;
  char *more = scl_allocate(size);
  if (more == NULL) return scl_fail_memory(error, size, "a row of text");
  scl_release(f->buffer);
  f->buffer = more;
  f->room = size;
  return SCL_STATUS_OK;
}

static scl_status put(scl_row_file *f, const void *bytes, size_t size, scl_error *error) {
  SCL_TRY(reserve(f, size, error));
  memcpy(f->buffer + f->used, bytes, size);
  f->used += size;
  return SCL_STATUS_OK;
}

/* A field and the comma or line break after it. */
static scl_status put_field(scl_row_file *f, const char *text, size_t length, char after,
                            scl_error *error) {
  SCL_TRY(reserve(f, 2 * length + 3, error));
  f->used += scl_csv_quote(text, length, f->buffer + f->used);
  f->buffer[f->used++] = after;
  return SCL_STATUS_OK;
}

/* ------------ labels of .npy: four bytes a character, all as wide as the widest */

/* Turn the labels into arrays of `width` characters, padded with 0, as NumPy stores texts. */
static scl_status widen_labels(scl_row_file *f, scl_error *error) {
  f->width = 1;
  for (size_t k = 0; k < f->n_labels; k++)
    f->width = scl_max(f->width, npy_characters(f->labels[k]));
  for (size_t k = 0; k < f->n_labels; k++) {
    uint32_t *wide = scl_allocate_zero(f->width * sizeof *wide);
    if (wide == NULL) return scl_fail_memory(error, f->width * sizeof *wide, "a label");
    npy_widen(f->labels[k], wide);
    scl_release(f->labels[k]);
    f->labels[k] = (char *)wide;
  }
  return SCL_STATUS_OK;
}

/* ------------ beginning */

/* The header of a .npy file is written at the end, when the number of rows is known; its place is
 * filled with zeros. */
static scl_status put_header(scl_row_file *f, const scl_row_format *format, scl_error *error) {
  static const char empty[NPY_HEADER]; /* until the number of rows is known */
  if (f->npy) return put(f, empty, sizeof empty, error);
  if (format->no_header) return SCL_STATUS_OK;
  if (f->with_id) SCL_TRY(put_field(f, format->id, strlen(format->id), ',', error));
  for (size_t j = 0; j < f->cols; j++)
    SCL_TRY(put_field(f, format->names[j], strlen(format->names[j]), j + 1 < f->cols ? ',' : '\n',
                      error));
  return SCL_STATUS_OK;
}

/* Copy the file at `path`, if there is one, before the rows. Its first line must be the header in
 * the buffer, which is then not written again. */
static scl_status copy_existing(scl_row_file *f, const char *path, const scl_row_format *format,
                                scl_error *error) {
  char bytes[1 << 13], last = '\n';
  size_t got, seen = 0;
  FILE *old = fopen(path, "rb");
  if (old == NULL) return SCL_STATUS_OK;
  bool same = true;
  while (same && (got = fread(bytes, 1, sizeof bytes, old)) > 0) {
    for (size_t i = 0; !format->no_header && i < got && seen + i < f->used; i++)
      same = same && bytes[i] == f->buffer[seen + i];
    scl_output_write(f->output, bytes, got);
    seen += got;
    last = bytes[got - 1];
  }
  const bool failed = ferror(old) != 0;
  (void)fclose(old);
  if (failed) return scl_fail(error, SCL_STATUS_IO, "%s: it cannot be read", path);
  if (seen == 0) return SCL_STATUS_OK;
  if (!same || (!format->no_header && seen < f->used))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: its first line is not the header of these predictions, so they are not "
                    "appended",
                    path);
  f->used = 0;
  return last == '\n' ? SCL_STATUS_OK : put(f, "\n", 1, error);
}

/* Room for the whole header and the fields after it. */
static size_t room_for(const scl_row_format *format) {
  size_t room = BUFFER_BYTES + (format->id != NULL ? 2 * strlen(format->id) : 0);
  for (size_t j = 0; j < format->cols; j++)
    room += 2 * strlen(format->names[j]) + 3;
  return room;
}

static scl_status prepare(scl_row_file *f, const scl_row_format *format, scl_error *error) {
  f->buffer = scl_allocate(f->room);
  if (f->buffer == NULL) return scl_fail_memory(error, f->room, "a file");
  if (format->labels != NULL) {
    f->labels = scl_allocate_zero((format->n_labels + 1) * sizeof *f->labels);
    if (f->labels == NULL) return scl_fail_memory(error, format->n_labels * 8, "labels");
    for (; f->n_labels < format->n_labels; f->n_labels++) {
      f->labels[f->n_labels] = scl_copy_text(format->labels[f->n_labels]);
      if (f->labels[f->n_labels] == NULL) return scl_fail_memory(error, 64, "labels");
    }
    if (f->npy) SCL_TRY(widen_labels(f, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_row_file_open(const char *path, const scl_row_format *format, scl_row_file **out,
                             scl_error *error) {
  scl_row_file *f = scl_allocate_zero(sizeof *f);
  if (f == NULL) return scl_fail_memory(error, sizeof *f, "a file");
  *f = (scl_row_file){.npy = format->npy,
                      .with_id = format->id != NULL,
                      .digits = format->digits,
                      .cols = format->cols,
                      .room = room_for(format)};
  scl_status status = prepare(f, format, error);
  if (status == SCL_STATUS_OK)
    status = path == NULL ? scl_output_open_standard(&f->output, error)
                          : scl_output_open(path, &f->output, error);
  if (status == SCL_STATUS_OK) status = put_header(f, format, error);
  if (status == SCL_STATUS_OK && format->append) status = copy_existing(f, path, format, error);
  if (status == SCL_STATUS_OK)
    *out = f;
  else
    scl_row_file_close(f);
  return status;
}

/* ------------ rows */

/* The label at a place from 1; NULL: there is none. */
static const char *label_of(const scl_row_file *f, double place) {
  return place >= 1 && place <= (double)f->n_labels ? f->labels[(size_t)place - 1] : NULL;
}

static scl_status bad_place(double place, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%g is the place of no label", place);
}

/* Writes a number as text and returns its length. */
static size_t put_number(const scl_row_file *f, double value, bool float32, char *text) {
  if (f->digits == 0) return scl_format_number(value, float32, text);
  return (size_t)snprintf(text, NUMBER_BYTES, "%.*g", (int)f->digits, value);
}

/* Row i as a line of text, or as the label at the place that it holds. */
static scl_status put_text_row(scl_row_file *f, const scl_matrix *rows, size_t i,
                               scl_error *error) {
  if (f->labels != NULL) {
    const char *label = label_of(f, scl_matrix_get(rows, i, 0));
    if (label == NULL) return bad_place(scl_matrix_get(rows, i, 0), error);
    return put_field(f, label, strlen(label), '\n', error);
  }
  SCL_TRY(reserve(f, f->cols * NUMBER_BYTES, error));
  for (size_t j = 0; j < f->cols; j++) {
    f->used += put_number(f, scl_matrix_get(rows, i, j), rows->dtype == SCL_DTYPE_FLOAT32,
                          f->buffer + f->used);
    f->buffer[f->used++] = j + 1 < f->cols ? ',' : '\n';
  }
  return SCL_STATUS_OK;
}

/* Row i as float64 numbers, or as the label at the place that it holds. */
static scl_status put_npy_row(scl_row_file *f, const scl_matrix *rows, size_t i, scl_error *error) {
  if (f->labels != NULL) {
    const char *label = label_of(f, scl_matrix_get(rows, i, 0));
    if (label == NULL) return bad_place(scl_matrix_get(rows, i, 0), error);
    return put(f, label, 4 * f->width, error);
  }
  for (size_t j = 0; j < f->cols; j++) {
    const double value = scl_matrix_get(rows, i, j);
    SCL_TRY(put(f, &value, sizeof value, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_row_file_write(scl_row_file *f, const scl_matrix *rows, const scl_text_part *ids,
                              scl_error *error) {
  if (f->output == NULL || rows->cols != f->cols || f->with_id != (ids != NULL))
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "rows of %zu columns, %s ids, do not go into this file", rows->cols,
                    ids == NULL ? "without" : "with");
  for (size_t i = 0; i < rows->rows; i++) {
    if (f->with_id) SCL_TRY(put_field(f, ids[i].text, ids[i].length, ',', error));
    SCL_TRY(f->npy ? put_npy_row(f, rows, i, error) : put_text_row(f, rows, i, error));
  }
  f->rows += rows->rows;
  flush(f);
  return scl_output_failed(f->output) ? scl_row_file_commit(f, error) : SCL_STATUS_OK;
}

/* ------------ ending */

scl_status scl_row_file_commit(scl_row_file *f, scl_error *error) {
  char header[NPY_HEADER], type[32] = "f8";
  if (f->output == NULL) return scl_fail(error, SCL_STATUS_IO, "the file was written already");
  flush(f);
  if (f->npy) {
    if (f->labels != NULL) (void)snprintf(type, sizeof type, "U%zu", f->width);
    npy_make_header(type, f->cols == 1 ? 1 : 2, f->rows, f->cols, header);
    scl_output_rewrite(f->output, 0, header, sizeof header);
  }
  scl_output *output = f->output;
  f->output = NULL;
  return scl_output_commit(output, error);
}

void scl_row_file_close(scl_row_file *f) {
  if (f == NULL) return;
  scl_output_abandon(f->output);
  for (size_t k = 0; k < f->n_labels; k++)
    scl_release(f->labels[k]);
  SCL_RELEASE(f->labels, f->buffer, f);
}
