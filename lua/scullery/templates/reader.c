/* Files with the numbers x_ij of a table in float32, each in 4 bytes, the least significant first:
 *
 *   file = "FLT1" n d name_1 0 ... name_d 0 x_11 ... x_1d x_21 ... x_nd
 *
 * n and d are the numbers of rows and columns, in 4 bytes each. NaN is a missing number. */
#include <scullery/plugin.h>

#include <stdio.h>

typedef struct table_reader {
  scl_base base; /* what the host offers */
} table_reader;

enum { ROWS = 256 }; /* of a block */

typedef struct table_file {
  const scl_host *host;
  FILE *file;
  char *path, *names;
  uint32_t rows, columns, row; /* row: the next one */
  scl_reader_column *column;
  scl_column_cells *cells;
  float *numbers; /* a block as it is in the file */
  double *wide;   /* ROWS of each column */
} table_file;

static int32_t recognises(const unsigned char *first, size_t size) {
  return size >= 12 && memcmp(first, "FLT1", 4) == 0;
}

static scl_status refuse(const table_file *t, scl_error *error) {
  return t->host->fail(error, SCL_STATUS_BAD_DATA, "%s: it is cut off or damaged", t->path);
}

static void close_file(void *opened) {
  table_file *t = opened;
  if (t->file != NULL) fclose(t->file);
  t->host->release(t->path);
  t->host->release(t->names);
  t->host->release(t->column);
  t->host->release(t->cells);
  t->host->release(t->numbers);
  t->host->release(t->wide);
  t->host->release(t);
}

/* The counts must fit the size of the file before memory is taken for them. */
static scl_status read_head(table_file *t, scl_error *error) {
  char magic[4];
  if (fseek(t->file, 0, SEEK_END) != 0) return refuse(t, error);
  const long size = ftell(t->file);
  rewind(t->file);
  if (fread(magic, 4, 1, t->file) != 1 || memcmp(magic, "FLT1", 4) != 0 ||
      fread(&t->rows, 4, 1, t->file) != 1 || fread(&t->columns, 4, 1, t->file) != 1 ||
      t->columns == 0 || t->columns > (uint64_t)size)
    return refuse(t, error);
  const uint64_t row = 4 * (uint64_t)t->columns, rest = (uint64_t)size - 12;
  if (t->rows > rest / row) return refuse(t, error); /* the product fits */
  const uint64_t names = rest - t->rows * row;
  if (names < 2 * (uint64_t)t->columns) return refuse(t, error);
  t->names = t->host->allocate((size_t)names);
  t->column = t->host->allocate(t->columns * sizeof *t->column);
  t->cells = t->host->allocate(t->columns * sizeof *t->cells);
  t->numbers = t->host->allocate((size_t)ROWS * t->columns * sizeof *t->numbers);
  t->wide = t->host->allocate((size_t)ROWS * t->columns * sizeof *t->wide);
  if (t->names == NULL || t->column == NULL || t->cells == NULL || t->numbers == NULL ||
      t->wide == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "out of memory");
  if (fread(t->names, (size_t)names, 1, t->file) != 1) return refuse(t, error);
  const char *at = t->names, *end = t->names + names;
  for (uint32_t j = 0; j < t->columns; j++) {
    const char *zero = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
    if (zero == NULL) return refuse(t, error);
    t->column[j] = (scl_reader_column){.name = at, .type = SCL_CELL_FLOAT64};
    t->cells[j] = (scl_column_cells){.numbers = t->wide + (size_t)j * ROWS};
    at = zero + 1;
  }
  return at == end ? SCL_STATUS_OK : refuse(t, error);
}

static scl_status open_file(const void *instance, const scl_reader_file *file, void **opened,
                            scl_error *error) {
  const scl_host *host = ((const table_reader *)instance)->base.host;
  table_file *t = host->allocate(sizeof *t);
  char *path = host->allocate(strlen(file->path) + 1);
  if (t != NULL) *t = (table_file){.host = host, .path = path};
  if (t == NULL || path == NULL) {
    host->release(path);
    host->release(t);
    return host->fail(error, SCL_STATUS_NO_MEMORY, "out of memory");
  }
  memcpy(path, file->path, strlen(file->path) + 1);
  t->file = fopen(path, "rb");
  const scl_status status = t->file == NULL
                                ? host->fail(error, SCL_STATUS_IO, "%s cannot be read", path)
                                : read_head(t, error);
  if (status == SCL_STATUS_OK)
    *opened = t;
  else
    close_file(t);
  return status;
}

static scl_status schema(void *opened, scl_reader_schema *out, scl_error *error) {
  const table_file *t = opened;
  (void)error;
  out->columns = t->columns;
  out->column = t->column;
  return SCL_STATUS_OK;
}

/* The next rows, at most ROWS of them; 0 at the end. */
static scl_status rows(void *opened, scl_row_block *out, scl_error *error) {
  table_file *t = opened;
  const uint32_t left = t->rows - t->row, count = left < ROWS ? left : ROWS;
  out->rows = count;
  out->columns = t->cells;
  if (count > 0 && fread(t->numbers, (size_t)count * t->columns * 4, 1, t->file) != 1)
    return refuse(t, error);
  for (uint32_t j = 0; j < t->columns; j++)
    for (uint32_t i = 0; i < count; i++)
      t->wide[(size_t)j * ROWS + i] = (double)t->numbers[(size_t)i * t->columns + j];
  t->row += count;
  return SCL_STATUS_OK;
}

/* A small file, with which `scullery plugin check` tries the other slots. */
static scl_status example(const void *instance, const char *path, scl_error *error) {
  static const char head[] = "FLT1\3\0\0\0\2\0\0\0a\0b"; /* and a zero byte */
  const float numbers[] = {0.5f, -1, NAN, 2, 3, 1e6f};
  const scl_host *host = ((const table_reader *)instance)->base.host;
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(head, sizeof head, 1, file) != 1 ||
      fwrite(numbers, sizeof numbers, 1, file) != 1 || fclose(file) != 0)
    return host->fail(error, SCL_STATUS_IO, "%s cannot be written", path);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "my_plugin",
    .summary = "tables of float32: FLT1, the names of the columns, and the numbers row by row",
    .doc =
        "\"FLT1\", the numbers of rows and columns, the names with a zero byte behind each, and\n"
        "the numbers row by row in float32. NaN is a missing number.",
    /* What `plugin check` compares with: cells of the example (k = 0), and of files that it writes. */
    .definition =
        "numbers(k) = ({ [0] = { 0.5, -1, 0/0, 2, 3, 1e6 }, {}, range(600) })[k]\n"
        "name(j) = ({ \"a\", \"b\" })[j]\n"
        "cell(i, j, k) = numbers(k)[2*i + j - 2]\n"
        "file(k) = numbers(k) and pack(\"<c4I4I4zz\", \"FLT1\", #numbers(k)//2, 2, \"a\", \"b\")\n"
        "  .. concat(numbers(k), function(x) return pack(\"<f\", x) end)",
    SCL_READER(.format = "a table of float32 (FLT1)", .recognises = recognises, .open = open_file,
               .schema = schema, .rows = rows, .close = close_file, .example = example),
    .instance_size = sizeof(table_reader),
    .version = "0.1"};
