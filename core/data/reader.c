/* Rows of cells as comma-separated text, made as it is read. */
#include "data/reader.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "data/files/file.h"
#include "data/files/input.h"
#include "data/number.h"
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- the list */

static const scl_reader *const readers[] = {
#ifdef SCULLERY_SQLITE
    &scl_reader_sqlite,
#endif
    NULL};

const scl_reader *scl_reader_find(const char *name) {
  for (size_t i = 0; readers[i] != NULL; i++)
    if (strcmp(readers[i]->name, name) == 0) return readers[i];
  return NULL;
}

scl_status scl_reader_of(const char *path, const scl_reader **out, scl_error *error) {
  enum { FIRST = 4096 };
  unsigned char first[FIRST];
  scl_file file;
  size_t got = 0, more = 1;
  *out = NULL;
  SCL_TRY(scl_file_open_regular(path, &file, error));
  scl_status status = SCL_STATUS_OK;
  while (status == SCL_STATUS_OK && got < FIRST && more > 0) {
    status = scl_file_read(&file, first + got, FIRST - got, &more, error);
    got += more;
  }
  scl_file_close(&file);
  for (size_t i = 0; status == SCL_STATUS_OK && readers[i] != NULL; i++)
    if (readers[i]->recognises(first, got)) *out = readers[i];
  return status;
}

/* ---------------------------------------------------------------- text that is made */

struct scl_reader_file {
  const scl_reader *reader;
  char *path, *name, *query, *table;
};

/* One pass over the rows. text: bytes [at, used) were not taken yet. */
typedef struct pass {
  const scl_reader *reader;
  void *file;
  scl_cell *cells;
  size_t columns;
  char *text;
  size_t at, used, room;
  bool ended;
} pass;

/* Room for so many more bytes. */
static scl_status reserve(pass *p, size_t more, scl_error *error) {
  if (p->room - p->used >= more) return SCL_STATUS_OK;
  const size_t room = 2 * (p->used + more);
  char *text = scl_allocate(room);
  if (text == NULL) return scl_fail_memory(error, room, "a row");
  if (p->used > 0) memcpy(text, p->text, p->used);
  scl_release(p->text);
  p->text = text;
  p->room = room;
  return SCL_STATUS_OK;
}

/* A text in quotes, those within doubled. */
static scl_status add_text(pass *p, const char *text, size_t length, scl_error *error) {
  SCL_TRY(reserve(p, 2 * length + 3, error));
  p->text[p->used++] = '"';
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') p->text[p->used++] = '"';
    p->text[p->used++] = text[i];
  }
  p->text[p->used++] = '"';
  return SCL_STATUS_OK;
}

/* A missing cell is an empty field. */
static scl_status add_cell(pass *p, const scl_cell *cell, scl_error *error) {
  enum { NUMBER = 40 };
  SCL_TRY(reserve(p, NUMBER, error));
  switch (cell->kind) {
  case SCL_CELL_TEXT:
    return add_text(p, cell->text, cell->length, error);
  case SCL_CELL_NUMBER:
    p->used += scl_format_number(cell->number, false, p->text + p->used);
    break;
  case SCL_CELL_INTEGER:
    p->used += (size_t)snprintf(p->text + p->used, NUMBER, "%lld", (long long)cell->integer);
    break;
  case SCL_CELL_MISSING: /* in quotes where it is alone, as an empty line is no row */
    if (p->columns == 1) return add_text(p, "", 0, error);
  }
  return SCL_STATUS_OK;
}

/* The character after field j. */
static void end_field(pass *p, size_t j) { p->text[p->used++] = j + 1 < p->columns ? ',' : '\n'; }

static scl_status add_row(pass *p, scl_error *error) {
  bool more = false;
  SCL_TRY(p->reader->row(p->file, p->cells, &more, error));
  p->ended = !more;
  for (size_t j = 0; more && j < p->columns; j++) {
    SCL_TRY(add_cell(p, &p->cells[j], error));
    SCL_TRY(reserve(p, 1, error));
    end_field(p, j);
  }
  return SCL_STATUS_OK;
}

/* The names of the columns, which are the first line. */
static scl_status begin_pass(pass *p, scl_error *error) {
  const char *const *names;
  SCL_TRY(p->reader->columns(p->file, &names, &p->columns, error));
  p->cells = scl_allocate_zero((p->columns + 1) * sizeof *p->cells);
  if (p->cells == NULL) return scl_fail_memory(error, p->columns * sizeof *p->cells, "a row");
  for (size_t j = 0; j < p->columns; j++) {
    SCL_TRY(add_text(p, names[j], strlen(names[j]), error));
    SCL_TRY(reserve(p, 1, error));
    end_field(p, j);
  }
  return SCL_STATUS_OK;
}

static void close_pass(void *made) {
  pass *p = made;
  if (p->file != NULL) p->reader->close(p->file);
  SCL_RELEASE(p->cells, p->text, p);
}

static scl_status open_pass(void *context, void **made, scl_error *error) {
  const scl_reader_file *file = context;
  const scl_reader_options options = {file->query, file->table};
  pass *p = scl_allocate_zero(sizeof *p);
  if (p == NULL) return scl_fail_memory(error, sizeof *p, "a file");
  p->reader = file->reader;
  scl_status status = p->reader->open(file->path, &options, &p->file, error);
  if (status == SCL_STATUS_OK) status = begin_pass(p, error);
  if (status == SCL_STATUS_OK)
    *made = p;
  else
    close_pass(p);
  return status;
}

static scl_status read_pass(void *made, void *to, size_t size, size_t *got, scl_error *error) {
  enum { CHECK = 1024 };
  pass *p = made;
  for (size_t rows = 0; p->used - p->at < size && !p->ended; rows++) {
    if (p->at > 0 && rows == 0) {
      memmove(p->text, p->text + p->at, p->used - p->at);
      p->used -= p->at;
      p->at = 0;
    }
    if (rows % CHECK == 0) SCL_TRY(scl_interrupt_check(error));
    SCL_TRY(add_row(p, error));
  }
  *got = p->used - p->at < size ? p->used - p->at : size;
  memcpy(to, p->text + p->at, *got);
  p->at += *got;
  return SCL_STATUS_OK;
}

static const scl_input_maker maker = {open_pass, read_pass, close_pass};

/* ---------------------------------------------------------------- files */

/* "d.sqlite: select ...", by which messages name the rows. */
static char *name_of(const char *path, const scl_reader_options *o) {
  const char *what = o->query != NULL ? o->query : o->table != NULL ? o->table : "rows";
  const size_t bytes = strlen(path) + strlen(what) + 3;
  char *name = scl_allocate(bytes);
  if (name != NULL) (void)snprintf(name, bytes, "%s: %s", path, what);
  return name;
}

static char *copy_or_null(const char *text) { return text == NULL ? NULL : scl_copy_text(text); }

scl_status scl_reader_file_create(const scl_reader *reader, const char *path,
                                  const scl_reader_options *options, scl_reader_file **out,
                                  scl_error *error) {
  scl_reader_file *file = scl_allocate_zero(sizeof *file);
  void *trial = NULL;
  if (file == NULL) return scl_fail_memory(error, sizeof *file, "a file");
  *file = (scl_reader_file){.reader = reader,
                            .path = scl_copy_text(path),
                            .name = name_of(path, options),
                            .query = copy_or_null(options->query),
                            .table = copy_or_null(options->table)};
  scl_status status = SCL_STATUS_OK;
  if (file->path == NULL || file->name == NULL || (options->query != NULL && file->query == NULL) ||
      (options->table != NULL && file->table == NULL))
    status = scl_fail_memory(error, sizeof *file, "a file");
  if (status == SCL_STATUS_OK) status = open_pass(file, &trial, error);
  if (status == SCL_STATUS_OK) {
    close_pass(trial);
    status = scl_input_announce(file->name, &maker, file, error);
  }
  if (status == SCL_STATUS_OK)
    *out = file;
  else
    scl_reader_file_destroy(file);
  return status;
}

const char *scl_reader_file_name(const scl_reader_file *file) { return file->name; }

void scl_reader_file_destroy(scl_reader_file *file) {
  if (file == NULL) return;
  scl_input_withdraw(file);
  SCL_RELEASE(file->path, file->name, file->query, file->table, file);
}
