/* CSV files that several processes read together, each the lines that begin in its share of the
 * bytes (cuts.c), or, of gzip files and of those whose shares cannot be told apart, its share of
 * the chunks. What all have found in them is exchanged: sorts of fields, levels, rows, numbers. A
 * share that cannot be read has no sentence: the files are then read by each process, as by one
 * alone. */
#include "data/csv/internal.h"
#include "data/files/input.h"
#include "data/shares.h"
#include "processes/processes.h"
#include "rows/joined.h"

#include <math.h>

/* ------------ sums of streams */

scl_status csv_add_sums(csv_schema *schema, const csv_lines *l, scl_error *error) {
  for (size_t k = 0; k < l->end - l->first; k++) {
    double *sums = schema->chunk_sums + k * schema->columns;
    for (size_t j = 0; j < schema->columns; j++) {
      if (isfinite(sums[j])) continue;
      schema->column[j].overflows++;
      sums[j] = 0;
    }
    SCL_TRY(scl_exact_add(schema->exact, sums, error));
  }
  return SCL_STATUS_OK;
}

/* ------------ columns */

/* For each column numbers that are added over all processes, and then words that are those of the
 * process with the smallest place (SIZE_MAX: it has none). */
typedef struct exchange {
  size_t columns, sums, words;
  int64_t *places, *numbers;
} exchange;

static scl_status open_exchange(exchange *e, scl_error *error) {
  const size_t size = e->sums + e->words + 1;
  e->places = scl_allocate_zero((e->columns * size + 1) * sizeof *e->places);
  if (e->places == NULL) return scl_fail_memory(error, e->columns * size * 8, "columns");
  e->numbers = e->places + e->columns;
  return SCL_STATUS_OK;
}

static int64_t *numbers_of(const exchange *e, size_t j) {
  return e->numbers + j * (e->sums + e->words);
}

/* Largest are the places, negated. */
static void set_place(const exchange *e, size_t j, bool any, size_t place) {
  e->places[j] = any ? -(int64_t)place : -INT64_MAX;
}

/* mine: the status of open_exchange. */
static scl_status run_exchange(const exchange *e, scl_status mine, scl_error *error) {
  int64_t *own = scl_allocate_array(e->columns + 1, sizeof *own);
  if (mine == SCL_STATUS_OK && own == NULL)
    mine = scl_fail_memory(error, e->columns * 8, "columns");
  if (mine == SCL_STATUS_OK) memcpy(own, e->places, e->columns * sizeof *own);
  scl_status status = scl_processes_meet(mine, error, "the shares of %zu columns", e->columns);
  if (status == SCL_STATUS_OK) status = scl_processes_maximum(e->places, e->columns, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e->columns; j++)
    if (own[j] != e->places[j] || own[j] == -INT64_MAX)
      memset(numbers_of(e, j) + e->sums, 0, e->words * sizeof *e->numbers);
  if (status == SCL_STATUS_OK)
    status = scl_processes_sum(e->numbers, e->columns * (e->sums + e->words), error);
  scl_release(own);
  return status;
}

enum { COUNTS = 7 + SCL_DATE_ORDERS, SAMPLE = 6 /* words of a sample */ };
_Static_assert(sizeof((csv_column *)0)->sample <= SAMPLE * sizeof(int64_t), "room for a sample");

static void list_counts(csv_column *column, size_t *counts[COUNTS]) {
  size_t *const all[] = {&column->numbers,   &column->texts, &column->missing,  &column->dates,
                         &column->formatted, &column->large, &column->overflows};
  memcpy(counts, all, sizeof all);
  for (size_t k = 0; k < SCL_DATE_ORDERS; k++)
    counts[7 + k] = &column->orders[k];
}

static void put_column(const exchange *e, const csv_lines *l, csv_column *column, size_t j) {
  size_t *counts[COUNTS];
  int64_t *numbers = numbers_of(e, j), *words = numbers + COUNTS;
  const csv_chunk *first = l->whole && l->end > l->first ? &l->chunks[l->first] : NULL;
  const bool moves = first != NULL && column->text_file == first->file;
  const size_t before = moves ? first->first_row : l->rows_before;
  list_counts(column, counts);
  for (size_t k = 0; k < COUNTS; k++)
    numbers[k] = (int64_t)*counts[k];
  set_place(e, j, column->texts > 0, csv_row_place(column->text_file, column->text_row + before));
  words[0] = (int64_t)column->text_line;
  words[1] = column->text_from == NULL ? -1 : column->text_to - column->text_from;
  memcpy(words + 2, column->sample, sizeof column->sample);
}

static void take_column(const exchange *e, const csv_lines *l, csv_column *column, size_t j) {
  size_t *counts[COUNTS];
  const int64_t *numbers = numbers_of(e, j), *words = numbers + COUNTS;
  const size_t place = (size_t)-e->places[j];
  list_counts(column, counts);
  for (size_t k = 0; k < COUNTS; k++)
    *counts[k] = (size_t)numbers[k];
  if (column->texts == 0) return;
  column->text_file = place >> 40;
  column->text_row = place - csv_row_place(column->text_file, 0);
  column->text_line = (size_t)words[0];
  const bool known = words[1] >= 0 && !l->apart; /* else no sentence has the line */
  column->text_from = known ? l->texts[column->text_file].bytes : NULL;
  column->text_to = known ? column->text_from + words[1] : NULL;
  memcpy(column->sample, words + 2, sizeof column->sample);
}

static scl_status join_columns(csv_schema *schema, const csv_lines *l, scl_error *error) {
  exchange e = {.columns = schema->columns, .sums = COUNTS, .words = 2 + SAMPLE};
  scl_status status = open_exchange(&e, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e.columns; j++)
    put_column(&e, l, &schema->column[j], j);
  status = run_exchange(&e, status, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e.columns; j++)
    take_column(&e, l, &schema->column[j], j);
  scl_release(e.places);
  return status;
}

scl_status csv_join_unknown(csv_schema *schema, scl_error *error) {
  exchange e = {.columns = schema->columns, .sums = 1, .words = SAMPLE};
  if (schema->unknown == NULL) return SCL_STATUS_OK;
  scl_status status = open_exchange(&e, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e.columns; j++) {
    const csv_unknown *unknown = &schema->unknown[j];
    *numbers_of(&e, j) = (int64_t)unknown->count;
    memcpy(numbers_of(&e, j) + 1, unknown->example, sizeof unknown->example);
    set_place(&e, j, unknown->count > 0, unknown->place);
  }
  status = run_exchange(&e, status, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e.columns; j++) {
    csv_unknown *unknown = &schema->unknown[j];
    unknown->count = (size_t)*numbers_of(&e, j);
    unknown->place = (size_t)-e.places[j];
    memcpy(unknown->example, numbers_of(&e, j) + 1, sizeof unknown->example);
  }
  scl_release(e.places);
  return status;
}

/* ------------ levels */

/* The levels of all columns as texts, each with its 0; before those of a column is a byte that says
 * whether there were too many, behind them an empty text, which no level is. */
static scl_status write_levels(const csv_schema *schema, char **bytes, size_t *size,
                               scl_error *error) {
  *size = 2 * schema->columns;
  for (size_t j = 0; j < schema->columns; j++)
    for (size_t i = 0; i < schema->column[j].levels.count; i++)
      *size += schema->column[j].levels.list[i].length + 1;
  char *at = *bytes = scl_allocate(*size + 1);
  if (at == NULL) return scl_fail_memory(error, *size, "the levels of categories");
  for (size_t j = 0; j < schema->columns; j++) {
    const csv_levels *levels = &schema->column[j].levels;
    *at++ = levels->overflow;
    for (size_t i = 0; i < levels->count; i++) {
      memcpy(at, levels->list[i].text, levels->list[i].length + 1);
      at += levels->list[i].length + 1;
    }
    *at++ = 0;
  }
  return SCL_STATUS_OK;
}

/* The levels of all processes: `size` bytes. */
static bool read_levels(csv_schema *schema, const char *at, size_t size) {
  const char *end = at + size;
  for (size_t j = 0; at < end; j = (j + 1) % schema->columns) {
    csv_levels *levels = &schema->column[j].levels;
    const bool overflow = *at++ != 0;
    for (size_t length = strlen(at); length > 0; length = strlen(at)) {
      if (!csv_levels_add(levels, at, length)) return false;
      at += length + 1;
    }
    at++;
    levels->overflow = levels->overflow || overflow;
  }
  return true;
}

static scl_status join_levels(csv_schema *schema, scl_error *error) {
  char *own = NULL;
  void *all = NULL;
  size_t size = 0, count;
  scl_status status = write_levels(schema, &own, &size, error);
  status = scl_shares_gather(status, size, own, 1, &all, &count, error);
  if (status == SCL_STATUS_OK && !read_levels(schema, all, count))
    status = scl_fail_memory(error, count, "the levels of categories");
  SCL_RELEASE(own, all);
  return status;
}

/* ------------ rows of chunks */

/* Of whole files: until now only the chunks of this process have rows. */
static scl_status join_rows(csv_lines *l, scl_error *error) {
  int64_t *rows = scl_allocate_zero((l->pieces + 1) * sizeof *rows);
  scl_status status =
      rows == NULL ? scl_fail_memory(error, l->pieces * sizeof *rows, "chunks") : SCL_STATUS_OK;
  status = scl_processes_meet(status, error, "the rows of %zu chunks", l->pieces);
  for (size_t k = l->first; status == SCL_STATUS_OK && k < l->end; k++)
    rows[l->chunks[k].piece] += (int64_t)l->chunks[k].rows;
  if (status == SCL_STATUS_OK) status = scl_processes_sum(rows, l->pieces, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < l->count; k++) {
    csv_chunk *chunk = &l->chunks[k];
    const csv_chunk *last = k == 0 || chunk[-1].file != chunk->file ? NULL : &chunk[-1];
    if (k < l->first || k >= l->end) chunk->rows = (size_t)rows[chunk->piece];
    chunk->first_row = last == NULL ? 0 : last->first_row + last->rows;
  }
  scl_release(rows);
  return status;
}

/* Of the shares of a stream: the rows and lines before this process's. */
static scl_status join_shares(csv_lines *l, scl_error *error) {
  const size_t p = scl_processes_count(), rank = scl_processes_rank();
  int64_t *all = scl_allocate_zero(2 * p * sizeof *all);
  scl_status status =
      all == NULL ? scl_fail_memory(error, 2 * p * sizeof *all, "shares") : SCL_STATUS_OK;
  status = scl_processes_meet(status, error, "the rows of %zu shares", p);
  if (status == SCL_STATUS_OK && l->from < l->stop) {
    all[2 * rank] = (int64_t)l->rows;
    all[2 * rank + 1] = (int64_t)l->line - 1;
  }
  if (status == SCL_STATUS_OK) status = scl_processes_sum(all, 2 * p, error);
  for (size_t r = 0; status == SCL_STATUS_OK && r < p; r++) {
    l->rows_before += r < rank ? (size_t)all[2 * r] : 0;
    l->lines_before += r < rank ? (size_t)all[2 * r + 1] : 0;
    l->all_rows += (size_t)all[2 * r];
  }
  scl_release(all);
  return status;
}

scl_status csv_join_pass(csv_schema *schema, csv_lines *l, bool collect, scl_status mine,
                         bool *again, scl_error *error) {
  int64_t most[1];
  SCL_TRY(scl_shares_end(mine, most, 1, again, error));
  if (*again) return SCL_STATUS_OK;
  if (!collect) {
    if (l->whole)
      SCL_TRY(join_rows(l, error));
    else if (l->apart)
      SCL_TRY(join_shares(l, error));
    SCL_TRY(join_columns(schema, l, error));
    if (schema->sums)
      SCL_TRY(scl_exact_join(&schema->exact, 1, SCL_STATUS_OK, "sums of columns", error));
  }
  return join_levels(schema, error);
}

/* ------------ numbers */

/* Parses the chunks of this process into the rows of all, and fills them. */
static scl_status fill_share(csv_schema *schema, const csv_lines *l, scl_matrix *x, scl_matrix *y,
                             bool *again, scl_error *error) {
  const csv_lines own = csv_lines_own(l);
  int64_t most[1];
  size_t first = 0;
  for (size_t k = 0; k < l->first; k++)
    first += l->chunks[k].rows;
  scl_matrix rows = scl_matrix_slice(x, first, csv_lines_rows(&own), 0, x->cols), labels = {0};
  if (schema->target >= 0) labels = scl_matrix_slice(y, first, rows.rows, 0, 1);
  scl_status status = own.count == 0
                          ? SCL_STATUS_OK
                          : csv_parse(schema, own.chunks, own.count, &rows, &labels, error);
  status = scl_shares_end(status, most, 1, again, error);
  if (status == SCL_STATUS_OK && !*again) status = csv_join_unknown(schema, error);
  if (status == SCL_STATUS_OK && !*again && schema->options->fill != SCL_MISSING_ROW) {
    status = scl_shares_end(csv_find_medians(schema, l, x, error), most, 1, again, error);
    if (status == SCL_STATUS_OK && !*again)
      status = scl_shares_end(csv_fill(schema, &own, NULL, &rows, error), most, 1, again, error);
  }
  scl_matrix_release(&rows);
  scl_matrix_release(&labels);
  return status;
}

/* A matrix of a block, which it does not own. */
static scl_status view(void *block, size_t rows, size_t cols, scl_dtype dtype, scl_matrix *out,
                       scl_error *error) {
  return scl_matrix_borrow(block, rows, cols, (ptrdiff_t)cols, dtype, out, error);
}

scl_status csv_parse_shares(csv_schema *schema, const csv_lines *l, scl_matrix *x, scl_matrix *y,
                            bool *again, scl_error *error) {
  const size_t rows = csv_lines_rows(l), cols = schema->parsed;
  const scl_dtype dtype = schema->options->dtype;
  const bool target = schema->target >= 0;
  void *blocks[2] = {0};
  scl_matrix shared_x = {0}, shared_y = {0};
  SCL_TRY(scl_processes_share(SCL_STATUS_OK, scl_max(rows * cols, 1) * scl_dtype_size(dtype),
                              &blocks[0], error));
  scl_status status = SCL_STATUS_OK;
  if (target && blocks[0] != NULL)
    status = scl_processes_share(status, rows * sizeof(double), &blocks[1], error);
  *again = status == SCL_STATUS_OK && (blocks[0] == NULL || (target && blocks[1] == NULL));
  if (status == SCL_STATUS_OK && !*again) {
    status = view(blocks[0], rows, cols, dtype, &shared_x, error);
    if (status == SCL_STATUS_OK && target)
      status = view(blocks[1], rows, 1, SCL_DTYPE_FLOAT64, &shared_y, error);
    status = scl_processes_meet(status, error, "%zu rows of %zu numbers", rows, cols);
  }
  if (status == SCL_STATUS_OK && !*again)
    status = fill_share(schema, l, &shared_x, &shared_y, again, error);
  scl_matrix_release(&shared_x);
  scl_matrix_release(&shared_y);
  if (status == SCL_STATUS_OK && !*again)
    status = scl_processes_part_memory(status, blocks, 2, error);
  if (status == SCL_STATUS_OK && !*again) {
    void *of_x = blocks[0], *of_y = blocks[1];
    blocks[0] = blocks[1] = NULL;
    status = scl_matrix_adopt(of_x, rows, cols, dtype, x, error);
    if (target && status == SCL_STATUS_OK)
      status = scl_matrix_adopt(of_y, rows, 1, SCL_DTYPE_FLOAT64, y, error);
    else
      scl_release(of_y);
  }
  scl_release_each(2, blocks);
  return status;
}
