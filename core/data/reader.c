/* Rows of cells as comma-separated text, made as it is read. */
#include "data/reader.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "data/files/file.h"
#include "data/files/input.h"
#include "data/json.h"
#include "data/number.h"
#include "data/packed.h"
#include "plugin/reader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------ which reader */

/* The first one by name that knows the file; one that is not built in goes before those that are. */

typedef struct search {
  unsigned char first[SCL_READER_FIRST];
  size_t size;
  const scl_component *found;
} search;

static void ask(void *context, scl_kind kind, const char *name, const char *path,
                scl_plugin_origin origin) {
  search *s = context;
  const scl_component *reader;
  (void)path;
  const bool better =
      s->found == NULL || (s->found->origin == SCL_ORIGIN_BUILTIN && origin != SCL_ORIGIN_BUILTIN);
  if (kind == SCL_KIND_READER && better &&
      scl_registry_find(kind, name, &reader, NULL) == SCL_STATUS_OK &&
      scl_reader_recognises(reader, s->first, s->size))
    s->found = reader;
}

scl_status scl_reader_of(const char *path, const scl_component **out, scl_error *error) {
  search s = {.size = 0};
  scl_file file;
  size_t more = 1;
  *out = NULL;
  SCL_TRY(scl_file_open_regular(path, &file, error));
  scl_status status = SCL_STATUS_OK;
  while (status == SCL_STATUS_OK && s.size < SCL_READER_FIRST && more > 0) {
    status = scl_file_read(&file, s.first + s.size, SCL_READER_FIRST - s.size, &more, error);
    s.size += more;
  }
  scl_file_close(&file);
  if (status == SCL_STATUS_OK) status = scl_registry_each(ask, &s, error);
  *out = s.found;
  return status;
}

/* ------------ text that is made */

struct scl_cell_file {
  scl_instance *reader;
  char *path, *name;
  size_t *chosen; /* places of the columns that are read */
  size_t columns;
  scl_reader_column *column; /* theirs, with names of our own */
};

/* One pass over the rows. text: bytes [at, used) were not taken yet. */
typedef struct pass {
  const scl_cell_file *source;
  void *file;
  scl_reader_schema schema;
  bool apart;         /* the reader gives the chosen columns alone */
  bool packed;        /* numbers are packed where they may be */
  uint64_t row, from; /* the next row of the reader, and the first whose text is made */
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
  char *to = p->text + p->used;
  *to++ = '"';
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') *to++ = '"';
    *to++ = text[i];
  }
  *to++ = '"';
  p->used = (size_t)(to - p->text);
  return SCL_STATUS_OK;
}

static scl_status refuse_cell(const pass *p, size_t j, const char *what, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: row %llu, column %zu (%s): %s", p->source->path,
                  (unsigned long long)p->row + 1, p->source->chosen[j] + 1,
                  p->source->column[j].name, what);
}

/* The text of row i's cell. */
static scl_status add_cell_text(pass *p, size_t j, const scl_column_cells *cells, size_t i,
                                scl_error *error) {
  const size_t place = cells->codes == NULL ? i : cells->codes[i];
  if (cells->texts == NULL || (cells->codes != NULL && place >= cells->n_texts))
    return refuse_cell(p, j, "the reader gives no text", error);
  const scl_cell_text text = cells->texts[place];
  if (text.length > 0 && !scl_json_is_text(text.bytes, text.length))
    return refuse_cell(p, j, "no UTF-8 text without zero bytes: leave the column out", error);
  return add_text(p, text.bytes, text.length, error);
}

/* Writes the number, packed or as a decimal; returns its length in bytes. */
static size_t add_number(const pass *p, double value, char *to) {
  if (!p->packed || !scl_packs(value)) return scl_write_number(value, to);
  scl_pack_number(value, to);
  return SCL_PACKED_BYTES;
}

static scl_status add_value(pass *p, size_t j, scl_cell_type type, const scl_column_cells *cells,
                            size_t i, scl_error *error) {
  char *to = p->text + p->used;
  size_t length = 0;
  if (type == SCL_CELL_FLOAT64) {
    if (cells->numbers == NULL) return refuse_cell(p, j, "the reader gives no number", error);
    p->used += add_number(p, cells->numbers[i], to);
    return SCL_STATUS_OK;
  }
  if (cells->integers == NULL) return refuse_cell(p, j, "the reader gives no number", error);
  const int64_t most = (int64_t)1 << 53;
  const int64_t number = cells->integers[i];
  if (type == SCL_CELL_INT64) {
    p->used += p->packed && number > -most && number < most ? add_number(p, (double)number, to)
                                                            : scl_write_integer(number, to);
    return SCL_STATUS_OK;
  }
  if (type == SCL_CELL_DATE) length = scl_cell_write_date(number, to);
  if (type == SCL_CELL_TIMESTAMP && cells->per_second > 0)
    length = scl_cell_write_time(number, cells->per_second, to);
  p->used += length;
  return length > 0 ? SCL_STATUS_OK
                    : refuse_cell(p, j, "a date outside of the years 1 to 9999", error);
}

/* A missing cell is an empty field, in quotes where it is alone, as an empty line is no row. */
static scl_status add_cell(pass *p, size_t j, const scl_column_cells *cells, size_t i,
                           scl_error *error) {
  scl_cell_type type = p->source->column[j].type;
  SCL_TRY(reserve(p, SCL_CELL_LONGEST + 1, error));
  const bool missing = cells->missing != NULL && cells->missing[i];
  if (!missing && type == SCL_CELL_ANY) {
    if (cells->types == NULL) return refuse_cell(p, j, "the reader gives no type", error);
    type = cells->types[i];
  }
  if (missing) {
    if (p->source->columns == 1) SCL_TRY(add_text(p, "", 0, error));
  } else if (type == SCL_CELL_TEXT) {
    SCL_TRY(add_cell_text(p, j, cells, i, error));
    SCL_TRY(reserve(p, 1, error));
  } else {
    SCL_TRY(add_value(p, j, type, cells, i, error));
  }
  p->text[p->used++] = j + 1 < p->source->columns ? ',' : '\n';
  return SCL_STATUS_OK;
}

static scl_status add_block(pass *p, scl_error *error) {
  const scl_cell_file *source = p->source;
  scl_row_block block;
  SCL_TRY(scl_reader_rows(source->reader, p->file, &block, error));
  p->ended = block.rows == 0;
  for (size_t i = 0; i < block.rows; i++, p->row++)
    for (size_t j = 0; j < source->columns && p->row >= p->from; j++)
      SCL_TRY(add_cell(p, j, &block.columns[p->apart ? j : source->chosen[j]], i, error));
  return SCL_STATUS_OK;
}

static void close_pass(void *made) {
  pass *p = made;
  if (p->file != NULL) scl_reader_close(p->source->reader, p->file);
  SCL_RELEASE(p->text, p);
}

static scl_status begin_pass(pass *p, scl_error *error) {
  const scl_cell_file *source = p->source;
  SCL_TRY(scl_reader_open(source->reader, source->path, &p->file, error));
  SCL_TRY(scl_reader_get_schema(source->reader, p->file, &p->schema, error));
  SCL_TRY(scl_reader_choose(source->reader, p->file, source->chosen, source->columns, &p->apart,
                            error));
  for (size_t j = 0; j < source->columns; j++) { /* the first line: names */
    if (source->chosen[j] >= p->schema.columns)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s changed while it was read", source->path);
    SCL_TRY(add_text(p, source->column[j].name, strlen(source->column[j].name), error));
    SCL_TRY(reserve(p, 1, error));
    p->text[p->used++] = j + 1 < source->columns ? ',' : '\n';
  }
  return SCL_STATUS_OK;
}

static scl_status open_pass(void *context, void **made, scl_error *error) {
  pass *p = scl_allocate_zero(sizeof *p);
  if (p == NULL) return scl_fail_memory(error, sizeof *p, "a file");
  p->source = context;
  const scl_status status = begin_pass(p, error);
  if (status == SCL_STATUS_OK)
    *made = p;
  else
    close_pass(p);
  return status;
}

static scl_status read_pass(void *made, void *to, size_t size, size_t *got, scl_error *error) {
  pass *p = made;
  while (p->used - p->at < size && !p->ended) {
    memmove(p->text, p->text + p->at, p->used - p->at);
    p->used -= p->at;
    p->at = 0;
    SCL_TRY(scl_interrupt_check(error));
    SCL_TRY(add_block(p, error));
  }
  *got = p->used - p->at < size ? p->used - p->at : size;
  memcpy(to, p->text + p->at, *got);
  p->at += *got;
  return SCL_STATUS_OK;
}

/* The reader begins at the part that holds the row, the text at the row itself. */
static scl_status seek_pass(void *made, size_t row, scl_error *error) {
  pass *p = made;
  size_t part = 0;
  for (; part + 1 < p->schema.parts && p->schema.part_rows[part] <= row - p->row; part++)
    p->row += p->schema.part_rows[part];
  p->from = row;
  p->used = 0; /* no line of names */
  return part == 0 ? SCL_STATUS_OK : scl_reader_seek(p->source->reader, p->file, part, error);
}

/* Returns about the bytes of text that will come: a packed number and a separator for each cell, but
 * at most MOST times the size of the file, whatever number of rows it claims. */
static size_t pack_pass(void *made) {
  enum { MOST = 64 };
  pass *p = made;
  uint64_t rows = 0;
  scl_file file;
  p->packed = true;
  for (size_t k = 0; k < p->schema.parts; k++)
    rows += p->schema.part_rows[k];
  if (scl_file_open_regular(p->source->path, &file, NULL) != SCL_STATUS_OK) return 0;
  const size_t row = p->source->columns * (SCL_PACKED_BYTES + 1), most = file.size * MOST;
  scl_file_close(&file);
  return rows < most / row ? (size_t)rows * row + p->used : most;
}

static const scl_input_maker maker = {open_pass, read_pass, seek_pass, close_pass, pack_pass};

/* ------------ files */

/* "d.sqlite: {query = 'select ...'}, columns a, b", by which messages name the rows, and which
 * keeps files apart that are open at once. */
static char *name_of(const scl_instance *reader, const char *path, const char *const *columns,
                     size_t count) {
  size_t room = 1;
  for (size_t i = 0; i < reader->settings.count; i++) {
    const char *word = reader->settings.values[i].word;
    room += 400 + (word == NULL ? 0 : 2 * strlen(word));
  }
  size_t bytes = strlen(path) + room + 32, used = 0;
  for (size_t j = 0; columns != NULL && j < count; j++)
    bytes += strlen(columns[j]) + 2;
  char *name = scl_allocate(bytes), *text = scl_allocate(room);
  if (name != NULL && text != NULL) {
    (void)scl_settings_text(&reader->settings, text, room);
    used = scl_append(name, bytes, used, path);
    used = scl_append(name, bytes, used, ": ");
    used = scl_append(name, bytes, used, *text == 0 ? "rows" : text);
    for (size_t j = 0; columns != NULL && j < count; j++) {
      used = scl_append(name, bytes, used, j == 0 ? ", columns " : ", ");
      used = scl_append(name, bytes, used, columns[j]);
    }
  }
  scl_release(text);
  return name;
}

/* The place of a column by its name; SCL_STATUS_BAD_OPTION with some of the names. */
static scl_status find_column(const char *path, const scl_reader_schema *schema, const char *name,
                              size_t *place, scl_error *error) {
  char list[300] = "";
  size_t used = 0;
  for (size_t j = 0; j < schema->columns; j++) {
    if (strcmp(schema->column[j].name, name) == 0) {
      *place = j;
      return SCL_STATUS_OK;
    }
    used = scl_append(list, sizeof list, used, j == 0 ? "" : ", ");
    used = scl_append(list, sizeof list, used, schema->column[j].name);
  }
  return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s has no column '%.100s'; it has %s", path, name,
                  list);
}

static scl_status choose(scl_cell_file *file, const scl_reader_schema *schema,
                         const char *const *columns, size_t count, scl_error *error) {
  file->columns = columns == NULL ? schema->columns : count;
  file->chosen = scl_allocate_array(file->columns + 1, sizeof *file->chosen);
  file->column = scl_allocate_zero((file->columns + 1) * sizeof *file->column);
  if (file->chosen == NULL || file->column == NULL)
    return scl_fail_memory(error, file->columns * sizeof *file->column, "columns");
  for (size_t j = 0; j < file->columns; j++) {
    file->chosen[j] = j;
    if (columns != NULL)
      SCL_TRY(find_column(file->path, schema, columns[j], &file->chosen[j], error));
    for (size_t i = 0; columns != NULL && i < j; i++)
      if (file->chosen[i] == file->chosen[j])
        return scl_fail(error, SCL_STATUS_BAD_OPTION, "the column '%s' is asked for twice",
                        columns[j]);
    const scl_reader_column column = schema->column[file->chosen[j]];
    if (!scl_json_is_text(column.name, strlen(column.name)))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the name of column %zu is not UTF-8",
                      file->path, file->chosen[j] + 1);
    file->column[j] = column;
    file->column[j].name = scl_copy_text(file->column[j].name);
    if (file->column[j].name == NULL) return scl_fail_memory(error, 1, "a name");
  }
  return SCL_STATUS_OK;
}

/* Opens the file once, for its columns. */
static scl_status look(scl_cell_file *file, const char *const *columns, size_t count,
                       scl_error *error) {
  void *opened, *trial = NULL;
  scl_reader_schema schema;
  SCL_TRY(scl_reader_open(file->reader, file->path, &opened, error));
  scl_status status = scl_reader_get_schema(file->reader, opened, &schema, error);
  if (status == SCL_STATUS_OK) status = choose(file, &schema, columns, count, error);
  scl_reader_close(file->reader, opened);
  if (status == SCL_STATUS_OK) status = open_pass(file, &trial, error);
  if (trial != NULL) close_pass(trial);
  return status;
}

scl_status scl_cell_file_create(const scl_instance *reader, const char *path,
                                const char *const *columns, size_t count, scl_cell_file **out,
                                scl_error *error) {
  scl_cell_file *file = scl_allocate_zero(sizeof *file);
  if (file == NULL) return scl_fail_memory(error, sizeof *file, "a file");
  file->reader = scl_instance_share((scl_instance *)reader);
  file->path = scl_copy_text(path);
  file->name = name_of(reader, path, columns, count);
  scl_status status = file->path == NULL || file->name == NULL
                          ? scl_fail_memory(error, sizeof *file, "a file")
                          : look(file, columns, count, error);
  if (status == SCL_STATUS_OK) status = scl_input_announce(file->name, &maker, file, error);
  if (status == SCL_STATUS_OK)
    *out = file;
  else
    scl_cell_file_destroy(file);
  return status;
}

const char *scl_cell_file_name(const scl_cell_file *file) { return file->name; }

void scl_cell_file_destroy(scl_cell_file *file) {
  if (file == NULL) return;
  scl_input_withdraw(file);
  for (size_t j = 0; file->column != NULL && j < file->columns; j++)
    scl_release((char *)file->column[j].name);
  scl_instance_release(file->reader);
  SCL_RELEASE(file->path, file->name, file->chosen, file->column, file);
}
