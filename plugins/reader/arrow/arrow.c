/* Arrow IPC files ("Feather") and streams: flat tables, batch by batch. */
#include "arrow.h"

typedef struct arrow_file {
  scl_reading file;
  arrow_contents contents;
  scl_reader_column *schema;
  arrow_reading *readings; /* of the chosen columns */
  scl_column_cells *cells; /* theirs */
  size_t n_chosen, batch;
  uint64_t in_batch, row; /* rows of the batch that were read; row of the file */
  bool loaded;
} arrow_file;

typedef struct arrow_reader {
  scl_base base;
} arrow_reader;

/* A stream begins with the message of its schema, whose version and kind stand in a table. */
static int32_t recognises(const unsigned char *first, size_t size) {
  static const unsigned char more[4] = {0xff, 0xff, 0xff, 0xff};
  if (size >= 8 && memcmp(first, "ARROW1\0\0", 8) == 0) return 1;
  if (size < 16 || memcmp(first, more, 4) != 0) return 0;
  uint32_t head;
  memcpy(&head, first + 4, sizeof head);
  const flat f = {first + 8, size - 8 < head ? size - 8 : head};
  return head >= 16 && flat_number(&f, flat_member(&f, flat_root(&f), 1), 1, 0) == ARROW_SCHEMA;
}

/* What belongs to the columns that were chosen before. */
static void drop_choice(arrow_file *f) {
  for (size_t k = 0; f->readings != NULL && k < f->n_chosen; k++)
    if (f->readings[k].file != NULL) arrow_release(&f->readings[k]);
  f->file.host->release(f->readings);
  f->file.host->release(f->cells);
  f->readings = NULL;
  f->cells = NULL;
}

static void close_file(void *opened) {
  arrow_file *f = opened;
  const scl_host *host = f->file.host;
  drop_choice(f);
  arrow_release_contents(host, &f->contents);
  host->release(f->schema);
  scl_reading_close(&f->file);
  host->release(f);
}

/* The type of the cells that a column gives; one of nothing but missing values counts as whole
 * numbers. */
static scl_cell_type type_of(arrow_meaning meaning) {
  switch (meaning) {
  case AS_TEXT:
    return SCL_CELL_TEXT;
  case AS_DATE:
    return SCL_CELL_DATE;
  case AS_TIMESTAMP:
    return SCL_CELL_TIMESTAMP;
  case AS_NOTHING:
  case AS_INTEGER:
  case AS_BOOLEAN:
    return SCL_CELL_INT64;
  default:
    return SCL_CELL_FLOAT64;
  }
}

/* Refused columns are so here, and not when the file is opened: the others can be read. */
static scl_status choose(void *opened, const size_t *columns, size_t count, scl_error *error) {
  arrow_file *f = opened;
  const scl_host *host = f->file.host;
  drop_choice(f);
  f->n_chosen = count;
  f->batch = 0;
  f->in_batch = f->row = 0;
  f->loaded = false;
  f->readings = scl_host_zeros(host, count, sizeof *f->readings);
  f->cells = scl_host_zeros(host, count, sizeof *f->cells);
  if (f->readings == NULL || f->cells == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", f->file.path);
  for (size_t k = 0; k < count; k++) {
    const arrow_column *c = &f->contents.columns[columns[k]];
    if (c->refused != NULL)
      return scl_reading_refuse(&f->file, error,
                                "the column '%s' is %s, which is not read: option 'select' names "
                                "the columns that are",
                                c->name, c->refused);
    f->readings[k].file = &f->file;
    f->readings[k].contents = &f->contents;
    f->readings[k].column = columns[k];
  }
  return SCL_STATUS_OK;
}

static scl_status make_schema(arrow_file *f, scl_error *error) {
  f->schema = scl_host_zeros(f->file.host, f->contents.n_columns, sizeof *f->schema);
  if (f->schema == NULL)
    return f->file.host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", f->file.path);
  for (size_t j = 0; j < f->contents.n_columns; j++)
    f->schema[j] = (scl_reader_column){.name = f->contents.columns[j].name,
                                       .type = type_of(f->contents.columns[j].type.meaning)};
  return SCL_STATUS_OK;
}

static scl_status open_file(const void *self, const scl_reader_file *file, void **opened,
                            scl_error *error) {
  const scl_host *host = ((const arrow_reader *)self)->base.host;
  arrow_file *f = scl_host_zeros(host, 1, sizeof *f);
  if (f == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  scl_status status = scl_reading_open(&f->file, host, file->path, error);
  if (status == SCL_STATUS_OK) status = arrow_read_contents(&f->file, &f->contents, error);
  if (status == SCL_STATUS_OK) status = make_schema(f, error);
  if (status == SCL_STATUS_OK)
    *opened = f;
  else
    close_file(f);
  return status;
}

static scl_status schema(void *opened, scl_reader_schema *out, scl_error *error) {
  const arrow_file *f = opened;
  (void)error;
  out->columns = f->contents.n_columns;
  out->column = f->schema;
  out->parts = f->contents.n_batches;
  out->part_rows = f->contents.batch_rows;
  return SCL_STATUS_OK;
}

/* A batch needs none before it, but for the dictionaries, which are read again (batches.c). */
static scl_status seek(void *opened, size_t part, scl_error *error) {
  arrow_file *f = opened;
  (void)error;
  f->batch = part;
  f->in_batch = f->row = 0;
  f->loaded = false;
  for (size_t k = 0; k < part; k++)
    f->row += f->contents.batch_rows[k];
  return SCL_STATUS_OK;
}

/* The buffers of a batch are read once; its rows are given in blocks. */
static scl_status rows(void *opened, scl_row_block *out, scl_error *error) {
  arrow_file *f = opened;
  const arrow_contents *c = &f->contents;
  while (f->batch < c->n_batches && f->in_batch == c->batch_rows[f->batch]) {
    f->batch++;
    f->in_batch = 0;
    f->loaded = false;
  }
  if (f->batch == c->n_batches) return SCL_STATUS_OK;
  for (size_t k = 0; !f->loaded && k < f->n_chosen; k++)
    READ_TRY(arrow_load(&f->readings[k], c->batches[f->batch], error));
  f->loaded = true;
  const uint64_t left = c->batch_rows[f->batch] - f->in_batch;
  const size_t count = left < BLOCK_ROWS ? (size_t)left : BLOCK_ROWS;
  for (size_t k = 0; k < f->n_chosen; k++) {
    READ_TRY(arrow_read(&f->readings[k], f->in_batch, count, f->row, error));
    f->cells[k] = f->readings[k].cells;
  }
  f->in_batch += count;
  f->row += count;
  out->rows = count;
  out->columns = f->cells;
  return SCL_STATUS_OK;
}

/* ------------ an example */

/* A stream of the columns a (numbers, one missing) and b (texts by a dictionary), in two
 * batches. */
static const char example_bytes[] =
    "\377\377\377\377\340\0\0\0\20\0\0\0\0\0\12\0\20\0\16\0\7\0\10\0\12\0\0\0\0\0\0\1\10\0\0\0\0\0"
    "\4\0\254\377\377\377\4\0\0\0\2\0\0\0|\0\0\0\24\0\0\0\20\0\34\0\10\0\17\0\27\0\30\0\4\0\20\0\20"
    "\0\0\0004\0\0\0\24\0\0\0\0\0\0\1\24\0\0\0\0\0\0\5\24\0\0\0\1\0\0\0b\0\0\0\0\0\0\0\4\0\4\0\4\0"
    "\0\0\10\0\10\0\0\0\4\0\10\0\0\0\14\0\0\0\10\0\14\0\10\0\7\0\10\0\0\0\0\0\0\1\10\0\0\0\20\0\30"
    "\0\4\0\13\0\23\0\24\0\0\0\14\0\20\0\0\0\24\0\0\0\0\0\0\1\24\0\0\0\0\0\0\3\30\0\0\0\1\0\0\0a\0"
    "\0\0\0\0\0\0\0\0\6\0\10\0\6\0\6\0\0\0\0\0\2\0\0\0\0\0\377\377\377\377\260\0\0\0\24\0\0\0\0\0\0"
    "\0\14\0\34\0\32\0\23\0\24\0\4\0\14\0\0\0\30\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\20\0\0\0\0\0\4\0\10"
    "\0\12\0\0\0\4\0\10\0\0\0\20\0\0\0\0\0\12\0\30\0\14\0\10\0\4\0\12\0\0\0\24\0\0\0H\0\0\0\3\0\0\0"
    "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\20\0"
    "\0\0\0\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0"
    "\2\0\0\0\3\0\0\0xyz\0\0\0\0\0\377\377\377\377\270\0\0\0\24\0\0\0\0\0\0\0\14\0\26\0\24\0\17\0"
    "\20\0\4\0\14\0\0\0X\0\0\0\0\0\0\0\0\0\0\3\20\0\0\0\4\0\12\0\30\0\14\0\10\0\4\0\12\0\0\0\24\0\0"
    "\0X\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0@\0\0\0\0\0\0\0@\0\0\0\0\0\0\0\20\0\0"
    "\0\0\0\0\0P\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0P\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\2\0"
    "\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\15\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\340\77\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\377\377\377\377\270\0\0\0\24\0\0\0\0\0\0"
    "\0\14\0\26\0\24\0\17\0\20\0\4\0\14\0\0\0\30\0\0\0\0\0\0\0\0\0\0\3\20\0\0\0\4\0\12\0\30\0\14\0"
    "\10\0\4\0\12\0\0\0\24\0\0\0X\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\10\0\0"
    "\0\0\0\0\0\0\0\0\0\2\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0\0\0\0\10\300\0\0\0\0\200\204.A\0\2\0\0\0\0\0\0\377\377\377\377\0\0\0\0";

static scl_status example(const void *self, const char *path, scl_error *error) {
  return scl_write_example(((const arrow_reader *)self)->base.host, path, example_bytes,
                           sizeof example_bytes - 1, error);
}

const scl_plugin scullery_plugin = {
    .name = "arrow",
    .summary = "Arrow IPC files (Feather) and streams: flat tables, batch by batch",
    .definition = "name(j) = ({ \"a\", \"b\" })[j]\n"
                  "cell(i, j) = when(i > 4, nil, j == 1, ({ 0.5, false, -3, 1000000 })[i],\n"
                  "  ({ \"x\", \"y\", \"x\", \"z\" })[i])",
    .doc =
        "sc.data.read(\"t.arrow\", { select = { \"a\", \"b\" } }) reads such a file.\n"
        "Numbers, whole numbers, decimals, truth values (0 and 1), texts, dictionaries, dates and\n"
        "times, with missing values, uncompressed or by lz4 or zstd (libraries that are opened\n"
        "when a file needs them). The buffers of columns that are not chosen are not read. Nested\n"
        "columns (lists, maps, structs) are refused by name. Times of a day and durations are\n"
        "seconds.",
    SCL_READER(.format = "an Arrow file", .recognises = recognises, .open = open_file,
               .schema = schema, .choose = choose, .seek = seek, .rows = rows, .close = close_file,
               .example = example),
    .instance_size = sizeof(arrow_reader)};
