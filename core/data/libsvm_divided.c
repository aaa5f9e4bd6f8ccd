/* LIBSVM files that several processes read together. Each process parses the lines that begin in its
 * share of the bytes of all files, and the gzip files that begin in it; what they have found is then
 * exchanged. On one machine the rows go into memory that all have in common. A share that cannot be
 * read has no sentence: the files are then read by each process, as by one alone. */
#include "algebra/csr.h"
#include "base/pool.h"
#include "data/libsvm_internal.h"
#include "data/shares.h"
#include "processes/processes.h"

#include <string.h>

enum { MOST_COUNTS = 1 << 20 }; /* numbers that are exchanged about files and shares */

/* ------------ shares of bytes */

/* The file that has byte *at of all files, and the byte's place in it. */
static size_t find_file(const size_t *bytes, size_t files, size_t *at) {
  size_t k = 0;
  while (k + 1 < files && *at >= bytes[k])
    *at -= bytes[k++];
  return k;
}

/* A gzip file is the process's that has its first byte. */
static size_t find_begin(const size_t *bytes, const size_t *packed, size_t files, size_t *at) {
  const size_t file = find_file(bytes, files, at);
  if (packed[file] == 0 || *at == 0) return file;
  *at = 0;
  return file + 1;
}

static void take_share(libsvm_lines *l, const size_t *bytes, const size_t *packed, size_t all) {
  size_t from, stop;
  scl_processes_part(scl_processes_rank(), all, &from, &stop);
  libsvm_lines_rewind(l);
  l->file = find_begin(bytes, packed, l->files, &from);
  l->stop_file = find_begin(bytes, packed, l->files, &stop);
  if (l->file == l->files) l->stop_file = --l->file; /* no line: from 0 to 0 of the last file */
  l->from = from;
  l->stop = stop;
  l->needs_rows = false; /* libsvm_join looks */
}

scl_status libsvm_divide(libsvm_source *s, bool whole, bool *divided, scl_error *error) {
  libsvm_lines *l = &s->lines;
  size_t all = 0, least = SIZE_MAX;
  *divided = false;
  if (!scl_processes_divide() || (whole && scl_processes_here() < scl_processes_count()) ||
      l->files > MOST_COUNTS / 8 / scl_processes_count())
    return SCL_STATUS_OK;
  size_t *bytes = scl_allocate_array(2 * l->files + 1, sizeof *bytes),
         *packed = bytes == NULL ? NULL : bytes + l->files;
  scl_status status =
      bytes == NULL ? scl_fail_memory(error, l->files * sizeof *bytes, "files") : SCL_STATUS_OK;
  for (size_t k = 0; bytes != NULL && k < l->files; k++) {
    bytes[k] = scl_shares_bytes(l->paths[k], false);
    packed[k] = bytes[k] == 0 && l->files > 1;
    if (packed[k]) bytes[k] = scl_shares_bytes(l->paths[k], true) / 256; /* 4 times the file */
    least = scl_min(least, bytes[k]);
    all += bytes[k];
  }
  if (least == 0) all = 0;
  status = scl_processes_meet(status, error, "the reading of %s (%zu bytes)", l->paths[0], all);
  *divided = status == SCL_STATUS_OK && all >= SCL_SHARED_BYTES;
  if (*divided && whole) /* rows in memory are made of all shares: they are not compared */
    status = scl_shares_same_files((const char *const *)l->paths, l->files, divided, error);
  if (*divided) take_share(l, bytes, packed, all);
  scl_release(bytes);
  return status;
}

/* ------------ what all have found */

/* Numbers of each process, each a list of as many as there are processes; rows and lines of each
 * file are lists of as many as there are files in each. */
typedef struct counts {
  int64_t *all, *rows, *entries, *bytes, *file_rows, *file_lines;
  size_t numbers;
} counts;

static scl_status open_counts(counts *c, size_t files, scl_error *error) {
  const size_t p = scl_processes_count();
  c->numbers = p * (3 + 2 * files);
  c->all = scl_allocate_zero(c->numbers * sizeof *c->all);
  if (c->all == NULL) return scl_fail_memory(error, c->numbers * sizeof *c->all, "shares of files");
  c->rows = c->all;
  c->entries = c->rows + p;
  c->bytes = c->entries + p;
  c->file_rows = c->bytes + p;
  c->file_lines = c->file_rows + p * files;
  return SCL_STATUS_OK;
}

static void set_counts(counts *c, const libsvm_source *s, const libsvm_found *found) {
  const size_t r = scl_processes_rank(), files = s->lines.files;
  c->rows[r] = (int64_t)found->rows;
  c->entries[r] = (int64_t)found->entries;
  c->bytes[r] = (int64_t)s->lines.bytes;
  for (size_t k = 0; k < files; k++) {
    c->file_rows[r * files + k] = (int64_t)s->file_rows[k];
    c->file_lines[r * files + k] = (int64_t)s->lines.file_lines[k];
  }
}

/* Numbers in the lists of the processes before `end`. */
static size_t before(const int64_t *list, size_t end, size_t step) {
  size_t sum = 0;
  for (size_t r = 0; r < end; r++)
    sum += (size_t)list[r * step];
  return sum;
}

/* The marks of all shares, with rows and lines counted from the beginning. */
static scl_status join_marks(const counts *c, libsvm_source *s, scl_error *error) {
  const size_t rank = scl_processes_rank(), files = s->lines.files;
  void *all = NULL;
  size_t count;
  for (size_t i = 0; i < s->marks.count; i++) {
    scl_mark *mark = &s->marks.list[i];
    mark->rows += s->rows_before;
    mark->row += before(c->file_rows + mark->file, rank, files);
    mark->line += before(c->file_lines + mark->file, rank, files);
  }
  const scl_status status = scl_shares_gather(SCL_STATUS_OK, s->marks.count, s->marks.list,
                                              sizeof(scl_mark), &all, &count, error);
  scl_release(s->marks.list);
  s->marks.list = all;
  s->marks.count = s->marks.room = count;
  return status;
}

/* *again: some file has no row, which reading it alone will say. */
static scl_status join_counts(counts *c, libsvm_source *s, libsvm_found *found, bool *again,
                              scl_error *error) {
  const size_t p = scl_processes_count(), rank = scl_processes_rank(), files = s->lines.files;
  const bool labels = found->labels.most == 0 || !found->fractions;
  SCL_TRY(scl_processes_sum(c->all, c->numbers, error));
  found->rows = before(c->rows, p, 1);
  found->entries = before(c->entries, p, 1);
  s->lines.bytes = before(c->bytes, p, 1);
  s->rows_before = before(c->rows, rank, 1);
  s->entries_before = before(c->entries, rank, 1);
  for (size_t k = 0; k < files; k++) {
    s->file_rows[k] = before(c->file_rows + k, p, files);
    *again = *again || s->file_rows[k] == 0;
  }
  if (*again) return SCL_STATUS_OK;
  if (labels && !found->labels.overflow) SCL_TRY(scl_shares_labels(&found->labels, error));
  return join_marks(c, s, error);
}

scl_status libsvm_join(libsvm_source *s, scl_status mine, libsvm_found *found, bool *again,
                       scl_error *error) {
  counts c = {0};
  *again = false;
  if (mine != SCL_STATUS_CANCELLED) {
    const scl_status room = open_counts(&c, s->lines.files, error);
    if (mine == SCL_STATUS_OK) mine = room;
  }
  int64_t most[] = {0, (int64_t)found->cols, found->fractions, found->labels.overflow,
                    !s->base.seeks};
  scl_status status = scl_shares_end(mine, most, 5, again, error);
  if (status == SCL_STATUS_OK && !*again) {
    found->cols = (size_t)most[1];
    found->fractions = most[2] != 0;
    found->labels.overflow = most[3] != 0;
    s->base.seeks = most[4] == 0;
    set_counts(&c, s, found);
    status = join_counts(&c, s, found, again, error);
  }
  scl_release(c.all);
  return status;
}

/* ------------ rows in common memory */

/* Blocks for y, and for X as it is given: dense, or its starts, columns and values. */
enum { Y, X, STARTS, COLUMNS, VALUES, BLOCKS };

typedef struct filling {
  const libsvm_source *s;
  scl_csr own; /* the rows of this share */
  void *const *blocks;
  size_t cols;
  scl_dtype dtype;
  bool sparse;
} filling;

enum { ROWS_A_TASK = 256 };

/* The rows from `index` ROWS_A_TASK of the share into the blocks. */
static void fill_rows(void *context, size_t index) {
  const filling *f = context;
  const libsvm_source *s = f->s;
  const size_t first = index * ROWS_A_TASK, rows = scl_min(ROWS_A_TASK, s->rows - first),
               to = s->rows_before + first, size = scl_dtype_size(f->dtype);
  memcpy((double *)f->blocks[Y] + to, s->labels + first, rows * sizeof(double));
  if (!f->sparse) {
    scl_csr_fill(&f->own, first, rows, f->dtype, (char *)f->blocks[X] + to * f->cols * size,
                 (ptrdiff_t)f->cols);
    return;
  }
  const size_t from = (size_t)s->starts[first], entries = (size_t)s->starts[first + rows] - from,
               at = s->entries_before + from;
  for (size_t i = 1; i <= rows; i++)
    ((int64_t *)f->blocks[STARTS])[to + i] = s->starts[first + i] + (int64_t)s->entries_before;
  if (entries == 0) return;
  memcpy((int32_t *)f->blocks[COLUMNS] + at, s->columns + from, entries * sizeof(int32_t));
  memcpy((char *)f->blocks[VALUES] + at * size, (char *)s->values + from * size, entries * size);
}

/* The blocks become the table's. */
static scl_status adopt(void **blocks, const libsvm_found *found, bool sparse, scl_dtype dtype,
                        scl_table *out, scl_error *error) {
  void *const given[BLOCKS] = {blocks[Y], blocks[X], blocks[STARTS], blocks[COLUMNS],
                               blocks[VALUES]};
  memset(blocks, 0, BLOCKS * sizeof *blocks);
  const scl_status status =
      sparse ? scl_csr_adopt(found->rows, out->cols, given[STARTS], given[COLUMNS], given[VALUES],
                             dtype, &out->csr, error)
             : scl_matrix_adopt(given[X], found->rows, out->cols, dtype, &out->x, error);
  if (status == SCL_STATUS_OK)
    return scl_matrix_adopt(given[Y], found->rows, 1, SCL_DTYPE_FLOAT64, &out->y, error);
  scl_release(given[Y]);
  return status;
}

/* *again: the processes have no common memory. */
static scl_status share_blocks(const size_t *bytes, void **blocks, bool *again, scl_error *error) {
  for (size_t b = 0; b < BLOCKS && !*again; b++) {
    if (bytes[b] == 0) continue;
    SCL_TRY(scl_processes_share(SCL_STATUS_OK, bytes[b], &blocks[b], error));
    *again = blocks[b] == NULL;
  }
  return SCL_STATUS_OK;
}

scl_status libsvm_join_rows(libsvm_source *s, const libsvm_found *found, bool sparse,
                            scl_table *out, bool *again, scl_error *error) {
  const scl_dtype dtype = s->lines.format.dtype;
  const size_t size = scl_dtype_size(dtype), rows = found->rows, entries = found->entries;
  void *blocks[BLOCKS] = {0};
  const size_t of_rows[BLOCKS] = {rows * sizeof(double), rows * out->cols * size},
               of_sparse[BLOCKS] = {rows * sizeof(double), 0, (rows + 1) * sizeof(int64_t),
                                    scl_max(entries, 1) * sizeof(int32_t),
                                    scl_max(entries, 1) * size};
  filling f = {.s = s, .blocks = blocks, .cols = out->cols, .dtype = dtype, .sparse = sparse};
  scl_status status = SCL_STATUS_OK;
  if (!sparse) status = scl_table_admit(out, dtype, error);
  if (status == SCL_STATUS_OK && s->rows > 0)
    status =
        scl_csr_borrow(s->rows, out->cols, s->starts, s->columns, s->values, dtype, &f.own, error);
  status = scl_processes_meet(status, error, "%zu rows of %zu numbers", rows, entries);
  if (status == SCL_STATUS_OK)
    status = share_blocks(sparse ? of_sparse : of_rows, blocks, again, error);
  if (status == SCL_STATUS_OK && !*again) {
    scl_pool_run((s->rows + ROWS_A_TASK - 1) / ROWS_A_TASK, fill_rows, &f);
    status = scl_processes_part_memory(SCL_STATUS_OK, blocks, BLOCKS, error);
  }
  out->alike = status == SCL_STATUS_OK && !*again;
  if (out->alike) status = adopt(blocks, found, sparse, dtype, out, error);
  scl_csr_release(&f.own);
  scl_release_each(BLOCKS, blocks);
  return status;
}
