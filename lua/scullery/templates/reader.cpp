/* Files with the numbers x_ij of a table in float32, each in 4 bytes, the least significant first:
 *
 *   file = "FLT1" n d name_1 0 ... name_d 0 x_11 ... x_1d x_21 ... x_nd
 *
 * n and d are the numbers of rows and columns, in 4 bytes each. NaN is a missing number. */
#include <scullery/plugin.hpp>

#include <cstdio>
#include <cstring>

namespace {

struct table_reader {
  scl_base base; // what the host offers
};

constexpr uint32_t ROWS = 256; // of a block

struct table_file {
  const scl_host *host;
  std::FILE *file;
  char *path, *names;
  uint32_t rows, columns, row; // row: the next one
  scl_reader_column *column;
  scl_column_cells *cells;
  float *numbers; // a block as it is in the file
  double *wide;   // ROWS of each column
};

template <typename T> T *take(const table_file *t, size_t count) {
  return static_cast<T *>(t->host->allocate(count * sizeof(T)));
}

int32_t recognises(const unsigned char *first, size_t size) {
  return size >= 12 && std::memcmp(first, "FLT1", 4) == 0;
}

scl_status refuse(const table_file *t, scl_error *error) {
  return t->host->fail(error, SCL_STATUS_BAD_DATA, "%s: it is cut off or damaged", t->path);
}

void close_file(void *opened) {
  auto *t = static_cast<table_file *>(opened);
  if (t->file != nullptr) std::fclose(t->file);
  t->host->release(t->path);
  t->host->release(t->names);
  t->host->release(t->column);
  t->host->release(t->cells);
  t->host->release(t->numbers);
  t->host->release(t->wide);
  t->host->release(t);
}

// The counts must fit the size of the file before memory is taken for them.
scl_status read_head(table_file *t, scl_error *error) {
  char magic[4];
  if (std::fseek(t->file, 0, SEEK_END) != 0) return refuse(t, error);
  const long size = std::ftell(t->file);
  std::rewind(t->file);
  if (std::fread(magic, 4, 1, t->file) != 1 || std::memcmp(magic, "FLT1", 4) != 0 ||
      std::fread(&t->rows, 4, 1, t->file) != 1 || std::fread(&t->columns, 4, 1, t->file) != 1 ||
      t->columns == 0 || t->columns > static_cast<uint64_t>(size))
    return refuse(t, error);
  const long long names = size - 12 - 4LL * t->rows * t->columns;
  if (names < 2LL * t->columns) return refuse(t, error);
  t->names = take<char>(t, static_cast<size_t>(names));
  t->column = take<scl_reader_column>(t, t->columns);
  t->cells = take<scl_column_cells>(t, t->columns);
  t->numbers = take<float>(t, static_cast<size_t>(ROWS) * t->columns);
  t->wide = take<double>(t, static_cast<size_t>(ROWS) * t->columns);
  if (t->names == nullptr || t->column == nullptr || t->cells == nullptr || t->numbers == nullptr ||
      t->wide == nullptr)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "out of memory");
  if (std::fread(t->names, static_cast<size_t>(names), 1, t->file) != 1) return refuse(t, error);
  const char *at = t->names, *end = t->names + names;
  for (uint32_t j = 0; j < t->columns; j++) {
    const char *zero =
        at < end ? static_cast<const char *>(std::memchr(at, 0, static_cast<size_t>(end - at)))
                 : nullptr;
    if (zero == nullptr) return refuse(t, error);
    t->column[j] = scl_reader_column{};
    t->column[j].name = at;
    t->column[j].type = SCL_CELL_FLOAT64;
    t->cells[j] = scl_column_cells{};
    t->cells[j].numbers = t->wide + static_cast<size_t>(j) * ROWS;
    at = zero + 1;
  }
  return at == end ? SCL_STATUS_OK : refuse(t, error);
}

scl_status open_file(const void *instance, const scl_reader_file *file, void **opened,
                     scl_error *error) {
  const scl_host *host = static_cast<const table_reader *>(instance)->base.host;
  auto *t = static_cast<table_file *>(host->allocate(sizeof(table_file)));
  auto *path = static_cast<char *>(host->allocate(std::strlen(file->path) + 1));
  if (t != nullptr) *t = table_file{};
  if (t != nullptr) t->host = host;
  if (t != nullptr) t->path = path;
  if (t == nullptr || path == nullptr) {
    host->release(path);
    host->release(t);
    return host->fail(error, SCL_STATUS_NO_MEMORY, "out of memory");
  }
  std::memcpy(path, file->path, std::strlen(file->path) + 1);
  t->file = std::fopen(path, "rb");
  const scl_status status = t->file == nullptr
                                ? host->fail(error, SCL_STATUS_IO, "%s cannot be read", path)
                                : read_head(t, error);
  if (status == SCL_STATUS_OK)
    *opened = t;
  else
    close_file(t);
  return status;
}

scl_status schema(void *opened, scl_reader_schema *out, scl_error *) {
  const auto *t = static_cast<table_file *>(opened);
  out->columns = t->columns;
  out->column = t->column;
  return SCL_STATUS_OK;
}

// The next rows, at most ROWS of them; 0 at the end.
scl_status rows(void *opened, scl_row_block *out, scl_error *error) {
  auto *t = static_cast<table_file *>(opened);
  const uint32_t left = t->rows - t->row, count = left < ROWS ? left : ROWS;
  out->rows = count;
  out->columns = t->cells;
  if (count > 0 &&
      std::fread(t->numbers, static_cast<size_t>(count) * t->columns * 4, 1, t->file) != 1)
    return refuse(t, error);
  for (uint32_t j = 0; j < t->columns; j++)
    for (uint32_t i = 0; i < count; i++)
      t->wide[static_cast<size_t>(j) * ROWS + i] =
          static_cast<double>(t->numbers[static_cast<size_t>(i) * t->columns + j]);
  t->row += count;
  return SCL_STATUS_OK;
}

// A small file, with which `scullery plugin check` tries the other slots.
scl_status example(const void *instance, const char *path, scl_error *error) {
  const char head[] = "FLT1\3\0\0\0\2\0\0\0a\0b"; // and a zero byte
  const float numbers[] = {0.5f, -1, NAN, 2, 3, 1e6f};
  const scl_host *host = static_cast<const table_reader *>(instance)->base.host;
  std::FILE *file = std::fopen(path, "wb");
  if (file == nullptr || std::fwrite(head, sizeof head, 1, file) != 1 ||
      std::fwrite(numbers, sizeof numbers, 1, file) != 1 || std::fclose(file) != 0)
    return host->fail(error, SCL_STATUS_IO, "%s cannot be written", path);
  return SCL_STATUS_OK;
}

} // namespace

const scl_plugin scullery_plugin = scullery::plugin(
    SCL_KIND_READER,
    scl_reader{.format = "a table of float32 (FLT1)",
               .recognises = recognises,
               .open = open_file,
               .schema = schema,
               .rows = rows,
               .close = close_file,
               .example = example},
    {.name = "my_plugin",
     .summary = "tables of float32: FLT1, the names of the columns, and the numbers row by row",
     .doc =
         "\"FLT1\", the numbers of rows and columns, the names with a zero byte behind each, and\n"
         "the numbers row by row in float32. NaN is a missing number.",
     .instance_size = sizeof(table_reader),
     .version = "0.1",
     // What `plugin check` compares with: cells of the example (k = 0), and of files that it writes.
     .definition =
         "numbers(k) = ({ [0] = { 0.5, -1, 0/0, 2, 3, 1e6 }, {}, range(600) })[k]\n"
         "name(j) = ({ \"a\", \"b\" })[j]\n"
         "cell(i, j, k) = numbers(k)[2*i + j - 2]\n"
         "file(k) = numbers(k) and pack(\"<c4I4I4zz\", \"FLT1\", #numbers(k)//2, 2, \"a\", \"b\")\n"
         "  .. concat(numbers(k), function(x) return pack(\"<f\", x) end)"});
