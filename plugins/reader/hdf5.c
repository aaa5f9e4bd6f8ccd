/* HDF5: datasets of numbers with one row for each row of the table, of one column or of several.
 *
 * The library is opened by its name when the first file is read. It is one for all threads, and its
 * calls are made one at a time, whatever files they are for. */
#define _POSIX_C_SOURCE 200809L
#include "shared/reading.h"
#include "shared/stored_numbers.h"
#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>

/* ------------ the library */

#define FUNCTIONS(X) \
  X(H5open) \
  X(H5Eset_auto2) \
  X(H5Fopen) \
  X(H5Fcreate) \
  X(H5Fclose) \
  X(H5Gget_num_objs) \
  X(H5Gget_objname_by_idx) \
  X(H5Gget_objtype_by_idx) \
  X(H5Dopen2) \
  X(H5Dcreate2) \
  X(H5Dclose) \
  X(H5Dget_space) \
  X(H5Dget_type) \
  X(H5Dread) \
  X(H5Dwrite) \
  X(H5Tget_class) \
  X(H5Tget_sign) \
  X(H5Tget_size) \
  X(H5Tclose) \
  X(H5Screate_simple) \
  X(H5Sget_simple_extent_ndims) \
  X(H5Sget_simple_extent_dims) \
  X(H5Sselect_hyperslab) \
  X(H5Sclose)

typedef struct library {
#define DECLARE(name) __typeof__(&name) name;
  FUNCTIONS(DECLARE)
  const hid_t *number, *integer, *natural; /* H5T_NATIVE_DOUBLE, _INT64, _UINT64 */
} library;

static const char *const names[] = {
#define NAME(name) #name,
    FUNCTIONS(NAME) "H5T_NATIVE_DOUBLE_g", "H5T_NATIVE_INT64_g", "H5T_NATIVE_UINT64_g", NULL};

/* H5F_ACC_RDONLY and H5F_ACC_TRUNC, whose macros call the library. */
enum { OPEN_READ_ONLY = 0, OPEN_TRUNCATED = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Sentences of the library itself are not printed: ours name the file. */
static scl_status find_library(const scl_host *host, const char *path, library *h5,
                               scl_error *error) {
  READ_TRY(scl_library_find(host, path, "an HDF5 file", HDF5_LIBRARY, "libhdf5-103-1", names, h5,
                            error));
  if (h5->H5open() >= 0 && h5->H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_UNSUPPORTED, "%s: %s cannot be used", path, HDF5_LIBRARY);
}

/* ------------ files */

enum {
  BLOCK_ROWS = 1024,       /* of a block, less where there are many columns: */
  BLOCK_NUMBERS = 1 << 22, /* of a block of more than one row */
  PART_ROWS = 1 << 16,
  MOST_COLUMNS = 1 << 20,
  MOST_SETS = 256
};

typedef struct dataset {
  char name[256];
  hid_t id;
  hsize_t rows, columns;
  bool is_table, whole; /* two dimensions; whole numbers */
  bool wanted;
  hsize_t first, last;    /* columns that are wanted are among these */
  scl_room block, turned; /* as they are in the file, and column by column */
} dataset;

typedef struct hdf5_file {
  scl_reading file;
  library h5;
  hid_t id;
  dataset *sets;
  size_t n_sets, columns, n_chosen, *chosen;
  size_t block_rows; /* a power of two, so that a part has a whole number of blocks */
  scl_reader_column *schema;
  char *names; /* of the columns, NAME_SIZE bytes each */
  scl_column_cells *cells;
  uint64_t *part_rows, rows, row;
  size_t parts;
} hdf5_file;

typedef struct hdf5_reader {
  scl_base base;
  const scl_value *dataset;
} hdf5_reader;

enum { NAME_SIZE = 280 };

/* The signature of the format, without a user block before it. */
static int32_t recognises(const unsigned char *first, size_t size) {
  return size >= 8 && memcmp(first, "\x89HDF\r\n\x1a\n", 8) == 0;
}

/* With the lock held. */
static void close_sets(hdf5_file *f) {
  for (size_t k = 0; f->sets != NULL && k < f->n_sets; k++)
    if (f->sets[k].id >= 0) (void)f->h5.H5Dclose(f->sets[k].id);
  if (f->id >= 0) (void)f->h5.H5Fclose(f->id);
}

static void close_file(void *opened) {
  hdf5_file *f = opened;
  const scl_host *host = f->file.host;
  (void)pthread_mutex_lock(&lock);
  close_sets(f);
  (void)pthread_mutex_unlock(&lock);
  for (size_t k = 0; f->sets != NULL && k < f->n_sets; k++) {
    scl_room_release(host, &f->sets[k].block);
    scl_room_release(host, &f->sets[k].turned);
  }
  void *const memory[] = {f->sets, f->schema, f->names, f->cells, f->part_rows, f->chosen};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
    host->release(memory[i]);
  scl_reading_close(&f->file);
  host->release(f);
}

static scl_status out_of_memory(const hdf5_file *f, scl_error *error) {
  return f->file.host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", f->file.path);
}

/* ------------ datasets */

/* A dataset by its name. *fits = false: it has no numbers, or not one or two dimensions. */
static scl_status open_set(hdf5_file *f, dataset *d, bool *fits, scl_error *error) {
  hsize_t sizes[2] = {0, 1};
  d->id = f->h5.H5Dopen2(f->id, d->name, H5P_DEFAULT);
  if (d->id < 0) return scl_reading_refuse(&f->file, error, "it has no dataset '%s'", d->name);
  const hid_t space = f->h5.H5Dget_space(d->id), type = f->h5.H5Dget_type(d->id);
  const int rank = space < 0 ? -1 : f->h5.H5Sget_simple_extent_ndims(space);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : f->h5.H5Tget_class(type);
  if (rank == 1 || rank == 2) (void)f->h5.H5Sget_simple_extent_dims(space, sizes, NULL);
  /* unsigned numbers of 8 bytes may be beyond those of int64: they are read as float64 */
  const bool is_large = class == H5T_INTEGER && f->h5.H5Tget_sign(type) == H5T_SGN_NONE &&
                        f->h5.H5Tget_size(type) >= 8;
  if (space >= 0) (void)f->h5.H5Sclose(space);
  if (type >= 0) (void)f->h5.H5Tclose(type);
  d->rows = sizes[0];
  d->columns = sizes[1];
  d->is_table = rank == 2;
  d->whole = (class == H5T_INTEGER && !is_large) || class == H5T_ENUM;
  *fits = (rank == 1 || rank == 2) && d->columns > 0 &&
          (class == H5T_INTEGER || class == H5T_ENUM || class == H5T_FLOAT);
  if (!*fits) return SCL_STATUS_OK;
  if (d->columns <= MOST_COLUMNS && d->rows <= UINT64_MAX / MOST_COLUMNS &&
      scl_may_have_rows(f->file.size, d->rows * d->columns))
    return SCL_STATUS_OK;
  return scl_reading_refuse(&f->file, error, "dataset '%s' claims %llu x %llu numbers", d->name,
                            (unsigned long long)d->rows, (unsigned long long)d->columns);
}

/* Those of the option, with commas between their names. */
static scl_status open_named(hdf5_file *f, const char *list, scl_error *error) {
  while (*list != 0) {
    const size_t length = strcspn(list, ",");
    dataset *d = &f->sets[f->n_sets];
    bool fits;
    if (length == 0 || length >= sizeof d->name || f->n_sets == MOST_SETS)
      return f->file.host->fail(error, SCL_STATUS_BAD_OPTION,
                                "option 'dataset' takes up to %d names with commas between them, "
                                "each of up to %zu bytes",
                                MOST_SETS, sizeof d->name - 1);
    memcpy(d->name, list, length);
    d->name[length] = 0;
    d->id = -1;
    f->n_sets++;
    READ_TRY(open_set(f, d, &fits, error));
    if (!fits)
      return scl_reading_refuse(&f->file, error,
                                "dataset '%s' is neither a list nor a table of numbers", d->name);
    list += length + (list[length] == ',');
  }
  return SCL_STATUS_OK;
}

/* All of the root group that have numbers. */
static scl_status open_all(hdf5_file *f, scl_error *error) {
  hsize_t count = 0;
  if (f->h5.H5Gget_num_objs(f->id, &count) < 0)
    return scl_reading_refuse(&f->file, error, "its root group is damaged");
  for (hsize_t i = 0; i < count; i++) {
    dataset *d = &f->sets[f->n_sets];
    bool fits;
    if (f->h5.H5Gget_objtype_by_idx(f->id, i) != H5G_DATASET) continue;
    const ssize_t length = f->h5.H5Gget_objname_by_idx(f->id, i, d->name, sizeof d->name);
    if (length <= 0 || (size_t)length >= sizeof d->name || f->n_sets == MOST_SETS)
      return scl_reading_refuse(&f->file, error,
                                "its root group has more than %d datasets, or one whose name has "
                                "more than %zu bytes: option 'dataset' names those that are read",
                                MOST_SETS, sizeof d->name - 1);
    d->id = -1;
    f->n_sets++;
    READ_TRY(open_set(f, d, &fits, error));
    if (fits) continue;
    (void)f->h5.H5Dclose(d->id);
    f->n_sets--;
  }
  return f->n_sets > 0 ? SCL_STATUS_OK
                       : scl_reading_refuse(&f->file, error,
                                            "its root group has no list and no table of numbers: "
                                            "option 'dataset' names one, such as \"group/X\"");
}

/* One row of each dataset is a row of the table. */
static scl_status make_schema(hdf5_file *f, scl_error *error) {
  const scl_host *host = f->file.host;
  f->rows = f->sets[0].rows;
  for (size_t k = 0; k < f->n_sets; k++) {
    const dataset *d = &f->sets[k];
    f->columns += (size_t)d->columns;
    if (d->rows == f->rows && f->columns <= MOST_COLUMNS) continue;
    return scl_reading_refuse(&f->file, error,
                              "dataset '%s' has %llu rows and '%s' %llu: option 'dataset' names "
                              "those that belong together",
                              f->sets[0].name, (unsigned long long)f->rows, d->name,
                              (unsigned long long)d->rows);
  }
  f->block_rows = BLOCK_ROWS;
  while (f->block_rows > 1 && f->block_rows * f->columns > BLOCK_NUMBERS)
    f->block_rows /= 2;
  f->parts = (size_t)((f->rows + PART_ROWS - 1) / PART_ROWS);
  f->schema = scl_host_zeros(host, f->columns, sizeof *f->schema);
  f->names = scl_host_zeros(host, f->columns, NAME_SIZE);
  f->part_rows = scl_host_zeros(host, f->parts + 1, sizeof *f->part_rows);
  if (f->schema == NULL || f->names == NULL || f->part_rows == NULL) return out_of_memory(f, error);
  for (size_t k = 0; k < f->parts; k++)
    f->part_rows[k] = k + 1 < f->parts ? PART_ROWS : f->rows - (uint64_t)k * PART_ROWS;
  for (size_t k = 0, j = 0; k < f->n_sets; k++) {
    const dataset *d = &f->sets[k];
    for (hsize_t i = 0; i < d->columns; i++, j++) {
      char *name = f->names + j * NAME_SIZE;
      if (d->is_table)
        (void)snprintf(name, NAME_SIZE, "%s%llu", d->name, (unsigned long long)i + 1);
      else
        (void)snprintf(name, NAME_SIZE, "%s", d->name);
      f->schema[j] =
          (scl_reader_column){.name = name, .type = d->whole ? SCL_CELL_INT64 : SCL_CELL_FLOAT64};
    }
  }
  return SCL_STATUS_OK;
}

/* With the lock held. */
static scl_status open_sets(hdf5_file *f, const char *wanted, scl_error *error) {
  READ_TRY(find_library(f->file.host, f->file.path, &f->h5, error));
  f->sets = scl_host_zeros(f->file.host, MOST_SETS + 1, sizeof *f->sets);
  if (f->sets == NULL) return out_of_memory(f, error);
  f->id = f->h5.H5Fopen(f->file.path, OPEN_READ_ONLY, H5P_DEFAULT);
  if (f->id < 0)
    return scl_reading_refuse(&f->file, error,
                              "HDF5 cannot open it: it is damaged, or a program writes it");
  READ_TRY(wanted != NULL ? open_named(f, wanted, error) : open_all(f, error));
  return f->n_sets > 0 ? make_schema(f, error)
                       : scl_reading_refuse(&f->file, error, "option 'dataset' names none");
}

static scl_status open_file(const void *instance, const scl_reader_file *file, void **opened,
                            scl_error *error) {
  const hdf5_reader *self = instance;
  const scl_host *host = self->base.host;
  hdf5_file *f = scl_host_zeros(host, 1, sizeof *f);
  if (f == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  f->id = -1;
  scl_status status = scl_reading_open(&f->file, host, file->path, error);
  (void)pthread_mutex_lock(&lock);
  if (status == SCL_STATUS_OK) status = open_sets(f, self->dataset->word, error);
  (void)pthread_mutex_unlock(&lock);
  if (status == SCL_STATUS_OK)
    *opened = f;
  else
    close_file(f);
  return status;
}

static scl_status schema(void *opened, scl_reader_schema *out, scl_error *error) {
  const hdf5_file *f = opened;
  (void)error;
  out->columns = f->columns;
  out->column = f->schema;
  out->parts = f->parts;
  out->part_rows = f->part_rows;
  return SCL_STATUS_OK;
}

/* ------------ rows */

/* The dataset of a column, whose place in it becomes *column. */
static dataset *set_of(const hdf5_file *f, size_t *column) {
  dataset *d = f->sets;
  for (; *column >= d->columns; d++)
    *column -= (size_t)d->columns;
  return d;
}

/* Of each dataset the columns between the first and the last that is wanted are read. */
static scl_status choose(void *opened, const size_t *columns, size_t count, scl_error *error) {
  hdf5_file *f = opened;
  const scl_host *host = f->file.host;
  host->release(f->chosen);
  host->release(f->cells);
  f->row = 0;
  f->n_chosen = count;
  f->chosen = scl_host_zeros(host, count, sizeof *f->chosen);
  f->cells = scl_host_zeros(host, count, sizeof *f->cells);
  if (f->chosen == NULL || f->cells == NULL) return out_of_memory(f, error);
  for (size_t k = 0; k < f->n_sets; k++)
    f->sets[k].wanted = false;
  for (size_t k = 0; k < count; k++) {
    size_t column = f->chosen[k] = columns[k];
    dataset *d = set_of(f, &column);
    if (!d->wanted || column < d->first) d->first = column;
    if (!d->wanted || column > d->last) d->last = column;
    d->wanted = true;
  }
  return SCL_STATUS_OK;
}

static scl_status seek(void *opened, size_t part, scl_error *error) {
  hdf5_file *f = opened;
  (void)error;
  f->row = (uint64_t)part * PART_ROWS;
  return SCL_STATUS_OK;
}

/* Rows of the wanted columns of a dataset; both types have 8 bytes. */
static scl_status read_set(hdf5_file *f, dataset *d, size_t count, scl_error *error) {
  const size_t width = (size_t)(d->last - d->first) + 1;
  const hsize_t from[2] = {f->row, d->first}, sizes[2] = {count, width};
  const int rank = d->is_table ? 2 : 1;
  READ_TRY(scl_room_grow(f->file.host, &d->block, f->block_rows * width * 8, error));
  READ_TRY(scl_room_grow(f->file.host, &d->turned, f->block_rows * width * 8, error));
  (void)pthread_mutex_lock(&lock);
  const hid_t space = f->h5.H5Dget_space(d->id), memory = f->h5.H5Screate_simple(rank, sizes, NULL);
  const bool read =
      space >= 0 && memory >= 0 &&
      f->h5.H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, sizes, NULL) >= 0 &&
      f->h5.H5Dread(d->id, d->whole ? *f->h5.integer : *f->h5.number, memory, space, H5P_DEFAULT,
                    d->block.memory) >= 0;
  if (space >= 0) (void)f->h5.H5Sclose(space);
  if (memory >= 0) (void)f->h5.H5Sclose(memory);
  (void)pthread_mutex_unlock(&lock);
  if (!read)
    return scl_reading_refuse(
        &f->file, error,
        "dataset '%s': rows from %llu on cannot be read: they are damaged, or "
        "packed by a filter that is not there",
        d->name, (unsigned long long)f->row + 1);
  const int64_t *block = d->block.memory;
  int64_t *turned = d->turned.memory;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < width; j++)
      memcpy(&turned[j * f->block_rows + i], &block[i * width + j], sizeof *turned);
  return SCL_STATUS_OK;
}

/* Blocks of rows of all datasets that have a wanted column. */
static scl_status rows(void *opened, scl_row_block *out, scl_error *error) {
  hdf5_file *f = opened;
  if (f->row >= f->rows) return SCL_STATUS_OK;
  const uint64_t left = f->rows - f->row;
  const size_t count = left < f->block_rows ? (size_t)left : f->block_rows;
  for (size_t k = 0; k < f->n_sets; k++)
    if (f->sets[k].wanted) READ_TRY(read_set(f, &f->sets[k], count, error));
  for (size_t k = 0; k < f->n_chosen; k++) {
    size_t column = f->chosen[k];
    const dataset *d = set_of(f, &column);
    const size_t at = (column - (size_t)d->first) * f->block_rows;
    f->cells[k] = d->whole ? (scl_column_cells){.integers = (const int64_t *)d->turned.memory + at}
                           : (scl_column_cells){.numbers = (const double *)d->turned.memory + at};
  }
  f->row += count;
  out->rows = count;
  out->columns = f->cells;
  return SCL_STATUS_OK;
}

/* ------------ an example */

/* The table X of three rows and two columns, the list y, and z of numbers from 2^63 on. */
static bool write_sets(const library *h5, const char *path) {
  static const double table[] = {0.5, 1, 2, -3, 4, 1e6};
  static const int64_t list[] = {1, 0, 1};
  static const uint64_t far[] = {0, UINT64_C(1) << 63, UINT64_MAX};
  const struct {
    const char *name;
    hid_t type;
    const void *numbers;
  } sets[] = {{"X", *h5->number, table}, {"y", *h5->integer, list}, {"z", *h5->natural, far}};
  const hsize_t sizes[2] = {3, 2};
  const hid_t file = h5->H5Fcreate(path, OPEN_TRUNCATED, H5P_DEFAULT, H5P_DEFAULT);
  bool written = file >= 0;
  for (int k = 0; written && k < 3; k++) {
    const hid_t space = h5->H5Screate_simple(k == 0 ? 2 : 1, sizes, NULL);
    const hid_t set = h5->H5Dcreate2(file, sets[k].name, sets[k].type, space, H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT);
    written = set >= 0 &&
              h5->H5Dwrite(set, sets[k].type, H5S_ALL, H5S_ALL, H5P_DEFAULT, sets[k].numbers) >= 0;
    if (set >= 0) (void)h5->H5Dclose(set);
    if (space >= 0) (void)h5->H5Sclose(space);
  }
  return file >= 0 && h5->H5Fclose(file) >= 0 && written;
}

static scl_status example(const void *instance, const char *path, scl_error *error) {
  const scl_host *host = ((const hdf5_reader *)instance)->base.host;
  library h5;
  (void)pthread_mutex_lock(&lock);
  const scl_status status = find_library(host, path, &h5, error);
  const bool written = status == SCL_STATUS_OK && write_sets(&h5, path);
  (void)pthread_mutex_unlock(&lock);
  if (status != SCL_STATUS_OK || written) return status;
  return host->fail(error, SCL_STATUS_IO, "%s cannot be written", path);
}

/* ------------ the plugin */

static const scl_option options[] = {
    {.name = "dataset",
     .help = "names of datasets, with commas between them: \"X,y\", \"group/X\"",
     .forms = SCL_FORM_WORD,
     SCL_AT(hdf5_reader, dataset)}};

const scl_plugin scullery_plugin = {
    .name = "hdf5",
    .summary = "HDF5 files: lists and tables of numbers, side by side",
    /* Of write_sets. */
    .definition = "name(j) = ({ \"X1\", \"X2\", \"y\", \"z\" })[j]\n"
                  "cell(i, j) = when(i > 3, nil, j < 3, ({ 0.5, 1, 2, -3, 4, 1e6 })[2*i + j - 2], "
                  "j == 3, i % 2, ({ 0, 2^63, 2^64 })[i])",
    .doc = "sc.data.read(\"t.h5\", { select = { \"a\", \"b\" } }) reads such a file.\n"
           "Datasets of numbers, by their names (option dataset) or all of the root group, which\n"
           "have one row each for a row of the table. A table X of d columns gives X1 to Xd, a\n"
           "list y gives y. NaN is a missing value. It needs libhdf5, which is opened when the\n"
           "first file is read; what that library does with a damaged file is its own.",
    SCL_READER(.format = "an HDF5 file", .recognises = recognises, .open = open_file,
               .schema = schema, .choose = choose, .seek = seek, .rows = rows, .close = close_file,
               .example = example),
    SCL_INSTANCE(hdf5_reader, options)};
