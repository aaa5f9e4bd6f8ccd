/* Parquet: flat tables of columns, row group by row group; the columns that are not chosen are
 * not read. */
#include "pages.h"

typedef struct parquet_file {
  scl_reading file;
  parquet_footer footer;
  scl_reader_column *schema;
  size_t *chosen, n_chosen;
  pages *pages;            /* of the chosen columns */
  scl_column_cells *cells; /* theirs */
  size_t group;            /* the one that is read; rows_left: of it */
  uint64_t rows_left, row;
  bool begun;
} parquet_file;

typedef struct parquet_reader {
  scl_base base;
} parquet_reader;

/* PARE begins files whose footer is encrypted, which are refused with a sentence of ours. */
static int32_t recognises(const unsigned char *first, size_t size) {
  return size >= 4 && (memcmp(first, "PAR1", 4) == 0 || memcmp(first, "PARE", 4) == 0);
}

/* What belongs to the columns that were chosen before. */
static void drop_choice(parquet_file *f) {
  const scl_host *host = f->file.host;
  for (size_t k = 0; f->pages != NULL && k < f->n_chosen; k++)
    pages_release(&f->pages[k]);
  host->release(f->pages);
  host->release(f->cells);
  host->release(f->chosen);
  f->pages = NULL;
  f->cells = NULL;
  f->chosen = NULL;
}

static void close_file(void *opened) {
  parquet_file *f = opened;
  const scl_host *host = f->file.host;
  drop_choice(f);
  parquet_release_footer(host, &f->footer);
  host->release(f->schema);
  scl_reading_close(&f->file);
  host->release(f);
}

/* ------------ columns */

static scl_cell_type type_of(const parquet_column *c) {
  switch (c->meaning) {
  case AS_TEXT:
    return SCL_CELL_TEXT;
  case AS_DATE:
    return SCL_CELL_DATE;
  case AS_TIMESTAMP:
    return SCL_CELL_TIMESTAMP;
  case AS_INTEGER:
  case AS_UNSIGNED_32:
    return SCL_CELL_INT64;
  default:
    return SCL_CELL_FLOAT64;
  }
}

/* Refused columns are so here, and not when the file is opened: the others can be read. */
static scl_status choose(void *opened, const size_t *columns, size_t count, scl_error *error) {
  parquet_file *f = opened;
  const scl_host *host = f->file.host;
  drop_choice(f);
  f->n_chosen = count;
  f->group = 0;
  f->rows_left = f->row = 0;
  f->begun = false;
  f->chosen = scl_host_zeros(host, count, sizeof *f->chosen);
  f->pages = scl_host_zeros(host, count, sizeof *f->pages);
  f->cells = scl_host_zeros(host, count, sizeof *f->cells);
  if (f->chosen == NULL || f->pages == NULL || f->cells == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", f->file.path);
  for (size_t k = 0; k < count; k++) {
    const parquet_column *c = &f->footer.columns[columns[k]];
    if (c->refused != NULL)
      return scl_reading_refuse(&f->file, error,
                                "the column '%s' is %s, which is not read: option 'select' names "
                                "the columns that are",
                                c->name, c->refused);
    f->chosen[k] = columns[k];
    f->pages[k].file = &f->file;
    f->pages[k].column = c;
  }
  return SCL_STATUS_OK;
}

/* ------------ the slots */

static scl_status make_schema(parquet_file *f, scl_error *error) {
  f->schema = scl_host_zeros(f->file.host, f->footer.n_columns, sizeof *f->schema);
  if (f->schema == NULL)
    return f->file.host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", f->file.path);
  for (size_t j = 0; j < f->footer.n_columns; j++)
    f->schema[j] = (scl_reader_column){.name = f->footer.columns[j].name,
                                       .type = type_of(&f->footer.columns[j])};
  return SCL_STATUS_OK;
}

static scl_status open_file(const void *self, const scl_reader_file *file, void **opened,
                            scl_error *error) {
  const scl_host *host = ((const parquet_reader *)self)->base.host;
  parquet_file *f = scl_host_zeros(host, 1, sizeof *f);
  if (f == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  scl_status status = scl_reading_open(&f->file, host, file->path, error);
  if (status == SCL_STATUS_OK) status = parquet_read_footer(&f->file, &f->footer, error);
  if (status == SCL_STATUS_OK) status = make_schema(f, error);
  if (status == SCL_STATUS_OK)
    *opened = f;
  else
    close_file(f);
  return status;
}

static scl_status schema(void *opened, scl_reader_schema *out, scl_error *error) {
  const parquet_file *f = opened;
  (void)error;
  out->columns = f->footer.n_columns;
  out->column = f->schema;
  out->parts = f->footer.groups;
  out->part_rows = f->footer.group_rows;
  return SCL_STATUS_OK;
}

/* The chunks of row group `group`. */
static void begin_group(parquet_file *f, size_t group) {
  const parquet_footer *footer = &f->footer;
  f->group = group;
  f->begun = true;
  f->rows_left = group < footer->groups ? footer->group_rows[group] : 0;
  for (size_t k = 0; group < footer->groups && k < f->n_chosen; k++)
    pages_begin(&f->pages[k],
                footer->chunks[group * footer->leaves + footer->columns[f->chosen[k]].leaf],
                f->rows_left, f->row);
}

/* A row group can be read without those before it. */
static scl_status seek(void *opened, size_t part, scl_error *error) {
  parquet_file *f = opened;
  (void)error;
  f->row = 0;
  for (size_t k = 0; k < part; k++)
    f->row += f->footer.group_rows[k];
  begin_group(f, part);
  return SCL_STATUS_OK;
}

/* As many rows as every chosen column has in its page: blocks end where a page of one of them
 * ends, so that no values are copied from page to page. */
static scl_status rows(void *opened, scl_row_block *out, scl_error *error) {
  parquet_file *f = opened;
  if (!f->begun) begin_group(f, 0);
  while (f->rows_left == 0 && f->group < f->footer.groups)
    begin_group(f, f->group + 1);
  if (f->group >= f->footer.groups) return SCL_STATUS_OK;
  size_t count = f->rows_left < BLOCK_ROWS ? (size_t)f->rows_left : BLOCK_ROWS;
  for (size_t k = 0; k < f->n_chosen; k++) {
    READ_TRY(pages_fill(&f->pages[k], error));
    if (f->pages[k].in_page < count) count = f->pages[k].in_page;
  }
  for (size_t k = 0; k < f->n_chosen; k++) {
    READ_TRY(pages_read(&f->pages[k], count, error));
    f->cells[k] = f->pages[k].cells;
  }
  f->rows_left -= count;
  f->row += count;
  out->rows = count;
  out->columns = f->cells;
  return SCL_STATUS_OK;
}

/* ------------ an example */

/* The columns a (numbers, one missing) and b (texts), in two row groups of two rows. */
static const char example_bytes[] =
    "PAR1\25\6\25\24\25\24\134\25\4\25\2\25\4\25\0\25\4\25\0\0\0\3\1\0\0\0\0\0\0\340\77\25\6\25\30"
    "\25\30\134\25\4\25\0\25\4\25\0\25\4\25\0\0\0\3\3\1\0\0\0x\1\0\0\0y\25\6\25$\25$\134\25\4\25\0"
    "\25\4\25\0\25\4\25\0\0\0\3\3\0\0\0\0\0\0\10\300\0\0\0\0\200\204.A\25\6\25\30\25\30\134\25\4\25"
    "\0\25\4\25\0\25\4\25\0\0\0\3\3\1\0\0\0x\1\0\0\0z\25\4\31<H\4root\25\4\0\25\12%\2\30\1a\0\25\14"
    "%\2\30\1b%\0\0\26\10\31,\31,&\10\34\25\12\31\25\0\31\30\1a\25\0\26\4\26>\26>&\10\0\0&F\34\25"
    "\14\31\25\0\31\30\1b\25\0\26\4\26B\26B&F\0\0\26\200\1\26\0046\200\1\0\31,&\210\1\34\25\12\31"
    "\25\0\31\30\1a\25\0\26\4\26N\26N&\210\1\0\0&\326\1\34\25\14\31\25\0\31\30\1b\25\0\26\4\26B\26B"
    "&\326\1\0\0\26\220\1\26\0046\220\1\0(\11hyparquet\31,\34\0\0\34\0\0\0\261\0\0\0PAR1";

static scl_status example(const void *self, const char *path, scl_error *error) {
  return scl_write_example(((const parquet_reader *)self)->base.host, path, example_bytes,
                           sizeof example_bytes - 1, error);
}

const scl_plugin scullery_plugin = {
    .name = "parquet",
    .summary = "Parquet files: flat tables, column by column",
    .definition = "name(j) = ({ \"a\", \"b\" })[j]\n"
                  "cell(i, j) = when(i > 4, nil, j == 1, ({ 0.5, false, -3, 1000000 })[i], "
                  "({ \"x\", \"y\", \"x\", \"z\" })[i])",
    .doc =
        "sc.data.read(\"t.parquet\", { select = { \"a\", \"b\" } }) reads such a file.\n"
        "Numbers, whole numbers, decimals, truth values (0 and 1), texts, dates and times, with\n"
        "missing values. All encodings and pages of versions 1 and 2, uncompressed or by snappy,\n"
        "gzip, zstd or lz4 (libraries that are opened when a file needs them). Columns that are\n"
        "not chosen are not read. Nested columns (lists, maps, structs) are refused by name.\n"
        "Decimals are the nearest number, times of a day are seconds.",
    SCL_READER(.format = "a Parquet file", .recognises = recognises, .open = open_file,
               .schema = schema, .choose = choose, .seek = seek, .rows = rows, .close = close_file,
               .example = example),
    .instance_size = sizeof(parquet_reader)};
